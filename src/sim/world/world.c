/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/faults/coma.h"
#include "sim/faults/hostile.h"
#include "sim/faults/plan.h"
#include "sim/faults/remove.h"
#include "sim/kind.h"
#include "sim/world/net.h"
#include "sim/world/server.h"
#include "sim/world/trace.h"
#include "sim/world/worker.h"

#define EVENTS_AT_ONCE 200000 /* at one moment: somebody runs in a circle */
#define SETTLE_EVERY_US (2 * SECOND_US)

int64_t sim_between(struct rng *r, int64_t lo, int64_t hi)
{
	return hi <= lo ? lo : lo + (int64_t)rng_below(r, (uint64_t)(hi - lo) + 1);
}

bool sim_chance(struct rng *r, int per_mille)
{
	return (int)rng_below(r, 1000) < per_mille;
}

const char *world_node_name(struct world *w, int slot)
{
	static __thread char names[4][16];
	static __thread unsigned at;
	const char *given = w->hooks.name ? w->hooks.name(w, slot, w->hooks.arg) : NULL;
	char *name = names[at++ % 4];

	if (slot == SIM_SERVER)
		return "server";
	if (given)
		return given;
	if (slot == SIM_RAW)
		return "script";
	snprintf(name, sizeof names[0], "w%d", slot);
	return name;
}

void world_tell(struct world *w, const char *fmt, ...)
{
	char line[600];
	int n;
	va_list ap;

	if (!w->tell && !w->trace)
		return;
	n = snprintf(line, sizeof line, "%9lld.%03llds  ", (long long)(w->now_us / SECOND_US),
	    (long long)(w->now_us % SECOND_US / 1000));
	va_start(ap, fmt);
	vsnprintf(line + n, sizeof line - (size_t)n, fmt, ap);
	va_end(ap);
	if (w->trace)
		sim_trace_told(w, line + n);
	if (w->tell)
		w->tell(w->tell_arg, line);
}

void world_fail(struct world *w, int invariant, const char *fmt, ...)
{
	struct verdict *v = &w->verdict;
	va_list ap;

	if (v->invariant || w->o.no_judge)
		return;
	verdict_set(v, invariant);
	v->at_us = w->now_us;
	va_start(ap, fmt);
	vsnprintf(v->detail, sizeof v->detail, fmt, ap);
	va_end(ap);
	world_tell(w, "INVARIANT %d (%s) does not hold: %s", invariant, v->name, v->detail);
}

struct sim_event *world_event(struct world *w, int64_t at_us, enum sim_event_kind kind, int slot)
{
	struct sim_event *e = w->free_events;

	if (e)
		w->free_events = e->next;
	else
		e = xmalloc(sizeof *e);
	*e = (struct sim_event){.kind = kind, .slot = slot};
	heap_put(&w->heap, &e->node, at_us < w->now_us ? w->now_us : at_us, ++w->serial);
	return e;
}

static void recycle(struct world *w, struct sim_event *e)
{
	e->next = w->free_events;
	w->free_events = e;
}

void world_cancel(struct world *w, struct sim_event *e)
{
	if (!e)
		return;
	heap_del(&w->heap, &e->node);
	recycle(w, e);
}

void world_at(struct world *w, int64_t at_us, world_fn *fn, void *arg)
{
	struct sim_event *e = world_event(w, at_us, SE_CALL, SIM_RAW);

	e->fn = fn;
	e->p = arg;
}

struct sim_node *world_node(struct world *w, int slot)
{
	return slot == SIM_SERVER ? &w->server->node : &w->workers[slot].node;
}

static void dispatch(struct world *w, struct sim_event *e)
{
	switch (e->kind) {
	case SE_PACKET:
	case SE_LINK_DOWN:
	case SE_DIAL:
	case SE_DIALLED: sim_net_event(w, e); break;
	case SE_SERVER_START:
	case SE_SERVER_WAKE:
	case SE_FLUSH:
	case SE_GO_ON:
	case SE_COMMIT_APPLY:
	case SE_COMMIT_DONE:
	case SE_COMMIT_AGAIN: sim_server_event(w, e); break;
	case SE_READ:
	case SE_READ_DONE: sim_read_event(w, e); break;
	case SE_WORKER_START:
	case SE_WORKER_WAKE:
	case SE_HAND:
	case SE_GUARD: sim_worker_event(w, e); break;
	case SE_PROCESS_START:
	case SE_PROCESS_OUTPUT:
	case SE_PROCESS_END: sim_process_event(w, e); break;
	case SE_COMMAND:
	case SE_LOAD:
	case SE_REPLY: sim_load_event(w, e); break;
	case SE_FAULT: sim_plan_event(w, e); break;
	case SE_RESUME:
		if (world_node(w, e->slot)->resume_us <= w->now_us)
			world_resume(w, e->slot);
		break;
	case SE_HEAL: world_heal(w); break;
	default: e->fn(w, e->p); break;
	}
}

