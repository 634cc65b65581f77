/* SPDX-License-Identifier: Apache-2.0 */
/* What plugins are told, and what they may answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "worker/jobs/body.h"
#include "worker/plugins/frames.h"

static void assert_str(struct str got, const char *want)
{
	if (!want) {
		assert_null(got.p);
		return;
	}
	assert_int_equal(got.n, strlen(want));
	assert_memory_equal(got.p, want, got.n);
}

static void test_member(void **state)
{
	static const struct {
		const char *object, *want;
	} cases[] = {
	    {"{\"params\":{\"a\":[1,\"}\"]},\"env\":{}}", "{\"a\":[1,\"}\"]}"},
	    {" { \"x\" : 1 , \"params\" : [ 1 , 2 ] } ", "[ 1 , 2 ]"},
	    {"{\"params\": 12 }", "12"},
	    {"{\"params\":\"a\\\"b\"}", "\"a\\\"b\""},
	    {"{\"x\":{\"params\":1}}", NULL},
	    {"{\"x\":\"params\",\"params\":true}", "true"},
	    {"{}", NULL},
	    {"", NULL},
	    {"[\"params\"]", NULL},
	    {"{\"params\":", NULL},
	    {"{\"params", NULL},
	    {"{\"x\":\"\\", NULL},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_str(json_member(str_of(cases[i].object), "params"), cases[i].want);
}

static void test_member_garbage(void **state)
{
	static const char alphabet[] = "{}[]\":,\\ params1";
	struct rng rng = {7};
	char *text;

	for (int i = 0; i < 20000; i++) {
		size_t n = rng_below(&rng, 40);

		text = malloc(n ? n : 1); /* exact, so that the sanitizer sees a byte too far */
		for (size_t k = 0; k < n; k++)
			text[k] = alphabet[rng_below(&rng, sizeof alphabet - 1)];
		if (n)
			text[0] = '{';
		json_member((struct str){text, n}, "params");
		free(text);
	}
}

static void test_order(void **state)
{
	const struct id_space ids = {{1, 2, 3, 4, 5}};
	struct link_run run = {1, 9, 2, 3, STR("a\"b\n"), STR("p"),
	    STR("{\"env\":{\"A\":\"1\"},\"params\":{\"x\":1}}"), STR("{\"A\":\"0\",\"B\":\"2\"}")};
	struct buf b = {0};

	run_write(&run, &ids, &b);
	assert_string_equal(b.p,
	    "{\"id\":\"000000000102030405000001\",\"token\":9,\"attempt\":2,\"max_attempts\":3,"
	    "\"queue\":\"a\\\"b\\u000a\",\"params\":{\"x\":1},\"env\":{\"A\":\"1\",\"B\":\"2\"}}");
	buf_release(&b);
}

