/* SPDX-License-Identifier: Apache-2.0 */
/* What the stories' store answers when the brain reads. */
#include "world.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct read_ask *asking;

static int head_order(const void *a, const void *b)
{
	const struct task_row *x = a, *y = b;

	if (x->state.rank != y->state.rank)
		return x->state.rank < y->state.rank ? -1 : 1;
	if (asking->head.order == ORDER_LIFO)
		return x->id > y->id ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

static int due_order(const void *a, const void *b)
{
	const struct task_row *x = a, *y = b;

	if (x->state.due_ms != y->state.due_ms)
		return x->state.due_ms < y->state.due_ms ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

static void answer_rows(struct world *w, const struct read_ask *a)
{
	bool due = a->kind == READ_DUE;
	rid queue = due ? a->due.queue : a->head.queue;
	uint32_t limit = due ? a->due.limit : a->head.limit;
	bool after = due ? a->due.after : a->head.after;
	struct task_row last = {.id = due ? a->due.id : a->head.id,
	    .state = {.rank = a->head.rank, .due_ms = a->due.due_ms}};
	struct task_row *rows = xmalloc((w->n_tasks + 1) * sizeof *rows);
	struct event ev = {.kind = due ? EV_DUE_READ : EV_HEAD_READ};
	int (*cmp)(const void *, const void *) = due ? due_order : head_order;
	size_t n = 0;

	asking = a;
	for (size_t i = 0; i < w->n_tasks; i++) {
		const struct task_row *t = &w->tasks[i];

		if (t->spec.queue == queue && t->state.status == TASK_QUEUED &&
		    (t->state.due_ms > 0) == due &&
		    (!after || (t->id != last.id && cmp(t, &last) > 0)))
			rows[n++] = *t;
	}
	qsort(rows, n, sizeof *rows, cmp);
	ev.rows.read = a->number;
	ev.rows.queue = queue;
	ev.rows.rows = rows;
	ev.rows.n = n < limit ? n : limit;
	world_step(w, &ev);
	free(rows);
}

static rid find_key(struct world *w, rid queue, struct str key)
{
	for (size_t i = 0; i < w->n_tasks; i++)
		if (w->tasks[i].spec.queue == queue && w->tasks[i].spec.key.p &&
		    str_eq(w->tasks[i].spec.key, key) && !task_is_ended(w->tasks[i].state.status))
			return w->tasks[i].id;
	return 0;
}

static void answer_keys(struct world *w, const struct read_ask *a)
{
	rid *ids = xcalloc(a->n + 1, sizeof *ids);
	struct idem_row *idem = xcalloc(a->n + 1, sizeof *idem);
	struct event ev = {.kind = EV_KEYS_READ};

	for (size_t i = 0; i < a->n; i++) {
		if (a->keys[i].queue)
			ids[i] = find_key(w, a->keys[i].queue, a->keys[i].key);
		for (size_t k = 0; !a->keys[i].queue && k < w->n_idem; k++)
			if (str_eq(w->idem[k].key, a->keys[i].key))
				idem[i] = w->idem[k];
	}
	ev.keys.read = a->number;
	ev.keys.ids = ids;
	ev.keys.idem = idem;
	world_step(w, &ev);
	free(ids);
	free(idem);
}

static void answer_tasks(struct world *w, const struct read_ask *a)
{
	struct task_row *rows = xcalloc(a->n + 1, sizeof *rows);
	rid *holders = xcalloc(a->n + 1, sizeof *holders);
	struct task_batch_row *batches = xcalloc(a->n_batches + 1, sizeof *batches);
	struct event ev = {.kind = EV_TASKS_READ};

	for (size_t i = 0; i < a->n; i++) {
		struct task_row *t = world_task(w, a->ids[i]);

		if (t)
			rows[i] = *t;
		if (t && t->spec.key.p)
			holders[i] = find_key(w, t->spec.queue, t->spec.key);
	}
	ev.rows.read = a->number;
	for (size_t i = 0; i < a->n_batches; i++)
		if (world_task_batch(w, a->batches[i]))
			batches[i] = *world_task_batch(w, a->batches[i]);
		else if (world_task(w, a->batches[i])) /* one from before there were rows */
			batches[i] = (struct task_batch_row){.id = a->batches[i], .is_old = true};
	ev.rows.rows = rows;
	ev.rows.batches = batches;
	ev.rows.holders = holders;
	ev.rows.n = a->n;
	ev.rows.failed = w->reads_fail;
	world_step(w, &ev);
	free(batches);
	free(rows);
	free(holders);
}

static int by_tick(const void *a, const void *b)
{
	const struct tick_row *x = a, *y = b;

	return x->tick_s < y->tick_s ? -1 : x->tick_s > y->tick_s;
}

static void answer_parts(struct world *w, const struct read_ask *a)
{
	struct tick_row *rows = xcalloc(w->n_ticks + 1, sizeof *rows);
	struct event ev = {.kind = EV_PARTS_READ};
	size_t n = 0;

	for (size_t i = 0; i < w->n_ticks; i++)
		if (w->ticks[i].schedule == a->parts.object &&
		    w->ticks[i].until_s >= a->parts.from && w->ticks[i].tick_s < a->parts.to)
			rows[n++] = w->ticks[i];
	qsort(rows, n, sizeof *rows, by_tick);
	ev.parts.read = a->number;
	ev.parts.rows = rows;
	ev.parts.n = n;
	world_step(w, &ev);
	free(rows);
}

static void answer_input(struct world *w, const struct read_ask *a)
{
	struct event ev = {.kind = EV_INPUT_READ};
	const struct input_part_row *first = NULL;

	for (size_t i = 0; i < w->n_input_parts; i++) {
		const struct input_part_row *p = &w->input_parts[i];

		if (p->task == a->parts.object && p->offset >= a->parts.from &&
		    (!first || p->offset < first->offset))
			first = p;
	}
	ev.parts.read = a->number;
	ev.parts.object = a->parts.object;
	ev.parts.rows = first;
	ev.parts.n = first != NULL;
	world_step(w, &ev);
}

void world_answer_reads(struct world *w)
{
	while (w->n_reads) {
		struct read_ask a = w->reads[0];

		memmove(w->reads, w->reads + 1, --w->n_reads * sizeof w->reads[0]);
		if (a.kind == READ_KEYS)
			answer_keys(w, &a);
		else if (a.kind == READ_TASKS)
			answer_tasks(w, &a);
		else if (a.kind == READ_INPUT)
			answer_input(w, &a);
		else if (a.kind == READ_PARTS && a.parts.table == &group_graph_table)
			world_answer_chunks(w, &a);
		else if (a.kind == READ_PARTS)
			answer_parts(w, &a);
		else
			answer_rows(w, &a);
	}
}
