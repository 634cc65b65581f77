/* SPDX-License-Identifier: Apache-2.0 */
/* First matches as stories: what a person would expect, zone by zone. */
#include "support.h"

#define SKIP_BOTH "\"dst_fixes\": [\"skip\", \"repeat_use_both\"]}"
#define SKIP_EARLY "\"dst_fixes\": [\"skip\", \"repeat_use_only_early\"]}"
#define SKIP_LATE "\"dst_fixes\": [\"skip\", \"repeat_use_only_late\"]}"
#define UNSKIP_EARLY "\"dst_fixes\": [\"unskip\", \"repeat_use_only_early\"]}"
#define UNSKIP_BOTH "\"dst_fixes\": [\"unskip\", \"repeat_use_both\"]}"

/* The matches that follow `from`, in UTC, with a blank between them; "-" when they end. */
static void expect(
    const struct cron_items *items, const char *zone, int64_t from, const char *const *wanted)
{
	struct cron_zone *z = zone_load(zone);
	int64_t t = from, found;

	for (size_t i = 0; wanted[i]; i++) {
		bool any = cron_items_next(items, z, t, &found);

		if (strcmp(wanted[i], "-") == 0) {
			assert_false(any);
			break;
		}
		assert_true(any);
		assert_string_equal(utc_text(found), wanted[i]);
		t = found + 1;
	}
	cron_zone_free(z);
}

struct story {
	const char *why, *zone, *item, *from;
	const char *wanted[6];
};

