/* SPDX-License-Identifier: Apache-2.0 */
#include "model/objects/built.h"

#include "model/rows/row.h"

/* FNV-1a, of 62 bits. */
int64_t built_number(struct str name)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < name.n; i++)
		h = (h ^ (uint8_t)name.p[i]) * UINT64_C(0x100000001b3);
	return (int64_t)(h >> 2);
}

#define B(kind, name, field) COLUMN_OF(built_row, kind, name, field, 0)
static const struct column built_columns[] = {
    B(I64, "series", series),
    B(I64, "job", job),
    B(TEXT, "series_name", series_name),
    B(TEXT, "job_name", job_name),
    B(I64, "duration_ms", duration_ms),
    B(I64, "group_id", group),
    B(I64, "task", task),
    B(I64, "time_ms", time_ms),
    B(TEXT, "digest", digest),
    COLUMN_SUM_OF("sum", 0),
};

/* As if it had never been built. */
static void quarantine(void *row, const struct quarantine_facts *f)
{
	struct built_row *b = row;

	*b = (struct built_row){.series = b->series, .job = b->job};
}

const struct row_table built_table = {
    ROW_TABLE(TABLE_BUILT, "built", built_row, built_columns),
    .n_key = 2,
    .expires = EXPIRES_WITH_EVENTS,
    .quarantine = quarantine,
};
