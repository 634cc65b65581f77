/* SPDX-License-Identifier: Apache-2.0 */
/* Workers: lists, settings, and forgetting one. */
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

static void test_show(void **state)
{
	json_t *v, *one;

	world_worker(w, "w1", 4);
	v = ask_json(w, API_GET, "/v1/workers", NULL, 200);
	assert_int_equal(json_array_size(json_object_get(v, "items")), 1);
	one = json_array_get(json_object_get(v, "items"), 0);
	assert_string_equal(jstr(one, "name"), "w1");
	assert_string_equal(jstr(one, "state"), "healthy");
	assert_true(json_is_true(json_object_get(one, "connected")));
	assert_true(json_is_null(json_object_get(one, "why_unhealthy")));
	assert_int_equal(jint(one, "unsure"), 0);
	assert_int_equal(jint(one, "check_age_ms"), 0);
	assert_true(jint(json_object_get(one, "set"), "joined") > 0);
	assert_true(json_is_false(json_object_get(json_object_get(one, "set"), "batched")));
	assert_string_equal(jstr(json_object_get(one, "labels"), "disk"), "ssd");
	assert_int_equal(json_array_size(json_object_get(one, "plugins")), 2);
	assert_int_equal(jint(one, "maxthreads"), 4);
	assert_true(json_is_null(json_object_get(one, "lost_in_ms")));
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/status", NULL, 200);
	assert_int_equal(jint(json_object_get(v, "workers"), "connected"), 1);
	assert_int_equal(jint(json_object_get(v, "workers"), "healthy"), 1);
	assert_int_equal(jint(json_object_get(v, "threads"), "max"), 4);
	assert_string_equal(jstr(v, "dispatch"), "durable");
	one = json_object_get(v, "worker_set");
	assert_string_equal(jstr(one, "server"), "0000000000abcdef");
	assert_int_equal(strlen(jstr(one, "hash")), 32);
	assert_int_equal(jint(one, "workers"), 1);
	assert_true(json_is_false(json_object_get(one, "waiting")));
	assert_int_equal(json_array_size(json_object_get(v, "waiting")), 0);
	json_decref(v);
}

static size_t count_in(const char *target)
{
	json_t *v = ask_json(w, API_GET, target, NULL, 200);
	size_t n = json_array_size(json_object_get(v, "items"));

	json_decref(v);
	return n;
}

/* One that speaks but cannot start anything gets nothing to do, and says why. */
static void test_unhealthy(void **state)
{
	json_t *v;

	world_checks_fail(w, "fork: no memory");
	world_worker(w, "w1", 4);
	v = ask_json(w, API_GET, "/v1/workers/w1", NULL, 200);
	assert_string_equal(jstr(v, "state"), "unhealthy");
	assert_string_equal(jstr(v, "own_state"), "new"); /* it has not beaten yet */
	assert_string_equal(
	    jstr(v, "why_unhealthy"), "its last healthcheck failed: fork: no memory");
	assert_true(json_is_null(json_object_get(v, "check_age_ms")));
	assert_int_equal(jint(v, "lost_in_ms"), 575001);
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/status", NULL, 200);
	assert_int_equal(jint(json_object_get(v, "workers"), "unhealthy"), 1);
	assert_int_equal(jint(json_object_get(v, "threads"), "max"), 0);
	json_decref(v);
	assert_int_equal(count_in("/v1/workers?state=unhealthy"), 1);
	assert_int_equal(count_in("/v1/workers?state=new,unhealthy&state=healthy"), 1);
	assert_int_equal(count_in("/v1/workers?state=healthy"), 0);
	v = ask_json(w, API_GET, "/v1/workers?state=helthy", NULL, 400);
	assert_non_null(strstr(jstr(v, "hint"), "did you mean \"healthy\"?"));
	json_decref(v);
	json_decref(ask_json(w, API_GET, "/v1/workers?state=connected", NULL, 400));
}

static void test_lost(void **state)
{
	json_t *v;

	world_worker(w, "w1", 4);
	world_worker_leaves(w);
	world_advance(w, 75001);
	v = ask_json(w, API_GET, "/v1/workers/w1", NULL, 200);
	assert_string_equal(jstr(v, "state"), "unhealthy");
	assert_true(json_is_false(json_object_get(v, "connected")));
	assert_non_null(strstr(jstr(v, "why_unhealthy"), "it has been silent for 1m"));
	json_decref(v);
	world_advance(w, 500001);
	v = ask_json(w, API_GET, "/v1/workers/w1", NULL, 200);
	assert_string_equal(jstr(v, "state"), "must_die");
	assert_non_null(strstr(jstr(v, "why_unhealthy"), "it is lost"));
	assert_true(json_is_null(json_object_get(v, "lost_in_ms")));
	json_decref(v);
}

static void test_stop(void **state)
{
	struct talk *t;

	world_worker(w, "w1", 4);
	t = talk_new(API_POST, "/v1/workers/w1/stop", NULL);
	t->req.if_match = STR("\"99\"");
	talk_send(w, t);
	world_run(w);
	assert_int_equal(t->status, 412);
	talk_free(t);
	json_decref(ask_json(w, API_POST, "/v1/workers/w1/stop", NULL, 200));
	json_decref(ask_json(w, API_POST, "/v1/workers/none/restart", NULL, 404));
	world_worker_leaves(w);
	json_decref(ask_json(w, API_POST, "/v1/workers/w1/stop", NULL, 409));
	json_decref(ask_json(w, API_POST, "/v1/workers/w1/restart", NULL, 409));
}

