/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/server.h"
#include "sim/load/needs.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sim/judge/judge.h"
#include "sim/kind.h"
#include "sim/world/net.h"

#define COMMIT_RETRY_US SECOND_US
#define WALL_START_MS (INT64_C(1767225600) * 1000)

void sim_server_init(struct world *w)
{
	struct sim_server *s = w->server = xcalloc(1, sizeof *s);
	struct problem p = {0};

	tickets_init(&s->tickets);
	s->node.slot = SIM_SERVER;
	s->node.backlog_end = &s->node.backlog;
	node_clock_init(&s->node.clock, 1000000, WALL_START_MS);
	MUST(store_open("memory:", &(struct store_options){.create = true}, &s->store, &p) == 0);
	s->reader = store_reader_open(s->store, &p);
	s->core_options = (struct core_options){
	    .consensus_patience = w->o.consensus_patience,
	    .window_tasks = w->o.window_tasks,
	    .submit_slice = w->o.submit_slice,
	    .groups_active = w->o.groups_active,
	    .timeouts = w->o.timeouts,
	    .lost_hold_ms = w->o.lost_hold_ms,
	    .run_wait_ms = w->o.run_wait_ms,
	    .resources = sim_resources,
	    .n_resources = w->o.has_needs ? n_sim_resources : 0,
	    .is_volatile = w->o.is_volatile,
	    .allow_bump_unhealthy = w->o.allow_bump_unhealthy,
	};
	s->down_us = SECOND_US;
}

void sim_server_release(struct world *w)
{
	struct sim_server *s = w->server;

	if (s->core)
		core_free(s->core);
	tickets_release(&s->tickets); /* nobody is there any more to be told */
	pipeline_free(&s->pipe);
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
	if (s->wake && s->wake->node.at == at)
		return;
	world_cancel(w, TAKE(s->wake));
	if (at == INT64_MAX)
		return;
	s->wake = world_event(w, at, SE_SERVER_WAKE, SIM_SERVER);
	s->wake->n = s->incarnation;
}

static void plan_event(struct world *w, enum sim_event_kind kind, int64_t in_us)
{
	world_event(w, w->now_us + in_us, kind, SIM_SERVER)->n = w->server->incarnation;
}

static void plan_flush(struct world *w)
{
	struct sim_server *s = w->server;

	if (s->flush_planned || effects_empty(s->pipe.gathering))
		return;
	s->flush_planned = true;
	plan_event(w, SE_FLUSH, 0);
}

/* A long submit's next slice: others may come before it. */
static void plan_go_on(struct world *w)
{
	struct sim_server *s = w->server;

	if (s->go_on_planned)
		return;
	s->go_on_planned = true;
	plan_event(w, SE_GO_ON, w->o.exact ? 0 : sim_between(&w->rng_store, 0, 3000));
}

static void go_on(struct world *w)
{
	struct event ev = {.kind = EV_GO_ON};

	w->server->go_on_planned = false;
	sim_server_step(w, &ev);
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
	s->flush_planned = s->go_on_planned = s->applied = false;
	s->read_us = w->now_us;
	pipeline_begin(&s->pipe);
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
	world_cancel(w, TAKE(s->wake));
	s->crash_at = AT_NOWHERE;
	pipeline_drop(&s->pipe);
	sim_net_server_died(w, w->o.exact ? 1000 : (int)rng_below(&w->rng_net, 1001),
	    w->o.exact ? w->o.delay_max_us : sim_between(&w->rng_net, 100, 200000));
	tickets_answer_all(&s->tickets, NULL);
	world_resume(w, SIM_SERVER); /* what waited for it is for nobody */
	if (down_us >= 0) {
		e = world_event(w, w->now_us + down_us, SE_SERVER_START, SIM_SERVER);
		e->n = s->incarnation;
	}
}

static void write_now(struct world *w, const struct batch *b)
{
	struct problem p = {0};

	MUST(store_commit(w->server->store, b, &p) == 0);
	judge_applied(w, b);
}

/* An orderly end: what has gathered is still written, nobody is told any more. */
void sim_server_stop(struct world *w, int64_t down_us)
{
	struct sim_server *s = w->server;
	struct batch *last;

	while (s->core && s->pipe.is_midway)
		go_on(w);
	if (!s->core)
		return;
	if (s->pipe.flying && !s->applied && !s->pipe.is_stuck)
		write_now(w, &s->pipe.flying->batch);
	last = pipeline_last(&s->pipe);
	if (last)
		write_now(w, last);
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
	pipeline_step(&s->pipe, s->core, ev);
	judge_after(w, ev);
	if (!w->o.no_judge)
		judge_health(w, ev);
	SIM_KINDS_DO(stepped, w);
	sim_server_wake(w);
	if (s->pipe.is_midway)
		plan_go_on(w);
	plan_flush(w);
}

bool sim_server_command(struct world *w, struct event *ev, ticket_fn *fn, void *arg)
{
	struct sim_server *s = w->server;
	struct problem p = {.code = ERR_BUSY};
	struct reply busy = {.code = ERR_BUSY, .problem = &p};

	if (!s->core)
		return false;
	if (s->pipe.is_stuck) {
		fn(&busy, arg);
		return true;
	}
	ev->ticket = tickets_take(&s->tickets, fn, arg);
	judge_asked(w, ev);
	sim_server_step(w, ev);
	return true;
}

