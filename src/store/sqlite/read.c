/* SPDX-License-Identifier: Apache-2.0 */
/* Readers: a connection each, a small cache of statements by their text; queries, and their rows.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/limits.h"
#include "store/sqlite/sqlite.h"

#define ROW_SIZE_MAX 1024
#define NUMBERS_MAX 4

void sqlite_reader_init(struct sqlite_reader *r, sqlite3 *db)
{
	*r = (struct sqlite_reader){
	    .sql = {.base.ops = &store_sqlite, .sql = &sqlite_sql_ops}, .db = db};
}

void sqlite_reader_forget(struct sqlite_reader *r)
{
	for (int i = 0; i < READ_CACHE; i++) {
		sqlite3_finalize(r->cache[i].stmt);
		free(r->cache[i].sql);
	}
}

struct store_reader *sqlite_reader_open(struct store *base, struct problem *ret_problem)
{
	struct sqlite_store *s = (struct sqlite_store *)base;
	struct sqlite_reader *r = xcalloc(1, sizeof *r);

	sqlite_reader_init(r, NULL);
	r->follower = s->follower.started ? &s->follower : NULL;
	if (sqlite_connect(s->path, false, s->nosync, ROLE_READER, &r->db, ret_problem) == 0)
		return &r->sql.base;
	free(r);
	return NULL;
}

void sqlite_reader_close(struct store_reader *base)
{
	struct sqlite_reader *r = (struct sqlite_reader *)base;

	sqlite_search_forget(r);
	sqlite_reader_forget(r);
	sqlite3_close(r->db);
	free(r);
}

/* The statement for this text, out of the cache or in place of the one used longest ago. */
static int query(struct sqlite_reader *r, const char *sql, sqlite3_stmt **ret_stmt)
{
	int oldest = 0;

	r->clock++;
	for (int i = 0; i < READ_CACHE; i++) {
		if (r->cache[i].sql && strcmp(r->cache[i].sql, sql) == 0) {
			r->cache[i].used = r->clock;
			*ret_stmt = r->cache[i].stmt;
			return 0;
		}
		if (r->cache[i].used < r->cache[oldest].used)
			oldest = i;
	}
	sqlite3_finalize(r->cache[oldest].stmt);
	free(r->cache[oldest].sql);
	r->cache[oldest].stmt = NULL;
	r->cache[oldest].sql = NULL;
	r->cache[oldest].used = 0;
	if (sqlite3_prepare_v3(r->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret_stmt, NULL))
		return ERR_STORE;
	r->cache[oldest].stmt = *ret_stmt;
	r->cache[oldest].sql = xstrdup(sql);
	r->cache[oldest].used = r->clock;
	return 0;
}

static int done(sqlite3_stmt *st, int rc)
{
	sqlite3_reset(st);
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : ERR_STORE;
}

static int run_plain(struct sqlite_reader *r, const char *sql)
{
	sqlite3_stmt *st;
	int rc = query(r, sql, &st);

	return rc ? rc : done(st, sqlite3_step(st));
}

static int snapshot_begin(struct sql_reader *base)
{
	struct sqlite_reader *r = (struct sqlite_reader *)base;

	if (!sqlite3_get_autocommit(r->db)) /* one that could not be ended */
		run_plain(r, "ROLLBACK");
	return run_plain(r, "BEGIN");
}

static void snapshot_end(struct sql_reader *base)
{
	run_plain((struct sqlite_reader *)base, "COMMIT");
}

static int prepare(struct sqlite_reader *r, const struct sql_query *q, sqlite3_stmt **ret_stmt)
{
	int rc = query(r, q->text.out.p, ret_stmt);

	for (int i = 0; i < q->n_params && rc == 0; i++) {
		if (q->params[i].s.p)
			sqlite_bind_str(*ret_stmt, i + 1, q->params[i].s, false);
		else
			sqlite3_bind_int64(*ret_stmt, i + 1, q->params[i].n);
	}
	return rc;
}

