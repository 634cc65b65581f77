/* SPDX-License-Identifier: Apache-2.0 */
/* libreeve-cron through its public header: patterns, zones, what is due, and every way to fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cron/reeve-cron.h"

#define NEW_YEAR INT64_C(1767225600) /* 2026-01-01T00:00:00Z, a Thursday */
#define HOUR 3600

static struct reeve_cron *pattern_of(enum reeve_cron_form form, const char *text)
{
	struct reeve_cron_error e = {0};
	struct reeve_cron *cron = NULL;

	if (reeve_cron_parse(form, text, NULL, &cron, &e) < 0)
		fail_msg("%s: %s", text, e.what);
	return cron;
}

static struct reeve_cron_zone *zone_of(const char *name)
{
	struct reeve_cron_error e = {0};
	struct reeve_cron_zone *zone = NULL;

	if (reeve_cron_zone_open(name, NULL, &zone, &e) < 0)
		fail_msg("%s: %s", name, e.what);
	return zone;
}

static void test_the_same_times_in_three_forms(void **state)
{
	static const struct {
		enum reeve_cron_form form;
		const char *text;
	} cases[] = {
	    {REEVE_CRON_JSON, "{\"minute\":30,\"hour\":2,\"day_of_week\":\"Tue\","
	                      "\"dst_fixes\":\"vixie\"}"},
	    {REEVE_CRON_CRONTAB, "30 2 * * tue"},
	    {REEVE_CRON_CALENDAR, "Tue *-*-* 02:30"},
	};
	struct reeve_cron_zone *zone = zone_of("+02:00");
	int64_t tuesday = NEW_YEAR + 5 * 24 * HOUR + HOUR / 2, time;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct reeve_cron *cron = pattern_of(cases[i].form, cases[i].text);

		assert_int_equal(reeve_cron_next(cron, zone, NEW_YEAR, &time), 1);
		assert_int_equal(time, tuesday);
		assert_int_equal(reeve_cron_next(cron, zone, tuesday, &time), 1);
		assert_int_equal(time, tuesday);
		assert_int_equal(reeve_cron_last(cron, zone, tuesday + 5, &time), 1);
		assert_int_equal(time, tuesday);
		reeve_cron_free(cron);
	}
	reeve_cron_zone_free(zone);
}

static void test_no_further_match(void **state)
{
	struct reeve_cron *cron = pattern_of(REEVE_CRON_JSON, "{\"epoch\":[100,200]}");
	int64_t time = 7;

	assert_false(reeve_cron_uses_zone(cron));
	assert_int_equal(reeve_cron_next(cron, NULL, 101, &time), 1);
	assert_int_equal(time, 200);
	assert_int_equal(reeve_cron_next(cron, NULL, 201, &time), 0);
	assert_int_equal(time, 200); /* as it was */
	assert_int_equal(reeve_cron_last(cron, NULL, 99, &time), 0);
	reeve_cron_free(cron);
}

static void test_daylight_saving_by_choice(void **state)
{
	struct reeve_cron_zone *zone = zone_of("CET-1CEST,M3.5.0,M10.5.0/3");
	struct reeve_cron_error e = {0};
	struct reeve_cron *cron;
	int64_t jump = 1774746000, time; /* 2026-03-29T01:00:00Z */

	assert_int_equal(reeve_cron_zone_offset(zone, jump - 1), HOUR);
	assert_int_equal(reeve_cron_zone_offset(zone, jump), 2 * HOUR);
	assert_int_equal(
	    reeve_cron_parse(REEVE_CRON_CRONTAB, "30 2 * * *", "skip,repeat_use_both", &cron, &e),
	    0);
	assert_int_equal(reeve_cron_next(cron, zone, jump - HOUR, &time), 1);
	assert_int_equal(time, jump + 23 * HOUR + HOUR / 2);
	reeve_cron_free(cron);
	assert_int_equal(reeve_cron_parse(REEVE_CRON_CRONTAB, "30 2 * * *",
	                     "unskip,repeat_use_only_late", &cron, &e),
	    0);
	assert_int_equal(reeve_cron_next(cron, zone, jump - HOUR, &time), 1);
	assert_int_equal(time, jump - 1);
	reeve_cron_free(cron);
	reeve_cron_zone_free(zone);
}

