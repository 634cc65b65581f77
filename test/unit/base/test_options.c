/* SPDX-License-Identifier: Apache-2.0 */
/* Option tables: every way to write an option, and a helpful answer to every wrong one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/options.h"

static const struct option_def table[] = {
    {"queue", 'q', "NAME", "a queue", "REEVE_TEST_QUEUE"},
    {"label", 'l', "KEY=VALUE", "a label", NULL, OPTION_REPEAT},
    {"watch", 'w', "SECONDS", "again", NULL, OPTION_MAYBE},
    {"force", 'f', NULL, "a switch", "REEVE_TEST_FORCE"},
    {"yes", 'y', NULL, "another"},
    {"limit", 'n', "N", "a number"},
    {"timeout", 0, "TIME", "a duration"},
    {NULL},
};

static struct options o;
static struct problem problem;

#define PARSE(mode, ...)                                                                  \
	({                                                                                \
		char *words_[] = {__VA_ARGS__};                                           \
		options_release(&o);                                                      \
		options_add_table(&o, table);                                             \
		o.program = "reeve test";                                                 \
		memset(&problem, 0, sizeof problem);                                      \
		options_parse(                                                            \
		    &o, mode, (int)(sizeof words_ / sizeof words_[0]), words_, &problem); \
	})

static int release(void **state)
{
	options_release(&o);
	unsetenv("REEVE_TEST_QUEUE");
	unsetenv("REEVE_TEST_FORCE");
	return 0;
}

static void test_ways_to_write(void **state)
{
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "--queue", "a"), 0);
	assert_string_equal(options_get(&o, "queue"), "a");
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "--queue=a=b"), 0);
	assert_string_equal(options_get(&o, "queue"), "a=b");
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "--queue="), 0);
	assert_string_equal(options_get(&o, "queue"), "");
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "-qa"), 0);
	assert_string_equal(options_get(&o, "queue"), "a");
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "-fyq", "a"), 0);
	assert_string_equal(options_get(&o, "queue"), "a");
	assert_true(options_switch(&o, "force", false));
	assert_true(options_switch(&o, "yes", false));
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "--limit", "-5"), 0);
	assert_string_equal(options_get(&o, "limit"), "-5");
}

static void test_last_one_counts(void **state)
{
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "--queue", "a", "-q", "b", "-f", "--no-force"), 0);
	assert_string_equal(options_get(&o, "queue"), "b");
	assert_false(options_switch(&o, "force", true));
	assert_true(options_switch(&o, "yes", true));
}

static void test_repeated(void **state)
{
	size_t at = 0;

	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "-l", "a=1", "x", "--label=b=2"), 0);
	assert_string_equal(options_next(&o, "label", &at), "a=1");
	assert_string_equal(options_next(&o, "label", &at), "b=2");
	assert_null(options_next(&o, "label", &at));
}

static void test_argument_may_be_left_out(void **state)
{
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "--watch", "5"), 0);
	assert_string_equal(options_get(&o, "watch"), "");
	assert_int_equal(o.n_args, 1);
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "--watch=5"), 0);
	assert_string_equal(options_get(&o, "watch"), "5");
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "-w5"), 0);
	assert_string_equal(options_get(&o, "watch"), "5");
}

static void test_where_options_end(void **state)
{
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "a", "-f", "b", "--", "-q", "--"), 0);
	assert_int_equal(o.n_args, 4);
	assert_string_equal(o.args[1], "b");
	assert_string_equal(o.args[2], "-q");
	assert_string_equal(o.args[3], "--");
	assert_true(o.has_dashes);
	assert_int_equal(o.dashes_at, 2);
	assert_int_equal(PARSE(OPTIONS_FIRST, "-f", "make", "-j4", "--queue"), 0);
	assert_int_equal(o.n_args, 3);
	assert_string_equal(o.args[1], "-j4");
	assert_null(options_get(&o, "queue"));
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "-"), 0);
	assert_string_equal(o.args[0], "-");
}

static void test_leading(void **state)
{
	char *words[] = {"-f", "--queue", "a", "status", "-y"};
	int used;

	options_add_table(&o, table);
	assert_int_equal(options_parse_leading(&o, 5, words, &used, &problem), 0);
	assert_int_equal(used, 3);
	assert_false(options_given(&o, "yes"));
}

static void test_environment(void **state)
{
	size_t at = 0;

	setenv("REEVE_TEST_QUEUE", "env", 1);
	setenv("REEVE_TEST_FORCE", "no", 1);
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "x"), 0);
	assert_string_equal(options_get(&o, "queue"), "env");
	assert_string_equal(options_origin(&o, "queue"), "environment");
	assert_string_equal(options_next(&o, "queue", &at), "env");
	assert_null(options_next(&o, "queue", &at));
	assert_false(options_given(&o, "queue"));
	assert_false(options_switch(&o, "force", true));
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "--queue", "flag"), 0);
	assert_string_equal(options_get(&o, "queue"), "flag");
	assert_string_equal(options_origin(&o, "queue"), "flag");
	setenv("REEVE_TEST_QUEUE", "", 1);
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "x"), 0);
	assert_null(options_get(&o, "queue"));
	assert_null(options_origin(&o, "queue"));
}

static void test_wrong(void **state)
{
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "--quue", "a"), ERR_INVALID);
	assert_string_equal(problem.what, "there is no option --quue");
	assert_string_equal(problem.hint, "did you mean --queue?");
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "--something-else"), ERR_INVALID);
	assert_string_equal(problem.hint, "`reeve test --help` lists the options");
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "--queue"), ERR_INVALID);
	assert_string_equal(problem.what, "--queue needs a value: NAME");
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "--queue", "--", "x"), ERR_INVALID);
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "-q"), ERR_INVALID);
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "--force=yes"), ERR_INVALID);
	assert_string_equal(problem.what, "--force takes no value");
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "--no-queue"), ERR_INVALID);
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "-fz"), ERR_INVALID);
	assert_string_equal(problem.what, "there is no option -z");
}

static void test_numbers(void **state)
{
	int64_t n = 7;

	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "x"), 0);
	assert_int_equal(options_i64(&o, "limit", 0, 10, &n, &problem), 0);
	assert_int_equal(n, 7);
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "-n10", "--timeout=1.5m"), 0);
	assert_int_equal(options_i64(&o, "limit", 0, 10, &n, &problem), 0);
	assert_int_equal(n, 10);
	assert_int_equal(options_i64(&o, "limit", 0, 9, &n, &problem), ERR_INVALID);
	assert_string_equal(problem.field, "limit");
	assert_int_equal(options_duration(&o, "timeout", &n, &problem), 0);
	assert_int_equal(n, 90000);
	assert_int_equal(PARSE(OPTIONS_ANYWHERE, "--timeout=soon"), 0);
	assert_int_equal(options_duration(&o, "timeout", &n, &problem), ERR_INVALID);
	assert_string_equal(problem.what, "--timeout: \"soon\" is not a duration");
}

static void test_format(void **state)
{
	struct buf b = {0};

	option_format(&table[0], &b);
	buf_add_char(&b, '|');
	option_format(&table[2], &b);
	buf_add_char(&b, '|');
	option_format(&table[6], &b);
	assert_string_equal(b.p, "-q, --queue NAME|-w, --watch[=SECONDS]|--timeout TIME");
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_teardown(test_ways_to_write, release),
	    cmocka_unit_test_teardown(test_last_one_counts, release),
	    cmocka_unit_test_teardown(test_repeated, release),
	    cmocka_unit_test_teardown(test_argument_may_be_left_out, release),
	    cmocka_unit_test_teardown(test_where_options_end, release),
	    cmocka_unit_test_teardown(test_leading, release),
	    cmocka_unit_test_teardown(test_environment, release),
	    cmocka_unit_test_teardown(test_wrong, release),
	    cmocka_unit_test_teardown(test_numbers, release),
	    cmocka_unit_test_teardown(test_format, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
