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
#define LONG_ROWS 10000 /* of a batch that fills the cache with what nobody reads */

const struct sql_dialect sqlite_dialect = {
    .replaces = true,
    .hints = true,
    .has_line = "instr(char(10) || labels, char(10) || ? || char(10)) > 0",
    .is_among = "id IN (SELECT value FROM json_each(?))",
};

static const char *const own_texts[W_SHARED] = {
    [W_BEGIN] = "BEGIN IMMEDIATE",
    [W_COMMIT] = "COMMIT",
    [W_ROLLBACK] = "ROLLBACK",
    [W_STAT_PUT] = "INSERT OR REPLACE INTO stat (one, last_id, last_event, n_tasks, sum) VALUES "
                   "(1, ?, ?, ?, ?)",
    [W_EVENT_OLDEST] = "SELECT seq, time_ms, hash,"
                       " (SELECT time_ms FROM event ORDER BY seq DESC LIMIT 1)"
                       " FROM event NOT INDEXED ORDER BY seq",
};

static int prepare(struct sqlite_store *s, const struct sql_text *text, sqlite3_stmt **ret_stmt)
{
	return sqlite3_prepare_v3(
	    s->db, text->out.p, (int)text->out.n + 1, SQLITE_PREPARE_PERSISTENT, ret_stmt, NULL);
}

int sqlite_stmt(struct sqlite_store *s, enum write_stmt which, sqlite3_stmt **ret_stmt)
{
	AUTO(sql_text_release) struct sql_text text = {.dialect = &sqlite_dialect};
	int rc = SQLITE_OK;

	if (!s->stmts[which]) {
		sql_add(&text,
		    which < W_SHARED ? own_texts[which] : sql_shared_texts[which - W_SHARED]);
		rc = prepare(s, &text, &s->stmts[which]);
	}
	*ret_stmt = s->stmts[which];
	return rc;
}

static int make_row_stmt(struct sqlite_store *s, const struct row_table *t, enum sql_verb verb)
{
	AUTO(sql_text_release) struct sql_text text = {.dialect = &sqlite_dialect};

	MUST(sql_add_verb(&text, t, verb));
	return prepare(s, &text, &s->row_stmts[t->number][verb]);
}

static int row_stmt(
    struct sqlite_store *s, const struct row_table *t, enum sql_verb verb, sqlite3_stmt **ret_stmt)
{
	int rc = s->row_stmts[t->number][verb] ? SQLITE_OK : make_row_stmt(s, t, verb);

	*ret_stmt = s->row_stmts[t->number][verb];
	return rc;
}

/* A task is inserted once, everything else is put. */
static bool is_used(const struct row_table *t, enum sql_verb verb)
{
	AUTO(sql_text_release) struct sql_text text = {.dialect = &sqlite_dialect};

	return (verb != SQL_INSERT || t == &task_table) && (verb != SQL_PUT || t != &task_table) &&
	       sql_add_verb(&text, t, verb);
}

int sqlite_prepare_all(struct sqlite_store *s)
{
	sqlite3_stmt *st;
	int rc = fresh_prepare(s);

	for (int i = 0; i < N_WRITE_STMTS && rc == SQLITE_OK; i++)
		rc = sqlite_stmt(s, (enum write_stmt)i, &st);
	for (int i = 0; i < N_TABLES; i++)
		for (enum sql_verb verb = 0; verb < N_SQL_VERBS && rc == SQLITE_OK; verb++)
			if (is_used(row_tables[i], verb))
				rc = row_stmt(s, row_tables[i], verb, &st);
	return rc;
}

int sqlite_step_once(sqlite3_stmt *st)
{
	int rc = sqlite3_step(st);

	sqlite3_reset(st);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int sqlite_write_row(
    struct sqlite_store *s, const struct row_table *t, enum sql_verb verb, const void *row)
{
	struct bound *was = s->bound[t->number][verb];
	sqlite3_stmt *st;
	int at, rc = row_stmt(s, t, verb, &st);

	if (rc)
		return rc;
	at = sqlite_bind_row(st, was, 1, t, row, verb == SQL_STATE ? COLUMN_STATE : 0);
	if (verb == SQL_STATE)
		sqlite3_bind_int64(st, at, column_i64(&t->columns[0], row));
	return sqlite_step_once(st);
}

int sqlite_write_by(
    struct sqlite_store *s, const struct row_table *t, enum sql_verb verb, int64_t arg)
{
	sqlite3_stmt *st;
	int rc = row_stmt(s, t, verb, &st);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, arg);
	return sqlite_step_once(st);
}

