/* SPDX-License-Identifier: Apache-2.0 */
/* What became of the ticks of a schedule, as the memory backend tells it. */
#include <stdlib.h>

#include "base/mem.h"
#include "store/memory/memory.h"

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
	struct tick_row **found = NULL, from = {.schedule = q->schedule};
	size_t n = 0, cap = 0;
	struct mem_row *r;
	bool bounded = q->from_s || q->to_s;

	from.tick_s = q->from_s;
	r = mem_from(s, &tick_table, bounded && !q->reaching ? 2 : 1, &from);
	for (; r; r = mem_next(r)) {
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
