/* SPDX-License-Identifier: Apache-2.0 */
/* A command that must wait is copied whole, for its strings are only borrowed. */
#include "core/internal.h"

static void copy_submit(struct arena *a, struct event *to)
{
	struct submit_task *tasks;

	if (to->submit.arena) {
		arena_adopt(a, to->submit.arena);
		to->submit.arena = a;
		return;
	}
	tasks = arena_memdup(a, to->submit.tasks, to->submit.n * sizeof *to->submit.tasks);
	for (size_t i = 0; i < to->submit.n; i++) {
		tasks[i].spec.key = arena_str(a, tasks[i].spec.key);
		tasks[i].spec.labels = arena_str(a, tasks[i].spec.labels);
		tasks[i].spec.body = arena_str(a, tasks[i].spec.body);
	}
	to->submit.tasks = tasks;
}

static void copy_queue(struct arena *a, struct event *to)
{
	struct queue_change *change;

	to->queue.reason = arena_str(a, to->queue.reason);
	if (!to->queue.change)
		return;
	change = arena_memdup(a, to->queue.change, sizeof *change);
	change->row = *queue_row_copy(a, &change->row);
	to->queue.change = change;
}

static void copy_schedule(struct arena *a, struct event *to)
{
	struct schedule_change *change;

	to->schedule.reason = arena_str(a, to->schedule.reason);
	if (!to->schedule.change)
		return;
	change = arena_memdup(a, to->schedule.change, sizeof *change);
	change->row = *schedule_row_copy(a, &change->row);
	to->schedule.change = change;
}

static void copy_hello(struct arena *a, struct event *to)
{
	struct worker_row row = {.facts = to->hello.facts};

	to->hello.facts = worker_row_copy(a, &row)->facts;
	to->let_in = arena_str(a, to->let_in);
	to->hello.tasks =
	    arena_memdup(a, to->hello.tasks, to->hello.n_tasks * sizeof *to->hello.tasks);
}

void event_copy(struct pending *p, const struct event *ev)
{
	struct arena *a = &p->arena;
	struct event *to = &p->event;

	*to = *ev;
	to->actor = arena_str(a, ev->actor);
	to->idem_key = arena_str(a, ev->idem_key);
	switch (ev->kind) {
	case EV_SUBMIT: copy_submit(a, to); break;
	case EV_CANCEL:
	case EV_RETRY:
	case EV_TASK_SET:
		to->tasks.ids = arena_memdup(a, ev->tasks.ids, ev->tasks.n * sizeof *ev->tasks.ids);
		to->tasks.reason = arena_str(a, ev->tasks.reason);
		break;
	case EV_HELLO: copy_hello(a, to); break;
	case EV_TOKEN_CREATE: to->token.row = token_row_copy(a, ev->token.row); break;
	case EV_TOKEN_REVOKE: to->token.worker = arena_str(a, ev->token.worker); break;
	case EV_WORKER_SET:
	case EV_WORKER_REMOVE:
	case EV_WORKER_STOP: break;
	case EV_SCHEDULE_CREATE:
	case EV_SCHEDULE_SET:
	case EV_SCHEDULE_PAUSE:
	case EV_SCHEDULE_RESUME:
	case EV_SCHEDULE_DELETE:
	case EV_SCHEDULE_RUN:
	case EV_SCHEDULE_BACKFILL: copy_schedule(a, to); break;
	default: copy_queue(a, to); break;
	}
}
