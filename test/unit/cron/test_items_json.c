/* SPDX-License-Identifier: Apache-2.0 */
/* Items as JSON: what is taken, how it is written, and what a wrong one is told. */
#include "support.h"

#define DST "\"dst_fixes\": [\"skip\", \"repeat_use_both\"]}"

static const struct {
	const char *in, *out;
} taken[] = {
    {"{\"epoch\": {\"period\": 300}}", "{\"epoch\":{\"period\":300}}"},
    {"{\"epoch\": {\"end\": 10, \"start\": 4}}", "{\"epoch\":{\"start\":4,\"end\":10}}"},
    {"{\"epoch\": [3, 1, 3]}", "{\"epoch\":[1,3]}"},
    {"{\"epoch\": 5, \"max_shift_seconds_for_unskip_and_do_not_repeat\": 7}",
        "{\"epoch\":5,\"max_shift_seconds_for_unskip_and_do_not_repeat\":7}"},
    {"{\"minute\": {}, " DST,
        "{\"minute\":{\"period\":1},\"dst_fixes\":[\"skip\",\"repeat_use_both\"]}"},
    {"{\"dst_fixes\": [\"repeat_use_only_late\", \"unskip\"], \"minute\": 0}",
        "{\"minute\":0,\"dst_fixes\":[\"unskip\",\"repeat_use_only_late\"]}"},
    {"{\"minute\": 0, \"dst_fixes\": \"vixie\"}", "{\"minute\":0,\"dst_fixes\":\"vixie\"}"},
    {"{\"minute\": 0, \"day_of_week\": [\"Tues\", \"SUNDAY\", 7], \"dst_fixes\": \"vixie\"}",
        "{\"minute\":0,\"day_of_week\":[\"Sun\",\"Tue\",\"Sat\"],\"dst_fixes\":\"vixie\"}"},
    {"{\"minute\": 0, \"day_of_week\": {\"start\": \"mon\", \"end\": \"friday\"}, "
     "\"dst_fixes\": \"vixie\"}",
        "{\"minute\":0,\"day_of_week\":[\"Mon\",\"Tue\",\"Wed\",\"Thu\",\"Fri\"],"
        "\"dst_fixes\":\"vixie\"}"},
    {"{\"minute\": [0, 15, 30, 45], \"month\": \"sEpTe\", \"dst_fixes\": \"vixie\"}",
        "{\"minute\":{\"period\":15},\"month\":9,\"dst_fixes\":\"vixie\"}"},
    {"{\"minute\": [1, 2, 4], \"hour\": {\"start\": 8, \"end\": 17, \"period\": 3}, "
     "\"dst_fixes\": \"vixie\"}",
        "{\"minute\":[1,2,4],\"hour\":{\"start\":8,\"end\":17,\"period\":3},"
        "\"dst_fixes\":\"vixie\"}"},
    {"{\"minute\": 0, \"day_of_month\": [\"last\", 15, \"last-3\"], \"dst_fixes\": \"vixie\"}",
        "{\"minute\":0,\"day_of_month\":[15,\"last\",\"last-3\"],\"dst_fixes\":\"vixie\"}"},
    {"{\"minute\": 0, \"weekday_of_month\": {\"day\": [\"Tue\", 2], \"nth\": [1, \"last\"]}, "
     "\"dst_fixes\": \"vixie\"}",
        "{\"minute\":0,\"weekday_of_month\":[{\"day\":[\"Mon\",\"Tue\"],\"nth\":1},"
        "{\"day\":[\"Mon\",\"Tue\"],\"nth\":\"last\"}],\"dst_fixes\":\"vixie\"}"},
    {"{\"minute\": 0, \"iter_month\": {\"start\": \"2027-01\", \"period\": 5, \"end\": "
     "\"2030-12\"}, \"iter_day\": {\"start\": \"2027-01-04\", \"period\": 3}, "
     "\"iter_day_of_week\": {\"day\": \"tue\", \"start\": \"2027-01-01\", \"period\": 2}, "
     "\"dst_fixes\": \"vixie\"}",
        "{\"minute\":0,\"iter_day\":{\"start\":\"2027-01-04\",\"period\":3},"
        "\"iter_day_of_week\":{\"day\":\"Tue\",\"start\":\"2027-01-05\",\"period\":2},"
        "\"iter_month\":{\"start\":\"2027-01\",\"period\":5,\"end\":\"2030-12\"},"
        "\"dst_fixes\":\"vixie\"}"},
    {"[{\"epoch\": 1}, {\"second\": 30, \"minute\": 2, \"year\": [2030, {\"start\": 2040}], "
     "\"dst_fixes\": \"vixie\"}]",
        "[{\"epoch\":1},{\"second\":30,\"minute\":2,\"year\":[2030,{\"start\":2040}],"
        "\"dst_fixes\":\"vixie\"}]"},
};

