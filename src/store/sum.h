/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checksums of rows, gathered while their columns are bound or read: a second walk over them would
 * cost as much as the sums themselves. See docs/decisions/0022-checksums-of-rows.md.
 */
#ifndef STORE_SUM_H
#define STORE_SUM_H

#include "model/rows/row.h"

/* What goes into the sums so far: names and values of a set's columns, in their order. */
struct sums {
	struct {
		uint64_t name, value;
	} pairs[COLUMN_SETS][COLUMNS_MAX];
	unsigned n[COLUMN_SETS];
};

uint64_t sum_hash_name(const struct row_table *t, int column);
/* The values of what is no number. 0: there is nothing. */
uint64_t sum_value_str(struct str s);
uint64_t sum_value_usage(const struct usage *u);

static inline void sums_begin(struct sums *s)
{
	for (int set = 0; set < COLUMN_SETS; set++)
		s->n[set] = 0;
}

/* What is 0 or NULL does not count, so a column that is added later changes nothing. */
static inline void sums_add(
    struct sums *s, const struct row_table *t, const struct column *c, int column, uint64_t value)
{
	/* names never change, so they are hashed once; two threads that do so agree */
	uint64_t name = __atomic_load_n(&t->made->name_hashes[column], __ATOMIC_RELAXED);
	unsigned flags = c->flags, set = flags & COLUMN_SET;

	s->pairs[set][s->n[set]].name = name ? name : sum_hash_name(t, column);
	s->pairs[set][s->n[set]].value = value;
	s->n[set] += value != 0 && !(flags & COLUMN_UNSUMMED);
}

/* When every column of the set has been added. */
int32_t sums_of(const struct sums *s, unsigned set);
/* Of a row that is in memory. */
int32_t row_sum(const struct row_table *t, const void *row, unsigned set);
/* Nobody knows what a damaged set said: its texts come out NULL. */
void row_blank(const struct row_table *t, void *row, unsigned set);

#endif
