/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens with limits: no way leads around them. Two queues; the token has one, and a label or not.
 */
#include "tokens.h"

static char mine[ID_TEXT], theirs[ID_TEXT], unlabelled[ID_TEXT];
static struct bearer queue_token, label_token;

static void submit(const char *queue, const char *labels, char out[ID_TEXT])
{
	char body[256];
	json_t *task;

	snprintf(body, sizeof body,
	    "{\"queue\":\"%s\",\"command\":[\"x\"],\"labels\":%s,\"status\":-10}", queue, labels);
	task = ask_json(w, API_POST, "/v1/tasks", body, 201);
	snprintf(out, ID_TEXT, "%s", jstr(task, "id"));
	json_decref(task);
}

static void make_schedule(const char *name, const char *queue)
{
	char body[256];

	snprintf(body, sizeof body,
	    "{\"name\":\"%s\",\"items\":[{\"epoch\":{\"period\":3600}}],\"max_shift\":\"1h\","
	    "\"task\":{\"queue\":\"%s\",\"command\":[\"x\"]}}",
	    name, queue);
	json_decref(ask_json(w, API_POST, "/v1/schedules", body, 201));
}

static int setup_two(void **state)
{
	setup(state);
	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"mine\"}", 201));
	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"theirs\"}", 201));
	submit("mine", "{\"team\":\"a\"}", mine);
	submit("mine", "{\"team\":\"b\"}", unlabelled);
	submit("theirs", "{\"team\":\"a\"}", theirs);
	make_schedule("own", "mine");
	make_schedule("foreign", "theirs");
	queue_token =
	    token_make("\"name\":\"q\",\"role\":\"admin\",\"queues\":[\"mine\",\"later\"]");
	label_token = token_make("\"name\":\"l\",\"role\":\"operate\",\"queues\":[\"mine\"],"
	                         "\"labels\":{\"team\":\"a\"}");
	return 0;
}

static size_t items(const struct bearer *b, const char *target)
{
	json_t *list = json_as(b, API_GET, target, NULL, 200);
	size_t n = json_array_size(json_object_get(list, "items"));

	json_decref(list);
	return n;
}

static void test_lists(void **state)
{
	char path[128];
	json_t *sum;

	assert_int_equal(items(&queue_token, "/v1/tasks"), 2);
	assert_int_equal(items(&label_token, "/v1/tasks"), 1);
	assert_int_equal(items(&queue_token, "/v1/tasks?queue=theirs"), 0);
	assert_int_equal(items(&queue_token, "/v1/tasks?label=team=a"), 1);
	snprintf(path, sizeof path, "/v1/tasks?batch=%s", theirs);
	assert_int_equal(items(&queue_token, path), 0);
	assert_int_equal(items(&queue_token, "/v1/queues"), 1);
	assert_int_equal(items(&queue_token, "/v1/schedules"), 1);
	assert_int_equal(items(&queue_token, "/v1/schedules?queue=theirs"), 0);
	assert_int_equal(items(&queue_token, "/v1/tasks?schedule=foreign"), 0);
	assert_int_equal(items(&label_token, "/v1/schedules"), 0); /* no such label on its task */
	sum = json_as(&queue_token, API_GET, "/v1/tasks/summary", NULL, 200);
	assert_int_equal(jint(sum, "total"), 2);
	json_decref(sum);
	sum = json_as(&label_token, API_GET, "/v1/tasks/summary?queue=theirs", NULL, 200);
	assert_int_equal(jint(sum, "total"), 0);
	json_decref(sum);
}

