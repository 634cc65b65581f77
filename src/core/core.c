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
	    .heartbeat_ms = OR(o->heartbeat_ms, 15000),
	    .lose_after_ms = OR(o->lose_after_ms, 565000),
	};
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
	free_list(&c->lane.waiting);
	free_list(&c->lane.group);
	arena_release(&c->lane.arena);
	idmap_release(&c->lane.row_of);
	free(c->lane.keys);
	free(c->lane.ids);
	free(c->outstanding);
	heap_release(&c->wall_timers);
	heap_release(&c->mono_timers);
	idmap_release(&c->tasks);
	idmap_release(&c->links);
	free(c);
}

static int command(struct core *c, const struct event *ev, struct effects *out)
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
	while ((n = heap_min(&c->mono_timers)) && n->at <= c->mono_ms)
		worker_tick(c, CONTAINER_OF(n, struct worker, lose), out);
	if (c->retry_reads_ms && c->retry_reads_ms <= c->mono_ms)
		wake_all(c);
}

static int take(struct core *c, const struct event *ev, struct effects *out)
{
	if (ev->kind <= EV_LOAD_DONE) {
		load_step(c, ev, out);
		return 0;
	}
	switch (ev->kind) {
	case EV_HELLO: worker_hello(c, ev, out); return 0;
	case EV_LINK_LOST: worker_link_lost(c, ev, out); return 0;
	case EV_BEAT: worker_beat(c, ev, out); return 0;
	case EV_STARTED: report_started(c, ev, out); return 0;
	case EV_ENDED: report_ended(c, ev, out); return 0;
	case EV_OUTPUT: report_output(c, ev, out); return 0;
	case EV_HEAD_READ:
	case EV_DUE_READ: window_read(c, ev, out); return 0;
	case EV_KEYS_READ:
	case EV_TASKS_READ: lane_read(c, ev, out); return 0;
	case EV_TICK: tick(c, out); return 0;
	default: return command(c, ev, out);
	}
}

int core_step(struct core *c, const struct event *ev, struct effects *out)
{
	int code;

	c->now_ms = ev->now_ms;
	c->mono_ms = ev->mono_ms;
	c->seed = ev->seed;
	code = take(c, ev, out);
	if (c->open)
		place(c, out);
	ghosts_reap(c);
	return code;
}

int64_t core_wake_ms(const struct core *c)
{
	const struct heap_node *wall = heap_min(&c->wall_timers), *mono = heap_min(&c->mono_timers);
	int64_t at = INT64_MAX;

	if (wall)
		at = wall->at - (c->now_ms - c->mono_ms);
	if (mono && mono->at < at)
		at = mono->at;
	if (c->retry_reads_ms && c->retry_reads_ms < at)
		at = c->retry_reads_ms;
	return at;
}

bool core_is_open(const struct core *c)
{
	return c->open;
}
