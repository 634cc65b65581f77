/* SPDX-License-Identifier: Apache-2.0 */
/* POSIX TZ strings: the sign, both hemispheres, the odd ones, and a clear no to the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "zone_help.h"

static void test_sign_is_posix(void **state)
{
	static const struct {
		const char *tz;
		int32_t offset;
		const char *abbrev;
	} rows[] = {
	    {"EST5", -18000, "EST"},
	    {"EST+5", -18000, "EST"},
	    {"CET-1", 3600, "CET"},
	    {"<+03>-3", 10800, "+03"},
	    {"<-0330>3:30", -12600, "-0330"},
	    {"<+0545>-5:45:30", 20730, "+0545"},
	    {"UTC+5", -18000, "UTC"},
	    {"AAA24:59:59", -89999, "AAA"},
	    {"AAA-24:59:59", 89999, "AAA"},
	    {"ABCDEFGHIJKLMNO0", 0, "ABCDEFGHIJKLMNO"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct cron_zone *z = posix(rows[i].tz);

		expect_span(z, 0, INT64_MIN, INT64_MAX, rows[i].offset, false, rows[i].abbrev);
		cron_zone_free(z);
	}
}

static void test_north(void **state)
{
	struct cron_zone *z = posix("EST5EDT,M3.2.0,M11.1.0");
	int64_t spring = utc(2013, 3, 10, 7, 0), autumn = utc(2013, 11, 3, 6, 0);

	expect_span(z, spring - 1, utc(2012, 11, 4, 6, 0), spring, -18000, false, "EST");
	expect_span(z, spring, spring, autumn, -14400, true, "EDT");
	expect_span(z, autumn - 1, spring, autumn, -14400, true, "EDT");
	expect_span(z, autumn, autumn, utc(2014, 3, 9, 7, 0), -18000, false, "EST");
	expect_chain(z, utc(1600, 1, 1, 0, 0), utc(2800, 1, 1, 0, 0));
	cron_zone_free(z);
}

static void test_south_crosses_new_year(void **state)
{
	struct cron_zone *z = posix("AEST-10AEDT,M10.1.0,M4.1.0/3");
	int64_t begin = utc(2025, 10, 4, 16, 0), end = utc(2026, 4, 4, 16, 0);

	expect_span(z, utc(2025, 12, 31, 23, 59), begin, end, 39600, true, "AEDT");
	expect_span(z, utc(2026, 1, 1, 0, 0), begin, end, 39600, true, "AEDT");
	expect_span(z, end, end, utc(2026, 10, 3, 16, 0), 36000, false, "AEST");
	expect_chain(z, utc(1900, 1, 1, 0, 0), utc(2400, 1, 1, 0, 0));
	cron_zone_free(z);
}

/* Footers of real zones, with what the clock did there. */
static void test_odd_shifts(void **state)
{
	static const struct {
		const char *tz;
		int32_t winter, summer; /* offsets on 15 January and 15 July 2030 */
		bool winter_dst, summer_dst;
	} rows[] = {
	    {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 39600, 37800, true, false},
	    {"<+00>0<+02>-2,M3.5.0/1,M10.5.0/3", 0, 7200, false, true},
	    {"IST-1GMT0,M10.5.0,M3.5.0/1", 0, 3600, true, false},
	    {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", -7200, -3600, false, true},
	    {"EET-2EEST,M3.4.4/50,M10.4.4/50", 7200, 10800, false, true},
	    {"<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45", 49500, 45900, true, false},
	    {"<+0330>-3:30<+0430>,J79/24,J263/24", 12600, 16200, false, true},
	    {"AAA0BBB,J60,300", 0, 3600, false, true},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct cron_zone *z = posix(rows[i].tz);
		struct cron_span s;

		cron_zone_at(z, utc(2030, 1, 15, 0, 0), &s);
		assert_int_equal(s.offset, rows[i].winter);
		assert_int_equal(s.dst, rows[i].winter_dst);
		cron_zone_at(z, utc(2030, 7, 15, 0, 0), &s);
		assert_int_equal(s.offset, rows[i].summer);
		assert_int_equal(s.dst, rows[i].summer_dst);
		expect_chain(z, utc(1970, 1, 1, 0, 0), utc(2400, 1, 1, 0, 0));
		cron_zone_free(z);
	}
}

static void expect_change(const char *tz, int64_t at)
{
	struct cron_zone *z = posix(tz);
	struct cron_span s;

	cron_zone_at(z, at, &s);
	if (s.begin != at)
		fail_msg("%s does not change at %" PRId64 " but at %" PRId64, tz, at, s.begin);
	cron_zone_free(z);
}

static void test_days_of_the_year(void **state)
{
	/* Jn never counts 29 February: J60 is always 1 March; n does count it. */
	expect_change("AAA0BBB,J60/0,J300", utc(2024, 3, 1, 0, 0));
	expect_change("AAA0BBB,J60/0,J300", utc(2025, 3, 1, 0, 0));
	expect_change("AAA0BBB,J59/0,J300", utc(2024, 2, 28, 0, 0));
	expect_change("AAA0BBB,59/0,300", utc(2024, 2, 29, 0, 0));
	expect_change("AAA0BBB,59/0,300", utc(2025, 3, 1, 0, 0));
	expect_change("AAA0BBB,0/0,300", utc(2025, 1, 1, 0, 0));
	expect_change("AAA0BBB,J1/0,J300", utc(2025, 1, 1, 0, 0));
	/* M: the first, the fifth that is not there, 29 February on a Thursday */
	expect_change("AAA0BBB,M2.5.4/0,M11.1.0", utc(2024, 2, 29, 0, 0));
	expect_change("AAA0BBB,M2.5.4/0,M11.1.0", utc(2025, 2, 27, 0, 0));
	expect_change("AAA0BBB,M6.1.0/0,M11.1.0", utc(2025, 6, 1, 0, 0));
	expect_change("AAA0BBB,M6.4.6/0,M11.1.0", utc(2025, 6, 28, 0, 0));
	expect_change("AAA0BBB,M12.5.3/0,M2.1.0", utc(2025, 12, 31, 0, 0));
}

static void test_times_beyond_the_day(void **state)
{
	expect_change("AAA0BBB,M3.4.4/50,M10.4.4/50", utc(2025, 3, 29, 2, 0));
	expect_change("AAA0BBB,M3.5.0/-1,M10.5.0", utc(2025, 3, 29, 23, 0));
	expect_change("AAA0BBB,J1/-167,J200", utc(2024, 12, 25, 1, 0));
	expect_change("AAA0BBB,J200,J365/167", utc(2026, 1, 6, 22, 0));
	expect_change("AAA0BBB,M3.1.0/1:02:03,M10.1.0", utc(2025, 3, 2, 1, 2) + 3);
}

static void test_all_year(void **state)
{
	static const char *const rows[] = {
	    "XXX3EDT4,0/0,J365/23", "EST5EDT,0/0,J365/25", "EST5EDT4,J1/0,J365/25:00:00"};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct cron_zone *z = posix(rows[i]);

		expect_span(z, 0, INT64_MIN, INT64_MAX, -14400, true, "EDT");
		cron_zone_free(z);
	}
}