static void test_one_task(void **state)
{
	static const struct {
		enum api_method method;
		const char *rest, *body;
	} ways[] = {{API_GET, "", NULL}, {API_GET, "?wait=1s", NULL}, {API_GET, "/why", NULL},
	    {API_GET, "/logs", NULL}, {API_GET, "/logs?follow=true", NULL},
	    {API_PATCH, "", "{\"priority\":7}"}, {API_POST, "/cancel", NULL},
	    {API_POST, "/retry", NULL}};
	char path[128];

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		snprintf(path, sizeof path, "/v1/tasks/%s%s", theirs, ways[i].rest);
		assert_int_equal(status_as(&queue_token, ways[i].method, path, ways[i].body), 404);
		assert_int_equal(status_as(&label_token, ways[i].method, path, ways[i].body), 404);
		snprintf(path, sizeof path, "/v1/tasks/%s%s", unlabelled, ways[i].rest);
		assert_int_equal(status_as(&label_token, ways[i].method, path, ways[i].body), 404);
	}
	snprintf(path, sizeof path, "/v1/tasks/%s", mine);
	assert_int_equal(status_as(&queue_token, API_GET, path, NULL), 200);
	assert_int_equal(status_as(&label_token, API_GET, path, NULL), 200);
	snprintf(path, sizeof path, "/v1/tasks/%s/cancel", mine);
	assert_int_equal(status_as(&label_token, API_POST, path, NULL), 200);
}

static const char *state_of(const char *id)
{
	static char state[32];
	char path[128];
	json_t *task;

	snprintf(path, sizeof path, "/v1/tasks/%s", id);
	task = ask_json(w, API_GET, path, NULL, 200);
	snprintf(state, sizeof state, "%s", jstr(task, "state"));
	json_decref(task);
	return state;
}

static void test_many_tasks(void **state)
{
	char body[256];
	json_t *done;

	done = json_as(&label_token, API_POST, "/v1/tasks/actions/release", "{\"all\":true}", 200);
	assert_int_equal(jint(done, "changed"), 1);
	json_decref(done);
	assert_string_equal(state_of(theirs), "held");
	assert_string_equal(state_of(unlabelled), "held");
	assert_string_equal(state_of(mine), "queued");
	done = json_as(&queue_token, API_POST, "/v1/tasks/actions/cancel",
	    "{\"filter\":{\"queue\":\"theirs\"}}", 200);
	assert_int_equal(jint(done, "matched"), 0);
	json_decref(done);
	snprintf(body, sizeof body, "{\"ids\":[\"%s\",\"%s\",\"%s\"]}", theirs, mine, unlabelled);
	done = json_as(&label_token, API_POST, "/v1/tasks/actions/cancel", body, 200);
	assert_int_equal(jint(done, "changed"), 1);
	assert_int_equal(jint(done, "refused"), 2);
	json_decref(done);
	assert_string_equal(state_of(theirs), "held");
	assert_string_equal(state_of(unlabelled), "held");
	assert_string_equal(state_of(mine), "cancelled");
	done = json_as(&queue_token, API_POST, "/v1/tasks/actions/retry", body, 200);
	assert_int_equal(jint(done, "changed"), 1);
	json_decref(done);
	assert_string_equal(state_of(theirs), "held");
}

static int submit_as(const struct bearer *b, const char *type, const char *body)
{
	struct talk *t = talk_as(b, API_POST, "/v1/tasks", body);
	int status;

	t->req.content_type = str_of(type);
	talk_send(w, t);
	world_run(w);
	status = t->status;
	if (status == 200) {
		json_t *report = talk_json(t);

		status = 1000 + (int)json_array_size(json_object_get(report, "errors"));
		json_decref(report);
	}
	talk_free(t);
	return status;
}

