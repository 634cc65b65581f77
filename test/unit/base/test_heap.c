/* SPDX-License-Identifier: Apache-2.0 */
/* The timer heap against a plain array searched from end to end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/data/heap.h"
#include "base/rng.h"

#define N 200

static struct heap_node nodes[N];

static void forget_nodes(void)
{
	for (int i = 0; i < N; i++)
		nodes[i] = (struct heap_node){0};
}

static struct heap_node *naive_min(void)
{
	struct heap_node *best = NULL;

	for (int i = 0; i < N; i++) {
		struct heap_node *n = &nodes[i];

		if (!heap_has(n))
			continue;
		if (!best || n->at < best->at || (n->at == best->at && n->tie < best->tie))
			best = n;
	}
	return best;
}

static void test_empty(void **state)
{
	struct heap h = {0};
	struct heap_node n = {0};

	assert_null(heap_min(&h));
	heap_del(&h, &n);
	assert_false(heap_has(&n));
	heap_release(&h);
}

static void test_ties_by_number(void **state)
{
	struct heap h = {0};

	forget_nodes();
	for (int i = 0; i < N; i++)
		heap_put(&h, &nodes[i], 5, (uint64_t)(N - i));
	for (uint64_t tie = 1; tie <= N; tie++) {
		struct heap_node *n = heap_min(&h);

		assert_int_equal(n->tie, tie);
		heap_del(&h, n);
		assert_false(heap_has(n));
	}
	assert_null(heap_min(&h));
	heap_release(&h);
}

static void test_put_moves(void **state)
{
	struct heap h = {0};

	forget_nodes();
	heap_put(&h, &nodes[0], 10, 0);
	heap_put(&h, &nodes[1], 20, 1);
	heap_put(&h, &nodes[0], 30, 0);
	assert_ptr_equal(heap_min(&h), &nodes[1]);
	heap_put(&h, &nodes[0], -5, 0);
	assert_ptr_equal(heap_min(&h), &nodes[0]);
	assert_int_equal(h.n, 2);
	heap_release(&h);
}

static void test_extreme_times(void **state)
{
	struct heap h = {0};

	forget_nodes();
	heap_put(&h, &nodes[0], INT64_MAX, 0);
	heap_put(&h, &nodes[1], INT64_MIN, 1);
	heap_put(&h, &nodes[2], 0, 2);
	assert_ptr_equal(heap_min(&h), &nodes[1]);
	heap_release(&h);
}

static void test_random_against_naive(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct heap h = {0};
		struct rng r = {seed};

		forget_nodes();
		for (int step = 0; step < 3000; step++) {
			size_t i = (size_t)rng_below(&r, N);

			if (rng_below(&r, 3) == 0)
				heap_del(&h, &nodes[i]);
			else
				heap_put(&h, &nodes[i], (int64_t)rng_below(&r, 50) - 25, i);
			assert_ptr_equal(heap_min(&h), naive_min());
		}
		while (heap_min(&h)) {
			assert_ptr_equal(heap_min(&h), naive_min());
			heap_del(&h, heap_min(&h));
		}
		assert_null(naive_min());
		heap_release(&h);
	}
}

struct owner {
	int before;
	struct heap_node node;
};

static void test_container_of(void **state)
{
	struct owner o = {0};

	assert_ptr_equal(CONTAINER_OF(&o.node, struct owner, node), &o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_empty),
	    cmocka_unit_test(test_ties_by_number),
	    cmocka_unit_test(test_put_moves),
	    cmocka_unit_test(test_extreme_times),
	    cmocka_unit_test(test_random_against_naive),
	    cmocka_unit_test(test_container_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
