/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch's rows to statements. Rows of tasks and their output are taken in order of id, stable, so
 * that neighbours on disk are written together (at random it is ten times slower), and what
 * happened to one task within the batch becomes one write. Operations on a whole queue look at
 * many tasks, so they are fences: nothing is moved across them.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "store/sqlite/sqlite.h"

static void saw_id(struct sqlite_store *s, rid id)
{
	if (id > s->stat.last_id)
		s->stat.last_id = id;
}

static int insert_body(struct sqlite_store *s, rid id, struct str body)
{
	sqlite3_stmt *st;
	int rc = sqlite_stmt(s, W_BODY_INSERT, &st);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, (int64_t)id);
	sqlite_bind_str(st, 2, body, false);
	return sqlite_step_once(st);
}

static int insert_task(struct sqlite_store *s, const struct task_row *row)
{
	int rc = SQLITE_OK;

	if (row->spec.body.n > BODY_NEAR_MAX)
		rc = insert_body(s, row->id, row->spec.body);
	if (rc == SQLITE_OK)
		rc = sqlite_write_row(s, &task_table, SQL_INSERT, row);
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

static int prune_task(struct sqlite_store *s, rid id)
{
	int64_t arg = (int64_t)id;
	int rc = sqlite_run(s, W_TASKS + SQL_TASK_PRUNE, &arg, 1);

	if (rc || sqlite3_changes(s->db) == 0)
		return rc;
	s->stat.n_tasks--;
	s->stat_due = true;
	rc = sqlite_run(s, W_BODY_PRUNE, &arg, 1);
	return rc ? rc : delete_belongings(s, &task_table, id);
}

static int delete_tasks_of(struct sqlite_store *s, rid queue)
{
	int64_t arg = (int64_t)queue;
	int rc = sqlite_run(s, W_QUEUE_DELETE_BODIES, &arg, 1);

	if (rc == SQLITE_OK)
		rc = sqlite_run(s, W_TASKS + SQL_QUEUE_DELETE_OUTPUT, &arg, 1);
	if (rc == SQLITE_OK)
		rc = sqlite_run(s, W_TASKS + SQL_QUEUE_DELETE_TASKS, &arg, 1);
	if (rc == SQLITE_OK)
		s->stat.n_tasks -= sqlite3_changes64(s->db);
	return rc;
}

static int delete_row(struct sqlite_store *s, const struct row_table *t, rid id)
{
	int rc = t == &queue_table ? delete_tasks_of(s, id) : SQLITE_OK;

	s->stat_due = true; /* its id may have been the highest */
	if (rc == SQLITE_OK)
		rc = delete_belongings(s, t, id);
	return rc ? rc : sqlite_write_by(s, t, SQL_DELETE, (int64_t)id);
}

static int rerank_queue(struct sqlite_store *s, rid id, int32_t order)
{
	int64_t args[] = {(int64_t)id, order == ORDER_PRIORITY};
	int rc = sqlite_run(s, W_TASKS + SQL_RERANK_READY, args, 2);

	return rc ? rc : sqlite_run(s, W_TASKS + SQL_RERANK_DUE, args, 2);
}

static int put_event(struct sqlite_store *s, const struct event_row *e)
{
	if (e->seq > s->stat.last_event)
		s->stat.last_event = e->seq;
	return sqlite_put_event(s, e);
}

/* Everything that is not about tasks. */
static int apply_other(struct sqlite_store *s, const struct row_op *op)
{
	if (op->verb == ROW_DELETE)
		return delete_row(s, op->table, op->id);
	if (op->verb == ROW_RERANK)
		return rerank_queue(s, op->id, op->order);
	if (op->table == &event_table)
		return put_event(s, op->row);
	if (op->table->has_id && op->verb != ROW_STATE)
		saw_id(s, *(const rid *)op->row);
	return sqlite_write_row(s, op->table, (enum sql_verb)op->verb, op->row);
}

/* The task a row is about, or 0. */
static rid task_of(const struct row_op *op)
{
	if (op->table != &task_table && op->table->belongs_to != &task_table)
		return 0;
	return op->verb == ROW_PRUNE ? op->id : (rid)column_i64(&op->table->columns[0], op->row);
}

static int by_id(const void *x, const void *y)
{
	const struct sort_entry *a = x, *b = y;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

struct pending {
	enum { NOTHING, INSERT, UPDATE } todo;
	const struct task_row *row;
	struct task_row folded; /* an insert together with a later state */
};

/* A later state over an earlier write. */
static void fold(struct pending *p, const struct task_row *later)
{
	if (p->todo == UPDATE) { /* writes the state and nothing else */
		p->row = later;
		return;
	}
	if (p->row != &p->folded)
		p->folded = *p->row;
	p->folded.state = later->state;
	p->folded.spec.priority = later->spec.priority;
	p->row = &p->folded;
}

static int flush(struct sqlite_store *s, struct pending *p)
{
	int rc = SQLITE_OK;

	if (p->todo == INSERT)
		rc = insert_task(s, p->row);
	else if (p->todo == UPDATE)
		rc = sqlite_write_row(s, &task_table, SQL_STATE, p->row);
	p->todo = NOTHING;
	return rc;
}

/*
 * All operations on one task, in their order. A write of its state replaces the earlier one, so
 * only the last before a prune or the end is carried out, folded into the insert if that is here
 * too.
 */
static int apply_task_run(
    struct sqlite_store *s, const struct batch *b, const struct sort_entry *run, size_t n)
{
	struct pending p; /* not cleared: most of it is never looked at */
	int rc = SQLITE_OK;

	p.todo = NOTHING;
	for (size_t i = 0; i < n && rc == SQLITE_OK; i++) {
		const struct row_op *op = &b->rows[run[i].at];

		if (op->table != &task_table) {
			rc = sqlite_write_row(s, op->table, SQL_PUT, op->row);
		} else if (op->verb == ROW_STATE && p.todo != NOTHING) {
			fold(&p, op->row);
		} else {
			rc = flush(s, &p);
			if (rc == SQLITE_OK && op->verb == ROW_PRUNE) {
				rc = prune_task(s, op->id);
			} else if (op->verb != ROW_PRUNE) {
				p.todo = op->verb == ROW_INSERT ? INSERT : UPDATE;
				p.row = op->row;
			}
		}
	}
	return rc ? rc : flush(s, &p);
}

static int apply_tasks(struct sqlite_store *s, const struct batch *b, size_t n, bool sorted)
{
	int rc = SQLITE_OK;

	if (!sorted)
		qsort(s->order, n, sizeof *s->order, by_id);
	for (size_t i = 0, end; i < n && rc == SQLITE_OK; i = end) {
		for (end = i + 1; end < n && s->order[end].id == s->order[i].id; end++)
			;
		rc = apply_task_run(s, b, &s->order[i], end - i);
	}
	return rc;
}

static bool is_fence(const struct row_op *op)
{
	return op->table == &queue_table && op->verb >= ROW_DELETE;
}

int sqlite_apply(struct sqlite_store *s, const struct batch *b)
{
	size_t n = 0;
	bool sorted = true;
	int rc = SQLITE_OK;

	GROW(s->order, s->order_cap, b->n);
	for (size_t i = 0; i < b->n && rc == SQLITE_OK; i++) {
		const struct row_op *op = &b->rows[i];
		rid id = task_of(op);

		if (id) {
			sorted = sorted && (n == 0 || s->order[n - 1].id <= id);
			s->order[n++] = (struct sort_entry){id, i};
			continue;
		}
		if (is_fence(op)) {
			rc = apply_tasks(s, b, n, sorted);
			n = 0;
			sorted = true;
		}
		if (rc == SQLITE_OK)
			rc = apply_other(s, op);
	}
	return rc ? rc : apply_tasks(s, b, n, sorted);
}
