/* SPDX-License-Identifier: Apache-2.0 */
#include "server/engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/world/clock.h"
#include "base/world/log.h"
#include "core/pipeline/pipeline.h"
#include "core/pipeline/tickets.h"
#include "server/engine/engine_load.h"
#include "server/engine/engine_read.h"
#include "server/engine/readers.h"
#include "server/engine/time_zones.h"
#include "server/engine/writer.h"

#define COMMIT_RETRY_MS 1000
#define MUCH_MEMORY (1u << 20) /* takes its time to be given back: not on the loop */

struct engine {
	struct loop *loop;
	struct store *store;
	struct engine_options o;
	struct core *core;
	struct id_space ids;
	struct receipts *receipts;
	struct hub *hub;
	struct writer *writer;
	struct time_zones *zones;
	struct readers *readers; /* one thread: the brain's reads keep their order */
	struct loop_deferred *flush, *go_on;
	struct loop_timer *wake, *retry;
	int64_t wake_at;
	struct rng rng; /* seeded by the kernel once: a draw per event must be cheap */
	struct pipeline pipe;
	struct tickets tickets;
	bool stopping;
};

static void flush(void *arg);

const struct core *engine_core(const struct engine *e)
{
	return e->core;
}

const struct id_space *engine_ids(const struct engine *e)
{
	return &e->ids;
}

struct receipts *engine_gives_receipts(const struct engine *e)
{
	return e->o.core.is_volatile ? e->receipts : NULL;
}

struct receipts *engine_heeds_receipts(const struct engine *e)
{
	return core_heeds_receipts(e->core) ? e->receipts : NULL;
}

struct hub *engine_hub(struct engine *e)
{
	return e->hub;
}

bool engine_is_stuck(const struct engine *e)
{
	return e->pipe.is_stuck;
}

struct search_index engine_search_index(const struct engine *e)
{
	return store_search_index(e->store);
}

static void set_wake(struct engine *e)
{
	int64_t at = core_wake_ms(e->core), now;

	if (at == e->wake_at)
		return;
	e->wake_at = at;
	now = clock_mono_ms();
	loop_timer_set(e->wake, at == INT64_MAX ? -1 : at > now ? at - now : 0);
}

void engine_step(struct engine *e, struct event *ev)
{
	ev->now_ms = clock_wall_ms();
	ev->mono_ms = clock_mono_ms();
	ev->seed = rng_next(&e->rng);
	pipeline_step(&e->pipe, e->core, ev);
	set_wake(e);
	if (e->pipe.is_midway)
		loop_deferred_arm(e->go_on); /* in the next turn: the others' comes first */
	else if (!effects_empty(e->pipe.gathering))
		loop_deferred_arm(e->flush);
}

static void go_on(void *arg)
{
	engine_step(arg, &(struct event){.kind = EV_GO_ON});
}

static void on_wake(void *arg)
{
	struct engine *e = arg;

	e->wake_at = -1;
	engine_step(e, &(struct event){.kind = EV_WAKE});
}

static void refuse(engine_reply_fn *fn, void *arg)
{
	struct problem p = {0};
	struct reply r = {.code = ERR_BUSY, .problem = &p};

	problem_set(&p, ERR_BUSY, "the store cannot be written at the moment");
	problem_hint(&p, "look at the server's log (is the disk full?), then try again");
	fn(&r, arg);
}

int engine_zone(struct engine *e, struct str name, struct zone_ref **ret_ref, struct problem *p)
{
	return time_zones_get(e->zones, name, ret_ref, p);
}

/* An object's time zone must be known before the object is. */
static bool has_its_zone(struct engine *e, const struct event *ev, engine_reply_fn *fn, void *arg)
{
	struct problem p = {0};
	struct reply r = {.problem = &p};
	struct str zone = core_zone_named(ev);

	if (!zone.p || time_zones_need(e->zones, zone, &p) == 0)
		return true;
	r.code = p.code = ERR_INVALID;
	problem_field(&p, "time_zone");
	fn(&r, arg);
	return false;
}

