/* SPDX-License-Identifier: Apache-2.0 */
/* Actions from JSON: what is understood, and what is refused with which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "wire/json/action.h"

static struct arena arena;
static struct problem problem;

static int parse(const char *text, struct action **ret)
{
	json_t *v = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	int r;

	assert_non_null(v);
	arena_reset(&arena);
	problem = (struct problem){0};
	*ret = NULL;
	r = action_parse(v, &arena, ret, &problem);
	json_decref(v); /* nothing in the tree may need it */
	return r;
}

static struct action *good(const char *text)
{
	struct action *a;

	if (parse(text, &a) < 0)
		fail_msg("%s: %s (%s)", text, problem.what, problem.field);
	return a;
}

static void test_run(void **state)
{
	struct action *a = good("{\"run\":{\"args\":[\"-c\",\"x\"],\"path\":\"/bin/sh\","
	                        "\"dir\":\"/tmp\",\"env\":{\"K\":\"v\"},\"log_source\":\"S\"}}");

	assert_int_equal(a->kind, ACTION_RUN);
	assert_int_equal(a->run.n_argv, 3);
	assert_string_equal(a->run.argv[0], "/bin/sh");
	assert_string_equal(a->run.argv[2], "x");
	assert_null(a->run.argv[3]);
	assert_string_equal(a->run.dir, "/tmp");
	assert_int_equal(a->run.n_env, 1);
	assert_true(str_is(a->run.env[0].name, "K") && str_is(a->run.env[0].value, "v"));
	assert_true(str_is(a->log_source, "S"));

	a = good("{\"run\":{\"path\":\"true\"}}");
	assert_int_equal(a->run.n_argv, 1);
	assert_null(a->run.argv[1]);
	assert_null(a->run.dir);
	a = good("{\"run\":{\"command\":[\"sh\",\"-c\",\"y\"]}}");
	assert_string_equal(a->run.argv[0], "sh");
	assert_string_equal(a->run.argv[2], "y");
}

static void test_nesting(void **state)
{
	struct action *a =
	    good("{\"serial\":{\"actions\":[{\"try\":{\"action\":{\"run\":{\"path\":\"a\"}}}},"
	         "{\"timeout\":{\"timeout\":\"1.5s\",\"action\":{\"parallel\":{\"actions\":"
	         "[{\"run\":{\"path\":\"b\"}},{\"codependent\":{\"actions\":"
	         "[{\"run\":{\"path\":\"c\"}}]}}]}}}},"
	         "{\"emit_progress\":{\"action\":{\"run\":{\"path\":\"d\"}},"
	         "\"start_message\":\"1\",\"success_message\":\"2\","
	         "\"failure_message_prefix\":\"3\"}}]}}");
	struct action *timeout = a->inner[1], *progress = a->inner[2];

	assert_int_equal(a->n_inner, 3);
	assert_int_equal(a->inner[0]->kind, ACTION_TRY);
	assert_string_equal(a->inner[0]->inner[0]->run.argv[0], "a");
	assert_int_equal(timeout->timeout_ms, 1500);
	assert_int_equal(timeout->inner[0]->n_inner, 2);
	assert_int_equal(timeout->inner[0]->inner[1]->kind, ACTION_CODEPENDENT);
	assert_true(str_is(progress->progress.start, "1"));
	assert_true(str_is(progress->progress.success, "2"));
	assert_true(str_is(progress->progress.failure_prefix, "3"));
}

