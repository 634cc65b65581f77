/* SPDX-License-Identifier: Apache-2.0 */
/* The growable buffer: always terminated, never loses a byte, gives its memory away once. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/str.h"

static void test_empty(void **state)
{
	struct buf b = {0};
	char *taken;

	assert_int_equal(buf_str(&b).n, 0);
	assert_non_null(buf_str(&b).p);
	buf_reset(&b);
	taken = buf_take(&b);
	assert_string_equal(taken, "");
	free(taken);
	buf_release(&b);
}

static void test_append_all_kinds(void **state)
{
	struct buf b = {0};

	buf_add(&b, "ab", 2);
	buf_add_str(&b, STR("cd"));
	buf_add_str(&b, STR_NULL);
	buf_add_cstr(&b, "ef");
	buf_add_char(&b, 'g');
	buf_printf(&b, "%d%s", 12, "h");
	assert_string_equal(b.p, "abcdefg12h");
	assert_int_equal(b.n, 10);
	buf_release(&b);
	assert_null(b.p);
}

static void test_numbers(void **state)
{
	static const int64_t numbers[] = {0, 1, 9, 10, 99, 100, -1, -10, INT64_MAX, INT64_MIN};
	struct buf b = {0};
	char want[32];

	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		buf_reset(&b);
		buf_add_i64(&b, numbers[i]);
		snprintf(want, sizeof want, "%" PRId64, numbers[i]);
		assert_string_equal(b.p, want);
		buf_reset(&b);
		buf_add_u64(&b, (uint64_t)numbers[i]);
		snprintf(want, sizeof want, "%" PRIu64, (uint64_t)numbers[i]);
		assert_string_equal(b.p, want);
	}
	buf_release(&b);
}

static void test_terminated_after_every_step(void **state)
{
	struct buf b = {0};
	struct rng r = {11};

	for (int i = 0; i < 5000; i++) {
		if (rng_below(&r, 2))
			buf_add_char(&b, 'x');
		else
			buf_printf(&b, "%0*d", (int)rng_below(&r, 40), 1);
		assert_int_equal(b.p[b.n], 0);
		assert_true(b.n < b.cap);
		assert_int_equal(strlen(b.p), b.n);
	}
	buf_release(&b);
}

static void test_keeps_nul_bytes(void **state)
{
	struct buf b = {0};

	buf_add(&b, "a\0b", 3);
	buf_add_char(&b, 0);
	assert_int_equal(b.n, 4);
	assert_memory_equal(b.p, "a\0b\0", 5);
	buf_release(&b);
}

static void test_reset_keeps_memory(void **state)
{
	struct buf b = {0};
	char *memory;

	buf_reserve(&b, 1000);
	memory = b.p;
	for (int i = 0; i < 10; i++) {
		buf_printf(&b, "%*s", 900, "");
		buf_reset(&b);
		assert_ptr_equal(b.p, memory);
		assert_string_equal(b.p, "");
	}
	buf_release(&b);
}

static void test_take_empties(void **state)
{
	struct buf b = {0};
	char *taken;

	buf_add_cstr(&b, "mine");
	taken = buf_take(&b);
	assert_null(b.p);
	assert_int_equal(b.n, 0);
	buf_add_cstr(&b, "other");
	assert_string_equal(taken, "mine");
	free(taken);
	buf_release(&b);
}

static void test_typed(void **state)
{
	static const char *const cases[][2] = {{"", "''"}, {"nightly", "nightly"},
	    {"k=v,w-1/x.y:2@z%", "k=v,w-1/x.y:2@z%"}, {"a b", "'a b'"}, {"$(rm x)", "'$(rm x)'"},
	    {"it's", "'it'\\''s'"}, {"~", "'~'"}, {"*", "'*'"}, {"a;b", "'a;b'"},
	    {"\xc3\xa4", "'\xc3\xa4'"}};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct buf b = {0};

		buf_add_typed(&b, str_of(cases[i][0]));
		assert_string_equal(b.p, cases[i][1]);
		buf_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_empty),
	    cmocka_unit_test(test_append_all_kinds),
	    cmocka_unit_test(test_numbers),
	    cmocka_unit_test(test_terminated_after_every_step),
	    cmocka_unit_test(test_keeps_nul_bytes),
	    cmocka_unit_test(test_reset_keeps_memory),
	    cmocka_unit_test(test_take_empties),
	    cmocka_unit_test(test_typed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