/* A node that stands still handles nothing; its processes, its disk and its keeper go on. */
static bool waits_for_node(enum sim_event_kind kind)
{
	switch (kind) {
	case SE_PACKET:
	case SE_LINK_DOWN:
	case SE_DIAL:
	case SE_DIALLED:
	case SE_SERVER_WAKE:
	case SE_FLUSH:
	case SE_GO_ON:
	case SE_COMMIT_DONE:
	case SE_COMMIT_AGAIN:
	case SE_READ_DONE:
	case SE_COMMAND:
	case SE_WORKER_WAKE:
	case SE_HAND: return true;
	default: return false;
	}
}

/* The one who owns this alarm must not touch it any more. */
static void forget_alarm(struct world *w, const struct sim_event *e)
{
	if (e->kind == SE_SERVER_WAKE && w->server->wake == e)
		w->server->wake = NULL;
	if (e->kind == SE_WORKER_WAKE && w->workers[e->slot].wake == e)
		w->workers[e->slot].wake = NULL;
}

/* On a machine that sleeps nothing happens; its plugin's pool is the worker's, who starts nothing.
 */
static bool waits_for_waking(struct world *w, const struct sim_event *e)
{
	switch (e->kind) {
	case SE_PROCESS_START: return world_node(w, e->slot)->paused;
	case SE_PROCESS_OUTPUT:
	case SE_PROCESS_END:
	case SE_GUARD: return world_node(w, e->slot)->asleep;
	default: return false;
	}
}

static void handle(struct world *w, struct sim_event *e)
{
	struct sim_node *n;

	forget_alarm(w, e);
	if (waits_for_waking(w, e)) {
		heap_put(&w->heap, &e->node, world_node(w, e->slot)->resume_us, ++w->serial);
		return;
	}
	if (waits_for_node(e->kind) && e->slot != SIM_RAW) {
		n = world_node(w, e->slot);
		if (n->paused) {
			e->next = NULL;
			*n->backlog_end = e;
			n->backlog_end = &e->next;
			return;
		}
	}
	w->events++;
	world_mix(w, (uint64_t)w->now_us);
	world_mix(w, (uint64_t)e->kind << 32 | (uint32_t)e->slot);
	dispatch(w, e);
	recycle(w, e);
}

bool world_step(struct world *w)
{
	struct heap_node *n = heap_min(&w->heap);

	if (!n || w->verdict.invariant)
		return false;
	if (n->at > w->now_us)
		w->same_time_events = 0;
	else if (++w->same_time_events > EVENTS_AT_ONCE)
		world_fail(w, 29, "%d events at one moment", EVENTS_AT_ONCE);
	w->now_us = n->at;
	heap_del(&w->heap, n);
	handle(w, CONTAINER_OF(n, struct sim_event, node));
	return !w->verdict.invariant;
}

bool world_run(struct world *w, int64_t until_us)
{
	struct heap_node *n;

	while ((n = heap_min(&w->heap)) && n->at <= until_us)
		if (!world_step(w))
			return false;
	if (until_us > w->now_us)
		w->now_us = until_us;
	return !w->verdict.invariant;
}

void world_pause(struct world *w, int slot, int64_t for_us)
{
	struct sim_node *n = world_node(w, slot);
	struct sim_event *e;

	if (n->paused || for_us <= 0)
		return;
	world_tell(w, "%s stops for %lld ms", world_node_name(w, slot), (long long)for_us / 1000);
	n->paused = true;
	n->resume_us = w->now_us + for_us;
	e = world_event(w, n->resume_us, SE_RESUME, slot);
	e->n = 0;
	if (slot >= 0)
		sim_worker_paused(w, slot);
}

void world_sleep(struct world *w, int slot, int64_t for_us)
{
	struct sim_node *n = world_node(w, slot);

	if (n->paused)
		return;
	world_pause(w, slot, for_us);
	n->asleep = n->paused;
	if (!n->asleep)
		return;
	world_tell(w, "%s: the whole machine sleeps", world_node_name(w, slot));
	sim_coma_watch(w, slot);
}

void world_resume(struct world *w, int slot)
{
	struct sim_node *n = world_node(w, slot);
	struct sim_event *e;

	if (!n->paused)
		return;
	world_tell(w, "%s goes on", world_node_name(w, slot));
	n->paused = n->asleep = false;
	while ((e = n->backlog) && !n->paused && !w->verdict.invariant) {
		n->backlog = e->next;
		if (!n->backlog)
			n->backlog_end = &n->backlog;
		handle(w, e);
	}
}

void world_clock_jump(struct world *w, int slot, int64_t by_ms)
{
	world_tell(
	    w, "%s: the wall clock jumps by %lld ms", world_node_name(w, slot), (long long)by_ms);
	if (slot == SIM_SERVER)
		judge_clock(w, by_ms < 0);
	node_clock_jump(&world_node(w, slot)->clock, by_ms);
}

void world_clock_stop(struct world *w, int slot, bool stop)
{
	struct node_clock *c = &world_node(w, slot)->clock;

	world_tell(
	    w, "%s: the wall clock %s", world_node_name(w, slot), stop ? "stops" : "goes on");
	if (stop)
		node_clock_stop(c, w->now_us);
	else
		node_clock_go(c, w->now_us);
	if (slot == SIM_SERVER)
		sim_server_wake(w);
}

