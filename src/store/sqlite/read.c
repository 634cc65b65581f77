/* SPDX-License-Identifier: Apache-2.0 */
/* Readers: a connection each, a small cache of statements by their text, and the simple lookups. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/sqlite/sqlite.h"

struct store_reader *sqlite_reader_open(struct store *base, struct problem *ret_problem)
{
	struct sqlite_store *s = (struct sqlite_store *)base;
	struct sqlite_reader *r = xcalloc(1, sizeof *r);

	r->base.ops = &store_sqlite;
	if (sqlite_connect(s->path, false, s->nosync, ROLE_READER, &r->db, ret_problem) == 0)
		return &r->base;
	free(r);
	return NULL;
}

void sqlite_reader_close(struct store_reader *base)
{
	struct sqlite_reader *r = (struct sqlite_reader *)base;

	for (int i = 0; i < READ_CACHE; i++) {
		sqlite3_finalize(r->cache[i].stmt);
		free(r->cache[i].sql);
	}
	sqlite3_close(r->db);
	free(r);
}

/* The statement for this text, out of the cache or in place of the one used longest ago. */
int sqlite_query(struct sqlite_reader *r, const char *sql, sqlite3_stmt **ret_stmt)
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

int sqlite_done(sqlite3_stmt *st, int rc)
{
	sqlite3_reset(st);
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : ERR_STORE;
}

static int run_plain(struct sqlite_reader *r, const char *sql)
{
	sqlite3_stmt *st;
	int rc = sqlite_query(r, sql, &st);

	return rc ? rc : sqlite_done(st, sqlite3_step(st));
}

int sqlite_snapshot_begin(struct sqlite_reader *r)
{
	if (!sqlite3_get_autocommit(r->db)) /* one that could not be ended */
		run_plain(r, "ROLLBACK");
	return run_plain(r, "BEGIN");
}

void sqlite_snapshot_end(struct sqlite_reader *r)
{
	run_plain(r, "COMMIT");
}

static pthread_once_t texts_once = PTHREAD_ONCE_INIT;
static char *task_select[2];

static void make_texts(void)
{
	for (int bare = 0; bare < 2; bare++) {
		struct sql_text sql = {.dialect = &sqlite_dialect};

		sql_add_select(&sql, &task_table, bare ? COLUMN_BULKY : 0);
		task_select[bare] = buf_take(&sql.out);
	}
}

const char *sqlite_task_select(bool bare)
{
	pthread_once(&texts_once, make_texts);
	return task_select[bare];
}

static int read_far_body(struct sqlite_reader *r, struct arena *a, struct task_row *t)
{
	sqlite3_stmt *st;
	int rc = sqlite_query(r, "SELECT body FROM task_body WHERE id = ?", &st);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, (int64_t)t->id);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		const char *p = sqlite3_column_blob(st, 0);

		t->spec.body =
		    arena_str(a, (struct str){p ? p : "", (size_t)sqlite3_column_bytes(st, 0)});
	}
	return sqlite_done(st, rc);
}

static int read_task(
    struct sqlite_reader *r, sqlite3_stmt *st, bool bare, struct arena *a, struct task_row *t)
{
	unsigned damage = sqlite_read_row(st, &task_table, bare ? COLUMN_BULKY : 0, a, t);
	int rc = 0;

	if (!bare && !t->spec.body.p && !(damage & DAMAGED_BODY)) {
		rc = read_far_body(r, a, t);
		if (rc == 0)
			damage |= sqlite_check_group(st, &task_table, COLUMN_BULKY, t);
	}
	t->damage = damage;
	return rc;
}

int sqlite_read_tasks(struct sqlite_reader *r, sqlite3_stmt *st, bool bare, uint32_t limit,
    struct arena *a, struct task_row **ret_rows, size_t *ret_n)
{
	struct task_row *rows = *ret_rows;
	size_t n = *ret_n, cap = n;
	int rc = SQLITE_DONE, err = 0;

