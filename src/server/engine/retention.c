/* SPDX-License-Identifier: Apache-2.0 */
#include "server/engine/retention.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "core/group/view.h"

#define STEP 500          /* tasks deleted in one batch */
#define BUSY_PERIOD_MS 50 /* between two steps while there is more to delete */
#define PERIOD_MS 10000
#define EXPIRE_EVERY 60   /* looks */
#define WORKERS_STEP 1000 /* looked at in one look */
#define GROUPS_STEP 64
#define EMPTY_GROUP_KEPT_MS 86400000

/* A worker that was here so short a time, and could not be given anything, is only a name. */
#define PASSER_BY_MS 60000
#define PASSER_BY_KEPT_MS 3600000

struct retention {
	struct loop *loop;
	struct engine *engine;
	struct readers *readers;
	struct retention_options o;
	struct loop_timer *timer;
	uint64_t looks;
	rid worker; /* the last that was looked at; 0: begin with the first */
	/* of the look under way, on a reader's thread */
	struct retention_options wanted;
	int64_t now_ms;
	rid ids[STEP];
	size_t n;
	rid after; /* behind this task: those before it belong to groups that have not ended */
	rid group; /* the last that was looked at; 0: begin with the first */
	struct {
		rid id, last; /* and its last job */
		bool is_over; /* the group's jobs are gone */
	} groups[GROUPS_STEP];
	size_t n_groups;
};

static void add_by_age(struct store_reader *r, struct retention *t)
{
	if (t->wanted.age_ms)
		store_prunable(r, t->after, t->now_ms - t->wanted.age_ms, STEP, t->ids, &t->n);
}

static void add_by_count(struct store_reader *r, struct retention *t)
{
	int64_t have, excess;

	if (!t->wanted.count || t->n || store_count_ended(r, &have) != 0)
		return;
	excess = have - t->wanted.count;
	if (excess > 0)
		store_prunable(
		    r, t->after, 0, excess < STEP ? (uint32_t)excess : STEP, t->ids, &t->n);
}

static bool is_gone(struct store_reader *r, rid task, struct arena *a)
{
	struct task_row row;

	return store_task_get(r, task, a, &row) == ERR_NOT_FOUND;
}

/* A group goes when its jobs have gone, which they do by age or by count as all tasks. */
static void look_at_groups(struct store_reader *r, struct retention *t)
{
	struct arena a = {0};

	for (size_t i = 0; i < t->n_groups; i++)
		t->groups[i].is_over =
		    is_gone(r, t->groups[i].id + 1, &a) && is_gone(r, t->groups[i].last, &a);
	arena_release(&a);
}

static void look(struct store_reader *r, void *arg)
{
	struct retention *t = arg;

	t->n = 0;
	add_by_age(r, t);
	add_by_count(r, t);
	look_at_groups(r, t);
}

static void forgotten(const struct reply *r, void *arg)
{
}

static void forget_groups(struct retention *t)
{
	for (size_t i = 0; i < t->n_groups; i++) {
		struct event ev = {
		    .kind = EV_DELETE, .object.kind = KIND_GROUP, .actor = STR("reeve")};

		ev.object.id = t->groups[i].id;
		if (t->groups[i].is_over)
			engine_command(t->engine, &ev, forgotten, NULL);
	}
	t->n_groups = 0;
}

/* What a group that has not ended goes by is kept, and does not hide what is behind it. */
static size_t keep_jobs(struct retention *t)
{
	const struct core *c = engine_core(t->engine);
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (core_may_prune(c, t->ids[i]))
			t->ids[n++] = t->ids[i];
	t->after = t->n && !n ? t->ids[t->n - 1] : 0;
	return n;
}

static void looked(void *arg)
{
	struct retention *t = arg;
	int64_t period = t->o.period_ms ? t->o.period_ms : PERIOD_MS;
	size_t n = keep_jobs(t);

	engine_prune(t->engine, t->ids, n);
	forget_groups(t);
	loop_timer_set(t->timer, n || t->after ? BUSY_PERIOD_MS : period);
}

static bool is_forgotten(const struct retention *t, const struct worker_view *v)
{
	const struct worker_row *w = v->row;
	bool passer_by = v->never_healthy && w->last_seen_ms - w->first_seen_ms < PASSER_BY_MS;
	int64_t keep_ms = t->o.workers_ms;

	if (passer_by && (!keep_ms || keep_ms > PASSER_BY_KEPT_MS))
		keep_ms = PASSER_BY_KEPT_MS;
	return keep_ms && v->state == WORKER_MUST_DIE && !v->connected && !v->running &&
	       !w->maxthreads_is_set && t->now_ms - w->last_seen_ms > keep_ms;
}

/* Through the door that people use, which knows who must be remembered. */
static void forget_workers(struct retention *t)
{
	const struct core *c = engine_core(t->engine);
	struct worker_view v;

	for (int i = 0; i < WORKERS_STEP; i++) {
		struct event ev = {
		    .kind = EV_DELETE, .object.kind = KIND_WORKER, .actor = STR("reeve")};

		t->worker = core_next(c, KIND_WORKER, t->worker);
		if (!t->worker)
			return;
		if (!core_worker(c, t->worker, clock_mono_ms(), &v) || !is_forgotten(t, &v))
			continue;
		ev.object.id = t->worker;
		engine_command(t->engine, &ev, forgotten, NULL);
	}
}

static void add_group(struct retention *t, const struct group_row *g)
{
	bool is_old = g->ended_ms && t->now_ms - g->ended_ms > EMPTY_GROUP_KEPT_MS;

	if (!group_is_ended(g->state) || (!g->n_jobs && !is_old))
		return;
	t->groups[t->n_groups].id = g->id;
	t->groups[t->n_groups++].last = g->id + 1 + (rid)(g->n_jobs ? g->n_jobs - 1 : 0);
}

static void choose_groups(struct retention *t)
{
	const struct core *c = engine_core(t->engine);
	struct group_view v;

	t->n_groups = 0;
	for (int i = 0; i < GROUPS_STEP; i++) {
		t->group = core_next(c, KIND_GROUP, t->group);
		if (!t->group)
			return;
		if (core_group(c, t->group, &v))
			add_group(t, v.row);
	}
}

static void on_timer(void *arg)
{
	struct retention *t = arg;

	t->now_ms = clock_wall_ms();
	t->wanted = t->o;
	if (core_is_open(engine_core(t->engine))) {
		forget_workers(t);
		choose_groups(t);
	}
	if (t->looks++ % EXPIRE_EVERY == 0)
		engine_expire(t->engine, t->now_ms - t->o.idem_ms,
		    t->o.events_ms ? t->now_ms - t->o.events_ms : 0);
	readers_run(t->readers, true, look, looked, t);
}

struct retention *retention_new(
    struct loop *l, struct engine *e, struct readers *r, const struct retention_options *o)
{
	struct retention *t = xcalloc(1, sizeof *t);

	t->loop = l;
	t->engine = e;
	t->readers = r;
	t->o = *o;
	t->timer = loop_timer_new(l, on_timer, t);
	loop_timer_set(t->timer, 1000);
	return t;
}

void retention_set(struct retention *t, const struct retention_options *o)
{
	t->o = *o;
}

void retention_free(struct retention *t)
{
	loop_timer_free(t->timer);
	free(t);
}
