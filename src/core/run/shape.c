/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shapes: what waiting tasks need, each different need once. A shape that found no worker is
 * blocked, and its tasks are passed by until a worker comes back to its list; the others of the
 * queue go on. The next task is the first in the queue's order among the shapes that are open.
 */
#include "core/state.h"

#include <stdlib.h>
#include <string.h>

#define IDLE_MAX 16 /* of a queue, kept for the next task with the same need */

static int key_cmp(struct window_key x, struct window_key y)
{
	if (x.a != y.a)
		return x.a < y.a ? -1 : 1;
	return x.b < y.b ? -1 : x.b > y.b;
}

static int task_cmp(const struct task *x, const struct task *y)
{
	return key_cmp(x->key, y->key);
}

static int need_cmp(const struct shape *x, const struct shape *y)
{
	return str_cmp(x->need, y->need);
}

static int head_cmp(const struct shape *x, const struct shape *y)
{
	return key_cmp(x->head, y->head);
}

RB_PROTOTYPE(shape_tasks, task, in_shape, task_cmp)
RB_GENERATE(shape_tasks, task, in_shape, task_cmp)
RB_PROTOTYPE(shapes_by_need, shape, by_need, need_cmp)
RB_GENERATE(shapes_by_need, shape, by_need, need_cmp)
RB_PROTOTYPE(shapes_by_head, shape, by_head, head_cmp)
RB_GENERATE(shapes_by_head, shape, by_head, head_cmp)

struct shape *shapes_first(const struct queue *q)
{
	return RB_MIN(shapes_by_need, (struct shapes_by_need *)&q->shapes.by_need);
}

struct shape *shapes_next(struct shape *s)
{
	return RB_NEXT(shapes_by_need, , s);
}

static void shape_init(struct core *c, struct shape *s, struct queue *q)
{
	*s = (struct shape){.id = ++c->last_shape, .queue = q};
	RB_INIT(&s->waiting);
	idmap_put(&c->shapes, s->id, s);
}

void shapes_init(struct core *c, struct queue *q)
{
	struct shapes *all = &q->shapes;

	RB_INIT(&all->by_need);
	RB_INIT(&all->open);
	TAILQ_INIT(&all->idle);
	TAILQ_INIT(&all->later);
	shape_init(c, &all->plain, q);
	all->plain.list = ++c->last_list;
}

static void parse_amounts(struct core *c, struct shape *s)
{
	struct str rest = s->need;
	struct amount at;
	size_t cap = 0;

	while (amount_next(&rest, &at)) {
		struct shape_amount *to;

		GROW(s->amounts, cap, s->n_amounts + 1);
		to = &s->amounts[s->n_amounts++];
		*to = (struct shape_amount){at.name, at.n, common_find(c, at.name), 0};
		s->has_common |= to->common != NULL;
		s->is_too_much |= to->common && at.n > to->common->held.total;
	}
	s->asks_worker = need_asks_worker(s->need);
	throttles_name(c, s);
}

static void shape_release(struct core *c, struct shape *s)
{
	reserve_forget(c, s);
	fit_list_drop(c, s);
	idmap_del(&c->shapes, s->id);
	throttles_unname(c, s);
	free(s->fits);
	free(s->amounts);
	free((char *)s->need.p);
}

static void shape_free(struct core *c, struct shape *s)
{
	RB_REMOVE(shapes_by_need, &s->queue->shapes.by_need, s);
	shape_release(c, s);
	free(s);
}

static void idle_end(struct shape *s)
{
	struct shapes *all = &s->queue->shapes;

	if (!s->is_idle)
		return;
	TAILQ_REMOVE(&all->idle, s, in_idle);
	all->n_idle--;
	s->is_idle = false;
}

struct shape *shape_get(struct core *c, struct queue *q, struct str need)
{
	struct shape probe = {.need = need};
	struct shape *s = RB_FIND(shapes_by_need, &q->shapes.by_need, &probe);

	if (!s) {
		s = xcalloc(1, sizeof *s);
		shape_init(c, s, q);
		s->need = (struct str){xstrndup(need.p, need.n), need.n};
		parse_amounts(c, s);
		RB_INSERT(shapes_by_need, &q->shapes.by_need, s);
	}
	idle_end(s);
	s->refs++;
	return s;
}

