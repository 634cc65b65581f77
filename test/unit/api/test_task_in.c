/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of good and bad tasks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/tasks/task_in.h"
#include "base/mem.h"
#include "model/limits.h"
#include "wire/json/task.h"

#define NOW 1700000000000ll

static int parse(struct arena *a, const char *text, struct submit_task *t, struct problem *p)
{
	struct task_in in = {.arena = a, .now_ms = NOW};
	int rc = task_in_text(&in, str_of(text), t, p);

	buf_release(&in.text);
	return rc;
}

static void test_bodies(void **state)
{
	static const struct {
		const char *in, *body;
	} good[] = {
	    {"{\"command\":[\"a\",\"b c\"]}", "{\"command\":[\"a\",\"b c\"]}"},
	    {" { \"params\" : { \"b\" : 1 , \"a\" : [ ] } , \"command\" : [ \"x\" ] } ",
	        "{\"command\":[\"x\"],\"params\":{\"b\":1,\"a\":[]}}"},
	    {"{\"params\":{\"x\":-1.5,\"y\":1e300,\"z\":9223372036854775807}}",
	        "{\"params\":{\"x\":-1.5,\"y\":1e300,\"z\":9223372036854775807}}"},
	    {"{\"cwd\":\"/a\\\"b\",\"env\":{\"K\":\"\\u0001\\n\"}}",
	        "{\"env\":{\"K\":\"\\u0001\\n\"},\"cwd\":\"/a\\\"b\"}"},
	    {"{\"cwd_machine\":\"0a\",\"cwd\":\"/a\"}", "{\"cwd\":\"/a\",\"cwd_machine\":\"0a\"}"},
	    {"{\"command\":[\"\\u00e9\\ud83d\\ude00\"]}",
	        "{\"command\":[\"\xc3\xa9\xf0\x9f\x98\x80\"]}"},
	    {"{\"queue\":\"q\"}", "{}"},
	    {"{\"run\":{},\"action\":{\"run\":{\"path\":\"x\"}}}",
	        "{\"action\":{\"run\":{\"path\":\"x\"}}}"},
	    {"{\"run\":null}", "{}"},
	    {"{\"run\":{\"user\":\"a\"}}", "{\"run\":{\"user\":\"a\"}}"},
	    {"{\"run\":{\"limits\":{\"cpu\":0.5}},\"command\":[\"x\"]}",
	        "{\"command\":[\"x\"],\"run\":{\"limits\":{\"cpu\":0.5}}}"},
	};

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		struct arena a = {0};
		struct submit_task t;
		struct problem p = {0};

		assert_int_equal(parse(&a, good[i].in, &t, &p), 0);
		assert_string_equal(t.spec.body.p, good[i].body);
		arena_release(&a);
	}
}

static void test_members(void **state)
{
	struct arena a = {0};
	struct submit_task t;
	struct problem p = {0};

	assert_int_equal(parse(&a, "{}", &t, &p), 0);
	assert_int_equal(t.status, TASK_QUEUED);
	assert_int_equal(t.spec.timeout_ms, 0);
	assert_int_equal(t.spec.backoff_ms, -1);
	assert_null(t.spec.key.p);
	assert_null(t.spec.labels.p);
	assert_int_equal(parse(&a,
	                     "{\"timeout\":0,\"run_after\":\"2023-11-14T23:13:20Z\",\"status\":-4,"
	                     "\"labels\":{\"z\":\"1\",\"a\":\"\"},\"key\":null}",
	                     &t, &p),
	    0);
	assert_int_equal(t.spec.timeout_ms, -1);
	assert_int_equal(t.spec.run_after_ms, NOW + 3600000);
	assert_int_equal(t.status, TASK_BLOCKED);
	assert_string_equal(t.spec.labels.p, "a=\nz=1\n");
	assert_int_equal(parse(&a, "{\"run_after\":\"2001-01-01T00:00:00Z\"}", &t, &p), 0);
	assert_int_equal(t.spec.run_after_ms, 0);
	assert_int_equal(parse(&a, "{\"timeout\":null}", &t, &p), 0);
	assert_int_equal(t.spec.timeout_ms, -1);
	assert_int_equal(parse(&a, "{\"run_after\":1.5}", &t, &p), 0);
	assert_int_equal(t.spec.run_after_ms, NOW + 1500);
	arena_release(&a);
}

