/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which workers may have room for a shape's tasks. Of every list each connected worker that serves
 * the queue is in exactly one of three places: in the list, among those that left it (the worker
 * itself remembers that), or nowhere, for what it offers can never be enough. A look at one that
 * does not fit makes it leave; when it has more to give it comes back to the lists where it fits.
 * Each look that is in vain is thus paid for by a task that ended.
 */
#include "core/state.h"

#include <stdlib.h>

#define LOOK_AT 8     /* workers compared for one task: a fair spread without a walk over all */
#define LISTS_MAX 256 /* of a queue: further needs wait until one of these has no tasks left */

static bool is_stale(const struct eligible *e)
{
	return e->generation != e->worker->generation;
}

static void drop_stale(struct shape *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_fits; i++)
		if (!is_stale(&s->fits[i]))
			s->fits[kept++] = s->fits[i];
	s->n_fits = kept;
}

static void enter(struct shape *s, struct worker *w)
{
	if (s->n_fits == s->cap_fits)
		drop_stale(s);
	if (s->n_fits * 2 >= s->cap_fits)
		GROW(s->fits, s->cap_fits, s->n_fits + 1);
	s->fits[s->n_fits++] = (struct eligible){w, w->generation};
	if (!s->is_counted)
		s->queue->shapes.n_lists++;
	s->is_counted = true;
}

static bool is_live(const struct core *c, struct left l, struct shape **ret)
{
	*ret = idmap_get(&c->shapes, l.shape);
	return *ret && (*ret)->list == l.list;
}

/* Lists that are no more need not be remembered. */
static void remember(struct core *c, struct worker *w, struct shape *s)
{
	struct shape *other;
	size_t kept = 0;

	if (MUTANT(LEFT_IS_FORGOTTEN))
		return;
	if (w->n_left == w->cap_left) {
		for (size_t i = 0; i < w->n_left; i++)
			if (is_live(c, w->left[i], &other))
				w->left[kept++] = w->left[i];
		w->n_left = kept;
	}
	if (w->n_left * 2 >= w->cap_left)
		GROW(w->left, w->cap_left, w->n_left + 1);
	w->left[w->n_left++] = (struct left){s->id, s->list};
	s->n_left++;
}

static void list_end(struct core *c, struct shape *s)
{
	s->n_fits = s->n_left = s->cursor = 0;
	if (s->is_counted)
		s->queue->shapes.n_lists--;
	s->is_counted = false;
	s->list = 0;
}

void fit_list_drop(struct core *c, struct shape *s)
{
	struct shapes *all = &s->queue->shapes;

	if (s->is_later)
		TAILQ_REMOVE(&all->later, s, in_later);
	s->is_later = false;
	if (s == &all->plain)
		return;
	list_end(c, s);
}

/* Of the lists one that no task waits for, or none that could start now wherever there is room. */
static bool make_way(struct core *c, struct queue *q)
{
	struct shape *s;

	SHAPES_EACH(s, q)
	if (s->is_counted && (!s->n_waiting || throttle_full(s))) {
		list_end(c, s);
		return true;
	}
	return false;
}

static void fill(struct core *c, struct shape *s)
{
	struct worker *w;

	EACH_OBJECT(w, c, KIND_WORKER)
	if (w->link && charge_fits_ever(w, s) && !worker_unserved(c, w, s->queue))
		enter(s, w);
}

static bool list_begin(struct core *c, struct shape *s)
{
	struct shapes *all = &s->queue->shapes;

	if (s->list)
		return true;
	if (all->n_lists >= LISTS_MAX && !make_way(c, s->queue)) {
		if (!s->is_later)
			TAILQ_INSERT_TAIL(&all->later, s, in_later);
		s->is_later = true;
		return false;
	}
	s->list = ++c->last_list;
	fill(c, s);
	return true;
}

void fit_later(struct core *c, struct queue *q)
{
	struct shape *s = TAILQ_FIRST(&q->shapes.later);

	if (!s)
		return;
	TAILQ_REMOVE(&q->shapes.later, s, in_later);
	s->is_later = false;
	shape_unblock(c, s);
}

