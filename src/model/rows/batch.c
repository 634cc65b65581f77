/* SPDX-License-Identifier: Apache-2.0 */
#include "model/rows/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define ROWS_KEPT 8192

void batch_release(struct batch *b)
{
	arena_release(&b->arena);
	free(b->rows);
	*b = (struct batch){0};
}

/* A long submit's room is not kept: there are several batches, and few of them are long. */
void batch_reset(struct batch *b, uint64_t seq)
{
	arena_reset(&b->arena);
	if (b->cap > ROWS_KEPT) {
		free(b->rows);
		b->rows = NULL;
		b->cap = 0;
	}
	b->n = 0;
	b->seq = seq;
	b->alike = NULL;
}

static struct row_op *add(struct batch *b, enum row_verb verb, const struct row_table *t)
{
	struct row_op *op;

	GROW(b->rows, b->cap, b->n + 1);
	op = &b->rows[b->n++];
	op->verb = verb;
	op->order = 0;
	op->table = t;
	return op;
}

void batch_insert(struct batch *b, const struct row_table *t, void *row)
{
	add(b, ROW_INSERT, t)->row = row;
}

void batch_first(struct batch *b, const struct task_row *row, const struct task_spec *spec)
{
	struct first_row *f = arena_alloc(&b->arena, sizeof *f);

	/* the same bytes are the same state; if only their padding differs, there are two of it */
	if (!b->alike || memcmp(b->alike, &row->state, sizeof row->state) != 0)
		b->alike = arena_memdup(&b->arena, &row->state, sizeof row->state);
	*f = (struct first_row){row->id, row->ctime_ms, spec, b->alike};
	add(b, ROW_FIRST, &task_table)->row = f;
}

const struct task_row *batch_new_task(const struct row_op *op, struct task_row *room)
{
	const struct first_row *f = op->row;

	if (op->table != &task_table || (op->verb != ROW_INSERT && op->verb != ROW_FIRST))
		return NULL;
	if (op->verb == ROW_INSERT)
		return op->row;
	*room = (struct task_row){f->id, f->ctime_ms, *f->state, *f->spec, 0};
	return room;
}

void batch_put(struct batch *b, const struct row_table *t, void *row)
{
	add(b, ROW_PUT, t)->row = row;
}

void batch_state(struct batch *b, const struct row_table *t, void *row)
{
	add(b, ROW_STATE, t)->row = row;
}

void batch_delete(struct batch *b, const struct row_table *t, rid id)
{
	add(b, ROW_DELETE, t)->id = id;
}

void batch_trim(struct batch *b, const struct row_table *t, rid id, int64_t below)
{
	struct row_op *op = add(b, ROW_TRIM, t);

	op->id = id;
	op->below = below;
}

void batch_drop(struct batch *b, const struct row_table *t, void *row)
{
	add(b, ROW_DROP, t)->row = row;
}

void batch_prune(struct batch *b, rid task)
{
	add(b, ROW_PRUNE, &task_table)->id = task;
}

void batch_rerank(struct batch *b, rid queue, int32_t order)
{
	struct row_op *op = add(b, ROW_RERANK, &queue_table);

	op->id = queue;
	op->order = order;
}