static void test_submits(void **state)
{
	const char *json = "application/json";
	char by_id[256];
	json_t *queue = ask_json(w, API_GET, "/v1/queues/theirs", NULL, 200);

	assert_int_equal(
	    submit_as(&queue_token, json, "{\"queue\":\"mine\",\"command\":[\"x\"]}"), 201);
	assert_int_equal(
	    submit_as(&queue_token, json, "{\"queue\":\"theirs\",\"command\":[\"x\"]}"), 403);
	snprintf(by_id, sizeof by_id, "{\"queue\":\"%s\",\"command\":[\"x\"]}", jstr(queue, "id"));
	assert_int_equal(submit_as(&queue_token, json, by_id), 403);
	json_decref(queue);
	assert_int_equal(submit_as(&queue_token, json, "{\"command\":[\"x\"]}"), 403);
	assert_int_equal(
	    submit_as(&queue_token, json, "{\"queue\":\"none\",\"command\":[\"x\"]}"), 403);
	assert_int_equal(
	    submit_as(&label_token, json, "{\"queue\":\"mine\",\"command\":[\"x\"]}"), 403);
	assert_int_equal(
	    submit_as(&label_token, json,
	        "{\"queue\":\"mine\",\"command\":[\"x\"],\"labels\":{\"team\":\"b\"}}"),
	    403);
	assert_int_equal(
	    submit_as(&label_token, json,
	        "{\"queue\":\"mine\",\"command\":[\"x\"],\"labels\":{\"team\":\"a\"}}"),
	    201);
	assert_int_equal(submit_as(&queue_token, "application/x-ndjson",
	                     "{\"queue\":\"mine\",\"command\":[\"x\"]}\n"
	                     "{\"queue\":\"theirs\",\"command\":[\"x\"]}\n"
	                     "{\"queue\":\"mine\",\"command\":[\"x\"]}\n"),
	    1001);
	assert_int_equal(submit_as(&queue_token, json,
	                     "[{\"queue\":\"theirs\",\"command\":[\"x\"]},"
	                     "{\"queue\":\"mine\",\"command\":[\"x\"]}]"),
	    1001);
	assert_int_equal(items(&queue_token, "/v1/tasks?limit=100"), 7);
	json_decref(ask_json(w, API_GET, "/v1/queues/default", NULL, 404));
}

static void test_queues(void **state)
{
	assert_int_equal(status_as(&queue_token, API_GET, "/v1/queues/theirs", NULL), 404);
	assert_int_equal(status_as(&queue_token, API_POST, "/v1/queues/theirs/pause", NULL), 404);
	assert_int_equal(status_as(&queue_token, API_POST, "/v1/queues/mine/pause", NULL), 200);
	assert_int_equal(status_as(&queue_token, API_POST, "/v1/queues/mine/resume", NULL), 200);
	/* which would hold up tasks with other labels */
	assert_int_equal(status_as(&label_token, API_POST, "/v1/queues/mine/pause", NULL), 404);
	assert_int_equal(status_as(&label_token, API_GET, "/v1/queues/mine", NULL), 200);
}

static int schedule_as(const struct bearer *b, enum api_method m, const char *target,
    const char *name, const char *queue, const char *labels)
{
	char body[512];

	snprintf(body, sizeof body,
	    "{%s%s%s\"items\":[{\"epoch\":{\"period\":3600}}],\"max_shift\":\"1h\","
	    "\"task\":{\"queue\":\"%s\",\"command\":[\"x\"],\"labels\":%s}}",
	    name ? "\"name\":\"" : "", name ? name : "", name ? "\"," : "", queue, labels);
	return status_as(b, m, target, body);
}

