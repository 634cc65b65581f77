/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The write side: one batch, one transaction, prepared statements. Failure before the commit rolls
 * back and leaves nothing; failure of the commit itself leaves the outcome unknown, and the store
 * then refuses everything until it is opened again, for only recovery can tell.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#define OUTPUT_CACHED_MAX (4u << 20)

static const char *const fixed_sql[N_WRITE_STMTS] = {
    [W_BEGIN] = "BEGIN IMMEDIATE",
    [W_COMMIT] = "COMMIT",
    [W_ROLLBACK] = "ROLLBACK",
    [W_TASK_PRUNE] = "DELETE FROM task WHERE id = ? AND " ENDED_SQL,
    [W_BODY_INSERT] = "INSERT INTO task_body (id, body) VALUES (?, ?)",
    [W_BODY_PRUNE] = "DELETE FROM task_body WHERE id = ?",
    [W_OUTPUT_PRUNE] = "DELETE FROM output WHERE task = ?",
    [W_QUEUE_DELETE] = "DELETE FROM queue WHERE id = ?",
    [W_QUEUE_DELETE_BODIES] =
        "DELETE FROM task_body WHERE id IN (SELECT id FROM task WHERE queue = ?)",
    [W_QUEUE_DELETE_OUTPUT] =
        "DELETE FROM output WHERE task IN (SELECT id FROM task WHERE queue = ?)",
    [W_QUEUE_DELETE_TASKS] = "DELETE FROM task WHERE queue = ?",
    [W_RERANK_READY] = "UPDATE task INDEXED BY task_ready SET rank = -(priority * ?2)"
                       " WHERE queue = ?1 AND " READY_SQL " AND rank <> -(priority * ?2)",
    [W_RERANK_DUE] = "UPDATE task INDEXED BY task_due SET rank = -(priority * ?2)"
                     " WHERE queue = ?1 AND " DUE_SQL " AND rank <> -(priority * ?2)",
    [W_WORKER_DELETE] = "DELETE FROM worker WHERE id = ?",
    [W_SCHEDULE_DELETE] = "DELETE FROM schedule WHERE id = ?",
    [W_SCHEDULE_DELETE_TICKS] = "DELETE FROM tick WHERE schedule = ?",
    [W_STAT_PUT] = "INSERT OR REPLACE INTO stat (one, last_id, last_event, n_tasks, sum) VALUES "
                   "(1, ?, ?, ?, ?)",
    [W_IDEM_EXPIRE] = "DELETE FROM idem WHERE rowid IN"
                      " (SELECT rowid FROM idem WHERE time_ms < ? ORDER BY time_ms LIMIT 1000)",
    [W_EVENT_OLDEST] = "SELECT seq, time_ms, hash,"
                       " (SELECT time_ms FROM event ORDER BY seq DESC LIMIT 1)"
                       " FROM event NOT INDEXED ORDER BY seq",
    [W_EVENT_EXPIRE] = "DELETE FROM event WHERE seq <= ?",
    [W_TOKEN_DELETE] = "DELETE FROM token WHERE id = ?",
    [W_TICK_EXPIRE] = "DELETE FROM tick WHERE (schedule, tick_s, offset_s) IN"
                      " (SELECT schedule, tick_s, offset_s FROM tick INDEXED BY tick_time"
                      " WHERE time_ms < ? ORDER BY time_ms LIMIT 1000)",
};

