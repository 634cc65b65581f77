/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The full rebuild of a real origin: 627 plans in real_graph.json (names removed, edges without
 * kind), with cycles of 45 and 2. The figures are known from elsewhere, with and without the rule
 * that the next round of a package waits for all users of the one before.
 */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/file/file.h"
#include "graph/write/report.h"

static const char *path;
static struct plan_file file;

static int load(void **state)
{
	struct buf b = {0};
	struct problem p = {0};
	FILE *f = fopen(path, "re");
	char chunk[4096];
	size_t n;

	assert_non_null(f);
	while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
		buf_add(&b, chunk, n);
	fclose(f);
	assert_int_equal(plan_file_read(buf_str(&b), &file, &p), 0);
	buf_release(&b);
	return 0;
}

static int unload(void **state)
{
	plan_file_release(&file);
	return 0;
}

static uint32_t edges(const struct dag *d)
{
	return d->first[d->n];
}

static uint32_t count_kept(const struct dag *d)
{
	uint8_t *keep = dag_reduce(d, 0xff);
	uint32_t n = 0;

	for (uint32_t e = 0; e < edges(d); e++)
		n += keep[e];
	free(keep);
	return n;
}

static void check_makespans(const struct dag *d, const int64_t wanted[5])
{
	static const uint32_t workers[] = {4, 8, 16, 32, 64};
	struct measures m;

	dag_measure(d, &m);
	for (int i = 0; i < 5; i++)
		assert_int_equal(dag_makespan(d, &m, workers[i], PICK_OLDEST), wanted[i]);
	measures_release(&m);
}

/* Without the edges that are there for the order alone. */
static void drop_order(struct dag *d)
{
	uint32_t kept = 0, begin = 0;

	for (uint32_t j = 0; j < d->n; j++) {
		uint32_t end = d->first[j + 1];

		for (uint32_t e = begin; e < end; e++)
			if (d->why[e] != WHY_ORDER) {
				d->needs[kept] = d->needs[e];
				d->why[kept++] = d->why[e];
			}
		d->first[j + 1] = kept;
		begin = end;
	}
}

static void test_golden(void **state)
{
	static const int64_t with_rule[] = {195, 115, 78, 59, 58},
	                     without[] = {186, 106, 68, 50, 48};
	struct manifest m = {0};
	struct measures s;
	struct problem p = {0};
	uint32_t *externals;
	size_t n;

	assert_int_equal(file.graph.n_known, 627);
	assert_int_equal(plan_file_manifest(&file, 0, &m, &p), 0);
	assert_int_equal(m.dag.n, 721);
	assert_int_equal(m.n_components, 2);
	assert_int_equal(m.components[0].n, 45);
	assert_int_equal(m.components[1].n, 2);
	externals = report_externals(&m, &n);
	assert_int_equal(n, 24);
	free(externals);
	assert_int_equal(edges(&m.dag), 5590 + 542);
	dag_measure(&m.dag, &s);
	assert_int_equal(s.longest_chain, 58);
	assert_int_equal(s.at_once, 1);
	measures_release(&s);
	check_makespans(&m.dag, with_rule);
	drop_order(&m.dag);
	assert_int_equal(edges(&m.dag), 5590);
	dag_measure(&m.dag, &s);
	assert_int_equal(s.longest_chain, 48);
	assert_int_equal(s.widest_level, 96);
	measures_release(&s);
	check_makespans(&m.dag, without);
	assert_int_equal(count_kept(&m.dag), 1633);
	manifest_release(&m);
}

static void plan_text(struct buf *out)
{
	static const uint32_t workers[] = {4};
	struct manifest m = {0};
	struct report r;
	struct problem p = {0};

	assert_int_equal(plan_file_manifest(&file, 0, &m, &p), 0);
	report_of_manifest(&m, 3, workers, 1, &r);
	report_json(&r, out);
	assert_int_equal(report_dot(&r, out, &p), 0);
	report_release(&r);
	manifest_release(&m);
}

/* Touching any package of the big cycle rebuilds everything, and gives the same plan. */
static void test_any_of_the_cycle_is_all(void **state)
{
	struct buf first = {0}, other = {0};
	struct problem p;
	char name[32];

	plan_text(&first);
	for (int i = 2; i <= 45; i++) {
		snprintf(name, sizeof name, "core/p%03d", i);
		file.n_touched = 0;
		assert_int_equal(plan_file_touch(&file, str_of(name), &p), 0);
		buf_reset(&other);
		plan_text(&other);
		assert_true(str_eq(buf_str(&first), buf_str(&other)));
	}
	buf_release(&first);
	buf_release(&other);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_golden),
	    cmocka_unit_test(test_any_of_the_cycle_is_all),
	};

	path = argc > 1 ? argv[1] : "real_graph.json";
	return cmocka_run_group_tests(tests, load, unload);
}
