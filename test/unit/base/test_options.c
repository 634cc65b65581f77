/* SPDX-License-Identifier: Apache-2.0 */
/* The option parser: every spelling that people use, and a helpful no to the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/options.h"

#define ENV "REEVE_TEST_OPTION"
#define PARSE(o, mode, p, ...)                           \
	parse((o), (mode), (p), (char *[]){__VA_ARGS__}, \
	    (int)(sizeof(char *[]){__VA_ARGS__} / sizeof(char *)))

static const struct option_def common[] = {
    {.name = "verbose", .letter = 'v', .help = "say more"},
    {.name = "server", .letter = 's', .arg = "URL", .help = "which server", .env = ENV},
    {0},
};
static const struct option_def own[] = {
    {.name = "queue", .letter = 'q', .arg = "NAME", .help = "which", .flags = OPTION_REPEAT},
    {.name = "watch", .letter = 'w', .arg = "SECONDS", .help = "repeat", .flags = OPTION_MAYBE},
    {.name = "limit", .arg = "N", .help = "how many"},
    {.name = "timeout", .arg = "TIME", .help = "how long"},
    {.name = "no-wait", .help = "a name that itself begins with no-"},
    {0},
};

static int parse(
    struct options *o, enum options_mode mode, struct problem *p, char **argv, int argc)
{
	*o = (struct options){.program = "reeve test"};
	unsetenv(ENV);
	options_add_table(o, common);
	options_add_table(o, NULL);
	options_add_table(o, own);
	return options_parse(o, mode, argc, argv, p);
}

static void test_spellings(void **state)
{
	struct options o;

	assert_int_equal(
	    PARSE(&o, OPTIONS_ANYWHERE, NULL, "--queue", "a", "--server=b=c", "-v"), 0);
	assert_string_equal(options_get(&o, "queue"), "a");
	assert_string_equal(options_get(&o, "server"), "b=c");
	assert_true(options_switch(&o, "verbose", false));
	options_release(&o);
	assert_int_equal(PARSE(&o, OPTIONS_ANYWHERE, NULL, "-vqname", "-s", "x"), 0);
	assert_string_equal(options_get(&o, "queue"), "name");
	assert_string_equal(options_get(&o, "server"), "x");
	assert_true(options_given(&o, "verbose"));
	assert_false(options_given(&o, "limit"));
	options_release(&o);
}

static void test_switches(void **state)
{
	struct options o;

	assert_int_equal(PARSE(&o, OPTIONS_ANYWHERE, NULL, "-v", "--no-verbose"), 0);
	assert_false(options_switch(&o, "verbose", true));
	assert_false(options_switch(&o, "no-wait", false));
	options_release(&o);
	assert_int_equal(PARSE(&o, OPTIONS_ANYWHERE, NULL, "--no-wait"), 0);
	assert_true(options_switch(&o, "no-wait", false));
	options_release(&o);
}

static void test_repeated_in_order(void **state)
{
	struct options o;
	size_t at = 0;

	assert_int_equal(PARSE(&o, OPTIONS_ANYWHERE, NULL, "-q", "a", "-v", "--queue=b"), 0);
	assert_string_equal(options_next(&o, "queue", &at), "a");
	assert_string_equal(options_next(&o, "queue", &at), "b");
	assert_null(options_next(&o, "queue", &at));
	assert_string_equal(options_get(&o, "queue"), "b");
	options_release(&o);
}

static void test_optional_value(void **state)
{
	struct options o;

	assert_int_equal(PARSE(&o, OPTIONS_ANYWHERE, NULL, "--watch", "5"), 0);
	assert_string_equal(options_get(&o, "watch"), "");
	assert_int_equal(o.n_args, 1);
	options_release(&o);
	assert_int_equal(PARSE(&o, OPTIONS_ANYWHERE, NULL, "--watch=5"), 0);
	assert_string_equal(options_get(&o, "watch"), "5");
	options_release(&o);
}

/* What follows "--", or the first word with OPTIONS_FIRST, belongs to the task's command. */
static void test_other_peoples_words(void **state)
{
	struct options o;

	assert_int_equal(PARSE(&o, OPTIONS_ANYWHERE, NULL, "a", "-v", "-", "--", "-q", "--x"), 0);
	assert_int_equal(o.n_args, 4);
	assert_true(o.has_dashes);
	assert_int_equal(o.dashes_at, 2);
	assert_string_equal(o.args[1], "-");
	assert_string_equal(o.args[2], "-q");
	assert_string_equal(o.args[3], "--x");
	options_release(&o);
	assert_int_equal(PARSE(&o, OPTIONS_FIRST, NULL, "-v", "ls", "--color"), 0);
	assert_int_equal(o.n_args, 2);
	assert_false(o.has_dashes);
	assert_string_equal(o.args[1], "--color");
	options_release(&o);
}

