/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sql/fold.h"

#include <stdlib.h>

#include "base/mem.h"

#define ORDER_KEPT 8192 /* more is what a long submit took */

/* One batch on its way. */
struct folding {
	const struct batch *b;
	const struct fold_ops *ops;
	void *store;
};

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

/* The first write: what may follow it is folded into it. */
static void begin(struct pending *p, const struct row_op *op)
{
	p->todo = op->verb == ROW_STATE ? UPDATE : INSERT;
	p->row = p->todo == INSERT ? batch_new_task(op, &p->folded) : op->row;
}

static int flush(const struct folding *k, struct pending *p)
{
	int rc = 0;

	if (p->todo == INSERT)
		rc = k->ops->insert(k->store, p->row);
	else if (p->todo == UPDATE)
		rc = k->ops->state(k->store, p->row);
	p->todo = NOTHING;
	return rc;
}

/*
 * All operations on one task, in their order. A write of its state replaces the earlier one, so
 * only the last before a prune or the end is carried out, folded into the insert if that is here
 * too.
 */
static int write_task(const struct folding *k, const struct sort_entry *run, size_t n)
{
	struct pending p; /* not cleared: most of it is never looked at */
	int rc = 0;

	p.todo = NOTHING;
	for (size_t i = 0; i < n && !rc; i++) {
		const struct row_op *op = &k->b->rows[run[i].at];

		if (op->table != &task_table) {
			rc = k->ops->other(k->store, op);
		} else if (op->verb == ROW_STATE && p.todo != NOTHING) {
			fold(&p, op->row);
		} else {
			rc = flush(k, &p);
			if (!rc && op->verb == ROW_PRUNE)
				rc = k->ops->prune(k->store, op->id);
			else if (op->verb != ROW_PRUNE)
				begin(&p, op);
		}
	}
	return rc ? rc : flush(k, &p);
}

static int write_tasks(const struct folding *k, struct sort_entry *order, size_t n, bool sorted)
{
	int rc = 0;

	if (!sorted)
		qsort(order, n, sizeof *order, by_id);
	for (size_t i = 0, end; i < n && !rc; i = end) {
		for (end = i + 1; end < n && order[end].id == order[i].id; end++)
			;
		rc = write_task(k, &order[i], end - i);
	}
	return rc;
}

static bool is_fence(const struct row_op *op)
{
	return op->table == &queue_table && op->verb >= ROW_DELETE;
}

int fold_batch(struct fold *f, const struct batch *b, const struct fold_ops *ops, void *store)
{
	const struct folding k = {b, ops, store};
	size_t n = 0;
	bool sorted = true;
	int rc = 0;

	GROW(f->order, f->cap, b->n);
	for (size_t i = 0; i < b->n && !rc; i++) {
		const struct row_op *op = &b->rows[i];
		rid id = task_of(op);

		if (id) {
			sorted = sorted && (n == 0 || f->order[n - 1].id <= id);
			f->order[n++] = (struct sort_entry){id, i};
			continue;
		}
		if (is_fence(op)) {
			rc = write_tasks(&k, f->order, n, sorted);
			n = 0;
			sorted = true;
		}
		if (!rc)
			rc = ops->other(store, op);
	}
	rc = rc ? rc : write_tasks(&k, f->order, n, sorted);
	if (f->cap > ORDER_KEPT)
		fold_release(f);
	return rc;
}

void fold_release(struct fold *f)
{
	free(f->order);
	*f = (struct fold){0};
}
