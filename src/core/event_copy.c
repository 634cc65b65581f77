/* SPDX-License-Identifier: Apache-2.0 */
/* A command that must wait is copied whole, for its strings are only borrowed. */
#include "core/lane.h"
#include "core/object.h"

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

static void copy_object(struct arena *a, struct event *to)
{
	to->object.reason = arena_str(a, to->object.reason);
	if (to->object.row)
		to->object.row = row_new(a, object_kinds[to->object.kind]->table, to->object.row);
}

static void copy_hello(struct arena *a, struct event *to)
{
	struct worker_row row = {.facts = to->hello.facts};

	to->hello.facts = ((struct worker_row *)row_new(a, &worker_table, &row))->facts;
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
	default: copy_object(a, to); break;
	}
}
