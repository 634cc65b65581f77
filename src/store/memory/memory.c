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
	pthread_mutex_destroy(&s->mutex);
	free(s);
}

static int mem_migrate(const char *place, int version, struct problem *ret_problem)
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
	struct task_row merged;

	if (!t)
		return;
	merged = *t->row;
	merged.state = from->state;
	merged.spec.priority = from->spec.priority;
	mem_task_unlink(s, t);
	from = row_dup(&task_table, &merged);
	free(t->row);
	t->row = (struct task_row *)from;
	mem_task_link(s, t);
}

static void prune_task(struct mem_store *s, rid id)
{
	struct mem_task *t = mem_task_find(s, id);

	if (t && task_is_ended(t->row->state.status))
		mem_task_remove(s, t);
}

static void put_counts(struct mem_store *s, const struct queue_row *from)
{
	struct queue_row *q = mem_num_get(&s->queues, from->id);

	if (!q)
		return;
	q->n_succeeded = from->n_succeeded;
	q->n_failed = from->n_failed;
	q->n_other = from->n_other;
}

static void delete_queue(struct mem_store *s, rid id)
{
	struct mem_task *t, *next;

	RB_FOREACH_SAFE (t, mem_ids, &s->tasks, next)
		if (t->row->spec.queue == id)
			mem_task_remove(s, t);
	mem_num_del(&s->queues, id);
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

static void saw_id(struct mem_store *s, rid id)
{
	if (id > s->last_id)
		s->last_id = id;
}

static void put_event(struct mem_store *s, const struct event_row *e)
{
	struct event_row linked = *e;

	chain_link(&s->head, &linked);
	mem_num_put(&s->events, &event_table, &linked);
	if (e->seq > s->last_event)
		s->last_event = e->seq;
}

static void apply(struct mem_store *s, const struct row_op *op)
{
	switch (op->kind) {
	case ROW_TASK_INSERT: mem_task_add(s, row_dup(&task_table, op->task)); break;
	case ROW_TASK_UPDATE: update_task(s, op->task); break;
	case ROW_TASK_PRUNE: prune_task(s, op->id); break;
	case ROW_QUEUE_PUT:
		mem_num_put(&s->queues, &queue_table, op->queue);
		saw_id(s, op->queue->id);
		break;
	case ROW_QUEUE_COUNTS: put_counts(s, op->queue); break;
	case ROW_QUEUE_DELETE: delete_queue(s, op->id); break;
	case ROW_QUEUE_RERANK: rerank_queue(s, op->id, op->order); break;
	case ROW_WORKER_PUT:
		mem_num_put(&s->workers, &worker_table, op->worker);
		saw_id(s, op->worker->id);
		break;
	case ROW_WORKER_DELETE: mem_num_del(&s->workers, op->id); break;
	case ROW_EVENT: put_event(s, op->event); break;
	case ROW_IDEMPOTENT: mem_name_put(&s->idems, &idem_table, op->idem); break;
	case ROW_OUTPUT: mem_output_put(s, op->output); break;
	case ROW_META: mem_name_put(&s->metas, &meta_table, op->meta); break;
	case ROW_SCHEDULE_PUT:
		mem_num_put(&s->schedules, &schedule_table, op->schedule);
		saw_id(s, op->schedule->id);
		break;
	case ROW_SCHEDULE_PROGRESS: mem_schedule_progress(s, op->schedule); break;
	case ROW_SCHEDULE_DELETE: mem_schedule_delete(s, op->id); break;
	case ROW_TICK: mem_tick_put(s, op->tick); break;
	case ROW_TOKEN_PUT:
		mem_num_put(&s->tokens, &token_table, op->token);
		saw_id(s, op->token->id);
		break;
	case ROW_TOKEN_DELETE: mem_num_del(&s->tokens, op->id); break;
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
	size_t n = 0;
	bool twice = false;

	for (size_t i = 0; i < b->n; i++)
		if (b->rows[i].kind == ROW_TASK_INSERT)
			ids[n++] = b->rows[i].task->id;
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
	pthread_mutex_unlock(&s->mutex);
	return rc;
}

static void expire_idems(struct mem_store *s, int64_t before_ms)
{
	struct mem_row *r, *next;

	RB_FOREACH_SAFE (r, mem_names, &s->idems, next) {
		if (((struct idem_row *)r->row)->time_ms >= before_ms)
			continue;
		RB_REMOVE(mem_names, &s->idems, r);
		free(r->row);
		free(r);
	}
}

static void expire_events(struct mem_store *s, int64_t before_ms)
{
	struct mem_row *r, *last = RB_MAX(mem_nums, &s->events);
	int64_t newest_ms = last ? ((struct event_row *)last->row)->time_ms : 0;
	uint64_t up_to = 0;

	RB_FOREACH (r, mem_nums, &s->events) {
		const struct event_row *e = r->row;

		if (event_stays(e, before_ms, newest_ms))
			break;
		if (e->time_ms < before_ms)
			up_to = e->seq;
	}
	while ((r = RB_MIN(mem_nums, &s->events)) && *(uint64_t *)r->row <= up_to) {
		chain_expire(&s->anchor, r->row);
		mem_num_del(&s->events, *(uint64_t *)r->row);
	}
}

static int mem_expire(struct store *base, int64_t idem_before_ms, int64_t events_before_ms,
    struct problem *ret_problem)
{
	struct mem_store *s = (struct mem_store *)base;

	pthread_mutex_lock(&s->mutex);
	expire_idems(s, idem_before_ms);
	expire_events(s, events_before_ms);
	mem_ticks_expire(s, events_before_ms);
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
    .task_list = mem_task_list,
    .task_count = mem_task_count,
    .queue_head = mem_queue_head,
    .queue_due = mem_queue_due,
    .find_key = mem_find_key,
    .find_idem = mem_find_idem,
    .prunable = mem_prunable,
    .count_ended = mem_count_ended,
    .output = mem_output,
    .ticks = mem_ticks,
    .events = mem_events,
    .events_before = mem_events_before,
    .audit = mem_audit,
};
