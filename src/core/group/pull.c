/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which groups dispatch: few at once, the oldest first, so that one can be followed by eye and ends
 * before the next begins. One more is pulled in when workers would idle though it has work for
 * them. Those that stand still (stands.c) do not count: while workers idle another one takes the
 * place of each at once. So groups that nobody can run stall no other.
 *
 * What dispatches is in memory. So only so much of it is pulled in beyond the few.
 */
#include "core/group/group.h"
#include "core/state.h"

#define LOOK_AT_MOST 20000 /* groups that wait, in one look: about a millisecond */
#define JOB_BYTES 13       /* see struct active */
#define EDGE_BYTES 4

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

/* Many groups are of the same few queues. */
struct seen_queues {
	struct {
		rid queue;
		bool idles;
	} all[64];
};

static bool idles(const struct core *c, struct seen_queues *seen, rid queue)
{
	size_t at = queue % (sizeof seen->all / sizeof seen->all[0]);

	if (seen->all[at].queue != queue) {
		seen->all[at].queue = queue;
		seen->all[at].idles = would_idle(c, queue);
	}
	return seen->all[at].idles;
}

/* One of which all jobs were ended by people needs no worker: it only has to be seen to its end. */
static bool has_work(const struct core *c, const struct group *g, struct seen_queues *seen)
{
	bool lives = false;

	for (uint32_t i = 0; i < g->n_queues; i++) {
		if (g->queues[i].n && idles(c, seen, g->queues[i].queue))
			return true;
		lives |= g->queues[i].n > 0;
	}
	return !lives;
}

/* Where the last look ended, if it was not at the end. */
static struct group *look_from(const struct core *c)
{
	const struct groups *all = groups_of(c);
	struct group *g = all->looked_to ? group_find(c, all->looked_to) : NULL;

	return g && g->row.state == GROUP_QUEUED ? g : TAILQ_FIRST(&all->waiting);
}

/* The oldest that waits and has work for an idle worker. */
static struct group *wanted(struct core *c)
{
	struct groups *all = groups_of(c);
	struct seen_queues seen = {0};
	struct group *g = look_from(c);

	for (int n = 0; g && n < LOOK_AT_MOST; n++, g = TAILQ_NEXT(g, in_line))
		if (has_work(c, g, &seen)) {
			all->looked_to = 0;
			return g;
		}
	all->looked_to = g ? g->row.id : 0;
	return NULL;
}

bool groups_fill_memory(const struct core *c)
{
	const struct groups *all = groups_of(c);

	return all->n_active >= GROUPS_STAND_MOST ||
	       all->active_jobs * JOB_BYTES + all->active_edges * EDGE_BYTES > GROUPS_STAND_BYTES;
}

int64_t groups_pull_in_ms(const struct core *c, int64_t mono_ms)
{
	const struct groups *all = groups_of(c);
	int64_t left = timer_is_set(&all->pull) ? all->pull.node.at - mono_ms : 0;
	bool at_once = all->has_idled || all->n_active - all->n_stand < c->o.groups_active;

	return (left > 0 ? left : 0) + (at_once ? 0 : c->o.groups_delay_ms);
}

/* In the place of one that stands still: a worker that idles now would go on idling. */
static bool has_place(const struct core *c)
{
	const struct groups *all = groups_of(c);

	return all->n_active - all->n_stand < c->o.groups_active && !groups_fill_memory(c);
}

/* Twice in a row, with the delay between: a worker that is between two tasks is not idle. */
static void look(struct core *c, struct timer *t, struct effects *out)
{
	struct groups *all = groups_of(c);
	struct group *g;

	stands_look(c, true);
	g = groups_fill_memory(c) ? NULL : wanted(c);
	if (g && (all->has_idled || has_place(c))) {
		pull(c, g, out);
		all->has_idled = false;
	} else {
		all->has_idled = g != NULL;
	}
}

static void replace(struct core *c, struct effects *out)
{
	struct group *g;

	groups_of(c)->look_at_waiting = false;
	while (has_place(c) && (g = wanted(c)))
		pull(c, g, out);
}

void groups_pull(struct core *c, struct effects *out)
{
	struct groups *all = groups_of(c);

	while (all->n_active < c->o.groups_active && !TAILQ_EMPTY(&all->waiting))
		pull(c, TAILQ_FIRST(&all->waiting), out);
	if (all->look_at_waiting)
		replace(c, out);
	if (TAILQ_EMPTY(&all->waiting)) {
		timer_clear(c, TIMER_MONO, &all->pull);
		all->has_idled = false;
	} else if (!timer_is_set(&all->pull)) {
		timer_set(c, TIMER_MONO, &all->pull, c->mono_ms + c->o.groups_delay_ms, 0, look);
	}
}
