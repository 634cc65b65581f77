/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances that were given up before they must have given up themselves: an operator removed them
 * as lost, or another machine has their name. Such a one may still be there, with tasks, with a set
 * of workers that leaves out who has come since, and with timeouts of a server before. It is told
 * to die whenever it says hello, until it must be over by itself, on our monotonic clock. How much
 * of that time has passed nobody knows after a restart, so it begins anew then, as the hold does.
 */
#include <inttypes.h>

#include "core/internal.h"

static bool is_over(const struct core *c, const struct gone *g)
{
	return c->mono_ms > g->until_ms;
}

bool gone_has(const struct core *c, uint64_t instance)
{
	for (size_t i = 0; i < c->n_gone; i++)
		if (c->gone[i].instance == instance && !is_over(c, &c->gone[i]))
			return !MUTANT(REMOVED_FORGOTTEN);
	return false;
}

static void forget_those_over(struct core *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_gone; i++)
		if (!is_over(c, &c->gone[i]))
			c->gone[n++] = c->gone[i];
	c->n_gone = n;
}

bool gone_has_room(struct core *c)
{
	forget_those_over(c);
	return c->n_gone < GONE_MAX;
}

static void save(struct core *c, struct effects *out)
{
	struct meta_row *m = arena_zalloc(&out->batch.arena, sizeof *m);
	struct buf text = {0};

	for (size_t i = 0; i < c->n_gone; i++)
		buf_printf(&text, "%s%016" PRIx64 " %" PRId64, i ? " " : "", c->gone[i].instance,
		    c->gone[i].for_ms);
	m->name = STR("gone");
	m->value = arena_str(&out->batch.arena, buf_str(&text));
	batch_add(&out->batch, ROW_META)->meta = m;
	buf_release(&text);
}

void gone_add(struct core *c, const struct worker *w, struct effects *out)
{
	const struct timeouts *t = worker_timeouts(c, w);
	int64_t for_ms = timeouts_to_lose_ms(t) + t->margin_ms;

	MUST(gone_has_room(c));
	c->gone[c->n_gone++] = (struct gone){w->row.facts.instance, for_ms, c->mono_ms + for_ms};
	save(c, out);
}

void gone_load(struct core *c, struct str text)
{
	size_t at = 0;

	while (at < text.n && c->n_gone < GONE_MAX) {
		struct gone g = {.instance = (uint64_t)start_number(text, &at, 16)};

		g.for_ms = start_number(text, &at, 10);
		if (!g.instance || g.for_ms <= 0 || g.for_ms > 4 * DURATION_MAX_MS)
			return;
		c->gone[c->n_gone++] = g;
	}
}

void gone_started(struct core *c)
{
	for (size_t i = 0; i < c->n_gone; i++)
		c->gone[i].until_ms = c->mono_ms + c->gone[i].for_ms;
}
