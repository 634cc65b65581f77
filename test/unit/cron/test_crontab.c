/* SPDX-License-Identifier: Apache-2.0 */
/* Crontab lines: the times they mean, told as the JSON they become; and lines of files. */
#include "support.h"

#define VIXIE "\"dst_fixes\":\"vixie\"}"
#define STARRED "\"dst_fixes\":[\"skip\",\"repeat_use_both\"]}"

static const struct {
	const char *line, *json;
	bool either_or;
} taken[] = {
    {"30 2 * * *", "{\"minute\":30,\"hour\":2," VIXIE},
    {"  */15\t8-17  * * mon-fri ",
        "{\"minute\":{\"period\":15},\"hour\":{\"start\":8,\"end\":17},\"day_of_week\":[\"Mon\","
        "\"Tue\",\"Wed\",\"Thu\",\"Fri\"]," STARRED},
    {"*/10 2 * * *", "{\"minute\":{\"period\":10},\"hour\":2," STARRED},
    {"0,10,20,30,40,50 2 * * *", "{\"minute\":{\"period\":10},\"hour\":2," VIXIE},
    {"* * * * *", "{\"minute\":{\"period\":1}," VIXIE},
    /* A full range is as good as a star; all but one of its values are not. */
    {"0 0-23 * * *", "{\"minute\":0," VIXIE},
    {"0-59 2 * * *", "{\"minute\":{\"period\":1},\"hour\":2," VIXIE},
    {"0 */1 * * *", "{\"minute\":0," VIXIE},
    {"0 0-22 * * *", "{\"minute\":0,\"hour\":{\"end\":22}," VIXIE},
    {"0 0 * * 0", "{\"minute\":0,\"hour\":0,\"day_of_week\":\"Sun\"," VIXIE},
    {"0 0 * * 7", "{\"minute\":0,\"hour\":0,\"day_of_week\":\"Sun\"," VIXIE},
    {"0 0 * * Fri-Sun",
        "{\"minute\":0,\"hour\":0,\"day_of_week\":[\"Sun\",\"Fri\",\"Sat\"]," VIXIE},
    {"0 0 * * 5-7", "{\"minute\":0,\"hour\":0,\"day_of_week\":[\"Sun\",\"Fri\",\"Sat\"]," VIXIE},
    {"0 0 * JAN,jul-sep *", "{\"minute\":0,\"hour\":0,\"month\":[1,7,8,9]," VIXIE},
    {"5-20/5,50 1 * * *", "{\"minute\":[5,10,15,20,50],\"hour\":1," VIXIE},
    {"0 0 L * *", "{\"minute\":0,\"hour\":0,\"day_of_month\":[\"last\"]," VIXIE},
    {"0 0 1,L 2 *", "{\"minute\":0,\"hour\":0,\"day_of_month\":[1,\"last\"],\"month\":2," VIXIE},
    {"0 0 * * fri#2,1L",
        "{\"minute\":0,\"hour\":0,\"weekday_of_month\":[{\"day\":\"Fri\",\"nth\":2},{\"day\":"
        "\"Mon\",\"nth\":\"last\"}]," VIXIE},
    {"0 0 * * friL", "{\"minute\":0,\"hour\":0,\"weekday_of_month\":[{\"day\":\"Fri\",\"nth\":"
                     "\"last\"}]," VIXIE},
    /* Either day: two items. */
    {"0 0 13 * fri",
        "[{\"minute\":0,\"hour\":0,\"day_of_month\":13," VIXIE
        ",{\"minute\":0,\"hour\":0,\"day_of_week\":\"Fri\"," VIXIE "]",
        true},
    /* A field that begins with a star restricts the other one, as in Vixie's program. */
    {"0 0 */2 * mon",
        "{\"minute\":0,\"hour\":0,\"day_of_week\":\"Mon\",\"day_of_month\":{\"period\":2},"
        "\"both_days\":true," VIXIE},
    /* 30 February never comes, but Mondays do. */
    {"0 0 30 2 1", "{\"minute\":0,\"hour\":0,\"day_of_week\":\"Mon\",\"month\":2," VIXIE, true},
    {"@yearly", "{\"minute\":0,\"hour\":0,\"day_of_month\":1,\"month\":1," VIXIE},
    {"@monthly", "{\"minute\":0,\"hour\":0,\"day_of_month\":1," VIXIE},
    {"@weekly", "{\"minute\":0,\"hour\":0,\"day_of_week\":\"Sun\"," VIXIE},
    {"@midnight ", "{\"minute\":0,\"hour\":0," VIXIE},
    {"@hourly", "{\"minute\":0," VIXIE},
};

static void test_taken(void **state)
{
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
		struct cron_items items = crontab_items(taken[i].line);
		struct buf b = {0};

		cron_items_write(&items, &b);
		assert_string_equal(b.p, taken[i].json);
		assert_round_trip(&items);
		assert_true(items.either_or == taken[i].either_or);
		buf_release(&b);
		cron_items_release(&items);
	}
}

