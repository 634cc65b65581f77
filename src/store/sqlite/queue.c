/* SPDX-License-Identifier: Apache-2.0 */
/* What the brain asks about a queue: its head in the queue's order, and what falls due next. */
#include <stdlib.h>

#include "base/mem.h"
#include "store/sqlite/sqlite.h"

/*
 * Ready tasks by (rank, id), tasks to come by (due_ms, id): the same walk over two indexes. SQLite
 * seeks only the first column of a comparison of pairs, which would make every page walk past all
 * earlier ones of that rank; so the rest of the cursor's own rank and what lies beyond are two
 * questions.
 */
struct walk {
	const char *source; /* index and its condition */
	const char *column;
	rid queue;
	bool after;
	int64_t value;
	rid id;
	uint32_t limit;
};

static int walk_part(struct sqlite_reader *r, const struct walk *w, bool beyond, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n)
{
	AUTO(buf_release) struct buf sql = {0};
	sqlite3_stmt *st;
	int at = 1, rc;

	buf_printf(&sql, "%s%s AND queue = ?", sqlite_task_select(false), w->source);
	if (w->after)
		buf_printf(&sql, beyond ? " AND %s > ?" : " AND %s = ? AND id > ?", w->column);
	buf_printf(&sql, " ORDER BY %s, id LIMIT ?", w->column);
	if ((rc = sqlite_query(r, sql.p, &st)))
		return rc;
	sqlite3_bind_int64(st, at++, (int64_t)w->queue);
	if (w->after)
		sqlite3_bind_int64(st, at++, w->value);
	if (w->after && !beyond)
		sqlite3_bind_int64(st, at++, (int64_t)w->id);
	sqlite3_bind_int64(st, at, w->limit - (int64_t)*ret_n);
	return sqlite_read_tasks(r, st, false, w->limit, a, ret_rows, ret_n);
}

static int walk_ascending(struct sqlite_reader *r, const struct walk *w, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n)
{
	int rc = w->after ? walk_part(r, w, false, a, ret_rows, ret_n) : 0;

	if (rc == 0 && *ret_n < w->limit)
		rc = walk_part(r, w, true, a, ret_rows, ret_n);
	return rc;
}

static int head_ascending(struct sqlite_reader *r, const struct head_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n)
{
	struct walk w = {"INDEXED BY task_ready WHERE " READY_SQL, "rank", q->queue, q->after,
	    q->rank, q->id, q->limit};

	return walk_ascending(r, &w, a, ret_rows, ret_n);
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
	int rc = sqlite_snapshot_begin(r);

	if (rc)
		return rc;
	if (q->order == ORDER_LIFO)
		rc = head_lifo(r, q, a, ret_rows, ret_n);
	else
		rc = head_ascending(r, q, a, ret_rows, ret_n);
	sqlite_snapshot_end(r);
	return rc;
}

int sqlite_queue_due(struct store_reader *base, const struct due_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n)
{
	struct sqlite_reader *r = (struct sqlite_reader *)base;
	struct walk w = {"INDEXED BY task_due WHERE " DUE_SQL, "due_ms", q->queue, q->after,
	    q->due_ms, q->id, q->limit};
	int rc = sqlite_snapshot_begin(r);

	if (rc)
		return rc;
	rc = walk_ascending(r, &w, a, ret_rows, ret_n);
	sqlite_snapshot_end(r);
	return rc;
}
