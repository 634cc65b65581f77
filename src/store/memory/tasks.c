/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks in memory: the orders in which they are asked for, and what keeps them consistent. */
#include <stdlib.h>

#include "base/mem.h"
#include "store/memory/memory.h"

#define THREE_WAY(x, y) ((x) < (y) ? -1 : (x) > (y))

static int mem_compare_id(const struct mem_task *x, const struct mem_task *y)
{
	return THREE_WAY(x->row->id, y->row->id);
}

static int mem_compare_rank(const struct mem_task *x, const struct mem_task *y)
{
	int c = THREE_WAY(x->row->spec.queue, y->row->spec.queue);

	if (!c)
		c = THREE_WAY(x->row->state.rank, y->row->state.rank);
	return c ? c : mem_compare_id(x, y);
}

static int mem_compare_due(const struct mem_task *x, const struct mem_task *y)
{
	int c = THREE_WAY(x->row->spec.queue, y->row->spec.queue);

	if (!c)
		c = THREE_WAY(x->row->state.due_ms, y->row->state.due_ms);
	return c ? c : mem_compare_id(x, y);
}

static int mem_compare_key(const struct mem_task *x, const struct mem_task *y)
{
	int c = THREE_WAY(x->row->spec.queue, y->row->spec.queue);

	if (!c)
		c = str_cmp(x->row->spec.key, y->row->spec.key);
	return c ? c : mem_compare_id(x, y);
}

RB_GENERATE(mem_ids, mem_task, by_id, mem_compare_id)
RB_GENERATE(mem_ready, mem_task, by_rank, mem_compare_rank)
RB_GENERATE(mem_due, mem_task, by_due, mem_compare_due)
RB_GENERATE(mem_keys, mem_task, by_key, mem_compare_key)

struct mem_task *mem_task_find(struct mem_store *s, rid id)
{
	struct task_row row = {.id = id};
	struct mem_task probe = {.row = &row};

	return RB_FIND(mem_ids, &s->tasks, &probe);
}

void mem_task_link(struct mem_store *s, struct mem_task *t)
{
	bool queued = t->row->state.status == TASK_QUEUED;

	t->is_ready = queued && t->row->state.due_ms <= 0;
	t->is_due = queued && t->row->state.due_ms > 0;
	t->is_keyed = t->row->spec.key.p && !task_is_ended(t->row->state.status);
	if (t->is_ready)
		RB_INSERT(mem_ready, &s->ready, t);
	if (t->is_due)
		RB_INSERT(mem_due, &s->due, t);
	if (t->is_keyed)
		RB_INSERT(mem_keys, &s->keys, t);
}

void mem_task_unlink(struct mem_store *s, struct mem_task *t)
{
	if (t->is_ready)
		RB_REMOVE(mem_ready, &s->ready, t);
	if (t->is_due)
		RB_REMOVE(mem_due, &s->due, t);
	if (t->is_keyed)
		RB_REMOVE(mem_keys, &s->keys, t);
	t->is_ready = t->is_due = t->is_keyed = false;
}

void mem_task_add(struct mem_store *s, struct task_row *owned)
{
	struct mem_task *t = xcalloc(1, sizeof *t);

	t->row = owned;
	MUST(RB_INSERT(mem_ids, &s->tasks, t) == NULL);
	mem_batch_count(s, owned, +1);
	mem_task_link(s, t);
}

void mem_task_remove(struct mem_store *s, struct mem_task *t)
{
	mem_task_unlink(s, t);
	RB_REMOVE(mem_ids, &s->tasks, t);
	mem_batch_count(s, t->row, -1);
	mem_delete_belongings(s, &task_table, t->row->id);
	free(t->row);
	free(t);
}
