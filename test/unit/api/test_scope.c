/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens with limits: no way leads around them. Two queues; the token has one, and a label or not.
 */
#include "world/tokens.h"

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
	assert_int_equal(status_as(&queue_token, API_GET, "/v1/tasks?queue=theirs", NULL), 404);
	assert_int_equal(items(&queue_token, "/v1/tasks?label=team=a"), 1);
	snprintf(path, sizeof path, "/v1/tasks?batch=%s", theirs);
	assert_int_equal(items(&queue_token, path), 0);
	assert_int_equal(items(&queue_token, "/v1/queues"), 1);
	assert_int_equal(items(&queue_token, "/v1/schedules"), 1);
	assert_int_equal(status_as(&queue_token, API_GET, "/v1/schedules?queue=theirs", NULL), 404);
	assert_int_equal(status_as(&queue_token, API_GET, "/v1/tasks?schedule=foreign", NULL), 404);
	assert_int_equal(items(&label_token, "/v1/schedules"), 0); /* no such label on its task */
	sum = json_as(&queue_token, API_GET, "/v1/tasks/summary", NULL, 200);
	assert_int_equal(jint(sum, "total"), 2);
	json_decref(sum);
	assert_int_equal(
	    status_as(&label_token, API_GET, "/v1/tasks/summary?queue=theirs", NULL), 404);
}

/* What the bearer is told, with the name that he gave taken out. */
static void told_of(const char *target, const char *body, const char *name, struct buf *out)
{
	char asked[256], sent[256];
	struct talk *t;

	snprintf(asked, sizeof asked, target, name);
	snprintf(sent, sizeof sent, body ? body : "", name);
	t = ask_as(&queue_token, body ? API_POST : API_GET, asked, body ? sent : NULL);
	buf_printf(out, "%d ", t->status);
	for (const char *at = t->body.p; at && *at;) {
		bool is_name = strncmp(at, name, strlen(name)) == 0;

		buf_add_char(out, is_name ? '_' : *at);
		at += is_name ? strlen(name) : 1;
	}
	talk_free(t);
}

static void assert_told_alike(
    const char *target, const char *body, const char *foreign, const char *unknown)
{
	struct buf x = {0}, y = {0};

	told_of(target, body, foreign, &x);
	told_of(target, body, unknown, &y);
	if (strcmp(x.p, y.p) != 0)
		fail_msg("%s with %s: %s\nwith %s: %s", target, foreign, x.p, unknown, y.p);
	buf_release(&x);
	buf_release(&y);
}

/* Whether a name is another's or nobody's is told by no filter. */
static void test_a_foreign_name_is_an_unknown_one(void **state)
{
	static const char *const queues[] = {"/v1/tasks?queue=%s", "/v1/tasks/summary?queue=%s",
	    "/v1/events?queue=%s", "/v1/schedules?queue=%s", "/v1/queues/%s"};
	static const char *const schedules[] = {"/v1/tasks?schedule=%s", "/v1/events?schedule=%s",
	    "/v1/tasks/summary?schedule=%s", "/v1/schedules/%s"};
	static const char *const workers[] = {
	    "/v1/tasks?worker=%s", "/v1/tasks/summary?worker=%s", "/v1/events?worker=%s"};
	static const char by_queue[] = "{\"filter\":{\"queue\":\"%s\"}}",
	                  by_worker[] = "{\"filter\":{\"worker\":\"%s\"}}",
	                  task[] = "{\"queue\":\"%s\",\"command\":[\"x\"]}";
	json_t *queue = ask_json(w, API_GET, "/v1/queues/theirs", NULL, 200);
	char id[ID_TEXT], other[ID_TEXT];

	world_worker(w, "wrk1", 1);
	snprintf(id, sizeof id, "%s", jstr(queue, "id"));
	snprintf(other, sizeof other, "%s", id);
	other[0] = other[0] == '1' ? '2' : '1'; /* made at another time */
	for (size_t i = 0; i < sizeof queues / sizeof queues[0]; i++) {
		assert_told_alike(queues[i], NULL, "theirs", "absent");
		assert_told_alike(queues[i], NULL, id, other);
	}
	for (size_t i = 0; i < sizeof schedules / sizeof schedules[0]; i++)
		assert_told_alike(schedules[i], NULL, "foreign", "unknown");
	for (size_t i = 0; i < sizeof workers / sizeof workers[0]; i++)
		assert_told_alike(workers[i], NULL, "wrk1", "none");
	assert_told_alike("/v1/tasks/actions/cancel", by_queue, "theirs", "absent");
	assert_told_alike("/v1/tasks/actions/hold", by_worker, "wrk1", "none");
	assert_told_alike("/v1/tasks", task, "theirs", "absent");
	assert_told_alike("/v1/tasks", task, id, other);
	json_decref(queue);
}

