/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules on the command line: names for crontab lines, moments, suggestions, words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cron/crontab_jobs.h"
#include "cli/schedule/schedules.h"
#include "cli/tasks/work.h"

static void assert_words(const char *local, const char *abbreviation, const char *want)
{
	struct buf b = {0};

	moment_words(local, abbreviation, &b);
	assert_string_equal(b.p ? b.p : "", want);
	buf_release(&b);
}

static void test_moments_have_their_weekday(void **state)
{
	assert_words("2027-03-28T01:59:59+01:00", "CET", "Sun 2027-03-28 01:59:59 +01:00 CET");
	assert_words("2026-11-16T09:00:00+00:00", "", "Mon 2026-11-16 09:00:00 +00:00");
	assert_words(
	    "1890-01-01T00:00:00+00:53:28", "LMT", "Wed 1890-01-01 00:00:00 +00:53:28 LMT");
	assert_words("soon", "", "soon");
	assert_words("2027-99-28T01:59:59+01:00", "", "2027-99-28T01:59:59+01:00");
	assert_words("", "", "");
}

static void assert_moment(const char *given, const char *want)
{
	struct buf b = {0};

	moment_text(given, &b);
	assert_string_equal(b.p, want);
	buf_release(&b);
}

static void test_bare_numbers_are_epoch_seconds(void **state)
{
	assert_moment("1806195600", "2027-03-28T01:00:00.000Z");
	assert_moment("0", "1970-01-01T00:00:00.000Z");
	assert_moment("2d", "2d");
	assert_moment("2027-03-28T01:00:00+01:00", "2027-03-28T01:00:00+01:00");
	assert_moment("99999999999999", "99999999999999");
	assert_moment("-5", "-5");
}

static void test_half_the_distance_is_proposed(void **state)
{
	assert_string_equal(shift_suggestion(1), "1m");
	assert_string_equal(shift_suggestion(299), "1m");
	assert_string_equal(shift_suggestion(300), "150s");
	assert_string_equal(shift_suggestion(3600), "30m");
	assert_string_equal(shift_suggestion(86399), "6h");
	assert_string_equal(shift_suggestion(86400), "12h");
	assert_string_equal(shift_suggestion(7 * 86400), "1d");
	assert_string_equal(shift_suggestion(INT64_MAX), "1d");
}

static char *name_of(const char *user, const char *command)
{
	struct buf b = {0};

	crontab_name("cron-", user, command, &b);
	return b.p;
}

static void assert_begins(const char *command, const char *want)
{
	char *name = name_of("", command);

	if (strncmp(name, want, strlen(want)) || strlen(name) != strlen(want) + 8)
		fail_msg("%s: %s", command, name);
	free(name);
}

static void test_names_come_from_the_program(void **state)
{
	assert_begins("/opt/x/backup.sh --all", "cron-backup.sh-");
	assert_begins("LANG=C TZ=UTC  poll", "cron-poll-");
	assert_begins("./a=b/run", "cron-run-");
	assert_begins("cd / && true", "cron-cd-");
	assert_begins("", "cron-job-");
	assert_begins("X=1", "cron-X1-");
	assert_begins("'/my dir/x'", "cron-my-");
	assert_begins("/bin/", "cron-job-");
	assert_begins("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    "cron-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-");
}

static void test_names_are_stable_and_differ(void **state)
{
	char *a = name_of("", "true"), *b = name_of("", "true"), *c = name_of("ann", "true"),
	     *d = name_of("", "true x"), *e = name_of("a", "bc"), *f = name_of("ab", "c");

	assert_string_equal(a, "cron-true-676285ee"); /* to import again must find it again */
	assert_string_equal(a, b);
	assert_string_not_equal(a, c);
	assert_string_not_equal(a, d);
	assert_string_not_equal(strrchr(e, '-'), strrchr(f, '-'));
	free(a);
	free(b);
	free(c);
	free(d);
	free(e);
	free(f);
}

static void test_the_same_command_twice_gets_a_number(void **state)
{
	static const char *const want[] = {"x", "x-2", "x-3"};
	json_t *taken = json_object();

	for (size_t i = 0; i < 3; i++) {
		struct buf b = {0};

		buf_add_cstr(&b, "x");
		crontab_name_unique(taken, &b);
		assert_string_equal(b.p, want[i]);
		buf_release(&b);
	}
	json_decref(taken);
}

static void test_words_of_several_items_are_one_line(void **state)
{
	json_t *j = json_pack("{s:s,s:[s,s]}", "words", "at 02:30\nat 04:00", "dst", "a", "b");
	char *words = schedule_words(j), *dst = schedule_dst_words(j);

	assert_string_equal(words, "at 02:30; or at 04:00");
	assert_string_equal(dst, "a; or b");
	free(words);
	free(dst);
	json_decref(j);
}

/* The options of a task, put over one that is there. */
static json_t *changed(json_t *task, const char *const *words, size_t n, int want)
{
	struct cli c = {0};
	char *argv[16];

	options_add_table(&c.options, task_options);
	options_add_table(&c.options, process_options);
	for (size_t i = 0; i < n; i++)
		argv[i] = (char *)words[i];
	assert_int_equal(options_parse(&c.options, OPTIONS_ANYWHERE, (int)n, argv, &c.problem), 0);
	assert_true(task_given(&c, 1));
	assert_int_equal(task_put_options(&c, 1, true, task), want);
	options_release(&c.options);
	return task;
}

#define CHANGED(task, want, ...)                          \
	changed(task, (const char *const[]){__VA_ARGS__}, \
	    sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), want)

