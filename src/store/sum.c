/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums of rows, by the tables in columns.c: see docs/decisions/0022-checksums-of-rows.md. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string.h>

#include "base/mem.h"
#include "store/columns.h"

struct pair {
	uint64_t name, value;
};

/* Every column that is not 0 or NULL, by its group. */
struct pairs {
	struct pair of[COLUMN_GROUPS][COLUMNS_MAX];
	size_t n[COLUMN_GROUPS];
};

static bool is_summed(const struct column *c)
{
	return c->type != COLUMN_SUM && !(c->flags & COLUMN_UNSUMMED);
}

/* Names never change, so they are hashed once; two threads that do so agree. */
static uint64_t name_of(const struct row_table *t, int i)
{
	uint64_t hash = __atomic_load_n(&t->name_hashes[i], __ATOMIC_RELAXED);

	if (!hash) {
		hash = XXH3_64bits(t->columns[i].name, strlen(t->columns[i].name));
		__atomic_store_n(&t->name_hashes[i], hash, __ATOMIC_RELAXED);
	}
	return hash;
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

void row_sums(
    const struct row_table *t, const void *row, unsigned groups, int32_t ret_sums[COLUMN_GROUPS])
{
	struct pairs p;

	MUST(t->n <= COLUMNS_MAX);
	memset(p.n, 0, sizeof p.n);
	for (int i = 0; i < t->n; i++) {
		const struct column *c = &t->columns[i];
		unsigned group = c->flags & COLUMN_GROUP;
		uint64_t value;

		if (groups & 1u << group && is_summed(c) && (value = value_of(c, row)))
			p.of[group][p.n[group]++] = (struct pair){name_of(t, i), value};
	}
	for (unsigned group = 0; group < COLUMN_GROUPS; group++)
		if (groups & 1u << group)
			ret_sums[group] = (int32_t)(uint32_t)XXH3_64bits(
			    p.of[group], p.n[group] * sizeof p.of[group][0]);
}

void row_blank(const struct row_table *t, void *row, unsigned group)
{
	for (int i = 0; i < t->n; i++) {
		const struct column *c = &t->columns[i];

		if (is_summed(c) && (c->flags & COLUMN_GROUP) == group && column_is_str(c))
			*(struct str *)column_at(c, row) = STR_NULL;
	}
}
