/* SPDX-License-Identifier: Apache-2.0 */
/* The door: every event enters here, and the rotation is served before it closes again. */
#include "core/internal.h"

#include <stdlib.h>

#define OR(value, otherwise) ((value) ? (value) : (otherwise))

struct core *core_new(const struct core_options *o)
{
	struct core *c = xcalloc(1, sizeof *c);

	c->o = (struct core_options){
	    .window_tasks = OR(o->window_tasks, 2048),
	    .window_bytes = OR(o->window_bytes, (size_t)4 << 20),
	    .timeouts = o->timeouts,
	    .lost_hold_ms = OR(o->lost_hold_ms, 66000),
	    .run_wait_ms = OR(o->run_wait_ms, 4000),
	    .server = OR(o->server, 1),
	    .is_volatile = o->is_volatile,
	    .allow_bump_unhealthy = o->allow_bump_unhealthy,
	    .maxthreads_max = o->maxthreads_max,
	    .workers_max = o->workers_max,
	    .caution_startup_wait = o->caution_startup_wait,
	    .startup_wait_ms = o->startup_wait_ms,
	    .submit_slice = OR(o->submit_slice, 1024),
	    .consensus_patience = OR(o->consensus_patience, 16),
	};
	if (!c->o.timeouts.heartbeat_ms)
		timeouts_default(&c->o.timeouts);
	c->start.before = c->o.timeouts;
	consensus_init(&c->set, c->o.server, c->o.consensus_patience);
	c->set_looked_ms = INT64_MIN / 2;
	c->set_due_ms = INT64_MAX;
	c->refusals.due_ms = INT64_MAX;
	TAILQ_INIT(&c->ghosts);
	RB_INIT(&c->queues);
	RB_INIT(&c->queue_names);
	RB_INIT(&c->workers);
	RB_INIT(&c->worker_names);
	TAILQ_INIT(&c->rotation);
	TAILQ_INIT(&c->stalled);
	TAILQ_INIT(&c->lane.waiting);
	TAILQ_INIT(&c->lane.group);
	RB_INIT(&c->lane.fresh);
	RB_INIT(&c->schedules.names);
	RB_INIT(&c->tokens);
	RB_INIT(&c->schedules.zones);
	return c;
}

static void free_list(struct pending_list *l)
{
	struct pending *p;

	while ((p = TAILQ_FIRST(l))) {
		TAILQ_REMOVE(l, p, in_lane);
		arena_release(&p->arena);
		free(p);
	}
}

static void free_window(struct core *c, struct window *w)
{
	struct task *t;

	while ((t = window_last(w)))
		task_free(c, t);
}

void core_free(struct core *c)
{
	struct worker *w;
	struct queue *q;
	struct task *t;

	while ((t = TAILQ_FIRST(&c->ghosts)))
		task_free(c, t);
	while (heap_min(&c->hold_timers))
		task_free(c, CONTAINER_OF(heap_min(&c->hold_timers), struct task, hold));
	while ((w = RB_MIN(worker_ids, &c->workers))) {
		while ((t = TAILQ_FIRST(&w->tasks)))
			task_free(c, t);
		worker_free(c, w);
	}
	while ((q = RB_MIN(queue_ids, &c->queues))) {
		free_window(c, &q->ready);
		free_window(c, &q->due);
		queue_free(c, q);
	}
	gone_release(c);
	schedules_release(c);
	tokens_release(c);
	refusals_release(c);
	free_list(&c->lane.waiting);
	free_list(&c->lane.group);
	arena_release(&c->lane.arena);
	idmap_release(&c->lane.row_of);
	free(c->lane.keys);
	free(c->lane.ids);
	free(c->outstanding);
	heap_release(&c->wall_timers);
	heap_release(&c->watch_timers);
	heap_release(&c->poll_timers);
	heap_release(&c->hold_timers);
	idmap_release(&c->tasks);
	idmap_release(&c->links);
	free(c);
}

int core_command(struct core *c, const struct event *ev, struct effects *out)
{
	MUST(c->open);
	if (!lane_needs(c, ev))
		return command_run(c, ev, NULL, out);
	lane_push(c, ev, out);
	return 0;
}

