/* SPDX-License-Identifier: Apache-2.0 */
/* Counted strings and the small parsers that read what people type. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/str.h"

static void test_equality_and_order(void **state)
{
	assert_true(str_eq(STR_NULL, STR("")));
	assert_true(str_eq(STR("a\0b"), STR("a\0b")));
	assert_false(str_eq(STR("a\0b"), STR("a\0c")));
	assert_true(str_is(STR("ab"), "ab"));
	assert_false(str_is(STR("ab"), "abc"));
	assert_true(str_cmp(STR("a"), STR("ab")) < 0);
	assert_true(str_cmp(STR("b"), STR("ab")) > 0);
	assert_true(str_cmp(STR("\xff"), STR("a")) > 0);
	assert_int_equal(str_cmp(STR_NULL, STR("")), 0);
	assert_null(str_of(NULL).p);
	assert_int_equal(str_of("xyz").n, 3);
}

static void test_starts(void **state)
{
	assert_true(str_starts(STR("queue/x"), "queue/"));
	assert_true(str_starts(STR("x"), ""));
	assert_false(str_starts(STR("que"), "queue"));
}

static void test_i64_good(void **state)
{
	static const int64_t numbers[] = {0, 1, -1, 10, -10, INT64_MAX, INT64_MIN, 1234567890123};
	char text[32];
	int64_t n;

	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		snprintf(text, sizeof text, "%" PRId64, numbers[i]);
		assert_true(str_to_i64(str_of(text), INT64_MIN, INT64_MAX, &n));
		assert_true(n == numbers[i]);
	}
	assert_true(str_to_i64(STR("007"), 0, 7, &n));
	assert_int_equal(n, 7);
}

static void test_i64_bad(void **state)
{
	static const char *const bad[] = {"", "-", "--1", "+1", " 1", "1 ", "1x", "0x10", "1e3",
	    "1.0", "9223372036854775808", "-9223372036854775809", "99999999999999999999999"};
	int64_t n = 77;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(str_to_i64(str_of(bad[i]), INT64_MIN, INT64_MAX, &n));
	assert_false(str_to_i64(STR("1\0"), 0, 9, &n));
	assert_false(str_to_i64(STR_NULL, 0, 9, &n));
	assert_false(str_to_i64(STR("-1"), 0, 9, &n));
	assert_false(str_to_i64(STR("10"), 0, 9, &n));
	assert_int_equal(n, 77); /* written only on success */
}

static void test_i64_random_round_trip(void **state)
{
	struct rng r = {5};
	char text[32];
	int64_t n;

	for (int i = 0; i < 20000; i++) {
		int64_t want = (int64_t)(rng_next(&r) >> rng_below(&r, 64));

		if (rng_below(&r, 2))
			want = (int64_t) - (uint64_t)want;
		snprintf(text, sizeof text, "%" PRId64, want);
		assert_true(str_to_i64(str_of(text), INT64_MIN, INT64_MAX, &n));
		assert_true(n == want);
	}
}

static void expect_parts(struct str rest, char sep, const char *const *want, size_t n_want)
{
	struct str part;
	size_t n = 0;

	while (str_next(&rest, sep, &part)) {
		assert_true(n < n_want);
		assert_true(str_is(part, want[n++]));
	}
	assert_int_equal(n, n_want);
}

static void test_next(void **state)
{
	expect_parts(STR("a,b,,c"), ',', (const char *[]){"a", "b", "", "c"}, 4);
	expect_parts(STR("alone"), ',', (const char *[]){"alone"}, 1);
	expect_parts(STR("end,"), ',', (const char *[]){"end", ""}, 2);
	expect_parts(STR(""), ',', (const char *[]){""}, 1);
	expect_parts(STR_NULL, ',', NULL, 0);
}

static void test_durations(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
	} good[] = {{"0", 0}, {"90", 90000}, {"1.5", 1500}, {"250ms", 250}, {"30s", 30000},
	    {"5m", 300000}, {"5min", 300000}, {"1.5h", 5400000}, {"2d", 172800000},
	    {"1w", 604800000}, {"1h30m", 5400000}, {"1h30m5s", 5405000}, {"PT1H30M", 5400000},
	    {"P1DT12H", 129600000}, {"PT0.5S", 500}, {"pt10s", 10000}, {"P2W", 1209600000}};
	int64_t ms;

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		assert_true(str_to_duration_ms(str_of(good[i].text), &ms));
		assert_int_equal(ms, good[i].ms);
	}
}

static void test_durations_bad(void **state)
{
	static const char *const bad[] = {"", " ", "-5s", "+5s", "s", "5 s", "5x", "1h30", "P",
	    "P1M", "PT5", "T5S", "1..5s", ".", "1.2.3s", "5s ", "nan", "inf", "1e3s", "0x10s",
	    "99999999999999999999d", "11111111111111111111111111111111111s", "PT", "P1DT", "0s5"};
	int64_t ms = 77;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (str_to_duration_ms(str_of(bad[i]), &ms))
			fail_msg("'%s' was taken for %" PRId64 " ms", bad[i], ms);
	assert_false(str_to_duration_ms(STR("5\0s"), &ms));
	assert_false(str_to_duration_ms(STR_NULL, &ms));
	assert_int_equal(ms, 77);
}

static void test_nearest(void **state)
{
	static const char *const names[] = {"threads", "timeout", "priority", "id"};
	char longer[200];

	assert_string_equal(str_nearest(STR("thread"), names, 4), "threads");
	assert_string_equal(str_nearest(STR("Threads"), names, 4), "threads");
	assert_string_equal(str_nearest(STR("tiemout"), names, 4), "timeout");
	assert_string_equal(str_nearest(STR("prority"), names, 4), "priority");
	assert_null(str_nearest(STR("colour"), names, 4));
	assert_null(str_nearest(STR(""), names, 4));
	assert_null(str_nearest(STR("xy"), names, 4)); /* nothing of "id" is left in it */
	assert_null(str_nearest(STR("threads"), names, 0));
	memset(longer, 't', sizeof longer);
	assert_null(str_nearest((struct str){longer, sizeof longer}, names, 1));
}

static void test_bytes(void **state)
{
	static const struct {
		const char *text;
		int64_t bytes;
	} good[] = {{"0", 0}, {"4096", 4096}, {"1K", 1024}, {"10kB", 10000}, {"512M", 512 << 20},
	    {"2GiB", 2LL << 30}, {"1T", 1LL << 40}, {"7B", 7}, {"8388607T", 8388607LL << 40}};
	static const char *const bad[] = {
	    "", "M", "1.5G", "-1", "1 M", "1m", "1X", "8388608T", "9223372036854775808", "0x10"};
	int64_t n;

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		assert_true(str_to_bytes(str_of(good[i].text), &n));
		assert_int_equal(n, good[i].bytes);
	}
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (str_to_bytes(str_of(bad[i]), &n))
			fail_msg("%s was taken for %lld bytes", bad[i], (long long)n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bytes),
	    cmocka_unit_test(test_equality_and_order),
	    cmocka_unit_test(test_starts),
	    cmocka_unit_test(test_i64_good),
	    cmocka_unit_test(test_i64_bad),
	    cmocka_unit_test(test_i64_random_round_trip),
	    cmocka_unit_test(test_next),
	    cmocka_unit_test(test_durations),
	    cmocka_unit_test(test_durations_bad),
	    cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
