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
		default: sqlite_bind_str(st, at, column_str(c, row), c->type == COLUMN_BLOB);
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

void sqlite_read_row(sqlite3_stmt *st, const struct row_table *t, unsigned skip_flags,
    struct arena *a, void *ret_row)
{
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
		default: *(struct str *)field = read_str(st, at, a);
		}
		at++;
	}
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