void world_clock_drift(struct world *w, int slot, int64_t ppm)
{
	node_clock_drift(&world_node(w, slot)->clock, w->now_us, ppm);
	if (slot == SIM_SERVER)
		sim_server_wake(w);
	else
		sim_worker_wake(w, slot);
}

/* Where the set of workers matters some of them are known long before others. */
static int64_t first_start(struct world *w, int slot)
{
	bool late = slot > 0 && w->o.classes & 1u << CLASS_SPLIT && sim_chance(&w->rng_hand, 400);

	if (slot > 0 && w->o.n_removes)
		return sim_between(&w->rng_hand, REMOVE_ALONE_US, w->heal_us / 2);
	return sim_between(&w->rng_hand, 0, late ? w->heal_us / 2 : 3 * SECOND_US);
}

static void start_all(struct world *w)
{
	struct sim_event *e = world_event(w, 0, SE_SERVER_START, SIM_SERVER);

	e->n = 0;
	for (int i = 0; i < w->o.workers; i++)
		sim_worker_start(w, i, first_start(w, i));
}

struct world *world_new(const struct sim_options *drawn)
{
	struct world *w = xcalloc(1, sizeof *w);

	w->o = *drawn;
	w->hash = drawn->seed;
	w->rng_net.state = drawn->seed ^ 0x6e65740000000000ull;
	w->rng_hand.state = drawn->seed ^ 0x68616e6400000000ull;
	w->rng_load.state = drawn->seed ^ 0x6c6f616400000000ull;
	w->rng_need.state = drawn->seed ^ 0x6e656564206f6620ull;
	w->rng_throttle.state = drawn->seed ^ 0x7468726f74746c65ull;
	w->rng_store.state = drawn->seed ^ 0x73746f7265000000ull;
	w->rng_id.state = drawn->seed ^ 0x6964000000000000ull;
	w->rng_change.state = drawn->seed ^ 0x72657374617274ull;
	w->heal_us = drawn->minutes * MINUTE_US;
	w->judge = judge_new();
	SIM_KINDS_DO(begin, w);
	sim_server_init(w);
	sim_workers_init(w);
	sim_net_init(w);
	sim_load_begin(w);
	w->plan = sim_plan_new(w);
	if (!drawn->no_load)
		start_all(w);
	return w;
}

static void free_event(struct world *w, struct sim_event *e)
{
	switch (e->kind) {
	case SE_PACKET:
	case SE_HAND: free(e->p); break;
	case SE_READ:
	case SE_READ_DONE: sim_read_free(e->p); break;
	default: break; /* owned elsewhere */
	}
	free(e);
}

static void free_backlog(struct world *w, struct sim_node *n)
{
	struct sim_event *e;

	while ((e = n->backlog)) {
		n->backlog = e->next;
		free_event(w, e);
	}
}

void world_free(struct world *w)
{
	struct heap_node *n;
	struct sim_event *e;

	while ((n = heap_min(&w->heap))) {
		heap_del(&w->heap, n);
		free_event(w, CONTAINER_OF(n, struct sim_event, node));
	}
	for (int i = SIM_SERVER; i < w->o.workers; i++)
		free_backlog(w, world_node(w, i));
	sim_plan_free(w->plan);
	sim_load_free(w->load);
	sim_net_release(w);
	sim_workers_release(w);
	sim_server_release(w);
	judge_free(w->judge);
	SIM_KINDS_DO(free, w);
	sim_hostile_free(w->hostile);
	while ((e = w->free_events)) {
		w->free_events = e->next;
		free(e);
	}
	heap_release(&w->heap);
	sim_trace_close(w);
	free(w);
}

void world_heal(struct world *w)
{
	if (w->healed)
		return;
	world_tell(w, "everything heals");
	w->healed = true;
	sim_net_heal(w);
	for (int i = SIM_SERVER; i < w->o.workers; i++) {
		world_resume(w, i);
		if (w->verdict.invariant)
			return;
	}
	sim_hostile_heal(w);
	judge_clock(w, true);
	for (int i = SIM_SERVER; i < w->o.workers; i++)
		node_clock_correct(&world_node(w, i)->clock, w->now_us);
	sim_server_heal(w);
	sim_workers_heal(w);
	sim_load_heal(w);
}

/* However much there is to do: as long as one task after the other ends, nothing has stalled. */
bool world_live(struct world *w)
{
	int64_t limit, ends = judge_ends(w);

	world_event(w, w->heal_us, SE_HEAL, SIM_RAW);
	if (!world_run(w, w->heal_us))
		return false;
	limit = w->heal_us + judge_patience_us(w);
	while (w->now_us < limit) {
		if (!world_run(w, w->now_us + SETTLE_EVERY_US))
			return false;
		if (judge_settled(w))
			return judge_end(w);
		if (judge_ends(w) > ends) {
			ends = judge_ends(w);
			limit = w->now_us + judge_patience_us(w);
		}
	}
	judge_unsettled(w);
	return false;
}