static int read_far_body(struct sqlite_reader *r, struct arena *a, struct task_row *t)
{
	sqlite3_stmt *st;
	int rc = query(r, "SELECT body FROM task_body WHERE id = ?", &st);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, (int64_t)t->id);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		const char *p = sqlite3_column_blob(st, 0);

		t->spec.body =
		    arena_str(a, (struct str){p ? p : "", (size_t)sqlite3_column_bytes(st, 0)});
	}
	return done(st, rc);
}

/* A row, whole. */
static int read_row(struct sqlite_reader *r, sqlite3_stmt *st, const struct row_table *t,
    unsigned skip_flags, struct arena *a, struct sql_found *found)
{
	struct task_row *task = found->row;
	int rc = 0;

	found->damage = sqlite_read_row(st, t, skip_flags, a, found->row);
	if (t == &task_table && !(skip_flags & (COLUMN_BULKY | COLUMN_FAR)) && !task->spec.body.p &&
	    !(found->damage & DAMAGED_BODY)) {
		rc = read_far_body(r, a, task);
		if (rc == 0 || r->goes_on)
			found->damage |= sqlite_check_set(st, t, COLUMN_BULKY, task);
	}
	found->name = STR_NULL;
	if (found->damage && !skip_flags)
		found->name = arena_str(a, sqlite_stored_name(st, t));
	return r->goes_on ? 0 : rc;
}

static int rows(struct sql_reader *base, const struct sql_query *q, const struct row_table *t,
    unsigned skip_flags, struct arena *a, sql_row_fn *fn, void *arg)
{
	struct sqlite_reader *r = (struct sqlite_reader *)base;
	_Alignas(max_align_t) char row[ROW_SIZE_MAX];
	struct sql_found found = {.row = row};
	sqlite3_stmt *st;
	int step = SQLITE_DONE, err = 0, rc = prepare(r, q, &st);

	MUST(t->row_size <= sizeof row);
	if (rc)
		return rc;
	while (err == 0 && (step = sqlite3_step(st)) == SQLITE_ROW) {
		err = read_row(r, st, t, skip_flags, a, &found);
		if (err == 0)
			err = fn(arg, &found);
	}
	rc = done(st, step);
	return err ? err : rc;
}

static int numbers(
    struct sql_reader *base, const struct sql_query *q, int n, sql_numbers_fn *fn, void *arg)
{
	int64_t values[NUMBERS_MAX];
	sqlite3_stmt *st;
	int step = SQLITE_DONE, err = 0, rc = prepare((struct sqlite_reader *)base, q, &st);

	MUST(n <= NUMBERS_MAX);
	if (rc)
		return rc;
	while (err == 0 && (step = sqlite3_step(st)) == SQLITE_ROW) {
		for (int i = 0; i < n; i++)
			values[i] = sqlite3_column_int64(st, i);
		err = fn(arg, values);
	}
	rc = done(st, step);
	return err ? err : rc;
}

static int problem(struct sql_reader *base, const char *doing, struct problem *ret_problem)
{
	return sqlite_problem(((struct sqlite_reader *)base)->db, doing, ret_problem);
}

const struct sql_ops sqlite_sql_ops = {
    .dialect = &sqlite_dialect,
    .rows = rows,
    .numbers = numbers,
    .snapshot_begin = snapshot_begin,
    .snapshot_end = snapshot_end,
    .problem = problem,
};

int sqlite_output(struct store_reader *base, rid task, int64_t token, int stream, int64_t offset,
    size_t max, struct buf *out, struct output_end *ret_end)
{
	int rc = sql_output(base, task, token, stream, offset, max, out, ret_end);

	/* long output passes through once: its pages must not push out those that are read often */
	if (rc == 0 && ret_end->at - offset >= OUTPUT_CHUNK_BYTES)
		sqlite3_db_release_memory(((struct sqlite_reader *)base)->db);
	return rc;
}