static void test_the_text_names_its_zone(void **state)
{
	struct reeve_cron *named = pattern_of(REEVE_CRON_CALENDAR, "daily Asia/Tokyo");
	struct reeve_cron *plain = pattern_of(REEVE_CRON_CRONTAB, "@daily");

	assert_string_equal(reeve_cron_zone_name(named), "Asia/Tokyo");
	assert_null(reeve_cron_zone_name(plain));
	reeve_cron_free(named);
	reeve_cron_free(plain);
}

static void test_json_and_words(void **state)
{
	struct reeve_cron *cron = pattern_of(REEVE_CRON_CRONTAB, "0 9 * * mon-fri"), *again;
	char *json = reeve_cron_to_json(cron), *words = reeve_cron_to_words(cron), *same;

	again = pattern_of(REEVE_CRON_JSON, json);
	same = reeve_cron_to_words(again);
	assert_non_null(strstr(words, "09:00"));
	assert_string_equal(words, same);
	free(json);
	free(words);
	free(same);
	reeve_cron_free(cron);
	reeve_cron_free(again);
}

static void test_mistakes_are_explained(void **state)
{
	static const struct {
		enum reeve_cron_form form;
		const char *text, *dst;
		int code;
		const char *word;
	} cases[] = {
	    {REEVE_CRON_CRONTAB, "61 * * * *", NULL, REEVE_CRON_INVALID, "61"},
	    {REEVE_CRON_CRONTAB, "0 0 30 2 *", NULL, REEVE_CRON_NOT_FOUND, ""},
	    {REEVE_CRON_CALENDAR, "Moonday", NULL, REEVE_CRON_INVALID, "Moonday"},
	    {REEVE_CRON_JSON, "{", NULL, REEVE_CRON_INVALID, ""},
	    {REEVE_CRON_JSON, "", NULL, REEVE_CRON_INVALID, ""},
	    {REEVE_CRON_JSON, NULL, NULL, REEVE_CRON_INVALID, ""},
	    {REEVE_CRON_CRONTAB, NULL, NULL, REEVE_CRON_INVALID, ""},
	    {REEVE_CRON_CALENDAR, NULL, NULL, REEVE_CRON_INVALID, ""},
	    {REEVE_CRON_JSON, "{\"epoch\":1}", "vixie", REEVE_CRON_INVALID, "JSON"},
	    {REEVE_CRON_CRONTAB, "@daily", "perhaps", REEVE_CRON_INVALID, "vixie"},
	    {(enum reeve_cron_form)9, "@daily", NULL, REEVE_CRON_INVALID, "9"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct reeve_cron *cron = NULL;
		struct reeve_cron_error e = {0};

		assert_int_equal(
		    reeve_cron_parse(cases[i].form, cases[i].text, cases[i].dst, &cron, &e),
		    cases[i].code);
		assert_null(cron);
		assert_int_equal(e.code, cases[i].code);
		assert_true(strlen(e.what) > 0);
		if (!strstr(e.what, cases[i].word))
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, e.what, cases[i].word);
		assert_int_equal(
		    reeve_cron_parse(cases[i].form, cases[i].text, cases[i].dst, &cron, NULL),
		    cases[i].code);
	}
}

static void test_wrong_zones_are_explained(void **state)
{
	struct reeve_cron_zone *zone = NULL;
	struct reeve_cron_error e = {0};

	assert_int_equal(
	    reeve_cron_zone_open("Europe/Berln", NULL, &zone, &e), REEVE_CRON_NOT_FOUND);
	assert_non_null(strstr(e.hint, "Europe/Berlin"));
	assert_int_equal(reeve_cron_zone_open(NULL, NULL, &zone, &e), REEVE_CRON_INVALID);
	assert_int_equal(
	    reeve_cron_zone_open("Europe/Berlin", "/nowhere", &zone, NULL), REEVE_CRON_NOT_FOUND);
	assert_int_equal(reeve_cron_zone_tzif("TZ", 2, &zone, &e), REEVE_CRON_INVALID);
	assert_null(zone);
}

static void test_a_missing_zone_is_no_crash(void **state)
{
	struct reeve_cron *cron = pattern_of(REEVE_CRON_CRONTAB, "@daily");
	struct reeve_cron_reading now = {NEW_YEAR, REEVE_CRON_NO_MONOTONIC, NULL};
	struct reeve_cron_policy policy = {0};
	struct reeve_cron_state before = {0};
	struct reeve_cron_error e = {0};
	struct reeve_cron_run *run = NULL;
	int64_t time;

	assert_int_equal(reeve_cron_next(cron, NULL, 0, &time), REEVE_CRON_INVALID);
	assert_int_equal(reeve_cron_last(cron, NULL, 0, &time), REEVE_CRON_INVALID);
	assert_int_equal(
	    reeve_cron_begin(cron, &policy, &now, &before, &run, &e), REEVE_CRON_INVALID);
	assert_null(run);
	assert_non_null(strstr(e.hint, "reeve_cron_zone_open"));
	reeve_cron_free(cron);
}

