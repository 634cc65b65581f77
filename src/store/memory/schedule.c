/* SPDX-License-Identifier: Apache-2.0 */
/* The memory backend's schedules, and what became of their ticks. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/memory/memory.h"

void mem_schedule_progress(struct mem_store *s, const struct schedule_row *from)
{
	struct schedule_row *to = mem_num_get(&s->schedules, from->id);

	if (!to)
		return;
	to->state = from->state;
	to->progress = from->progress;
}

static void free_tick(struct mem_store *s, struct mem_row *r)
{
	RB_REMOVE(mem_ticks, &s->ticks, r);
	free(r->row);
	free(r);
}

/* The schedule's first tick at or after `tick_s`, or what follows all of them. */
static struct mem_row *tick_from(struct mem_store *s, rid schedule, int64_t tick_s)
{
	struct tick_row row = {.schedule = schedule, .tick_s = tick_s, .offset_s = INT64_MIN};
	struct mem_row probe = {.row = &row};

	return RB_NFIND(mem_ticks, &s->ticks, &probe);
}

void mem_schedule_delete(struct mem_store *s, rid id)
{
	struct mem_row *r, *next;

	for (r = tick_from(s, id, INT64_MIN); r && ((struct tick_row *)r->row)->schedule == id;
	     r = next) {
		next = RB_NEXT(mem_ticks, &s->ticks, r);
		free_tick(s, r);
	}
	mem_num_del(&s->schedules, id);
}

void mem_tick_put(struct mem_store *s, const struct tick_row *row)
{
	struct mem_row *r = xcalloc(1, sizeof *r), *old;

	r->row = row_dup(&tick_table, row);
	old = RB_INSERT(mem_ticks, &s->ticks, r);
	if (!old)
		return;
	free(old->row);
	old->row = r->row;
	free(r);
}

void mem_ticks_expire(struct mem_store *s, int64_t before_ms)
{
	struct mem_row *r, *next;

	RB_FOREACH_SAFE (r, mem_ticks, &s->ticks, next)
		if (((struct tick_row *)r->row)->time_ms < before_ms)
			free_tick(s, r);
}

void mem_ticks_clear(struct mem_store *s)
{
	while (!RB_EMPTY(&s->ticks))
		free_tick(s, RB_ROOT(&s->ticks));
}

int mem_load_schedules(struct mem_store *s, const struct store_loader *l)
{
	struct mem_row *r;
	struct mem_task *t;
	int rc;

	RB_FOREACH (r, mem_nums, &s->schedules)
		if ((rc = l->schedule(l->arg, r->row)))
			return rc;
	RB_FOREACH (t, mem_ids, &s->tasks) {
		if (!t->row->spec.schedule || task_is_ended(t->row->state.status))
			continue;
		if ((rc = l->schedule_task(
		         l->arg, t->row->spec.schedule, t->row->id, t->row->spec.queue)))
			return rc;
	}
	return 0;
}

static int compare_newest(const void *x, const void *y)
{
	const struct tick_row *a = *(struct tick_row *const *)x, *b = *(struct tick_row *const *)y;

	if (a->time_ms != b->time_ms)
		return a->time_ms > b->time_ms ? -1 : 1;
	if (a->tick_s != b->tick_s)
		return a->tick_s > b->tick_s ? -1 : 1;
	return a->offset_s > b->offset_s ? -1 : a->offset_s < b->offset_s;
}

static bool is_behind(const struct tick_query *q, const struct tick_row *t)
{
	const struct tick_row place = {
	    .time_ms = q->after_time_ms, .tick_s = q->after_tick_s, .offset_s = q->after_offset_s};
	const struct tick_row *p = &place;

	return q->oldest_first || !q->after_time_ms || compare_newest(&p, &t) < 0;
}

/* All that is asked for, by tick; the caller frees the list. */
static size_t collect(struct mem_store *s, const struct tick_query *q, struct tick_row ***ret)
{
	struct tick_row **found = NULL;
	size_t n = 0, cap = 0;
	struct mem_row *r;
	bool bounded = q->from_s || q->to_s;

	r = tick_from(s, q->schedule, bounded && !q->reaching ? q->from_s : INT64_MIN);
	for (; r; r = RB_NEXT(mem_ticks, &s->ticks, r)) {
		struct tick_row *t = r->row;

		if (t->schedule != q->schedule || (q->to_s && t->tick_s >= q->to_s))
			break;
		if (!is_behind(q, t) || (bounded && q->reaching && t->until_s < q->from_s))
			continue;
		GROW(found, cap, n + 1);
		found[n++] = t;
	}
	*ret = found;
	return n;
}

int mem_ticks(struct store_reader *base, const struct tick_query *q, struct arena *a,
    struct tick_row **ret_rows, size_t *ret_n)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;
	struct tick_row **found;
	size_t n;

	pthread_mutex_lock(&s->mutex);
	n = collect(s, q, &found);
	if (n && !q->oldest_first)
		qsort(found, n, sizeof(struct tick_row *), compare_newest);
	if (n > q->limit)
		n = q->limit;
	*ret_rows = arena_alloc(a, n * sizeof **ret_rows);
	for (; *ret_n < n; ++*ret_n)
		row_copy(&tick_table, a, found[*ret_n], 0, &(*ret_rows)[*ret_n]);
	pthread_mutex_unlock(&s->mutex);
	free(found);
	return 0;
}
