/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/server.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sim/judge.h"
#include "sim/net.h"

#define COMMIT_RETRY_US SECOND_US
#define WALL_START_MS (INT64_C(1767225600) * 1000)

struct ticket {
	struct ticket *next;
	uint64_t number;
	sim_reply_fn *fn;
	void *arg;
};

void sim_server_init(struct world *w)
{
	struct sim_server *s = w->server = xcalloc(1, sizeof *s);
	struct problem p = {0};

	s->node.slot = SIM_SERVER;
	s->node.backlog_end = &s->node.backlog;
	node_clock_init(&s->node.clock, 1000000, WALL_START_MS);
	MUST(store_open("memory:", &(struct store_options){.create = true}, &s->store, &p) == 0);
	s->reader = store_reader_open(s->store, &p);
	s->core_options = (struct core_options){
	    .consensus_patience = w->o.consensus_patience,
	    .window_tasks = w->o.window_tasks,
	    .timeouts = w->o.timeouts,
	    .lost_hold_ms = w->o.lost_hold_ms,
	    .run_wait_ms = w->o.run_wait_ms,
	    .is_volatile = w->o.is_volatile,
	    .allow_bump_unhealthy = w->o.allow_bump_unhealthy,
	};
	s->down_us = SECOND_US;
}

static void drop_tickets(struct world *w)
{
	struct sim_server *s = w->server;
	struct ticket *t;

	while ((t = s->tickets)) {
		s->tickets = t->next;
		t->fn(w, NULL, t->arg);
		free(t);
	}
}

void sim_server_release(struct world *w)
{
	struct sim_server *s = w->server;

	struct ticket *t;

	if (s->core)
		core_free(s->core);
	while ((t = s->tickets)) {
		s->tickets = t->next;
		free(t); /* nobody is there any more to be told */
	}
	for (int i = 0; i < 3; i++)
		effects_release(&s->sets[i]);
	store_reader_close(s->reader);
	store_close(s->store);
	free(s);
}

const struct core *sim_core(const struct world *w)
{
	return w->server->core;
}

int64_t sim_server_mono_ms(const struct world *w)
{
	return node_clock_mono_ms(&w->server->node.clock, w->now_us);
}

int64_t sim_server_wall_ms(const struct world *w)
{
	return node_clock_wall_ms(&w->server->node.clock, w->now_us);
}

void sim_server_wake(struct world *w)
{
	struct sim_server *s = w->server;
	int64_t at;

	if (!s->core)
		return;
	at = node_clock_true_us(&s->node.clock, core_wake_ms(s->core));
	if (s->tick && s->tick->node.at == at)
		return;
	world_cancel(w, TAKE(s->tick));
	if (at == INT64_MAX)
		return;
	s->tick = world_event(w, at, SE_SERVER_TICK, SIM_SERVER);
	s->tick->n = s->incarnation;
}

static void gather_anew(struct sim_server *s)
{
	struct effects *fx = s->sets;

	while (fx == s->flying || fx == s->releasing)
		fx++;
	MUST(fx < s->sets + 3);
	s->gathering = fx;
	fx->batch.seq = ++s->batch_seq;
	s->seen_notices = 0;
}

static void plan_event(struct world *w, enum sim_event_kind kind, int64_t in_us)
{
	world_event(w, w->now_us + in_us, kind, SIM_SERVER)->n = w->server->incarnation;
}

static void plan_flush(struct world *w)
{
	struct sim_server *s = w->server;

	if (s->flush_planned || effects_empty(s->gathering))
		return;
	s->flush_planned = true;
	plan_event(w, SE_FLUSH, 0);
}

/* The operator has edited the configuration meanwhile. */
static void change_options(struct world *w)
{
	struct core_options *o = &w->server->core_options;
	bool dispatch = sim_chance(&w->rng_change, 500), other = sim_chance(&w->rng_change, 500);

	if (w->o.changes_dispatch && dispatch)
		o->is_volatile = !o->is_volatile;
	if (w->o.changes_timeouts)
		o->timeouts = other ? w->o.other_timeouts : w->o.timeouts;
	world_tell(w, "server: dispatch is %s now, the timeouts are %s",
	    o->is_volatile ? "volatile" : "durable",
	    w->o.changes_timeouts && other ? "the other ones" : "the first ones");
}

void sim_server_start(struct world *w)
{
	struct sim_server *s = w->server;

	if (s->core)
		return;
	world_tell(w, "server starts");
	if (s->incarnation++ > 0 && !w->healed && w->o.classes & 1u << CLASS_CHANGE)
		change_options(w);
	s->was_volatile |= s->core_options.is_volatile;
	s->core_options.server = rng_next(&w->rng_id) | 1;
	s->core = core_new(&s->core_options);
	s->flush_planned = s->stuck = s->applied = false;
	s->flying = s->releasing = NULL;
	s->read_us = w->now_us;
	for (int i = 0; i < 3; i++)
		effects_reset(&s->sets[i], 0);
	gather_anew(s);
	sim_server_load(w);
	judge_loaded(w);
	sim_server_wake(w);
	plan_flush(w);
}

