/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which groups dispatch: few at once, the oldest first, so that one can be followed by eye and ends
 * before the next begins. One more is pulled in when workers would idle though it has work for
 * them; so a group whose target has no workers stalls no other.
 */
#include "core/group/group.h"
#include "core/state.h"

#define LOOK_AT_MOST 64  /* groups that wait */
#define ACTIVE_MOST 1000 /* active groups cost memory */

static void pull(struct core *c, struct group *g, struct effects *out)
{
	group_move(c, g, GROUP_DISPATCHING, g->row.reason, STR("reeve"), out);
	active_begin(c, g);
	group_dirty(c, g);
}

static bool has_idle_worker(const struct core *c, const struct queue *q)
{
	struct worker *w;

	EACH_OBJECT(w, c, KIND_WORKER)
	if (w->link && w->health.state == WORKER_HEALTHY && !w->leaving &&
	    !worker_unserved(c, w, q) && worker_has_room(c, w))
		return true;
	return false;
}

/* A worker would take something of the queue, and there is nothing for it: what is queued waits for
 * its time, or fits no worker that has room. (The counts cannot tell: how many wait for their time
 * is unknown for a while after a start.) */
static bool would_idle(const struct core *c, rid queue)
{
	const struct queue *q = queue_find(c, queue);

	return q && !q->row.paused && q->line != LINE_ROTATION && !q->ready.reading &&
	       (q->row.threads < 0 || q->n_claimed + q->n_running < q->row.threads) &&
	       has_idle_worker(c, q);
}

/* The oldest that waits and has work for an idle worker. */
static struct group *wanted(const struct core *c)
{
	struct group *g;
	int n = 0;

	TAILQ_FOREACH (g, &groups_of(c)->waiting, in_line) {
		if (n++ == LOOK_AT_MOST)
			return NULL;
		for (uint32_t i = 0; i < g->n_queues; i++)
			if (g->queues[i].n && would_idle(c, g->queues[i].queue))
				return g;
	}
	return NULL;
}

/* Twice in a row, with the delay between: a worker that is between two tasks is not idle. */
static void look(struct core *c, struct timer *t, struct effects *out)
{
	struct group *g = groups_of(c)->n_active < ACTIVE_MOST ? wanted(c) : NULL;

	if (g && groups_of(c)->has_idled) {
		pull(c, g, out);
		groups_of(c)->has_idled = false;
	} else {
		groups_of(c)->has_idled = g != NULL;
	}
}

void groups_pull(struct core *c, struct effects *out)
{
	struct groups *all = groups_of(c);

	while (all->n_active < c->o.groups_active && !TAILQ_EMPTY(&all->waiting))
		pull(c, TAILQ_FIRST(&all->waiting), out);
	if (TAILQ_EMPTY(&all->waiting)) {
		timer_clear(c, TIMER_MONO, &all->pull);
		all->has_idled = false;
	} else if (!timer_is_set(&all->pull)) {
		timer_set(c, TIMER_MONO, &all->pull, c->mono_ms + c->o.groups_delay_ms, 0, look);
	}
}