static const struct {
	const char *line;
	int code;
	const char *field, *what, *hint;
} refused[] = {
    {"", ERR_INVALID, "column 1", "minute is missing", "02:30"},
    {"5 4 * *", ERR_INVALID, "column 8", "day of the week is missing", ""},
    {"60 * * * *", ERR_INVALID, "column 1", "minute 60 is too great", "59"},
    {"0 24 * * *", ERR_INVALID, "column 3", "hour 24", "23"},
    {"0 0 0 * *", ERR_INVALID, "column 5", "too small", "1 and 31"},
    {"0 0 * 13 *", ERR_INVALID, "column 7", "month 13", "12"},
    {"0 0 * * 8", ERR_INVALID, "column 9", "8 is too great", "7"},
    {"0 0 * * fre", ERR_INVALID, "column 9", "'f' is no day of the week", "Sun"},
    {"0 22-2 * * *", ERR_INVALID, "column 3", "before it starts", "comma"},
    {"*/0 * * * *", ERR_INVALID, "column 3", "step", "fifth"},
    {"*/61 * * * *", ERR_INVALID, "column 3", "step", ""},
    {"5/10 * * * *", ERR_INVALID, "column 2", "range", "5-59/n"},
    {"1,,2 * * * *", ERR_INVALID, "column 3", "','", "lists"},
    {"1, * * * *", ERR_INVALID, "column 3", "ends too early", ""},
    {"99999999999999999999 * * * *", ERR_INVALID, "column 1", "too great for a minute", "0 and 59"},
    {"0 0 15W * *", ERR_INVALID, "column 7", "working day", ""},
    {"0~9 0 * * *", ERR_INVALID, "column 2", "random", "jitter"},
    {"0 0 ? * *", ERR_INVALID, "column 5", "'?'", "*"},
    {"0 0 * * fri#6", ERR_INVALID, "column 13", "1 to 5", "second Friday"},
    {"* * * * * *", ERR_INVALID, "column 11", "there are more than five fields", "second"},
    {"0 0 1-99999999999999999999 * *", ERR_INVALID, "column 7", "too great", "1 and 31"},
    {"@every 5m", ERR_INVALID, "column 1", "@every", "{\"epoch\": {\"period\": 300}}"},
    {"@every", ERR_INVALID, "column 1", "@every", "epoch"},
    {"0 0 0 1 1 ? 2020", ERR_INVALID, "column 5", "too small", ""},
    {"@reboot", ERR_INVALID, "column 1", "names no time", "init"},
    {"@dayly", ERR_INVALID, "column 1", "not known", "@daily"},
    {"@daily 5", ERR_INVALID, "column 8", "follow", ""},
    {"TZ= 0 0 * * *", ERR_INVALID, "column 4", "name", "Europe/Berlin"},
    {"TZ=A$B 0 0 * * *", ERR_INVALID, "column 5", "'$'", ""},
    {"0 0\n* * *", ERR_INVALID, "column 4", "control", ""},
    {"0 0 30 2 *", ERR_NOT_FOUND, "", "none of the months", "February"},
    {"0 0 31 4,6 *", ERR_NOT_FOUND, "", "none of the months", ""},
};

static void test_refused(void **state)
{
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct cron_items items = {0};
		struct problem p = {0};
		int rc = cron_items_crontab(str_of(refused[i].line), NULL, &items, &p);

		if (rc != refused[i].code || strcmp(p.field, refused[i].field) != 0 ||
		    !strstr(p.what, refused[i].what) || !strstr(p.hint, refused[i].hint))
			fail_msg("%s: %d, \"%s\", \"%s\", \"%s\"", refused[i].line, rc, p.field,
			    p.what, p.hint);
		assert_int_equal(
		    rc, cron_items_crontab(str_of(refused[i].line), NULL, &items, NULL));
	}
}

static void test_zone_and_dst(void **state)
{
	struct cron_dst dst = {CRON_DST_GIVEN, CRON_SKIP, CRON_REPEAT_LATE};
	struct cron_items items = crontab_items("CRON_TZ=Europe/Berlin 30 2 * * *");

	assert_string_equal(items.zone, "Europe/Berlin");
	assert_true(
	    items.items[0].skipped == CRON_UNSKIP && items.items[0].repeated == CRON_REPEAT_EARLY);
	cron_items_release(&items);
	items = crontab_items("TZ=\"UTC\" @hourly");
	assert_string_equal(items.zone, "UTC");
	assert_true(
	    items.items[0].skipped == CRON_SKIP && items.items[0].repeated == CRON_REPEAT_BOTH);
	cron_items_release(&items);
	assert_int_equal(cron_items_crontab(STR("0 2 * * *"), &dst, &items, NULL), 0);
	assert_false(items.items[0].by_vixie);
	assert_int_equal(items.items[0].repeated, CRON_REPEAT_LATE);
	cron_items_release(&items);
}

