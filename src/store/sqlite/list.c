/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists and counts by filter. Values are always bound, never spliced into the text. What is asked
 * of a schedule's tasks, or of dispatched or held ones alone, comes from their index; all else
 * walks the tasks by id, and a list does so in bounded steps.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#define PARAMS_MAX \
	(8 + 2 * FILTER_STATES_MAX + FILTER_LABELS_MAX + TOKEN_LABELS_MAX + TOKEN_QUEUES_MAX)

struct query {
	struct buf sql;
	struct {
		int64_t n;
		struct str s; /* if s.p */
	} params[PARAMS_MAX];
	int n_params;
};

static void query_release(struct query *q)
{
	buf_release(&q->sql);
}

static void param_i64(struct query *q, int64_t n)
{
	MUST(q->n_params < PARAMS_MAX);
	q->params[q->n_params].s = STR_NULL;
	q->params[q->n_params++].n = n;
}

static void term(struct query *q, const char *text, int64_t n)
{
	buf_add_cstr(&q->sql, text);
	param_i64(q, n);
}

static int query_prepare(struct sqlite_reader *r, struct query *q, sqlite3_stmt **ret_stmt)
{
	int rc = sqlite_query(r, q->sql.p, ret_stmt);

	for (int i = 0; i < q->n_params && rc == 0; i++) {
		if (q->params[i].s.p)
			sqlite_bind_str(*ret_stmt, i + 1, q->params[i].s, false);
		else
			sqlite3_bind_int64(*ret_stmt, i + 1, q->params[i].n);
	}
	return rc;
}

/* Does every state asked for stand in the index of dispatched and held tasks? */
static bool only_live(const struct task_filter *f)
{
	for (size_t i = 0; i < f->n_states; i++) {
		int min = f->states[i].min, max = f->states[i].max;

		if (!(max < TASK_ORPHANED || (min == TASK_BLOCKED && max == TASK_BLOCKED) ||
		        (min >= TASK_CLAIMED && max <= TASK_RUNNING)))
			return false;
	}
	return f->n_states > 0;
}

static void add_states(struct query *q, const struct task_filter *f)
{
	for (size_t i = 0; i < f->n_states; i++) {
		term(q, i ? " OR status BETWEEN ?" : " AND (status BETWEEN ?", f->states[i].min);
		term(q, " AND ?", f->states[i].max);
	}
	if (f->n_states)
		buf_add_char(&q->sql, ')');
}

static void add_labels(struct query *q, const struct task_filter *f)
{
	for (size_t i = 0; i < f->n_labels; i++) {
		buf_add_cstr(
		    &q->sql, " AND instr(char(10) || labels, char(10) || ? || char(10)) > 0");
		MUST(q->n_params < PARAMS_MAX);
		q->params[q->n_params++].s = f->labels[i];
	}
}

static void add_among(struct query *q, const struct task_filter *f)
{
	for (size_t i = 0; i < f->n_among; i++)
		term(q, i ? ", ?" : " AND queue IN (?", (int64_t)f->among[i]);
	if (f->n_among)
		buf_add_char(&q->sql, ')');
}

static void add_filter(struct query *q, const struct task_filter *f)
{
	if (f->queue)
		term(q, " AND queue = ?", (int64_t)f->queue);
	add_among(q, f);
	if (f->batch)
		term(q, " AND batch = ?", (int64_t)f->batch);
	if (f->worker)
		term(q, " AND worker = ?", (int64_t)f->worker);
	if (f->ended_before_ms)
		term(q, " AND " ENDED_SQL " AND ended_ms < ?", f->ended_before_ms);
	add_states(q, f);
	add_labels(q, f);
}

/* Ids in [low, high]. A request's tasks are never older than its first, which names the batch. */
struct range {
	int64_t low, high;
};

static struct range range_of(const struct task_filter *f)
{
	struct range g = {1, INT64_MAX};

	if (f->since)
		g.low = (int64_t)f->since;
	if (f->batch && (int64_t)f->batch > g.low)
		g.low = (int64_t)f->batch;
	if (f->until)
		g.high = (int64_t)f->until - 1;
	return g;
}

#define OF_SCHEDULE "INDEXED BY task_schedule WHERE " SCHEDULE_SQL " AND schedule = ?"

static void add_source(struct query *q, const struct task_filter *f, struct range g)
{
	if (f->schedule)
		term(q, OF_SCHEDULE, (int64_t)f->schedule);
	else if (only_live(f))
		buf_add_cstr(&q->sql, "INDEXED BY task_live WHERE " LIVE_SQL);
	else
		buf_add_cstr(&q->sql, "NOT INDEXED WHERE 1");
	term(q, " AND id >= ?", g.low);
	term(q, " AND id <= ?", g.high);
}

/* The id of the last row that one step looks at; 0 when the step reaches the end. */
static int step_end(struct sqlite_reader *r, const struct task_filter *f, struct range g,
    bool oldest_first, int64_t step, int64_t *ret_id)
{
	const struct task_filter source = {.schedule = f->schedule};
	AUTO(query_release) struct query q = {0};
	sqlite3_stmt *st;
	int rc;

	*ret_id = 0;
	buf_add_cstr(&q.sql, "SELECT id FROM task ");
	add_source(&q, &source, g);
	term(&q,
	    oldest_first ? " ORDER BY id LIMIT 1 OFFSET ?" : " ORDER BY id DESC LIMIT 1 OFFSET ?",
	    step - 1);
	if ((rc = query_prepare(r, &q, &st)))
		return rc;
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*ret_id = sqlite3_column_int64(st, 0);
	return sqlite_done(st, rc);
}

