/* SPDX-License-Identifier: Apache-2.0 */
/* POST /v1/tasks: one, many, twins, replays, limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "model/limits.h"
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

static struct talk *ndjson(const char *target, const char *body)
{
	struct talk *t = talk_new(API_POST, target, body);

	t->req.content_type = STR("application/x-ndjson");
	talk_send(w, t);
	world_run(w);
	return t;
}

static void test_one(void **state)
{
	struct talk *t = ask(w, API_POST, "/v1/tasks",
	    "{\"command\":[\"echo\",\"h\\u00e9llo\"],\"env\":{\"A\":\"1\"},\"cwd\":\"/tmp\","
	    "\"params\":{\"x\":[1,2.5,null,true]},\"priority\":3,\"run_after\":60,\"timeout\":"
	    "\"90s\","
	    "\"max_attempts\":4,\"backoff\":2,\"backoff_max\":\"1h\",\"key\":\"k\","
	    "\"labels\":{\"b\":\"2\",\"a\":\"1\"}}");
	char location[128], expected[128];
	json_t *v = talk_json(t), *again, *body;

	assert_int_equal(t->status, 201);
	snprintf(expected, sizeof expected, "/v1/tasks/%s", jstr(v, "id"));
	assert_string_equal(talk_header(t, "Location", location, sizeof location), expected);
	assert_string_equal(jstr(v, "queue"), "default");
	assert_string_equal(jstr(v, "state"), "queued");
	assert_string_equal(jstr(v, "cwd"), "/tmp");
	assert_int_equal(jint(v, "priority"), 3);
	assert_int_equal(jint(v, "timeout_ms"), 90000);
	assert_int_equal(jint(v, "max_attempts"), 4);
	assert_int_equal(jint(v, "backoff_ms"), 2000);
	assert_int_equal(jint(v, "backoff_max_ms"), 3600000);
	assert_string_equal(jstr(v, "run_after"), "2023-11-14T22:14:25.000Z");
	body = json_pack("{s:[i,f,n,b]}", "x", 1, 2.5, 1);
	assert_true(json_equal(json_object_get(v, "params"), body));
	json_decref(body);
	/* what was answered without a look into the store is what the store says */
	again = ask_json(w, API_GET, expected, NULL, 200);
	assert_true(json_equal(v, again));
	json_decref(again);
	json_decref(v);
	talk_free(t);
}

static void test_default_is_made_once(void **state)
{
	assert_null(
	    core_queue(world_core(w), core_find(world_core(w), KIND_QUEUE, STR("default"))));
	world_submit(w, NULL);
	world_submit(w, "{\"queue\":\"default\",\"command\":[\"x\"]}");
	assert_non_null(
	    core_queue(world_core(w), core_find(world_core(w), KIND_QUEUE, STR("default"))));
}

static void test_unknown_queue(void **state)
{
	json_t *v;

	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"mail\"}", 201));
	v = ask_json(w, API_POST, "/v1/tasks", "{\"queue\":\"mial\",\"command\":[\"x\"]}", 404);
	assert_string_equal(jstr(v, "type"), "urn:reeve:error:not-found");
	assert_non_null(strstr(jstr(v, "hint"), "did you mean \"mail\""));
	assert_string_equal(jstr(v, "field"), "queue");
	json_decref(v);
	v = ask_json(w, API_POST, "/v1/tasks", "{\"queue\":\"billing\",\"command\":[\"x\"]}", 404);
	assert_non_null(strstr(jstr(v, "hint"), "reeve queue create billing"));
	json_decref(v);
}

static void test_plugin_decides(void **state)
{
	json_t *v;

	json_decref(
	    ask_json(w, API_POST, "/v1/queues", "{\"name\":\"q\",\"plugin\":\"mail\"}", 201));
	v = ask_json(w, API_POST, "/v1/tasks", "{\"queue\":\"q\",\"command\":[\"x\"]}", 400);
	assert_string_equal(jstr(v, "field"), "command");
	json_decref(v);
	json_decref(
	    ask_json(w, API_POST, "/v1/tasks", "{\"queue\":\"q\",\"params\":{\"to\":\"x\"}}", 201));
	v = ask_json(w, API_POST, "/v1/tasks", "{\"params\":{\"to\":\"x\"}}", 400);
	assert_string_equal(jstr(v, "field"), "command");
	json_decref(v);
	v = ask_json(w, API_POST, "/v1/tasks", "{\"queue\":\"q\",\"action\":{}}", 400);
	assert_string_equal(jstr(v, "field"), "action");
	json_decref(v);
}

