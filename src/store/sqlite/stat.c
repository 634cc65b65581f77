/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers that cannot be read off the tables, in a row of their own: see 0001_up.sql. They are
 * counted in memory, and written now and then.
 */
#include "base/mem.h"
#include "base/world/log.h"
#include "store/sqlite/sqlite.h"

static const struct column stat_columns[] = {
    COLUMN_OF(sqlite_stat, I64, "last_id", last_id, 0),
    COLUMN_OF(sqlite_stat, I64, "last_event", last_event, 0),
    COLUMN_OF(sqlite_stat, I64, "n_tasks", n_tasks, 0),
    COLUMN_SUM_OF("sum", 0),
};
const struct row_table stat_table = {ROW_TABLE(N_TABLES, "stat", sqlite_stat, stat_columns)};

int sqlite_save_stat(struct sqlite_store *s)
{
	struct bound none[N_COLUMNS(stat_columns) + 1] = {{0}};
	sqlite3_stmt *st;
	int rc = sqlite_stmt(s, W_STAT_PUT, &st);

	if (rc)
		return rc;
	sqlite_bind_row(st, none, 1, &stat_table, &s->stat, 0);
	return sqlite_step_once(st);
}

enum stat_row { STAT_FITS, STAT_UNSUMMED, STAT_DAMAGED };

static enum stat_row read_stat(struct sqlite_store *s, struct sqlite_stat *ret_stat)
{
	enum stat_row is = STAT_DAMAGED;
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(
	    s->db, "SELECT last_id, last_event, n_tasks, sum FROM stat", -1, &st, NULL);

	if (rc == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW &&
	    sqlite_read_row(st, &stat_table, 0, NULL, ret_stat) == 0)
		is = sqlite3_column_type(st, 3) == SQLITE_NULL ? STAT_UNSUMMED : STAT_FITS;
	sqlite3_finalize(st);
	return is;
}

/* The numbers do not fit their checksum, or are gone: what can be counted is counted. Those of a
 * new store have no checksum yet: from now on a change of them shows. */
static int mend_stat(struct sqlite_store *s, struct problem *ret_problem)
{
	struct sqlite_stat stat = {0};
	enum stat_row is = read_stat(s, &stat);
	int rc = 0;

	if (is == STAT_FITS)
		return 0;
	if (is == STAT_DAMAGED) {
		log_error("the store's numbers are damaged: they are counted anew");
		stat = (struct sqlite_stat){0};
		rc = sqlite_exec_i64(
		    s->db, "SELECT count(*) FROM task NOT INDEXED", &stat.n_tasks, ret_problem);
		if (rc == 0)
			rc = sqlite_exec_i64(s->db, "SELECT ifnull(max(id), 0) FROM task",
			    (int64_t *)&stat.last_id, ret_problem);
	}
	s->stat = stat;
	if (rc == 0 && sqlite_save_stat(s))
		rc = sqlite_problem(s->db, "the store cannot be written", ret_problem);
	return rc;
}

/* The row, and what came after it was last written. */
static void add_stat_sql(struct buf *sql)
{
	buf_add_cstr(sql, "SELECT max(last_id");
	for (int i = 0; i < N_TABLES; i++)
		if (row_tables[i]->has_id)
			buf_printf(sql, ", (SELECT ifnull(max(%s), 0) FROM %s)",
			    row_tables[i]->columns[0].name, row_tables[i]->name);
	buf_add_cstr(sql, "), max(last_event, (SELECT ifnull(max(seq), 0) FROM event)),"
	                  " n_tasks + (SELECT count(*) FROM task WHERE id > last_id), last_id, "
	                  "n_tasks FROM stat");
}

int sqlite_load_stat(struct sqlite_store *s, struct problem *ret_problem)
{
	AUTO(buf_release) struct buf sql = {0};
	sqlite3_stmt *st = NULL;
	int rc = mend_stat(s, ret_problem);

	if (rc)
		return rc;
	add_stat_sql(&sql);
	rc = sqlite3_prepare_v2(s->db, sql.p, -1, &st, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		s->stat.last_id = (rid)sqlite3_column_int64(st, 0);
		s->stat.last_event = (uint64_t)sqlite3_column_int64(st, 1);
		s->stat.n_tasks = sqlite3_column_int64(st, 2);
		s->stat_committed = s->stat_saved = s->stat;
		s->stat_saved.last_id = (rid)sqlite3_column_int64(st, 3);
		s->stat_saved.n_tasks = sqlite3_column_int64(st, 4);
	}
	sqlite3_finalize(st);
	if (rc == SQLITE_ROW)
		return 0;
	return sqlite_problem(s->db, "the store cannot be read", ret_problem);
}