	while (n < limit && err == 0 && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		if (n == cap) {
			struct task_row *more;

			cap = cap ? cap * 2 : 16;
			more = arena_alloc(a, cap * sizeof *more);
			if (n)
				memcpy(more, rows, n * sizeof *rows);
			rows = more;
		}
		err = read_task(r, st, bare, a, &rows[n]);
		n++;
	}
	*ret_rows = rows;
	*ret_n = n;
	rc = sqlite_done(st, rc);
	return err ? err : rc;
}

int sqlite_task_get(struct store_reader *base, rid id, struct arena *a, struct task_row *ret_row)
{
	struct sqlite_reader *r = (struct sqlite_reader *)base;
	AUTO(buf_release) struct buf sql = {0};
	struct task_row *rows = NULL;
	sqlite3_stmt *st;
	size_t n = 0;
	int rc;

	buf_printf(&sql, "%sWHERE id = ?", sqlite_task_select(false));
	if ((rc = sqlite_query(r, sql.p, &st)))
		return rc;
	sqlite3_bind_int64(st, 1, (int64_t)id);
	rc = sqlite_read_tasks(r, st, false, 1, a, &rows, &n);
	if (rc == 0 && n == 0)
		return ERR_NOT_FOUND;
	if (rc == 0)
		*ret_row = rows[0];
	return rc;
}

int sqlite_find_key(struct store_reader *base, rid queue, struct str key, rid *ret_id)
{
	struct sqlite_reader *r = (struct sqlite_reader *)base;
	sqlite3_stmt *st;
	int rc = sqlite_query(r,
	    "SELECT id FROM task INDEXED BY task_key WHERE queue = ? AND unique_key = ? "
	    "AND " KEY_SQL " ORDER BY id LIMIT 1",
	    &st);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, (int64_t)queue);
	sqlite_bind_str(st, 2, key, false);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*ret_id = (rid)sqlite3_column_int64(st, 0);
	return sqlite_done(st, rc);
}

int sqlite_find_idem(
    struct store_reader *base, struct str key, struct arena *a, struct idem_row *ret_row)
{
	struct sqlite_reader *r = (struct sqlite_reader *)base;
	sqlite3_stmt *st;
	unsigned damage;
	bool found;
	int rc = sqlite_query(r,
	    "SELECT idem_key, fingerprint, time_ms, result, sum FROM idem WHERE idem_key = ?", &st);

	if (rc)
		return rc;
	sqlite_bind_str(st, 1, key, false);
	rc = sqlite3_step(st);
	found = rc == SQLITE_ROW;
	damage = found ? sqlite_read_row(st, &idem_table, 0, a, ret_row) : 0;
	rc = sqlite_done(st, rc);
	if (damage) /* what it was answered with is not known, and must not be done twice */
		*ret_row = (struct idem_row){.key = arena_str(a, key), .damaged = true};
	return rc == 0 && !found ? ERR_NOT_FOUND : rc;
}

/* Everything there is less everything that lives; the latter stands in the partial indexes. */
int sqlite_count_ended(struct store_reader *base, int64_t *ret_n)
{
	struct sqlite_reader *r = (struct sqlite_reader *)base;
	sqlite3_stmt *st;
	int rc = sqlite_query(r,
	    "SELECT (SELECT n_tasks FROM stat)"
	    " + (SELECT count(*) FROM task WHERE id > (SELECT last_id FROM stat))"
	    " - (SELECT count(*) FROM task INDEXED BY task_ready WHERE " READY_SQL ")"
	    " - (SELECT count(*) FROM task INDEXED BY task_due WHERE " DUE_SQL ")"
	    " - (SELECT count(*) FROM task INDEXED BY task_live WHERE " LIVE_SQL ")",
	    &st);

	if (rc)
		return rc;
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*ret_n = sqlite3_column_int64(st, 0);
	return sqlite_done(st, rc);
}
