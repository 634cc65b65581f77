/* SPDX-License-Identifier: Apache-2.0 */
/* The stories' store: what a commit does to its rows. */
#include "world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"

static int by_id(const void *key, const void *row)
{
	rid id = *(const rid *)key, other = ((const struct task_row *)row)->id;

	return id < other ? -1 : id > other;
}

struct task_row *world_task(struct world *w, rid id)
{
	return bsearch(&id, w->tasks, w->n_tasks, sizeof w->tasks[0], by_id);
}

static void put_queue(struct world *w, const struct queue_row *q)
{
	size_t i = 0;

	while (i < w->n_queues && w->queues[i].id != q->id)
		i++;
	if (i == w->n_queues)
		w->n_queues++;
	row_copy(&queue_table, &w->rows_arena, q, 0, &w->queues[i]);
}

static void put_worker(struct world *w, const struct worker_row *row)
{
	size_t i = 0;

	while (i < w->n_workers && w->workers[i].id != row->id)
		i++;
	if (i == w->n_workers)
		w->n_workers++;
	row_copy(&worker_table, &w->rows_arena, row, 0, &w->workers[i]);
}

static void rerank(struct world *w, rid queue, int order)
{
	for (size_t i = 0; i < w->n_tasks; i++)
		if (w->tasks[i].spec.queue == queue && w->tasks[i].state.status == TASK_QUEUED)
			w->tasks[i].state.rank =
			    order == ORDER_PRIORITY ? -(int64_t)w->tasks[i].spec.priority : 0;
}

static void update_task(struct world *w, const struct task_row *row)
{
	struct task_row *t = world_task(w, row->id);
	struct task_row copy;

	assert_non_null(t);
	copy = *t;
	copy.state = row->state;
	copy.spec.priority = row->spec.priority;
	row_copy(&task_table, &w->rows_arena, &copy, 0, t);
}

static void put_meta(struct world *w, const struct meta_row *m)
{
	size_t i = 0;

	while (i < w->n_meta && !str_eq(w->meta[i].name, m->name))
		i++;
	if (i == w->n_meta)
		w->n_meta++;
	w->meta[i].name = arena_str(&w->rows_arena, m->name);
	w->meta[i].value = arena_str(&w->rows_arena, m->value);
}

struct schedule_row *world_schedule(struct world *w, rid id)
{
	for (size_t i = 0; i < w->n_schedules; i++)
		if (w->schedules[i].id == id)
			return &w->schedules[i];
	return NULL;
}

static void put_schedule(struct world *w, const struct schedule_row *row)
{
	struct schedule_row *at = world_schedule(w, row->id);

	if (!at)
		at = &w->schedules[w->n_schedules++];
	row_copy(&schedule_table, &w->rows_arena, row, 0, at);
}

static void put_progress(struct world *w, const struct schedule_row *row)
{
	struct schedule_row *at = world_schedule(w, row->id);

	assert_non_null(at);
	at->state = row->state;
	at->progress = row->progress;
}

static void put_tick(struct world *w, const struct tick_row *row)
{
	size_t i = 0;

	while (i < w->n_ticks &&
	       (w->ticks[i].schedule != row->schedule || w->ticks[i].tick_s != row->tick_s ||
	           w->ticks[i].offset_s != row->offset_s))
		i++;
	assert_true(i < WORLD_TASKS);
	/* what has its task never gets another, nor loses it */
	if (i < w->n_ticks)
		assert_true(!w->ticks[i].task);
	else
		w->n_ticks++;
	w->ticks[i] = *row;
	w->ticks[i].reason = arena_str(&w->rows_arena, row->reason);
}

static void drop_schedule(struct world *w, rid id)
{
	struct schedule_row *at = world_schedule(w, id);
	size_t n = 0;

	*at = w->schedules[--w->n_schedules];
	for (size_t i = 0; i < w->n_ticks; i++)
		if (w->ticks[i].schedule != id)
			w->ticks[n++] = w->ticks[i];
	w->n_ticks = n;
}

const struct task_batch_row *world_task_batch(const struct world *w, rid id)
{
	for (size_t i = 0; i < w->n_task_batches; i++)
		if (w->task_batches[i].id == id)
			return &w->task_batches[i];
	return NULL;
}

static void put_task_batch(struct world *w, const struct task_batch_row *row)
{
	const struct task_batch_row *at = world_task_batch(w, row->id);
	size_t i = at ? (size_t)(at - w->task_batches) : w->n_task_batches++;

	row_copy(&task_batch_table, &w->rows_arena, row, 0, &w->task_batches[i % 64]);
}

