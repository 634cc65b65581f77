/* SPDX-License-Identifier: Apache-2.0 */
/* A batch's rows to statements, in the order of sql/fold.h. */
#include "store/sqlite/sqlite.h"

static void saw_id(struct sqlite_store *s, rid id)
{
	if (id > s->stat.last_id)
		s->stat.last_id = id;
}

static int insert_body(struct sqlite_store *s, rid id, struct str body)
{
	sqlite3_stmt *st;
	int rc = sqlite_stmt(s, W_SHARED + SQL_BODY_INSERT, &st);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, (int64_t)id);
	sqlite_bind_str(st, 2, body, false);
	return sqlite_step_once(st);
}

static int insert_task(void *store, const struct task_row *row)
{
	struct sqlite_store *s = store;
	int rc = SQLITE_OK;

	if (row->spec.body.n > BODY_NEAR_MAX)
		rc = insert_body(s, row->id, row->spec.body);
	if (rc == SQLITE_OK)
		rc = fresh_add(s, row);
	s->stat.n_tasks++;
	s->stat_due |= row->id <= s->stat_saved.last_id;
	saw_id(s, row->id);
	return rc;
}

static int delete_belongings(struct sqlite_store *s, const struct row_table *t, rid id)
{
	int rc = SQLITE_OK;

	for (int i = 0; i < N_TABLES && rc == SQLITE_OK; i++)
		if (row_tables[i]->belongs_to == t)
			rc = sqlite_write_by(s, row_tables[i], SQL_DELETE, (int64_t)id);
	return rc;
}

static int write_state(void *store, const struct task_row *row)
{
	int rc = fresh_write(store);

	return rc ? rc : sqlite_write_row(store, &task_table, SQL_STATE, row);
}

static int prune_task(void *store, rid id)
{
	struct sqlite_store *s = store;
	int64_t arg = (int64_t)id;
	bool gone = false;
	int rc = fresh_write(s);

	if (rc == SQLITE_OK)
		rc = sqlite_prune_row(s, id, &gone);
	if (rc || !gone)
		return rc;
	s->stat.n_tasks--;
	s->stat_due = true;
	rc = sqlite_run(s, W_SHARED + SQL_BODY_PRUNE, &arg, 1);
	return rc ? rc : delete_belongings(s, &task_table, id);
}

static int delete_tasks_of(struct sqlite_store *s, rid queue)
{
	int64_t arg = (int64_t)queue;
	int rc = sqlite_note_batches(s, queue);

	if (rc == SQLITE_OK)
		rc = sqlite_run(s, W_SHARED + SQL_QUEUE_DELETE_BODIES, &arg, 1);
	if (rc == SQLITE_OK)
		rc = sqlite_run(s, W_SHARED + SQL_QUEUE_DELETE_OUTPUT, &arg, 1);
	if (rc == SQLITE_OK)
		rc = sqlite_run(s, W_SHARED + SQL_QUEUE_DELETE_TASKS, &arg, 1);
	if (rc == SQLITE_OK)
		s->stat.n_tasks -= sqlite3_changes64(s->db);
	return rc;
}

static int delete_row(struct sqlite_store *s, const struct row_table *t, rid id)
{
	int rc = t == &queue_table ? delete_tasks_of(s, id) : SQLITE_OK;

	s->stat_due = true; /* the row's id may have been the highest */
	if (rc == SQLITE_OK)
		rc = delete_belongings(s, t, id);
	return rc ? rc : sqlite_write_by(s, t, SQL_DELETE, (int64_t)id);
}

static int rerank_queue(struct sqlite_store *s, rid id, int32_t order)
{
	int64_t args[] = {(int64_t)id, order == ORDER_PRIORITY};
	int rc = sqlite_run(s, W_SHARED + SQL_RERANK_READY, args, 2);

	return rc ? rc : sqlite_run(s, W_SHARED + SQL_RERANK_DUE, args, 2);
}

static int put_event(struct sqlite_store *s, const struct event_row *e)
{
	if (e->seq > s->stat.last_event)
		s->stat.last_event = e->seq;
	return sqlite_put_event(s, e);
}

/* Everything but the rows of tasks themselves. */
static int apply_other(void *store, const struct row_op *op)
{
	struct sqlite_store *s = store;
	int rc = fresh_write(s);

	if (rc)
		return rc;
	if (op->verb == ROW_DELETE)
		return delete_row(s, op->table, op->id);
	if (op->verb == ROW_TRIM)
		return sqlite_trim(s, op);
	if (op->verb == ROW_DROP)
		return sqlite_drop(s, op->table, op->row);
	if (op->verb == ROW_RERANK)
		return rerank_queue(s, op->id, op->order);
	if (op->table == &event_table)
		return put_event(s, op->row);
	if (op->table->has_id && op->verb != ROW_STATE)
		saw_id(s, *(const rid *)op->row);
	return sqlite_write_row(s, op->table, (enum sql_verb)op->verb, op->row);
}

static const struct fold_ops ops = {insert_task, write_state, prune_task, apply_other};

int sqlite_apply(struct sqlite_store *s, const struct batch *b)
{
	int rc;

	s->n_lossy = 0;
	s->fresh.n = 0;
	rc = fold_batch(&s->fold, b, &ops, s);
	if (rc == SQLITE_OK)
		rc = fresh_write(s);
	return rc ? rc : sqlite_drop_empty_batches(s);
}
