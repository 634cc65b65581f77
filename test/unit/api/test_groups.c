/* SPDX-License-Identifier: Apache-2.0 */
/* Groups: what is taken, what is refused and how that is said, and what is told about them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/group/view.h"
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

#define TRUE "\"command\":[\"true\"]"
#define TWO "{\"name\":\"a\"," TRUE "},{\"name\":\"b\"," TRUE ",\"needs\":[\"a\"]}"

static json_t *make(const char *members)
{
	char body[2048];

	snprintf(body, sizeof body, "{%s}", members);
	return ask_json(w, API_POST, "/v1/groups", body, 201);
}

static enum group_state state_of(const char *name)
{
	struct group_view v;

	assert_true(
	    core_group(world_core(w), core_find(world_core(w), KIND_GROUP, str_of(name)), &v));
	return v.row->state;
}

static void test_is_taken_whole(void **state)
{
	json_t *v = make("\"name\":\"two\",\"policy\":\"fail-now\",\"jobs\":[" TWO "]");
	json_t *again = ask_json(w, API_GET, "/v1/groups/two", NULL, 200);

	assert_int_equal(jint(v, "jobs"), 2);
	assert_int_equal(jint(v, "edges"), 1);
	assert_string_equal(jstr(v, "policy"), "fail-now");
	assert_string_equal(jstr(again, "id"), jstr(v, "id"));
	assert_true(core_find(world_core(w), KIND_QUEUE, STR("default")));
	json_decref(again);
	json_decref(v);
}

static const struct {
	const char *body;
	int status;
	const char *words;
} refusals[] = {
    {"{\"jobs\":[\n{\"name\":\"a\"," TRUE "},\n{\"name\":\"b\",\"needs\":[\"z\"]}]}", 400,
        "line 3: b: it needs z"},
    {"{\"jobs\":[\n{\"name\":\"a\",\"command\":[\"x\"],\"timeout\":[]}]}", 400, "line 2: a:"},
    {"{\"jobs\":[\n{\"name\":\"a\",\"params\":{}}]}", 400, "line 2: a: the task has no"},
    {"{\"jobs\":[{\"name\":\"a\"," TRUE ",\"queue\":\"q\"}]}", 404, "there is no queue \"q\""},
    {"{\"jobs\":[" TWO "],\"name\":\"0123456789abcdef01234567\"}", 400, "not a usable name"},
    {"{\"jobs\":[" TWO "],\"policy\":7}", 400, "policy"},
    {"{\"jobs\":[" TWO "],\"jobs\":[]}", 400, "jobs is there twice"},
    {"{\"packages\":[],\"job\":{\"key\":\"k\"}}", 400, "not a job's to say"},
    {"{\"packages\":[],\"graph\":\"g\"}", 400, "in place of"},
    {"", 400, "holds no group"},
};

static void test_what_is_wrong(void **state)
{
	for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		json_t *v =
		    ask_json(w, API_POST, "/v1/groups", refusals[i].body, refusals[i].status);

		if (!strstr(jstr(v, "detail"), refusals[i].words))
			fail_msg("%s: %s", refusals[i].body, jstr(v, "detail"));
		json_decref(v);
	}
	assert_int_equal(core_count(world_core(w), KIND_GROUP), 0);
}

static void test_name_is_taken(void **state)
{
	json_decref(make("\"name\":\"n\",\"jobs\":[]"));
	json_decref(ask_json(w, API_POST, "/v1/groups", "{\"name\":\"n\",\"jobs\":[]}", 409));
}

static void test_ends(void **state)
{
	json_t *v = make("\"name\":\"n\",\"jobs\":[" TWO "]"), *why;

	json_decref(ask_json(w, API_DELETE, "/v1/groups/n", NULL, 409));
	why = ask_json(w, API_GET, "/v1/groups/n/why", NULL, 200);
	assert_true(json_array_size(json_object_get(why, "reasons")) > 0);
	json_decref(ask_json(w, API_POST, "/v1/groups/n/cancel", "{\"reason\":\"r\"}", 200));
	world_run(w);
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/groups/n", NULL, 200);
	assert_string_equal(jstr(v, "state"), "canceled");
	assert_string_equal(jstr(v, "reason"), "r");
	json_decref(ask_json(w, API_POST, "/v1/groups/n/cancel", NULL, 409));
	json_decref(why);
	json_decref(v);
}

static void test_a_job_is_failed(void **state)
{
	json_t *v = make("\"name\":\"n\",\"jobs\":[" TWO "]");

	json_decref(v);
	json_decref(ask_json(w, API_POST, "/v1/groups/n/fail", "{\"job\":\"a\"}", 400));
	json_decref(ask_json(w, API_POST, "/v1/groups/n/fail", "{\"reason\":\"r\"}", 400));
	json_decref(
	    ask_json(w, API_POST, "/v1/groups/n/fail", "{\"job\":\"x\",\"reason\":\"r\"}", 404));
	v = ask_json(
	    w, API_POST, "/v1/groups/n/fail", "{\"job\":\"a\",\"reason\":\"disconnected\"}", 200);
	assert_string_equal(jstr(v, "state"), "job-failed");
	assert_string_equal(jstr(v, "reason"), "disconnected");
	json_decref(v);
	v = ask_json(w, API_POST, "/v1/groups/n/fail", "{\"job\":\"a\",\"reason\":\"again\"}", 409);
	assert_non_null(strstr(jstr(v, "detail"), "ended already"));
	json_decref(v);
	world_run(w);
	assert_int_equal(state_of("n"), GROUP_FAILED);
}

static rid job_task(const char *group, const char *job)
{
	char path[128];
	json_t *v;
	rid id;

	snprintf(path, sizeof path, "/v1/groups/%s/jobs/%s", group, job);
	v = ask_json(w, API_GET, path, NULL, 200);
	assert_true(id_parse(world_ids(w), str_of(jstr(v, "task")), &id));
	json_decref(v);
	return id;
}

static void test_jobs(void **state)
{
	json_t *v = make("\"name\":\"n\",\"jobs\":[" TWO "]"), *one, *items;

	json_decref(v);
	v = ask_json(w, API_GET, "/v1/groups/n/jobs", NULL, 200);
	items = json_object_get(v, "items");
	assert_int_equal(json_array_size(items), 2);
	one = json_array_get(json_object_get(json_array_get(items, 1), "needs"), 0);
	assert_string_equal(jstr(one, "job"), "a");
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/groups/n/jobs/a", NULL, 200);
	one = json_array_get(json_object_get(v, "dependents"), 0);
	assert_string_equal(jstr(one, "job"), "b");
	json_decref(v);
	json_decref(ask_json(w, API_GET, "/v1/groups/n/jobs/z", NULL, 404));
	v = ask_json(w, API_GET, "/v1/groups/n/jobs?name=b&limit=1", NULL, 200);
	assert_int_equal(json_array_size(json_object_get(v, "items")), 1);
	json_decref(v);
}

/* The graph is written in pieces, and only as fast as it is taken. */
static void test_graph(void **state)
{
	struct talk *t;
	json_t *v;

	json_decref(make("\"name\":\"n\",\"jobs\":[" TWO "]"));
	t = talk_new(API_GET, "/v1/groups/n/graph", NULL);
	t->pending = 1;
	talk_send(w, t);
	world_run(w);
	assert_true(t->streaming && !t->ended && t->drain);
	t->pending = 0;
	t->drain(t->drain_arg);
	world_run(w);
	assert_true(t->ended);
	v = talk_json(t);
	assert_string_equal(jstr(v, "states"), "es");
	assert_int_equal(json_array_size(json_object_get(v, "names")), 2);
	assert_int_equal(json_array_size(json_object_get(v, "needs")), 1);
	json_decref(v);
	talk_free(t);
	t = talk_new(API_GET, "/v1/groups/n/graph", NULL);
	t->pending = 1;
	talk_send(w, t);
	world_run(w);
	talk_hang_up(t);
	world_run(w);
	talk_free(t);
}

