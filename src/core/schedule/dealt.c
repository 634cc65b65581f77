/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which stretches of time a schedule has dealt with: a few spans, so that a clock which is set far
 * ahead and back again makes nothing run twice and stops nothing. In ordinary life there is one
 * span that grows. What was passed over because it was too old begins another one: should the
 * clock come back to it, it is due after all. Every tick that has a task lies in some span.
 *
 * A zone that is moved gives the same instants other labels, so a span counts only while the zone
 * is where it was. Spans of one place of the zone never touch each other.
 */
#include "base/mutant.h"
#include "core/schedule/schedule.h"

static bool is_used(const struct dealt_span *s)
{
	return s->from_s <= s->to_s;
}

static void drop(struct dealt_span *s)
{
	*s = (struct dealt_span){1, 0, 0};
}

static bool counts(const struct schedule_progress *p, const struct dealt_span *s)
{
	return s->moved_s == p->moved_s || s->moved_s == DEALT_ANYWHERE;
}

/* NULL: it was not dealt with. */
static const struct dealt_span *span_of(const struct schedule_progress *p, int64_t tick_s)
{
	if (MUTANT(DEALT_FORGOTTEN))
		return NULL;
	for (int i = 0; i < DEALT_SPANS; i++)
		if (counts(p, &p->dealt[i]) && tick_s >= p->dealt[i].from_s &&
		    tick_s <= p->dealt[i].to_s)
			return &p->dealt[i];
	return NULL;
}

void dealt_init(struct schedule_progress *p, int64_t from_s)
{
	for (int i = 0; i < DEALT_SPANS; i++)
		drop(&p->dealt[i]);
	p->moved_s = 0;
	p->dealt[0] = (struct dealt_span){from_s, from_s - 1, 0};
}

bool dealt_has(const struct schedule_progress *p, int64_t tick_s)
{
	return span_of(p, tick_s) != NULL;
}

/* Where the span that holds the tick ends. */
int64_t dealt_end(const struct schedule_progress *p, int64_t tick_s)
{
	const struct dealt_span *s = span_of(p, tick_s);

	return s ? s->to_s : tick_s;
}

/* What a span has reached becomes part of it; of the growing one, if that is it. */
static void unite(struct schedule_progress *p, struct dealt_span *g)
{
	for (int i = 0; i < DEALT_SPANS; i++) {
		struct dealt_span *s = &p->dealt[i];

		if (s == g || !is_used(s) || s->moved_s != g->moved_s || s->from_s > g->to_s + 1 ||
		    s->to_s + 1 < g->from_s)
			continue;
		g->from_s = s->from_s < g->from_s ? s->from_s : g->from_s;
		g->to_s = s->to_s > g->to_s ? s->to_s : g->to_s;
		if (s == &p->dealt[0]) {
			*s = *g;
			drop(g);
			g = s;
		} else {
			drop(s);
		}
		i = -1; /* the span may now reach those before it */
	}
}

void dealt_grow(struct schedule_progress *p, int64_t to_s)
{
	if (to_s > p->dealt[0].to_s)
		p->dealt[0].to_s = to_s;
	unite(p, &p->dealt[0]);
}

/* The span of the same place that follows this one; NULL: none does. */
static struct dealt_span *after(struct schedule_progress *p, const struct dealt_span *s)
{
	struct dealt_span *found = NULL;

	for (int i = 0; i < DEALT_SPANS; i++) {
		struct dealt_span *o = &p->dealt[i];

		if (is_used(o) && o->moved_s == s->moved_s && o->from_s > s->to_s &&
		    (!found || o->from_s < found->from_s))
			found = o;
	}
	return found;
}

/* The narrowest gap between two spans; rather one that the clock is past than one to come. */
static struct dealt_span *narrowest(struct schedule_progress *p, int64_t now_s)
{
	struct dealt_span *best = NULL;
	int64_t best_width = INT64_MAX;