void sim_server_crash(struct world *w, int64_t down_us)
{
	struct sim_server *s = w->server;
	struct sim_event *e;

	if (!s->core)
		return;
	world_tell(w, "server dies");
	core_free(TAKE(s->core));
	world_cancel(w, TAKE(s->tick));
	s->crash_at = AT_NOWHERE;
	s->gathering = s->flying = s->releasing = NULL;
	sim_net_server_died(w, w->o.exact ? 1000 : (int)rng_below(&w->rng_net, 1001),
	    w->o.exact ? w->o.delay_max_us : sim_between(&w->rng_net, 100, 200000));
	drop_tickets(w);
	world_resume(w, SIM_SERVER); /* what waited for it is for nobody */
	if (down_us >= 0) {
		e = world_event(w, w->now_us + down_us, SE_SERVER_START, SIM_SERVER);
		e->n = s->incarnation;
	}
}

/* An orderly end: what has gathered is still written, nobody is told any more. */
void sim_server_stop(struct world *w, int64_t down_us)
{
	struct sim_server *s = w->server;
	struct problem p = {0};

	if (!s->core)
		return;
	if (s->flying && !s->applied && !s->stuck) {
		MUST(store_commit(s->store, &s->flying->batch, &p) == 0);
		judge_applied(w, &s->flying->batch);
	}
	if (!s->stuck && s->gathering->batch.n) {
		MUST(store_commit(s->store, &s->gathering->batch, &p) == 0);
		judge_applied(w, &s->gathering->batch);
	}
	sim_server_crash(w, down_us);
}

/* A planned crash: true when it has just happened. */
static bool dies_here(struct world *w, enum sim_boundary where)
{
	struct sim_server *s = w->server;

	if (s->crash_at != where || --s->crash_after > 0)
		return false;
	sim_server_crash(w, s->down_us);
	return true;
}

void sim_server_step(struct world *w, struct event *ev)
{
	struct sim_server *s = w->server;

	if (!s->core || dies_here(w, AT_STEP))
		return;
	ev->now_ms = sim_server_wall_ms(w);
	ev->mono_ms = sim_server_mono_ms(w);
	ev->seed = rng_next(&w->rng_id);
	judge_before(w, ev);
	core_step(s->core, ev, s->gathering);
	judge_after(w, ev);
	if (!w->o.no_judge)
		judge_health(w, ev);
	sim_server_wake(w);
	plan_flush(w);
}

bool sim_server_command(struct world *w, struct event *ev, sim_reply_fn *fn, void *arg)
{
	struct sim_server *s = w->server;
	struct problem p = {.code = ERR_BUSY};
	struct reply busy = {.code = ERR_BUSY, .problem = &p};
	struct ticket *t;

	if (!s->core)
		return false;
	if (s->stuck) {
		fn(w, &busy, arg);
		return true;
	}
	t = xmalloc(sizeof *t);
	*t = (struct ticket){s->tickets, ++s->last_ticket, fn, arg};
	s->tickets = t;
	ev->ticket = t->number;
	judge_asked(w, ev);
	sim_server_step(w, ev);
	return true;
}

static void answer(struct world *w, const struct reply *r)
{
	struct ticket **at = &w->server->tickets, *t;

	while (*at && (*at)->number != r->ticket)
		at = &(*at)->next;
	if (!(t = *at))
		return;
	*at = t->next;
	t->fn(w, r, t->arg);
	free(t);
}

/* In one frame the parts are handled in this order, whatever order they were added in. */
static int rank_in_frame(enum message_kind kind)
{
	static const int ranks[] = {[MSG_WELCOME] = 0,
	    [MSG_REFUSED] = 1,
	    [MSG_SETTINGS] = 2,
	    [MSG_BEAT_ACK] = 3,
	    [MSG_ENDED_ACK] = 4,
	    [MSG_OUTPUT_ACK] = 5,
	    [MSG_RUN] = 6,
	    [MSG_KILL] = 7,
	    [MSG_NOTIFY] = 8,
	    [MSG_CHECK] = 9};

	return ranks[kind];
}

/* False: it died in the middle. */
static bool release_messages(struct world *w, struct effects *fx)
{
	int first = fx->n_messages == 1 ? rank_in_frame(fx->messages[0].kind) : 0;
	int last = fx->n_messages == 1 ? first : 9;

	for (int rank = first; rank <= last; rank++)
		for (size_t i = 0; i < fx->n_messages; i++) {
			if (rank_in_frame(fx->messages[i].kind) != rank)
				continue;
			if (dies_here(w, AT_RELEASE))
				return false;
			sim_net_to_worker(w, &fx->messages[i]);
		}
	return true;
}

