/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a DAG, against what can be counted by hand and by a slow way. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "graph/dag/measure.h"

#define N_MAX 1200

/* needs[j]: "0,2" of each job; durations may be NULL. */
static struct dag dag_of(const char *const *needs, uint32_t n, const int64_t *durations)
{
	struct dag d = {.n = n};
	uint32_t at = 0;

	d.first = xcalloc(n + 1, sizeof *d.first);
	d.needs = xcalloc(64, sizeof *d.needs);
	d.why = xcalloc(64, 1);
	if (durations)
		d.duration = xcalloc(n, sizeof *d.duration);
	for (uint32_t j = 0; j < n; j++) {
		struct str rest = str_of(needs[j]), word;
		int64_t need;

		while (rest.n && str_next(&rest, ',', &word)) {
			assert_true(str_to_i64(word, 0, n - 1, &need));
			d.why[at] = 1;
			d.needs[at++] = (uint32_t)need;
		}
		d.first[j + 1] = at;
		if (durations)
			d.duration[j] = durations[j];
	}
	return d;
}

static const int64_t uneven[] = {5, 1, 1, 1, 6};

static const struct {
	const char *name;
	const char *needs[8];
	uint32_t n;
	const int64_t *durations;
	uint32_t chain, wide, at_once;
	int64_t critical, total, two_oldest, two_longest;
} stories[] = {
    {"none", {NULL}, 0, NULL, 0, 0, 0, 0, 0, 0, 0},
    {"one", {""}, 1, NULL, 1, 1, 1, 1, 1, 1, 1},
    {"a chain", {"", "0", "1", "2"}, 4, NULL, 4, 1, 1, 4, 4, 4, 4},
    {"side by side", {"", "", "", "", ""}, 5, NULL, 1, 5, 5, 1, 5, 3, 3},
    {"a diamond", {"", "0", "0", "1,2"}, 4, NULL, 3, 2, 1, 3, 4, 3, 3},
    {"a long one behind", {"", "", "", "", "3"}, 5, NULL, 2, 4, 4, 2, 5, 3, 3},
    {"the last in line leads to the most", {"", "", "", "", "3"}, 5, uneven, 2, 4, 4, 7, 14, 9, 7},
};

static void test_measures(void **state)
{
	for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
		struct dag d = dag_of(stories[i].needs, stories[i].n, stories[i].durations);
		struct measures m;

		dag_measure(&d, &m);
		assert_int_equal(m.longest_chain, stories[i].chain);
		assert_int_equal(m.widest_level, stories[i].wide);
		assert_int_equal(m.at_once, stories[i].at_once);
		assert_int_equal(m.critical, stories[i].critical);
		assert_int_equal(m.total, stories[i].total);
		assert_int_equal(dag_makespan(&d, &m, 2, PICK_OLDEST), stories[i].two_oldest);
		assert_int_equal(dag_makespan(&d, &m, 2, PICK_LONGEST), stories[i].two_longest);
		assert_int_equal(dag_makespan(&d, &m, 1, PICK_OLDEST), m.total);
		assert_int_equal(dag_makespan(&d, &m, 1000000, PICK_OLDEST), m.critical);
		measures_release(&m);
		dag_release(&d);
	}
}

/* Six of one lane, two at a time, beside one job that has no lane; workers for all. */
static void test_a_lane_holds_its_jobs_back(void **state)
{
	static const char *const needs[] = {"", "", "", "", "", "", ""};
	struct dag d = dag_of(needs, 7, NULL);
	struct measures m;

	d.lane = xcalloc(7, sizeof *d.lane);
	d.lanes = xcalloc(2, sizeof *d.lanes);
	d.n_lanes = 1;
	for (int j = 0; j < 6; j++)
		d.lane[j] = 1;
	d.lanes[1] = 2;
	dag_measure(&d, &m);
	assert_int_equal(dag_makespan(&d, &m, 8, PICK_OLDEST), 3);
	assert_int_equal(dag_makespan(&d, &m, 1, PICK_OLDEST), 7);
	d.lanes[1] = 0;
	assert_int_equal(dag_makespan(&d, &m, 8, PICK_OLDEST), 1);
	measures_release(&m);
	dag_release(&d);
}

static struct dag random_dag(struct rng *r, uint32_t n)
{
	struct dag d = {.n = n};
	size_t cap = 0, why_cap = 0, at = 0;
	uint64_t odds = 2 + rng_below(r, 40);

	d.first = xcalloc(n + 1, sizeof *d.first);
	for (uint32_t j = 0; j < n; j++) {
		for (uint32_t k = 0; k < j; k++)
			if (rng_below(r, odds) == 0) {
				GROW(d.needs, cap, at + 1);
				GROW(d.why, why_cap, at + 1);
				d.needs[at] = k;
				d.why[at++] = rng_below(r, 8) ? 1 : 2;
			}
		d.first[j + 1] = (uint32_t)at;
	}
	return d;
}

/* Renamed at random, so that jobs do not stand in the order of their needs. */
static struct dag shuffled(struct rng *r, const struct dag *d)
{
	uint32_t *name = xcalloc(d->n + 1, sizeof *name), *who = xcalloc(d->n + 1, sizeof *who);
	uint32_t n_edges = d->first[d->n], at = 0;
	struct dag s = {.n = d->n};

