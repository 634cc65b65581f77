/* SPDX-License-Identifier: Apache-2.0 */
#include "model/batch.h"

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

struct row_op *batch_add(struct batch *b, enum row_kind kind)
{
	struct row_op *op;

	GROW(b->rows, b->cap, b->n + 1);
	op = &b->rows[b->n++];
	*op = (struct row_op){.kind = kind};
	return op;
}
