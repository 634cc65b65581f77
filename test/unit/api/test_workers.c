/* SPDX-License-Identifier: Apache-2.0 */
/* Workers: lists, settings, and forgetting one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"

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
	assert_string_equal(jstr(one, "state"), "connected");
	assert_string_equal(jstr(json_object_get(one, "labels"), "disk"), "ssd");
	assert_int_equal(json_array_size(json_object_get(one, "plugins")), 2);
	assert_int_equal(jint(one, "maxthreads"), 4);
	assert_true(json_is_null(json_object_get(one, "lost_in_ms")));
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/status", NULL, 200);
	assert_int_equal(jint(json_object_get(v, "workers"), "connected"), 1);
	assert_int_equal(jint(json_object_get(v, "threads"), "max"), 4);
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
	assert_int_equal(jint(json_object_get(v, "workers"), "away"), 1);
	assert_int_equal(json_array_size(json_object_get(v, "waiting")), 1);
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
	    cmocka_unit_test_setup_teardown(test_set, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_forget, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
