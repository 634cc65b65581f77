/* SPDX-License-Identifier: Apache-2.0 */
/* Rows to SQLite's parameters and back, by the tables in columns.c. */
#include <stdlib.h>
#include <string.h>

#include "store/sqlite.h"

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

static struct str near_str(const struct column *c, const void *row)
{
	struct str s = column_str(c, row);

	return (c->flags & COLUMN_FAR) && s.n > BODY_NEAR_MAX ? STR_NULL : s;
}

/* The groups that have one of `flags`. */
static unsigned groups_with(unsigned flags)
{
	unsigned groups = 0;

	for (unsigned group = 0; group < COLUMN_GROUPS; group++)
		if (!flags || group & flags)
			groups |= 1u << group;
	return groups;
}

int sqlite_bind_row(
    sqlite3_stmt *st, struct bound *was, const struct row_table *t, const void *row, unsigned flags)
{
	int32_t sums[COLUMN_GROUPS];
	int at = 1;

	row_sums(t, row, groups_with(flags), sums);
	for (int i = 0; i < t->n; i++) {
		const struct column *c = &t->columns[i];

		if (flags && !(c->flags & flags))
			continue;
		switch (c->type) {
		case COLUMN_I32: bind_i64(st, was, at, column_i32(c, row)); break;
		case COLUMN_I64: bind_i64(st, was, at, column_i64(c, row)); break;
		case COLUMN_USAGE: bind_usage(st, was, at, column_usage(c, row)); break;
		case COLUMN_SUM: bind_i64(st, was, at, sums[c->flags]); break;
		default: bind_str(st, was, at, near_str(c, row), c->type == COLUMN_BLOB);
		}
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

/* What the database says the sums are. */
struct stored_sums {
	int64_t of[COLUMN_GROUPS];
	unsigned groups; /* that have one */
};

/* A row from before there were checksums has none, and is believed. */
static void read_sum(sqlite3_stmt *st, int at, unsigned group, struct stored_sums *stored)
{
	if (sqlite3_column_type(st, at) == SQLITE_NULL)
		return;
	stored->of[group] = sqlite3_column_int64(st, at);
	stored->groups |= 1u << group;
}

static unsigned blank_damaged(
    const struct row_table *t, const struct stored_sums *stored, void *row)
{
	int32_t sums[COLUMN_GROUPS];
	unsigned damage = 0;

	row_sums(t, row, stored->groups, sums);
	for (unsigned group = 0; group < COLUMN_GROUPS; group++)
		if (stored->groups & 1u << group && stored->of[group] != sums[group])
			damage |= 1u << group;
	for (unsigned group = 0; damage && group < COLUMN_GROUPS; group++)
		if (damage & 1u << group)
			row_blank(t, row, group);
	return damage;
}

unsigned sqlite_check_group(sqlite3_stmt *st, const struct row_table *t, unsigned group, void *row)
{
	struct stored_sums stored = {.groups = 0};

	for (int i = 0; i < t->n; i++)
		if (t->columns[i].type == COLUMN_SUM && t->columns[i].flags == group)
			read_sum(st, i, group, &stored);
	return blank_damaged(t, &stored, row);
}

unsigned sqlite_read_row(sqlite3_stmt *st, const struct row_table *t, unsigned skip_flags,
    struct arena *a, void *ret_row)
{
	struct stored_sums stored = {.groups = 0};
	unsigned far = 0;
	int at = 0;

	memset(ret_row, 0, t->row_size);
	for (int i = 0; i < t->n; i++) {
		const struct column *c = &t->columns[i];
		void *field = column_at(c, ret_row);

		if (c->flags & skip_flags)
			continue;
		switch (c->type) {
		case COLUMN_I32: *(int32_t *)field = sqlite3_column_int(st, at); break;
		case COLUMN_I64: *(int64_t *)field = sqlite3_column_int64(st, at); break;
		case COLUMN_USAGE: read_usage(st, at, field); break;
		case COLUMN_SUM: read_sum(st, at, c->flags, &stored); break;
		default: *(struct str *)field = read_str(st, at, a);
		}
		if (c->flags & COLUMN_FAR && !column_str(c, ret_row).p)
			far |= 1u << (c->flags & COLUMN_GROUP);
		at++;
	}
	stored.groups &= ~far; /* checked when its long text has been read */
	return blank_damaged(t, &stored, ret_row);
}

void sqlite_column_list(struct buf *sql, const struct row_table *t, unsigned skip_flags)
{
	const char *comma = "";

	for (int i = 0; i < t->n; i++) {
		if (t->columns[i].flags & skip_flags)
			continue;
		buf_printf(sql, "%s%s", comma, t->columns[i].name);
		comma = ", ";
	}
}

void sqlite_put_sql(struct buf *sql, const char *verb, const struct row_table *t)
{
	buf_printf(sql, "%s INTO %s (", verb, t->name);
	sqlite_column_list(sql, t, 0);
	buf_add_cstr(sql, ") VALUES (");
	for (int i = 0; i < t->n; i++)
		buf_add_cstr(sql, i ? ", ?" : "?");
	buf_add_char(sql, ')');
}

void sqlite_update_sql(struct buf *sql, const struct row_table *t)
{
	const char *before = " SET ";

	buf_printf(sql, "UPDATE %s", t->name);
	for (int i = 0; i < t->n; i++) {
		if (!(t->columns[i].flags & COLUMN_STATE))
			continue;
		buf_printf(sql, "%s%s = ?", before, t->columns[i].name);
		before = ", ";
	}
	buf_add_cstr(sql, " WHERE id = ?");
}