void engine_command(struct engine *e, struct event *ev, engine_reply_fn *fn, void *arg)
{
	if (e->pipe.is_stuck) {
		refuse(fn, arg);
		return;
	}
	if (!has_its_zone(e, ev, fn, arg))
		return;
	ev->ticket = tickets_take(&e->tickets, fn, arg);
	engine_step(e, ev);
}

bool engine_when_durable(struct engine *e, uint64_t batch, engine_reply_fn *fn, void *arg)
{
	if (pipeline_is_durable(&e->pipe, batch))
		return false;
	if (e->pipe.is_stuck) {
		refuse(fn, arg);
		return true;
	}
	effects_reply(e->pipe.gathering, tickets_take(&e->tickets, fn, arg));
	loop_deferred_arm(e->flush);
	return true;
}

void engine_prune(struct engine *e, const rid *ids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		batch_prune(&e->pipe.gathering->batch, ids[i]);
	if (n)
		loop_deferred_arm(e->flush);
}

void engine_expire(struct engine *e, int64_t idem_before_ms, int64_t events_before_ms)
{
	writer_expire(e->writer, idem_before_ms, events_before_ms);
}

/*
 * A client that waits for a batch that cannot be written would wait for as long as the disk is
 * full. The brain has carried the command out, and its rows stay in the batch, which is tried
 * again: so it is neither done nor refused, and that is what its caller hears.
 */
static void tell_unknown(struct engine *e)
{
	struct problem p = {0};
	struct reply r = {.code = ERR_BUSY, .problem = &p};

	problem_set(&p, ERR_BUSY,
	    "the store cannot be written at the moment: whether this was done will be known "
	    "later");
	problem_hint(&p,
	    "once there is room (is the disk full?), ask again with the same "
	    "Idempotency-Key: it is done once; without a key look first whether it was done");
	tickets_answer_all(&e->tickets, &r);
}

static void on_read(struct event *ev, void *arg)
{
	struct engine *e = arg;

	if (!e->stopping)
		engine_step(e, ev);
}

static bool let_read(const struct read_ask *ask, void *arg)
{
	struct engine *e = arg;

	engine_read(e->readers, ask, on_read, e);
	return true;
}

static bool let_send(const struct message *m, size_t n, void *arg)
{
	struct engine *e = arg;

	e->o.send(m, n, e->o.arg);
	return true;
}

static bool let_answer(const struct reply *r, void *arg)
{
	struct engine *e = arg;

	tickets_answer(&e->tickets, r);
	return true;
}

static bool let_tell(const struct effects *fx, void *arg)
{
	struct engine *e = arg;

	hub_release(e->hub, fx);
	if (fx->batch.arena.total > MUCH_MEMORY) /* nobody looks at the batch after the hub */
		writer_discard(e->writer, &e->pipe.releasing->batch.arena);
	return true;
}

static void work(struct engine *e, const struct pipeline_work *w)
{
	struct pipeline_outlets out = {let_read, let_send, let_answer, let_tell, e};

	if (w->commit)
		writer_commit(e->writer, w->commit);
	if (w->release) {
		pipeline_release(&e->pipe, w->release, &out);
		if (!effects_empty(e->pipe.gathering))
			loop_deferred_arm(e->flush);
	}
	if (w->go_on)
		loop_deferred_arm(e->go_on);
	if (w->tell_unknown)
		tell_unknown(e);
	if (w->retry)
		loop_timer_set(e->retry, COMMIT_RETRY_MS);
}

static void flush(void *arg)
{
	struct engine *e = arg;
	struct pipeline_work w = pipeline_flush(&e->pipe);

	work(e, &w);
}

static void commit_again(void *arg)
{
	struct engine *e = arg;
	struct pipeline_work w = pipeline_retry(&e->pipe);

	work(e, &w);
}

