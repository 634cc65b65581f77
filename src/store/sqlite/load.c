/* SPDX-License-Identifier: Apache-2.0 */
/* What the brain must know at start. Only live tasks are looked at, through their indexes. */
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

struct load {
	struct sqlite_store *s;
	struct sqlite_reader *reader;
	const struct store_loader *to;
	struct id_space ids;
};

/* Every row handed over; its strings live until the next. */
static int each_row(
    struct load *l, const struct row_table *t, const char *rest, struct problem *ret_problem)
{
	AUTO(arena_release) struct arena a = {0};
	AUTO(sql_text_release) struct sql_text sql = {.dialect = &sqlite_dialect};
	void *row = arena_alloc(&a, t->row_size);
	AUTO(arena_release) struct arena strings = {0};
	struct quarantine q = {.ids = &l->ids, .arena = &strings};
	int rc, stopped = 0;

	sql_add_select(&sql, t, 0);
	sql_add(&sql, rest);
	rc = sqlite3_prepare_v2(l->s->db, sql.out.p, -1, &q.st, NULL);
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(q.st);
		if (rc != SQLITE_ROW)
			break;
		arena_reset(&strings);
		q.damage = sqlite_read_row(q.st, t, 0, &strings, row);
		if (q.damage && (stopped = sqlite_quarantine(&q, t, row, ret_problem)))
			break;
		if ((stopped = l->to->row(l->to->arg, t, row)))
			break;
	}
	if (!stopped && rc != SQLITE_DONE)
		stopped = sqlite_problem(l->s->db, "the store can not be read", ret_problem);
	sqlite3_finalize(q.st);
	return stopped;
}

static int load_counts(struct load *l, struct problem *ret_problem)
{
	static const char sql[] =
	    "SELECT queue, status, sum(n) FROM ("
	    "SELECT queue, -2 AS status, count(*) AS n FROM task INDEXED BY task_ready"
	    " WHERE " READY_SQL " GROUP BY queue UNION ALL "
	    "SELECT queue, -2, count(*) FROM task INDEXED BY task_due"
	    " WHERE " DUE_SQL " GROUP BY queue UNION ALL "
	    "SELECT queue, status, count(*) FROM task INDEXED BY task_live"
	    " WHERE " LIVE_SQL " GROUP BY queue, status"
	    ") GROUP BY queue, status ORDER BY queue, status";
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(l->s->db, sql, -1, &st, NULL), stopped = 0;

	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(st);
		if (rc != SQLITE_ROW)
			break;
		stopped = l->to->count(l->to->arg, (rid)sqlite3_column_int64(st, 0),
		    sqlite3_column_int(st, 1), sqlite3_column_int64(st, 2));
		if (stopped)
			break;
	}
	if (!stopped && rc != SQLITE_DONE)
		stopped = sqlite_problem(l->s->db, "the store can not be read", ret_problem);
	sqlite3_finalize(st);
	return stopped;
}

/* Their ids first, then row by row: few enough to sort, possibly too large to hold at once. */
static int load_tasks(struct load *l, struct problem *ret_problem)
{
	AUTO(arena_release) struct arena a = {0};
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(l->s->db,
	    "SELECT id FROM task INDEXED BY task_live WHERE " LIVE_SQL
	    " AND status >= -1 ORDER BY id",
	    -1, &st, NULL);
	int err = 0;

	while (err == 0 && (rc == SQLITE_OK || rc == SQLITE_ROW)) {
		struct task_row t;

		rc = sqlite3_step(st);
		if (rc != SQLITE_ROW)
			break;
		arena_reset(&a);
		err = sqlite_task_get(&l->reader->base, (rid)sqlite3_column_int64(st, 0), &a, &t);
		if (err)
			sqlite_problem(l->reader->db, "a task can not be read", ret_problem);
		else
			err = l->to->row(l->to->arg, &task_table, &t);
	}
	if (!err && rc != SQLITE_DONE)
		err = sqlite_problem(l->s->db, "the store can not be read", ret_problem);
	sqlite3_finalize(st);
	return err;
}

static int load_table(struct load *l, const struct row_table *t, struct problem *ret_problem)
{
	int rc;

	if (t == &meta_table)
		return each_row(l, t,
		    "WHERE name NOT IN ('" META_AUDIT_HEAD "', '" META_AUDIT_ANCHOR
		    "') ORDER BY name",
		    ret_problem);
	rc = each_row(l, t, "ORDER BY id", ret_problem);
	if (rc == 0 && t == &queue_table)
		rc = load_counts(l, ret_problem);
	if (rc == 0 && t == &schedule_table)
		rc = sqlite_load_schedule_tasks(l->s, l->to, ret_problem);
	return rc;
}

static int load_all(struct load *l, struct problem *ret_problem)
{
	int rc = 0;

	for (int i = 0; i < N_TABLES && rc == 0; i++)
		if (row_tables[i]->is_loaded)
			rc = load_table(l, row_tables[i], ret_problem);
	if (rc == 0)
		rc = load_tasks(l, ret_problem);
	if (rc == 0)
		rc = l->to->done(l->to->arg, l->s->stat.last_id, l->s->stat.last_event);
	return rc;
}

/* A start reads everything once, in order: a large cache would only hold what nobody reads again,
 * in between of what stays. */
static void set_load_cache(sqlite3 *db, bool loading)
{
	sqlite3_exec(db,
	    loading ? "PRAGMA cache_size = -1000" : "PRAGMA cache_size = -" SQLITE_WRITER_CACHE,
	    NULL, NULL, NULL);
}

int sqlite_load(struct store *base, const struct store_loader *to, struct problem *ret_problem)
{
	struct load l = {.s = (struct sqlite_store *)base, .to = to};
	struct store_reader *reader = sqlite_reader_open(base, ret_problem);
	int rc;

	if (!reader)
		return ERR_STORE;
	l.reader = (struct sqlite_reader *)reader;
	pthread_mutex_lock(&l.s->mutex);
	set_load_cache(l.s->db, true);
	sqlite_load_ids(l.s->db, &l.ids);
	rc = load_all(&l, ret_problem);
	set_load_cache(l.s->db, false);
	pthread_mutex_unlock(&l.s->mutex);
	sqlite_reader_close(reader);
	return rc;
}