/* A name that is nearly another's: no hint completes it. */
static void test_hints_name_nothing_foreign(void **state)
{
	static const char *const nearly[] = {"/v1/tasks?queue=their", "/v1/tasks?schedule=foreig",
	    "/v1/tasks/summary?queue=their", "/v1/events?queue=their", "/v1/events?schedule=foreig",
	    "/v1/schedules?queue=their", "/v1/queues/their", "/v1/schedules/foreig"};

	for (size_t i = 0; i < sizeof nearly / sizeof nearly[0]; i++) {
		struct talk *t = ask_as(&queue_token, API_GET, nearly[i], NULL);

		assert_int_equal(t->status, 404);
		assert_null(strstr(t->body.p, "theirs"));
		assert_null(strstr(t->body.p, "foreign"));
		talk_free(t);
		t = ask(w, API_GET, nearly[i], NULL); /* whom nothing limits is helped */
		assert_non_null(strstr(t->body.p, "did you mean"));
		talk_free(t);
	}
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
	assert_int_equal(status_as(&queue_token, API_POST, "/v1/tasks/actions/cancel",
	                     "{\"filter\":{\"queue\":\"theirs\"}}"),
	    404);
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

static void assert_refused_with(const struct bearer *b, const char *queue, const char *detail)
{
	char body[128];
	json_t *problem;

	snprintf(body, sizeof body, "{\"queue\":\"%s\",\"command\":[\"x\"]}", queue);
	problem = json_as(b, API_POST, "/v1/tasks", body, 403);
	assert_string_equal(jstr(problem, "detail"), detail);
	json_decref(problem);
}

static void test_who_has_no_labels_is_told_of_none(void **state)
{
	assert_refused_with(&queue_token, "theirs", "token:q may not use the queue \"theirs\"");
	assert_refused_with(
	    &label_token, "mine", "token:l may not use the queue \"mine\" with these labels");
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
	/* the token's own task, to another queue; another's, whatever to */
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

/* -- a unique key that another's task holds: it is taken, and that is all there is to know */

static const char foreign[] =
    "{\"queue\":\"mine\",\"command\":[\"x\"],\"key\":\"K\",\"labels\":{\"team\":\"b\"},"
    "\"env\":{\"PW\":\"SECRET\"},\"status\":-10}";

#define WITH_KEY(key, command)                                             \
	"{\"queue\":\"mine\",\"command\":[\"" command "\"],\"key\":\"" key \
	"\",\"labels\":{\"team\":\"a\"},\"status\":-10}"

static void no_trace_of(const struct talk *t, const char *id)
{
	assert_null(strstr(t->body.p, id));
	assert_null(strstr(t->body.p, "SECRET"));
	assert_null(strstr(t->body.p, "\"b\""));
}

static struct talk *submit_with_key(const struct bearer *b, const char *body, const char *idem)
{
	struct talk *t = talk_as(b, API_POST, "/v1/tasks", body);

	t->req.content_type = STR("application/json");
	if (idem)
		t->req.idempotency_key = str_of(idem);
	talk_send(w, t);
	world_run(w);
	return t;
}

static void test_a_foreign_twin_is_not_shown(void **state)
{
	json_t *holder = ask_json(w, API_POST, "/v1/tasks", foreign, 201);
	json_t *own;

	for (int i = 0; i < 2; i++) { /* the second is a replay */
		struct talk *t = submit_with_key(&label_token, WITH_KEY("K", "y"), "idem");

		assert_int_equal(t->status, 409);
		assert_non_null(strstr(t->body.p, "urn:reeve:error:conflict"));
		assert_non_null(strstr(t->body.p, "\"field\":\"key\""));
		no_trace_of(t, jstr(holder, "id"));
		talk_free(t);
	}
	/* with the queue in its limits, and no labels, it is there */
	own = json_as(&queue_token, API_POST, "/v1/tasks", WITH_KEY("K", "y"), 200);
	assert_string_equal(jstr(own, "id"), jstr(holder, "id"));
	json_decref(own);
	own = json_as(&label_token, API_POST, "/v1/tasks", WITH_KEY("L", "y"), 201);
	json_decref(own);
	own = json_as(&label_token, API_POST, "/v1/tasks", WITH_KEY("L", "y"), 200);
	assert_true(json_is_true(json_object_get(own, "duplicate")));
	json_decref(own);
	json_decref(holder);
}

static void test_foreign_twins_among_many(void **state)
{
	json_t *holder = ask_json(w, API_POST, "/v1/tasks", foreign, 201), *report, *ids;
	struct talk *t = submit_with_key(&label_token,
	    "[" WITH_KEY("M", "y") "," WITH_KEY("K", "y") "," WITH_KEY("K", "z") "," WITH_KEY(
	        "M", "z") "]",
	    NULL);

	assert_int_equal(t->status, 200);
	no_trace_of(t, jstr(holder, "id"));
	report = talk_json(t);
	ids = json_object_get(report, "ids");
	assert_int_equal(jint(report, "accepted"), 1);
	assert_int_equal(jint(report, "duplicates"), 1);
	assert_int_equal(jint(report, "rejected"), 2);
	assert_true(json_is_null(json_array_get(ids, 1)) && json_is_null(json_array_get(ids, 2)));
	assert_true(json_equal(json_array_get(ids, 0), json_array_get(ids, 3)));
	assert_int_equal(json_array_size(json_object_get(report, "errors")), 2);
	assert_int_equal(jint(json_array_get(json_object_get(report, "errors"), 0), "line"), 2);
	json_decref(report);
	talk_free(t);
	json_decref(holder);
}

#define MANY_TWINS 1203 /* more than are looked at in one go */

static void test_many_foreign_twins(void **state)
{
	json_t *holder = ask_json(w, API_POST, "/v1/tasks", foreign, 201), *report;
	struct buf body = {0};
	struct talk *t;

	for (int i = 0; i < MANY_TWINS; i++)
		buf_printf(&body, "%s%s", i ? "," : "[", WITH_KEY("K", "y"));
	buf_add_cstr(&body, "]");
	t = submit_with_key(&label_token, body.p, NULL);
	no_trace_of(t, jstr(holder, "id"));
	report = talk_json(t);
	assert_int_equal(jint(report, "rejected"), MANY_TWINS);
	json_decref(report);
	talk_free(t);
	buf_release(&body);
	json_decref(holder);
}

/* A task that was its own, in a queue that was renamed out of its limits since. */
static void test_a_replay_stays_within_the_limits(void **state)
{
	struct talk *t = submit_with_key(&label_token, WITH_KEY("L", "OWN"), "idem");

	assert_int_equal(t->status, 201);
	talk_free(t);
	json_decref(ask_json(w, API_PATCH, "/v1/queues/mine", "{\"name\":\"gone\"}", 200));
	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"mine\"}", 201));
	t = submit_with_key(&label_token, WITH_KEY("L", "OWN"), "idem");
	assert_int_equal(t->status, 404);
	assert_null(strstr(t->body.p, "OWN"));
	talk_free(t);
}

