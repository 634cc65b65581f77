/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tables.h"

#include "model/batch.h"

const struct row_table *const row_tables[N_TABLES] = {
    [TABLE_META] = &meta_table,
    [TABLE_QUEUE] = &queue_table,
    [TABLE_WORKER] = &worker_table,
    [TABLE_SCHEDULE] = &schedule_table,
    [TABLE_TOKEN] = &token_table,
    [TABLE_IDEM] = &idem_table,
    [TABLE_TASK] = &task_table,
    [TABLE_TICK] = &tick_table,
    [TABLE_EVENT] = &event_table,
    [TABLE_OUTPUT] = &output_table,
};