/* In place of a command, never beside it. */
static void test_action(void **state)
{
	json_t *v;

	v = ask_json(w, API_POST, "/v1/tasks", "{\"action\":{\"run\":{\"path\":\"ls\"}}}", 201);
	assert_non_null(json_object_get(json_object_get(v, "action"), "run"));
	json_decref(v);
	v = ask_json(w, API_POST, "/v1/tasks",
	    "{\"action\":{\"run\":{\"path\":\"ls\"}},\"command\":[\"x\"]}", 400);
	assert_non_null(strstr(jstr(v, "detail"), "both"));
	json_decref(v);
}

/* The body comes back as it was given. */
static void test_run(void **state)
{
	json_t *v = ask_json(w, API_POST, "/v1/tasks",
	    "{\"command\":[\"x\"],\"run\":{\"user\":\"a\",\"limits\":{\"memory\":\"1G\"}}}", 201);
	json_t *run = json_object_get(v, "run");

	assert_string_equal(jstr(run, "user"), "a");
	assert_string_equal(jstr(json_object_get(run, "limits"), "memory"), "1G");
	json_decref(v);
}

static void test_many_with_errors(void **state)
{
	struct talk *t = ndjson("/v1/tasks",
	    "{\"command\":[\"a\"]}\n\n{\"comand\":[\"b\"]}\r\n  \n{\"command\":[\"c\"]}\n"
	    "{\"queue\":\"none\",\"command\":[\"d\"]}\nnot json\n{\"command\":[\"e\"]}");
	json_t *v = talk_json(t), *ids = json_object_get(v, "ids"),
	       *errors = json_object_get(v, "errors");

	assert_int_equal(t->status, 200);
	assert_int_equal(jint(v, "accepted"), 3);
	assert_int_equal(jint(v, "rejected"), 3);
	assert_int_equal(jint(v, "duplicates"), 0);
	assert_int_equal(json_array_size(ids), 6);
	assert_true(json_is_null(json_array_get(ids, 1)));
	assert_true(json_is_string(json_array_get(ids, 2)));
	assert_true(json_is_null(json_array_get(ids, 4)));
	assert_int_equal(json_array_size(errors), 3);
	assert_int_equal(jint(json_array_get(errors, 0), "line"), 3);
	assert_string_equal(jstr(json_array_get(errors, 0), "hint"), "did you mean \"command\"?");
	assert_int_equal(jint(json_array_get(errors, 1), "line"), 6);
	assert_string_equal(jstr(json_array_get(errors, 1), "type"), "urn:reeve:error:not-found");
	assert_int_equal(jint(json_array_get(errors, 2), "line"), 7);
	assert_string_not_equal(jstr(v, "batch"), json_string_value(json_array_get(ids, 0)));
	json_decref(v);
	talk_free(t);
}

/* The line is told beside the text, which then only says where in it. */
static void test_what_is_wrong_with_a_line(void **state)
{
	static const char *const wanted[] = {"(column ", "this is null, not an object",
	    "this is a string, not an object", "this is an array, not an object",
	    "this is an integer, not an object"};
	struct talk *t = ndjson("/v1/tasks", "{]\nnull\n\"x\"\n[1]\n7\n");
	json_t *v = talk_json(t), *errors = json_object_get(v, "errors");

	assert_int_equal(json_array_size(errors), 5);
	for (size_t i = 0; i < 5; i++) {
		const char *detail = jstr(json_array_get(errors, i), "detail");

		assert_non_null(strstr(detail, wanted[i]));
		assert_null(strstr(detail, "line 1"));
	}
	json_decref(v);
	talk_free(t);
	v = ask_json(w, API_POST, "/v1/tasks", "{\n]", 400);
	assert_non_null(strstr(jstr(v, "detail"), "line 2, column"));
	json_decref(v);
}

static void test_atomic(void **state)
{
	struct talk *t =
	    ndjson("/v1/tasks?atomic=true", "{\"command\":[\"a\"]}\n{\"command\":7}\n");
	json_t *v = talk_json(t), *list;

	assert_int_equal(t->status, 400);
	assert_string_equal(t->type, "application/problem+json");
	assert_int_equal(json_array_size(json_object_get(v, "errors")), 1);
	json_decref(v);
	talk_free(t);
	list = ask_json(w, API_GET, "/v1/tasks", NULL, 200);
	assert_int_equal(json_array_size(json_object_get(list, "items")), 0);
	json_decref(list);
}

