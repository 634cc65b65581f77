/* SPDX-License-Identifier: Apache-2.0 */
/* The calendar, held against a walk day by day. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cron/zone/civil.h"

static void test_every_day(void **state)
{
	int64_t day = civil_days(-801, 1, 1);
	int32_t weekday = civil_weekday(day), y, m, d;

	for (int32_t year = -801; year <= 3200; year++)
		for (int32_t month = 1; month <= 12; month++)
			for (int32_t n = 1; n <= civil_month_days(year, month); n++) {
				assert_true(civil_days(year, month, n) == day);
				assert_int_equal(civil_weekday(day), weekday);
				civil_from_days(day, &y, &m, &d);
				assert_true(y == year && m == month && d == n);
				weekday = (weekday + 1) % 7;
				day++;
			}
}

static void test_known_days(void **state)
{
	assert_true(civil_days(1970, 1, 1) == 0);
	assert_true(civil_days(2000, 2, 29) == 11016);
	assert_true(civil_days(9999, 12, 31) == 2932896);
	assert_int_equal(civil_weekday(0), 4);
	assert_int_equal(civil_weekday(civil_days(2000, 1, 1)), 6);
	assert_int_equal(civil_weekday(-1), 3);
	assert_true(civil_leap(2000) && civil_leap(2024) && !civil_leap(1900) && !civil_leap(2023));
}

static void test_seconds_there_and_back(void **state)
{
	for (int64_t t = -100000000000; t < 260000000000; t += 98765431) {
		struct civil c = civil_from_seconds(t);

		assert_true(c.hour < 24 && c.minute < 60 && c.second < 60 && c.second >= 0);
		assert_true(civil_seconds(&c) == t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_day),
	    cmocka_unit_test(test_known_days),
	    cmocka_unit_test(test_seconds_there_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