int sqlite_trim(struct sqlite_store *s, const struct row_op *op)
{
	sqlite3_stmt *st;
	int rc = row_stmt(s, op->table, SQL_TRIM, &st);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, (int64_t)op->id);
	sqlite3_bind_int64(st, 2, op->below);
	return sqlite_step_once(st);
}

int sqlite_drop(struct sqlite_store *s, const struct row_table *t, const void *row)
{
	sqlite3_stmt *st;
	int rc = row_stmt(s, t, SQL_DROP, &st);

	if (rc)
		return rc;
	for (int i = 0; i < t->n_key; i++)
		sqlite3_bind_int64(st, i + 1, column_i64(&t->columns[i], row));
	return sqlite_step_once(st);
}

int sqlite_run(struct sqlite_store *s, enum write_stmt which, const int64_t *args, int n)
{
	sqlite3_stmt *st;
	int rc = sqlite_stmt(s, which, &st);

	if (rc)
		return rc;
	for (int i = 0; i < n; i++)
		sqlite3_bind_int64(st, i + 1, args[i]);
	return sqlite_step_once(st);
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

static int sqlite_end_transaction(struct sqlite_store *s, int rc, struct problem *ret_problem)
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
		follower_notice(s, s->stat.last_id != s->stat_committed.last_id);
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
 * Output and input are written once and read once or never, and so are most of the tasks of a long
 * submit: their pages must not fill the cache that the tasks need, nor the memory.
 */
static void forget_pages(struct sqlite_store *s, const struct batch *b)
{
	size_t bytes = 0;

	for (size_t i = 0; i < b->n; i++)
		if (b->rows[i].verb != ROW_PUT)
			continue;
		else if (b->rows[i].table == &output_table)
			bytes += ((const struct output_row *)b->rows[i].row)->data.n;
		else if (b->rows[i].table == &input_part_table)
			bytes += ((const struct input_part_row *)b->rows[i].row)->data.n;
	s->output_cached += bytes;
	if (s->output_cached < OUTPUT_CACHED_MAX && b->n < LONG_ROWS)
		return;
	sqlite3_db_release_memory(s->db);
	s->output_cached = 0;
}

int sqlite_commit(struct store *base, const struct batch *b, struct problem *ret_problem)
{
	struct sqlite_store *s = (struct sqlite_store *)base;
	int rc;

	atomic_store_explicit(&s->follower.writing, true, memory_order_relaxed);
	pthread_mutex_lock(&s->mutex);
	if (s->broken) {
		rc = refuse_broken(ret_problem);
	} else if ((rc = sqlite_run(s, W_BEGIN, NULL, 0))) {
		rc = give_up(s, "nothing of this batch was written", ret_problem);
	} else {
		rc = sqlite_apply(s, b);
		rc = sqlite_end_transaction(s, rc, ret_problem);
		forget_pages(s, b);
	}
	pthread_mutex_unlock(&s->mutex);
	atomic_store_explicit(&s->follower.writing, false, memory_order_relaxed);
	return rc;
}

/* A thousand rows a transaction: commits of the hot path get in between. */
static int expire_some(struct sqlite_store *s, const struct row_table *t, int64_t before_ms,
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
		if (t == &event_table) {
			rc = sqlite_expire_events(s, before_ms, ret_changes);
		} else {
			rc = sqlite_write_by(s, t, SQL_EXPIRE, before_ms);
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
	const int64_t before_ms[] = {
	    [EXPIRES_WITH_IDEM] = idem_before_ms, [EXPIRES_WITH_EVENTS] = events_before_ms};
	struct sqlite_store *s = (struct sqlite_store *)base;
	int rc = 0;

	for (int i = 0; i < N_TABLES; i++) {
		const struct row_table *t = row_tables[i];

		for (int changes = t->expires; rc == 0 && changes > 0;)
			rc = expire_some(s, t, before_ms[t->expires], &changes, ret_problem);
	}
	return rc;
}

void sqlite_rest(struct store *base)
{
	struct sqlite_store *s = (struct sqlite_store *)base;

	pthread_mutex_lock(&s->mutex);
	sqlite3_db_release_memory(s->db);
	pthread_mutex_unlock(&s->mutex);
}