static void test_array_and_join(void **state)
{
	json_t *v = ask_json(w, API_POST, "/v1/tasks",
	    "[{\"command\":[\"a\"]},{\"command\":[]},{\"command\":[\"b\"]}]", 200);
	char target[128], *batch = xstrdup(jstr(v, "batch"));
	json_t *joined;

	assert_int_equal(jint(v, "accepted"), 2);
	assert_int_equal(jint(json_array_get(json_object_get(v, "errors"), 0), "line"), 2);
	json_decref(v);
	snprintf(target, sizeof target, "/v1/tasks?batch=%s", batch);
	joined = ask_json(w, API_POST, target, "[{\"command\":[\"c\"]}]", 200);
	assert_string_equal(jstr(joined, "batch"), batch);
	json_decref(joined);
	snprintf(target, sizeof target, "/v1/tasks/summary?batch=%s", batch);
	joined = ask_json(w, API_GET, target, NULL, 200);
	assert_int_equal(jint(joined, "total"), 3);
	json_decref(joined);
	free(batch);
}

static void test_twin(void **state)
{
	json_t *a =
	    ask_json(w, API_POST, "/v1/tasks", "{\"command\":[\"a\"],\"key\":\"once\"}", 201);
	json_t *b =
	    ask_json(w, API_POST, "/v1/tasks", "{\"command\":[\"b\"],\"key\":\"once\"}", 200);

	assert_string_equal(jstr(a, "id"), jstr(b, "id"));
	assert_true(json_is_true(json_object_get(b, "duplicate")));
	json_decref(a);
	json_decref(b);
}

static void test_replay(void **state)
{
	json_t *first, *second;
	struct talk *t;
	char header[16];

	for (int i = 0; i < 3; i++) {
		t = talk_new(API_POST, "/v1/tasks",
		    i < 2 ? "{\"command\":[\"a\"]}" : "{\"command\":[\"b\"]}");
		t->req.idempotency_key = STR("abc");
		talk_send(w, t);
		world_run(w);
		assert_int_equal(t->status, i < 2 ? 201 : 422);
		talk_header(t, "Idempotent-Replay", header, sizeof header);
		assert_string_equal(header, i == 1 ? "true" : "");
		second = talk_json(t);
		if (i == 1) {
			assert_string_equal(jstr(first, "id"), jstr(second, "id"));
			json_decref(first);
		}
		if (i == 0)
			first = second;
		else
			json_decref(second);
		talk_free(t);
	}
}

static void test_too_many(void **state)
{
	struct buf b = {0};
	struct talk *t;
	json_t *v;

	for (int i = 0; i <= TASKS_PER_SUBMIT; i++)
		buf_add_cstr(&b, "{\"command\":[\"x\"]}\n");
	t = ndjson("/v1/tasks", b.p);
	assert_int_equal(t->status, 413);
	v = talk_json(t);
	assert_string_equal(jstr(v, "type"), "urn:reeve:error:too-large");
	json_decref(v);
	talk_free(t);
	buf_release(&b);
}

/* A task that is too long to be parsed on the loop. */
static void add_long_task(struct buf *b, char fill)
{
	buf_add_cstr(b, "{\"command\":[\"");
	for (int i = 0; i < 300000; i++)
		buf_add_char(b, fill);
	buf_add_cstr(b, "\"]}");
}

static void test_long_tasks(void **state)
{
	struct buf one = {0}, lines = {0}, array = {0};
	struct talk *t;
	json_t *v;

	add_long_task(&one, 'x');
	v = ask_json(w, API_POST, "/v1/tasks", one.p, 201);
	assert_int_equal(
	    json_string_length(json_array_get(json_object_get(v, "command"), 0)), 300000);
	json_decref(v);
	buf_printf(&lines, "{\"command\":[\"a\"]}\n%s\n%s,\n{\"command\":[\"b\"]}\n", one.p, one.p);
	t = ndjson("/v1/tasks", lines.p);
	v = talk_json(t);
	assert_int_equal(jint(v, "accepted"), 3);
	assert_int_equal(jint(v, "rejected"), 1);
	json_decref(v);
	talk_free(t);
	buf_printf(&array, " [ %s , {\"command\":[\"a\"]},%s]", one.p, one.p);
	v = ask_json(w, API_POST, "/v1/tasks", array.p, 200);
	assert_int_equal(jint(v, "accepted"), 3);
	json_decref(v);
	buf_release(&one);
	buf_release(&lines);
	buf_release(&array);
}

