/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums of rows, by the tables in columns.c: see docs/decisions/0022-checksums-of-rows.md. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string.h>

#include "base/mem.h"
#include "store/columns.h"

#define COLUMNS_MAX 96

struct pair {
	uint64_t name, value;
};

static bool in_group(const struct column *c, unsigned group)
{
	return c->type != COLUMN_SUM && !(c->flags & COLUMN_UNSUMMED) &&
	       (c->flags & COLUMN_GROUP) == group;
}

static uint64_t usage_value(const struct usage *u)
{
	const int64_t numbers[] = {u->user_us, u->system_us, u->peak_memory, u->oom_kills};

	return u->known ? XXH3_64bits(numbers, sizeof numbers) | 1 : 0;
}

/* 0: there is nothing. */
static uint64_t value_of(const struct column *c, const void *row)
{
	struct str s;

	switch (c->type) {
	case COLUMN_I32: return (uint64_t)(int64_t)column_i32(c, row);
	case COLUMN_I64: return (uint64_t)column_i64(c, row);
	case COLUMN_USAGE: return usage_value(column_usage(c, row));
	default: s = column_str(c, row); return s.p ? XXH3_64bits(s.p, s.n) | 1 : 0;
	}
}

int32_t row_sum(const struct row_table *t, const void *row, unsigned group)
{
	struct pair all[COLUMNS_MAX];
	size_t n = 0;

	MUST(t->n <= COLUMNS_MAX);
	for (int i = 0; i < t->n; i++) {
		const struct column *c = &t->columns[i];
		uint64_t value = in_group(c, group) ? value_of(c, row) : 0;

		if (value)
			all[n++] = (struct pair){XXH3_64bits(c->name, strlen(c->name)), value};
	}
	return (int32_t)(uint32_t)XXH3_64bits(all, n * sizeof all[0]);
}

void row_blank(const struct row_table *t, void *row, unsigned group)
{
	for (int i = 0; i < t->n; i++)
		if (in_group(&t->columns[i], group) && column_is_str(&t->columns[i]))
			*(struct str *)column_at(&t->columns[i], row) = STR_NULL;
}
