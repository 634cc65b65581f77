/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of tasks: their rows, and how their tasks stand. */
#include "base/mem.h"
#include "store/sql/read.h"

/*
 * From before batches had rows: as long as there are tasks of it, it is there. They lie side by
 * side from the batch's id on, so that nobody has to look far.
 */
static int old_batch(struct sql_reader *r, rid id, struct task_batch_row *ret_row)
{
	AUTO(sql_query_release) struct sql_query q;
	bool found;
	int64_t one;
	int rc;

	sql_query_begin(&q, r);
	sql_term(&q, "SELECT 1 FROM (SELECT batch FROM task {} WHERE id >= ?", (int64_t)id);
	sql_term(&q, " ORDER BY id LIMIT ?) AS near", STORE_SCAN_STEP);
	sql_term(&q, " WHERE batch = ? LIMIT 1", (int64_t)id);
	rc = sql_number(r, &q, &found, &one);
	if (rc || !found)
		return rc ? rc : ERR_NOT_FOUND;
	*ret_row = (struct task_batch_row){.id = id, .ctime_ms = id_time_ms(id), .is_old = true};
	return 0;
}

int sql_batch_get(
    struct store_reader *base, rid id, struct arena *a, struct task_batch_row *ret_row)
{
	struct sql_reader *r = (struct sql_reader *)base;
	struct sql_rows found = {.t = &task_batch_table, .a = a};
	AUTO(sql_query_release) struct sql_query q;
	int rc;

	sql_select(&q, r, &task_batch_table, 0);
	sql_term(&q, "WHERE id = ?", (int64_t)id);
	rc = sql_gather(r, &q, 0, &found);
	if (rc == 0 && found.n == 0)
		return old_batch(r, id, ret_row);
	if (rc == 0)
		*ret_row = *(struct task_batch_row *)found.rows;
	return rc;
}

/* Behind all names that begin so, and before all others: UTF-8 has no such byte. */
static struct str past_prefix(struct arena *a, struct str prefix)
{
	return arena_strf(a, STR_FMT "\xff", STR_ARG(prefix));
}

int sql_batch_list(struct store_reader *base, const struct batch_query *q, struct arena *a,
    struct batch_page *ret_page)
{
	struct sql_reader *r = (struct sql_reader *)base;
	struct sql_rows found = {.t = &task_batch_table, .a = a};
	AUTO(sql_query_release) struct sql_query sql;
	int rc;

	sql_select(&sql, r, &task_batch_table, 0);
	if (q->name.p && q->whole) {
		sql_term_str(
		    &sql, "{task_batch_name} WHERE name IS NOT NULL AND name = ?", q->name);
	} else if (q->name.p) {
		sql_term_str(
		    &sql, "{task_batch_name} WHERE name IS NOT NULL AND name >= ?", q->name);
		sql_term_str(&sql, " AND name < ?", past_prefix(a, q->name));
	} else {
		sql_add(&sql.text, "{} WHERE 1 = 1");
	}
	if (q->before)
		sql_term(&sql, " AND id < ?", (int64_t)q->before);
	sql_term(&sql, " ORDER BY id DESC LIMIT ?", q->limit);
	rc = sql_gather(r, &sql, 0, &found);
	*ret_page = (struct batch_page){found.rows, found.n};
	return rc;
}

struct counts {
	struct arena *a;
	struct pace_count *rows;
	size_t n, cap;
};

static int add_count(void *arg, const int64_t *numbers)
{
	struct counts *c = arg;

	c->rows = arena_room(c->a, c->rows, c->n, &c->cap, sizeof *c->rows);
	c->rows[c->n++] =
	    (struct pace_count){(int32_t)numbers[0], numbers[1], numbers[2], numbers[3]};
	return 0;
}

int sql_task_pace(struct store_reader *base, const struct task_filter *f, int64_t since_ms,
    struct arena *a, struct pace_count **ret_counts, size_t *ret_n)
{
	struct sql_reader *r = (struct sql_reader *)base;
	struct counts counts = {.a = a};
	AUTO(sql_query_release) struct sql_query q;
	int rc;

	sql_query_begin(&q, r);
	sql_term(&q,
	    "SELECT status, count(*), max(mtime_ms),"
	    " sum(CASE WHEN mtime_ms >= ? THEN 1 ELSE 0 END) FROM task ",
	    since_ms);
	sql_add_matching(&q, f);
	sql_add(&q.text, " GROUP BY status ORDER BY status");
	rc = r->sql->numbers(r, &q, 4, add_count, &counts);
	*ret_counts = counts.rows;
	*ret_n = counts.n;
	return rc;
}
