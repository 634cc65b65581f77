/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch: operations on rows that a store commits as one transaction, in the order given for
 * rows of one key. The core writes batches, the stores apply them; neither knows the other.
 */
#ifndef MODEL_BATCH_H
#define MODEL_BATCH_H

#include "base/arena.h"
#include "model/objects/queue.h"
#include "model/objects/token.h"
#include "model/objects/worker.h"
#include "model/records.h"
#include "model/rows/row.h"
#include "model/task/input.h"
#include "model/task/task.h"
#include "model/task/task_batch.h"

enum row_verb {
	ROW_INSERT, /* row: a new one */
	ROW_PUT,    /* row: insert, or replace by key */
	ROW_STATE,  /* row: only its columns with COLUMN_STATE; the key names it */
	ROW_DELETE, /* id: it and what belongs to it; a queue takes its tasks along */
	ROW_PRUNE,  /* id: a task and its output, only if it is ended */
	ROW_RERANK, /* id: a queue; order: recompute the rank of its queued tasks (priority:
	               -priority, else 0) */
	ROW_TRIM,   /* id, below: what belongs to it, as far as the key's second column is below */
	ROW_FIRST,  /* row: a struct first_row, a new task's */
	ROW_DROP,   /* row: that one alone, by its whole key; of a table that belongs to another */
};

/*
 * A new task's row in two parts. Those of a long submit all stand alike: one state is enough for
 * them, and what was asked for stays where it was read.
 */
struct first_row {
	rid id; /* first, as in every row */
	int64_t ctime_ms;
	const struct task_spec *spec;
	const struct task_state *state;
};

struct row_op {
	enum row_verb verb;
	int32_t order; /* with ROW_RERANK */
	int64_t below; /* with ROW_TRIM */
	const struct row_table *table;
	union {
		void *row;
		rid id;
	};
};

struct batch {
	struct arena arena; /* owns everything the rows point to */
	struct row_op *rows;
	size_t n, cap;
	uint64_t seq;                   /* batches are numbered from 1 */
	const struct task_state *alike; /* of the last ROW_FIRST */
};

void batch_release(struct batch *b);
void batch_reset(struct batch *b, uint64_t seq); /* keeps memory, as much as most need */

/* Rows are borrowed: in the batch's arena, or for as long as it lives. */
void batch_insert(struct batch *b, const struct row_table *t, void *row);
/* `spec`: the row's, where it stays for as long as the batch; the rest is copied. */
void batch_first(struct batch *b, const struct task_row *row, const struct task_spec *spec);
void batch_put(struct batch *b, const struct row_table *t, void *row);
void batch_state(struct batch *b, const struct row_table *t, void *row);
void batch_delete(struct batch *b, const struct row_table *t, rid id);
/* Of a table that belongs to another: what is long goes in several batches. */
void batch_trim(struct batch *b, const struct row_table *t, rid id, int64_t below);
/* Only the row's key is looked at. */
void batch_drop(struct batch *b, const struct row_table *t, void *row);
void batch_prune(struct batch *b, rid task);
void batch_rerank(struct batch *b, rid queue, int32_t order);

/* The task that the operation is the first row of, whole or in two parts; NULL: it is none. */
const struct task_row *batch_new_task(const struct row_op *op, struct task_row *room);

#endif
