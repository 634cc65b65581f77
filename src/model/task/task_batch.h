/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch of tasks, as people know it: what was submitted together, or joined to it later. It has
 * an id of its own, which is no task's. (In code a `struct batch` is what a store commits.)
 */
#ifndef MODEL_TASK_BATCH_H
#define MODEL_TASK_BATCH_H

#include "model/id.h"

struct task_batch_row {
	rid id;
	struct str name; /* several may have the same: then the newest is meant; NULL: none */
	int64_t ctime_ms;
	struct str actor; /* who submitted the batch */
	int64_t n_tasks;  /* submitted to it so far, whatever became of them */
	rid last_task;    /* the highest id among them; all are above the batch's own */
	int64_t n_gone;   /* of those, are no longer in the store; the store's to count */
	/* From before batches had rows: its id is that of its first task. Not stored. */
	bool is_old;
};

extern const struct row_table task_batch_table; /* model/rows/row.h */

#endif