static void wake_all(struct core *c)
{
	struct queue *q;

	c->retry_reads_ms = 0;
	RB_FOREACH (q, queue_ids, &c->queues)
		queue_ready(c, q);
}

static void tick(struct core *c, struct effects *out)
{
	struct heap_node *n;

	while ((n = heap_min(&c->wall_timers)) && n->at <= c->now_ms)
		queue_tick(c, CONTAINER_OF(n, struct queue, wake), out);
	hold_tick(c, out);
	watch_tick(c, out);
	unsure_tick(c, out);
	refusals_tick(c, out);
	if (c->retry_reads_ms && c->retry_reads_ms <= c->mono_ms)
		wake_all(c);
}

/* Tasks that only the worker knows of must be read first: until then it is new. */
static void greet(struct core *c, const struct event *ev, struct effects *out)
{
	if (worker_by_link(c, ev->link) || lane_find_hello(c, ev->link))
		return; /* said twice */
	if (!lane_needs(c, ev)) {
		hello(c, ev, out);
		return;
	}
	c->start.parked_hellos++;
	lane_push(c, ev, out);
}

static int take(struct core *c, const struct event *ev, struct effects *out)
{
	if (ev->kind <= EV_LOAD_DONE) {
		load_step(c, ev, out);
		return 0;
	}
	switch (ev->kind) {
	case EV_HELLO: greet(c, ev, out); return 0;
	case EV_LINK_LOST: link_lost(c, ev, out); return 0;
	case EV_BEAT: watch_beat(c, ev, out); return 0;
	case EV_CHECKED: watch_checked(c, ev, out); return 0;
	case EV_NOTIFIED: unsure_answer(c, ev, out); return 0;
	case EV_STARTED: report_started(c, ev, out); return 0;
	case EV_ENDED: report_ended(c, ev, out); return 0;
	case EV_OUTPUT: report_output(c, ev, out); return 0;
	case EV_HEAD_READ:
	case EV_DUE_READ: window_read(c, ev, out); return 0;
	case EV_KEYS_READ:
	case EV_TASKS_READ:
	case EV_TICKS_READ: lane_read(c, ev, out); return 0;
	case EV_TICK: tick(c, out); return 0;
	case EV_GO_ON: lane_go_on(c, out); return 0;
	case EV_ZONE: zone_set(c, ev, out); return 0;
	case EV_REFUSED: refusal(c, ev, out); return 0;
	default: return core_command(c, ev, out);
	}
}

int core_step(struct core *c, const struct event *ev, struct effects *out)
{
	int code;

	c->now_ms = ev->now_ms;
	c->mono_ms = ev->mono_ms;
	c->seed = ev->seed;
	code = take(c, ev, out);
	if (c->open) {
		schedules_tick(c, out);
		watch_set(c, out);
		start_look(c, out);
		place(c, out);
	}
	ghosts_reap(c);
	return code;
}

static void sooner(int64_t *at, int64_t other)
{
	if (other < *at)
		*at = other;
}

int64_t core_wake_ms(const struct core *c)
{
	const struct heap_node *wall = heap_min(&c->wall_timers);
	const struct heap_node *schedule = heap_min(&c->schedules.timers);
	const struct heap_node *watch = heap_min(&c->watch_timers);
	const struct heap_node *poll = heap_min(&c->poll_timers);
	const struct heap_node *hold = heap_min(&c->hold_timers);
	int64_t at = c->set_due_ms;

	if (wall)
		sooner(&at, wall->at - (c->now_ms - c->mono_ms));
	if (schedule)
		sooner(&at, schedule->at <= c->now_ms ? c->mono_ms
		                                      : schedule->at - (c->now_ms - c->mono_ms));
	if (watch)
		sooner(&at, watch->at);
	if (poll)
		sooner(&at, poll->at);
	if (hold)
		sooner(&at, hold->at);
	sooner(&at, c->refusals.due_ms);
	if (c->retry_reads_ms)
		sooner(&at, c->retry_reads_ms);
	if (c->start.waiting)
		sooner(&at, c->start.until_ms);
	return at;
}

bool core_is_midway(const struct core *c)
{
	return c->lane.midway;
}

bool core_is_open(const struct core *c)
{
	return c->open;
}
