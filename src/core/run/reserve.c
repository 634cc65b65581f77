/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nobody is passed over for ever. Small needs find room sooner than a large one; a shape that was
 * passed over by so many tasks with needs is starving. The next worker on which it could run, and
 * that has something given back, is kept for it: nothing that needs any of the same is placed there
 * until the starving shape has been. Of what the whole cluster has, all is kept for one starving
 * shape at a time; so nobody who keeps something waits for somebody who waits for that.
 */
#include "core/state.h"

#define PASSED_MAX 16

/* One that can never have what it wants, or must not start now wherever there is room, waits on,
 * and keeps nobody from anything. */
static void starve(struct core *c, struct shape *s)
{
	TAILQ_REMOVE(&c->hungry, s, in_hungry);
	if (s->is_too_much || throttle_full(s) || !queue_may_start(s->queue)) {
		s->hungry_since = c->n_shaped_placed;
		TAILQ_INSERT_TAIL(&c->hungry, s, in_hungry);
		return;
	}
	TAILQ_INSERT_TAIL(&c->starving, s, in_hungry);
	s->is_starving = true;
	if (s->has_common && !c->common_for)
		c->common_for = s;
}

void reserve_blocked(struct core *c, struct shape *s)
{
	if (s->is_hungry)
		return;
	s->is_hungry = true;
	s->hungry_since = c->n_shaped_placed;
	TAILQ_INSERT_TAIL(&c->hungry, s, in_hungry);
}

static void let_go(struct core *c, struct shape *s)
{
	struct worker *w = TAKE(s->reserved);

	if (!w)
		return;
	w->reserved_for = NULL;
	place_room(c, w);
}

/* The next in line keeps what the cluster has. */
static void next_common(struct core *c, struct shape *s)
{
	struct shape *next;

	c->common_for = NULL;
	TAILQ_FOREACH (next, &c->starving, in_hungry)
		if (next->has_common) {
			c->common_for = next;
			break;
		}
	commons_wake(c, s);
}

void reserve_forget(struct core *c, struct shape *s)
{
	if (!s->is_hungry)
		return;
	if (s->is_starving)
		TAILQ_REMOVE(&c->starving, s, in_hungry);
	else
		TAILQ_REMOVE(&c->hungry, s, in_hungry);
	s->is_hungry = s->is_starving = false;
	let_go(c, s);
	if (c->common_for == s)
		next_common(c, s);
}

/* The shape begins to wait anew, and keeps nothing meanwhile. */
static void wait_anew(struct core *c, struct shape *s)
{
	reserve_forget(c, s);
	if (s->is_blocked)
		reserve_blocked(c, s);
}

/* One of its throttles may be full now for others, too. */
static void throttled_rest(struct core *c)
{
	struct shape *s, *next;

	TAILQ_FOREACH_SAFE (s, &c->starving, in_hungry, next)
		if (throttle_full(s))
			wait_anew(c, s);
}

void reserve_placed(struct core *c, struct shape *s)
{
	struct shape *first;

	reserve_forget(c, s);
	if (s->has_common)
		throttled_rest(c);
	c->n_shaped_placed++;
	while ((first = TAILQ_FIRST(&c->hungry)) &&
	       c->n_shaped_placed - first->hungry_since >= PASSED_MAX)
		starve(c, first);
}

void reserve_consider(struct core *c, struct worker *w, struct shape *s)
{
	if (!s->is_starving || s->reserved || w->reserved_for || throttle_full(s) ||
	    !queue_may_start(s->queue))
		return;
	s->reserved = w;
	w->reserved_for = s;
}

void reserve_lost(struct core *c, struct worker *w)
{
	if (w->reserved_for)
		let_go(c, w->reserved_for);
}

/* The queue is paused or at its limit. */
void reserve_queue_rests(struct core *c, struct queue *q)
{
	struct shape *s;

	if (TAILQ_EMPTY(&c->starving))
		return;
	SHAPES_EACH(s, q)
	if (s->is_starving)
		wait_anew(c, s);
}

static bool shares(const struct shape *x, const struct shape *y)
{
	for (size_t i = 0; i < x->n_amounts; i++)
		for (size_t k = 0; k < y->n_amounts; k++)
			if (!x->amounts[i].common && !y->amounts[k].common &&
			    str_eq(x->amounts[i].name, y->amounts[k].name))
				return true;
	return false;
}

bool reserve_bars(const struct worker *w, const struct shape *s)
{
	return w->reserved_for && w->reserved_for != s && shares(w->reserved_for, s);
}

/* Only while some worker may have room for it: else it would be kept for nothing. */
bool reserve_bars_common(const struct core *c, const struct shape *s, const struct common *common)
{
	const struct shape *first = c->common_for;

	return first && first != s && first->n_fits && commons_wanted(first, common);
}

void reserve_in_vain(struct core *c, struct shape *s)
{
	if (s == c->common_for && !s->n_fits)
		commons_wake(c, s);
}