static void test_ends_of_time(void **state)
{
	struct cron_zone *z = posix("EST5EDT,M3.2.0,M11.1.0");
	static const int64_t times[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1,
	    INT64_C(31556952) * 1000000, INT64_C(-31556952) * 1000000, INT64_C(-62135596800)};
	struct cron_span s;

	for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
		cron_zone_at(z, times[i], &s);
		assert_true(s.begin <= times[i] && (times[i] < s.end || s.end == INT64_MAX));
	}
	cron_zone_at(z, INT64_MAX, &s);
	expect_chain(z, s.begin - 1000000000, s.begin);
	cron_zone_at(z, INT64_MIN, &s);
	expect_chain(z, s.end, s.end + 1000000000);
	cron_zone_free(z);
}

static void test_refused(void **state)
{
	static const struct {
		const char *tz, *what;
	} rows[] = {
	    {"", "byte 1: a name"},
	    {"E5", "byte 2: a name"},
	    {"EST", "byte 4: an offset"},
	    {"EST25", "byte 4: an offset of at most 24"},
	    {"EST5:60", "byte 6: minutes"},
	    {"EST5:00:60", "byte 9: seconds"},
	    {"<+03-3", "byte 7: a >"},
	    {"<+_3>-3", "byte 3: a name"},
	    {"ABCDEFGHIJKLMNOP0", "more than 15"},
	    {"EST5EDT", "byte 8: the dates"},
	    {"EST5EDT,M3.2.0", "byte 15: the dates"},
	    {"EST5EDT,M13.2.0,M11.1.0", "byte 10: a month"},
	    {"EST5EDT,M3.6.0,M11.1.0", "byte 12: a week"},
	    {"EST5EDT,M3.2.7,M11.1.0", "byte 14: a weekday"},
	    {"EST5EDT,J0,M11.1.0", "byte 10: a day"},
	    {"EST5EDT,J366,M11.1.0", "byte 10: a day"},
	    {"EST5EDT,366,M11.1.0", "byte 9: a date"},
	    {"EST5EDT,99999999999,M11.1.0", "byte 9: a date"},
	    {"EST5EDT,M3.2.0/168,M11.1.0", "byte 16: a time"},
	    {"EST5EDT,M3.2.0/2x,M11.1.0", "byte 17: the dates"},
	    {"EST5EDT,M3.2.0,M11.1.0 ", "byte 23: nothing more"},
	    {"EST5EDT,M3.2.0,M3.2.0/3", "same order, or coincide"},
	    {"AAA0BBB,J60,M3.1.0", "same order, or coincide"},
	    {"EST 5", "byte 4: an offset"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct cron_zone *z = NULL;
		struct problem p = {0};

		if (cron_zone_posix(str_of(rows[i].tz), &z, &p) != ERR_INVALID)
			fail_msg("%s was accepted", rows[i].tz);
		if (!strstr(p.what, rows[i].what) || !p.hint[0])
			fail_msg("%s: %s (%s)", rows[i].tz, p.what, p.hint);
		assert_null(z);
	}
}

static void test_refused_without_text(void **state)
{
	char longest[400];
	struct cron_zone *z = NULL;

	memset(longest, 'A', sizeof longest);
	assert_int_equal(
	    cron_zone_posix((struct str){longest, sizeof longest}, &z, NULL), ERR_INVALID);
	assert_int_equal(cron_zone_posix(STR_NULL, &z, NULL), ERR_INVALID);
	assert_int_equal(cron_zone_posix(STR("EST5\0"), &z, NULL), ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sign_is_posix),
	    cmocka_unit_test(test_north),
	    cmocka_unit_test(test_south_crosses_new_year),
	    cmocka_unit_test(test_odd_shifts),
	    cmocka_unit_test(test_days_of_the_year),
	    cmocka_unit_test(test_times_beyond_the_day),
	    cmocka_unit_test(test_all_year),
	    cmocka_unit_test(test_ends_of_time),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_refused_without_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
