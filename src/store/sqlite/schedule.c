/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules: their end, their live tasks at a start, and what became of their ticks. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/sqlite/sqlite.h"

int sqlite_schedule_delete(struct sqlite_store *s, rid id)
{
	int64_t arg = (int64_t)id;
	int rc = sqlite_run(s, W_SCHEDULE_DELETE_TICKS, &arg, 1);

	s->stat_due = true; /* its id may have been the highest */
	return rc ? rc : sqlite_run(s, W_SCHEDULE_DELETE, &arg, 1);
}

int sqlite_load_schedule_tasks(
    struct sqlite_store *s, const struct store_loader *to, struct problem *ret_problem)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(s->db,
	    "SELECT schedule, id, queue FROM task INDEXED BY task_schedule_live"
	    " WHERE " SCHEDULE_LIVE_SQL " ORDER BY id",
	    -1, &st, NULL);
	int stopped = 0;

	while (!stopped && (rc == SQLITE_OK || rc == SQLITE_ROW)) {
		rc = sqlite3_step(st);
		if (rc != SQLITE_ROW)
			break;
		stopped = to->schedule_task(to->arg, (rid)sqlite3_column_int64(st, 0),
		    (rid)sqlite3_column_int64(st, 1), (rid)sqlite3_column_int64(st, 2));
	}
	if (!stopped && rc != SQLITE_DONE)
		stopped = sqlite_problem(s->db, "the store can not be read", ret_problem);
	sqlite3_finalize(st);
	return stopped;
}

static int read_ticks(
    sqlite3_stmt *st, uint32_t limit, struct arena *a, struct tick_row **ret_rows, size_t *ret_n)
{
	size_t n = 0, cap = 0;
	int rc = SQLITE_DONE;

	while (n < limit && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		if (n == cap) {
			struct tick_row *more;

			cap = cap ? cap * 2 : 16;
			more = arena_alloc(a, cap * sizeof *more);
			if (n)
				memcpy(more, *ret_rows, n * sizeof *more);
			*ret_rows = more;
		}
		if (sqlite_read_row(st, &tick_table, 0, a, &(*ret_rows)[n]))
			(*ret_rows)[n].reason = STR(STORE_DAMAGED);
		n++;
	}
	*ret_n = n;
	return sqlite_done(st, rc);
}

/* Only what is asked stands in the text: a condition that can be switched off uses no index. */
static void ticks_sql(struct buf *sql, const struct tick_query *q)
{
	buf_add_cstr(sql, "SELECT ");
	sqlite_column_list(sql, &tick_table, 0);
	buf_add_cstr(sql, " FROM tick ");
	if (!q->oldest_first)
		buf_add_cstr(sql, "INDEXED BY tick_newest ");
	buf_add_cstr(sql, "WHERE schedule = ?1");
	if (q->from_s || q->to_s)
		buf_add_cstr(sql, q->reaching ? " AND until_s >= ?2" : " AND tick_s >= ?2");
	if (q->to_s)
		buf_add_cstr(sql, " AND tick_s < ?3");
	if (!q->oldest_first && q->after_time_ms)
		buf_add_cstr(sql, " AND (time_ms, tick_s, offset_s) < (?4, ?5, ?6)");
	buf_add_cstr(sql, q->oldest_first
	                      ? " ORDER BY tick_s, offset_s LIMIT ?7"
	                      : " ORDER BY time_ms DESC, tick_s DESC, offset_s DESC LIMIT ?7");
}

int sqlite_ticks(struct store_reader *base, const struct tick_query *q, struct arena *a,
    struct tick_row **ret_rows, size_t *ret_n)
{
	const int64_t args[] = {(int64_t)q->schedule, q->from_s, q->to_s, q->after_time_ms,
	    q->after_tick_s, q->after_offset_s, q->limit};
	AUTO(buf_release) struct buf sql = {0};
	sqlite3_stmt *st;
	int rc;

	ticks_sql(&sql, q);
	if ((rc = sqlite_query((struct sqlite_reader *)base, sql.p, &st)))
		return rc;
	for (int i = 0; i < 7; i++)
		sqlite3_bind_int64(st, i + 1, args[i]);
	return read_ticks(st, q->limit, a, ret_rows, ret_n);
}