static void test_schedules(void **state)
{
	const struct bearer *q = &queue_token, *l = &label_token;

	assert_int_equal(schedule_as(q, API_POST, "/v1/schedules", "n", "theirs", "{}"), 403);
	assert_int_equal(
	    schedule_as(q, API_POST, "/v1/schedules?dry_run=true", "n", "theirs", "{}"), 403);
	assert_int_equal(schedule_as(q, API_POST, "/v1/schedules", "n", "default", "{}"), 403);
	assert_int_equal(schedule_as(q, API_POST, "/v1/schedules", "n", "mine", "{}"), 201);
	assert_int_equal(schedule_as(l, API_POST, "/v1/schedules", "m", "mine", "{}"), 403);
	assert_int_equal(
	    schedule_as(l, API_POST, "/v1/schedules", "m", "mine", "{\"team\":\"a\"}"), 201);
	/* its own, to another queue; another's, whatever to */
	assert_int_equal(schedule_as(q, API_PATCH, "/v1/schedules/own", NULL, "theirs", "{}"), 403);
	assert_int_equal(
	    schedule_as(q, API_PATCH, "/v1/schedules/foreign", NULL, "mine", "{}"), 404);
	assert_int_equal(status_as(q, API_GET, "/v1/schedules/foreign", NULL), 404);
	assert_int_equal(status_as(q, API_GET, "/v1/schedules/foreign/history", NULL), 404);
	assert_int_equal(status_as(q, API_GET, "/v1/schedules/foreign/next", NULL), 404);
	assert_int_equal(status_as(q, API_POST, "/v1/schedules/foreign/run", NULL), 404);
	assert_int_equal(status_as(q, API_POST, "/v1/schedules/foreign/pause", NULL), 404);
	assert_int_equal(status_as(q, API_DELETE, "/v1/schedules/foreign", NULL), 404);
	assert_int_equal(status_as(q, API_POST, "/v1/schedules/foreign/backfill",
	                     "{\"from\":\"2h\",\"to\":\"1h\"}"),
	    404);
	assert_int_equal(status_as(q, API_POST, "/v1/schedules/own/run", NULL), 201);
}

static void test_events(void **state)
{
	struct talk *t = talk_as(&queue_token, API_GET, "/v1/events", NULL);
	char past[128];

	t->req.accept = STR("text/event-stream");
	talk_send(w, t);
	world_run(w);
	json_decref(ask_json(w, API_POST, "/v1/queues/theirs/pause", NULL, 200));
	submit("theirs", "{}", past);
	json_decref(ask_json(w, API_POST, "/v1/queues/mine/pause", NULL, 200));
	assert_non_null(strstr(t->body.p, "\"queue\":\"mine\""));
	assert_null(strstr(t->body.p, "theirs"));
	assert_null(strstr(t->body.p, past));
	talk_hang_up(t);
	talk_free(t);
	t = talk_as(&queue_token, API_GET, "/v1/events?after=1", NULL); /* what is past */
	t->req.accept = STR("text/event-stream");
	talk_send(w, t);
	world_run(w);
	assert_null(strstr(t->body.p, "theirs"));
	assert_null(strstr(t->body.p, "foreign"));
	talk_hang_up(t);
	talk_free(t);
	t = ask_as(&queue_token, API_GET, "/v1/events?limit=1000", NULL);
	assert_non_null(strstr(t->body.p, "mine"));
	assert_null(strstr(t->body.p, "theirs"));
	assert_null(strstr(t->body.p, "token."));
	talk_free(t);
	assert_int_equal(status_as(&label_token, API_GET, "/v1/events", NULL), 403);
}

/* A queue that is made later is covered from then on; one that was renamed away is not. */
static void test_names_are_looked_up_when_needed(void **state)
{
	assert_int_equal(status_as(&queue_token, API_GET, "/v1/queues/later", NULL), 404);
	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"later\"}", 201));
	assert_int_equal(status_as(&queue_token, API_GET, "/v1/queues/later", NULL), 200);
	json_decref(ask_json(w, API_PATCH, "/v1/queues/mine", "{\"name\":\"other\"}", 200));
	assert_int_equal(items(&queue_token, "/v1/tasks"), 0);
	assert_int_equal(status_as(&queue_token, API_GET, "/v1/queues/other", NULL), 404);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup_two, teardown)
	const struct CMUnitTest tests[] = {
	    T(test_lists),
	    T(test_one_task),
	    T(test_many_tasks),
	    T(test_submits),
	    T(test_queues),
	    T(test_schedules),
	    T(test_events),
	    T(test_names_are_looked_up_when_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