static void assert_task(json_t *task, const char *want)
{
	json_t *wanted = json_loads(want, 0, NULL);

	assert_non_null(wanted);
	if (!json_equal(task, wanted))
		fail_msg("%s", json_dumps(task, 0));
	json_decref(wanted);
	json_decref(task);
}

static json_t *old_task(void)
{
	return json_loads("{\"queue\":\"q\",\"command\":[\"a\"],\"env\":{\"A\":\"1\"},"
	                  "\"timeout\":\"5s\",\"priority\":3,\"run\":{\"nice\":5}}",
	    0, NULL);
}

static void test_a_change_leaves_the_rest(void **state)
{
	assert_task(CHANGED(old_task(), 0, "s", "--timeout", "none", "--priority", "none"),
	    "{\"queue\":\"q\",\"command\":[\"a\"],\"env\":{\"A\":\"1\"},\"run\":{\"nice\":5}}");
	assert_task(CHANGED(old_task(), 0, "s", "--env", "A=", "--env", "B=2", "--", "b", "c"),
	    "{\"queue\":\"q\",\"command\":[\"b\",\"c\"],\"env\":{\"B\":\"2\"},\"timeout\":\"5s\","
	    "\"priority\":3,\"run\":{\"nice\":5}}");
	assert_task(CHANGED(old_task(), 0, "s", "--params", "{\"n\":1}", "--queue", "z"),
	    "{\"queue\":\"z\",\"params\":{\"n\":1},\"env\":{\"A\":\"1\"},\"timeout\":\"5s\","
	    "\"priority\":3,\"run\":{\"nice\":5}}");
	assert_task(CHANGED(old_task(), 0, "s", "--action", "{\"run\":{}}", "--memory", "1G"),
	    "{\"queue\":\"q\",\"action\":{\"run\":{}},\"env\":{\"A\":\"1\"},\"timeout\":\"5s\","
	    "\"priority\":3,\"run\":{\"nice\":5,\"limits\":{\"memory\":\"1G\"}}}");
}

static void test_wrong_parts_of_a_task(void **state)
{
	json_decref(CHANGED(old_task(), ERR_INVALID, "s", "--action", "[1]"));
	json_decref(CHANGED(old_task(), ERR_INVALID, "s", "--action", "{"));
	json_decref(CHANGED(old_task(), ERR_INVALID, "s", "--action", "@/nonexistent"));
	json_decref(CHANGED(old_task(), ERR_INVALID, "s", "--params", "3"));
	json_decref(CHANGED(old_task(), ERR_INVALID, "s", "--label", "x"));
	json_decref(CHANGED(old_task(), ERR_INVALID, "s", "--env", "=x"));
	json_decref(CHANGED(old_task(), ERR_INVALID, "s", "--priority", "high"));
	json_decref(CHANGED(old_task(), ERR_INVALID, "s", "--", "\xff"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_moments_have_their_weekday),
	    cmocka_unit_test(test_bare_numbers_are_epoch_seconds),
	    cmocka_unit_test(test_half_the_distance_is_proposed),
	    cmocka_unit_test(test_names_come_from_the_program),
	    cmocka_unit_test(test_names_are_stable_and_differ),
	    cmocka_unit_test(test_the_same_command_twice_gets_a_number),
	    cmocka_unit_test(test_words_of_several_items_are_one_line),
	    cmocka_unit_test(test_a_change_leaves_the_rest),
	    cmocka_unit_test(test_wrong_parts_of_a_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
