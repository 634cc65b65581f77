/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups that stand still: of all that they have ready nothing could be had by any worker, however
 * much room there was. A job is held, or waits for its time, or its queue starts nothing, or no
 * connected worker is what it needs. Such a group keeps no other one out.
 *
 * That is judged when nothing is left to be done of the group, and placement has tried what it has
 * ready. As long as one of its jobs could go on a look costs a glance at that job. Nothing but
 * pull.c goes by it, and that only while workers idle; so what changes without a word (a worker
 * that joins and is full) does no harm until the group is looked at again.
 */
#include "core/group/group.h"
#include "core/state.h"

#include <stdlib.h>
#include <string.h>

#define LOOKED_AT_MOST 10000 /* jobs: beyond that a group counts as one that goes on */

static void set(struct core *c, struct group *g, bool stands)
{
	struct active *a = g->active;

	groups_of(c)->n_stand += (size_t)stands - (size_t)a->stands;
	a->stands = stands;
}

void stands_go_on(struct core *c, struct group *g)
{
	if (!g->active)
		return;
	set(c, g, false);
	g->active->is_to_judge = false;
}

void stands_rests(struct core *c, struct group *g)
{
	if (g->active->stands)
		return;
	g->active->is_to_judge = true;
	groups_of(c)->look_at_stands = true;
}

/* Which worker it would be does not matter: one that is away or full now is one. */
static bool has_worker(const struct shape *s)
{
	return s->list ? fit_connected(s) > 0 : !s->is_too_much;
}

struct glance { /* jobs of one group mostly need the same */
	const struct shape *shape;
	bool has_worker;
};

/* All tasks of these queues that wait are in memory. */
static bool is_all_here(const struct core *c, const struct group *g)
{
	for (uint32_t i = 0; i < g->n_queues; i++) {
		const struct queue *q = queue_find(c, g->queues[i].queue);

		if (q && g->queues[i].n && !(q->ready.complete && q->due.complete))
			return false;
	}
	return true;
}

static bool could_start(const struct task *t, struct glance *last)
{
	const struct queue *q = t->queue;
	const struct shape *s = t->shape ? t->shape : &q->shapes.plain;

	if (q->row.paused || !q->row.threads)
		return false;
	if (last->shape != s)
		*last = (struct glance){s, has_worker(s)};
	return last->has_worker;
}

static bool goes_on(const struct core *c, const struct group *g, uint32_t job, struct glance *last)
{
	const struct task *t = task_find(c, group_job_id(&g->row, job));

	if (!t) /* an operator holds it; or it lies far behind in its queue */
		return !is_all_here(c, g);
	if (t->worker || timer_is_set(&t->hold))
		return true;
	if (task_is_held(t->row.state.status))
		return false;
	if (t->row.state.due_ms > c->now_ms)
		return t->row.state.due_ms - c->now_ms <= c->o.groups_delay_ms;
	return could_start(t, last);
}

/* The next one that lives, in a circle: there is one. */
static uint32_t next_live(const struct group *g, uint32_t from)
{
	const uint8_t *marks = g->active->marks, *at = NULL;
	size_t n = (size_t)g->row.n_jobs;

	if (from < n)
		at = memchr(marks + from, MARK_LIVE, n - from);
	if (!at)
		at = memchr(marks, MARK_LIVE, n);
	MUST(at);
	return (uint32_t)(at - marks);
}

static bool stands(const struct core *c, struct group *g)
{
	struct active *a = g->active;
	struct glance last = {0};

	if (!a->n_live || a->n_live > LOOKED_AT_MOST)
		return false;
	for (int64_t i = 0; i < a->n_live; i++, a->look_at++) {
		a->look_at = next_live(g, a->look_at);
		if (goes_on(c, g, a->look_at, &last))
			return false;
	}
	return true;
}

static bool is_at_rest(const struct active *a)
{
	return a->stage == STAGE_RUN && !a->read && !a->n_asked && !a->todo.n && !a->ended.n;
}

static void judge(struct core *c, struct group *g)
{
	struct active *a = g->active;

	a->is_to_judge = false;
	if (a->stands || !is_at_rest(a) || !stands(c, g))
		return;
	set(c, g, true);
	free(TAKE(a->asked));
	groups_of(c)->look_at_waiting = true;
	groups_go_on(c);
}

void stands_look(struct core *c, bool at_all)
{
	struct groups *all = groups_of(c);
	struct group *g;

	if (TAILQ_EMPTY(&all->waiting) || (!at_all && !all->look_at_stands))
		return;
	all->look_at_stands = false;
	TAILQ_FOREACH (g, &all->active, in_line)
		if (g->active && (at_all || g->active->is_to_judge))
			judge(c, g);
}
