/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch's rows in the order in which an SQL store writes them. Rows of tasks and their output are
 * taken in order of id, stable, so that neighbours on disk are written together (at random it is
 * ten times slower), and what happened to one task within the batch becomes one write. Operations
 * on a whole queue look at many tasks, so they are fences: nothing is moved across them.
 */
#ifndef STORE_SQL_FOLD_H
#define STORE_SQL_FOLD_H

#include "model/rows/batch.h"

/* What a database does; each returns 0, or what stops the whole. */
struct fold_ops {
	int (*insert)(void *store, const struct task_row *row); /* a new task */
	int (*state)(void *store, const struct task_row *row);  /* of one that is there */
	int (*prune)(void *store, rid task);
	int (*other)(
	    void *store, const struct row_op *op); /* what belongs to a task, and the rest */
};

struct sort_entry {
	rid id;
	size_t at;
};

struct fold { /* kept from batch to batch */
	struct sort_entry *order;
	size_t cap;
};

int fold_batch(struct fold *f, const struct batch *b, const struct fold_ops *ops, void *store);
void fold_release(struct fold *f);

#endif