static const struct {
	const char *in, *field;
} bad[] = {
    {"[]", ""},
    {"", ""},
    {"{\"command\":\"x\"}", "command"},
    {"{\"command\":[]}", "command[0]"},
    {"{\"command\":[\"\"]}", "command[0]"},
    {"{\"command\":[\"a\",1]}", "command[1]"},
    {"{\"command\":{}}", "command"},
    {"{\"command\":[\"a\\u0000\"]}", ""},
    {"{\"queue\":\"a\\u0000b\"}", ""},
    {"{\"queue\":7}", "queue"},
    {"{\"queue\":\"\"}", "queue"},
    {"{\"params\":[]}", "params"},
    {"{\"params\":null}", "params"},
    {"{\"env\":{\"A\":1}}", "env.A"},
    {"{\"env\":{\"\":\"x\"}}", "env."},
    {"{\"env\":{\"A=\":\"x\"}}", "env.A="},
    {"{\"cwd\":\"\"}", "cwd"},
    {"{\"cwd\":\"here\"}", "cwd"},
    {"{\"cwd_machine\":7}", "cwd_machine"},
    {"{\"action\":[]}", "action"},
    {"{\"action\":null}", "action"},
    {"{\"run\":[]}", "run"},
    {"{\"run\":\"fast\"}", "run"},
    {"{\"run\":{\"nice\":\"5\"}}", "run.nice"},
    {"{\"run\":{\"sandbox\":{\"rootfs\":\"r\"}}}", "run.sandbox.rootfs"},
    {"{\"priority\":\"high\"}", "priority"},
    {"{\"priority\":1000001}", "priority"},
    {"{\"priority\":-1000001}", "priority"},
    {"{\"priority\":99999999999999999999}", ""},
    {"{\"run_after\":\"later\"}", "run_after"},
    {"{\"run_after\":-5}", "run_after"},
    {"{\"run_after\":\"9999-01-01T00:00:00Z\"}", "run_after"},
    {"{\"run_after\":true}", "run_after"},
    {"{\"timeout\":-1}", "timeout"},
    {"{\"timeout\":1e30}", "timeout"},
    {"{\"timeout\":\"x\"}", "timeout"},
    {"{\"max_attempts\":0}", "max_attempts"},
    {"{\"max_attempts\":1001}", "max_attempts"},
    {"{\"backoff\":\"-1s\"}", "backoff"},
    {"{\"backoff_max\":[]}", "backoff_max"},
    {"{\"key\":\"\"}", "key"},
    {"{\"key\":1}", "key"},
    {"{\"labels\":[\"a=b\"]}", "labels"},
    {"{\"labels\":{\"a\":1}}", "labels.a"},
    {"{\"labels\":{\"a=b\":\"c\"}}", "labels.a=b"},
    {"{\"labels\":{\"a\":\"b\\nc\"}}", "labels"},
    {"{\"status\":0}", "status"},
    {"{\"status\":-5}", "status"},
    {"{\"status\":1}", "status"},
    {"{\"prioritiy\":1}", "prioritiy"},
    {"{\"a\":1,\"a\":2}", ""},
    {"{\"queue\":\"a\"} x", ""},
};

static void test_bad(void **state)
{
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct arena a = {0};
		struct submit_task t;
		struct problem p = {0};

		if (parse(&a, bad[i].in, &t, &p) != ERR_INVALID)
			fail_msg("%s was not refused", bad[i].in);
		assert_int_equal(p.code, ERR_INVALID);
		assert_true(p.what[0]);
		assert_string_equal(p.field, bad[i].field);
		arena_release(&a);
	}
}

