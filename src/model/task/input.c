/* SPDX-License-Identifier: Apache-2.0 */
#include "model/task/input.h"

#include "model/rows/row.h"

#define I(kind, name, field) COLUMN_OF(input_row, kind, name, field, 0)
static const struct column input_columns[] = {
    I(I64, "task", task),
    I(I64, "queue", queue),
    I(I64, "size", size),
    I(I32, "ended", end),
    COLUMN_SUM_OF("sum", 0),
};

/* How much there is is not known: what reads it must not take it for the whole. */
static void quarantine_input(void *row, const struct quarantine_facts *f)
{
	((struct input_row *)row)->end = INPUT_DAMAGED;
}

const struct row_table input_table = {
    ROW_TABLE(TABLE_INPUT, "input", input_row, input_columns),
    .n_key = 1,
    .has_id = true,
    .is_loaded = true,
    .quarantine = quarantine_input,
    .quarantined = "the task that reads it is cancelled",
};

#define P(kind, name, field) COLUMN_OF(input_part_row, kind, name, field, 0)
static const struct column part_columns[] = {
    P(I64, "task", task),
    P(I64, "at", offset),
    P(BLOB, "data", data),
    COLUMN_SUM_OF("sum", 0),
};

static void quarantine_part(void *row, const struct quarantine_facts *f)
{
	((struct input_part_row *)row)->data = STR_NULL;
}

const struct row_table input_part_table = {
    ROW_TABLE(TABLE_INPUT_PART, "input_part", input_part_row, part_columns),
    .n_key = 2,
    .belongs_to = &input_table,
    .quarantine = quarantine_part,
};
