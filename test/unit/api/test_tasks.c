/* SPDX-License-Identifier: Apache-2.0 */
/* Lists, counts, one task, waiting for it, why it waits, and changing it. */
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

static json_t *get(rid id, const char *more)
{
	char target[128], text[ID_TEXT];

	snprintf(target, sizeof target, "/v1/tasks/%s%s", id_format(world_ids(w), id, text), more);
	return ask_json(w, API_GET, target, NULL, 200);
}

static json_t *post(rid id, const char *verb, const char *body, int status)
{
	char target[128], text[ID_TEXT];

	snprintf(target, sizeof target, "/v1/tasks/%s/%s", id_format(world_ids(w), id, text), verb);
	return ask_json(w, API_POST, target, body, status);
}

static json_t *patch(rid id, const char *body, int status)
{
	char target[128], text[ID_TEXT];

	snprintf(target, sizeof target, "/v1/tasks/%s", id_format(world_ids(w), id, text));
	return ask_json(w, API_PATCH, target, body, status);
}

static size_t count(const char *target)
{
	json_t *v = ask_json(w, API_GET, target, NULL, 200);
	size_t n = json_array_size(json_object_get(v, "items"));

	json_decref(v);
	return n;
}

static void test_pages(void **state)
{
	char target[256];
	json_t *v, *items;
	char *next = NULL;
	size_t seen = 0;

	for (int i = 0; i < 7; i++)
		world_submit(w, NULL);
	do {
		snprintf(target, sizeof target, "/v1/tasks?limit=3%s%s", next ? "&cursor=" : "",
		    next ? next : "");
		v = ask_json(w, API_GET, target, NULL, 200);
		items = json_object_get(v, "items");
		assert_true(json_array_size(items) <= 3);
		seen += json_array_size(items);
		assert_null(json_object_get(json_array_get(items, 0), "command"));
		free(next);
		next = *jstr(v, "next") ? xstrdup(jstr(v, "next")) : NULL;
		json_decref(v);
	} while (next);
	assert_int_equal(seen, 7);
	v = ask_json(w, API_GET, "/v1/tasks?full=true&limit=1&order=asc", NULL, 200);
	assert_non_null(json_object_get(json_array_get(json_object_get(v, "items"), 0), "command"));
	json_decref(v);
}

static void test_filters(void **state)
{
	json_t *v;

	world_submit(w, "{\"command\":[\"x\"],\"labels\":{\"team\":\"a\",\"env\":\"prod\"}}");
	world_submit(w, "{\"command\":[\"x\"],\"labels\":{\"team\":\"b\"},\"status\":-10}");
	assert_int_equal(count("/v1/tasks?label=team=a"), 1);
	assert_int_equal(count("/v1/tasks?label=team=a&label=env=prod"), 1);
	assert_int_equal(count("/v1/tasks?label=team=a&label=env=test"), 0);
	assert_int_equal(count("/v1/tasks?state=queued,held"), 2);
	assert_int_equal(count("/v1/tasks?state=queued&state=-10"), 2);
	assert_int_equal(count("/v1/tasks?state=held"), 1);
	assert_int_equal(count("/v1/tasks?queue=default&since=1h"), 2);
	assert_int_equal(count("/v1/tasks?until=1h"), 0);
	v = ask_json(w, API_GET, "/v1/tasks/summary", NULL, 200);
	assert_int_equal(jint(v, "total"), 2);
	assert_int_equal(jint(v, "done"), 0);
	assert_int_equal(jint(json_object_get(v, "states"), "held"), 1);
	json_decref(v);
}

static void test_bad_queries(void **state)
{
	static const char *const bad[] = {"limit=0", "limit=-1", "limit=1001", "limit=x",
	    "limit=99999999999999999999", "cursor=zz", "state=qeued", "state=", "label=x",
	    "label==v", "since=yesterday", "order=up", "full=maybe", "batch=12", "until=-5"};
	char target[128];

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		snprintf(target, sizeof target, "/v1/tasks?%s", bad[i]);
		json_decref(ask_json(w, API_GET, target, NULL, 400));
	}
	json_decref(ask_json(w, API_GET, "/v1/tasks?queue=none", NULL, 404));
	json_decref(ask_json(w, API_GET, "/v1/tasks?worker=none", NULL, 404));
}

static void check_usage(json_t *task)
{
	json_t *u = json_object_get(task, "usage");

	assert_int_equal(jint(u, "user_ms"), 1200);
	assert_int_equal(jint(u, "system_ms"), 100);
	assert_int_equal(jint(u, "peak_memory"), 45 << 20);
	assert_int_equal(jint(u, "oom_kills"), 1);
}

static void test_life(void **state)
{
	rid id;
	json_t *v, *attempts;

	world_worker(w, "w1", 4);
	id = world_submit(w, "{\"command\":[\"x\"],\"max_attempts\":2,\"backoff\":0}");
	v = get(id, "");
	assert_string_equal(jstr(v, "state"), "claimed");
	assert_string_equal(jstr(v, "worker"), "w1");
	json_decref(v);
	world_started(w, id);
	v = get(id, "");
	assert_string_equal(jstr(v, "state"), "running");
	json_decref(v);
	world_ended(w, id, TASK_FAILED, 3, "bad\xff\n");
	v = get(id, "");
	assert_true(json_is_null(json_object_get(v, "result"))); /* it is not over */
	json_decref(v);
	world_advance(w, 1000);
	world_started(w, id);
	v = get(id, "");
	assert_true(json_is_null(json_object_get(v, "usage")));
	json_decref(v);
	world_ended(w, id, TASK_SUCCEEDED, 0, "fine\n");
	v = get(id, "");
	assert_string_equal(jstr(v, "state"), "succeeded");
	assert_string_equal(jstr(v, "stdout"), "fine\n");
	assert_string_equal(jstr(v, "result"), "fine\n");
	check_usage(v);
	attempts = json_object_get(v, "attempts");
	assert_int_equal(json_array_size(attempts), 2);
	assert_string_equal(jstr(json_array_get(attempts, 0), "state"), "failed");
	assert_int_equal(jint(json_array_get(attempts, 0), "exit_code"), 3);
	assert_int_equal(jint(json_array_get(attempts, 1), "attempt"), 2);
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/tasks", NULL, 200);
	check_usage(json_array_get(json_object_get(v, "items"), 0));
	assert_null(json_object_get(json_array_get(json_object_get(v, "items"), 0), "result"));
	json_decref(v);
}