static void test_array_that_is_none(void **state)
{
	static const char *const bad[] = {"[{\"command\":[\"a\"]},{\"command\":[\"b\"}]",
	    "[{\"command\":[\"a\"]},]", "[{\"command\":[\"a\"]}", "[{\"command\":[\"a\"]}] x"};
	json_t *v;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		json_decref(ask_json(w, API_POST, "/v1/tasks", bad[i], 400));
	v = ask_json(w, API_GET, "/v1/tasks/summary", NULL, 200);
	assert_int_equal(jint(v, "total"), 0);
	json_decref(v);
}

static void test_too_many_members(void **state)
{
	struct buf b = {0};

	buf_add_cstr(&b, "{\"command\":[\"x\"],\"params\":{");
	for (int i = 0; i < 30000; i++)
		buf_printf(&b, "%s\"%d\":1", i ? "," : "", i);
	buf_add_cstr(&b, "}}");
	json_decref(ask_json(w, API_POST, "/v1/tasks", b.p, 413));
	json_decref(ask_json(w, API_POST, "/v1/queues", b.p, 413));
	buf_release(&b);
}

static void test_client_leaves_while_it_is_parsed(void **state)
{
	struct buf one = {0};
	struct talk *t;
	json_t *v;

	add_long_task(&one, 'x');
	t = talk_new(API_POST, "/v1/tasks", one.p);
	talk_send(w, t);
	talk_hang_up(t);
	talk_free(t);
	buf_release(&one);
	world_run(w);
	v = ask_json(w, API_GET, "/v1/tasks/summary", NULL, 200);
	assert_int_equal(jint(v, "total"), 0);
	json_decref(v);
}

static void test_large_batch(void **state)
{
	struct buf b = {0};
	struct talk *t;
	json_t *v;

	for (int i = 0; i < 20000; i++)
		buf_printf(&b, "{\"command\":[\"x\",\"%d\"]}\n", i);
	t = ndjson("/v1/tasks", b.p);
	v = talk_json(t);
	assert_int_equal(jint(v, "accepted"), 20000);
	assert_int_equal(json_array_size(json_object_get(v, "ids")), 20000);
	json_decref(v);
	talk_free(t);
	buf_release(&b);
	v = ask_json(w, API_GET, "/v1/tasks/summary", NULL, 200);
	assert_int_equal(jint(v, "live"), 20000);
	json_decref(v);
}

static void test_ten_megabytes(void **state)
{
	struct buf b = {0};

	buf_add_cstr(&b, "{\"command\":[\"x\"],\"params\":{\"a\":\"");
	for (int i = 0; i < 10 << 20; i += 16)
		buf_add_cstr(&b, "0123456789abcdef");
	buf_add_cstr(&b, "\"}}");
	json_decref(ask_json(w, API_POST, "/v1/tasks", b.p, 413));
	buf_release(&b);
	buf_add_cstr(&b, "{\"command\":[\"x\"],\"params\":{\"a\":\"");
	for (int i = 0; i < 2 << 20; i += 16)
		buf_add_cstr(&b, "0123456789abcdef");
	buf_add_cstr(&b, "\"}}");
	json_decref(ask_json(w, API_POST, "/v1/tasks", b.p, 413));
	buf_release(&b);
}

static void test_client_leaves(void **state)
{
	struct talk *t = talk_new(API_POST, "/v1/tasks", "{\"command\":[\"x\"]}");

	talk_send(w, t);
	talk_hang_up(t); /* before the answer: the task is taken all the same */
	world_run(w);
	assert_int_equal(t->answers, 0);
	talk_free(t);
}

static void test_media(void **state)
{
	struct talk *t = talk_new(API_POST, "/v1/tasks", "a=b");

	t->req.content_type = STR("application/x-www-form-urlencoded");
	talk_send(w, t);
	assert_int_equal(t->status, 415);
	talk_free(t);
	json_decref(ask_json(w, API_POST, "/v1/tasks", NULL, 400));
	json_decref(ask_json(w, API_POST, "/v1/tasks", "  ", 400));
	json_decref(ask_json(w, API_POST, "/v1/tasks?batch=zz", "{\"command\":[\"x\"]}", 400));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_one, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_default_is_made_once, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_unknown_queue, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_plugin_decides, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_action, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_run, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_many_with_errors, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_atomic, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_what_is_wrong_with_a_line, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_array_and_join, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_array_that_is_none, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_long_tasks, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_too_many_members, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_client_leaves_while_it_is_parsed, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_twin, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_replay, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_too_many, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_large_batch, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_ten_megabytes, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_client_leaves, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_media, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
