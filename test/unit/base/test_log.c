/* SPDX-License-Identifier: Apache-2.0 */
/* The log's formats, levels and rotation, read back from a real file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/timefmt.h"
#include "log_file.h"

static void test_json_line(void **state)
{
	struct buf b = {0};
	int64_t ms;

	assert_int_equal(log_to_file(LOG_JSON, LOG_FILE, LOG_INFO), 0);
	log_info("task %d said \"%s\" \\ \n\x01", 7, "hi");
	read_log(log_path, &b);
	assert_true(str_starts(buf_str(&b), "{\"time\":\""));
	assert_true(time_parse((struct str){b.p + 9, 24}, &ms));
	assert_string_equal(b.p + 33, "\",\"level\":\"info\",\"program\":\"test\","
	                              "\"message\":\"task 7 said \\\"hi\\\" \\\\ \\n\\u0001\"}\n");
	buf_release(&b);
	log_done();
}

static void test_human_line(void **state)
{
	struct buf b = {0};
	int64_t ms;

	assert_int_equal(log_to_file(LOG_HUMAN, LOG_FILE, LOG_INFO), 0);
	log_warn("two\nlines \033[31m");
	read_log(log_path, &b);
	assert_true(time_parse((struct str){b.p, 20}, &ms));
	assert_string_equal(b.p + 20, " warn  test: two\\nlines \\u001b[31m\n");
	buf_release(&b);
	log_done();
}

static void test_auto_is_json_in_a_file(void **state)
{
	struct buf b = {0};

	assert_int_equal(log_to_file(LOG_AUTO, LOG_FILE, LOG_INFO), 0);
	log_error("x");
	read_log(log_path, &b);
	assert_true(str_starts(buf_str(&b), "{"));
	buf_release(&b);
	log_done();
}

static void test_levels(void **state)
{
	struct buf b = {0};

	assert_int_equal(log_to_file(LOG_HUMAN, LOG_FILE, LOG_WARN), 0);
	assert_true(log_enabled(LOG_ERROR));
	assert_true(log_enabled(LOG_WARN));
	assert_false(log_enabled(LOG_INFO));
	log_info("quiet");
	log_debug("quieter");
	read_log(log_path, &b);
	assert_int_equal(b.n, 0);
	log_error("loud");
	read_log(log_path, &b);
	assert_non_null(strstr(b.p, "loud"));
	buf_release(&b);
	log_done();
}

static void test_level_names(void **state)
{
	enum log_level level;

	assert_true(log_level_from_name("error", &level) && level == LOG_ERROR);
	assert_true(log_level_from_name("warn", &level) && level == LOG_WARN);
	assert_true(log_level_from_name("info", &level) && level == LOG_INFO);
	assert_true(log_level_from_name("debug", &level) && level == LOG_DEBUG);
	assert_false(log_level_from_name("loud", &level));
	assert_false(log_level_from_name("", &level));
}

static void test_long_lines_are_whole(void **state)
{
	struct buf b = {0};
	char text[5000];

	memset(text, 'y', sizeof text - 1);
	text[sizeof text - 1] = 0;
	assert_int_equal(log_to_file(LOG_HUMAN, LOG_FILE, LOG_INFO), 0);
	log_info("%s", text);
	read_log(log_path, &b);
	assert_non_null(strstr(b.p, text));
	buf_release(&b);
	log_done();
}

static void test_rotation(void **state)
{
	struct buf old = {0}, new = {0};
	char moved[80];

	assert_int_equal(log_to_file(LOG_HUMAN, LOG_FILE, LOG_INFO), 0);
	log_info("before");
	snprintf(moved, sizeof moved, "%s.1", log_path);
	assert_int_equal(rename(log_path, moved), 0);
	log_info("still before");
	assert_int_equal(log_reopen(), 0);
	log_info("after");
	read_log(moved, &old);
	read_log(log_path, &new);
	assert_non_null(strstr(old.p, "still before"));
	assert_null(strstr(old.p, "after"));
	assert_non_null(strstr(new.p, "after"));
	buf_release(&old);
	buf_release(&new);
	unlink(moved);
	log_done();
}

/* A wrong new path must not cost the log that works. */
static void test_bad_file_keeps_the_old(void **state)
{
	struct log_options o = {.level = LOG_INFO, .output = LOG_FILE, .file = "/nonexistent/x"};
	struct buf b = {0};

	assert_int_equal(log_to_file(LOG_HUMAN, LOG_FILE, LOG_INFO), 0);
	assert_int_equal(log_setup(&o), -1);
	assert_int_equal(errno, ENOENT);
	log_info("survived");
	read_log(log_path, &b);
	assert_non_null(strstr(b.p, "survived"));
	buf_release(&b);
	log_done();
}

/* journald reads a priority from the front of each line on stderr. */
static void test_journald_prefix(void **state)
{
	struct log_options o = {.level = LOG_INFO, .format = LOG_HUMAN, .output = LOG_JOURNALD};
	int saved = dup(STDERR_FILENO);
	struct buf b = {0};

	assert_int_equal(log_to_file(LOG_HUMAN, LOG_FILE, LOG_INFO), 0);
	assert_non_null(freopen(log_path, "a", stderr));
	assert_int_equal(log_setup(&o), 0);
	log_error("broken");
	log_info("fine");
	dup2(saved, STDERR_FILENO);
	close(saved);
	read_log(log_path, &b);
	assert_string_equal(b.p, "<3>error broken\n<6>info  fine\n");
	buf_release(&b);
	log_done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_json_line),
	    cmocka_unit_test(test_human_line),
	    cmocka_unit_test(test_auto_is_json_in_a_file),
	    cmocka_unit_test(test_levels),
	    cmocka_unit_test(test_level_names),
	    cmocka_unit_test(test_long_lines_are_whole),
	    cmocka_unit_test(test_rotation),
	    cmocka_unit_test(test_bad_file_keeps_the_old),
	    cmocka_unit_test(test_journald_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
