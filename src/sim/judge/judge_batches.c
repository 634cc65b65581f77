/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of tasks: what their rows say is what was submitted to them, with every commit. */
#include <stdlib.h>

#include "base/mem.h"
#include "sim/judge/judge_internal.h"

struct truth_batch {
	rid id;
	int64_t n; /* tasks of it that became durable */
	rid last;
	int64_t row_n; /* as its row says; 0: it has none */
	rid row_last;
	uint64_t grown; /* the commit that brought its last task */
};

static struct truth_batch *truth_of_batch(struct world *w, rid id)
{
	struct judge *j = w->judge;
	struct truth_batch *b = idmap_get(&j->batches_by_id, id);

	if (b)
		return b;
	b = xcalloc(1, sizeof *b);
	b->id = id;
	idmap_put(&j->batches_by_id, id, b);
	GROW(j->batches, j->cap_batches, j->n_batches + 1);
	j->batches[j->n_batches++] = b;
	return b;
}

static void take_task(struct world *w, const struct task_row *t, uint64_t seq)
{
	struct truth_batch *b;

	if (!t->spec.batch)
		return;
	b = truth_of_batch(w, t->spec.batch);
	b->n++;
	b->last = t->id > b->last ? t->id : b->last;
	b->grown = seq;
	if (t->id <= b->id)
		world_fail(w, 42, "a task of the batch %llx has an id before it",
		    (unsigned long long)b->id);
}

void judge_batches_applied(struct world *w, const struct batch *b)
{
	struct judge *j = w->judge;

	for (size_t i = 0; i < b->n; i++) {
		const struct row_op *op = &b->rows[i];
		struct task_row room;
		const struct task_row *first = batch_new_task(op, &room);

		if (first)
			take_task(w, first, b->seq);
		if (op->table == &task_batch_table && op->verb <= ROW_STATE) {
			const struct task_batch_row *row = op->row;
			struct truth_batch *t = truth_of_batch(w, row->id);

			t->row_n = row->n_tasks;
			t->row_last = row->last_task;
		}
	}
	for (size_t i = 0; i < j->n_batches; i++) {
		const struct truth_batch *t = j->batches[i];

		if (t->grown == b->seq && (t->row_n != t->n || t->row_last != t->last))
			world_fail(w, 42, "the batch %llx has %lld tasks, its row says %lld",
			    (unsigned long long)t->id, (long long)t->n, (long long)t->row_n);
	}
}

void judge_batch_answered(struct world *w, rid joined, const struct reply *r)
{
	struct truth_batch *b = r->id ? idmap_get(&w->judge->batches_by_id, r->id) : NULL;

	if (joined && r->id != joined)
		world_fail(w, 42, "a submit joined another batch than it named");
	if (r->id && !b)
		world_fail(w, 42, "a batch was acknowledged but is not durable");
}

void judge_batches_free(struct judge *j)
{
	for (size_t i = 0; i < j->n_batches; i++)
		free(j->batches[i]);
	free(j->batches);
	idmap_release(&j->batches_by_id);
}