static const struct story stories[] = {
    {"10:00 and 20:00 every Tuesday", "America/Los_Angeles",
        "{\"day_of_week\": \"Tue\", \"hour\": [10, 20], \"minute\": 0, " SKIP_EARLY,
        "2013-06-04 17:00:01", {"2013-06-05 03:00:00", "2013-06-11 17:00:00"}},
    {"at the very second asked for", "UTC", "{\"minute\": 5, \"hour\": 3, " SKIP_BOTH,
        "2024-02-29 03:05:00", {"2024-02-29 03:05:00", "2024-03-01 03:05:00"}},
    {"01:30 comes twice in autumn", "America/Los_Angeles",
        "{\"minute\": 30, \"hour\": 1, " SKIP_BOTH, "2013-11-03 00:00:00",
        {"2013-11-03 08:30:00", "2013-11-03 09:30:00", "2013-11-04 09:30:00"}},
    {"the early one", "America/Los_Angeles", "{\"minute\": 30, \"hour\": 1, " SKIP_EARLY,
        "2013-11-03 00:00:00", {"2013-11-03 08:30:00", "2013-11-04 09:30:00"}},
    {"the early one is over", "America/Los_Angeles", "{\"minute\": 30, \"hour\": 1, " SKIP_EARLY,
        "2013-11-03 08:30:01", {"2013-11-04 09:30:00"}},
    {"the late one", "America/Los_Angeles", "{\"minute\": 30, \"hour\": 1, " SKIP_LATE,
        "2013-11-03 00:00:00", {"2013-11-03 09:30:00", "2013-11-04 09:30:00"}},
    {"02:30 does not come in spring", "America/Los_Angeles",
        "{\"minute\": 30, \"hour\": 2, " SKIP_BOTH, "2013-03-10 00:00:00", {"2013-03-11 09:30:00"}},
    {"it is made up for one second before the jump", "America/Los_Angeles",
        "{\"minute\": 30, \"hour\": 2, " UNSKIP_EARLY, "2013-03-10 00:00:00",
        {"2013-03-10 09:59:59", "2013-03-11 09:30:00"}},
    {"also when asked in that last second", "America/Los_Angeles",
        "{\"minute\": 30, \"hour\": 2, " UNSKIP_EARLY, "2013-03-10 09:59:59",
        {"2013-03-10 09:59:59", "2013-03-11 09:30:00"}},
    {"once for all that was skipped", "Europe/Berlin",
        "{\"minute\": {\"period\": 15}, \"hour\": 2, " UNSKIP_EARLY, "2027-03-28 00:00:00",
        {"2027-03-28 00:59:59", "2027-03-29 00:00:00"}},
    {"half an hour in Lord Howe", "Australia/Lord_Howe",
        "{\"minute\": 15, \"hour\": 2, " UNSKIP_BOTH, "2024-10-05 12:00:00",
        {"2024-10-05 15:29:59", "2024-10-06 15:15:00"}},
    {"half an hour back again", "Australia/Lord_Howe", "{\"minute\": 45, \"hour\": 1, " UNSKIP_BOTH,
        "2024-04-06 12:00:00",
        {"2024-04-06 14:45:00", "2024-04-06 15:15:00", "2024-04-07 15:15:00"}},
    {"a midnight that is not there", "America/Sao_Paulo",
        "{\"minute\": 0, \"hour\": 0, " UNSKIP_EARLY, "2017-10-14 12:00:00",
        {"2017-10-15 02:59:59", "2017-10-16 02:00:00"}},
    {"a midnight that is left out", "America/Sao_Paulo", "{\"minute\": 0, \"hour\": 0, " SKIP_BOTH,
        "2017-10-14 12:00:00", {"2017-10-16 02:00:00"}},
    {"Samoa had no 30 December 2011", "Pacific/Apia", "{\"minute\": 0, \"hour\": 12, " SKIP_BOTH,
        "2011-12-29 12:00:00", {"2011-12-29 22:00:00", "2011-12-30 22:00:00"}},
    {"but its event can be had", "Pacific/Apia", "{\"minute\": 0, \"hour\": 12, " UNSKIP_EARLY,
        "2011-12-29 12:00:00",
        {"2011-12-29 22:00:00", "2011-12-30 09:59:59", "2011-12-30 22:00:00"}},
    {"Kwajalein's missing Saturday", "Pacific/Kwajalein",
        "{\"minute\": 0, \"hour\": 9, \"day_of_week\": \"sat\", " UNSKIP_EARLY,
        "1993-08-16 00:00:00", {"1993-08-21 11:59:59", "1993-08-27 21:00:00"}},
    {"an offset that changes without daylight saving", "Asia/Pyongyang",
        "{\"minute\": 45, \"hour\": 23, " UNSKIP_EARLY, "2018-05-04 00:00:00",
        {"2018-05-04 14:59:59", "2018-05-05 14:45:00"}},
    {"29 February on a Monday", "UTC",
        "{\"minute\": 0, \"hour\": 0, \"month\": \"feb\", \"day_of_month\": 29, \"day_of_week\": "
        "\"Mon\", \"both_days\": true, " SKIP_BOTH,
        "2016-03-01 00:00:00",
        {"2044-02-29 00:00:00", "2072-02-29 00:00:00", "2112-02-29 00:00:00"}},
    {"the last day of the month", "UTC",
        "{\"minute\": 0, \"hour\": 0, \"day_of_month\": \"last\", " SKIP_BOTH,
        "2024-01-31 00:00:01", {"2024-02-29 00:00:00", "2024-03-31 00:00:00"}},
    {"two days before the last one", "UTC",
        "{\"minute\": 0, \"hour\": 0, \"day_of_month\": [\"last-2\", 1], " SKIP_BOTH,
        "2023-02-02 00:00:00", {"2023-02-26 00:00:00", "2023-03-01 00:00:00"}},
    {"the first Tuesday of November", "America/New_York",
        "{\"minute\": 0, \"hour\": 7, \"month\": \"Nov\", \"weekday_of_month\": {\"day\": "
        "\"Tue\", \"nth\": 1}, " SKIP_BOTH,
        "2024-11-06 00:00:00", {"2025-11-04 12:00:00", "2026-11-03 12:00:00"}},
    {"the second and the last Friday", "UTC",
        "{\"minute\": 0, \"hour\": 0, \"weekday_of_month\": {\"day\": \"fri\", \"nth\": [2, "
        "\"last\"]}, " SKIP_BOTH,
        "2024-02-01 00:00:00",
        {"2024-02-09 00:00:00", "2024-02-23 00:00:00", "2024-03-08 00:00:00",
            "2024-03-29 00:00:00"}},
    {"a fifth Monday is rare", "UTC",
        "{\"minute\": 0, \"hour\": 0, \"weekday_of_month\": {\"day\": 2, \"nth\": 5}, " SKIP_BOTH,
        "2024-02-01 00:00:00", {"2024-04-29 00:00:00", "2024-07-29 00:00:00"}},
    {"every fifth month", "UTC",
        "{\"minute\": 0, \"hour\": 0, \"day_of_month\": 1, \"iter_month\": {\"start\": "
        "\"2027-01\", \"period\": 5, \"end\": \"2028-01\"}, " SKIP_BOTH,
        "2020-01-01 00:00:00",
        {"2027-01-01 00:00:00", "2027-06-01 00:00:00", "2027-11-01 00:00:00", "-"}},
    {"every third day", "UTC",
        "{\"minute\": 0, \"hour\": 0, \"iter_day\": {\"start\": \"2027-12-30\", \"period\": "
        "3}, " SKIP_BOTH,
        "2020-01-01 00:00:00",
        {"2027-12-30 00:00:00", "2028-01-02 00:00:00", "2028-01-05 00:00:00"}},
    {"every other Tuesday, from the first one on", "UTC",
        "{\"minute\": 0, \"hour\": 0, \"iter_day_of_week\": {\"day\": \"Tues\", \"start\": "
        "\"2027-01-01\", \"period\": 2}, " SKIP_BOTH,
        "2020-01-01 00:00:00",
        {"2027-01-05 00:00:00", "2027-01-19 00:00:00", "2027-02-02 00:00:00"}},
    {"every fortnight, but only in March", "UTC",
        "{\"minute\": 0, \"hour\": 0, \"month\": 3, \"iter_day\": {\"start\": \"2027-01-01\", "
        "\"period\": 14}, " SKIP_BOTH,
        "2027-01-02 00:00:00",
        {"2027-03-12 00:00:00", "2027-03-26 00:00:00", "2028-03-10 00:00:00"}},
    {"seconds", "UTC", "{\"second\": [10, 50], \"minute\": 59, \"hour\": 23, " SKIP_BOTH,
        "2023-12-31 23:59:11", {"2023-12-31 23:59:50", "2024-01-01 23:59:10"}},
    {"years end", "UTC",
        "{\"minute\": 0, \"hour\": 0, \"day_of_month\": 1, \"month\": 1, "
        "\"year\": [2025, {\"start\": 2030, \"end\": 2034, \"period\": 4}], " SKIP_BOTH,
        "2024-05-05 00:00:00",
        {"2025-01-01 00:00:00", "2030-01-01 00:00:00", "2034-01-01 00:00:00", "-"}},
    {"before 1970 there is nothing", "America/Los_Angeles", "{\"minute\": 0, " SKIP_BOTH,
        "1890-01-01 00:00:00", {"1970-01-01 00:00:00", "1970-01-01 01:00:00"}},
    {"1970 begins in UTC, while it is 1969 in the west", "America/Los_Angeles",
        "{\"minute\": {\"period\": 1}, " SKIP_BOTH, "1970-01-01 00:00:01",
        {"1970-01-01 00:01:00", "1970-01-01 00:02:00"}},
    {"its 31 December is an ordinary one", "America/Los_Angeles",
        "{\"minute\": 30, \"hour\": 20, \"day_of_month\": \"last\", \"month\": 12, " SKIP_BOTH,
        "1970-01-01 00:00:00", {"1970-01-01 04:30:00", "1971-01-01 04:30:00"}},
    {"years begin with the clock's own 1970", "America/Los_Angeles",
        "{\"minute\": 0, \"year\": {\"start\": 1970}, " SKIP_BOTH, "1970-01-01 00:00:00",
        {"1970-01-01 08:00:00"}},
    {"in the east the first hours of 1970 are before it", "Asia/Tokyo",
        "{\"minute\": 0, " SKIP_BOTH, "1890-01-01 00:00:00", {"1970-01-01 00:00:00"}},
    {"the calendar's last minute", "UTC", "{\"minute\": 59, \"hour\": 23, " SKIP_BOTH,
        "9999-12-31 00:00:00", {"9999-12-31 23:59:00", "-"}},
    {"it ends with UTC's, also in the west", "America/Los_Angeles", "{\"minute\": 59, " SKIP_BOTH,
        "9999-12-31 22:00:00", {"9999-12-31 22:59:00", "9999-12-31 23:59:00", "-"}},
    {"and with the clock's own in the east", "Asia/Tokyo", "{\"minute\": 59, " SKIP_BOTH,
        "9999-12-31 13:00:00", {"9999-12-31 13:59:00", "9999-12-31 14:59:00", "-"}},
};

