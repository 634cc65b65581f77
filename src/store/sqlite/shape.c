/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the schema the one that our migrations make? Its text lies in the database and can be damaged
 * like everything else; a wrong letter may make a key no key, and SQLite follows it. It is held
 * against a schema that is made anew, in memory: columns one by one, for a text that was altered
 * may be spelt in several ways; indexes by their text. What others have added is not looked at.
 */
#include <string.h>

#include "base/mem.h"
#include "store/sqlite/sqlite.h"

static const char shape_sql[] =
    "SELECT s.name || ' column ' || x.name || ' ' || x.type || ' ' || x.\"notnull\" || ' ' ||"
    " ifnull(x.dflt_value, '') || ' ' || x.pk"
    " FROM sqlite_schema s, pragma_table_xinfo(s.name) x WHERE s.type = 'table'"
    " UNION ALL SELECT tbl_name || ' index ' || sql FROM sqlite_schema WHERE type = 'index'"
    " AND sql IS NOT NULL ORDER BY 1";

static const char *next_line(sqlite3_stmt *st, int *rc)
{
	const char *line;

	*rc = sqlite3_step(st);
	line = *rc == SQLITE_ROW ? (const char *)sqlite3_column_text(st, 0) : NULL;
	return line;
}

/* Both in order: the first of `wanted` that is not among `there`. */
static int first_missing(sqlite3_stmt *wanted, sqlite3_stmt *there, struct buf *ret_what)
{
	int rc_wanted, rc_there = SQLITE_ROW;
	const char *line, *other = next_line(there, &rc_there);

	while ((line = next_line(wanted, &rc_wanted))) {
		while (other && strcmp(other, line) < 0)
			other = next_line(there, &rc_there);
		if (!other && rc_there != SQLITE_DONE)
			return ERR_STORE;
		if (!other || strcmp(other, line) != 0) {
			buf_printf(ret_what, "it lacks %.150s", line);
			return 0;
		}
	}
	return rc_wanted == SQLITE_DONE ? 0 : ERR_STORE;
}

static int compare(sqlite3 *model, sqlite3 *db, struct buf *ret_what)
{
	sqlite3_stmt *wanted = NULL, *there = NULL;
	int rc = ERR_STORE;

	if (sqlite3_prepare_v2(model, shape_sql, -1, &wanted, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, shape_sql, -1, &there, NULL) == SQLITE_OK)
		rc = first_missing(wanted, there, ret_what);
	sqlite3_finalize(wanted);
	sqlite3_finalize(there);
	return rc;
}

void sqlite_check_shape(sqlite3 *db, struct buf *ret_what)
{
	static const struct store_options make = {.create = true, .migrate = true};
	struct problem p = {0};
	sqlite3 *model = NULL;

	if (sqlite_connect(":memory:", true, true, ROLE_MIGRATION, &model, &p) == 0 &&
	    sqlite_prepare_schema(model, ":memory:", &make, &p) == 0 &&
	    compare(model, db, ret_what) != 0)
		buf_add_cstr(ret_what, sqlite3_errmsg(db));
	if (p.code)
		buf_add_cstr(ret_what, p.what);
	sqlite3_close(model);
}