static void test_stream(void **state)
{
	struct talk *t;

	world_worker(w, "w", 4);
	json_decref(make("\"name\":\"n\",\"jobs\":[" TWO "]"));
	t = talk_new(API_GET, "/v1/groups/n/stream", NULL);
	talk_send(w, t);
	world_run(w);
	assert_non_null(strstr(t->body.p, "event: group\n"));
	world_ended(w, job_task("n", "a"), TASK_FAILED, 1, "");
	world_run(w);
	world_advance(w, 1000);
	assert_non_null(strstr(t->body.p, "[0,\"f\","));
	assert_non_null(strstr(t->body.p, "[1,\"x\","));
	assert_non_null(strstr(t->body.p, "event: end\n"));
	assert_true(t->ended);
	talk_free(t);
}

/* The brain knows of an end before the store does: nobody hears of one that a crash takes back. */
static void test_end_is_told_when_it_is_durable(void **state)
{
	static const char *const looks[] = {
	    "/v1/groups/n", "/v1/groups?name=n", "/v1/groups/n/why", "/v1/groups/n/stream"};
	struct talk *cancel = talk_new(API_POST, "/v1/groups/n/cancel", "{}"), *t[4];

	json_decref(make("\"name\":\"n\",\"jobs\":[" TWO "]"));
	world_advance(w, 1000);
	talk_send(w, cancel);
	for (int i = 0; i < 4; i++)
		talk_send(w, t[i] = talk_new(API_GET, looks[i], NULL));
	assert_true(group_is_ended(state_of("n")));
	for (int i = 0; i < 4; i++)
		assert_int_equal(t[i]->status, 0);
	world_run(w);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(t[i]->status, 200);
		assert_non_null(strstr(t[i]->body.p, "\"canceled\""));
		talk_free(t[i]);
	}
	assert_int_equal(cancel->status, 200);
	talk_free(cancel);
}

