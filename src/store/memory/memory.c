/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory backend, for tests and simulation: nothing survives, everything else behaves like
 * the others. A batch is checked first and applied under the mutex, so readers never see a part.
 */
#include "store/memory/memory.h"

#include <stdlib.h>

#include "base/mem.h"
#include "store/chain.h"

static int mem_open(const char *place, const struct store_options *o, struct store **ret_store,
    struct problem *ret_problem)
{
	struct mem_store *s = xcalloc(1, sizeof *s);

	s->base.ops = &store_memory;
	pthread_mutex_init(&s->mutex, NULL);
	*ret_store = &s->base;
	return 0;
}

static void mem_close(struct store *base)
{
	struct mem_store *s = (struct mem_store *)base;

	mem_clear(s);
	idmap_release(&s->in_batch);
	free(s->lossy);
	pthread_mutex_destroy(&s->mutex);
	free(s);
}

static int mem_migrate(const char *place, struct store_migration *m, struct problem *ret_problem)
{
	return problem_set(
	    ret_problem, ERR_INVALID, "a store in memory has no schema that could be migrated");
}

static int mem_schema_version(const char *place, int *ret_version, struct problem *ret_problem)
{
	*ret_version = STORE_SCHEMA_VERSION;
	return 0;
}

static void update_task(struct mem_store *s, const struct task_row *from)
{
	struct mem_task *t = mem_task_find(s, from->id);
	struct task_row *old;

	if (!t)
		return;
	mem_task_unlink(s, t);
	old = t->row;
	row_take_state(&task_table, old, from);
	t->row = row_dup(&task_table, old);
	free(old);
	mem_task_link(s, t);
}

static void prune_task(struct mem_store *s, rid id)
{
	struct mem_task *t = mem_task_find(s, id);

	if (t && task_is_ended(t->row->state.status))
		mem_task_remove(s, t);
}

static void delete_tasks_of(struct mem_store *s, rid queue)
{
	struct mem_task *t, *next;

	RB_FOREACH_SAFE (t, mem_ids, &s->tasks, next)
		if (t->row->spec.queue == queue)
			mem_task_remove(s, t);
}

static void rerank_queue(struct mem_store *s, rid id, int32_t order)
{
	struct mem_task *t;

	RB_FOREACH (t, mem_ids, &s->tasks) {
		if (t->row->spec.queue != id || t->row->state.status != TASK_QUEUED)
			continue;
		mem_task_unlink(s, t);
		t->row->state.rank = order == ORDER_PRIORITY ? -(int64_t)t->row->spec.priority : 0;
		mem_task_link(s, t);
	}
}

static void put_event(struct mem_store *s, const struct event_row *e)
{
	struct event_row linked = *e;

	chain_link(&s->head, &linked);
	mem_put(s, &event_table, &linked);
	if (e->seq > s->last_event)
		s->last_event = e->seq;
}

static void put(struct mem_store *s, const struct row_table *t, const void *row)
{
	if (t == &event_table)
		put_event(s, row);
	else if (t == &task_table)
		mem_task_add(s, row_dup(t, row));
	else
		mem_put(s, t, row);
	if (t->has_id && *(const rid *)row > s->last_id)
		s->last_id = *(const rid *)row;
}

static void apply(struct mem_store *s, const struct row_op *op)
{
	struct task_row room;

	switch (op->verb) {
	case ROW_FIRST: put(s, op->table, batch_new_task(op, &room)); break;
	case ROW_INSERT:
	case ROW_PUT: put(s, op->table, op->row); break;
	case ROW_STATE:
		if (op->table == &task_table)
			update_task(s, op->row);
		else
			mem_put_state(s, op->table, op->row);
		break;
	case ROW_DELETE:
		if (op->table == &queue_table)
			delete_tasks_of(s, op->id);
		mem_delete(s, op->table, op->id);
		break;
	case ROW_PRUNE: prune_task(s, op->id); break;
	case ROW_RERANK: rerank_queue(s, op->id, op->order); break;
	case ROW_DROP: mem_drop(s, op->table, op->row); break;
	case ROW_TRIM: mem_trim(s, op->table, op->id, op->below); break;
	}
}

static int compare_ids(const void *x, const void *y)
{
	rid a = *(const rid *)x, b = *(const rid *)y;

	return a < b ? -1 : a > b;
}