	s.first = xcalloc(d->n + 1, sizeof *s.first);
	s.needs = xcalloc(n_edges + 1, sizeof *s.needs);
	s.why = xcalloc(n_edges + 1, 1);
	for (uint32_t j = 0; j < d->n; j++) {
		uint32_t k = (uint32_t)rng_below(r, j + 1);

		who[j] = who[k];
		who[k] = j;
	}
	for (uint32_t j = 0; j < d->n; j++)
		name[who[j]] = j;
	for (uint32_t j = 0; j < d->n; j++) {
		for (uint32_t need = 0; need < d->n; need++)
			for (uint32_t e = d->first[who[j]]; e < d->first[who[j] + 1]; e++)
				if (name[d->needs[e]] == need) {
					s.needs[at] = need;
					s.why[at++] = d->why[e];
				}
		s.first[j + 1] = at;
	}
	free(name);
	free(who);
	return s;
}

static bool reaches(const struct dag *d, uint32_t from, uint32_t to, uint8_t *seen)
{
	seen[from] = 1;
	for (uint32_t e = d->first[from]; e < d->first[from + 1]; e++) {
		if (d->why[e] != 1)
			continue;
		if (d->needs[e] == to)
			return true;
		if (!seen[d->needs[e]] && reaches(d, d->needs[e], to, seen))
			return true;
	}
	return false;
}

static bool is_implied(const struct dag *d, uint32_t job, uint32_t edge)
{
	uint8_t seen[N_MAX] = {0};

	for (uint32_t e = d->first[job]; e < d->first[job + 1]; e++)
		if (e != edge && d->why[e] == 1 && !seen[d->needs[e]] &&
		    reaches(d, d->needs[e], d->needs[edge], seen))
			return true;
	return false;
}

static void check_reduction(const struct dag *d)
{
	uint8_t *keep = dag_reduce(d, 1);

	for (uint32_t j = 0; j < d->n; j++)
		for (uint32_t e = d->first[j]; e < d->first[j + 1]; e++)
			assert_int_equal(keep[e], d->why[e] != 1 || !is_implied(d, j, e));
	free(keep);
}

static void test_reduction(void **state)
{
	struct rng r = {5};

	for (int i = 0; i < 60; i++) {
		struct dag d = random_dag(&r, (uint32_t)rng_below(&r, 40)), s = shuffled(&r, &d);

		check_reduction(&d);
		check_reduction(&s);
		dag_release(&d);
		dag_release(&s);
	}
}

/* More jobs than are looked for in one pass. */
static void test_reduction_of_many(void **state)
{
	struct dag d = {.n = N_MAX};

	d.first = xcalloc(N_MAX + 1, sizeof *d.first);
	d.needs = xcalloc(3 * N_MAX, sizeof *d.needs);
	d.why = xcalloc(3 * N_MAX, 1);
	for (uint32_t j = 0, at = 0; j < N_MAX; j++) {
		if (j > 700)
			d.needs[at++] = j - 700;
		if (j > 5)
			d.needs[at++] = j - 5;
		if (j > 0)
			d.needs[at++] = j - 1;
		d.first[j + 1] = at;
	}
	memset(d.why, 1, 3 * N_MAX);
	check_reduction(&d);
	dag_release(&d);
}

static void test_any_makespan_is_within_bounds(void **state)
{
	struct rng r = {9};

	for (int i = 0; i < 200; i++) {
		struct dag d = random_dag(&r, 1 + (uint32_t)rng_below(&r, 60));
		struct measures m;

		d.duration = xcalloc(d.n, sizeof *d.duration);
		for (uint32_t j = 0; j < d.n; j++)
			d.duration[j] = 1 + (int64_t)rng_below(&r, 9);
		dag_measure(&d, &m);
		for (uint32_t workers = 1; workers < 9; workers++)
			for (int pick = PICK_OLDEST; pick <= PICK_LONGEST; pick++) {
				int64_t span = dag_makespan(&d, &m, workers, pick);

				assert_true(span >= m.critical && span <= m.total);
				assert_true(span * workers >= m.total);
				/* Graham's bound: what any greedy way keeps. */
				assert_true(span * workers <= m.total + (workers - 1) * m.critical);
			}
		measures_release(&m);
		dag_release(&d);
	}
}

static void test_a_loop_is_found(void **state)
{
	static const char *const needs[] = {"", "0", "1,4", "2", "3", "4"};
	struct dag d = dag_of(needs, 6, NULL);
	uint32_t order[6], *loop;
	size_t n;

	assert_int_equal(dag_sort(&d, order), 2);
	loop = dag_loop(&d, &n);
	assert_int_equal(n, 3);
	assert_int_equal(loop[0], 2);
	assert_int_equal(loop[1], 4);
	assert_int_equal(loop[2], 3);
	free(loop);
	dag_release(&d);
}

static void test_a_chain_of_a_million(void **state)
{
	struct dag d = {.n = 1000000};
	struct measures m;
	uint8_t *keep;

	d.first = xcalloc(d.n + 1, sizeof *d.first);
	d.needs = xcalloc(d.n + 1, sizeof *d.needs);
	d.why = xcalloc(d.n + 1, 1);
	for (uint32_t j = 1; j < d.n; j++) {
		d.needs[j - 1] = j - 1;
		d.first[j + 1] = j;
	}
	dag_measure(&d, &m);
	assert_int_equal(m.longest_chain, d.n);
	assert_int_equal(m.n_path, d.n);
	assert_int_equal(dag_makespan(&d, &m, 4, PICK_LONGEST), d.n);
	keep = dag_reduce(&d, 0);
	free(keep);
	measures_release(&m);
	dag_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_measures),
	    cmocka_unit_test(test_a_lane_holds_its_jobs_back),
	    cmocka_unit_test(test_reduction),
	    cmocka_unit_test(test_reduction_of_many),
	    cmocka_unit_test(test_any_makespan_is_within_bounds),
	    cmocka_unit_test(test_a_loop_is_found),
	    cmocka_unit_test(test_a_chain_of_a_million),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