/* A long group takes a while to be written; meanwhile nobody is told that it is damaged. */
static void test_coming_is_told_when_it_is_durable(void **state)
{
	static const char *const looks[] = {"/v1/groups/n", "/v1/groups?name=n", "/v1/groups/n/why",
	    "/v1/groups/n/jobs", "/v1/groups/n/jobs/a"};
	struct talk *submit =
	                talk_new(API_POST, "/v1/groups", "{\"name\":\"n\",\"jobs\":[" TWO "]}"),
	            *t[5];

	talk_send(w, submit);
	while (!core_find(world_core(w), KIND_GROUP, STR("n")))
		assert_true(world_job_once(w) || world_commit_once(w));
	for (int i = 0; i < 5; i++)
		talk_send(w, t[i] = talk_new(API_GET, looks[i], NULL));
	assert_int_equal(submit->status, 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(t[i]->status, 0);
	world_run(w);
	assert_int_equal(submit->status, 201);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(t[i]->status, 200);
		talk_free(t[i]);
	}
	talk_free(submit);
}

/* What a schedule has triggered is no news before its row is in the store. */
static void test_a_trigger_is_told_when_it_is_durable(void **state)
{
	struct talk *run = talk_new(API_POST, "/v1/schedules/s/run", "{}"), *list;

	json_decref(ask_json(w, API_POST, "/v1/schedules",
	    "{\"name\":\"s\",\"crontab\":\"0 3 * * "
	    "*\",\"time_zone\":\"UTC\",\"max_shift\":\"1h\",\"group\":{\"jobs\":[]}}",
	    201));
	talk_send(w, run);
	talk_send(w, list = talk_new(API_GET, "/v1/groups", NULL));
	assert_int_equal(run->status, 0);
	assert_int_equal(list->status, 0);
	world_run(w);
	assert_int_equal(run->status, 201);
	assert_int_equal(list->status, 200);
	assert_non_null(strstr(list->body.p, "\"schedule\":\"s\""));
	talk_free(list);
	talk_free(run);
}

/* Where the past is forgotten the stream ends; whoever leaves leaves nothing. */
static void test_stream_ends(void **state)
{
	struct talk *t;

	json_decref(make("\"name\":\"n\",\"jobs\":[" TWO "]"));
	world_forget_past(w);
	t = ask(w, API_GET, "/v1/groups/n/stream?after=1", NULL);
	assert_true(t->ended);
	talk_free(t);
	t = talk_new(API_GET, "/v1/groups/n/stream", NULL);
	talk_send(w, t);
	world_run(w);
	assert_int_equal(world_watches(w), 1);
	talk_hang_up(t);
	world_run(w);
	assert_int_equal(world_watches(w), 0);
	talk_free(t);
	t = ask(w, API_GET, "/v1/groups/n/stream?after=x", NULL);
	assert_int_equal(t->status, 400);
	talk_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_is_taken_whole, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_what_is_wrong, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_name_is_taken, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_ends, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_a_job_is_failed, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_jobs, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_graph, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_stream, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_end_is_told_when_it_is_durable, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        test_coming_is_told_when_it_is_durable, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        test_a_trigger_is_told_when_it_is_durable, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_stream_ends, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
