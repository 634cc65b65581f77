/* SPDX-License-Identifier: Apache-2.0 */
#include "model/task/task_batch.h"

#include "model/rows/row.h"

#define B(kind, name, field, flags) COLUMN_OF(task_batch_row, kind, name, field, flags)
static const struct column task_batch_columns[] = {
    B(I64, "id", id, 0),
    B(TEXT, "name", name, COLUMN_NAME),
    B(I64, "ctime_ms", ctime_ms, 0),
    B(TEXT, "actor", actor, 0),
    B(I64, "n_tasks", n_tasks, COLUMN_STATE),
    B(I64, "last_task", last_task, COLUMN_STATE),
    B(I64, "n_gone", n_gone, COLUMN_UNSUMMED),
    COLUMN_SUM_OF("sum", 0),
    COLUMN_SUM_OF("state_sum", COLUMN_STATE),
};

/* Which tasks it has is said by the tasks: it goes on without what is not known. */
static void quarantine(void *row, const struct quarantine_facts *f)
{
	struct task_batch_row *b = row;

	if (quarantine_is_whole(f))
		*b = (struct task_batch_row){
		    .id = b->id, .n_tasks = b->n_tasks, .last_task = b->last_task};
}

const struct row_table task_batch_table = {
    ROW_TABLE(TABLE_TASK_BATCH, "task_batch", task_batch_row, task_batch_columns),
    .n_key = 1,
    .has_id = true,
    .quarantine = quarantine,
};