/* The task that held the key was removed since: a replay does not say so, nor which it was. */
static void test_a_replay_tells_nothing_of_a_twin_that_is_gone(void **state)
{
	json_t *holder = ask_json(w, API_POST, "/v1/tasks", foreign, 201);
	struct str first;
	struct talk *t[2];

	t[0] = submit_with_key(&label_token, WITH_KEY("K", "y"), "idem");
	first = buf_str(&t[0]->body);
	json_decref(ask_json(w, API_DELETE, "/v1/schedules/own", NULL, 204));
	json_decref(ask_json(w, API_DELETE, "/v1/queues/mine?force=true", NULL, 204));
	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"mine\"}", 201));
	t[1] = submit_with_key(&label_token, WITH_KEY("K", "y"), "idem");
	no_trace_of(t[1], jstr(holder, "id"));
	assert_int_equal(t[0]->status, 409);
	assert_int_equal(t[1]->status, 409);
	assert_true(str_eq(first, buf_str(&t[1]->body)));
	talk_free(t[0]);
	talk_free(t[1]);
	json_decref(holder);
}

/* The token's own schedule, which somebody has moved to a queue that it may not see. */
static void test_a_replayed_schedule_stays_within_the_limits(void **state)
{
	static const char made[] =
	    "{\"name\":\"n\",\"items\":[{\"epoch\":{\"period\":3600}}],\"max_shift\":\"1h\","
	    "\"task\":{\"queue\":\"mine\",\"command\":[\"x\"]}}";
	int expected[] = {201, 404};

	for (int i = 0; i < 2; i++) {
		struct talk *t = talk_as(&queue_token, API_POST, "/v1/schedules", made);

		t->req.content_type = STR("application/json");
		t->req.idempotency_key = STR("idem");
		talk_send(w, t);
		world_run(w);
		assert_int_equal(t->status, expected[i]);
		assert_null(strstr(t->body.p, "SECRET"));
		talk_free(t);
		json_decref(ask_json(w, API_PATCH, "/v1/schedules/n",
		    "{\"task\":{\"queue\":\"theirs\",\"command\":[\"SECRET\"]}}", 200));
	}
}

