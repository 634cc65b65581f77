/* SPDX-License-Identifier: Apache-2.0 */
/* What operators did, as lines; and what a task's body says, read off its text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/limits.h"
#include "model/task/body.h"
#include "model/task/deeds.h"

static void test_deeds_come_back_as_they_went(void **state)
{
	AUTO(arena_release) struct arena a = {0};
	struct deed d = {.time_ms = 17, .verb = DEED_HOLD, .status = -10, .attempt = 3};
	struct deed got;
	struct str all = STR_NULL;

	d.actor = STR("token:ci\tx");
	d.reason = STR("a\nb");
	all = deeds_append(&a, all, &d);
	d.verb = DEED_RELEASE;
	d.actor = d.reason = STR_NULL;
	all = deeds_append(&a, all, &d);
	assert_true(deeds_next(&all, &got));
	assert_int_equal(got.number, 1);
	assert_int_equal(got.time_ms, 17);
	assert_int_equal(got.verb, DEED_HOLD);
	assert_int_equal(got.status, -10);
	assert_int_equal(got.attempt, 3);
	assert_true(str_is(got.actor, "token:ci x"));
	assert_true(str_is(got.reason, "a b"));
	assert_true(deeds_next(&all, &got));
	assert_int_equal(got.number, 2);
	assert_int_equal(got.actor.n + got.reason.n, 0);
	assert_false(deeds_next(&all, &got));
}

static void test_a_submit_that_holds_is_number_0(void **state)
{
	AUTO(arena_release) struct arena a = {0};
	struct str all = deeds_held(&a, 17, -10);
	struct deed got, d = {.time_ms = 18, .verb = DEED_RELEASE};

	all = deeds_append(&a, all, &d);
	assert_true(deeds_next(&all, &got));
	assert_int_equal(got.number, 0);
	assert_int_equal(got.status, -10);
	assert_int_equal(got.time_ms, 17);
	assert_true(deeds_next(&all, &got));
	assert_int_equal(got.number, 1);
	assert_int_equal(got.verb, DEED_RELEASE);
	assert_false(deeds_next(&all, &got));
}

static void test_ten_thousand_deeds_stay_small(void **state)
{
	AUTO(arena_release) struct arena a = {0};
	struct deed d = {.verb = DEED_RETRY, .actor = STR("uid=0")}, got = {0};
	struct str all = STR_NULL;
	int64_t last = 0;

	for (int i = 0; i < 10000; i++)
		all = deeds_append(&a, all, &d);
	assert_in_range(all.n, DEEDS_MAX_BYTES / 2, DEEDS_MAX_BYTES);
	assert_true(deeds_next(&all, &got));
	assert_true(got.number > 1);
	for (last = got.number; deeds_next(&all, &got); last = got.number)
		assert_int_equal(got.number, last + 1);
	assert_int_equal(last, 10000);
}

static void test_lines_of_others_end_it(void **state)
{
	static const char *const wrong[] = {"", "\n", "x", "1\t2\tdance\t0\t0\ta\tr\n",
	    "1\t2\thold\n", "99999999999999999999\t2\thold\t0\t0\ta\tr\n"};
	struct deed got;

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct str s = str_of(wrong[i]);

		assert_false(deeds_next(&s, &got));
	}
}

static void assert_summary(const char *body, const char *want)
{
	AUTO(buf_release) struct buf out = {0};

	body_summary(str_of(body), &out);
	buf_add_char(&out, 0);
	assert_string_equal(out.p, want);
}

static void test_summaries(void **state)
{
	assert_summary("{\"command\":[\"make\",\"test\"]}", "make test");
	assert_summary(
	    "{\"command\":[\"sh\",\"-c\",\"a \\\"b\\\"\"],\"env\":{}}", "sh -c 'a \"b\"'");
	assert_summary("{\"command\":[\"it's\",\"\"]}", "'it'\\''s' ''");
	assert_summary("{\"command\":[\"\\u00e4\\ud83d\\ude00\\ud83d\"]}", "'ä😀?'");
	assert_summary("{\"env\":{\"params\":\"x\"},\"params\":{\"a\":[1,{\"b\":2}]}}",
	    "{\"a\":[1,{\"b\":2}]}");
	assert_summary("{\"action\":{\"run\":{}}", "{\"run\":{}}");
	assert_summary("{\"command\":[\"cut he", "'cut he'");
	assert_summary("{\"cwd\":\"/\"}", "");
	assert_summary("", "");
	assert_summary("]]]}\"", "");
}

static void test_summaries_are_short(void **state)
{
	AUTO(buf_release) struct buf body = {0}, out = {0};

	buf_add_cstr(&body, "{\"command\":[\"");
	for (int i = 0; i < 1000; i++)
		buf_add_cstr(&body, "ä");
	buf_add_cstr(&body, "\"]}");
	body_summary(buf_str(&body), &out);
	assert_in_range(out.n, SUMMARY_MAX_BYTES - 4, SUMMARY_MAX_BYTES);
	assert_memory_equal(out.p + out.n - 3, "…", 3);
}

static bool count(void *arg, struct str text, bool escaped)
{
	*(size_t *)arg += text.n;
	return true;
}

/* Any bytes at all, cut anywhere: it ends, and stays within them. */
static void test_any_bytes(void **state)
{
	static const char pieces[] = "{}[]:,\"\\u0aZ \tcommand\"params\"";
	struct rng r = {42};

	for (int i = 0; i < 20000; i++) {
		AUTO(buf_release) struct buf out = {0};
		size_t n = rng_below(&r, 60), seen = 0;
		char *text = xmalloc(n + 1);

		for (size_t k = 0; k < n; k++)
			text[k] =
			    i % 2 ? pieces[rng_below(&r, sizeof pieces)] : (char)rng_below(&r, 256);
		body_summary((struct str){text, n}, &out);
		assert_true(out.n <= SUMMARY_MAX_BYTES);
		body_texts((struct str){text, n}, count, &seen);
		assert_true(seen <= n);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_deeds_come_back_as_they_went),
	    cmocka_unit_test(test_a_submit_that_holds_is_number_0),
	    cmocka_unit_test(test_ten_thousand_deeds_stay_small),
	    cmocka_unit_test(test_lines_of_others_end_it),
	    cmocka_unit_test(test_summaries),
	    cmocka_unit_test(test_summaries_are_short),
	    cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