/* No member takes `true`: who lets it pass has no reader, and forgets what it is given. */
static void test_every_member_is_read_and_described(void **state)
{
	for (const struct field *f = task_given_fields; f->name; f++) {
		AUTO(arena_release) struct arena a = {0};
		struct submit_task t;
		struct problem p = {0};
		char text[64];

		snprintf(text, sizeof text, "{\"%s\":true}", f->name);
		if (parse(&a, text, &t, &p) != ERR_INVALID)
			fail_msg("%s was not refused", text);
		assert_string_equal(p.field, f->name);
		assert_non_null(f->about);
	}
}

static void test_words(void **state)
{
	struct arena a = {0};
	struct submit_task t;
	struct problem p = {0};

	parse(&a, "{\"prioritiy\":1}", &t, &p);
	assert_string_equal(p.hint, "did you mean \"priority\"?");
	parse(&a, "{\"command\":[\"a\\u0000\"]}", &t, &p);
	assert_non_null(strstr(p.what, "NUL"));
	assert_non_null(strstr(p.hint, "base64"));
	parse(&a, "{\"priority\":99999999999999999999}", &t, &p);
	assert_non_null(strstr(p.what, "too large"));
	parse(&a, "{\"command\":\"ls -l\"}", &t, &p);
	assert_non_null(strstr(p.hint, "sh"));
	arena_release(&a);
}

static char *nested(int depth)
{
	struct buf b = {0};

	buf_add_cstr(&b, "{\"params\":{\"a\":");
	for (int i = 0; i < depth; i++)
		buf_add_char(&b, '[');
	for (int i = 0; i < depth; i++)
		buf_add_char(&b, ']');
	buf_add_cstr(&b, "}}");
	return buf_take(&b);
}

static void test_depth(void **state)
{
	static const struct {
		int depth, rc;
	} cases[] = {{JSON_DEPTH_MAX - 1, 0}, {JSON_DEPTH_MAX, ERR_INVALID}, {2000, ERR_INVALID},
	    {100000, ERR_INVALID}};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct arena a = {0};
		struct submit_task t;
		struct problem p = {0};
		char *text = nested(cases[i].depth);

		assert_int_equal(parse(&a, text, &t, &p), cases[i].rc);
		if (cases[i].rc)
			assert_non_null(strstr(p.what, "nested deeper than 64"));
		free(text);
		arena_release(&a);
	}
}

static void test_sizes(void **state)
{
	struct arena a = {0};
	struct submit_task t;
	struct problem p = {0};
	struct buf b = {0};

	buf_add_cstr(&b, "{\"labels\":{");
	for (int i = 0; i <= LABELS_MAX; i++)
		buf_printf(&b, "%s\"l%d\":\"\"", i ? "," : "", i);
	buf_add_cstr(&b, "}}");
	assert_int_equal(parse(&a, b.p, &t, &p), ERR_INVALID);
	buf_reset(&b);
	buf_add_cstr(&b, "{\"key\":\"");
	for (int i = 0; i <= KEY_MAX_BYTES; i++)
		buf_add_char(&b, 'k');
	buf_add_cstr(&b, "\"}");
	assert_int_equal(parse(&a, b.p, &t, &p), ERR_INVALID);
	buf_reset(&b);
	buf_add_cstr(&b, "{\"params\":{\"x\":\"");
	for (unsigned i = 0; i < TASK_BODY_MAX; i++)
		buf_add_char(&b, 'k');
	buf_add_cstr(&b, "\"}}");
	assert_int_equal(parse(&a, b.p, &t, &p), ERR_TOO_LARGE);
	buf_release(&b);
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bodies),
	    cmocka_unit_test(test_members),
	    cmocka_unit_test(test_bad),
	    cmocka_unit_test(test_every_member_is_read_and_described),
	    cmocka_unit_test(test_words),
	    cmocka_unit_test(test_depth),
	    cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
