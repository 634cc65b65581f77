/* SPDX-License-Identifier: Apache-2.0 */
#define XXH_INLINE_ALL
#include "store/sum.h"

#include <string.h>
#include <xxhash.h>

#include "base/mem.h"

uint64_t sum_hash_name(const struct row_table *t, int column)
{
	const struct column *c = &t->columns[column];
	const char *name = c->summed_as ? c->summed_as : c->name;
	uint64_t hash = XXH3_64bits(name, strlen(name));

	MUST(column < COLUMNS_MAX);
	__atomic_store_n(&t->made->name_hashes[column], hash, __ATOMIC_RELAXED);
	return hash;
}

uint64_t sum_value_str(struct str s)
{
	return s.p ? XXH3_64bits(s.p, s.n) | 1 : 0;
}

uint64_t sum_value_usage(const struct usage *u)
{
	const int64_t numbers[] = {u->user_us, u->system_us, u->peak_memory, u->oom_kills};

	return u->known ? XXH3_64bits(numbers, sizeof numbers) | 1 : 0;
}

int32_t sums_of(const struct sums *s, unsigned set)
{
	return (int32_t)(uint32_t)XXH3_64bits(s->pairs[set], s->n[set] * sizeof s->pairs[set][0]);
}

static uint64_t value_of(const struct column *c, const void *row)
{
	switch (c->type) {
	case COLUMN_I32: return (uint64_t)column_i32(c, row);
	case COLUMN_I64: return (uint64_t)column_i64(c, row);
	case COLUMN_USAGE: return sum_value_usage(column_usage(c, row));
	case COLUMN_SUM: return 0;
	default: return sum_value_str(column_str(c, row));
	}
}

int32_t row_sum(const struct row_table *t, const void *row, unsigned set)
{
	struct sums s;

	sums_begin(&s);
	for (int i = 0; i < t->n; i++)
		if ((t->columns[i].flags & COLUMN_SET) == set)
			sums_add(&s, t, &t->columns[i], i, value_of(&t->columns[i], row));
	return sums_of(&s, set);
}

void row_blank(const struct row_table *t, void *row, unsigned set)
{
	for (int i = 0; i < t->n; i++) {
		const struct column *c = &t->columns[i];

		if (column_is_str(c) && (c->flags & COLUMN_SET) == set &&
		    !(c->flags & COLUMN_UNSUMMED))
			*(struct str *)column_at(c, row) = STR_NULL;
	}
}
