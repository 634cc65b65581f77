/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules of groups: what is taken and refused, and that each tick's group gets its jobs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
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

#define WHEN "\"items\":{\"epoch\":{\"period\":60}},\"max_shift\":\"10m\","
#define JOBS                                                                                    \
	"{\"jobs\":[{\"name\":\"a\",\"command\":[\"true\"]},{\"name\":\"b\",\"needs\":[\"a\"]," \
	"\"command\":[\"true\"]}]}"

static json_t *make(const char *name, const char *group, int status)
{
	char body[4096];

	snprintf(body, sizeof body, "{\"name\":\"%s\"," WHEN "\"group\":%s}", name, group);
	return ask_json(w, API_POST, "/v1/schedules", body, status);
}

static json_t *item(json_t *list, size_t i)
{
	return json_array_get(json_object_get(list, "items"), i);
}

static size_t count(json_t *v, const char *key)
{
	return json_array_size(json_object_get(v, key));
}

static void assert_refused(const char *group, int status, const char *says)
{
	json_t *v = make("night", group, status);

	if (!strstr(jstr(v, "detail"), says))
		fail_msg("\"%s\" does not say \"%s\"", jstr(v, "detail"), says);
	json_decref(v);
}

static void test_made_and_fired(void **state)
{
	json_t *v = make("night", JOBS, 201), *groups, *jobs, *ticks;
	char path[128];

	assert_true(json_is_null(json_object_get(v, "task")));
	assert_int_equal(count(json_object_get(v, "group"), "jobs"), 2);
	json_decref(v);
	world_advance(w, 60000);
	groups = ask_json(w, API_GET, "/v1/groups?schedule=night", NULL, 200);
	assert_int_equal(count(groups, "items"), 1);
	v = item(groups, 0);
	assert_string_equal(jstr(v, "schedule"), "night");
	assert_int_equal(jint(v, "jobs"), 2);
	assert_string_not_equal(jstr(v, "state"), "triggered");
	snprintf(path, sizeof path, "/v1/groups/%s/jobs", jstr(v, "id"));
	jobs = ask_json(w, API_GET, path, NULL, 200);
	assert_int_equal(count(jobs, "items"), 2);
	ticks = ask_json(w, API_GET, "/v1/schedules/night/history", NULL, 200);
	assert_string_equal(jstr(item(ticks, 0), "group"), jstr(v, "id"));
	assert_string_equal(jstr(item(ticks, 0), "tick"), jstr(v, "tick"));
	assert_true(json_is_null(json_object_get(item(ticks, 0), "task")));
	json_decref(ticks);
	json_decref(jobs);
	json_decref(groups);
	v = ask_json(w, API_GET, "/v1/schedules/night", NULL, 200);
	assert_int_equal(jint(v, "live"), 1);
	assert_true(json_is_null(json_object_get(json_object_get(v, "last"), "task")));
	json_decref(v);
	/* the group is in the way of the next tick */
	world_advance(w, 60000);
	ticks = ask_json(w, API_GET, "/v1/schedules/night/history", NULL, 200);
	assert_string_equal(jstr(item(ticks, 0), "outcome"), "skipped");
	assert_non_null(strstr(jstr(item(ticks, 0), "reason"), "group "));
	json_decref(ticks);
}

/* A file is kept as it was written, so that errors name its lines. */
static void test_a_text(void **state)
{
	json_t *v = make("night", "\"jobs:\\n- name: a\\n  command: [\\\"true\\\"]\\n\"", 201);

	assert_string_equal(jstr(v, "group"), "jobs:\n- name: a\n  command: [\"true\"]\n");
	json_decref(v);
	v = ask_json(w, API_POST, "/v1/schedules/night/run", NULL, 201);
	assert_int_equal(count(v, "tasks"), 0);
	assert_int_equal(count(v, "groups"), 1);
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/groups", NULL, 200);
	assert_int_equal(jint(item(v, 0), "jobs"), 1);
	assert_true(json_is_null(json_object_get(item(v, 0), "tick")));
	json_decref(v);
}

