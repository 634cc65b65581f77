/* SPDX-License-Identifier: Apache-2.0 */
/* The id map against a plain array, with ids that crowd together and ids that spread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/data/idmap.h"
#include "base/rng.h"

#define N 3000

static uint64_t ids[N];
static void *held[N]; /* the naive model: what ids[i] should give */
static char values[N];

static void test_empty(void **state)
{
	struct idmap m = {0};

	assert_null(idmap_get(&m, 1));
	assert_null(idmap_del(&m, 1));
	idmap_release(&m);
}

static void test_put_replaces(void **state)
{
	struct idmap m = {0};

	idmap_put(&m, 9, &values[0]);
	idmap_put(&m, 9, &values[1]);
	assert_int_equal(m.n, 1);
	assert_ptr_equal(idmap_get(&m, 9), &values[1]);
	assert_ptr_equal(idmap_del(&m, 9), &values[1]);
	assert_null(idmap_del(&m, 9));
	assert_int_equal(m.n, 0);
	idmap_release(&m);
}

static void check_all(const struct idmap *m)
{
	size_t n = 0;

	for (int i = 0; i < N; i++) {
		assert_ptr_equal(idmap_get(m, ids[i]), held[i]);
		n += held[i] != NULL;
	}
	assert_int_equal(m->n, n);
}

static void play(uint64_t seed, unsigned deletes_of_ten)
{
	struct idmap m = {0};
	struct rng r = {seed};

	for (int i = 0; i < N; i++)
		held[i] = NULL;
	for (int step = 0; step < 20000; step++) {
		size_t i = (size_t)rng_below(&r, N);

		if (rng_below(&r, 10) < deletes_of_ten) {
			assert_ptr_equal(idmap_del(&m, ids[i]), held[i]);
			held[i] = NULL;
		} else {
			held[i] = &values[rng_below(&r, N)];
			idmap_put(&m, ids[i], held[i]);
		}
	}
	check_all(&m);
	for (int i = 0; i < N; i++) {
		assert_ptr_equal(idmap_del(&m, ids[i]), held[i]);
		held[i] = NULL;
		if (i % 500 == 0)
			check_all(&m);
	}
	idmap_release(&m);
}

static void test_sequential_ids(void **state)
{
	for (int i = 0; i < N; i++)
		ids[i] = (uint64_t)i + 1;
	for (uint64_t seed = 1; seed <= 5; seed++)
		play(seed, (unsigned)seed * 2 - 1);
}

static void test_strided_ids(void **state)
{
	for (int i = 0; i < N; i++)
		ids[i] = ((uint64_t)i + 1) << 32;
	play(42, 5);
}

static void test_random_ids(void **state)
{
	struct rng r = {99};

	for (int i = 0; i < N; i++)
		ids[i] = rng_next(&r);
	play(43, 5);
}

/* A map that was large once must not stay large: it holds live tasks only. */
static void test_shrinks(void **state)
{
	struct idmap m = {0};

	for (uint64_t id = 1; id <= 100000; id++)
		idmap_put(&m, id, &values[0]);
	for (uint64_t id = 1; id < 100000; id++)
		idmap_del(&m, id);
	assert_true(m.cap <= 1024);
	assert_ptr_equal(idmap_get(&m, 100000), &values[0]);
	idmap_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_empty),
	    cmocka_unit_test(test_put_replaces),
	    cmocka_unit_test(test_sequential_ids),
	    cmocka_unit_test(test_strided_ids),
	    cmocka_unit_test(test_random_ids),
	    cmocka_unit_test(test_shrinks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