static void sql_of(enum write_stmt which, struct buf *sql)
{
	static const char *const replace = "INSERT OR REPLACE";

	switch (which) {
	case W_TASK_INSERT: sqlite_put_sql(sql, "INSERT", &task_table); break;
	case W_TASK_UPDATE: sqlite_update_sql(sql, &task_table); break;
	case W_OUTPUT_PUT: sqlite_put_sql(sql, replace, &output_table); break;
	case W_QUEUE_COUNTS: sqlite_update_sql(sql, &queue_table); break;
	case W_QUEUE_PUT: sqlite_put_sql(sql, replace, &queue_table); break;
	case W_WORKER_PUT: sqlite_put_sql(sql, replace, &worker_table); break;
	case W_EVENT_PUT: sqlite_put_sql(sql, replace, &event_table); break;
	case W_IDEM_PUT: sqlite_put_sql(sql, replace, &idem_table); break;
	case W_META_PUT: sqlite_put_sql(sql, replace, &meta_table); break;
	case W_SCHEDULE_PUT: sqlite_put_sql(sql, replace, &schedule_table); break;
	case W_SCHEDULE_PROGRESS: sqlite_update_sql(sql, &schedule_table); break;
	case W_TICK_PUT: sqlite_put_sql(sql, replace, &tick_table); break;
	case W_TOKEN_PUT: sqlite_put_sql(sql, replace, &token_table); break;
	default: buf_add_cstr(sql, fixed_sql[which]);
	}
}

int sqlite_stmt(struct sqlite_store *s, enum write_stmt which, sqlite3_stmt **ret_stmt)
{
	AUTO(buf_release) struct buf sql = {0};
	int rc = SQLITE_OK;

	if (!s->stmts[which]) {
		sql_of(which, &sql);
		rc = sqlite3_prepare_v3(s->db, sql.p, (int)sql.n + 1, SQLITE_PREPARE_PERSISTENT,
		    &s->stmts[which], NULL);
	}
	*ret_stmt = s->stmts[which];
	return rc;
}

