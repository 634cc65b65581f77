/* SPDX-License-Identifier: Apache-2.0 */
/* What the brain asks about a queue: its head in the queue's order, and what falls due next. */
#include "base/mem.h"
#include "store/sql/read.h"

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

static int walk_part(
    struct sql_reader *r, const struct walk *w, bool beyond, struct sql_rows *found)
{
	AUTO(sql_query_release) struct sql_query q;

	sql_select(&q, r, &task_table, 0);
	sql_add(&q.text, w->source);
	sql_term(&q, " AND queue = ?", (int64_t)w->queue);
	if (w->after) {
		buf_printf(&q.text.out, " AND %s", w->column);
		sql_term(&q, beyond ? " > ?" : " = ?", w->value);
	}
	if (w->after && !beyond)
		sql_term(&q, " AND id > ?", (int64_t)w->id);
	buf_printf(&q.text.out, " ORDER BY %s", w->column);
	sql_term(&q, ", id LIMIT ?", w->limit - (int64_t)found->n);
	return sql_gather(r, &q, 0, found);
}

static int walk_ascending(struct sql_reader *r, const struct walk *w, struct sql_rows *found)
{
	int rc = w->after ? walk_part(r, w, false, found) : 0;

	if (rc == 0 && found->n < w->limit)
		rc = walk_part(r, w, true, found);
	return rc;
}

static int head_ascending(struct sql_reader *r, const struct head_query *q, struct sql_rows *found)
{
	struct walk w = {
	    "{task_ready} WHERE " READY_SQL, "rank", q->queue, q->after, q->rank, q->id, q->limit};

	return walk_ascending(r, &w, found);
}

/* The smallest rank >= min in the queue; *ret_found false when there is none. */
static int next_rank(
    struct sql_reader *r, rid queue, int64_t min, bool *ret_found, int64_t *ret_rank)
{
	AUTO(sql_query_release) struct sql_query q;

	sql_query_begin(&q, r);
	sql_term(&q, "SELECT rank FROM task {task_ready} WHERE queue = ?", (int64_t)queue);
	sql_term(&q, " AND " READY_SQL " AND rank >= ? ORDER BY rank LIMIT 1", min);
	return sql_number(r, &q, ret_found, ret_rank);
}

static int rank_falling(struct sql_reader *r, const struct head_query *q, int64_t rank,
    int64_t below, struct sql_rows *found)
{
	AUTO(sql_query_release) struct sql_query sql;

	sql_select(&sql, r, &task_table, 0);
	sql_term(&sql, "{task_ready} WHERE queue = ?", (int64_t)q->queue);
	sql_term(&sql, " AND " READY_SQL " AND rank = ?", rank);
	sql_term(&sql, " AND id < ?", below);
	sql_term(&sql, " ORDER BY id DESC LIMIT ?", q->limit - (int64_t)found->n);
	return sql_gather(r, &sql, 0, found);
}

/* Ranks rise while ids fall: no index walks both ways, so each rank is walked by itself. */
static int head_lifo(struct sql_reader *r, const struct head_query *q, struct sql_rows *found)
{
	int64_t rank = q->after ? q->rank : INT64_MIN, found_rank = 0, below;
	bool is_found;
	int rc;

	while ((rc = next_rank(r, q->queue, rank, &is_found, &found_rank)) == 0 && is_found) {
		below = q->after && found_rank == q->rank ? (int64_t)q->id : INT64_MAX;
		rc = rank_falling(r, q, found_rank, below, found);
		if (rc || found->n >= q->limit || found_rank == INT64_MAX)
			return rc;
		rank = found_rank + 1;
	}
	return rc;
}

int sql_queue_head(struct store_reader *base, const struct head_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n)
{
	struct sql_reader *r = (struct sql_reader *)base;
	struct sql_rows found = {.t = &task_table, .a = a, .expected = q->limit};
	int rc = r->sql->snapshot_begin(r);

	if (rc)
		return rc;
	rc = q->order == ORDER_LIFO ? head_lifo(r, q, &found) : head_ascending(r, q, &found);
	r->sql->snapshot_end(r);
	*ret_rows = found.rows;
	*ret_n = found.n;
	return rc;
}

int sql_queue_due(struct store_reader *base, const struct due_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n)
{
	struct sql_reader *r = (struct sql_reader *)base;
	struct sql_rows found = {.t = &task_table, .a = a, .expected = q->limit};
	struct walk w = {
	    "{task_due} WHERE " DUE_SQL, "due_ms", q->queue, q->after, q->due_ms, q->id, q->limit};
	int rc = r->sql->snapshot_begin(r);

	if (rc)
		return rc;
	rc = walk_ascending(r, &w, &found);
	r->sql->snapshot_end(r);
	*ret_rows = found.rows;
	*ret_n = found.n;
	return rc;
}