/* In one frame the parts are handled in this order, whatever order they were added in. */
static int rank_in_frame(enum message_kind kind)
{
	enum {
#define X(part) RANK_##part,
		LINK_TO_WORKER_ORDER(X)
#undef X
	};
	static const int ranks[] = {[MSG_WELCOME] = RANK_welcome,
	    [MSG_REFUSED] = RANK_refused,
	    [MSG_SETTINGS] = RANK_settings,
	    [MSG_BEAT_ACK] = RANK_beat_ack,
	    [MSG_ENDED_ACK] = RANK_ended_ack,
	    [MSG_OUTPUT_ACK] = RANK_output_ack,
	    [MSG_INPUT] = RANK_input,
	    [MSG_RUN] = RANK_run,
	    [MSG_KILL] = RANK_kill,
	    [MSG_NOTIFY] = RANK_notify,
	    [MSG_CHECK] = RANK_check};

	return ranks[kind];
}

/* False: it died in the middle. */
static bool let_go_messages(struct world *w, const struct message *m, size_t n)
{
	int first = n == 1 ? rank_in_frame(m[0].kind) : 0;
	int last = n == 1 ? first : rank_in_frame(MSG_CHECK);

	for (int rank = first; rank <= last; rank++)
		for (size_t i = 0; i < n; i++) {
			if (rank_in_frame(m[i].kind) != rank)
				continue;
			if (dies_here(w, AT_RELEASE))
				return false;
			sim_net_to_worker(w, &m[i]);
		}
	return true;
}

static bool close_refused(struct world *w, const struct message *m, size_t n)
{
	uint64_t incarnation = w->server->incarnation;

	for (size_t i = 0; i < n; i++)
		if (m[i].kind == MSG_REFUSED) {
			sim_net_close(w, m[i].link, TO_SERVER);
			if (!w->server->core || w->server->incarnation != incarnation)
				return false;
		}
	return true;
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

static bool let_read(const struct read_ask *ask, void *arg)
{
	sim_read_begin(arg, ask);
	return true;
}

static bool let_send(const struct message *m, size_t n, void *arg)
{
	return let_go_messages(arg, m, n) && close_refused(arg, m, n);
}

static bool let_answer(const struct reply *r, void *arg)
{
	struct world *w = arg;

	if (dies_here(w, AT_RELEASE))
		return false;
	tickets_answer(&w->server->tickets, r);
	return w->server->core != NULL;
}

static bool let_tell(const struct effects *fx, void *arg)
{
	tell_notices(arg, fx);
	judge_notices(arg, fx);
	return true;
}

/* The store takes its time: what it is told now is durable later, and known to be so later still.
 */
static void commit(struct world *w)
{
	struct sim_server *s = w->server;
	int64_t most = w->o.commit_max_us, first, rest;

	s->applied = false;
	if (dies_here(w, AT_FLY))
		return;
	if (s->slow_until_us > w->now_us)
		most += s->slow_us;
	first = w->o.exact ? most : sim_between(&w->rng_store, 50, most);
	rest = w->o.exact ? 0 : sim_between(&w->rng_store, 0, first / 4);
	plan_event(w, SE_COMMIT_APPLY, first);
	plan_event(w, SE_COMMIT_DONE, first + rest);
}

static void work(struct world *w, const struct pipeline_work *p)
{
	struct pipeline_outlets out = {let_read, let_send, let_answer, let_tell, w};
	struct sim_server *s = w->server;

	if (p->commit)
		commit(w);
	if (p->release && s->core && pipeline_release(&s->pipe, p->release, &out))
		plan_flush(w);
	if (p->go_on && s->core)
		plan_go_on(w);
	if (p->tell_unknown)
		tickets_answer_all(&s->tickets, NULL);
	if (p->retry)
		plan_event(w, SE_COMMIT_AGAIN, COMMIT_RETRY_US);
	if (p->end) {
		world_tell(w, "server: nobody knows what became of the commit");
		sim_server_crash(w, s->down_us);
	}
}

static void flush(struct world *w)
{
	struct pipeline_work p;

	w->server->flush_planned = false;
	p = pipeline_flush(&w->server->pipe);
	work(w, &p);
}

static void apply(struct world *w)
{
	struct sim_server *s = w->server;
	struct problem p = {0};

	if (s->busy_until_us > w->now_us)
		return; /* refused, whole */
	if (dies_here(w, AT_APPLY) || (s->lose_next_commit && !s->lost_is_applied))
		return;
	MUST(store_commit(s->store, &s->pipe.flying->batch, &p) == 0);
	s->applied = true;
	judge_applied(w, &s->pipe.flying->batch);
	dies_here(w, AT_APPLIED);
}

static void commit_done(struct world *w)
{
	struct sim_server *s = w->server;
	enum commit_outcome outcome = s->applied ? COMMIT_DURABLE : COMMIT_REFUSED;
	struct pipeline_work p;

	if (s->lose_next_commit)
		outcome = COMMIT_UNKNOWN;
	s->lose_next_commit = false;
	p = pipeline_committed(&s->pipe, outcome);
	work(w, &p);
}

static void commit_again(struct world *w)
{
	pipeline_retry(&w->server->pipe);
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
	struct event wake = {.kind = EV_WAKE};

	if (e->kind == SE_SERVER_START) {
		sim_server_start(w);
		return;
	}
	if (!s->core || e->n != s->incarnation)
		return;
	switch (e->kind) {
	case SE_SERVER_WAKE: sim_server_step(w, &wake); break;
	case SE_FLUSH: flush(w); break;
	case SE_GO_ON: go_on(w); break;
	case SE_COMMIT_APPLY: apply(w); break;
	case SE_COMMIT_DONE: commit_done(w); break;
	default: commit_again(w); break;
	}
}