/* Lines of a file, with the user column or without. */
static const struct {
	const char *line;
	bool has_user;
	enum cron_line_kind kind;
	const char *schedule_or_name, *user, *command_or_value;
} lines[] = {
    {"", false, CRON_LINE_EMPTY, "", "", ""},
    {"   # a comment = 5", false, CRON_LINE_EMPTY, "", "", ""},
    {"MAILTO = \"a b\"\r\n", false, CRON_LINE_SETTING, "MAILTO", "", "a b"},
    {"CRON_TZ=Asia/Tokyo", false, CRON_LINE_SETTING, "CRON_TZ", "", "Asia/Tokyo"},
    {"CRON_TZ=Asia/Tokyo 0 1 * * * run a=b", false, CRON_LINE_JOB, "CRON_TZ=Asia/Tokyo 0 1 * * *",
        "", "run a=b"},
    {"TZ=UTC @daily run", false, CRON_LINE_JOB, "TZ=UTC @daily", "", "run"},
    {"*/5 * * * *\techo a=1 ", false, CRON_LINE_JOB, "*/5 * * * *", "", "echo a=1"},
    {"17 * * * * root cd / && run", true, CRON_LINE_JOB, "17 * * * *", "root", "cd / && run"},
    {"@hourly root x", true, CRON_LINE_JOB, "@hourly", "root", "x"},
};

static bool same(struct str s, const char *text)
{
	return str_eq(s, str_of(text)) || (s.n == 0 && !*text);
}

static void test_lines(void **state)
{
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct cron_line l;
		bool set;

		assert_int_equal(
		    cron_line_split(str_of(lines[i].line), lines[i].has_user, &l, NULL), 0);
		set = l.kind == CRON_LINE_SETTING;
		if (l.kind != lines[i].kind || !same(l.user, lines[i].user) ||
		    !same(set ? l.name : l.schedule, lines[i].schedule_or_name) ||
		    !same(set ? l.value : l.command, lines[i].command_or_value))
			fail_msg("%s: kind %d", lines[i].line, l.kind);
	}
}

static void test_bad_lines(void **state)
{
	struct problem p = {0};
	struct cron_line l;

	assert_int_equal(cron_line_split(STR("5 4 * *"), false, &l, &p), ERR_INVALID);
	assert_non_null(strstr(p.what, "five fields"));
	assert_int_equal(cron_line_split(STR("5 4 * * *"), false, &l, &p), ERR_INVALID);
	assert_non_null(strstr(p.what, "no command"));
	assert_int_equal(cron_line_split(STR("5 4 * * * root"), true, &l, &p), ERR_INVALID);
	assert_non_null(strstr(p.hint, "a user"));
}

static void test_percent(void **state)
{
	struct buf command = {0}, input = {0};

	assert_false(cron_line_command(STR("date +\\%F \\\\ x"), &command, &input));
	assert_string_equal(command.p, "date +%F \\\\ x");
	assert_int_equal(input.n, 0);
	buf_reset(&command);
	assert_true(cron_line_command(STR("mail me%Hello%100\\% sure"), &command, &input));
	assert_string_equal(command.p, "mail me");
	assert_string_equal(input.p, "Hello\n100% sure\n");
	buf_release(&command);
	buf_release(&input);
}

/* By the answers that a line comes to, and whether Vixie's own program comes to the same. */
static void test_what_runs_all_the_time(void **state)
{
	static const struct {
		const char *line;
		bool all_the_time, full_range;
	} cases[] = {
	    {"0 * * * *", true, false},
	    {"0 */1 * * *", true, false},
	    {"*/10 2 * * *", true, false},
	    {"0-59 * * * *", true, false},
	    {"@hourly", true, false},
	    {"0 0-23 * * *", true, true},
	    {"0 0-11,12-23 * * *", true, true},
	    {"0-59 2 * * *", true, true},
	    {"0 0-23 13 * fri", true, true},
	    {"0-59/10 2 * * *", false, false},
	    {"0 1-23 * * *", false, false},
	    {"30 2 * * *", false, false},
	};
	struct cron_dst given = {CRON_DST_GIVEN, CRON_UNSKIP, CRON_REPEAT_EARLY};
	struct cron_items items;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		items = crontab_items(cases[i].line);
		for (size_t k = 0; k < items.n; k++) {
			assert_int_equal(
			    items.items[k].skipped == CRON_SKIP, cases[i].all_the_time);
			assert_int_equal(
			    items.items[k].repeated == CRON_REPEAT_BOTH, cases[i].all_the_time);
		}
		assert_int_equal(items.full_range, cases[i].full_range);
		cron_items_release(&items);
	}
	assert_int_equal(cron_items_crontab(STR("0 0-23 * * *"), &given, &items, NULL), 0);
	assert_int_equal(items.items[0].skipped, CRON_UNSKIP);
	assert_false(items.full_range); /* nothing was left to a rule */
	cron_items_release(&items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_taken),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_zone_and_dst),
	    cmocka_unit_test(test_what_runs_all_the_time),
	    cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_bad_lines),
	    cmocka_unit_test(test_percent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
