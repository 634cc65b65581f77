/* SPDX-License-Identifier: Apache-2.0 */
#include "model/rows/batch.h"

#include <stdlib.h>

#include "base/mem.h"

void batch_release(struct batch *b)
{
	arena_release(&b->arena);
	free(b->rows);
	*b = (struct batch){0};
}

void batch_reset(struct batch *b, uint64_t seq)
{
	arena_reset(&b->arena);
	b->n = 0;
	b->seq = seq;
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
