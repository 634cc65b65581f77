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
	rc = sqlite3_step(st);
	sqlite3_reset(st);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int insert_task(struct sqlite_store *s, const struct task_row *row)
{
	int rc = SQLITE_OK;

	if (row->spec.body.n > BODY_NEAR_MAX)
		rc = insert_body(s, row->id, row->spec.body);
	if (rc == SQLITE_OK)
		rc = sqlite_run_row(s, W_TASK_INSERT, &task_table, row);
	s->stat.n_tasks++;
	s->stat_due |= row->id <= s->stat_saved.last_id;
	saw_id(s, row->id);
	return rc;
}

static int prune_task(struct sqlite_store *s, rid id)
{
	int64_t arg = (int64_t)id;
	int rc = sqlite_run(s, W_TASK_PRUNE, &arg, 1);

	if (rc || sqlite3_changes(s->db) == 0)
		return rc;
	s->stat.n_tasks--;
	s->stat_due = true;
	rc = sqlite_run(s, W_BODY_PRUNE, &arg, 1);
	return rc ? rc : sqlite_run(s, W_OUTPUT_PRUNE, &arg, 1);
}

static int delete_queue(struct sqlite_store *s, rid id)
{
	int64_t arg = (int64_t)id;
	int rc = sqlite_run(s, W_QUEUE_DELETE_BODIES, &arg, 1);

	if (rc == SQLITE_OK)
		rc = sqlite_run(s, W_QUEUE_DELETE_OUTPUT, &arg, 1);
	if (rc == SQLITE_OK)
		rc = sqlite_run(s, W_QUEUE_DELETE_TASKS, &arg, 1);
	if (rc)
		return rc;
	s->stat.n_tasks -= sqlite3_changes64(s->db);
	s->stat_due = true;
	return sqlite_run(s, W_QUEUE_DELETE, &arg, 1);
}

static int rerank_queue(struct sqlite_store *s, rid id, int32_t order)
{
	int64_t args[] = {(int64_t)id, order == ORDER_PRIORITY};
	int rc = sqlite_run(s, W_RERANK_READY, args, 2);

	return rc ? rc : sqlite_run(s, W_RERANK_DUE, args, 2);
}

static int apply_schedule(struct sqlite_store *s, const struct row_op *op)
{
	switch (op->kind) {
	case ROW_SCHEDULE_PUT:
		saw_id(s, op->schedule->id);
		return sqlite_run_row(s, W_SCHEDULE_PUT, &schedule_table, op->schedule);
	case ROW_SCHEDULE_PROGRESS:
		return sqlite_run_update(
		    s, W_SCHEDULE_PROGRESS, &schedule_table, op->schedule, op->schedule->id);
	case ROW_SCHEDULE_DELETE: return sqlite_schedule_delete(s, op->id);
	case ROW_TICK: return sqlite_run_row(s, W_TICK_PUT, &tick_table, op->tick);
	default: return SQLITE_MISUSE;
	}
}

/* Everything that is not about tasks. */
static int apply_other(struct sqlite_store *s, const struct row_op *op)
{
	switch (op->kind) {
	case ROW_QUEUE_PUT:
		saw_id(s, op->queue->id);
		return sqlite_run_row(s, W_QUEUE_PUT, &queue_table, op->queue);
	case ROW_QUEUE_COUNTS:
		return sqlite_run_update(s, W_QUEUE_COUNTS, &queue_table, op->queue, op->queue->id);
	case ROW_QUEUE_DELETE: return delete_queue(s, op->id);
	case ROW_QUEUE_RERANK: return rerank_queue(s, op->id, op->order);
	case ROW_WORKER_PUT:
		saw_id(s, op->worker->id);
		return sqlite_run_row(s, W_WORKER_PUT, &worker_table, op->worker);
	case ROW_WORKER_DELETE:
		s->stat_due = true;
		return sqlite_run(s, W_WORKER_DELETE, (int64_t[]){(int64_t)op->id}, 1);
	case ROW_EVENT:
		if (op->event->seq > s->stat.last_event)
			s->stat.last_event = op->event->seq;
		return sqlite_put_event(s, op->event);
	case ROW_IDEMPOTENT: return sqlite_run_row(s, W_IDEM_PUT, &idem_table, op->idem);
	case ROW_TOKEN_PUT:
		saw_id(s, op->token->id);
		return sqlite_run_row(s, W_TOKEN_PUT, &token_table, op->token);
	case ROW_TOKEN_DELETE:
		s->stat_due = true;
		return sqlite_run(s, W_TOKEN_DELETE, (int64_t[]){(int64_t)op->id}, 1);
	case ROW_META: return sqlite_run_row(s, W_META_PUT, &meta_table, op->meta);
	default: return apply_schedule(s, op);
	}
}

/* The task a row is about, or 0. */
static rid task_of(const struct row_op *op)
{
	switch (op->kind) {
	case ROW_TASK_INSERT:
	case ROW_TASK_UPDATE: return op->task->id;
	case ROW_TASK_PRUNE: return op->id;
	case ROW_OUTPUT: return op->output->task;
	default: return 0;
	}
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
		rc = sqlite_run_update(s, W_TASK_UPDATE, &task_table, p->row, p->row->id);
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

		if (op->kind == ROW_OUTPUT) {
			rc = sqlite_run_row(s, W_OUTPUT_PUT, &output_table, op->output);
		} else if (op->kind == ROW_TASK_UPDATE && p.todo != NOTHING) {
			fold(&p, op->task);
		} else {
			rc = flush(s, &p);
			if (rc == SQLITE_OK && op->kind == ROW_TASK_PRUNE) {
				rc = prune_task(s, op->id);
			} else if (op->kind != ROW_TASK_PRUNE) {
				p.todo = op->kind == ROW_TASK_INSERT ? INSERT : UPDATE;
				p.row = op->task;
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

static bool is_fence(enum row_kind kind)
{
	return kind == ROW_QUEUE_DELETE || kind == ROW_QUEUE_RERANK;
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
		if (is_fence(op->kind)) {
			rc = apply_tasks(s, b, n, sorted);
			n = 0;
			sorted = true;
		}
		if (rc == SQLITE_OK)
			rc = apply_other(s, op);
	}
	return rc ? rc : apply_tasks(s, b, n, sorted);
}