static void test_drain(void **state)
{
	json_t *v;

	world_worker(w, "w1", 4);
	v = ask_json(w, API_POST, "/v1/workers/w1/drain", "{\"reason\":\"new disk\"}", 200);
	assert_true(json_is_true(json_object_get(v, "drained")));
	assert_string_equal(jstr(v, "drain_reason"), "new disk");
	json_decref(v);
	json_decref(ask_json(w, API_POST, "/v1/workers/w1/drain", "{\"until\":\"1h\"}", 400));
	world_worker_leaves(w);
	v = ask_json(w, API_POST, "/v1/workers/w1/drain", NULL, 200);
	assert_string_equal(jstr(v, "drain_reason"), "new disk"); /* said again: it stays */
	json_decref(v);
	v = ask_json(w, API_POST, "/v1/workers/w1/drain", "{\"reason\":\"new fan\"}", 200);
	assert_string_equal(jstr(v, "drain_reason"), "new fan");
	json_decref(v);
	v = ask_json(w, API_POST, "/v1/workers/w1/undrain", NULL, 200);
	assert_true(json_is_false(json_object_get(v, "drained")));
	assert_true(json_is_null(json_object_get(v, "drain_reason")));
	json_decref(v);
	json_decref(ask_json(w, API_POST, "/v1/workers/none/drain", NULL, 404));
}

static bool is_unsure(rid id)
{
	char target[64] = "/v1/tasks/";
	json_t *v;
	bool yes;

	id_format(world_ids(w), id, target + strlen(target));
	v = ask_json(w, API_GET, target, NULL, 200);
	yes = json_is_true(json_object_get(v, "unsure"));
	json_decref(v);
	return yes;
}

/* Ordered, and then silence: it counts as running until somebody knows. */
static void test_unsure(void **state)
{
	json_t *v;
	rid id;

	world_worker(w, "w1", 4);
	id = world_submit(w, NULL);
	assert_false(is_unsure(id));
	world_advance(w, 4001);
	assert_true(is_unsure(id));
	v = ask_json(w, API_GET, "/v1/workers/w1", NULL, 200);
	assert_int_equal(jint(v, "unsure"), 1);
	assert_int_equal(jint(v, "running"), 1);
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/status", NULL, 200);
	assert_int_equal(jint(json_object_get(v, "tasks"), "unsure"), 1);
	assert_true(json_array_size(json_object_get(v, "waiting")) > 0);
	json_decref(v);
	world_started(w, id);
	assert_false(is_unsure(id));
}

/* After a volatile server nobody knows what the workers run: it says how long it waits. */
static void test_initial_wait(void **state)
{
	struct core_options o = {.server = 1, .is_volatile = true};
	struct meta_row m = {.name = STR("volatile"), .value = STR("1 open")};
	json_t *v, *first;

	world_free(w);
	w = world_new_with(&o);
	world_load_meta(w, &m);
	world_open(w);
	world_submit(w, NULL);
	v = ask_json(w, API_GET, "/v1/status", NULL, 200);
	assert_true(json_is_true(json_object_get(json_object_get(v, "worker_set"), "waiting")));
	assert_true(jint(json_object_get(v, "worker_set"), "ends_in_ms") > 0);
	first = json_array_get(json_object_get(v, "waiting"), 0);
	assert_string_equal(jstr(first, "code"), "initial-wait");
	assert_true(jint(first, "in_ms") > 0);
	assert_non_null(strstr(jstr(first, "until"), "T"));
	assert_true(json_is_null(json_object_get(first, "worker")));
	assert_true(strlen(jstr(first, "text")) > 10);
	json_decref(v);
}

static void test_set(void **state)
{
	json_t *v;

	world_worker(w, "w1", 4);
	v = ask_json(w, API_PATCH, "/v1/workers/w1", "{\"maxthreads\":2}", 200);
	assert_int_equal(jint(v, "maxthreads"), 2);
	assert_true(json_is_true(json_object_get(v, "maxthreads_set")));
	json_decref(v);
	v = ask_json(w, API_PATCH, "/v1/workers/w1", "{\"maxthreads\":null}", 200);
	assert_true(json_is_null(json_object_get(v, "maxthreads")));
	json_decref(v);
	v = ask_json(w, API_PATCH, "/v1/workers/w1", "{\"maxthreads\":\"worker\"}", 200);
	assert_int_equal(jint(v, "maxthreads"), 4);
	json_decref(v);
	json_decref(ask_json(w, API_PATCH, "/v1/workers/w1", "{\"maxthreads\":\"x\"}", 400));
	json_decref(ask_json(w, API_PATCH, "/v1/workers/w1", "{\"maxthreads\":-1}", 400));
	json_decref(ask_json(w, API_PATCH, "/v1/workers/w1", "{}", 400));
	v = ask_json(w, API_GET, "/v1/workers/w2", NULL, 404);
	assert_non_null(strstr(jstr(v, "hint"), "did you mean \"w1\"?"));
	json_decref(v);
}

static void test_forget(void **state)
{
	struct talk *t;
	json_t *v;

	world_worker(w, "w1", 4);
	json_decref(ask_json(w, API_DELETE, "/v1/workers/w1", NULL, 409));
	world_worker_leaves(w);
	v = ask_json(w, API_GET, "/v1/status", NULL, 200);
	assert_int_equal(jint(json_object_get(v, "workers"), "connected"), 0);
	json_decref(v);
	t = ask(w, API_DELETE, "/v1/workers/w1?lost=true", NULL);
	assert_int_equal(t->status, 204);
	talk_free(t);
	json_decref(ask_json(w, API_GET, "/v1/workers/w1", NULL, 404));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_show, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_unhealthy, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_lost, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_stop, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_drain, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_unsure, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_initial_wait, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_set, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_forget, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