static void test_taken(void **state)
{
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
		struct cron_items items = json_items(taken[i].in);
		struct buf b = {0};

		cron_items_write(&items, &b);
		assert_string_equal(b.p, taken[i].out);
		assert_round_trip(&items);
		buf_release(&b);
		cron_items_release(&items);
	}
}

/* text, code, the field that is to blame, a part of what is said, a part of the hint */
static const struct {
	const char *in;
	int code;
	const char *field, *what, *hint;
} refused[] = {
    {"", ERR_INVALID, "line 1, column 0", "no JSON", "looks like"},
    {"{\"minute\": 0,\n  \"hour\" 5}", ERR_INVALID, "line 2, column 10", "no JSON", "looks like"},
    {"{\"minute\": 0, \"minute\": 1}", ERR_INVALID, "line 1", "duplicate", ""},
    {"[]", ERR_INVALID, "", "0 items", "1 to 16"},
    {"[[1]]", ERR_INVALID, "[0]", "not a list", "epoch"},
    {"{}", ERR_INVALID, "minute", "missing", "every minute"},
    {"{\"minute\": 0}", ERR_INVALID, "dst_fixes", "missing", "vixie"},
    {"[{\"epoch\": 1}, {\"minute\": 0}]", ERR_INVALID, "[1].dst_fixes", "missing", "vixie"},
    {"{\"minutes\": 0, " DST, ERR_INVALID, "minutes", "no such key", "\"minute\""},
    {"{\"day\": 30, \"minute\": 0, " DST, ERR_INVALID, "day", "no such key", ""},
    {"{\"epoch\": 1, \"minute\": 0}", ERR_INVALID, "minute", "beside", "two items"},
    {"{\"epoch\": 1, " DST, ERR_INVALID, "dst_fixes", "beside \"epoch\"", ""},
    {"{\"epoch\": -1}", ERR_INVALID, "epoch", "too small", "between 0"},
    {"{\"epoch\": {\"period\": 0}}", ERR_INVALID, "epoch.period", "too small", "between 1"},
    {"{\"epoch\": {\"start\": 5, \"end\": 4}}", ERR_NOT_FOUND, "epoch", "nothing lies", ""},
    {"{\"epoch\": {\"stop\": 5}}", ERR_INVALID, "epoch.stop", "no such key", "\"start\""},
    {"{\"epoch\": 1.5}", ERR_INVALID, "epoch", "fraction", "number"},
    {"{\"minute\": 60, " DST, ERR_INVALID, "minute", "60 is too great", "0 and 59"},
    {"{\"epoch\": {\"period\": \"500\"}}", ERR_INVALID, "epoch.period", "not a text", "number"},
    {"{\"minute\": {\"period\": 90}, " DST, ERR_INVALID, "minute.period", "too great", "60"},
    {"{\"minute\": [], " DST, ERR_INVALID, "minute", "empty", "at least one"},
    {"{\"minute\": [[1]], " DST, ERR_INVALID, "minute[0]", "not a list", ""},
    {"{\"minute\": 0, \"hour\": [1, 2, 24], " DST, ERR_INVALID, "hour[2]", "hour[2]: 24", "23"},
    {"[{\"epoch\":0},{\"minute\": {\"period\": \"x\"}, " DST, ERR_INVALID, "line 1", "JSON", ""},
    {"[{\"epoch\":0},{\"minute\": {\"period\": \"x\"}, " DST "]", ERR_INVALID, "[1].minute.period",
        "whole number", ""},
    {"{\"minute\": 0, \"hour\": {\"start\": 22, \"end\": 2}, " DST, ERR_INVALID, "hour",
        "before it starts", "[{\"start\": 22}, {\"end\": 2}]"},
    {"{\"minute\": 0, \"year\": 1969, " DST, ERR_INVALID, "year", "too small", "1970"},
    {"{\"minute\": 0, \"year\": 10000, " DST, ERR_INVALID, "year", "too great", "9999"},
    {"{\"minute\": 0, \"day_of_week\": \"Tu\", " DST, ERR_INVALID, "day_of_week", "no name", ""},
    {"{\"minute\": 0, \"day_of_week\": 0, " DST, ERR_INVALID, "day_of_week", "too small", "1"},
    {"{\"minute\": 0, \"day_of_week\": \"Tuesdays\", " DST, ERR_INVALID, "day_of_week", "no name",
        "\"Tuesday\""},
    {"{\"minute\": 0, \"day_of_month\": \"lest\", " DST, ERR_INVALID, "day_of_month", "no day",
        "\"last\""},
    {"{\"minute\": 0, \"day_of_month\": \"last-31\", " DST, ERR_INVALID, "day_of_month", "no day",
        ""},
    {"{\"minute\": 0, \"day_of_month\": 1, \"day_of_week\": 1, " DST, ERR_INVALID, "day_of_month",
        "exclude", "two items"},
    {"{\"minute\": 0, \"weekday_of_month\": {\"day\": \"Tue\", \"nth\": 6}, " DST, ERR_INVALID,
        "weekday_of_month.nth", "too great", "last"},
    {"{\"minute\": 0, \"weekday_of_month\": {\"day\": \"Tue\"}, " DST, ERR_INVALID,
        "weekday_of_month.nth", "missing", ""},
    {"{\"minute\": 0, \"dst_fixes\": [\"skip\", \"unskip\"]}", ERR_INVALID, "dst_fixes",
        "same question", "repeat_use_both"},
    {"{\"minute\": 0, \"dst_fixes\": [\"skip\", \"repeat_use_boht\"]}", ERR_INVALID, "dst_fixes",
        "repeat_use_boht", "repeat_use_both"},
    {"{\"minute\": 0, \"dst_fixes\": [\"skip\"]}", ERR_INVALID, "dst_fixes", "two answers", ""},
    {"{\"minute\": 0, \"iter_day\": {\"start\": \"2027-02-29\", \"period\": 2}, " DST, ERR_INVALID,
        "iter_day.start", "no date", "exists"},
    {"{\"minute\": 0, \"iter_day\": {\"start\": \"2027-02-28\"}, " DST, ERR_INVALID,
        "iter_day.period", "missing", ""},
    {"{\"minute\": 0, \"iter_day\": {\"start\": \"2027-02-28\", \"period\": 1, \"end\": "
     "\"2027-02-27\"}, " DST,
        ERR_NOT_FOUND, "iter_day", "before it starts", ""},
    {"{\"minute\": 0, \"max_shift_seconds_for_unskip_and_do_not_repeat\": -1, " DST, ERR_INVALID,
        "max_shift_seconds_for_unskip_and_do_not_repeat", "too small", ""},
    {"{\"minute\": 0, \"day_of_month\": 30, \"month\": 2, " DST, ERR_NOT_FOUND, "",
        "none of the months has such a day", "February"},
    {"{\"minute\": 0, \"day_of_month\": 29, \"month\": 2, \"year\": 2025, " DST, ERR_NOT_FOUND, "",
        "none of the years", "February"},
    {"{\"minute\": 0, \"day_of_month\": 29, \"month\": 2, \"year\": 2100, " DST, ERR_NOT_FOUND, "",
        "none of the years", ""},
    {"[{\"epoch\": 1}, {\"minute\": 0, \"day_of_month\": 31, \"month\": [4, 6], " DST "]",
        ERR_NOT_FOUND, "[1]", "[1]: no date", ""},
    {"{\"minute\": 0, \"month\": 2, \"iter_month\": {\"start\": \"2027-01\", \"period\": 12}, " DST,
        ERR_NOT_FOUND, "", "iteration", "change its start, period or end"},
    {"{\"minute\": {\"period\": 61}, " DST, ERR_INVALID, "minute.period", "too great",
        "between 1 and 60"},
    {"{\"minute\": 0, \"hour\": {\"period\": 25}, " DST, ERR_INVALID, "hour.period", "too great",
        "between 1 and 24"},
};