/* The only way in which a batch can fail: a task that is there already, or comes twice. */
static bool inserts_twice(struct mem_store *s, const struct batch *b)
{
	rid *ids = xmalloc((b->n + 1) * sizeof *ids);
	struct task_row room;
	size_t n = 0;
	bool twice = false;

	for (size_t i = 0; i < b->n; i++)
		if (batch_new_task(&b->rows[i], &room))
			ids[n++] = *(const rid *)b->rows[i].row;
	qsort(ids, n, sizeof *ids, compare_ids);
	for (size_t i = 0; i < n && !twice; i++)
		twice = (i && ids[i] == ids[i - 1]) || mem_task_find(s, ids[i]);
	free(ids);
	return twice;
}

static int mem_commit(struct store *base, const struct batch *b, struct problem *ret_problem)
{
	struct mem_store *s = (struct mem_store *)base;
	int rc = 0;

	pthread_mutex_lock(&s->mutex);
	if (inserts_twice(s, b))
		rc = problem_set(ret_problem, ERR_STORE,
		    "nothing of this batch was written: a task is there already");
	for (size_t i = 0; i < b->n && rc == 0; i++)
		apply(s, &b->rows[i]);
	mem_drop_empty_batches(s);
	pthread_mutex_unlock(&s->mutex);
	return rc;
}

/* Only the oldest, up to the first that stays. */
static void expire_events(struct mem_store *s, int64_t before_ms)
{
	struct mem_row *r, *last = mem_last(s, &event_table);
	int64_t newest_ms = last ? ((struct event_row *)last->row)->time_ms : 0;
	uint64_t up_to = 0;

	for (r = mem_first(s, &event_table); r; r = mem_next(r)) {
		const struct event_row *e = r->row;

		if (event_stays(e, before_ms, newest_ms))
			break;
		if (e->time_ms < before_ms)
			up_to = e->seq;
	}
	while ((r = mem_first(s, &event_table)) && ((struct event_row *)r->row)->seq <= up_to) {
		chain_expire(&s->anchor, r->row);
		mem_remove(s, r);
	}
}

static void expire(struct mem_store *s, const struct row_table *t, int64_t before_ms)
{
	const struct column *time = row_column(t, "time_ms");
	struct mem_row *r, *next;

	if (t == &event_table) {
		expire_events(s, before_ms);
		return;
	}
	for (r = mem_first(s, t); r; r = next) {
		next = mem_next(r);
		if (column_i64(time, r->row) < before_ms)
			mem_remove(s, r);
	}
}

static int mem_expire(struct store *base, int64_t idem_before_ms, int64_t events_before_ms,
    struct problem *ret_problem)
{
	const int64_t before_ms[] = {
	    [EXPIRES_WITH_IDEM] = idem_before_ms, [EXPIRES_WITH_EVENTS] = events_before_ms};
	struct mem_store *s = (struct mem_store *)base;

	pthread_mutex_lock(&s->mutex);
	for (int i = 0; i < N_TABLES; i++)
		if (row_tables[i]->expires != EXPIRES_NEVER)
			expire(s, row_tables[i], before_ms[row_tables[i]->expires]);
	pthread_mutex_unlock(&s->mutex);
	return 0;
}

const struct store_ops store_memory = {
    .name = "memory",
    .scheme = "memory:",
    .open = mem_open,
    .close = mem_close,
    .migrate = mem_migrate,
    .schema_version = mem_schema_version,
    .commit = mem_commit,
    .load = mem_load,
    .expire = mem_expire,
    .reader_open = mem_reader_open,
    .reader_close = mem_reader_close,
    .task_get = mem_task_get,
    .tasks_get = mem_tasks_get,
    .task_head = mem_task_head,
    .task_list = mem_task_list,
    .task_count = mem_task_count,
    .batch_get = mem_batch_get,
    .batch_list = mem_batch_list,
    .task_pace = mem_task_pace,
    .queue_head = mem_queue_head,
    .queue_due = mem_queue_due,
    .find_key = mem_find_key,
    .find_idem = mem_find_idem,
    .prunable = mem_prunable,
    .count_ended = mem_count_ended,
    .output = mem_output,
    .parts = mem_parts,
    .events = mem_events,
    .events_before = mem_events_before,
    .audit = mem_audit,
};
