/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of any kind but tasks: a tree for each table, by its key. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/memory/memory.h"

/* A part of a key stands before every row that begins with it. */
static int mem_compare_row(const struct mem_row *x, const struct mem_row *y)
{
	int n = x->n_key < y->n_key ? x->n_key : y->n_key;
	int order = row_compare(x->table, n, x->row, y->row);

	return order ? order : x->n_key - y->n_key;
}

RB_GENERATE(mem_rows, mem_row, entry, mem_compare_row)

static struct mem_rows *tree_of(struct mem_store *s, const struct row_table *t)
{
	return &s->rows[t->number];
}

struct mem_row *mem_from(struct mem_store *s, const struct row_table *t, int n_key, const void *key)
{
	struct mem_row probe = {.table = t, .row = (void *)key, .n_key = n_key};

	return RB_NFIND(mem_rows, tree_of(s, t), &probe);
}

struct mem_row *mem_first(struct mem_store *s, const struct row_table *t)
{
	return RB_MIN(mem_rows, tree_of(s, t));
}

struct mem_row *mem_last(struct mem_store *s, const struct row_table *t)
{
	return RB_MAX(mem_rows, tree_of(s, t));
}

struct mem_row *mem_next(struct mem_row *r)
{
	return RB_NEXT(mem_rows, NULL, r);
}

struct mem_row *mem_before(struct mem_store *s, const struct row_table *t, struct mem_row *r)
{
	return r ? RB_PREV(mem_rows, NULL, r) : mem_last(s, t);
}

void mem_put(struct mem_store *s, const struct row_table *t, const void *row)
{
	struct mem_row *r = xcalloc(1, sizeof *r), *old;

	*r = (struct mem_row){.table = t, .row = row_dup(t, row), .n_key = t->n_key};
	old = RB_INSERT(mem_rows, tree_of(s, t), r);
	if (!old)
		return;
	free(old->row);
	old->row = r->row;
	free(r);
}

void mem_put_state(struct mem_store *s, const struct row_table *t, const void *row)
{
	struct mem_row probe = {.table = t, .row = (void *)row, .n_key = t->n_key};
	struct mem_row *r = RB_FIND(mem_rows, tree_of(s, t), &probe);
	void *old;

	if (!r)
		return;
	old = r->row;
	row_take_state(t, old, row);
	r->row = row_dup(t, old);
	free(old);
}

void mem_remove(struct mem_store *s, struct mem_row *r)
{
	RB_REMOVE(mem_rows, tree_of(s, r->table), r);
	free(r->row);
	free(r);
}

/* All whose first column is this. */
static void remove_all(struct mem_store *s, const struct row_table *t, rid id)
{
	struct mem_row *r, *next;

	MUST(t->columns[0].offset == 0 && t->columns[0].type == COLUMN_I64);
	for (r = mem_from(s, t, 1, &id); r && row_compare(t, 1, r->row, &id) == 0; r = next) {
		next = mem_next(r);
		mem_remove(s, r);
	}
}

void mem_drop(struct mem_store *s, const struct row_table *t, const void *row)
{
	struct mem_row probe = {.table = t, .row = (void *)row, .n_key = t->n_key};
	struct mem_row *r = RB_FIND(mem_rows, tree_of(s, t), &probe);

	if (r)
		mem_remove(s, r);
}

void mem_trim(struct mem_store *s, const struct row_table *t, rid id, int64_t below)
{
	struct mem_row *r, *next;

	for (r = mem_from(s, t, 1, &id); r && row_compare(t, 1, r->row, &id) == 0; r = next) {
		next = mem_next(r);
		if (column_i64(&t->columns[1], r->row) < below)
			mem_remove(s, r);
	}
}

void mem_delete_belongings(struct mem_store *s, const struct row_table *t, rid id)
{
	for (int i = 0; i < N_TABLES; i++)
		if (row_tables[i]->belongs_to == t)
			remove_all(s, row_tables[i], id);
}

void mem_delete(struct mem_store *s, const struct row_table *t, rid id)
{
	mem_delete_belongings(s, t, id);
	remove_all(s, t, id);
}

void mem_clear(struct mem_store *s)
{
	struct mem_row *r;

	while (!RB_EMPTY(&s->tasks))
		mem_task_remove(s, RB_ROOT(&s->tasks));
	for (int i = 0; i < N_TABLES; i++)
		while ((r = mem_first(s, row_tables[i])))
			mem_remove(s, r);
}