static void test_sidecars(void **state)
{
	struct action *a = good("{\"with_sidecars\":{\"sidecars\":[{\"run\":{\"path\":\"x\"}},"
	                        "{\"run\":{\"path\":\"y\"}}],\"action\":{\"run\":{\"path\":\"m\"}},"
	                        "\"setup\":{\"run\":{\"path\":\"s\"}}}}");

	assert_int_equal(a->kind, ACTION_WITH_SIDECARS);
	assert_int_equal(a->n_inner, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(a->inner[i]->run.argv[0][0], "smxy"[i]);
	assert_ptr_equal(a->sidecars.setup, a->inner[0]);
	a = good("{\"with_sidecars\":{\"action\":{\"run\":{\"path\":\"m\"}},\"sidecars\":[]}}");
	assert_true(a->n_inner == 1 && !a->sidecars.setup);
}

static void test_transfer(void **state)
{
	struct action *a =
	    good("{\"download\":{\"from\":\"https://h/x\",\"to\":\"/x\",\"mode\":\"0750\","
	         "\"checksum\":\"sha1:00FFa0000000000000000000000000000000000b\","
	         "\"artifact\":\"it\",\"max_bytes\":7,\"connect_timeout\":3,"
	         "\"idle_timeout\":\"2s\"}}");

	assert_true(str_is(a->transfer.from, "https://h/x") && str_is(a->transfer.to, "/x"));
	assert_int_equal(a->transfer.mode, 0750);
	assert_int_equal(a->transfer.digest, DIGEST_SHA1);
	assert_int_equal(a->transfer.checksum[1], 0xff);
	assert_int_equal(a->transfer.checksum[19], 0x0b);
	assert_int_equal(a->transfer.max_bytes, 7);
	assert_int_equal(a->transfer.connect_ms, 3000);
	assert_int_equal(a->transfer.idle_ms, 2000);
	a = good("{\"upload\":{\"from\":\"x\",\"to\":\"file:///y\"}}");
	assert_int_equal(a->transfer.max_bytes, ACTION_BYTES_DEFAULT);
	assert_int_equal(a->transfer.idle_ms, ACTION_IDLE_DEFAULT_MS);
	assert_int_equal(a->transfer.digest, DIGEST_NONE);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *field, *what, *hint;
	} cases[] = {
	    {"7", "action", "an object like", ""},
	    {"{}", "action", "exactly one member", "serial"},
	    {"{\"run\":{\"path\":\"a\"},\"try\":{}}", "action", "here are 2", "serial"},
	    {"{\"rnu\":{}}", "action.rnu", "no member \"rnu\"", "did you mean \"run\"?"},
	    {"{\"wait\":{}}", "action.wait", "no member \"wait\"", "run, serial"},
	    {"{\"run\":[]}", "action.run", "\"action.run\" is an array", ""},
	    {"{\"run\":{}}", "action.run", "either \"path\"", "command"},
	    {"{\"run\":{\"args\":[]}}", "action.run", "either \"path\"", "command"},
	    {"{\"run\":{\"path\":\"a\",\"command\":[\"b\"]}}", "action.run", "either", ""},
	    {"{\"run\":{\"command\":[\"b\"],\"args\":[]}}", "action.run", "either", ""},
	    {"{\"run\":{\"command\":[]}}", "action.run.command", "empty", ""},
	    {"{\"run\":{\"path\":\"\"}}", "action.run.path", "empty", ""},
	    {"{\"run\":{\"path\":3}}", "action.run.path", "\"run.path\" is an integer", ""},
	    {"{\"run\":{\"path\":\"a\\u0000b\"}}", "action.run.path", "NUL", ""},
	    {"{\"run\":{\"command\":[\"a\",null]}}", "action.run.command[1]", "null", ""},
	    {"{\"run\":{\"path\":\"a\",\"pth\":1}}", "action.run.pth", "no member",
	        "did you mean \"path\"?"},
	    {"{\"run\":{\"path\":\"a\",\"env\":{\"A=\":\"\"}}}", "action.run.env", "\"=\"", ""},
	    {"{\"run\":{\"path\":\"a\",\"env\":{\"A\":1}}}", "action.run.env.A", "a string", ""},
	    {"{\"serial\":{\"actions\":[{\"run\":{\"path\":\"a\"}},{\"try\":{\"action\":"
	     "{\"run\":{\"path\":7}}}}]}}",
	        "action.serial.actions[1].try.action.run.path", "an integer", ""},
	    {"{\"serial\":{\"actions\":[]}}", "action.serial.actions", "no actions", "{…}"},
	    {"{\"serial\":{}}", "action.serial.actions", "no actions", "{…}"},
	    {"{\"parallel\":{\"actions\":{}}}", "action.parallel.actions", "an object", ""},
	    {"{\"try\":{}}", "action.try.action", "no action", "{…}"},
	    {"{\"with_sidecars\":{\"sidecars\":[]}}", "action.with_sidecars.action", "no action",
	        "{…}"},
	    {"{\"with_sidecars\":{\"sidecars\":[{\"run\":{\"path\":7}}]}}",
	        "action.with_sidecars.sidecars[0].run.path", "an integer", ""},
	    {"{\"with_sidecars\":{\"monitor\":{}}}", "action.with_sidecars.monitor", "no member",
	        "understood here: setup, action, sidecars"},
	    {"{\"timeout\":{\"action\":{\"run\":{\"path\":\"a\"}}}}", "action.timeout.timeout",
	        "how long", "30s"},
	    {"{\"timeout\":{\"timeout\":\"soon\"}}", "action.timeout.timeout", "not a duration",
	        "90s"},
	    {"{\"timeout\":{\"timeout\":0}}", "action.timeout.timeout", "not a duration", "90s"},
	    {"{\"download\":{\"to\":\"x\"}}", "action.download.from", "missing", "https"},
	    {"{\"upload\":{\"from\":\"x\"}}", "action.upload.to", "missing", "https"},
	    {"{\"download\":{\"from\":\"ftp://x\"}}", "action.download.from", "neither", "http"},
	    {"{\"download\":{\"from\":\"file://h/x\"}}", "action.download.from", "neither", ""},
	    {"{\"download\":{\"from\":\"http://h/a b\"}}", "action.download.from", "space", "%20"},
	    {"{\"upload\":{\"to\":\"/y\"}}", "action.upload.to", "neither", "file:///"},
	    {"{\"upload\":{\"mode\":\"0644\"}}", "action.upload.mode", "no member", ""},
	    {"{\"download\":{\"checksum\":\"crc:1\"}}", "action.download.checksum",
	        "not a checksum", "sha256"},
	    {"{\"download\":{\"checksum\":\"md5:12\"}}", "action.download.checksum",
	        "32 hex digits", ""},
	    {"{\"download\":{\"checksum\":\"md5:0000000000000000000000000000000g\"}}",
	        "action.download.checksum", "32 hex digits", ""},
	    {"{\"download\":{\"mode\":\"0888\"}}", "action.download.mode", "mode", "0644"},
	    {"{\"download\":{\"mode\":\"4755\"}}", "action.download.mode", "mode", "0644"},
	    {"{\"download\":{\"mode\":\"6\"}}", "action.download.mode", "mode", "0644"},
	    {"{\"download\":{\"max_bytes\":0}}", "action.download.max_bytes", "below 1", ""},
	};
	struct action *a;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		if (parse(cases[i].text, &a) != ERR_INVALID || a ||
		    strcmp(problem.field, cases[i].field) != 0 ||
		    !strstr(problem.what, cases[i].what) || !strstr(problem.hint, cases[i].hint))
			fail_msg("%s: \"%s\" at \"%s\", hint \"%s\"", cases[i].text, problem.what,
			    problem.field, problem.hint);
	}
}

