/* SPDX-License-Identifier: Apache-2.0 */
/* Rows to SQLite's parameters and back, by the lists of columns in model. */
#include <stdlib.h>
#include <string.h>

#include "store/sqlite/sqlite.h"
#include "store/sum.h"

void sqlite_bind_str(sqlite3_stmt *st, int at, struct str s, bool blob)
{
	if (!s.p)
		sqlite3_bind_null(st, at);
	else if (blob)
		sqlite3_bind_blob64(st, at, s.p, s.n, SQLITE_STATIC);
	else
		sqlite3_bind_text64(st, at, s.p, s.n, SQLITE_STATIC, SQLITE_UTF8);
}

/*
 * A statement keeps what is bound to it, and most columns of a row are what they were in the row
 * before: 0, NULL, the same worker, the same millisecond. Those are not bound again.
 */
static void bind_i64(sqlite3_stmt *st, struct bound *was, int at, int64_t value)
{
	if (was[at].kind == BOUND_NUMBER && was[at].value == value)
		return;
	sqlite3_bind_int64(st, at, value);
	was[at] = (struct bound){value, BOUND_NUMBER};
}

static void bind_str(sqlite3_stmt *st, struct bound *was, int at, struct str s, bool blob)
{
	if (!s.p && was[at].kind == BOUND_NULL)
		return;
	sqlite_bind_str(st, at, s, blob);
	was[at].kind = s.p ? BOUND_BYTES : BOUND_NULL;
}

static void bind_usage(sqlite3_stmt *st, struct bound *was, int at, const struct usage *u)
{
	char text[USAGE_TEXT_MAX];
	struct str s = usage_format(u, text);

	if (!s.p) {
		bind_str(st, was, at, s, false);
		return;
	}
	sqlite3_bind_text64(st, at, s.p, s.n, SQLITE_TRANSIENT, SQLITE_UTF8);
	was[at].kind = BOUND_BYTES;
}

static struct str near_str(const struct column *c, struct str s)
{
	return (c->flags & COLUMN_FAR) && s.n > BODY_NEAR_MAX ? STR_NULL : s;
}

/* Returns what goes into the sum. */
static uint64_t bind_column(
    sqlite3_stmt *st, struct bound *was, int at, const struct column *c, const void *row)
{
	const struct usage *u;
	struct str s;
	int64_t n;

	switch (c->type) {
	case COLUMN_I32:
	case COLUMN_I64:
		n = c->type == COLUMN_I32 ? column_i32(c, row) : column_i64(c, row);
		bind_i64(st, was, at, n);
		return (uint64_t)n;
	case COLUMN_USAGE:
		u = column_usage(c, row);
		bind_usage(st, was, at, u);
		return sum_value_usage(u);
	default:
		s = column_str(c, row);
		bind_str(st, was, at, near_str(c, s), c->type == COLUMN_BLOB);
		return sum_value_str(s);
	}
}

int sqlite_bind_row(sqlite3_stmt *st, struct bound *was, int at, const struct row_table *t,
    const void *row, unsigned flags)
{
	const struct column *c = t->columns;
	struct sums sums;
	uint64_t value;

	sums_begin(&sums);
	for (int i = 0, n = t->n; i < n; i++, c++) {
		if (flags && !(c->flags & flags))
			continue;
		if (c->type == COLUMN_SUM) /* behind all of its set */
			bind_i64(st, was, at, sums_of(&sums, c->flags));
		else if ((value = bind_column(st, was, at, c, row))) /* most are 0 */
			sums_add(&sums, t, c, i, value);
		at++;
	}
	return at;
}

static struct str read_str(sqlite3_stmt *st, int at, struct arena *a)
{
	const void *p;
	size_t n;

	if (sqlite3_column_type(st, at) == SQLITE_NULL)
		return STR_NULL;
	p = sqlite3_column_blob(st, at); /* NULL for an empty one */
	n = p ? (size_t)sqlite3_column_bytes(st, at) : 0;
	return arena_str(a, (struct str){p ? p : "", n});
}

static void read_usage(sqlite3_stmt *st, int at, struct usage *ret_usage)
{
	const char *p = (const char *)sqlite3_column_text(st, at);

	if (p)
		usage_parse((struct str){p, (size_t)sqlite3_column_bytes(st, at)}, ret_usage);
}

/* A row from before there were checksums has none, and is believed. */
static bool holds(sqlite3_stmt *st, int at, int32_t sum)
{
	return sqlite3_column_type(st, at) == SQLITE_NULL || sqlite3_column_int64(st, at) == sum;
}

unsigned sqlite_check_set(sqlite3_stmt *st, const struct row_table *t, unsigned set, void *row)
{
	for (int i = 0; i < t->n; i++) {
		const struct column *c = &t->columns[i];

		if (c->type != COLUMN_SUM || c->flags != set || holds(st, i, row_sum(t, row, set)))
			continue;
		row_blank(t, row, set);
		return 1u << set;
	}
	return 0;
}

/* Returns what goes into the sum. */
static uint64_t read_column(
    sqlite3_stmt *st, int at, const struct column *c, struct arena *a, void *field)
{
	switch (c->type) {
	case COLUMN_I32: return (uint64_t)(*(int32_t *)field = sqlite3_column_int(st, at));
	case COLUMN_I64: return (uint64_t)(*(int64_t *)field = sqlite3_column_int64(st, at));
	case COLUMN_USAGE: read_usage(st, at, field); return sum_value_usage(field);
	default: return sum_value_str(*(struct str *)field = read_str(st, at, a));
	}
}

unsigned sqlite_read_row(sqlite3_stmt *st, const struct row_table *t, unsigned skip_flags,
    struct arena *a, void *ret_row)
{
	unsigned damage = 0, far = 0;
	struct sums sums;
	int at = 0;

	sums_begin(&sums);
	memset(ret_row, 0, t->row_size);
	for (int i = 0; i < t->n; i++) {
		const struct column *c = &t->columns[i];
		uint64_t value;

		if (c->flags & skip_flags)
			continue;
		if (c->type == COLUMN_SUM) { /* behind all of its set */
			if (!holds(st, at, sums_of(&sums, c->flags)))
				damage |= 1u << c->flags;
		} else {
			value = read_column(st, at, c, a, column_at(c, ret_row));
			if (value)
				sums_add(&sums, t, c, i, value);
			else if (c->flags & COLUMN_FAR)
				far |= 1u << (c->flags & COLUMN_SET);
		}
		at++;
	}
	damage &= ~far; /* checked when its long text has been read */
	for (unsigned set = 0; set < COLUMN_SETS; set++)
		if (damage & 1u << set)
			row_blank(t, ret_row, set);
	return damage;
}