static enum commit_outcome outcome_of(struct engine *e, const struct commit_result *r)
{
	if (r->code == 0) {
		if (e->pipe.is_stuck)
			log_info("the store takes writes again");
		e->o.on_commit(r->seconds, e->pipe.flying->batch.n, e->o.arg);
		return COMMIT_DURABLE;
	}
	if (r->code != ERR_BUSY)
		return COMMIT_UNKNOWN;
	if (!e->pipe.is_stuck)
		log_error(
		    "the store refuses writes, trying again every second: %s", r->problem.what);
	return COMMIT_REFUSED;
}

static void on_commit(const struct commit_result *r, void *arg)
{
	struct engine *e = arg;
	struct pipeline_work w = pipeline_committed(&e->pipe, outcome_of(e, r));

	if (w.end)
		e->o.on_fatal(&r->problem, e->o.arg);
	work(e, &w);
}

static int load(struct engine *e, struct problem *ret_problem)
{
	struct receipt_key key = {0};
	int r =
	    engine_load(e->store, e->core, e->zones, e->pipe.gathering, &e->ids, &key, ret_problem);

	e->receipts = receipts_new(&key);
	return r;
}

static void feed(struct event *ev, void *arg)
{
	struct engine *e = arg;

	if (!e->stopping)
		engine_step(e, ev);
}

static bool needs_zone(struct str name, void *arg)
{
	const struct engine *e = arg;

	return core_needs_zone(e->core, name);
}

struct engine *engine_new(
    struct loop *l, struct store *s, const struct engine_options *o, struct problem *ret_problem)
{
	struct engine *e = xcalloc(1, sizeof *e);
	struct time_zones_options zones = {
	    o->zoneinfo_dir, o->zoneinfo_refresh_ms, feed, needs_zone, e};

	tickets_init(&e->tickets);
	pipeline_begin(&e->pipe);
	e->loop = l;
	e->store = s;
	e->o = *o;
	e->wake_at = -1;
	e->rng.state = clock_random();
	e->core = core_new(&o->core);
	e->zones = time_zones_new(l, &zones);
	e->hub = hub_new();
	e->flush = loop_deferred_new(l, flush, e);
	e->go_on = loop_deferred_new(l, go_on, e);
	e->wake = loop_timer_new(l, on_wake, e);
	e->retry = loop_timer_new(l, commit_again, e);
	e->writer = writer_new(l, s, on_commit, e);
	e->readers = readers_new(l, s, 1, ret_problem);
	if (!e->readers || load(e, ret_problem) != 0) {
		engine_free(e);
		return NULL;
	}
	set_wake(e);
	loop_deferred_arm(e->flush);
	return e;
}

/* The loop has stopped: what was gathered is still written, nobody is told any more. */
void engine_settle(struct engine *e)
{
	struct problem p = {0};
	struct batch *last;

	e->stopping = true;
	while (e->pipe.is_midway)
		engine_step(e, &(struct event){.kind = EV_GO_ON});
	if (e->writer)
		writer_free(TAKE(e->writer)); /* waits for the batch that is flying */
	last = pipeline_last(&e->pipe);
	if (e->pipe.is_stuck)
		log_error("the store still refuses writes: what nobody was told about is dropped");
	if (last && store_commit(e->store, last, &p) != 0)
		log_error("the last batch could not be written: %s", p.what);
	effects_reset(e->pipe.gathering, 0);
}

void engine_free(struct engine *e)
{
	engine_settle(e);
	if (e->readers)
		readers_free(e->readers);
	loop_deferred_free(e->flush);
	loop_deferred_free(e->go_on);
	loop_timer_free(e->wake);
	loop_timer_free(e->retry);
	tickets_release(&e->tickets);
	pipeline_free(&e->pipe);
	hub_free(e->hub);
	core_free(e->core);
	receipts_free(e->receipts);
	time_zones_free(e->zones);
	free(e);
}
