/* SPDX-License-Identifier: Apache-2.0 */
/* Times as text: there and back again, and a clear no to everything that is not a time. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/timefmt.h"

#define YEAR_0 (-62167219200000ll)
#define YEAR_10000 253402300800000ll

static void test_known_times(void **state)
{
	char out[TIME_TEXT_MAX];

	assert_string_equal(time_format_ms(0, out), "1970-01-01T00:00:00.000Z");
	assert_string_equal(time_format_ms(-1, out), "1969-12-31T23:59:59.999Z");
	assert_string_equal(time_format_ms(951782400000, out), "2000-02-29T00:00:00.000Z");
	assert_string_equal(time_format_ms(1794776925123, out), "2026-11-15T21:08:45.123Z");
	assert_string_equal(time_format_ms(YEAR_0, out), "0000-01-01T00:00:00.000Z");
	assert_string_equal(time_format_ms(YEAR_10000 - 1, out), "9999-12-31T23:59:59.999Z");
}

static void test_extremes_stay_inside(void **state)
{
	char out[TIME_TEXT_MAX];

	assert_true(strlen(time_format_ms(INT64_MAX, out)) < TIME_TEXT_MAX);
	assert_true(strlen(time_format_ms(INT64_MIN, out)) < TIME_TEXT_MAX);
	assert_true(strlen(time_human_ms(INT64_MAX, out)) < TIME_TEXT_MAX);
	assert_true(strlen(time_human_ms(INT64_MIN, out)) < TIME_TEXT_MAX);
}

static void test_random_round_trip(void **state)
{
	struct rng r = {3};
	char out[TIME_TEXT_MAX];
	int64_t back;

	for (int i = 0; i < 50000; i++) {
		int64_t ms = YEAR_0 + (int64_t)rng_below(&r, (uint64_t)(YEAR_10000 - YEAR_0));

		assert_true(time_parse(str_of(time_format_ms(ms, out)), &back));
		assert_true(back == ms);
	}
}

/* The same calendar as libc's. */
static void test_days_against_timegm(void **state)
{
	struct rng r = {4};

	for (int i = 0; i < 20000; i++) {
		int year = (int)rng_below(&r, 4000), month = 1 + (int)rng_below(&r, 12);
		int day = 1 + (int)rng_below(&r, 28);
		struct tm tm = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};

		assert_true(time_days(year, month, day) * 86400 == (int64_t)timegm(&tm));
	}
}

static void expect_parse(const char *text, int64_t want)
{
	int64_t ms;

	if (!time_parse(str_of(text), &ms))
		fail_msg("'%s' was refused", text);
	if (ms != want)
		fail_msg("'%s' gave %" PRId64 ", not %" PRId64, text, ms, want);
}

static void test_parse_forms(void **state)
{
	expect_parse("1970-01-01T00:00:00Z", 0);
	expect_parse("1970-01-01t00:00:00z", 0);
	expect_parse("1970-01-01 00:00:00Z", 0);
	expect_parse("1970-01-01T01:00:00+01:00", 0);
	expect_parse("1969-12-31T18:30:00-05:30", 0);
	expect_parse("1970-01-01T00:00:00.5Z", 500);
	expect_parse("1970-01-01T00:00:00.123456789Z", 123);
	expect_parse("1990-12-31T23:59:60Z", 662688000000); /* a leap second */
	expect_parse("2024-02-29T00:00:00Z", 1709164800000);
}

static void test_parse_refuses(void **state)
{
	static const char *const bad[] = {"", "now", "2026-11-15", "2026-11-15T21:08:45",
	    "2026-11-15T21:08Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
	    "2026-11-31T00:00:00Z", "2026-11-00T00:00:00Z", "2025-02-29T00:00:00Z",
	    "1900-02-29T00:00:00Z", "2026-11-15T24:00:00Z", "2026-11-15T21:60:00Z",
	    "2026-11-15T21:08:61Z", "2026-11-15T21:08:45+24:00", "2026-11-15T21:08:45+01:60",
	    "2026-11-15T21:08:45+0100", "2026-11-15T21:08:45ZZ", "2026/11/15T21:08:45Z",
	    "2026-11-15X21:08:45Z", "2026-11-15T2a:08:45Z", "202x-11-15T21:08:45Z",
	    " 2026-11-15T21:08:45Z", "2026-11-15T21:08:45 Z"};
	int64_t ms = 77;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (time_parse(str_of(bad[i]), &ms))
			fail_msg("'%s' was taken for %" PRId64, bad[i], ms);
	assert_false(time_parse(STR_NULL, &ms));
	assert_int_equal(ms, 77);
}

/* Any bytes may arrive: never a crash, and what is accepted can be written and read again. */
static void test_parse_mutations(void **state)
{
	struct rng r = {6};
	char out[TIME_TEXT_MAX];
	int64_t ms, back;

	for (int i = 0; i < 50000; i++) {
		char text[] = "2026-11-15T21:08:45.123+01:00";
		size_t n = (size_t)rng_below(&r, sizeof text);

		text[rng_below(&r, sizeof text - 1)] = (char)rng_next(&r);
		if (!time_parse((struct str){text, n}, &ms) || ms < YEAR_0 || ms >= YEAR_10000)
			continue;
		assert_true(time_parse(str_of(time_format_ms(ms, out)), &back));
		assert_true(back == ms);
	}
}

static void test_human(void **state)
{
	char out[TIME_TEXT_MAX];

	assert_string_equal(time_human_ms(0, out), "0ms");
	assert_string_equal(time_human_ms(250, out), "250ms");
	assert_string_equal(time_human_ms(3200, out), "3.2s");
	assert_string_equal(time_human_ms(59949, out), "59.9s");
	assert_string_equal(time_human_ms(59999, out), "1m00s");
	assert_string_equal(time_human_ms(250000, out), "4m10s");
	assert_string_equal(time_human_ms(7500000, out), "2h05m");
	assert_string_equal(time_human_ms(273600000, out), "3d4h");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_known_times),
	    cmocka_unit_test(test_extremes_stay_inside),
	    cmocka_unit_test(test_random_round_trip),
	    cmocka_unit_test(test_days_against_timegm),
	    cmocka_unit_test(test_parse_forms),
	    cmocka_unit_test(test_parse_refuses),
	    cmocka_unit_test(test_parse_mutations),
	    cmocka_unit_test(test_human),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
