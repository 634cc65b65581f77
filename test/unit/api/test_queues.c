/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: making, changing, pausing, deleting, and their versions. */
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

static void test_make_and_change(void **state)
{
	struct talk *t = ask(w, API_POST, "/v1/queues",
	    "{\"name\":\"mail\",\"plugin\":\"mail\",\"threads\":3,\"order\":\"priority\","
	    "\"timeout\":\"5m\","
	    "\"max_attempts\":5,\"backoff\":\"2s\",\"backoff_max\":60,\"exit_codes\":true,"
	    "\"env\":{\"LANG\":\"C\"},\"output\":\"chunks\",\"output_max\":1000}");
	json_t *v = talk_json(t), *again;
	char etag[32], location[64];

	assert_int_equal(t->status, 201);
	assert_string_equal(talk_header(t, "ETag", etag, sizeof etag), "\"1\"");
	assert_true(*talk_header(t, "Location", location, sizeof location));
	assert_int_equal(jint(v, "timeout_ms"), 300000);
	assert_int_equal(jint(v, "threads"), 3);
	assert_string_equal(jstr(json_object_get(v, "env"), "LANG"), "C");
	again = ask_json(w, API_GET, location, NULL, 200);
	assert_true(json_equal(v, again));
	json_decref(again);
	json_decref(v);
	talk_free(t);
	v = ask_json(w, API_PATCH, "/v1/queues/mail", "{\"threads\":null,\"timeout\":null}", 200);
	assert_true(json_is_null(json_object_get(v, "threads")));
	assert_true(json_is_null(json_object_get(v, "timeout_ms")));
	assert_int_equal(jint(v, "version"), 2);
	json_decref(v);
	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"mail\"}", 409));
}

static void test_run_settings(void **state)
{
	struct talk *t;
	json_t *v;

	v = ask_json(w, API_POST, "/v1/queues",
	    "{\"name\":\"q\",\"run\":{\"nice\":5,\"limits\":{\"memory\":\"1G\"}}}", 201);
	assert_int_equal(jint(json_object_get(v, "run"), "nice"), 5);
	json_decref(v);
	t = ask(w, API_PATCH, "/v1/queues/q", "{\"run\":{\"limits\":{\"memroy\":1}}}");
	v = talk_json(t);
	assert_int_equal(t->status, 400);
	assert_string_equal(jstr(v, "field"), "run.limits.memroy");
	assert_string_equal(jstr(v, "hint"), "did you mean \"memory\"?");
	json_decref(v);
	talk_free(t);
	v = ask_json(w, API_PATCH, "/v1/queues/q", "{\"threads\":3}", 200);
	assert_string_equal(
	    jstr(json_object_get(json_object_get(v, "run"), "limits"), "memory"), "1G");
	assert_int_equal(jint(v, "version"), 2);
	json_decref(v);
	v = ask_json(w, API_PATCH, "/v1/queues/q", "{\"run\":{\"process_group\":false}}", 200);
	assert_null(json_object_get(json_object_get(v, "run"), "nice")); /* replaced as a whole */
	json_decref(v);
	v = ask_json(w, API_POST, "/v1/tasks",
	    "{\"queue\":\"q\",\"command\":[\"x\"],\"run\":{\"kill\":{\"to\":\"group\"}}}", 400);
	assert_string_equal(jstr(v, "field"), "run.kill.to");
	json_decref(v);
	v = ask_json(w, API_PATCH, "/v1/queues/q", "{\"run\":null}", 200);
	assert_true(json_is_null(json_object_get(v, "run")));
	json_decref(v);
	json_decref(ask_json(w, API_PATCH, "/v1/queues/q", "{\"run\":[]}", 400));
	json_decref(ask_json(w, API_PATCH, "/v1/queues/q", "{\"run\":1}", 400));
}