static void test_stories(void **state)
{
	for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
		struct cron_items items = json_items(stories[i].item);

		print_message("%s\n", stories[i].why);
		assert_round_trip(&items);
		expect(&items, stories[i].zone, at_utc(stories[i].from), stories[i].wanted);
		cron_items_release(&items);
	}
}

/* The numbers that the original page gives. */
static void test_known_timestamps(void **state)
{
	struct cron_zone *z = zone_load("America/Los_Angeles");
	struct cron_items twice = json_items("{\"minute\": 30, \"hour\": 1, " SKIP_BOTH);
	struct cron_items never = json_items("{\"minute\": 30, \"hour\": 2, " UNSKIP_BOTH);
	int64_t t;

	assert_true(cron_items_next(&twice, z, 1383467400, &t) && t == 1383467400);
	assert_true(cron_items_next(&twice, z, 1383467401, &t) && t == 1383471000);
	assert_true(cron_items_last(&twice, z, 1383471000, &t) && t == 1383471000);
	assert_true(cron_items_last(&twice, z, 1383470999, &t) && t == 1383467400);
	assert_true(cron_items_next(&never, z, 1362909600 - 60, &t) && t == 1362909600 - 1);
	assert_true(cron_items_next(&never, z, 1362909600 - 1, &t) && t == 1362909600 - 1);
	assert_true(cron_items_next(&never, z, 1362909600, &t) && t == 1362909600 + 84600);
	assert_true(cron_items_last(&never, z, 1362909600 + 60, &t) && t == 1362909600 - 1);
	cron_items_release(&twice);
	cron_items_release(&never);
	cron_zone_free(z);
}