void shape_put(struct core *c, struct shape *s)
{
	struct shapes *all = &s->queue->shapes;

	if (--s->refs)
		return;
	TAILQ_INSERT_TAIL(&all->idle, s, in_idle);
	s->is_idle = true;
	if (++all->n_idle <= IDLE_MAX)
		return;
	s = TAILQ_FIRST(&all->idle);
	idle_end(s);
	shape_free(c, s);
}

void shapes_release(struct core *c, struct queue *q)
{
	struct shape *s;

	while ((s = RB_MIN(shapes_by_need, &q->shapes.by_need))) {
		MUST(!s->refs);
		idle_end(s);
		shape_free(c, s);
	}
	shape_release(c, &q->shapes.plain);
}

/* A shape is open while it has waiting tasks and is not blocked; in the order of their first. */
static void reopen(struct shape *s)
{
	struct shapes_by_head *open = &s->queue->shapes.open;
	struct task *first = RB_MIN(shape_tasks, &s->waiting);

	if (s->is_open)
		RB_REMOVE(shapes_by_head, open, s);
	s->is_open = first && !s->is_blocked;
	if (!s->is_open)
		return;
	s->head = first->key;
	RB_INSERT(shapes_by_head, open, s);
}

/* What the task needs, by its own word and its queue's. */
static struct str shape_need(struct arena *a, const struct queue *q, const struct task *t)
{
	return need_merge(a, q->row.need, t->row.spec.need);
}

void shape_enter(struct core *c, struct task *t)
{
	struct queue *q = t->queue;
	struct shapes *all = &q->shapes;
	struct arena a = {0};

	if (!q->row.need.n && !t->row.spec.need.n) {
		if (key_cmp(t->key, all->plain_from) < 0)
			all->plain_from = t->key;
		return;
	}
	t->shape = shape_get(c, q, shape_need(&a, q, t));
	arena_release(&a);
	MUST(RB_INSERT(shape_tasks, &t->shape->waiting, t) == NULL);
	t->shape->n_waiting++;
	all->n_shaped++;
	reopen(t->shape);
}

void shape_leave(struct core *c, struct task *t)
{
	struct shape *s = TAKE(t->shape);

	if (!s)
		return;
	RB_REMOVE(shape_tasks, &s->waiting, t);
	s->queue->shapes.n_shaped--;
	reopen(s);
	if (--s->n_waiting == 0) {
		reserve_forget(c, s);
		fit_later(c, s->queue);
	}
	shape_put(c, s);
}

void shapes_anew(struct core *c, struct queue *q)
{
	for (struct task *t = window_first(&q->ready); t; t = window_next(t)) {
		shape_leave(c, t);
		shape_enter(c, t);
	}
}

/* The first in order that needs nothing. Most queues have no others. */
static struct task *plain_first(struct queue *q)
{
	struct shapes *all = &q->shapes;
	struct task *t;

	if (!all->n_shaped)
		return window_first(&q->ready);
	if (q->ready.n == all->n_shaped)
		return NULL;
	t = window_from(&q->ready, all->plain_from);
	while (t && t->shape)
		t = window_next(t);
	if (t)
		all->plain_from = t->key;
	return t;
}

struct task *shape_next_task(struct queue *q)
{
	struct task *plain = plain_first(q);
	struct shape *s = RB_MIN(shapes_by_head, &q->shapes.open);

	if (!s || (plain && key_cmp(plain->key, s->head) < 0))
		return plain;
	return RB_MIN(shape_tasks, &s->waiting);
}

void shape_block(struct core *c, struct shape *s)
{
	s->is_blocked = true;
	reopen(s);
	reserve_blocked(c, s);
	reserve_in_vain(c, s);
}

void shape_unblock(struct core *c, struct shape *s)
{
	if (s->is_blocked) {
		s->is_blocked = false;
		reopen(s);
	}
	if (c->is_room_back && s->queue->line == LINE_STALLED)
		queue_waited(c, s->queue);
	else
		queue_ready(c, s->queue);
}