static int step_once(sqlite3_stmt *st)
{
	int rc = sqlite3_step(st);

	sqlite3_reset(st);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int sqlite_run_row(
    struct sqlite_store *s, enum write_stmt which, const struct row_table *t, const void *row)
{
	sqlite3_stmt *st;
	int rc = sqlite_stmt(s, which, &st);

	if (rc)
		return rc;
	sqlite_bind_row(st, s->bound[which], t, row, 0);
	return step_once(st);
}

int sqlite_run_update(struct sqlite_store *s, enum write_stmt which, const struct row_table *t,
    const void *row, rid id)
{
	sqlite3_stmt *st;
	int at, rc = sqlite_stmt(s, which, &st);

	if (rc)
		return rc;
	at = sqlite_bind_row(st, s->bound[which], t, row, COLUMN_STATE);
	sqlite3_bind_int64(st, at, (int64_t)id);
	return step_once(st);
}

int sqlite_run(struct sqlite_store *s, enum write_stmt which, const int64_t *args, int n)
{
	sqlite3_stmt *st;
	int rc = sqlite_stmt(s, which, &st);

	if (rc)
		return rc;
	for (int i = 0; i < n; i++)
		sqlite3_bind_int64(st, i + 1, args[i]);
	return step_once(st);
}

#define STAT_EVERY 10000 /* inserts */

/* The words are taken before the rollback, which would overwrite them. */
static int give_up(struct sqlite_store *s, const char *doing, struct problem *ret_problem)
{
	int why = sqlite3_errcode(s->db);

	sqlite_problem(s->db, doing, ret_problem);
	s->stat = s->stat_committed;
	s->head = s->head_committed;
	if (!sqlite3_get_autocommit(s->db))
		sqlite_run(s, W_ROLLBACK, NULL, 0);
	if (!sqlite3_get_autocommit(s->db))
		s->broken = true;
	if (s->broken || (why != SQLITE_FULL && why != SQLITE_BUSY))
		return ERR_STORE;
	if (ret_problem)
		ret_problem->code = ERR_BUSY; /* rolled back for certain: worth trying again */
	return ERR_BUSY;
}

int sqlite_end_transaction(struct sqlite_store *s, int rc, struct problem *ret_problem)
{
	bool save = s->stat_due || s->stat.n_tasks - s->stat_saved.n_tasks >= STAT_EVERY;

	if (rc == SQLITE_OK && save)
		rc = sqlite_save_stat(s);
	if (rc == SQLITE_OK)
		rc = sqlite_save_head(s);
	if (rc)
		return give_up(s, "nothing of this batch was written", ret_problem);
	rc = sqlite_run(s, W_COMMIT, NULL, 0);
	if (rc == SQLITE_OK) {
		s->stat_committed = s->stat;
		s->head_committed = s->head;
		if (save)
			s->stat_saved = s->stat;
		s->stat_due &= !save;
		checkpoint_if_due(s);
		return 0;
	}
	/* A full disk is found before the commit record is written; all else may have left one. */
	if ((rc & 0xff) != SQLITE_FULL && (rc & 0xff) != SQLITE_BUSY)
		s->broken = true;
	return give_up(s,
	    s->broken ? "the commit failed and its outcome is unknown until the store is reopened"
	              : "nothing of this batch was written",
	    ret_problem);
}

static int refuse_broken(struct problem *ret_problem)
{
	problem_set(ret_problem, ERR_STORE,
	    "the store failed before; whether its last batch was written is unknown");
	problem_hint(ret_problem, "restart the server: opening the store recovers what is durable");
	return ERR_STORE;
}

/*
 * Output is written once and rarely read: its pages must not fill the cache that the tasks need,
 * nor the memory.
 */
static void forget_output(struct sqlite_store *s, const struct batch *b)
{
	size_t bytes = 0;

	for (size_t i = 0; i < b->n; i++)
		if (b->rows[i].kind == ROW_OUTPUT)
			bytes += b->rows[i].output->data.n;
	s->output_cached += bytes;
	if (s->output_cached < OUTPUT_CACHED_MAX)
		return;
	sqlite3_db_release_memory(s->db);
	s->output_cached = 0;
}

int sqlite_commit(struct store *base, const struct batch *b, struct problem *ret_problem)
{
	struct sqlite_store *s = (struct sqlite_store *)base;
	int rc;

	pthread_mutex_lock(&s->mutex);
	if (s->broken) {
		rc = refuse_broken(ret_problem);
	} else if ((rc = sqlite_run(s, W_BEGIN, NULL, 0))) {
		rc = give_up(s, "nothing of this batch was written", ret_problem);
	} else {
		rc = sqlite_apply(s, b);
		rc = sqlite_end_transaction(s, rc, ret_problem);
		forget_output(s, b);
	}
	pthread_mutex_unlock(&s->mutex);
	return rc;
}

/* A thousand rows a transaction: commits of the hot path get in between. */
static int expire_some(struct sqlite_store *s, enum write_stmt which, int64_t before_ms,
    int *ret_changes, struct problem *ret_problem)
{
	int rc;

	pthread_mutex_lock(&s->mutex);
	if (s->broken) {
		rc = refuse_broken(ret_problem);
	} else if ((rc = sqlite_run(s, W_BEGIN, NULL, 0))) {
		rc = give_up(s, "nothing was removed", ret_problem);
	} else {
		s->stat_due = true; /* the newest event may be among those that go */
		if (which == W_EVENT_EXPIRE) {
			rc = sqlite_expire_events(s, before_ms, ret_changes);
		} else {
			rc = sqlite_run(s, which, &before_ms, 1);
			*ret_changes = sqlite3_changes(s->db);
		}
		rc = sqlite_end_transaction(s, rc, ret_problem);
	}
	pthread_mutex_unlock(&s->mutex);
	return rc;
}

int sqlite_expire(struct store *base, int64_t idem_before_ms, int64_t events_before_ms,
    struct problem *ret_problem)
{
	const struct {
		enum write_stmt which;
		int64_t before_ms;
	} all[] = {{W_IDEM_EXPIRE, idem_before_ms}, {W_EVENT_EXPIRE, events_before_ms},
	    {W_TICK_EXPIRE, events_before_ms}};
	struct sqlite_store *s = (struct sqlite_store *)base;
	int rc = 0;

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		for (int changes = 1; rc == 0 && changes > 0;)
			rc = expire_some(s, all[i].which, all[i].before_ms, &changes, ret_problem);
	return rc;
}

void sqlite_rest(struct store *base)
{
	struct sqlite_store *s = (struct sqlite_store *)base;

	pthread_mutex_lock(&s->mutex);
	sqlite3_db_release_memory(s->db);
	pthread_mutex_unlock(&s->mutex);
}