static void close_refused(struct world *w, struct effects *fx)
{
	uint64_t incarnation = w->server->incarnation;

	for (size_t i = 0; i < fx->n_messages; i++)
		if (fx->messages[i].kind == MSG_REFUSED) {
			sim_net_close(w, fx->messages[i].link, TO_SERVER);
			if (!w->server->core || w->server->incarnation != incarnation)
				return;
		}
}

/* What its log says; of tasks the judge tells. */
static void tell_notices(struct world *w, const struct effects *fx)
{
	for (size_t i = 0; w->tell && i < fx->n_notices; i++) {
		const struct notice *n = &fx->notices[i];

		if (!n->task)
			world_tell(w, "server: %s " STR_FMT "%s" STR_FMT, n->kind,
			    STR_ARG(n->subject), n->detail.n ? " " : "", STR_ARG(n->detail));
	}
}

/* Everything that waited for this batch to be durable. Steps taken meanwhile gather elsewhere. */
static void release(struct world *w, struct effects *fx)
{
	struct sim_server *s = w->server;

	s->releasing = fx;
	for (size_t i = 0; i < fx->n_reads; i++)
		sim_read_begin(w, &fx->reads[i]);
	if (fx->n_messages && !release_messages(w, fx))
		return;
	close_refused(w, fx);
	for (size_t i = 0; s->core && i < fx->n_replies; i++) {
		if (dies_here(w, AT_RELEASE))
			return;
		answer(w, &fx->replies[i]);
	}
	if (!s->core)
		return;
	tell_notices(w, fx);
	judge_notices(w, fx);
	effects_reset(fx, 0);
	s->releasing = NULL;
	plan_flush(w);
}

/* What has gathered goes to the store. */
static void fly(struct world *w)
{
	struct sim_server *s = w->server;
	int64_t most = w->o.commit_max_us, first, rest;

	if (dies_here(w, AT_FLY))
		return;
	s->flying = s->gathering;
	s->applied = false;
	gather_anew(s);
	if (s->slow_until_us > w->now_us)
		most += s->slow_us;
	first = w->o.exact ? most : sim_between(&w->rng_store, 50, most);
	rest = w->o.exact ? 0 : sim_between(&w->rng_store, 0, first / 4);
	plan_event(w, SE_COMMIT_APPLY, first);
	plan_event(w, SE_COMMIT_DONE, first + rest);
}

static void flush(struct world *w)
{
	struct sim_server *s = w->server;
	struct effects *fx = s->gathering;

	s->flush_planned = false;
	if (s->flying || effects_empty(fx))
		return;
	if (fx->batch.n) {
		fly(w);
		return;
	}
	s->releasing = fx;
	gather_anew(s);
	release(w, fx);
}

static void apply(struct world *w)
{
	struct sim_server *s = w->server;
	struct problem p = {0};

	if (s->busy_until_us > w->now_us)
		return; /* refused, whole */
	if (dies_here(w, AT_APPLY) || (s->lose_next_commit && !s->lost_is_applied))
		return;
	MUST(store_commit(s->store, &s->flying->batch, &p) == 0);
	s->applied = true;
	judge_applied(w, &s->flying->batch);
	dies_here(w, AT_APPLIED);
}

static void commit_done(struct world *w)
{
	struct sim_server *s = w->server;
	struct effects *fx = s->flying;

	if (s->lose_next_commit) {
		s->lose_next_commit = false;
		world_tell(w, "server: nobody knows what became of the commit");
		sim_server_crash(w, s->down_us);
		return;
	}
	if (!s->applied) {
		s->stuck = true;
		plan_event(w, SE_COMMIT_AGAIN, COMMIT_RETRY_US);
		return;
	}
	s->stuck = false;
	s->flying = NULL;
	s->releasing = fx;
	if (s->gathering->batch.n)
		fly(w);
	if (s->core)
		release(w, fx);
}

static void commit_again(struct world *w)
{
	plan_event(w, SE_COMMIT_APPLY, 0);
	plan_event(w, SE_COMMIT_DONE, 1000);
}

void sim_server_heal(struct world *w)
{
	struct sim_server *s = w->server;

	s->crash_at = AT_NOWHERE;
	s->slow_until_us = s->busy_until_us = s->reads_fail_until_us = 0;
	s->lose_next_commit = false;
	sim_server_start(w);
}

void sim_server_event(struct world *w, struct sim_event *e)
{
	struct sim_server *s = w->server;
	struct event tick = {.kind = EV_TICK};

	if (e->kind == SE_SERVER_START) {
		sim_server_start(w);
		return;
	}
	if (!s->core || e->n != s->incarnation)
		return;
	switch (e->kind) {
	case SE_SERVER_TICK: sim_server_step(w, &tick); break;
	case SE_FLUSH: flush(w); break;
	case SE_COMMIT_APPLY: apply(w); break;
	case SE_COMMIT_DONE: commit_done(w); break;
	default: commit_again(w); break;
	}
}