	for (int i = 0; i < DEALT_SPANS; i++) {
		struct dealt_span *s = &p->dealt[i], *next = is_used(s) ? after(p, s) : NULL;
		int64_t width = next ? next->from_s - s->to_s : INT64_MAX;

		if (next && next->from_s > now_s)
			width += INT64_MAX / 2;
		if (width < best_width) {
			best = s;
			best_width = width;
		}
	}
	return best;
}

/* One place less is used. A gap that is given up for it is in *ret_gap. */
static void make_room(struct schedule_progress *p, int64_t now_s, struct dealt_span *ret_gap)
{
	struct dealt_span *s = narrowest(p, now_s), *next;

	if (!s) { /* the zone was moved from place to place: the first one is given up */
		for (int i = 1; i < DEALT_SPANS - 1; i++)
			p->dealt[i] = p->dealt[i + 1];
		drop(&p->dealt[DEALT_SPANS - 1]);
		return;
	}
	next = after(p, s);
	*ret_gap = (struct dealt_span){s->to_s + 1, next->from_s - 1, s->moved_s};
	s->to_s = next->to_s;
	if (next == &p->dealt[0]) {
		*next = *s;
		next = s;
	}
	drop(next);
}

static struct dealt_span *free_span(struct schedule_progress *p)
{
	for (int i = 1; i < DEALT_SPANS; i++)
		if (!is_used(&p->dealt[i]))
			return &p->dealt[i];
	return NULL;
}

/* The growing one ends, and another begins elsewhere: empty, so that its first second is due. */
struct dealt_span dealt_break(struct schedule_progress *p, int64_t from_s)
{
	struct dealt_span gap = {1, 0, 0};

	if (is_used(&p->dealt[0])) {
		if (!free_span(p))
			make_room(p, from_s, &gap);
		*free_span(p) = p->dealt[0];
	}
	p->dealt[0] = (struct dealt_span){from_s, from_s - !MUTANT(PASSED_SECOND_LOST), p->moved_s};
	unite(p, &p->dealt[0]);
	return gap;
}

/* A schedule gets another zone or pattern: what ran at an instant ran then, wherever the zone is.
 */
struct dealt_span dealt_keep(struct schedule_progress *p, int64_t from_s)
{
	for (int i = 0; i < DEALT_SPANS; i++)
		p->dealt[i].moved_s = DEALT_ANYWHERE;
	for (int i = 0; i < DEALT_SPANS; i++)
		if (is_used(&p->dealt[i]))
			unite(p, &p->dealt[i]);
	p->moved_s = 0;
	return dealt_break(p, from_s);
}

/* The one that is nearest to a stretch: the growing one, if no other is. */
static struct dealt_span *nearest(struct schedule_progress *p, int64_t from_s, int64_t to_s)
{
	struct dealt_span *best = &p->dealt[0];
	int64_t least = INT64_MAX;

	for (int i = 0; i < DEALT_SPANS; i++) {
		struct dealt_span *s = &p->dealt[i];
		int64_t off = s->from_s > to_s ? s->from_s - to_s : from_s - s->to_s;

		if (is_used(s) && s->moved_s == p->moved_s && off < least) {
			least = off;
			best = s;
		}
	}
	return best;
}

/* A stretch that was filled in. Without a place of its own it is joined to its neighbour. */
struct dealt_span dealt_add(struct schedule_progress *p, int64_t from_s, int64_t to_s)
{
	struct dealt_span *s = nearest(p, from_s, to_s), *own = free_span(p), gap = {1, 0, 0};

	if (s->from_s > to_s + 1 || s->to_s + 1 < from_s) {
		if (own) {
			*own = (struct dealt_span){from_s, to_s, p->moved_s};
			return gap;
		}
		gap = s->from_s > to_s ? (struct dealt_span){to_s + 1, s->from_s - 1, p->moved_s}
		                       : (struct dealt_span){s->to_s + 1, from_s - 1, p->moved_s};
	}
	s->from_s = from_s < s->from_s ? from_s : s->from_s;
	s->to_s = to_s > s->to_s ? to_s : s->to_s;
	unite(p, s);
	return gap;
}