static void test_leading(void **state)
{
	struct options o = {0};
	char *argv[] = {"-v", "--server", "x", "task", "--limit", "1"};
	int used;

	options_add_table(&o, common);
	assert_int_equal(options_parse_leading(&o, 6, argv, &used, NULL), 0);
	assert_int_equal(used, 3);
	options_release(&o);
}

static void expect_refused(const char *what, const char *hint, char **argv, int argc)
{
	struct problem p = {0};
	struct options o;

	assert_int_equal(parse(&o, OPTIONS_ANYWHERE, &p, argv, argc), ERR_INVALID);
	assert_non_null(strstr(p.what, what));
	assert_non_null(strstr(p.hint, hint));
	options_release(&o);
}

static void test_refusals_help(void **state)
{
	expect_refused("--quue", "did you mean --queue?", (char *[]){"--quue=x"}, 1);
	expect_refused("--zzzzzz", "reeve test --help", (char *[]){"--zzzzzz"}, 1);
	expect_refused("-z", "reeve test --help", (char *[]){"-vz"}, 1);
	expect_refused("--queue needs a value: NAME", "", (char *[]){"--queue"}, 1);
	expect_refused("--queue needs a value", "", (char *[]){"--queue", "--", "x"}, 3);
	expect_refused("--queue needs a value", "", (char *[]){"-vq"}, 1);
	expect_refused("--verbose takes no value", "", (char *[]){"--verbose=1"}, 1);
	expect_refused("--no-queue", "", (char *[]){"--no-queue"}, 1);
}

static void test_environment_stands_in(void **state)
{
	struct options o;
	size_t at = 0;

	assert_int_equal(PARSE(&o, OPTIONS_ANYWHERE, NULL, "x"), 0);
	assert_null(options_get(&o, "server"));
	assert_null(options_origin(&o, "server"));
	assert_string_equal(options_or(&o, "server", "fallback"), "fallback");
	setenv(ENV, "", 1);
	assert_null(options_get(&o, "server"));
	setenv(ENV, "env", 1);
	assert_string_equal(options_get(&o, "server"), "env");
	assert_string_equal(options_origin(&o, "server"), "environment");
	assert_string_equal(options_next(&o, "server", &at), "env");
	assert_null(options_next(&o, "server", &at));
	options_release(&o);
	assert_int_equal(PARSE(&o, OPTIONS_ANYWHERE, NULL, "-sflag"), 0);
	setenv(ENV, "env", 1);
	assert_string_equal(options_get(&o, "server"), "flag");
	assert_string_equal(options_origin(&o, "server"), "flag");
	unsetenv(ENV);
	options_release(&o);
}

static void test_numbers_and_durations(void **state)
{
	struct problem p = {0};
	struct options o;
	int64_t n = 5, ms = 6;

	assert_int_equal(PARSE(&o, OPTIONS_ANYWHERE, NULL, "x"), 0);
	assert_int_equal(options_i64(&o, "limit", 1, 10, &n, &p), 0);
	assert_int_equal(options_duration(&o, "timeout", &ms, &p), 0);
	assert_true(n == 5 && ms == 6); /* nothing given: the default stays */
	options_release(&o);
	assert_int_equal(PARSE(&o, OPTIONS_ANYWHERE, NULL, "--limit=7", "--timeout", "2m"), 0);
	assert_int_equal(options_i64(&o, "limit", 1, 10, &n, &p), 0);
	assert_int_equal(options_duration(&o, "timeout", &ms, &p), 0);
	assert_true(n == 7 && ms == 120000);
	assert_int_equal(options_i64(&o, "limit", 1, 6, &n, &p), ERR_INVALID);
	assert_non_null(strstr(p.what, "from 1 to 6"));
	assert_string_equal(p.field, "limit");
	options_release(&o);
	assert_int_equal(PARSE(&o, OPTIONS_ANYWHERE, NULL, "--timeout=soon"), 0);
	assert_int_equal(options_duration(&o, "timeout", &ms, &p), ERR_INVALID);
	assert_non_null(strstr(p.hint, "30s"));
	assert_true(ms == 120000);
	options_release(&o);
}

static void test_format(void **state)
{
	struct buf b = {0};

	option_format(&own[0], &b);
	assert_string_equal(b.p, "-q, --queue NAME");
	buf_reset(&b);
	option_format(&own[1], &b);
	assert_string_equal(b.p, "-w, --watch[=SECONDS]");
	buf_reset(&b);
	option_format(&own[2], &b);
	assert_string_equal(b.p, "--limit N");
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_spellings),
	    cmocka_unit_test(test_switches),
	    cmocka_unit_test(test_repeated_in_order),
	    cmocka_unit_test(test_optional_value),
	    cmocka_unit_test(test_other_peoples_words),
	    cmocka_unit_test(test_leading),
	    cmocka_unit_test(test_refusals_help),
	    cmocka_unit_test(test_environment_stands_in),
	    cmocka_unit_test(test_numbers_and_durations),
	    cmocka_unit_test(test_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
