/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every row kind as a list of columns: name, place in the struct, type. Backends bind and read rows
 * by it, the memory backend copies by it and the contract suite compares by it, so a field that
 * is added to a row is added here, once, and to the schema.
 */
#ifndef STORE_COLUMNS_H
#define STORE_COLUMNS_H

#include "base/arena.h"
#include "model/id.h"
#include "store/usage_text.h"

enum column_type {
	COLUMN_I32,
	COLUMN_I64,
	COLUMN_TEXT,
	COLUMN_BLOB,
	COLUMN_USAGE,
	COLUMN_SUM, /* in the database only: the checksum of its group */
};

enum column_flag {
	COLUMN_STATE = 1,    /* task, schedule, queue: written by an update */
	COLUMN_BULKY = 2,    /* task: left out of bare lists */
	COLUMN_UNSUMMED = 4, /* also changed by SQL alone, or a hash: in no checksum */
	COLUMN_FAR = 8,      /* when long it lies elsewhere, but is in the checksum */
};

/*
 * Columns that are written and read together are a group, and have a checksum together: those of
 * equal STATE and BULKY. A row's damage is a set of groups, 1u << group.
 */
#define COLUMN_GROUP (COLUMN_STATE | COLUMN_BULKY)
#define COLUMN_GROUPS (COLUMN_GROUP + 1)
#define COLUMNS_MAX 64 /* of a row kind */

struct column {
	const char *name;
	uint16_t offset;
	uint8_t type;
	uint8_t flags;
};

struct row_table {
	const char *name;
	const struct column *columns; /* the key first */
	int n;
	size_t row_size;
	uint64_t *name_hashes; /* one for each column, 0: not yet made; sum.c's */
};

/* What can not be read off the tables: see 0001_up.sql. */
struct sqlite_stat {
	rid last_id;
	uint64_t last_event;
	int64_t n_tasks;
};

extern const struct row_table stat_table;
extern const struct row_table task_table, queue_table, worker_table, event_table, idem_table,
    output_table, meta_table, schedule_table, tick_table, token_table;

/* One heap block with the row and all its strings; free() it. */
void *row_dup(const struct row_table *t, const void *row);
/* Deep copy into the arena; columns with any of `skip_flags` come out NULL. */
void row_copy(const struct row_table *t, struct arena *a, const void *row, unsigned skip_flags,
    void *ret_row);
/* The first column in which two rows differ, or NULL. */
const struct column *row_differs(const struct row_table *t, const void *x, const void *y);

static inline int32_t column_i32(const struct column *c, const void *row)
{
	return *(const int32_t *)((const char *)row + c->offset);
}

static inline int64_t column_i64(const struct column *c, const void *row)
{
	return *(const int64_t *)((const char *)row + c->offset);
}

static inline struct str column_str(const struct column *c, const void *row)
{
	return *(const struct str *)((const char *)row + c->offset);
}

static inline const struct usage *column_usage(const struct column *c, const void *row)
{
	return (const struct usage *)((const char *)row + c->offset);
}

static inline void *column_at(const struct column *c, void *row)
{
	return (char *)row + c->offset;
}

static inline bool column_is_str(const struct column *c)
{
	return c->type == COLUMN_TEXT || c->type == COLUMN_BLOB;
}

#endif