static void test_epoch(void **state)
{
	struct {
		const char *item;
		int64_t from, wanted; /* -1: none */
	} cases[] = {
	    {"{\"epoch\": {\"period\": 300}}", 0, 0},
	    {"{\"epoch\": {\"period\": 300}}", -1000, 0},
	    {"{\"epoch\": {\"period\": 300}}", 1, 300},
	    {"{\"epoch\": {\"period\": 300, \"start\": 1300003260}}", 5, 1300003260},
	    {"{\"epoch\": {\"period\": 300, \"start\": 1300003260}}", 1300003261, 1300003560},
	    {"{\"epoch\": {\"period\": 300, \"end\": 1300003260}}", 1300003200, 1300003200},
	    {"{\"epoch\": {\"period\": 300, \"end\": 1300003260}}", 1300003201, -1},
	    {"{\"epoch\": 2700}", 0, 2700},
	    {"{\"epoch\": 2700}", 2701, -1},
	    {"{\"epoch\": [5400, 2700]}", 2701, 5400},
	    {"{\"epoch\": [5400, 2700]}", INT64_MAX, -1},
	    {"[{\"epoch\": 50}, {\"epoch\": 40}]", 41, 50},
	};
	int64_t t;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct cron_items items = json_items(cases[i].item);
		bool any = cron_items_next(&items, NULL, cases[i].from, &t);

		assert_int_equal(any ? t : -1, cases[i].wanted);
		assert_false(cron_items_use_zone(&items));
		assert_round_trip(&items);
		cron_items_release(&items);
	}
}

/* Far times and far neighbours: nobody walks there event by event, and nothing overflows. */
static void test_far_away(void **state)
{
	struct cron_zone *z = zone_load("Europe/Berlin");
	struct cron_items items = json_items("{\"minute\": 0, \"year\": 1975, " UNSKIP_EARLY);
	int64_t t;

	assert_true(
	    cron_items_next(&items, z, INT64_MIN, &t) && t == at_utc("1974-12-31 23:00:00"));
	assert_false(cron_items_next(&items, z, at_utc("1976-01-01 00:00:00"), &t));
	assert_false(cron_items_next(&items, z, INT64_MAX, &t));
	assert_true(
	    cron_items_last(&items, z, INT64_MAX, &t) && t == at_utc("1975-12-31 22:00:00"));
	assert_false(cron_items_last(&items, z, INT64_MIN, &t));
	assert_false(cron_items_last(&items, z, at_utc("1974-12-31 22:59:59"), &t));
	cron_items_release(&items);
	cron_zone_free(z);
}

/* The last label there is, in a zone whose clock goes back just after it. */
static void test_last_label_twice(void **state)
{
	struct cron_items items = json_items("{\"minute\": 45, \"hour\": 23, \"day_of_month\": 31, "
	                                     "\"month\": 12, \"year\": 2010, " SKIP_BOTH);
	struct cron_zone *z = NULL;
	int64_t t = at_utc("2010-12-31 22:45:00");

	assert_int_equal(cron_zone_posix(STR("AAA0BBB-1,M6.1.0,J1/0:30"), &z, NULL), 0);
	assert_true(cron_items_next(&items, z, t - 1000, &t));
	assert_string_equal(utc_text(t), "2010-12-31 22:45:00");
	assert_true(cron_items_next(&items, z, t + 1, &t));
	assert_string_equal(utc_text(t), "2010-12-31 23:45:00");
	assert_false(cron_items_next(&items, z, t + 1, &t));
	cron_items_release(&items);
	cron_zone_free(z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_stories),
	    cmocka_unit_test(test_known_timestamps),
	    cmocka_unit_test(test_epoch),
	    cmocka_unit_test(test_far_away),
	    cmocka_unit_test(test_last_label_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