static void test_order_of_a_job(void **state)
{
	const struct id_space ids = {{1, 2, 3, 4, 5}};
	struct link_need needs[] = {{.task = 1,
	                                .job = STR("fetch"),
	                                .state = STR("built"),
	                                .worker = STR("w"),
	                                .host = STR("vm.example"),
	                                .target = STR("x86_64-linux"),
	                                .attempt = 1,
	                                .exit_code = 0,
	                                .started_ms = 1000,
	                                .ended_ms = 2000,
	                                .result = STR("{\"artifacts\": [\"a.tar\"], \"n\": 1}")},
	    {.task = 2, .job = STR("x"), .state = STR("built"), .result = STR("no \"JSON\"")},
	    {.task = 3, .state = STR("job-failed"), .exit_code = -1, .signal = 9, .is_cut = true}};
	struct link_run run = {1, 9, 2, 3, STR("q"), STR("p"), STR("{}")};
	struct buf b = {0};

	run.needs = needs;
	run.n_needs = 3;
	run_write(&run, &ids, &b);
	assert_non_null(strstr(b.p,
	    ",\"needs\":{\"fetch\":{\"task\":\"000000000102030405000001\",\"state\":\"built\","
	    "\"result\":{\"artifacts\":[\"a.tar\"],\"n\":1},\"artifacts\":[\"a.tar\"],"
	    "\"worker\":\"w\",\"host\":\"vm.example\",\"target\":\"x86_64-linux\","
	    "\"started\":\"1970-01-01T00:00:01.000Z\","
	    "\"ended\":\"1970-01-01T00:00:02.000Z\",\"attempt\":1,\"exit\":0,\"reason\":null},"));
	assert_non_null(strstr(b.p, "\"x\":{\"task\":\"000000000102030405000002\","
	                            "\"state\":\"built\",\"result\":\"no \\\"JSON\\\"\","));
	assert_non_null(strstr(b.p, "\"000000000102030405000003\":{\"task\":"));
	assert_non_null(strstr(b.p, "\"result\":null,\"result_left_out\":true,"));
	assert_non_null(strstr(b.p, "\"worker\":null,\"host\":null,\"target\":null,"));
	assert_non_null(strstr(b.p, "\"exit\":null,\"signal\":9,\"reason\":null}}}"));
	buf_release(&b);
}

static void test_framing(void **state)
{
	struct buf b = {0};
	struct str payload;
	const char *why = NULL;
	size_t at = 0, start = frame_begin(&b);

	buf_add_cstr(&b, "{}");
	frame_end(&b, start);
	assert_int_equal(frame_take((struct str){b.p, 5}, &at, &payload, &why), 0);
	assert_int_equal(frame_take(buf_str(&b), &at, &payload, &why), 1);
	assert_str(payload, "{}");
	assert_int_equal(at, 6);
	assert_int_equal(frame_take(buf_str(&b), &at, &payload, &why), 0);
	at = 0;
	assert_int_equal(frame_take((struct str){"\0\0\0\0", 4}, &at, &payload, &why), -1);
	assert_int_equal(frame_take((struct str){"\x00\x10\x00\x01", 4}, &at, &payload, &why), -1);
	buf_release(&b);
}

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		int want, kind;
	} cases[] = {
	    {"{\"reeve\":1}", 0, FRAME_HELLO},
	    {"{\"reeve\":1,\"concurrency\":64,\"cancel\":true}", 0, FRAME_HELLO},
	    {"{\"reeve\":2}", -1, 0},
	    {"{\"reeve\":1,\"concurrency\":0}", -1, 0},
	    {"{\"reeve\":1,\"concurrency\":\"9\"}", -1, 0},
	    {"{\"id\":\"x\",\"token\":1,\"status\":1}", 0, FRAME_REPLY},
	    {"{\"id\":\"x\",\"status\":0}", -1, 0},
	    {"{\"id\":\"x\",\"status\":1.5}", -1, 0},
	    {"{\"id\":\"x\"}", -1, 0},
	    {"{\"id\":7,\"status\":1}", -1, 0},
	    {"{\"id\":\"x\",\"output\":{\"stream\":\"stderr\",\"data\":\"d\"}}", 0, FRAME_OUTPUT},
	    {"{\"id\":\"x\",\"output\":{\"stream\":\"both\",\"data\":\"d\"}}", -1, 0},
	    {"{\"id\":\"x\",\"output\":\"d\"}", -1, 0},
	    {"{", -1, 0},
	    {"[]", -1, 0},
	    {"{}x", -1, 0},
	};
	struct plugin_frame f;
	const char *why;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		why = NULL;
		assert_int_equal(frame_parse(str_of(cases[i].text), &f, &why), cases[i].want);
		if (cases[i].want < 0) {
			assert_non_null(why);
			continue;
		}
		assert_int_equal(f.kind, cases[i].kind);
		frame_release(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_member),
	    cmocka_unit_test(test_member_garbage),
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_order_of_a_job),
	    cmocka_unit_test(test_framing),
	    cmocka_unit_test(test_parse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
