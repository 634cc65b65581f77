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

static void bind_usage(sqlite3_stmt *st, int at, const struct usage *u)
{
	char text[USAGE_TEXT_MAX];
	struct str s = usage_format(u, text);

	if (s.p)
		sqlite3_bind_text64(st, at, s.p, s.n, SQLITE_TRANSIENT, SQLITE_UTF8);
	else
		sqlite3_bind_null(st, at);
}

static void bind_text(sqlite3_stmt *st, int at, const struct column *c, struct str s)
{
	bool far = (c->flags & COLUMN_FAR) && s.n > BODY_NEAR_MAX;

	sqlite_bind_str(st, at, far ? STR_NULL : s, c->type == COLUMN_BLOB);
}

int sqlite_bind_row(
    sqlite3_stmt *st, int at, const struct row_table *t, const void *row, unsigned flags)
{
	for (int i = 0; i < t->n; i++) {
		const struct column *c = &t->columns[i];

		if (flags && !(c->flags & flags))
			continue;
		switch (c->type) {
		case COLUMN_I32: sqlite3_bind_int(st, at, column_i32(c, row)); break;
		case COLUMN_I64: sqlite3_bind_int64(st, at, column_i64(c, row)); break;
		case COLUMN_USAGE: bind_usage(st, at, column_usage(c, row)); break;
		case COLUMN_SUM: sqlite3_bind_int(st, at, row_sum(t, row, c->flags)); break;
		default: bind_text(st, at, c, column_str(c, row));
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

/* A row from before there were checksums has none, and is believed. */
static bool holds(
    sqlite3_stmt *st, int at, const struct row_table *t, const void *row, unsigned group)
{
	return sqlite3_column_type(st, at) == SQLITE_NULL ||
	       sqlite3_column_int64(st, at) == row_sum(t, row, group);
}

unsigned sqlite_check_group(sqlite3_stmt *st, const struct row_table *t, unsigned group, void *row)
{
	for (int i = 0; i < t->n; i++) {
		const struct column *c = &t->columns[i];

		if (c->type != COLUMN_SUM || c->flags != group || holds(st, i, t, row, group))
			continue;
		row_blank(t, row, group);
		return 1u << group;
	}
	return 0;
}

/* Is the group's long text elsewhere? Then it is checked when it has been read. */
static bool is_far(const struct row_table *t, const void *row, unsigned group)
{
	for (int i = 0; i < t->n; i++)
		if ((t->columns[i].flags & COLUMN_FAR) &&
		    (t->columns[i].flags & COLUMN_GROUP) == group)
			return !column_str(&t->columns[i], row).p;
	return false;
}

unsigned sqlite_read_row(sqlite3_stmt *st, const struct row_table *t, unsigned skip_flags,
    struct arena *a, void *ret_row)
{
	unsigned damage = 0;
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
		case COLUMN_SUM: /* behind all of its group */
			if (!is_far(t, ret_row, c->flags) && !holds(st, at, t, ret_row, c->flags))
				damage |= 1u << c->flags;
			break;
		default: *(struct str *)field = read_str(st, at, a);
		}
		at++;
	}
	for (unsigned group = 0; group <= COLUMN_GROUP; group++)
		if (damage & 1u << group)
			row_blank(t, ret_row, group);
	return damage;
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
