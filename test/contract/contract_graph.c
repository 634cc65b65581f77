/* SPDX-License-Identifier: Apache-2.0 */
/* Kept graphs and their packages: written, read in order of their numbers, replaced, removed. */
#include "contract.h"

#define GRAPHS 4
#define PACKAGES 50

static void put_graphs(struct ctx *c, struct graph_row *rows, uint64_t seed)
{
	struct rng rng = {seed};

	for (int i = 0; i < GRAPHS; i++) {
		row_random(&graph_table, &rng, &c->a, &rows[i]);
		rows[i].id = (rid)i + 1;
		batch_put(&c->b, &graph_table, &rows[i]);
	}
}

static void assert_graphs(struct ctx *c, const struct graph_row *rows, size_t n)
{
	struct start seen;

	start_read(c, &seen);
	assert_int_equal(seen.n_graphs, n);
	for (size_t i = 0; i < n; i++)
		assert_same_row(&graph_table, &rows[i], &seen.graphs[i]);
}

void test_graph_round_trip(void **state)
{
	struct ctx *c = *state;
	struct graph_row rows[GRAPHS];

	put_graphs(c, rows, 51);
	commit(c);
	assert_graphs(c, rows, GRAPHS);
	put_graphs(c, rows, 52); /* replaced by id */
	commit(c);
	assert_graphs(c, rows, GRAPHS);
	batch_delete(&c->b, &graph_table, rows[GRAPHS - 1].id);
	commit(c);
	assert_graphs(c, rows, GRAPHS - 1);
}

static void put_packages(
    struct ctx *c, rid graph, struct graph_package_row *rows, size_t n, uint64_t seed)
{
	struct rng rng = {seed};

	for (size_t i = 0; i < n; i++) {
		row_random(&graph_package_table, &rng, &c->a, &rows[i]);
		rows[i].graph = graph;
		rows[i].number = (int64_t)i;
		batch_put(&c->b, &graph_package_table, &rows[i]);
	}
}

/* Page by page, as a server reads them. */
static void assert_packages(
    struct ctx *c, rid graph, const struct graph_package_row *rows, size_t n)
{
	struct part_query q = {
	    .table = &graph_package_table, .object = graph, .oldest_first = true, .limit = 7};
	struct part_page page;
	size_t seen = 0;

	do {
		q.from = (int64_t)seen;
		assert_int_equal(store_parts(c->r, &q, &c->a, &page), 0);
		for (size_t i = 0; i < page.n; i++) {
			assert_true(seen < n);
			assert_same_row(&graph_package_table, &rows[seen++],
			    &((struct graph_package_row *)page.rows)[i]);
		}
	} while (page.n);
	assert_int_equal(seen, n);
}

void test_graph_packages(void **state)
{
	struct ctx *c = *state;
	struct graph_row rows[GRAPHS];
	struct graph_package_row one[PACKAGES], two[PACKAGES], fewer[PACKAGES / 2];

	put_graphs(c, rows, 53);
	put_packages(c, 1, one, PACKAGES, 54);
	put_packages(c, 2, two, PACKAGES, 55);
	commit(c);
	assert_packages(c, 1, one, PACKAGES);
	put_packages(c, 1, one, PACKAGES / 2, 56); /* newer uploads in the same places */
	commit(c);
	assert_packages(c, 1, one, PACKAGES);
	assert_packages(c, 2, two, PACKAGES);
	/* all others go, in the same commit in which these come */
	batch_trim(&c->b, &graph_package_table, 1, INT64_MAX);
	put_packages(c, 1, fewer, PACKAGES / 2, 57);
	commit(c);
	assert_packages(c, 1, fewer, PACKAGES / 2);
	assert_packages(c, 2, two, PACKAGES);
	batch_delete(&c->b, &graph_table, 1);
	commit(c);
	assert_packages(c, 1, NULL, 0);
	assert_packages(c, 2, two, PACKAGES);
}
