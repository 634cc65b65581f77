/* SPDX-License-Identifier: Apache-2.0 */
#include "model/row.h"

#include <string.h>

#include "base/mem.h"

#define THREE_WAY(x, y) ((x) < (y) ? -1 : (x) > (y))

/* Copies are made all the time, and few of the columns are strings: a set, found once. */
static uint64_t strings_of(const struct row_table *t)
{
	uint64_t set = __atomic_load_n(&t->made->strings, __ATOMIC_RELAXED);

	if (set)
		return set;
	for (int i = 0; i < t->n; i++)
		set |= (uint64_t)column_is_str(&t->columns[i]) << i;
	__atomic_store_n(&t->made->strings, set, __ATOMIC_RELAXED);
	return set;
}

static const struct column *next_string(const struct row_table *t, uint64_t *set)
{
	int i = __builtin_ctzll(*set);

	*set &= *set - 1;
	return &t->columns[i];
}

void *row_new(struct arena *a, const struct row_table *t, const void *row)
{
	void *copy = arena_memdup(a, row, t->row_size);

	for (uint64_t set = strings_of(t); set;) {
		struct str *s = column_at(next_string(t, &set), copy);

		*s = arena_str(a, *s);
	}
	return copy;
}

void row_copy(
    const struct row_table *t, struct arena *a, const void *row, unsigned skip_flags, void *ret_row)
{
	memmove(ret_row, row, t->row_size);
	for (uint64_t set = strings_of(t); set;) {
		const struct column *c = next_string(t, &set);
		struct str *s = column_at(c, ret_row);

		*s = c->flags & skip_flags ? STR_NULL : arena_str(a, *s);
	}
}

void *row_dup(const struct row_table *t, const void *row)
{
	size_t size = t->row_size;
	char *copy, *at;

	for (uint64_t set = strings_of(t); set;) {
		struct str s = column_str(next_string(t, &set), row);

		size += s.p ? s.n + 1 : 0;
	}
	copy = xmalloc(size);
	memcpy(copy, row, t->row_size);
	at = copy + t->row_size;
	for (uint64_t set = strings_of(t); set;) {
		struct str *s = column_at(next_string(t, &set), copy);

		if (!s->p)
			continue;
		memcpy(at, s->p, s->n);
		at[s->n] = 0;
		s->p = at;
		at += s->n + 1;
	}
	return copy;
}

static size_t size_of(const struct column *c)
{
	switch (c->type) {
	case COLUMN_I32: return sizeof(int32_t);
	case COLUMN_I64: return sizeof(int64_t);
	case COLUMN_USAGE: return sizeof(struct usage);
	case COLUMN_SUM: return 0;
	default: return sizeof(struct str);
	}
}

void row_take_state(const struct row_table *t, void *to, const void *from)
{
	for (int i = 0; i < t->n; i++) {
		const struct column *c = &t->columns[i];

		if (c->flags & COLUMN_STATE)
			memcpy(column_at(c, to), (const char *)from + c->offset, size_of(c));
	}
}

static bool column_differs(const struct column *c, const void *x, const void *y)
{
	struct str sx, sy;

	if (c->type == COLUMN_I32)
		return column_i32(c, x) != column_i32(c, y);
	if (c->type == COLUMN_I64)
		return column_i64(c, x) != column_i64(c, y);
	if (c->type == COLUMN_USAGE)
		return !usage_equal(column_usage(c, x), column_usage(c, y));
	if (c->type == COLUMN_SUM)
		return false;
	sx = column_str(c, x);
	sy = column_str(c, y);
	return !sx.p != !sy.p || !str_eq(sx, sy);
}

const struct column *row_differs(const struct row_table *t, const void *x, const void *y)
{
	for (int i = 0; i < t->n; i++)
		if (column_differs(&t->columns[i], x, y))
			return &t->columns[i];
	return NULL;
}

int row_compare(const struct row_table *t, int n, const void *x, const void *y)
{
	int order = 0;

	for (int i = 0; i < n && !order; i++) {
		const struct column *c = &t->columns[i];

		if (column_is_str(c))
			order = str_cmp(column_str(c, x), column_str(c, y));
		else if (c->type == COLUMN_I32)
			order = THREE_WAY(column_i32(c, x), column_i32(c, y));
		else
			order = THREE_WAY(column_i64(c, x), column_i64(c, y));
	}
	return order;
}

const struct column *row_name_column(const struct row_table *t)
{
	for (int i = 0; i < t->n; i++)
		if (t->columns[i].flags & COLUMN_NAME)
			return &t->columns[i];
	return NULL;
}

const struct column *row_column(const struct row_table *t, const char *name)
{
	for (int i = 0; i < t->n; i++)
		if (strcmp(t->columns[i].name, name) == 0)
			return &t->columns[i];
	return NULL;
}