static void insert_task(struct world *w, const struct task_row *row)
{
	size_t at = w->n_tasks;

	assert_true(w->n_tasks < WORLD_TASKS);
	for (; at && w->tasks[at - 1].id > row->id; at--)
		w->tasks[at] = w->tasks[at - 1];
	assert_true(!at || w->tasks[at - 1].id < row->id);
	w->n_tasks++;
	row_copy(&task_table, &w->rows_arena, row, 0, &w->tasks[at]);
}

static void put_input(struct world *w, const struct input_row *row)
{
	size_t i = 0;

	while (i < w->n_inputs && w->inputs[i].task != row->task)
		i++;
	assert_true(i < 64);
	w->n_inputs += i == w->n_inputs;
	w->inputs[i] = *row;
}

/* Never twice: what was acknowledged is not written over. */
static void put_input_part(struct world *w, const struct input_part_row *row)
{
	for (size_t i = 0; i < w->n_input_parts; i++)
		assert_true(
		    w->input_parts[i].task != row->task || w->input_parts[i].offset != row->offset);
	assert_true(w->n_input_parts < 256);
	row_copy(&input_part_table, &w->rows_arena, row, 0, &w->input_parts[w->n_input_parts++]);
}

static void drop_input(struct world *w, rid task)
{
	size_t n = 0, n_parts = 0;

	for (size_t i = 0; i < w->n_inputs; i++)
		if (w->inputs[i].task != task)
			w->inputs[n++] = w->inputs[i];
	for (size_t i = 0; i < w->n_input_parts; i++)
		if (w->input_parts[i].task != task)
			w->input_parts[n_parts++] = w->input_parts[i];
	w->n_inputs = n;
	w->n_input_parts = n_parts;
}

static void trim_input(struct world *w, rid task, int64_t below)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_input_parts; i++)
		if (w->input_parts[i].task != task || w->input_parts[i].offset >= below)
			w->input_parts[n++] = w->input_parts[i];
	w->n_input_parts = n;
}

static void put(struct world *w, const struct row_table *t, const void *row)
{
	switch (t->number) {
	case TABLE_INPUT: put_input(w, row); break;
	case TABLE_INPUT_PART: put_input_part(w, row); break;
	case TABLE_QUEUE: put_queue(w, row); break;
	case TABLE_WORKER: put_worker(w, row); break;
	case TABLE_SCHEDULE: put_schedule(w, row); break;
	case TABLE_TICK: put_tick(w, row); break;
	case TABLE_TASK_BATCH: put_task_batch(w, row); break;
	case TABLE_GROUP: world_put_group(w, row); break;
	case TABLE_GROUP_GRAPH: world_put_chunk(w, row); break;
	case TABLE_BUILT: world_put_built(w, row); break;
	case TABLE_EVENT: w->last_event = ((const struct event_row *)row)->seq; break;
	case TABLE_OUTPUT: w->n_outputs++; break;
	case TABLE_META: put_meta(w, row); break;
	case TABLE_IDEM: row_copy(t, &w->rows_arena, row, 0, &w->idem[w->n_idem++]); break;
	default: world_put_part(w, t, row); break;
	}
}

static void drop(struct world *w, const struct row_table *t, rid id)
{
	if (t == &schedule_table)
		drop_schedule(w, id);
	if (t == &input_table)
		drop_input(w, id);
	if (t == &group_table)
		world_drop_group(w, id);
	world_drop_service(w, t, id);
	for (size_t i = 0; t == &worker_table && i < w->n_workers; i++)
		if (w->workers[i].id == id)
			w->workers[i] = w->workers[--w->n_workers];
	for (size_t i = 0; t == &queue_table && i < w->n_queues; i++)
		if (w->queues[i].id == id)
			w->queues[i] = w->queues[--w->n_queues];
}

void world_apply(struct world *w, const struct row_op *op)
{
	struct task_row room;

	switch (op->verb) {
	case ROW_FIRST:
	case ROW_INSERT: insert_task(w, batch_new_task(op, &room)); break;
	case ROW_PUT: put(w, op->table, op->row); break;
	case ROW_STATE:
		if (op->table == &task_table)
			update_task(w, op->row);
		else if (op->table == &schedule_table)
			put_progress(w, op->row);
		else if (op->table == &task_batch_table)
			put_task_batch(w, op->row);
		else if (op->table == &group_table)
			world_put_group_state(w, op->row);
		else if (op->table == &service_table)
			world_put_service_state(w, op->row);
		break;
	case ROW_DROP: world_drop_part(w, op->table, op->row); break;
	case ROW_DELETE: drop(w, op->table, op->id); break;
	case ROW_TRIM: trim_input(w, op->id, op->below); break;
	case ROW_RERANK: rerank(w, op->id, op->order); break;
	default: break;
	}
}
