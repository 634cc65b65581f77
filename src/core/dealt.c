/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which stretches of time a schedule has dealt with: a few spans, so that a clock which is set far
 * ahead and back again makes nothing run twice and stops nothing. In ordinary life there is one
 * span that grows. What was passed over because it was too old begins another one: should the
 * clock come back to it, it is due after all.
 */
#include "core/internal.h"

static bool is_used(const struct dealt_span *s)
{
	return s->from_s <= s->to_s;
}

void dealt_clear(struct schedule_progress *p, int64_t from_s)
{
	for (int i = 0; i < DEALT_SPANS; i++)
		p->dealt[i] = (struct dealt_span){1, 0};
	p->dealt[0] = (struct dealt_span){from_s, from_s};
}

bool dealt_has(const struct schedule_progress *p, int64_t tick_s)
{
	for (int i = 0; i < DEALT_SPANS; i++)
		if (tick_s >= p->dealt[i].from_s && tick_s <= p->dealt[i].to_s)
			return true;
	return false;
}

/* Where the span that holds the tick ends. */
int64_t dealt_end(const struct schedule_progress *p, int64_t tick_s)
{
	for (int i = 0; i < DEALT_SPANS; i++)
		if (tick_s >= p->dealt[i].from_s && tick_s <= p->dealt[i].to_s)
			return p->dealt[i].to_s;
	return tick_s;
}

/* Spans that the growing one has overtaken say nothing any more. */
void dealt_grow(struct schedule_progress *p, int64_t to_s)
{
	struct dealt_span *growing = &p->dealt[0];

	if (to_s > growing->to_s)
		growing->to_s = to_s;
	for (int i = 1; i < DEALT_SPANS; i++)
		if (is_used(&p->dealt[i]) && p->dealt[i].from_s >= growing->from_s &&
		    p->dealt[i].to_s <= growing->to_s)
			p->dealt[i] = (struct dealt_span){1, 0};
}

/* A free place behind the growing one; of too many the longest ago is given up. */
static struct dealt_span *place_for_one(struct schedule_progress *p)
{
	for (int i = 1; i < DEALT_SPANS; i++)
		if (!is_used(&p->dealt[i]))
			return &p->dealt[i];
	for (int i = 1; i < DEALT_SPANS - 1; i++)
		p->dealt[i] = p->dealt[i + 1];
	return &p->dealt[DEALT_SPANS - 1];
}

/* The growing one ends, and another begins elsewhere. */
void dealt_break(struct schedule_progress *p, int64_t from_s)
{
	*place_for_one(p) = p->dealt[0];
	p->dealt[0] = (struct dealt_span){from_s, from_s};
}

/* A stretch that somebody filled in. */
void dealt_add(struct schedule_progress *p, int64_t from_s, int64_t to_s)
{
	for (int i = 0; i < DEALT_SPANS; i++)
		if (from_s >= p->dealt[i].from_s && to_s <= p->dealt[i].to_s)
			return;
	if (from_s <= to_s)
		*place_for_one(p) = (struct dealt_span){from_s, to_s};
}
