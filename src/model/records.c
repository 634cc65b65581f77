/* SPDX-License-Identifier: Apache-2.0 */
#include "model/records.h"

#include "model/rows/row.h"
#include "model/task/task.h"

#define E(kind, name, field) COLUMN_OF(event_row, kind, name, field, 0)
static const struct column event_columns[] = {
    E(I64, "seq", seq),
    E(I64, "time_ms", time_ms),
    E(TEXT, "kind", kind),
    E(TEXT, "subject", subject),
    E(TEXT, "actor", actor),
    E(TEXT, "detail", detail),
    /* the hash stands for itself */
    COLUMN_OF(event_row, I64, "prev", prev, COLUMN_UNSUMMED),
    COLUMN_OF(event_row, BLOB, "hash", hash, COLUMN_UNSUMMED),
    COLUMN_SUM_OF("sum", 0),
};

static void quarantine_event(void *row, const struct quarantine_facts *f)
{
	((struct event_row *)row)->kind = STR(ROW_DAMAGED);
}

const struct row_table event_table = {
    ROW_TABLE(TABLE_EVENT, "event", event_row, event_columns),
    .n_key = 1,
    .expires = EXPIRES_WITH_EVENTS,
    .quarantine = quarantine_event,
};

#define I(kind, name, field) COLUMN_OF(idem_row, kind, name, field, 0)
static const struct column idem_columns[] = {
    COLUMN_OF(idem_row, TEXT, "idem_key", key, COLUMN_NAME),
    I(I64, "fingerprint", fingerprint),
    I(I64, "time_ms", time_ms),
    I(BLOB, "result", result),
    COLUMN_SUM_OF("sum", 0),
};

/* What it was answered with is not known, and must not be done twice. */
static void quarantine_idem(void *row, const struct quarantine_facts *f)
{
	*(struct idem_row *)row = (struct idem_row){.key = f->name, .damaged = true};
}

const struct row_table idem_table = {
    ROW_TABLE(TABLE_IDEM, "idem", idem_row, idem_columns),
    .n_key = 1,
    .expires = EXPIRES_WITH_IDEM,
    .quarantine = quarantine_idem,
};

#define O(kind, name, field) COLUMN_OF(output_row, kind, name, field, 0)
static const struct column output_columns[] = {
    O(I64, "task", task),
    O(I64, "token", token),
    O(I32, "stream", stream),
    O(I64, "at", offset),
    O(I32, "raw_bytes", raw_bytes),
    O(I32, "codec", codec),
    O(BLOB, "data", data),
    COLUMN_SUM_OF("sum", 0),
};
const struct row_table output_table = {
    ROW_TABLE(TABLE_OUTPUT, "output", output_row, output_columns),
    .n_key = 4,
    .belongs_to = &task_table,
};

static const struct column meta_columns[] = {
    COLUMN_OF(meta_row, TEXT, "name", name, COLUMN_NAME),
    COLUMN_OF(meta_row, BLOB, "value", value, 0),
    COLUMN_SUM_OF("sum", 0),
};
/* The server itself goes by it: of what is damaged nothing can be left out, a start is refused. */
const struct row_table meta_table = {
    ROW_TABLE(TABLE_META, "meta", meta_row, meta_columns),
    .n_key = 1,
    .is_loaded = true,
};