/* `depth` try actions around one run. */
static char *nested(int depth)
{
	struct buf b = {0};

	for (int i = 0; i < depth; i++)
		buf_add_cstr(&b, "{\"try\":{\"action\":");
	buf_add_cstr(&b, "{\"run\":{\"path\":\"a\"}}");
	for (int i = 0; i < depth; i++)
		buf_add_cstr(&b, "}}");
	return buf_take(&b);
}

static void test_depth(void **state)
{
	AUTO(free_cstr) char *most = nested(ACTION_DEPTH_MAX - 1);
	AUTO(free_cstr) char *beyond = nested(ACTION_DEPTH_MAX);
	struct action *a;

	good(most);
	assert_int_equal(parse(beyond, &a), ERR_INVALID);
	assert_non_null(strstr(problem.what, "deeper than 32"));
	/* a field holds little: of a long path the end is kept */
	assert_non_null(strstr(problem.field, "..."));
	assert_string_equal(problem.field + strlen(problem.field) - 11, ".try.action");
}

/* A serial of n runs: n + 1 parts. */
static char *wide(int n)
{
	struct buf b = {0};

	buf_add_cstr(&b, "{\"serial\":{\"actions\":[");
	for (int i = 0; i < n; i++)
		buf_printf(&b, "%s{\"run\":{\"path\":\"a\"}}", i ? "," : "");
	buf_add_cstr(&b, "]}}");
	return buf_take(&b);
}

static void test_number(void **state)
{
	AUTO(free_cstr) char *most = wide(ACTION_NODES_MAX - 1);
	AUTO(free_cstr) char *beyond = wide(ACTION_NODES_MAX);
	struct action *a;

	assert_int_equal(good(most)->n_inner, ACTION_NODES_MAX - 1);
	assert_int_equal(parse(beyond, &a), ERR_INVALID);
	assert_non_null(strstr(problem.what, "more than 1000 parts"));
}

static void test_long_keys_are_cut_between_characters(void **state)
{
	struct buf b = {0};
	struct action *a;

	buf_add_cstr(&b, "{\"a");
	for (int i = 0; i < 60; i++)
		buf_add_cstr(&b, "é");
	buf_add_cstr(&b, "\":{}}");
	assert_int_equal(parse(b.p, &a), ERR_INVALID);
	json_t *what = json_string(problem.what), *field = json_string(problem.field);

	assert_non_null(what); /* NULL were it not UTF-8 */
	assert_non_null(field);
	json_decref(what);
	json_decref(field);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_run),
	    cmocka_unit_test(test_nesting),
	    cmocka_unit_test(test_transfer),
	    cmocka_unit_test(test_sidecars),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_depth),
	    cmocka_unit_test(test_number),
	    cmocka_unit_test(test_long_keys_are_cut_between_characters),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	arena_release(&arena);
	return failed;
}