static void test_refused(void **state)
{
	char *long_text = calloc(1, 70000);
	char *body = calloc(1, 80000);
	json_t *v;

	assert_refused("17", 400, "neither an object nor a text");
	assert_refused("{\"jobs\":[{\"name\":\"a\",\"needs\":[\"b\"],\"command\":[\"x\"]}]}", 400,
	    "there is no job of that name");
	assert_refused("\"jobs:\\n- name: a\\n  oops: 1\\n\"", 400, "line 3");
	assert_refused("{\"name\":\"x\",\"jobs\":[]}", 400, "no \"name\"");
	assert_refused("{\"graph\":\"core\",\"job\":{\"command\":[\"x\"]}}", 404, "core");
	assert_refused("{\"jobs\":[{\"name\":\"a\",\"queue\":\"nowhere\",\"command\":[\"x\"]}]}",
	    404, "nowhere");
	memset(long_text, ' ', 69999);
	snprintf(body, 80000, "{\"name\":\"n\"," WHEN "\"group\":\"%s\"}", long_text);
	v = ask_json(w, API_POST, "/v1/schedules", body, 413);
	json_decref(v);
	v = ask_json(w, API_POST, "/v1/schedules",
	    "{\"name\":\"n\"," WHEN "\"group\":" JOBS ",\"task\":{\"command\":[\"x\"]}}", 400);
	json_decref(v);
	v = ask_json(w, API_POST, "/v1/schedules",
	    "{\"name\":\"n\"," WHEN "\"group\":" JOBS ",\"jitter\":\"5s\"}", 400);
	json_decref(v);
	v = ask_json(
	    w, API_POST, "/v1/schedules", "{\"name\":\"n\"," WHEN "\"missed\":\"all\"}", 400);
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/schedules", NULL, 200);
	assert_int_equal(count(v, "items"), 0);
	json_decref(v);
	free(long_text);
	free(body);
}

static void test_changed(void **state)
{
	json_decref(make("night", JOBS, 201));
	json_decref(
	    ask_json(w, API_PATCH, "/v1/schedules/night", "{\"task\":{\"command\":[\"x\"]}}", 409));
	json_decref(ask_json(w, API_PATCH, "/v1/schedules/night",
	    "{\"group\":{\"jobs\":[{\"name\":\"one\",\"command\":[\"true\"]}]}}", 200));
	world_advance(w, 60000);
	json_t *v = ask_json(w, API_GET, "/v1/groups", NULL, 200);

	assert_int_equal(jint(item(v, 0), "jobs"), 1);
	json_decref(v);
}

/* What was there when the schedule was made may be gone when its tick comes. */
static void test_cannot_be_drafted(void **state)
{
	json_t *v;

	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"builds\"}", 201));
	json_decref(make("night",
	    "{\"queue\":\"builds\",\"jobs\":[{\"name\":\"a\",\"command\":[\"true\"]}]}", 201));
	json_decref(ask_json(w, API_DELETE, "/v1/queues/builds", NULL, 204));
	world_advance(w, 60000);
	v = ask_json(w, API_GET, "/v1/groups", NULL, 200);
	assert_string_equal(jstr(item(v, 0), "state"), "failed");
	assert_non_null(strstr(jstr(item(v, 0), "reason"), "builds"));
	json_decref(v);
}

static void test_a_graph(void **state)
{
	json_t *v;

	json_decref(ask_json(w, API_PUT, "/v1/graphs/core/packages",
	    "{\"packages\":[{\"ident\":\"o/a/1/1\"},{\"ident\":\"o/b/1/"
	    "1\",\"build\":[\"o/a\"]}]}",
	    201));
	assert_refused("{\"graph\":\"core\",\"touched\":[\"o/a\"]}", 400, "how a package is built");
	json_decref(make("night",
	    "{\"graph\":\"core\",\"touched\":[\"o/a\"],\"job\":{\"command\":[\"make\","
	    "\"{package}\"]}}",
	    201));
	world_advance(w, 60000);
	v = ask_json(w, API_GET, "/v1/groups", NULL, 200);
	assert_int_equal(jint(item(v, 0), "jobs"), 2);
	json_decref(v);
	json_decref(ask_json(w, API_DELETE, "/v1/graphs/core", NULL, 204));
	json_decref(ask_json(w, API_POST, "/v1/schedules/night/run", NULL, 201));
	v = ask_json(w, API_GET, "/v1/groups?state=failed", NULL, 200);
	assert_int_equal(count(v, "items"), 1);
	assert_non_null(strstr(jstr(item(v, 0), "reason"), "core"));
	json_decref(v);
}

/* Some of many: one is drafted after the other, and each of them is. */
static void test_many(void **state)
{
	json_t *v;
	char body[512];

	snprintf(body, sizeof body, "{\"name\":\"all\"," WHEN "\"overlap\":\"allow\",\"group\":%s}",
	    JOBS);
	json_decref(ask_json(w, API_POST, "/v1/schedules", body, 201));
	v = ask_json(w, API_POST, "/v1/schedules/all/backfill", "{\"from\":\"10m\"}", 200);
	assert_int_equal(count(v, "groups"), 10);
	json_decref(v);
	world_advance(w, 1);
	v = ask_json(w, API_GET, "/v1/groups?state=triggered", NULL, 200);
	assert_int_equal(count(v, "items"), 0);
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/groups?schedule=all", NULL, 200);
	assert_int_equal(count(v, "items"), 10);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(jint(item(v, i), "jobs"), 2);
	json_decref(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	    T(test_made_and_fired),
	    T(test_a_text),
	    T(test_refused),
	    T(test_changed),
	    T(test_cannot_be_drafted),
	    T(test_a_graph),
	    T(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
