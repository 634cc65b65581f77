/* SPDX-License-Identifier: Apache-2.0 */
/* A command that must wait is copied whole, for its strings are only borrowed. */
#include "core/ask/lane.h"
#include "core/object.h"

static const struct task_state *const *copy_taken(
    struct arena *a, const struct task_state *const *from, size_t n)
{
	const struct task_state **all = arena_memdup(a, from, n * sizeof *all);

	for (size_t i = 0; i < n; i++) {
		struct task_state *s = from[i] ? arena_memdup(a, from[i], sizeof *s) : NULL;

		if (s) {
			s->reason = arena_str(a, s->reason);
			s->result = arena_str(a, s->result);
		}
		all[i] = s;
	}
	return all;
}

static const struct submit_group *copy_group(struct arena *a, const struct event *ev)
{
	struct submit_group *g = arena_memdup(a, ev->submit.group, sizeof *g);
	size_t n = ev->submit.n;
	struct str *names;

	g->name = arena_str(a, g->name);
	g->reason = arena_str(a, g->reason);
	g->series = arena_str(a, g->series);
	g->left_out = arena_str(a, g->left_out);
	g->left_out_why = arena_str(a, g->left_out_why);
	g->edges = arena_memdup(a, g->edges, g->n_edges * sizeof *g->edges);
	if (g->weights)
		g->weights = arena_memdup(a, g->weights, n * sizeof *g->weights);
	if (g->taken)
		g->taken = copy_taken(a, g->taken, n);
	if (g->digests)
		g->digests = arena_memdup(a, g->digests, n * sizeof *g->digests);
	if (!g->names)
		return g;
	g->names = names = arena_memdup(a, g->names, n * sizeof *names);
	for (size_t i = 0; i < n; i++)
		names[i] = arena_str(a, names[i]);
	return g;
}

static void copy_submit(struct arena *a, struct event *to)
{
	struct submit_task *tasks;

	to->submit.name = arena_str(a, to->submit.name);
	if (to->submit.arena) {
		arena_adopt(a, to->submit.arena);
		to->submit.arena = a;
		return;
	}
	tasks = arena_memdup(a, to->submit.tasks, to->submit.n * sizeof *to->submit.tasks);
	for (size_t i = 0; i < to->submit.n; i++) {
		tasks[i].spec.name = arena_str(a, tasks[i].spec.name);
		tasks[i].spec.key = arena_str(a, tasks[i].spec.key);
		tasks[i].spec.labels = arena_str(a, tasks[i].spec.labels);
		tasks[i].spec.need = arena_str(a, tasks[i].spec.need);
		tasks[i].spec.body = arena_str(a, tasks[i].spec.body);
	}
	to->submit.tasks = tasks;
	if (to->submit.group)
		to->submit.group = copy_group(a, to);
}

/* Given away, as the tasks of a long submit are. */
static void copy_parts(struct arena *a, struct event *to)
{
	struct object_parts *parts = arena_memdup(a, to->object.parts, sizeof *parts);

	arena_adopt(a, parts->arena);
	parts->arena = a;
	to->object.parts = parts;
}

static void copy_object(struct arena *a, struct event *to)
{
	to->object.reason = arena_str(a, to->object.reason);
	if (to->object.row)
		to->object.row = row_new(a, object_kinds[to->object.kind]->table, to->object.row);
	if (to->object.parts)
		copy_parts(a, to);
}

static void copy_hello(struct arena *a, struct event *to)
{
	struct worker_row row = {.facts = to->hello.facts};

	to->hello.facts = ((struct worker_row *)row_new(a, &worker_table, &row))->facts;
	to->let_in = arena_str(a, to->let_in);
	to->hello.tasks = link_held_copy(a, to->hello.tasks, to->hello.n_tasks);
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
