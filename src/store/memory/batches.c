/* SPDX-License-Identifier: Apache-2.0 */
/* The memory backend's batches of tasks: how many tasks each has, their rows, how they stand. */
#include <string.h>

#include "base/mem.h"
#include "store/memory/memory.h"

static uintptr_t tasks_in(struct mem_store *s, rid batch)
{
	return (uintptr_t)idmap_get(&s->in_batch, batch);
}

void mem_batch_count(struct mem_store *s, const struct task_row *t, int delta)
{
	uintptr_t n;

	if (!t->spec.batch)
		return;
	n = tasks_in(s, t->spec.batch) + (uintptr_t)delta;
	if (n)
		idmap_put(&s->in_batch, t->spec.batch, (void *)n);
	else
		idmap_del(&s->in_batch, t->spec.batch);
	if (delta > 0)
		return;
	GROW(s->lossy, s->lossy_cap, s->n_lossy + 1);
	s->lossy[s->n_lossy++] = t->spec.batch;
}

static struct task_batch_row *find(struct mem_store *s, rid id)
{
	struct task_batch_row key = {.id = id};
	struct mem_row *r = mem_from(s, &task_batch_table, 1, &key);
	struct task_batch_row *row = r ? r->row : NULL;

	return row && row->id == id ? row : NULL;
}

void mem_drop_empty_batches(struct mem_store *s)
{
	for (size_t i = 0; i < s->n_lossy; i++) {
		struct task_batch_row *row = find(s, s->lossy[i]);

		if (row)
			row->n_gone++;
		if (row && row->n_gone >= row->n_tasks)
			mem_delete(s, &task_batch_table, row->id);
	}
	s->n_lossy = 0;
}

int mem_batch_get(
    struct store_reader *base, rid id, struct arena *a, struct task_batch_row *ret_row)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;
	const struct task_batch_row *row;
	int rc = 0;

	pthread_mutex_lock(&s->mutex);
	row = find(s, id);
	if (row)
		row_copy(&task_batch_table, a, row, 0, ret_row);
	else if (tasks_in(s, id))
		*ret_row =
		    (struct task_batch_row){.id = id, .ctime_ms = id_time_ms(id), .is_old = true};
	else
		rc = ERR_NOT_FOUND;
	pthread_mutex_unlock(&s->mutex);
	return rc;
}

static bool is_asked(const struct batch_query *q, const struct task_batch_row *row)
{
	if (q->before && row->id >= q->before)
		return false;
	if (!q->name.p)
		return true;
	return row->name.p && (q->whole ? str_eq(row->name, q->name)
	                                : row->name.n >= q->name.n &&
	                                      memcmp(row->name.p, q->name.p, q->name.n) == 0);
}

int mem_batch_list(struct store_reader *base, const struct batch_query *q, struct arena *a,
    struct batch_page *ret_page)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;
	struct mem_row *r = NULL;
	size_t cap = 0;

	pthread_mutex_lock(&s->mutex);
	while (ret_page->n < q->limit && (r = mem_before(s, &task_batch_table, r))) {
		if (!is_asked(q, r->row))
			continue;
		ret_page->rows =
		    arena_room(a, ret_page->rows, ret_page->n, &cap, sizeof *ret_page->rows);
		row_copy(&task_batch_table, a, r->row, 0, &ret_page->rows[ret_page->n++]);
	}
	pthread_mutex_unlock(&s->mutex);
	return 0;
}

static struct pace_count *count_of(
    struct arena *a, struct pace_count **counts, size_t *n, size_t *cap, int32_t status)
{
	size_t at = 0;

	while (at < *n && (*counts)[at].status < status)
		at++;
	if (at < *n && (*counts)[at].status == status)
		return &(*counts)[at];
	*counts = arena_room(a, *counts, *n, cap, sizeof **counts);
	memmove(*counts + at + 1, *counts + at, (*n - at) * sizeof **counts);
	(*counts)[at] = (struct pace_count){.status = status, .last_ms = INT64_MIN};
	++*n;
	return &(*counts)[at];
}

int mem_task_pace(struct store_reader *base, const struct task_filter *f, int64_t since_ms,
    struct arena *a, struct pace_count **ret_counts, size_t *ret_n)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;
	struct mem_task *t;
	size_t cap = 0;

	pthread_mutex_lock(&s->mutex);
	RB_FOREACH (t, mem_ids, &s->tasks) {
		const struct task_state *is = &t->row->state;
		struct pace_count *n;

		if (!mem_task_matches(f, t->row))
			continue;
		n = count_of(a, ret_counts, ret_n, &cap, is->status);
		n->n++;
		n->n_since += is->mtime_ms >= since_ms;
		if (is->mtime_ms > n->last_ms)
			n->last_ms = is->mtime_ms;
	}
	pthread_mutex_unlock(&s->mutex);
	return 0;
}