/* -- numbers */

static int64_t status_count(const struct bearer *b, const char *name)
{
	json_t *status = json_as(b, API_GET, "/v1/status", NULL, 200);
	int64_t n = jint(json_object_get(status, "tasks"), name);

	assert_true(json_is_null(json_object_get(status, "rates")));
	assert_true(json_is_null(json_object_get(json_object_get(status, "tasks"), "unsure")));
	json_decref(status);
	return n;
}

static void test_status_counts_what_it_sees(void **state)
{
	struct bearer labels_only =
	    token_make("\"name\":\"a\",\"role\":\"read\",\"labels\":{\"team\":\"a\"}");
	json_t *all = ask_json(w, API_GET, "/v1/status", NULL, 200), *own;
	char id[ID_TEXT];

	assert_int_equal(jint(json_object_get(all, "tasks"), "held"), 3);
	assert_true(json_is_object(json_object_get(all, "rates")));
	json_decref(all);
	assert_int_equal(status_count(&queue_token, "held"), 2);
	assert_int_equal(status_count(&label_token, "held"), 1);
	assert_int_equal(status_count(&labels_only, "held"), 2);
	submit("theirs", "{\"team\":\"a\"}", id);
	assert_int_equal(status_count(&labels_only, "held"), 3);
	assert_int_equal(status_count(&queue_token, "held"), 2);
	own = json_as(&queue_token, API_GET, "/v1/status", NULL, 200);
	assert_int_equal(jint(own, "queues"), 1);
	json_decref(own);
}

static void check_queue(const struct bearer *b, bool counts, bool texts)
{
	json_t *q = json_as(b, API_GET, "/v1/queues/mine", NULL, 200);
	json_t *list = json_as(b, API_GET, "/v1/queues", NULL, 200);

	assert_true(json_equal(q, json_array_get(json_object_get(list, "items"), 0)));
	assert_true(json_is_object(json_object_get(q, "counts")) == counts);
	assert_true(json_is_null(json_object_get(q, "oldest_ms")) || counts);
	assert_int_equal(json_object_size(json_object_get(q, "env")), texts);
	assert_true(json_is_string(json_object_get(q, "pause_reason")) == texts);
	assert_true(json_is_true(json_object_get(q, "paused")));
	json_decref(list);
	json_decref(q);
}

static void test_a_queue_tells_what_concerns_the_token(void **state)
{
	struct bearer labels_only =
	    token_make("\"name\":\"a\",\"role\":\"submit\",\"labels\":{\"team\":\"a\"}");

	json_decref(
	    ask_json(w, API_PATCH, "/v1/queues/mine", "{\"env\":{\"PW\":\"SECRET\"}}", 200));
	json_decref(
	    ask_json(w, API_POST, "/v1/queues/mine/pause", "{\"reason\":\"a secret\"}", 200));
	check_queue(&queue_token, true, true);
	check_queue(&label_token, false, true);
	check_queue(&labels_only, false, false);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup_two, teardown)
	const struct CMUnitTest tests[] = {
	    T(test_lists),
	    T(test_a_foreign_name_is_an_unknown_one),
	    T(test_hints_name_nothing_foreign),
	    T(test_one_task),
	    T(test_many_tasks),
	    T(test_submits),
	    T(test_who_has_no_labels_is_told_of_none),
	    T(test_queues),
	    T(test_schedules),
	    T(test_events),
	    T(test_names_are_looked_up_when_needed),
	    T(test_a_foreign_twin_is_not_shown),
	    T(test_foreign_twins_among_many),
	    T(test_many_foreign_twins),
	    T(test_a_replay_stays_within_the_limits),
	    T(test_a_replay_tells_nothing_of_a_twin_that_is_gone),
	    T(test_a_replayed_schedule_stays_within_the_limits),
	    T(test_status_counts_what_it_sees),
	    T(test_a_queue_tells_what_concerns_the_token),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
