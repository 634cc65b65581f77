/* SPDX-License-Identifier: Apache-2.0 */
/* What a task wrote: whole, from an offset, of an earlier attempt, and followed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "world/world.h"

static struct world *w;

static int setup(void **state)
{
	w = world_new();
	world_open(w);
	return 0;
}

static int teardown(void **state)
{
	world_free(w);
	return 0;
}

static struct talk *logs(rid id, const char *query)
{
	char target[128], text[ID_TEXT];

	snprintf(
	    target, sizeof target, "/v1/tasks/%s/logs%s", id_format(world_ids(w), id, text), query);
	return ask(w, API_GET, target, NULL);
}

static void expect(rid id, const char *query, const char *text)
{
	struct talk *t = logs(id, query);

	assert_int_equal(t->status, 200);
	assert_string_equal(t->body.p ? t->body.p : "", text);
	assert_true(t->ended);
	talk_free(t);
}

static rid running(const char *body)
{
	rid id;

	world_worker(w, "w1", 4);
	id = world_submit(w, body);
	world_started(w, id);
	return id;
}

static void test_inline(void **state)
{
	rid id = running(NULL);

	world_ended(w, id, TASK_SUCCEEDED, 0, "hello\n");
	expect(id, "", "hello\n");
	expect(id, "?stream=stdout&offset=2", "llo\n");
	expect(id, "?stream=stderr", "");
	expect(id, "?follow=true", "hello\n");
	expect(id, "?attempt=1", "hello\n");
}

static void test_refused(void **state)
{
	static const char *const bad[] = {
	    "?stream=out", "?offset=3", "?stream=stdout&offset=-1", "?attempt=0", "?follow=2"};
	rid id = running(NULL);

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct talk *t = logs(id, bad[i]);

		assert_int_equal(t->status, 400);
		talk_free(t);
	}
	struct talk *t = logs(id, "?attempt=9");

	assert_int_equal(t->status, 404);
	talk_free(t);
}

static void test_follow(void **state)
{
	rid id = running(NULL);
	struct talk *t = logs(id, "?follow=true"), *gone = logs(id, "?follow=true");

	assert_true(t->streaming && !t->ended);
	world_output(w, id, STDOUT, 0, "one ");
	assert_string_equal(t->body.p, "one ");
	talk_hang_up(gone);
	world_output(w, id, STDERR, 0, "two ");
	world_output(w, id, STDOUT, 4, "three");
	assert_string_equal(t->body.p, "one two three");
	assert_string_equal(gone->body.p, "one ");
	world_ended(w, id, TASK_SUCCEEDED, 0, NULL);
	assert_true(t->ended);
	talk_free(t);
	talk_free(gone);
	assert_int_equal(world_watches(w), 0);
}

static void test_slow_reader(void **state)
{
	rid id = running(NULL);
	struct talk *t = logs(id, "?follow=true");

	t->pending = 2 << 20;
	world_output(w, id, STDOUT, 0, "one ");
	world_output(w, id, STDOUT, 4, "two"); /* not read while the first waits */
	assert_string_equal(t->body.p, "one ");
	assert_non_null(t->drain);
	t->pending = 0;
	t->drain(t->drain_arg);
	world_run(w);
	assert_string_equal(t->body.p, "one two");
	talk_hang_up(t);
	talk_free(t);
}

static void test_earlier_attempt(void **state)
{
	rid id = running("{\"command\":[\"x\"],\"max_attempts\":2,\"backoff\":0}");
	struct talk *t = logs(id, "?follow=true");

	world_output(w, id, STDOUT, 0, "first ");
	world_ended(w, id, TASK_FAILED, 1, NULL);
	world_advance(w, 1000);
	world_started(w, id);
	world_output(w, id, STDOUT, 0, "second");
	world_ended(w, id, TASK_SUCCEEDED, 0, NULL);
	assert_true(t->ended);
	assert_string_equal(t->body.p, "first second");
	talk_free(t);
	expect(id, "?attempt=1", "first ");
	expect(id, "?attempt=2", "second");
	expect(id, "?attempt=-1", "first ");
	expect(id, "", "second");
}

static void test_numbers_reach_what_was_before_a_retry(void **state)
{
	char target[96], text[ID_TEXT];
	rid id = running("{\"command\":[\"x\"]}");
	json_t *v;

	world_output(w, id, STDOUT, 0, "first");
	world_ended(w, id, TASK_FAILED, 1, NULL);
	id_format(world_ids(w), id, text);
	snprintf(target, sizeof target, "/v1/tasks/%s/retry", text);
	json_decref(ask_json(w, API_POST, target, "{}", 200));
	world_started(w, id);
	world_output(w, id, STDOUT, 0, "second");
	world_ended(w, id, TASK_SUCCEEDED, 0, NULL);
	expect(id, "?attempt=1", "first");
	expect(id, "?attempt=2", "second");
	expect(id, "?attempt=-1", "first");
	snprintf(target, sizeof target, "/v1/tasks/%s", text);
	v = ask_json(w, API_GET, target, NULL, 200);
	assert_int_equal(jint(v, "attempt"), 2);
	assert_int_equal(jint(v, "attempts_before"), 1);
	assert_int_equal(jint(v, "max_attempts"), 1);
	json_decref(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_inline, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_follow, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_slow_reader, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_earlier_attempt, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        test_numbers_reach_what_was_before_a_retry, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