static void test_refused(void **state)
{
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct cron_items items = {0};
		struct problem p = {0};

		assert_int_equal(
		    cron_items_json(str_of(refused[i].in), &items, &p), refused[i].code);
		if (!strstr(p.what, refused[i].what) || !strstr(p.hint, refused[i].hint) ||
		    strncmp(p.field, refused[i].field, strlen(refused[i].field)) != 0 ||
		    (!strstr(refused[i].field, "line") && strcmp(p.field, refused[i].field) != 0))
			fail_msg("%s\nfield \"%s\", \"%s\", \"%s\"", refused[i].in, p.field, p.what,
			    p.hint);
		assert_int_equal(
		    cron_items_json(str_of(refused[i].in), &items, NULL), refused[i].code);
		assert_null(items.items);
	}
}

static void test_bounds(void **state)
{
	struct cron_items items;
	struct problem p = {0};
	struct buf b = {0};

	buf_add_cstr(&b, "{\"epoch\":[0");
	for (int i = 1; i < CRON_LIST_MAX; i++)
		buf_printf(&b, ",%d", i * 7);
	buf_add_cstr(&b, "]}");
	items = json_items(b.p);
	assert_int_equal(items.items[0].n_ranges, CRON_LIST_MAX);
	cron_items_release(&items);
	b.n -= 2;
	buf_add_cstr(&b, ",9]}");
	assert_int_equal(cron_items_json(buf_str(&b), &items, &p), ERR_INVALID);
	assert_string_equal(p.field, "epoch[1024]");
	buf_reset(&b);
	while (b.n <= CRON_TEXT_MAX)
		buf_add_char(&b, '[');
	assert_int_equal(cron_items_json(buf_str(&b), &items, &p), ERR_INVALID);
	b.n--;
	assert_int_equal(cron_items_json(buf_str(&b), &items, &p), ERR_INVALID);
	buf_release(&b);
}

