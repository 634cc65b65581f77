/* SPDX-License-Identifier: Apache-2.0 */
#include "core/timer.h"

#include "core/state.h"

#define WALL_PER_STEP 1000   /* others want their turn, and the store its batch */
#define STEP_NOTICED_MS 1500 /* slewing and rounding stay below */

void timer_set(struct core *c, enum timer_clock clock, struct timer *t, int64_t at_ms, rid owner,
    timer_fn *fire)
{
	t->fire = fire;
	heap_put(&c->timers.heaps[clock], &t->node, at_ms, owner);
}

void timer_clear(struct core *c, enum timer_clock clock, struct timer *t)
{
	heap_del(&c->timers.heaps[clock], &t->node);
}

static struct timer *first_due(const struct core *c, enum timer_clock clock)
{
	struct heap_node *n = heap_min(&c->timers.heaps[clock]);
	int64_t now = clock == TIMER_WALL ? c->now_ms : c->mono_ms;

	return n && n->at <= now ? CONTAINER_OF(n, struct timer, node) : NULL;
}

static void fire(struct core *c, enum timer_clock clock, struct timer *t, struct effects *out)
{
	timer_clear(c, clock, t);
	t->fire(c, t, out);
}

/* What is left over when the budget is spent is due at once: the next step goes on with it. */
void timers_run(struct core *c, struct effects *out)
{
	struct timer *t;

	while ((t = first_due(c, TIMER_MONO)))
		fire(c, TIMER_MONO, t, out);
	c->timers.budget = WALL_PER_STEP;
	while (c->timers.budget && (t = first_due(c, TIMER_WALL))) {
		c->timers.budget--;
		fire(c, TIMER_WALL, t, out);
	}
}

int64_t timers_next_ms(const struct core *c)
{
	const struct heap_node *wall = heap_min(&c->timers.heaps[TIMER_WALL]);
	const struct heap_node *mono = heap_min(&c->timers.heaps[TIMER_MONO]);
	int64_t at = mono ? mono->at : INT64_MAX, left;

	if (!wall)
		return at;
	left = wall->at <= c->now_ms ? 0 : wall->at - c->now_ms;
	return c->mono_ms + left < at ? c->mono_ms + left : at;
}

bool timers_clock_was_set(struct core *c)
{
	struct timers *t = &c->timers;
	int64_t step = (c->now_ms - t->now_ms) - (c->mono_ms - t->mono_ms);
	bool first = !t->now_ms;

	t->now_ms = c->now_ms;
	t->mono_ms = c->mono_ms;
	if (MUTANT(CLOCK_STEP_UNNOTICED))
		return first;
	return first || step > STEP_NOTICED_MS || step < -STEP_NOTICED_MS;
}

void timers_release(struct core *c)
{
	for (int i = 0; i < N_TIMER_CLOCKS; i++)
		heap_release(&c->timers.heaps[i]);
}