/* A worker joined: to every list of the queue where it may ever fit. */
static void join(struct core *c, struct worker *w, struct shape *s)
{
	if (!s->list || !charge_fits_ever(w, s))
		return;
	enter(s, w);
	shape_unblock(c, s);
}

void fit_joined(struct core *c, struct worker *w, struct queue *q)
{
	struct shape *s;

	if (!w->link || worker_unserved(c, w, q))
		return;
	join(c, w, &q->shapes.plain);
	SHAPES_EACH(s, q)
	join(c, w, s);
}

void fit_lists_anew(struct core *c, struct queue *q)
{
	struct shape *plain = &q->shapes.plain, *s;

	plain->n_fits = plain->n_left = plain->cursor = 0;
	plain->list = ++c->last_list;
	fill(c, plain);
	SHAPES_EACH(s, q)
	{
		fit_list_drop(c, s);
		shape_unblock(c, s);
	}
}

static bool fits(const struct core *c, const struct worker *w, const struct shape *s)
{
	return worker_has_room(c, w) && charge_fits(c, w, s) && !reserve_bars(w, s);
}

static bool is_better(const struct queue *q, const struct worker *w, const struct worker *best)
{
	if (!best)
		return true;
	return q->row.placement == PLACE_PACK ? w->running > best->running
	                                      : w->running < best->running;
}

struct worker *fit_pick(struct core *c, struct shape *s, const struct task_spec *spec)
{
	struct worker *best = NULL;
	size_t looked = 0;

	if (s->has_common && commons_short(c, s)) {
		if (throttle_full(s))
			fit_later(c, s->queue);
		return NULL;
	}
	if (!list_begin(c, s))
		return NULL;
	if (s->queue->row.placement == PLACE_PACK)
		s->cursor = 0; /* always the same ones first, until they are full */
	for (size_t left = s->n_fits; left > 0 && looked < LOOK_AT; left--) {
		struct eligible *e;

		if (s->cursor >= s->n_fits)
			s->cursor = 0;
		e = &s->fits[s->cursor];
		if (is_stale(e)) {
			*e = s->fits[--s->n_fits];
			continue;
		}
		if (!fits(c, e->worker, s)) {
			remember(c, e->worker, s);
			*e = s->fits[--s->n_fits];
			continue;
		}
		s->cursor++;
		if (!worker_takes(c, e->worker, spec)) /* another task of this shape it may take */
			continue;
		looked++;
		if (is_better(s->queue, e->worker, best))
			best = e->worker;
	}
	return best;
}

void fit_return(struct core *c, struct worker *w)
{
	size_t n = w->n_left, kept = 0;

	if (!worker_has_room(c, w))
		return;
	for (size_t i = 0; i < n; i++) {
		struct shape *s;

		if (!is_live(c, w->left[i], &s))
			continue;
		if (!fits(c, w, s)) {
			w->left[kept++] = w->left[i];
			reserve_consider(c, w, s);
			continue;
		}
		s->n_left--;
		enter(s, w);
		shape_unblock(c, s);
	}
	w->n_left = kept;
}

void fit_unlinked(struct core *c, struct worker *w)
{
	struct shape *s;

	reserve_lost(c, w);
	for (size_t i = 0; i < w->n_left; i++)
		if (is_live(c, w->left[i], &s))
			s->n_left--;
	w->n_left = 0;
}

static void purge(struct shape *s, const struct worker *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_fits; i++)
		if (s->fits[i].worker != w)
			s->fits[kept++] = s->fits[i];
	s->n_fits = kept;
}

void fit_purge(struct core *c, const struct worker *w)
{
	struct queue *q;
	struct shape *s;

	EACH_OBJECT(q, c, KIND_QUEUE)
	{
		purge(&q->shapes.plain, w);
		SHAPES_EACH(s, q)
		purge(s, w);
	}
}

int32_t fit_connected(const struct shape *plain)
{
	int32_t n = (int32_t)plain->n_left;

	for (size_t i = 0; i < plain->n_fits; i++)
		n += !is_stale(&plain->fits[i]);
	return n;
}
