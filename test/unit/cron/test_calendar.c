/* SPDX-License-Identifier: Apache-2.0 */
/* systemd's calendar expressions, told as the JSON they become. */
#include "support.h"

#define VIXIE "\"dst_fixes\":\"vixie\"}"
#define MIDNIGHT "{\"minute\":0,\"hour\":0,"

static const struct {
	const char *text, *json;
} taken[] = {
    {"minutely", "{\"minute\":{\"period\":1}," VIXIE},
    {"Hourly", "{\"minute\":0," VIXIE},
    {"daily", MIDNIGHT VIXIE},
    {"weekly", MIDNIGHT "\"day_of_week\":\"Mon\"," VIXIE},
    {"monthly", MIDNIGHT "\"day_of_month\":1," VIXIE},
    {"quarterly", MIDNIGHT "\"day_of_month\":1,\"month\":{\"period\":3}," VIXIE},
    {"semiannually", MIDNIGHT "\"day_of_month\":1,\"month\":[1,7]," VIXIE},
    {"annually", MIDNIGHT "\"day_of_month\":1,\"month\":1," VIXIE},
    {"12:30", "{\"minute\":30,\"hour\":12," VIXIE},
    {"*:50/20", "{\"minute\":50," VIXIE}, /* the step leads out of it, and is used no further */
    {"*:0/15", "{\"minute\":{\"period\":15}," VIXIE},
    {"*:*:*", "{\"second\":{\"period\":1},\"minute\":{\"period\":1}," VIXIE},
    {"8..17/2:0:30",
        "{\"second\":30,\"minute\":0,\"hour\":{\"start\":8,\"end\":16,\"period\":2}," VIXIE},
    {"Mon,Wed..Fri", MIDNIGHT "\"day_of_week\":[\"Mon\",\"Wed\",\"Thu\",\"Fri\"]," VIXIE},
    {"fri-sunday 1:00",
        "{\"minute\":0,\"hour\":1,\"day_of_week\":[\"Sun\",\"Fri\",\"Sat\"]," VIXIE},
    {"Mon *-02-29 00:00", MIDNIGHT
        "\"day_of_week\":\"Mon\",\"day_of_month\":29,\"both_days\":true,\"month\":2," VIXIE},
    {"10-15", MIDNIGHT "\"day_of_month\":15,\"month\":10," VIXIE},
    {"2030,2040..2050/5-1,3-*", MIDNIGHT
        "\"month\":[1,3],\"year\":[2030,{\"start\":2040,\"end\":2050,\"period\":5}]," VIXIE},
    {"2020/2-1-1",
        MIDNIGHT "\"day_of_month\":1,\"month\":1,\"year\":{\"start\":2020,\"period\":2}," VIXIE},
    {"69-1-1", MIDNIGHT "\"day_of_month\":1,\"month\":1,\"year\":2069," VIXIE},
    {"70-1-1", MIDNIGHT "\"day_of_month\":1,\"month\":1,\"year\":1970," VIXIE},
    {"*-02~01", MIDNIGHT "\"day_of_month\":[\"last\"],\"month\":2," VIXIE},
    {"*-02~3,5", MIDNIGHT "\"day_of_month\":[\"last-2\",\"last-4\"],\"month\":2," VIXIE},
    {"Mon *-05~07/1", MIDNIGHT
        "\"day_of_week\":\"Mon\",\"day_of_month\":[\"last\",\"last-1\",\"last-2\","
        "\"last-3\",\"last-4\",\"last-5\",\"last-6\"],\"both_days\":true,\"month\":5," VIXIE},
    {"*-*~7/3", MIDNIGHT "\"day_of_month\":[\"last\",\"last-3\",\"last-6\"]," VIXIE},
};

static void test_taken(void **state)
{
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
		struct cron_items items = calendar_items(taken[i].text);
		struct buf b = {0};

		cron_items_write(&items, &b);
		assert_string_equal(b.p, taken[i].json);
		assert_round_trip(&items);
		assert_null(items.zone);
		buf_release(&b);
		cron_items_release(&items);
	}
}

static const struct {
	const char *text, *zone;
} zones[] = {
    {"12:30 UTC", "UTC"},
    {"weekly Europe/Berlin", "Europe/Berlin"},
    {"Mon America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"},
    {"  Mon   *-*-1  Etc/GMT+5  ", "Etc/GMT+5"},
};

static void test_zones(void **state)
{
	for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
		struct cron_items items = calendar_items(zones[i].text);

		assert_string_equal(items.zone, zones[i].zone);
		cron_items_release(&items);
	}
}

static const struct {
	const char *text;
	int code;
	const char *field, *what, *hint;
} refused[] = {
    {"", ERR_INVALID, "column 1", "ends too early", "[weekdays]"},
    {"12", ERR_INVALID, "column 3", "ends too early", ""},
    {"UTC", ERR_INVALID, "column 1", "no weekday", "hourly"},
    {"Mon..", ERR_INVALID, "column 6", "no weekday", ""},
    {"Sat..Mon", ERR_INVALID, "column 1", "backwards", "Sat,Sun,Mon"},
    {"*/2:00", ERR_INVALID, "column 1", "stands alone", "0/2"},
    {"12:60", ERR_INVALID, "column 4", "minute 60", "59"},
    {"24:00", ERR_INVALID, "column 1", "hour 24", "23"},
    {"1:0:", ERR_INVALID, "column 5", "second is missing", ""},
    {"20..15:00", ERR_INVALID, "column 1", "before it starts", "comma"},
    {"*:0/60", ERR_INVALID, "column 5", "from 1 to 59", "0/15"},
    {"*:0/90", ERR_INVALID, "column 5", "repetition", ""},
    {"12:3/90", ERR_INVALID, "column 6", "repetition", ""},
    {"12:3/0", ERR_INVALID, "column 6", "repetition", ""},
    {"1:2:3.5", ERR_INVALID, "column 6", "fractions", "whole seconds"},
    {"*-0-1", ERR_INVALID, "column 3", "too small", "12"},
    {"*-02~31", ERR_INVALID, "column 6", "too great", "28"},
    {"*-*-1,~2", ERR_INVALID, "column 7", "'~' is no day", ""},
    {"10000-1-1", ERR_INVALID, "column 1", "too great", "9999"},
    {"*:99999999999999999999", ERR_INVALID, "column 3", "too great for a minute", "0 and 59"},
    {"@1395716396", ERR_INVALID, "column 1", "count of seconds", "epoch"},
    {"12:00 UTC more", ERR_INVALID, "column 11", "does not belong", ""},
    {"2012-10-15T11:12:13", ERR_INVALID, "column 1", "one word", "blank"},
    {"*-02-30", ERR_NOT_FOUND, "", "none of the months", "February"},
    {"2025-02-29", ERR_NOT_FOUND, "", "none of the years", ""},
    {"Mon 2024-02-29", ERR_NOT_FOUND, "", "none of the years", ""},
};

static void test_refused(void **state)
{
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct cron_items items = {0};
		struct problem p = {0};
		int rc = cron_items_calendar(str_of(refused[i].text), NULL, &items, &p);

		if (rc != refused[i].code || strcmp(p.field, refused[i].field) != 0 ||
		    !strstr(p.what, refused[i].what) || !strstr(p.hint, refused[i].hint))
			fail_msg("%s: %d, \"%s\", \"%s\", \"%s\"", refused[i].text, rc, p.field,
			    p.what, p.hint);
		assert_int_equal(
		    rc, cron_items_calendar(str_of(refused[i].text), NULL, &items, NULL));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_taken),
	    cmocka_unit_test(test_zones),
	    cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
