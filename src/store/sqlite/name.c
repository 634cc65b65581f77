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

static int column_named(const struct row_table *t, const char *name)
{
	for (int i = 0; i < t->n; i++)
		if (strcmp(t->columns[i].name, name) == 0)
			return i;
	return -1;
}

struct str sqlite_stored_text(sqlite3_stmt *st, const struct row_table *t, const char *column)
{
	int at = column_named(t, column);
	const char *p = at < 0 ? NULL : (const char *)sqlite3_column_text(st, at);
	struct str s = {p, p ? (size_t)sqlite3_column_bytes(st, at) : 0};

	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] > '~')
			return STR_NULL;
	return s.n && s.n <= NAME_SHOWN_MAX ? s : STR_NULL;
}

static bool has_id(const struct row_table *t)
{
	return strcmp(t->columns[0].name, "id") == 0;
}

static void add_id(struct buf *out, const struct id_space *ids, rid id)
{
	char text[ID_TEXT];

	buf_add_cstr(out, id_format(ids, id, text));
}

const char *sqlite_name_column(const struct row_table *t)
{
	return t == &worker_table ? "shard" : t == &idem_table ? "idem_key" : "name";
}

void sqlite_row_name(sqlite3_stmt *st, const struct row_table *t, const struct id_space *ids,
    const void *row, struct buf *out)
{
	struct str name =
	    t == &task_table ? STR_NULL : sqlite_stored_text(st, t, sqlite_name_column(t));

	if (name.p)
		buf_add_str(out, name);
	else if (has_id(t) || t == &output_table)
		add_id(out, ids, (rid)column_i64(&t->columns[0], row));
	else if (t == &stat_table)
		buf_add_cstr(out, "numbers");
	else if (t == &tick_table)
		add_id(out, ids, ((const struct tick_row *)row)->schedule);
	else if (t == &event_table)
		buf_printf(out, "%llu", (unsigned long long)((const struct event_row *)row)->seq);
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
		if (is_id && t && has_id(t))
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
