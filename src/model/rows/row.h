/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kind of row as a list of columns: name, place in the struct, type, and what holds of it. Stores
 * write and read rows by it, copies and comparisons go by it; so a field that is added to a row is
 * added to its list, once, and to the schema.
 */
#ifndef MODEL_ROW_H
#define MODEL_ROW_H

#include "base/arena.h"
#include "model/rows/quarantine.h"
#include "model/rows/tables.h"
#include "model/run/usage.h"

enum column_type {
	COLUMN_I32,
	COLUMN_I64,
	COLUMN_TEXT,
	COLUMN_BLOB,
	COLUMN_USAGE,
	COLUMN_SUM, /* in the database only: the checksum of its set */
};

enum column_flag {
	COLUMN_STATE = 1,     /* written by ROW_STATE */
	COLUMN_BULKY = 2,     /* left out of bare lists */
	COLUMN_UNSUMMED = 4,  /* also changed by SQL alone, or a hash: in no checksum */
	COLUMN_FAR = 8,       /* when long it may lie elsewhere, but is in the checksum */
	COLUMN_NAME = 16,     /* people know the row by it; at most one */
	COLUMN_SETTABLE = 32, /* people choose it: EV_CREATE and EV_SET may give it */
	COLUMN_TIME_ZONE =
	    64, /* a time zone's name: the brain must know the zone first; at most one */
	COLUMN_REACH =
	    128, /* of a part: how far it reaches from the key's first number; at most one */
};

/*
 * Columns that are written and read together are a set, and have a checksum together: those of
 * equal STATE and BULKY. A row's damage names these sets, 1u << set.
 */
#define COLUMN_SET (COLUMN_STATE | COLUMN_BULKY)
#define COLUMN_SETS (COLUMN_SET + 1)
#define COLUMNS_MAX 64 /* of a kind of row */

struct column {
	const char *name;
	uint16_t offset;
	uint16_t flags;
	uint8_t type;
	const char *summed_as; /* the column's old name, by which it is summed; else NULL */
};

/* When rows go by themselves, by their time_ms. */
enum row_expiry { EXPIRES_NEVER, EXPIRES_WITH_IDEM, EXPIRES_WITH_EVENTS };

/* What is worked out of a list when first needed; two threads that do so agree. */
struct row_made {
	uint64_t strings;                  /* which columns are text or blob, 1 << column */
	uint64_t name_hashes[COLUMNS_MAX]; /* of each column's name; store/sum.c's */
};

struct row_table {
	enum table_number number;
	const char *name;
	const struct column *columns; /* the key first */
	int n;
	int n_key; /* so many columns are the key */
	size_t row_size;
	bool has_id;                        /* the first one is an id: it is never given again */
	bool is_loaded;                     /* a start is told of all rows, by key */
	enum row_expiry expires;            /* not NEVER: there is an index NAME_time */
	const struct row_table *belongs_to; /* the first column is its id, and rows go with it */
	/* Makes a row that does not fit its checksums harmless. NULL: nothing can be without it. */
	void (*quarantine)(void *row, const struct quarantine_facts *f);
	const char
	    *quarantined; /* what such a row does, for people; NULL: nobody looks at a start */
	struct row_made *made;
};

#define COLUMN_OF(row, kind, name, field, flags)                          \
	{                                                                 \
		name, offsetof(struct row, field), (flags), COLUMN_##kind \
	}
#define COLUMN_SUM_OF(name, flags)           \
	{                                    \
		name, 0, (flags), COLUMN_SUM \
	}
#define N_COLUMNS(columns) (sizeof columns / sizeof columns[0])
/* The members that follow from the list. */
#define ROW_TABLE(table_number, table_name, row, list)                                           \
	.number = (table_number), .name = (table_name), .columns = (list), .n = N_COLUMNS(list), \
	.row_size = sizeof(struct row), .made = &(struct row_made)                               \
	{                                                                                        \
		0                                                                                \
	}

/* Deep copies: strings NUL-terminated. In an arena; in one heap block, for free(). */
void *row_new(struct arena *a, const struct row_table *t, const void *row);
void *row_dup(const struct row_table *t, const void *row);
/* Columns with any of `skip_flags` come out NULL. */
void row_copy(const struct row_table *t, struct arena *a, const void *row, unsigned skip_flags,
    void *ret_row);
/* The column at that place of the struct, as a set of one; MUST be there. */
uint64_t row_bit(const struct row_table *t, size_t offset);
#define ROW_BIT(table, type, member) row_bit(&(table), offsetof(struct type, member))
/* The columns that people choose. */
uint64_t row_settable(const struct row_table *t);
/* Copies the columns of the set, strings borrowed. */
void row_take(const struct row_table *t, void *to, const void *from, uint64_t columns);
/* The row's strings move into one heap block, which takes the place of *strings. */
void row_own(const struct row_table *t, void *row, char **strings);
/* The columns with COLUMN_STATE, strings borrowed. */
void row_take_state(const struct row_table *t, void *to, const void *from);
/* The first column in which two rows differ, or NULL. */
const struct column *row_differs(const struct row_table *t, const void *x, const void *y);
/* Three-way, by the first `n` columns. */
int row_compare(const struct row_table *t, int n, const void *x, const void *y);
/* NULL: there is none of that name. */
const struct column *row_column(const struct row_table *t, const char *name);
/* The column with that flag, of which there is at most one; NULL: there is none. */
const struct column *row_flagged(const struct row_table *t, enum column_flag flag);
/* NULL: people know such rows by their ids, or numbers. */
const struct column *row_name_column(const struct row_table *t);
/* The time zone that a row is in, by name; NULL: it has none. */
struct str row_time_zone(const struct row_table *t, const void *row);

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
