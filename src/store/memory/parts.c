/* SPDX-License-Identifier: Apache-2.0 */
/* The recorded parts of an object, as the memory backend tells of them. */
#include <stdlib.h>

#include "base/mem.h"
#include "store/memory/memory.h"

struct part {
	const struct row_table *table;
	const void *row;
};

static int64_t time_of(const struct part *p)
{
	return column_i64(row_column(p->table, "time_ms"), p->row);
}

static int compare_newest(const void *x, const void *y)
{
	const struct part *a = x, *b = y;

	if (time_of(a) != time_of(b))
		return time_of(a) > time_of(b) ? -1 : 1;
	return row_compare(a->table, a->table->n_key, b->row, a->row);
}

static bool is_behind(const struct part_query *q, const struct part *p)
{
	return q->oldest_first || !q->after ||
	       compare_newest(&(struct part){q->table, q->after}, p) < 0;
}

/* Where the asked ones begin: so much of the key, and nothing else. */
static void *first_of(const struct part_query *q, struct arena *a)
{
	void *row = arena_zalloc(a, q->table->row_size);

	*(int64_t *)column_at(&q->table->columns[0], row) = (int64_t)q->object;
	*(int64_t *)column_at(&q->table->columns[1], row) = q->from;
	return row;
}

/* All that is asked for, by key; the caller frees the list. */
static size_t collect(
    struct mem_store *s, const struct part_query *q, struct arena *a, struct part **ret)
{
	const struct row_table *t = q->table;
	const struct column *at = &t->columns[1];
	const struct column *end = q->reaching ? row_flagged(t, COLUMN_REACH) : at;
	bool bounded = q->from || q->to;
	void *first = first_of(q, a);
	struct mem_row *r = mem_from(s, t, bounded && !q->reaching ? 2 : 1, first);
	struct part *found = NULL;
	size_t n = 0, cap = 0;

	for (; r && row_compare(t, 1, r->row, first) == 0; r = mem_next(r)) {
		struct part p = {t, r->row};

		if (q->to && column_i64(at, r->row) >= q->to)
			break;
		if (!is_behind(q, &p) || (bounded && column_i64(end, r->row) < q->from))
			continue;
		GROW(found, cap, n + 1);
		found[n++] = p;
	}
	*ret = found;
	return n;
}

int mem_parts(struct store_reader *base, const struct part_query *q, struct arena *a,
    struct part_page *ret_page)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;
	size_t size = q->table->row_size, n;
	struct part *found;

	pthread_mutex_lock(&s->mutex);
	n = collect(s, q, a, &found);
	if (n && !q->oldest_first)
		qsort(found, n, sizeof *found, compare_newest);
	if (n > q->limit)
		n = q->limit;
	ret_page->rows = arena_alloc(a, n * size);
	for (; ret_page->n < n; ret_page->n++)
		row_copy(q->table, a, found[ret_page->n].row, 0,
		    (char *)ret_page->rows + ret_page->n * size);
	pthread_mutex_unlock(&s->mutex);
	free(found);
	return 0;
}