/* Is there more to look at than what the source gives? */
static bool filters_rows(const struct task_filter *f)
{
	return f->queue || f->n_among || f->batch || f->worker || f->ended_before_ms ||
	       f->n_states || f->n_labels;
}

static int list_range(struct sqlite_reader *r, const struct task_filter *f, struct range g,
    bool oldest_first, bool bare, uint32_t limit, struct arena *a, struct task_page *page)
{
	AUTO(query_release) struct query q = {0};
	sqlite3_stmt *st;
	int rc;

	buf_add_cstr(&q.sql, sqlite_task_select(bare));
	add_source(&q, f, g);
	add_filter(&q, f);
	term(&q, oldest_first ? " ORDER BY id LIMIT ?" : " ORDER BY id DESC LIMIT ?", limit);
	rc = query_prepare(r, &q, &st);
	return rc ? rc : sqlite_read_tasks(r, st, bare, limit, a, &page->rows, &page->n);
}

int sqlite_task_list(struct store_reader *base, const struct task_filter *f, bool oldest_first,
    bool bare, rid cursor, uint32_t limit, struct arena *a, struct task_page *ret_page)
{
	struct sqlite_reader *r = (struct sqlite_reader *)base;
	struct range g = range_of(f);
	int64_t end = 0;
	int rc = 0;

	if (limit > STORE_SCAN_STEP)
		limit = STORE_SCAN_STEP;
	if (cursor && oldest_first && (int64_t)cursor >= g.low)
		g.low = (int64_t)cursor + 1;
	if (cursor && !oldest_first && (int64_t)cursor <= g.high)
		g.high = (int64_t)cursor - 1;
	if (filters_rows(f) && (f->schedule || !only_live(f)))
		rc = step_end(r, f, g, oldest_first, STORE_SCAN_STEP, &end);
	if (end && oldest_first)
		g.high = end;
	else if (end)
		g.low = end;
	if (rc == 0) /* one more than asked tells whether there is a next page */
		rc = list_range(r, f, g, oldest_first, bare, limit + 1, a, ret_page);
	if (rc)
		return rc;
	if (ret_page->n > limit) {
		ret_page->n = limit;
		ret_page->next = ret_page->rows[limit - 1].id;
	} else {
		ret_page->next = (rid)end;
	}
	return 0;
}

static int read_counts(
    sqlite3_stmt *st, struct arena *a, struct status_count **ret_counts, size_t *ret_n)
{
	size_t n = 0, cap = 0;
	int rc;

	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		if (n == cap) {
			struct status_count *more;

			cap = cap ? cap * 2 : 16;
			more = arena_alloc(a, cap * sizeof *more);
			if (n)
				memcpy(more, *ret_counts, n * sizeof *more);
			*ret_counts = more;
		}
		(*ret_counts)[n++] =
		    (struct status_count){sqlite3_column_int(st, 0), sqlite3_column_int64(st, 1)};
	}
	*ret_n = n;
	return sqlite_done(st, rc);
}

int sqlite_task_count(struct store_reader *base, const struct task_filter *f, struct arena *a,
    struct status_count **ret_counts, size_t *ret_n)
{
	struct sqlite_reader *r = (struct sqlite_reader *)base;
	AUTO(query_release) struct query q = {0};
	sqlite3_stmt *st;
	int rc;

	buf_add_cstr(&q.sql, "SELECT status, count(*) FROM task ");
	add_source(&q, f, range_of(f));
	add_filter(&q, f);
	buf_add_cstr(&q.sql, " GROUP BY status ORDER BY status");
	rc = query_prepare(r, &q, &st);
	return rc ? rc : read_counts(st, a, ret_counts, ret_n);
}

/*
 * There is no cursor to hand back, so where a bounded search ended is remembered in the reader: the
 * next one goes on there, and begins anew once the end was reached.
 */
int sqlite_prunable(struct store_reader *base, rid after, int64_t before_ms, uint32_t limit,
    rid *ret_ids, size_t *ret_n)
{
	struct sqlite_reader *r = (struct sqlite_reader *)base;
	int64_t from = (int64_t)(after > r->prune_seen ? after : r->prune_seen), end;
	struct range g = {from + 1, INT64_MAX};
	sqlite3_stmt *st;
	int rc = step_end(r, &(struct task_filter){0}, g, true, STORE_PRUNE_STEP, &end);

	if (rc == 0)
		rc = sqlite_query(r,
		    "SELECT id FROM task NOT INDEXED WHERE id >= ?1 AND id <= ?2 AND " ENDED_SQL
		    " AND (?3 = 0 OR mtime_ms < ?3) ORDER BY id LIMIT ?4",
		    &st);
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, g.low);
	sqlite3_bind_int64(st, 2, end ? end : INT64_MAX);
	sqlite3_bind_int64(st, 3, before_ms);
	sqlite3_bind_int64(st, 4, limit);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW)
		ret_ids[(*ret_n)++] = (rid)sqlite3_column_int64(st, 0);
	if (*ret_n < limit)
		r->prune_seen = (rid)end;
	return sqlite_done(st, rc);
}
