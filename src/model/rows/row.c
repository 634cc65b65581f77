/* SPDX-License-Identifier: Apache-2.0 */
#include "model/rows/row.h"

#include <stdlib.h>
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

static size_t strings_size(const struct row_table *t, const void *row)
{
	size_t size = 0;

	for (uint64_t set = strings_of(t); set;) {
		struct str s = column_str(next_string(t, &set), row);

		size += s.p ? s.n + 1 : 0;
	}
	return size;
}

static void move_strings(const struct row_table *t, void *row, char *to)
{
	for (uint64_t set = strings_of(t); set;) {
		struct str *s = column_at(next_string(t, &set), row);

		if (!s->p)
			continue;
		memcpy(to, s->p, s->n);
		to[s->n] = 0;
		s->p = to;
		to += s->n + 1;
	}
}

void *row_dup(const struct row_table *t, const void *row)
{
	char *copy = xmalloc(t->row_size + strings_size(t, row));

	memcpy(copy, row, t->row_size);
	move_strings(t, copy, copy + t->row_size);
	return copy;
}

void row_own(const struct row_table *t, void *row, char **strings)
{
	char *old = *strings;

	*strings = xmalloc(strings_size(t, row) + 1);
	move_strings(t, row, *strings);
	free(old);
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

static void take(const struct column *c, void *to, const void *from)
{
	memcpy(column_at(c, to), (const char *)from + c->offset, size_of(c));
}

void row_take_state(const struct row_table *t, void *to, const void *from)
{
	for (int i = 0; i < t->n; i++)
		if (t->columns[i].flags & COLUMN_STATE)
			take(&t->columns[i], to, from);
}

void row_take(const struct row_table *t, void *to, const void *from, uint64_t columns)
{
	for (int i = 0; i < t->n; i++)
		if (columns & (uint64_t)1 << i)
			take(&t->columns[i], to, from);
}

uint64_t row_settable(const struct row_table *t)
{
	uint64_t set = 0;

	for (int i = 0; i < t->n; i++)
		if (t->columns[i].flags & COLUMN_SETTABLE)
			set |= (uint64_t)1 << i;
	return set;
}

uint64_t row_bit(const struct row_table *t, size_t offset)
{
	for (int i = 0; i < t->n; i++)
		if (t->columns[i].offset == offset && t->columns[i].type != COLUMN_SUM)
			return (uint64_t)1 << i;
	MUST(!"a column of this table");
	return 0;
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

const struct column *row_flagged(const struct row_table *t, enum column_flag flag)
{
	for (int i = 0; i < t->n; i++)
		if (t->columns[i].flags & flag)
			return &t->columns[i];
	return NULL;
}

const struct column *row_name_column(const struct row_table *t)
{
	return row_flagged(t, COLUMN_NAME);
}

struct str row_time_zone(const struct row_table *t, const void *row)
{
	const struct column *c = row_flagged(t, COLUMN_TIME_ZONE);

	return c ? column_str(c, row) : STR_NULL;
}

const struct column *row_column(const struct row_table *t, const char *name)
{
	for (int i = 0; i < t->n; i++)
		if (strcmp(t->columns[i].name, name) == 0)
			return &t->columns[i];
	return NULL;
}
