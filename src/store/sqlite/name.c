/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people call a row that is damaged: ids as they are shown, names as they are stored if they
 * can be names. Numbers of rows are for SQLite alone.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "store/sqlite/sqlite.h"

#define NAME_SHOWN_MAX 128

struct str sqlite_stored_name(sqlite3_stmt *st, const struct row_table *t)
{
	const struct column *c = row_name_column(t);
	int at = c ? (int)(c - t->columns) : 0;
	const char *p = c ? (const char *)sqlite3_column_text(st, at) : NULL;
	struct str s = {p, p ? (size_t)sqlite3_column_bytes(st, at) : 0};

	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] > '~')
			return STR_NULL;
	return s.n && s.n <= NAME_SHOWN_MAX ? s : STR_NULL;
}

static void add_id(struct buf *out, const struct id_space *ids, rid id)
{
	char text[ID_TEXT];

	buf_add_cstr(out, id_format(ids, id, text));
}

void sqlite_row_name(const struct row_table *t, const struct id_space *ids,
    const struct sql_found *found, struct buf *out)
{
	const struct column *key = &t->columns[0];

	if (found->name.p)
		buf_add_str(out, found->name);
	else if (t == &stat_table)
		buf_add_cstr(out, "numbers");
	else if (t->has_id || t->belongs_to)
		add_id(out, ids, (rid)column_i64(key, found->row));
	else if (key->type == COLUMN_I64)
		buf_printf(out, "%lld", (long long)column_i64(key, found->row));
}

/* What was damaged may be any bytes, and the words are for terminals. */
void sqlite_escape(struct buf *out, const char *words)
{
	for (; *words; words++)
		if (*words >= ' ' && *words <= '~')
			buf_add_char(out, *words);
		else
			buf_printf(out, "\\x%02x", (unsigned char)*words);
}

/* How long a mention of a row's number is; *ret_is_id: it is the row's key, not its place. */
static size_t row_number(const char *at, rid *ret_number, bool *ret_is_id)
{
	size_t n = strncasecmp(at, "row ", 4) == 0 ? 4 : strncasecmp(at, "rowid ", 6) == 0 ? 6 : 0;
	char *end;

	if (!n || !isdigit((unsigned char)at[n]))
		return 0;
	*ret_is_id = n == 6;
	*ret_number = strtoull(at + n, &end, 10);
	return (size_t)(end - at);
}

void sqlite_clean_words(
    const struct row_table *t, const struct id_space *ids, const char *words, struct buf *out)
{
	bool is_id = false;
	rid number = 0;

	while (*words) {
		size_t n = row_number(words, &number, &is_id);

		if (!n) {
			buf_add_char(out, *words++);
			continue;
		}
		words += n;
		if (is_id && t && t->has_id)
			add_id(out, ids, number);
		else
			buf_add_cstr(out, "a row");
	}
}

/* All zero if nobody knows it: the server does not start then anyway. */
void sqlite_load_ids(sqlite3 *db, struct id_space *ret_ids)
{
	sqlite3_stmt *st = NULL;
	const char *p;

	*ret_ids = (struct id_space){{0}};
	if (sqlite3_prepare_v2(db, "SELECT value FROM meta WHERE name = '" META_INSTALLATION "'",
	        -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW && (p = sqlite3_column_blob(st, 0)) != NULL)
		id_space_parse((struct str){p, (size_t)sqlite3_column_bytes(st, 0)}, ret_ids);
	sqlite3_finalize(st);
}
