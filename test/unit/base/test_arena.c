/* SPDX-License-Identifier: Apache-2.0 */
/* The arena keeps what it handed out intact, aligned and apart, until it is reset. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/rng.h"

static void test_zero_arena_is_ready(void **state)
{
	struct arena a = {0};

	arena_reset(&a);
	arena_release(&a);
	assert_non_null(arena_alloc(&a, 0));
	arena_release(&a);
	assert_null(a.blocks);
}

static void test_alignment(void **state)
{
	struct arena a = {0};

	for (size_t n = 0; n < 200; n++)
		assert_int_equal((uintptr_t)arena_alloc(&a, n) % 16, 0);
	arena_release(&a);
}

/* Fill every piece with its own byte, then look whether any piece was overwritten. */
static void test_pieces_do_not_overlap(void **state)
{
	enum { N = 2000 };
	static struct {
		unsigned char *p;
		size_t n;
	} piece[N];
	struct rng r = {7};
	struct arena a = {0};

	for (int i = 0; i < N; i++) {
		piece[i].n = (size_t)rng_below(&r, i % 100 ? 300 : 70000);
		piece[i].p = arena_alloc(&a, piece[i].n);
		memset(piece[i].p, i & 255, piece[i].n);
	}
	for (int i = 0; i < N; i++)
		for (size_t k = 0; k < piece[i].n; k++)
			assert_int_equal(piece[i].p[k], i & 255);
	arena_release(&a);
}

static void test_larger_than_any_block(void **state)
{
	struct arena a = {0};
	size_t n = (size_t)3 << 20;

	memset(arena_alloc(&a, n), 1, n);
	memset(arena_alloc(&a, 100), 2, 100);
	assert_true(a.total >= n + 100);
	arena_release(&a);
}

static void test_reset_reuses_memory(void **state)
{
	struct arena a = {0};
	void *block;

	for (int i = 0; i < 1000; i++)
		arena_alloc(&a, 100);
	arena_reset(&a);
	assert_int_equal(a.total, 0);
	block = a.blocks;
	assert_non_null(block);
	for (int round = 0; round < 50; round++) {
		memset(arena_alloc(&a, 4000), round, 4000);
		arena_reset(&a);
		assert_ptr_equal(a.blocks, block);
	}
	arena_release(&a);
}

static void test_reset_gives_back_a_giant(void **state)
{
	struct arena a = {0};

	arena_alloc(&a, (size_t)8 << 20);
	arena_reset(&a);
	assert_null(a.blocks);
	arena_release(&a);
}

static void test_zalloc_is_zero_after_reuse(void **state)
{
	struct arena a = {0};
	char zero[512] = {0};

	memset(arena_alloc(&a, sizeof zero), 0xff, sizeof zero);
	arena_reset(&a);
	assert_memory_equal(arena_zalloc(&a, sizeof zero), zero, sizeof zero);
	arena_release(&a);
}

static void test_copies(void **state)
{
	struct arena a = {0};
	char text[] = "a\0b";
	struct str s = arena_str(&a, (struct str){text, 3});
	char *copy = arena_strdup(&a, text);

	text[0] = 'x';
	assert_int_equal(s.n, 3);
	assert_memory_equal(s.p, "a\0b\0", 4);
	assert_string_equal(copy, "a");
	assert_null(arena_str(&a, STR_NULL).p);
	assert_non_null(arena_str(&a, STR("")).p);
	assert_non_null(arena_memdup(&a, NULL, 0));
	arena_release(&a);
}

static void test_printf(void **state)
{
	struct arena a = {0};
	struct str s = arena_strf(&a, "%d-%s", 42, "x");
	char *wide;

	assert_true(str_is(s, "42-x"));
	assert_int_equal(s.p[s.n], 0);
	wide = arena_printf(&a, "%*d", 100000, 7);
	assert_int_equal(strlen(wide), 100000);
	assert_int_equal(wide[99999], '7');
	arena_release(&a);
}

static void test_an_adopted_arena_stays_where_it_is(void **state)
{
	struct arena to = {0}, from = {0};
	char *mine = arena_strdup(&to, "mine"), *giant, *its, *guest = strdup("guest");

	its = arena_strdup(&from, "its");
	giant = arena_alloc(&from, (size_t)3 << 20);
	giant[0] = giant[(3 << 20) - 1] = 'g';
	arena_own(&from, guest);
	arena_own(&to, strdup("another"));
	arena_adopt(&to, &from);
	assert_null(from.blocks);
	assert_int_equal(from.total, 0);
	arena_release(&from); /* nothing */
	assert_string_equal(arena_strdup(&to, "further"), "further");
	assert_string_equal(mine, "mine");
	assert_string_equal(its, "its");
	assert_string_equal(guest, "guest");
	assert_int_equal(giant[(3 << 20) - 1], 'g');
	assert_true(to.total > (size_t)3 << 20);
	arena_reset(&to);
	assert_int_equal(to.total, 0);
	arena_own(&from, strdup("alone"));
	arena_adopt(&to, &from); /* into a reset one, */
	arena_release(&to);
	arena_own(&from, strdup("alone"));
	arena_adopt(&to, &from); /* and into an empty one */
	arena_release(&to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_zero_arena_is_ready),
	    cmocka_unit_test(test_alignment),
	    cmocka_unit_test(test_pieces_do_not_overlap),
	    cmocka_unit_test(test_larger_than_any_block),
	    cmocka_unit_test(test_reset_reuses_memory),
	    cmocka_unit_test(test_reset_gives_back_a_giant),
	    cmocka_unit_test(test_zalloc_is_zero_after_reuse),
	    cmocka_unit_test(test_copies),
	    cmocka_unit_test(test_printf),
	    cmocka_unit_test(test_an_adopted_arena_stays_where_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
