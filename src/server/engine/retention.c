/* SPDX-License-Identifier: Apache-2.0 */
#include "server/engine/retention.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

#define STEP 500          /* tasks deleted in one batch */
#define BUSY_PERIOD_MS 50 /* between two steps while there is more to delete */
#define PERIOD_MS 10000
#define EXPIRE_EVERY 60   /* looks */
#define WORKERS_STEP 1000 /* looked at in one look */

/* Who was here so short a time, and could not be given anything, is only a name. */
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
};

static void add_by_age(struct store_reader *r, struct retention *t)
{
	if (t->wanted.age_ms)
		store_prunable(r, 0, t->now_ms - t->wanted.age_ms, STEP, t->ids, &t->n);
}

static void add_by_count(struct store_reader *r, struct retention *t)
{
	int64_t have, excess;

	if (!t->wanted.count || t->n || store_count_ended(r, &have) != 0)
		return;
	excess = have - t->wanted.count;
	if (excess > 0)
		store_prunable(r, 0, 0, excess < STEP ? (uint32_t)excess : STEP, t->ids, &t->n);
}

static void look(struct store_reader *r, void *arg)
{
	struct retention *t = arg;

	t->n = 0;
	add_by_age(r, t);
	add_by_count(r, t);
}

static void looked(void *arg)
{
	struct retention *t = arg;
	int64_t period = t->o.period_ms ? t->o.period_ms : PERIOD_MS;

	engine_prune(t->engine, t->ids, t->n);
	loop_timer_set(t->timer, t->n ? BUSY_PERIOD_MS : period);
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

static void forgotten(const struct reply *r, void *arg)
{
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

static void on_timer(void *arg)
{
	struct retention *t = arg;

	t->now_ms = clock_wall_ms();
	t->wanted = t->o;
	if (core_is_open(engine_core(t->engine)))
		forget_workers(t);
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
