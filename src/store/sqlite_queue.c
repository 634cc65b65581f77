/* SPDX-License-Identifier: Apache-2.0 */
/* What the brain asks about a queue: its head in the queue's order, and what falls due next. */
#include <stdlib.h>

#include "base/mem.h"
#include "store/sqlite.h"

static int head_ascending(struct sqlite_reader *r, const struct head_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n)
{
	AUTO(buf_release) struct buf sql = {0};
	sqlite3_stmt *st;
	int at = 2, rc;

	buf_printf(&sql,
	    "%sINDEXED BY task_ready WHERE queue = ? AND " READY_SQL "%s"
	    " ORDER BY rank, id LIMIT ?",
	    sqlite_task_select(false), q->after ? " AND (rank, id) > (?, ?)" : "");
	if ((rc = sqlite_query(r, sql.p, &st)))
		return rc;
	sqlite3_bind_int64(st, 1, (int64_t)q->queue);
	if (q->after) {
		sqlite3_bind_int64(st, at++, q->rank);
		sqlite3_bind_int64(st, at++, (int64_t)q->id);
	}
	sqlite3_bind_int64(st, at, q->limit);
	return sqlite_read_tasks(r, st, false, q->limit, a, ret_rows, ret_n);
}

/* The smallest rank >= min in the queue; *ret_found false when there is none. */
static int next_rank(
    struct sqlite_reader *r, rid queue, int64_t min, bool *ret_found, int64_t *ret_rank)
{
	sqlite3_stmt *st;
	int rc = sqlite_query(r,
	    "SELECT rank FROM task INDEXED BY task_ready WHERE queue = ? AND " READY_SQL
	    " AND rank >= ? ORDER BY rank LIMIT 1",
	    &st);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, (int64_t)queue);
	sqlite3_bind_int64(st, 2, min);
	rc = sqlite3_step(st);
	*ret_found = rc == SQLITE_ROW;
	if (*ret_found)
		*ret_rank = sqlite3_column_int64(st, 0);
	return sqlite_done(st, rc);
}

/* Ranks rise while ids fall: no index walks both ways, so each rank is walked by itself. */
static int head_lifo(struct sqlite_reader *r, const struct head_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n)
{
	AUTO(buf_release) struct buf sql = {0};
	int64_t rank = q->after ? q->rank : INT64_MIN, found_rank = 0, below;
	sqlite3_stmt *st;
	bool found;
	int rc;

	buf_printf(&sql,
	    "%sINDEXED BY task_ready WHERE queue = ? AND " READY_SQL
	    " AND rank = ? AND id < ? ORDER BY id DESC LIMIT ?",
	    sqlite_task_select(false));
	while ((rc = next_rank(r, q->queue, rank, &found, &found_rank)) == 0 && found) {
		below = q->after && found_rank == q->rank ? (int64_t)q->id : INT64_MAX;
		if ((rc = sqlite_query(r, sql.p, &st)))
			return rc;
		sqlite3_bind_int64(st, 1, (int64_t)q->queue);
		sqlite3_bind_int64(st, 2, found_rank);
		sqlite3_bind_int64(st, 3, below);
		sqlite3_bind_int64(st, 4, q->limit - (int64_t)*ret_n);
		rc = sqlite_read_tasks(r, st, false, q->limit, a, ret_rows, ret_n);
		if (rc || *ret_n >= q->limit || found_rank == INT64_MAX)
			return rc;
		rank = found_rank + 1;
	}
	return rc;
}

int sqlite_queue_head(struct store_reader *base, const struct head_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n)
{
	struct sqlite_reader *r = (struct sqlite_reader *)base;

	if (q->order == ORDER_LIFO)
		return head_lifo(r, q, a, ret_rows, ret_n);
	return head_ascending(r, q, a, ret_rows, ret_n);
}

int sqlite_queue_due(struct store_reader *base, const struct due_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n)
{
	struct sqlite_reader *r = (struct sqlite_reader *)base;
	AUTO(buf_release) struct buf sql = {0};
	sqlite3_stmt *st;
	int at = 2, rc;

	buf_printf(&sql,
	    "%sINDEXED BY task_due WHERE queue = ? AND " DUE_SQL "%s"
	    " ORDER BY due_ms, id LIMIT ?",
	    sqlite_task_select(false), q->after ? " AND (due_ms, id) > (?, ?)" : "");
	if ((rc = sqlite_query(r, sql.p, &st)))
		return rc;
	sqlite3_bind_int64(st, 1, (int64_t)q->queue);
	if (q->after) {
		sqlite3_bind_int64(st, at++, q->due_ms);
		sqlite3_bind_int64(st, at++, (int64_t)q->id);
	}
	sqlite3_bind_int64(st, at, q->limit);
	return sqlite_read_tasks(r, st, false, q->limit, a, ret_rows, ret_n);
}