static void test_wait(void **state)
{
	char target[128], text[ID_TEXT];
	struct talk *t, *u;
	json_t *v;
	rid id;

	world_worker(w, "w1", 4);
	id = world_submit(w, NULL);
	world_started(w, id);
	snprintf(target, sizeof target, "/v1/tasks/%s?wait=30s", id_format(world_ids(w), id, text));
	t = ask(w, API_GET, target, NULL);
	u = ask(w, API_GET, target, NULL);
	assert_int_equal(t->status, 0);
	talk_hang_up(u);
	world_ended(w, id, TASK_SUCCEEDED, 0, NULL);
	assert_int_equal(t->status, 200);
	assert_int_equal(u->status, 0);
	v = talk_json(t);
	assert_string_equal(jstr(v, "state"), "succeeded");
	json_decref(v);
	talk_free(t);
	talk_free(u);
	v = get(id, "?wait=30s"); /* has ended: at once */
	json_decref(v);
	assert_int_equal(world_watches(w), 0);
}

static void test_wait_expires(void **state)
{
	char target[128], text[ID_TEXT];
	struct talk *t;
	rid id = world_submit(w, NULL);

	snprintf(target, sizeof target, "/v1/tasks/%s?wait=2s", id_format(world_ids(w), id, text));
	t = ask(w, API_GET, target, NULL);
	assert_int_equal(t->status, 0);
	world_advance(w, 2000);
	assert_int_equal(t->status, 200);
	talk_free(t);
	snprintf(target, sizeof target, "/v1/tasks/%s?wait=soon", text);
	json_decref(ask_json(w, API_GET, target, NULL, 400));
}

static void test_why(void **state)
{
	rid id = world_submit(w, NULL);
	char target[128], text[ID_TEXT];
	json_t *v, *one;

	snprintf(target, sizeof target, "/v1/tasks/%s/why", id_format(world_ids(w), id, text));
	v = ask_json(w, API_GET, target, NULL, 200);
	assert_true(strlen(jstr(v, "summary")) > 0);
	assert_true(json_array_size(json_object_get(v, "reasons")) > 0);
	one = json_array_get(json_object_get(v, "reasons"), 0);
	assert_true(strlen(jstr(one, "code")) > 0 && strlen(jstr(one, "text")) > 0);
	json_decref(v);
}

/* What stands first is said in words; the others are at least counted. */
static void test_why_sums_up(void **state)
{
	char target[128], wanted[512];
	json_t *v, *reasons;

	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"q\",\"threads\":0}", 201));
	json_decref(ask_json(w, API_POST, "/v1/queues/q/pause", "{\"reason\":\"audit\"}", 200));
	v = ask_json(w, API_POST, "/v1/tasks",
	    "{\"command\":[\"true\"],\"queue\":\"q\",\"run_after\":\"1h\"}", 201);
	snprintf(target, sizeof target, "/v1/tasks/%s/why", jstr(v, "id"));
	json_decref(v);
	v = ask_json(w, API_GET, target, NULL, 200);
	reasons = json_object_get(v, "reasons");
	assert_true(json_array_size(reasons) >= 3);
	snprintf(wanted, sizeof wanted, "%s (and %zu more)",
	    jstr(json_array_get(reasons, 0), "text"), json_array_size(reasons) - 1);
	assert_string_equal(jstr(v, "summary"), wanted);
	json_decref(v);
}

static void test_change(void **state)
{
	rid id = world_submit(w, NULL);
	json_t *v = patch(id, "{\"priority\":9}", 200);

	assert_int_equal(jint(v, "priority"), 9);
	json_decref(v);
	v = patch(id, "{\"status\":-10,\"reason\":\"later\"}", 200);
	assert_string_equal(jstr(v, "state"), "held");
	json_decref(v);
	v = patch(id, "{\"status\":-2}", 200);
	assert_string_equal(jstr(v, "state"), "queued");
	json_decref(v);
	json_decref(patch(id, "{\"status\":1}", 400));
	json_decref(patch(id, "{}", 400));
	json_decref(patch(id, "{\"priority\":1.5}", 400));
	json_decref(patch(id, "{\"priority\":1000001}", 400));
	v = post(id, "cancel", "{\"reason\":\"not wanted\"}", 200);
	assert_string_equal(jstr(v, "state"), "cancelled");
	assert_string_equal(jstr(v, "reason"), "not wanted");
	json_decref(v);
	json_decref(post(id, "cancel", NULL, 409));
	json_decref(patch(id, "{\"priority\":1}", 409));
	v = post(id, "retry", NULL, 200);
	assert_string_equal(jstr(v, "state"), "queued");
	json_decref(v);
	json_decref(post(id, "retry", NULL, 409));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_pages, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_filters, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_bad_queries, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_life, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_wait, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_wait_expires, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_why, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_why_sums_up, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_change, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