/* Vixie's rule: what runs all the time goes on, what runs at a time runs exactly once. */
static void test_vixie(void **state)
{
	struct {
		const char *item;
		enum cron_skipped skipped;
		enum cron_repeated repeated;
	} cases[] = {
	    {"{\"minute\": 30, \"dst_fixes\": \"vixie\"}", CRON_SKIP, CRON_REPEAT_BOTH},
	    {"{\"minute\": {}, \"hour\": 2, \"dst_fixes\": \"vixie\"}", CRON_SKIP,
	        CRON_REPEAT_BOTH},
	    {"{\"minute\": 30, \"hour\": 2, \"dst_fixes\": \"vixie\"}", CRON_UNSKIP,
	        CRON_REPEAT_EARLY},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct cron_items items = json_items(cases[i].item);

		assert_true(items.items[0].by_vixie);
		assert_int_equal(items.items[0].skipped, cases[i].skipped);
		assert_int_equal(items.items[0].repeated, cases[i].repeated);
		cron_items_release(&items);
	}
}

static void test_dst_words(void **state)
{
	struct cron_dst dst = {0};
	struct problem p = {0};

	assert_int_equal(cron_dst_parse(STR("repeat_use_only_late,skip"), &dst, &p), 0);
	assert_true(dst.mode == CRON_DST_GIVEN && dst.skipped == CRON_SKIP);
	assert_int_equal(dst.repeated, CRON_REPEAT_LATE);
	assert_int_equal(cron_dst_parse(STR("vixie"), &dst, &p), 0);
	assert_int_equal(dst.mode, CRON_DST_VIXIE);
	assert_int_equal(cron_dst_parse(STR("skip"), &dst, &p), ERR_INVALID);
	assert_int_equal(cron_dst_parse(STR("skip,unskip"), &dst, &p), ERR_INVALID);
	assert_int_equal(cron_dst_parse(STR("skip,repeat_use_both,skip"), &dst, &p), ERR_INVALID);
	assert_int_equal(cron_dst_parse(STR(""), &dst, &p), ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_taken),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_bounds),
	    cmocka_unit_test(test_vixie),
	    cmocka_unit_test(test_dst_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