static void test_bad_settings(void **state)
{
	static const char *const bad[] = {"{\"threads\":-1}", "{\"threads\":1.5}",
	    "{\"threads\":\"3\"}", "{\"threads\":1000001}", "{\"order\":\"fofo\"}",
	    "{\"max_attempts\":0}", "{\"max_attempts\":1001}", "{\"backoff\":-1}",
	    "{\"timeout\":\"soon\"}", "{\"exit_codes\":1}", "{\"env\":{\"A\":1}}", "{\"env\":[]}",
	    "{\"env\":{\"A=B\":\"1\"}}", "{\"output\":\"some\"}", "{\"output_max\":-1}",
	    "{\"name\":\"\"}", "{\"name\":\"a/b\"}", "{\"name\":\"a\\nb\"}", "{\"name\":\"a,b\"}",
	    "{\"name\":\"655000000a0b0c0d0e000001\"}", "{\"name\":\"x\\u0000y\"}",
	    "{\"name\":\" x\"}", "{\"plugin\":7}", "{\"thread\":1}", "{}",
	    "{\"max_attempts\":123456789012345678901234567890}"};

	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"q\"}", 201));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		json_decref(ask_json(w, API_PATCH, "/v1/queues/q", bad[i], 400));
	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"threads\":1}", 400));
}

static void test_versions(void **state)
{
	struct talk *t;

	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"q\"}", 201));
	for (int i = 0; i < 2; i++) {
		t = talk_new(API_PATCH, "/v1/queues/q", "{\"threads\":1}");
		t->req.if_match = STR("\"1\"");
		talk_send(w, t);
		world_run(w);
		assert_int_equal(t->status, i == 0 ? 200 : 412);
		talk_free(t);
	}
	t = talk_new(API_GET, "/v1/queues/q", NULL);
	t->req.if_none_match = STR("\"7\", W/\"2\"");
	talk_send(w, t);
	assert_int_equal(t->status, 304);
	assert_int_equal(t->body.n, 0);
	talk_free(t);
	t = talk_new(API_DELETE, "/v1/queues/q", NULL);
	t->req.if_match = STR("\"1\"");
	talk_send(w, t);
	world_run(w);
	assert_int_equal(t->status, 412);
	talk_free(t);
}

static void test_pause(void **state)
{
	json_t *v;

	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"q\"}", 201));
	v = ask_json(
	    w, API_POST, "/v1/queues/q/pause", "{\"reason\":\"repairs\",\"until\":\"1h\"}", 200);
	assert_true(json_is_true(json_object_get(v, "paused")));
	assert_string_equal(jstr(v, "pause_reason"), "repairs");
	assert_string_equal(jstr(v, "paused_until"), "2023-11-14T23:13:25.000Z");
	json_decref(v);
	v = ask_json(w, API_POST, "/v1/queues/q/resume", NULL, 200);
	assert_true(json_is_false(json_object_get(v, "paused")));
	assert_true(json_is_null(json_object_get(v, "pause_reason")));
	json_decref(v);
	json_decref(ask_json(
	    w, API_POST, "/v1/queues/q/pause", "{\"until\":\"2001-01-01T00:00:00Z\"}", 400));
	json_decref(ask_json(w, API_POST, "/v1/queues/q/resume", "{\"reason\":\"x\"}", 400));
}

static void test_delete(void **state)
{
	struct talk *t;

	world_submit(w, NULL);
	json_decref(ask_json(w, API_DELETE, "/v1/queues/default", NULL, 409));
	t = ask(w, API_DELETE, "/v1/queues/default?force=true", NULL);
	assert_int_equal(t->status, 204);
	assert_int_equal(t->body.n, 0);
	talk_free(t);
	json_decref(ask_json(w, API_GET, "/v1/queues/default", NULL, 404));
}

static void test_list(void **state)
{
	char body[64];
	json_t *v;

	for (int i = 0; i < 5; i++) {
		snprintf(body, sizeof body, "{\"name\":\"q%d\"}", i);
		json_decref(ask_json(w, API_POST, "/v1/queues", body, 201));
	}
	v = ask_json(w, API_GET, "/v1/queues?limit=3", NULL, 200);
	assert_int_equal(json_array_size(json_object_get(v, "items")), 3);
	snprintf(body, sizeof body, "/v1/queues?limit=3&cursor=%s", jstr(v, "next"));
	json_decref(v);
	v = ask_json(w, API_GET, body, NULL, 200);
	assert_int_equal(json_array_size(json_object_get(v, "items")), 2);
	assert_true(json_is_null(json_object_get(v, "next")));
	json_decref(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_make_and_change, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_run_settings, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_bad_settings, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_versions, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_pause, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_delete, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_list, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