/* Says how many events there were, the last of them, and when to call again. */
static size_t due(const struct reeve_cron *cron, const struct reeve_cron_zone *zone, int64_t now,
    struct reeve_cron_state *state, struct reeve_cron_event *last, int64_t *ret_wake)
{
	struct reeve_cron_policy policy = {.max_shift_seconds = HOUR, .on_time_seconds = 5};
	struct reeve_cron_reading reading = {now, REEVE_CRON_NO_MONOTONIC, zone};
	struct reeve_cron_run *run;
	size_t n = 0;

	assert_int_equal(reeve_cron_begin(cron, &policy, &reading, state, &run, NULL), 0);
	while (reeve_cron_take(run, last))
		n++;
	assert_true(reeve_cron_wake(run, ret_wake));
	reeve_cron_end(run, state);
	return n;
}

static void test_what_is_due(void **arg)
{
	struct reeve_cron *cron = pattern_of(REEVE_CRON_CRONTAB, "0 * * * *");
	struct reeve_cron_zone *zone = zone_of("UTC");
	struct reeve_cron_state state = {0};
	struct reeve_cron_event e = {0};
	int64_t wake;

	assert_int_equal(due(cron, zone, NEW_YEAR + 1, &state, &e, &wake), 0);
	assert_int_equal(wake, NEW_YEAR + HOUR);
	assert_int_equal(due(cron, zone, NEW_YEAR + HOUR + 2, &state, &e, &wake), 1);
	assert_int_equal(e.label, REEVE_CRON_ON_TIME);
	assert_int_equal(e.time, NEW_YEAR + HOUR);
	assert_int_equal(e.shift, 2);
	/* asleep for a day: all but the last one are too old, and come as one */
	assert_int_equal(due(cron, zone, NEW_YEAR + 25 * HOUR + 60, &state, &e, &wake), 2);
	assert_int_equal(e.label, REEVE_CRON_LATE);
	assert_int_equal(e.time, NEW_YEAR + 25 * HOUR);
	/* set back a little: the same hour is not fired again */
	assert_int_equal(due(cron, zone, NEW_YEAR + 25 * HOUR - 60, &state, &e, &wake), 0);
	assert_int_equal(due(cron, zone, NEW_YEAR + 25 * HOUR, &state, &e, &wake), 1);
	assert_int_equal(e.label, REEVE_CRON_ALREADY_FIRED);
	reeve_cron_zone_free(zone);
	reeve_cron_free(cron);
}

/* The policy's limit holds, whatever the items say; each alone has its own. */
static void test_a_run_has_one_limit(void **arg)
{
	struct reeve_cron *cron = pattern_of(REEVE_CRON_JSON,
	    "[{\"epoch\":{\"period\":3600},\"max_shift_seconds_for_unskip_and_do_not_repeat\":5},"
	    "{\"epoch\":1,\"max_shift_seconds_for_unskip_and_do_not_repeat\":7}]");
	struct reeve_cron_state state = {0};
	struct reeve_cron_event e = {0};
	int64_t wake;

	assert_int_equal(due(cron, NULL, NEW_YEAR + 1, &state, &e, &wake), 0);
	assert_int_equal(due(cron, NULL, NEW_YEAR + 2 * HOUR, &state, &e, &wake), 2);
	assert_int_equal(e.time, NEW_YEAR + 2 * HOUR);
	assert_int_equal(e.label, REEVE_CRON_ON_TIME);
	reeve_cron_free(cron);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_the_same_times_in_three_forms),
	    cmocka_unit_test(test_no_further_match),
	    cmocka_unit_test(test_daylight_saving_by_choice),
	    cmocka_unit_test(test_the_text_names_its_zone),
	    cmocka_unit_test(test_json_and_words),
	    cmocka_unit_test(test_mistakes_are_explained),
	    cmocka_unit_test(test_wrong_zones_are_explained),
	    cmocka_unit_test(test_a_missing_zone_is_no_crash),
	    cmocka_unit_test(test_what_is_due),
	    cmocka_unit_test(test_a_run_has_one_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