/* Of a long text only the pages that are wanted. */
static int read_far_head(
    struct sqlite_reader *r, rid id, size_t max, struct arena *a, struct str *ret_head)
{
	sqlite3_blob *blob = NULL;
	int rc = sqlite3_blob_open(r->db, "main", "task_body", "body", (sqlite3_int64)id, 0, &blob);
	size_t n;
	char *p;

	if (rc) { /* pruned meanwhile; or its text is what cannot be read, which a look at it tells
		   */
		sqlite3_blob_close(blob);
		return 0;
	}
	n = (size_t)sqlite3_blob_bytes(blob);
	n = n < max ? n : max;
	p = arena_alloc(a, n + 1);
	rc = sqlite3_blob_read(blob, p, (int)n, 0);
	if (rc == SQLITE_OK)
		*ret_head = (struct str){p, n};
	sqlite3_blob_close(blob);
	return 0;
}

int sqlite_task_head(
    struct store_reader *base, rid id, size_t max, struct arena *a, struct str *ret_head)
{
	struct sqlite_reader *r = (struct sqlite_reader *)base;
	sqlite3_stmt *st;
	bool is_far;
	int rc = query(r, "SELECT substr(body, 1, ?2) FROM task WHERE id = ?1", &st);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, (sqlite3_int64)id);
	sqlite3_bind_int64(st, 2, (sqlite3_int64)max);
	rc = sqlite3_step(st);
	is_far = rc == SQLITE_ROW && sqlite3_column_type(st, 0) == SQLITE_NULL;
	if (rc == SQLITE_ROW && !is_far) {
		const char *p = (const char *)sqlite3_column_text(st, 0);

		*ret_head =
		    arena_str(a, (struct str){p ? p : "", (size_t)sqlite3_column_bytes(st, 0)});
	}
	rc = done(st, rc);
	return rc == 0 && is_far ? read_far_head(r, id, max, a, ret_head) : rc;
}

/* A long way passes through once, too. */
int sqlite_prunable(struct store_reader *base, rid after, int64_t before_ms, uint32_t limit,
    rid *ret_ids, size_t *ret_n)
{
	int rc = sql_prunable(base, after, before_ms, limit, ret_ids, ret_n);

	sqlite3_db_release_memory(((struct sqlite_reader *)base)->db);
	return rc;
}

/* Everything there is less everything that lives; the latter stands in the partial indexes. */
int sqlite_count_ended(struct store_reader *base, int64_t *ret_n)
{
	struct sql_reader *r = (struct sql_reader *)base;
	AUTO(sql_query_release) struct sql_query q;

	sql_query_begin(&q, r);
	sql_add(&q.text, "SELECT (SELECT n_tasks FROM stat)"
	                 " + (SELECT count(*) FROM task WHERE id > (SELECT last_id FROM stat))"
	                 " - (SELECT count(*) FROM task {task_ready} WHERE " READY_SQL ")"
	                 " - (SELECT count(*) FROM task {task_due} WHERE " DUE_SQL ")"
	                 " - (SELECT count(*) FROM task {task_live} WHERE " LIVE_SQL ")");
	return sql_number(r, &q, NULL, ret_n);
}

/* A start reads everything once, in order: a large cache would only hold what nobody reads again,
 * in between of what stays. */
static void set_load_cache(sqlite3 *db, bool loading)
{
	sqlite3_exec(db,
	    loading ? "PRAGMA cache_size = -1000" : "PRAGMA cache_size = -" SQLITE_WRITER_CACHE,
	    NULL, NULL, NULL);
}

int sqlite_load(struct store *base, const struct row_loader *to, struct problem *ret_problem)
{
	struct sqlite_store *s = (struct sqlite_store *)base;
	struct sqlite_reader r;
	int rc;

	pthread_mutex_lock(&s->mutex);
	set_load_cache(s->db, true);
	sqlite_reader_init(&r, s->db);
	rc = sql_load(&r.sql, to, s->stat.last_id, s->stat.last_event, ret_problem);
	sqlite_reader_forget(&r);
	set_load_cache(s->db, false);
	pthread_mutex_unlock(&s->mutex);
	return rc;
}
