/* SPDX-License-Identifier: Apache-2.0 */
/* The caller and what he may: rights by route, secrets, lines, ends of tokens, what is written
 * down.
 */
#include "model/limits.h"
#include "world/tokens.h"

/* What each route needs, said a second time: a right that is changed by mistake shows here. */
static const struct {
	const char *name;
	enum right right;
	bool limited; /* limited tokens may use it */
} wanted[] = {
    {"submitTasks", RIGHT_SUBMIT, true},
    {"listTasks", RIGHT_READ, true},
    {"summarizeTasks", RIGHT_READ, true},
    {"cancelTasks", RIGHT_OPERATE, true},
    {"retryTasks", RIGHT_OPERATE, true},
    {"releaseTasks", RIGHT_OPERATE, true},
    {"holdTasks", RIGHT_OPERATE, true},
    {"getTask", RIGHT_READ, true},
    {"changeTask", RIGHT_OPERATE, true},
    {"cancelTask", RIGHT_OPERATE, true},
    {"retryTask", RIGHT_OPERATE, true},
    {"explainTask", RIGHT_READ, true},
    {"getTaskHistory", RIGHT_READ, true},
    {"getTaskLogs", RIGHT_LOGS, true},
    {"listBatches", RIGHT_READ, true},
    {"getBatch", RIGHT_READ, true},
    {"listQueues", RIGHT_READ, true},
    {"createQueue", RIGHT_ADMIN, false},
    {"getQueue", RIGHT_READ, true},
    {"changeQueue", RIGHT_ADMIN, false},
    {"deleteQueue", RIGHT_ADMIN, false},
    {"pauseQueue", RIGHT_OPERATE, true},
    {"resumeQueue", RIGHT_OPERATE, true},
    {"listDomains", RIGHT_READ, false},
    {"createDomain", RIGHT_OPERATE, false},
    {"getDomain", RIGHT_READ, false},
    {"putDomain", RIGHT_OPERATE, false},
    {"changeDomain", RIGHT_OPERATE, false},
    {"deleteDomain", RIGHT_OPERATE, false},
    {"freshDomain", RIGHT_OPERATE, false},
    {"staleDomain", RIGHT_OPERATE, false},
    {"listServices", RIGHT_READ, false},
    {"createService", RIGHT_OPERATE, false},
    {"getService", RIGHT_READ, false},
    {"putService", RIGHT_OPERATE, false},
    {"changeService", RIGHT_OPERATE, false},
    {"deleteService", RIGHT_OPERATE, false},
    {"listRevisions", RIGHT_READ, false},
    {"diffRevisions", RIGHT_LOGS, false},
    {"listInstances", RIGHT_READ, false},
    {"getInstance", RIGHT_READ, false},
    {"whyInstance", RIGHT_READ, false},
    {"deployService", RIGHT_OPERATE, false},
    {"promoteService", RIGHT_OPERATE, false},
    {"rollbackService", RIGHT_OPERATE, false},
    {"restartService", RIGHT_OPERATE, false},
    {"stopInstance", RIGHT_OPERATE, false},
    {"getRoutes", RIGHT_READ, false},
    {"streamRoutes", RIGHT_READ, false},
    {"getRoutesForPrometheus", RIGHT_READ, false},
    {"listWorkers", RIGHT_READ, false},
    {"getWorker", RIGHT_READ, false},
    {"changeWorker", RIGHT_OPERATE, false},
    {"forgetWorker", RIGHT_ADMIN, false},
    {"stopWorker", RIGHT_OPERATE, false},
    {"restartWorker", RIGHT_OPERATE, false},
    {"drainWorker", RIGHT_OPERATE, false},
    {"undrainWorker", RIGHT_OPERATE, false},
    {"listSchedules", RIGHT_READ, true},
    {"createSchedule", RIGHT_OPERATE, true},
    {"previewSchedule", RIGHT_READ, true},
    {"getSchedule", RIGHT_READ, true},
    {"changeSchedule", RIGHT_OPERATE, true},
    {"deleteSchedule", RIGHT_OPERATE, true},
    {"pauseSchedule", RIGHT_OPERATE, true},
    {"resumeSchedule", RIGHT_OPERATE, true},
    {"runSchedule", RIGHT_OPERATE, true},
    {"backfillSchedule", RIGHT_OPERATE, true},
    {"getScheduleHistory", RIGHT_READ, true},
    {"getScheduleNext", RIGHT_READ, true},
    {"listGroups", RIGHT_READ, true},
    {"submitGroup", RIGHT_SUBMIT, true},
    {"getGroup", RIGHT_READ, true},
    {"deleteGroup", RIGHT_OPERATE, true},
    {"cancelGroup", RIGHT_OPERATE, true},
    {"retryGroup", RIGHT_SUBMIT, false},
    {"explainGroup", RIGHT_READ, true},
    {"listLeftOut", RIGHT_READ, true},
    {"listJobs", RIGHT_READ, true},
    {"getJob", RIGHT_READ, true},
    {"failJob", RIGHT_OPERATE, true},
    {"getGroupGraph", RIGHT_READ, true},
    {"followGroup", RIGHT_READ, true},
    {"listGraphs", RIGHT_READ, false},
    {"getGraph", RIGHT_READ, false},
    {"deleteGraph", RIGHT_OPERATE, false},
    {"listPackages", RIGHT_READ, false},
    {"replacePackages", RIGHT_OPERATE, false},
    {"addPackages", RIGHT_OPERATE, false},
    {"changePackages", RIGHT_OPERATE, false},
    {"getPackage", RIGHT_READ, false},
    {"checkGraph", RIGHT_READ, false},
    {"getEvents", RIGHT_READ, true},
    {"verifyAudit", RIGHT_ADMIN, false},
    {"listTokens", RIGHT_ADMIN, false},
    {"createToken", RIGHT_ADMIN, false},
    {"getToken", RIGHT_ADMIN, false},
    {"revokeToken", RIGHT_ADMIN, false},
    {"getStatus", RIGHT_READ, true},
    {"getRoot", RIGHT_NONE, false},
    {"appendTaskInput", RIGHT_SUBMIT, true},
    {"getHealth", RIGHT_NONE, false},
    {"getReadiness", RIGHT_NONE, false},
    {"getMetrics", RIGHT_READ, false},
    {"getOpenapi", RIGHT_READ, true},
};

static size_t wanted_of(const struct route *r)
{
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
		if (strcmp(wanted[i].name, r->name) == 0)
			return i;
	fail_msg("nobody has said which right %s needs", r->name);
	return 0;
}

/* Nothing of that name is there: whoever may ask hears 404 or 400. */
static void path_of(const struct route *r, char out[256])
{
	const char *open = strchr(r->pattern, '{'), *close = strchr(r->pattern, '}');

	/* a second one stands for itself */
	if (open)
		snprintf(out, 256, "%.*s%s%s", (int)(open - r->pattern), r->pattern,
		    strncmp(open, "{id}", 4) ? "nothing" : "000000000000000000000000", close + 1);
	else
		snprintf(out, 256, "%s", r->pattern);
}

static void check_route(const struct route *r, const struct bearer *b, int role, bool limited)
{
	size_t at = wanted_of(r);
	bool may = role >= (int)wanted[at].right && (!limited || wanted[at].limited);
	char path[256];
	int status;

	if (wanted[at].right == RIGHT_NONE)
		may = true;
	path_of(r, path);
	status = status_as(b, r->method, path, r->request ? "{\"queue\":\"q\"}" : NULL);
	if (status == 401 || (status == 403) == may)
		fail_msg("%s %s as %s%s: %d", method_names[r->method], path, role_names[role],
		    limited ? " with limits" : "", status);
}

static void test_every_role_on_every_route(void **state)
{
	struct bearer b;
	char members[128];

	assert_int_equal(route_number(NULL), sizeof wanted / sizeof wanted[0]);
	for (int role = ROLE_READ; role <= ROLE_ADMIN; role++) {
		snprintf(members, sizeof members, "\"name\":\"r%d\",\"role\":\"%s\"", role,
		    role_names[role]);
		b = token_make(members);
		for (size_t i = 0; i < route_number(NULL); i++)
			check_route(route_at(i), &b, role, false);
	}
	b = token_make("\"name\":\"l\",\"role\":\"admin\",\"queues\":[\"q\"]");
	for (size_t i = 0; i < route_number(NULL); i++)
		check_route(route_at(i), &b, ROLE_ADMIN, true);
}

static void test_a_join_token_opens_nothing_here(void **state)
{
	struct bearer b = token_make("\"name\":\"j\",\"role\":\"join\"");

	for (size_t i = 0; i < route_number(NULL); i++) {
		char path[256];

		path_of(route_at(i), path);
		if (route_at(i)->right != RIGHT_NONE)
			assert_int_equal(status_as(&b, route_at(i)->method, path, NULL), 401);
	}
}

static void test_what_a_token_may_be(void **state)
{
	static const char *const bad[] = {"{}", "{\"name\":\"x\"}", "{\"role\":\"read\"}",
	    "{\"name\":\"x\",\"role\":\"god\"}", "{\"name\":\"file\",\"role\":\"read\"}",
	    "{\"name\":\"a/b\",\"role\":\"read\"}",
	    "{\"name\":\"x\",\"role\":\"read\",\"queues\":\"q\"}",
	    "{\"name\":\"x\",\"role\":\"read\",\"queues\":[1]}",
	    "{\"name\":\"x\",\"role\":\"read\",\"labels\":{\"a\":1}}",
	    "{\"name\":\"x\",\"role\":\"read\",\"labels\":{\"a=b\":\"c\"}}",
	    "{\"name\":\"x\",\"role\":\"read\",\"expires\":\"2001-01-01T00:00:00Z\"}",
	    "{\"name\":\"x\",\"role\":\"read\",\"queues\":[]}",
	    "{\"name\":\"x\",\"role\":\"read\",\"labels\":{}}",
	    "{\"name\":\"x\",\"role\":\"read\",\"once\":true}",
	    "{\"name\":\"x\",\"role\":\"read\",\"zone\":\"z\"}",
	    "{\"name\":\"x\",\"role\":\"join\",\"queues\":[\"q\"]}",
	    "{\"name\":\"x\",\"role\":\"read\",\"power\":9}"};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		json_decref(ask_json(w, API_POST, "/v1/tokens", bad[i], 400));
	token_make("\"name\":\"x\",\"role\":\"read\"");
	json_decref(ask_json(w, API_POST, "/v1/tokens", "{\"name\":\"x\",\"role\":\"read\"}", 409));
}

static void test_a_secret_is_shown_once(void **state)
{
	struct talk *t = talk_new(API_POST, "/v1/tokens", "{\"name\":\"x\",\"role\":\"read\"}");
	json_t *first, *again, *list;
	char secret[128];

	t->req.idempotency_key = STR("k");
	talk_send(w, t);
	world_run(w);
	first = talk_json(t);
	talk_free(t);
	snprintf(secret, sizeof secret, "%s", jstr(first, "token") + 28);
	t = talk_new(API_POST, "/v1/tokens", "{\"name\":\"x\",\"role\":\"read\"}");
	t->req.idempotency_key = STR("k");
	talk_send(w, t);
	world_run(w);
	assert_int_equal(t->status, 201);
	again = talk_json(t);
	assert_true(json_is_null(json_object_get(again, "token")));
	assert_string_equal(jstr(again, "id"), jstr(first, "id"));
	talk_free(t);
	t = ask(w, API_GET, "/v1/tokens", NULL);
	assert_null(strstr(t->body.p, secret));
	assert_null(strstr(t->body.p, "hash"));
	list = talk_json(t);
	assert_int_equal(json_array_size(json_object_get(list, "items")), 1);
	json_decref(list);
	json_decref(first);
	json_decref(again);
	talk_free(t);
}

static void spoil(struct bearer *b, size_t at)
{
	b->header[at] = b->header[at] == '0' ? '1' : '0';
}

static void test_wrong_secrets(void **state)
{
	struct bearer b = token_make("\"name\":\"x\",\"role\":\"read\""), bad;
	static const char *const odd[] = {"Bearer", "Bearer ", "Bearer rv_", "Bearer rv__",
	    "Basic x", "", "Bearer rv_000000000000000000000000_"};

	assert_int_equal(status_as(&b, API_GET, "/v1/status", NULL), 200);
	for (size_t at = strlen("Bearer "); b.header[at]; at++) {
		bad = b;
		spoil(&bad, at);
		assert_int_equal(status_as(&bad, API_GET, "/v1/status", NULL), 401);
	}
	bad = b;
	bad.header[strlen(bad.header) - 1] = 0;
	assert_int_equal(status_as(&bad, API_GET, "/v1/status", NULL), 401);
	for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
		snprintf(bad.header, sizeof bad.header, "%s", odd[i]);
		assert_int_equal(status_as(&bad, API_GET, "/v1/status", NULL), 401);
	}
	assert_int_equal(status_as(&b, API_GET, "/v1/status", NULL), 200);
}

static void test_a_good_one_is_looked_at_once(void **state)
{
	struct bearer b = token_make("\"name\":\"x\",\"role\":\"read\"");
	int before = world_checks;

	for (int i = 0; i < 10; i++)
		assert_int_equal(status_as(&b, API_GET, "/v1/status", NULL), 200);
	assert_int_equal(world_checks, before + 1);
}

/* Two hundred wrong ones at the same moment: a few are looked at, and nobody else waits. */
static void test_a_flood_of_wrong_ones(void **state)
{
	struct bearer good = token_make("\"name\":\"x\",\"role\":\"read\"");
	struct bearer fresh = token_make("\"name\":\"y\",\"role\":\"read\"");
	struct bearer bad = fresh;
	struct talk *flood[200], *other;
	int before, busy = 0;

	assert_int_equal(status_as(&good, API_GET, "/v1/status", NULL), 200);
	spoil(&bad, strlen(bad.header) - 1);
	before = world_checks;
	for (int i = 0; i < 200; i++) {
		flood[i] = talk_as(&bad, API_GET, "/v1/status", NULL);
		talk_send(w, flood[i]);
		busy += flood[i]->status == 503;
	}
	assert_true(busy >= 190);
	other = talk_as(&good, API_GET, "/v1/status", NULL);
	talk_send(w, other);
	assert_int_equal(other->status, 200); /* at once: nothing was run in between */
	talk_free(other);
	for (int i = 0; i < 200; i += 3)
		talk_hang_up(flood[i]);
	world_run(w);
	assert_true(world_checks - before <= 10);
	for (int i = 0; i < 200; i++) {
		assert_true(flood[i]->status == 401 || flood[i]->status == 503 || i % 3 == 0);
		talk_free(flood[i]);
	}
	assert_int_equal(status_as(&fresh, API_GET, "/v1/status", NULL), 200);
}

static struct talk *stream_as(const struct bearer *b)
{
	struct talk *t = talk_as(b, API_GET, "/v1/events", NULL);

	t->req.accept = STR("text/event-stream");
	talk_send(w, t);
	world_run(w);
	assert_true(t->streaming && !t->ended);
	return t;
}

static void test_revoked_at_once(void **state)
{
	struct bearer b = token_make("\"name\":\"x\",\"role\":\"read\"");
	struct talk *stream = stream_as(&b), *wait;
	char path[128], id[ID_TEXT];

	snprintf(path, sizeof path, "/v1/tasks/%s?wait=1h",
	    id_format(world_ids(w), world_submit(w, NULL), id));
	wait = ask_as(&b, API_GET, path, NULL);
	assert_int_equal(wait->status, 0);
	json_decref(ask_json(w, API_DELETE, "/v1/tokens/x", NULL, 204));
	assert_true(stream->ended);
	assert_int_equal(wait->status, 401);
	assert_int_equal(status_as(&b, API_GET, "/v1/status", NULL), 401);
	json_decref(ask_json(w, API_DELETE, "/v1/tokens/x", NULL, 404));
	talk_free(stream);
	talk_free(wait);
	assert_int_equal(world_watches(w), 0);
}

static void test_expired(void **state)
{
	struct bearer b = token_make("\"name\":\"x\",\"role\":\"read\",\"expires\":\"10s\"");
	struct talk *stream = stream_as(&b);
	json_t *list;

	world_advance(w, 9000);
	assert_int_equal(status_as(&b, API_GET, "/v1/status", NULL), 200);
	assert_false(stream->ended);
	world_advance(w, 1100);
	assert_int_equal(status_as(&b, API_GET, "/v1/status", NULL), 401);
	assert_true(stream->ended);
	talk_free(stream);
	list = ask_json(w, API_GET, "/v1/tokens/x", NULL, 200);
	assert_true(json_is_true(json_object_get(list, "expired")));
	json_decref(list);
	assert_int_equal(world_watches(w), 0);
}

static size_t count_events(const char *kind, const char *actor)
{
	json_t *list, *one;
	char path[128];
	size_t i, n = 0;

	snprintf(path, sizeof path, "/v1/events?limit=1000&kind=%s", kind);
	list = ask_json(w, API_GET, path, NULL, 200);
	json_array_foreach(json_object_get(list, "items"), i, one) n +=
	    strcmp(jstr(one, "actor"), actor) == 0;
	json_decref(list);
	return n;
}

/* Of the last event of this kind. */
static void assert_last_event(
    const char *kind, const char *actor, const char *member, const char *is)
{
	json_t *list, *items, *one;
	char path[128];

	snprintf(path, sizeof path, "/v1/events?limit=1000&kind=%s", kind);
	list = ask_json(w, API_GET, path, NULL, 200);
	items = json_object_get(list, "items");
	one = json_array_get(items, json_array_size(items) - 1);
	assert_string_equal(jstr(one, "actor"), actor);
	assert_string_equal(jstr(json_object_get(one, "detail"), member), is);
	json_decref(list);
}

/* Neither by strangers, nor by who has a token, nor by who only knows that there is one. */
static void test_nobody_hides_the_refusals_of_others(void **state)
{
	struct bearer l = token_make("\"name\":\"l\",\"role\":\"read\"");
	struct bearer m = token_make("\"name\":\"m\",\"role\":\"read\"");
	struct bearer nobody = {"Bearer nonsense"}, guess = l;
	char *last = guess.header + strlen(guess.header) - 1;

	*last = *last == '0' ? '1' : '0';
	for (int i = 0; i < 60; i++) {
		assert_int_equal(status_as(&nobody, API_GET, "/v1/tasks", NULL), 401);
		assert_int_equal(status_as(&m, API_GET, "/v1/tokens", NULL), 403);
		assert_int_equal(status_as(&guess, API_GET, "/v1/tasks", NULL), 401);
	}
	assert_last_event(
	    "access.refused", "unknown", "why", "this is not the secret of this token");
	assert_last_event("access.refused", "unknown", "token", "l");
	assert_int_equal(status_as(&l, API_GET, "/v1/tokens", NULL), 403);
	assert_int_equal(count_events("access.refused", "token:l"), 1);
	assert_int_equal(count_events("access.refused", "token:m"), 20);
	assert_int_equal(count_events("access.refused", "unknown"), 40);
}

static void test_refusals_are_written_down_within_bounds(void **state)
{
	struct bearer b = token_make("\"name\":\"x\",\"role\":\"read\"");
	struct bearer nobody = {"Bearer nonsense"};

	assert_int_equal(status_as(&b, API_POST, "/v1/tasks", "{\"command\":[\"x\"]}"), 403);
	assert_int_equal(status_as(&nobody, API_GET, "/v1/tasks", NULL), 401);
	assert_int_equal(count_events("access.refused", "token:x"), 1);
	assert_int_equal(count_events("access.refused", "unknown"), 1);
	for (int i = 0; i < 500; i++)
		assert_int_equal(status_as(&nobody, API_GET, "/v1/tasks", NULL), 401);
	assert_int_equal(count_events("access.refused", "unknown"), 20);
	world_advance(w, 61000);
	assert_last_event(
	    "access.refused", "unknown", "why", "481 more of unknown in this minute were left out");
	assert_int_equal(status_as(&nobody, API_GET, "/v1/tasks", NULL), 401);
	assert_int_equal(count_events("access.refused", "unknown"), 22);
	assert_int_equal(count_events("token.created", "uid=0"), 1);
}

static void test_changes_bear_the_tokens_name(void **state)
{
	struct bearer b = token_make("\"name\":\"boss\",\"role\":\"admin\"");

	json_decref(json_as(&b, API_POST, "/v1/queues", "{\"name\":\"q\"}", 201));
	assert_int_equal(count_events("queue.created", "token:boss"), 1);
}

/* What two callers did under one key are two things. */
static void keyed(const struct bearer *b, const char *key, int status, char ret_id[ID_TEXT])
{
	struct talk *t = talk_as(b, API_POST, "/v1/tasks", "{\"command\":[\"x\"]}");
	json_t *task;

	if (!b->header[0]) { /* over the socket */
		t->req.is_unix = true;
		t->req.authorization = STR_NULL;
	}
	t->req.content_type = STR("application/json");
	t->req.idempotency_key = str_of(key);
	talk_send(w, t);
	world_run(w);
	assert_int_equal(t->status, status);
	if (ret_id) {
		task = talk_json(t);
		snprintf(ret_id, ID_TEXT, "%s", jstr(task, "id"));
		json_decref(task);
	}
	talk_free(t);
}

/* One and the same key and request: everyone has an own task of it, and finds it again. */
static void test_keys_are_ones_own(void **state)
{
	const struct bearer who[] = {token_make("\"name\":\"x\",\"role\":\"submit\""),
	    token_make("\"name\":\"y\",\"role\":\"submit\""), {""}};
	char longest[KEY_MAX_BYTES + 1], first[3][ID_TEXT], again[ID_TEXT];
	const char *keys[] = {"k", longest};

	memset(longest, 'k', KEY_MAX_BYTES);
	longest[KEY_MAX_BYTES] = 0;
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < 3; i++)
			keyed(&who[i], keys[k], 201, first[i]);
		for (int i = 0; i < 3; i++) {
			keyed(&who[i], keys[k], 201, again);
			assert_string_equal(again, first[i]);
		}
		assert_string_not_equal(first[0], first[1]);
		assert_string_not_equal(first[0], first[2]);
		assert_string_not_equal(first[1], first[2]);
	}
	keyed(&who[0], "\x01k", 400, NULL); /* how the keys of tokens are told apart */
	keyed(&who[2], "\x01k", 400, NULL);
}

/* A caller that may only read sees neither what is run nor what it wrote. */
static void test_read_shows_no_contents(void **state)
{
	struct bearer b = token_make("\"name\":\"x\",\"role\":\"read\"");
	struct bearer logs = token_make("\"name\":\"y\",\"role\":\"logs\"");
	char path[128];
	struct talk *t;
	json_t *task;

	json_decref(ask_json(
	    w, API_POST, "/v1/queues", "{\"name\":\"q\",\"env\":{\"K\":\"hidden-env\"}}", 201));
	task = ask_json(w, API_POST, "/v1/tasks",
	    "{\"queue\":\"q\",\"command\":[\"hidden-word\"],\"env\":{\"S\":\"hidden-env\"}}", 201);
	snprintf(path, sizeof path, "/v1/tasks/%s", jstr(task, "id"));
	json_decref(task);
	for (int i = 0; i < 2; i++) {
		t = ask_as(i ? &logs : &b, API_GET, path, NULL);
		assert_int_equal(t->status, 200);
		assert_int_equal(strstr(t->body.p, "hidden") != NULL, i);
		talk_free(t);
		t = ask_as(i ? &logs : &b, API_GET, "/v1/tasks", NULL);
		assert_int_equal(strstr(t->body.p, "hidden") != NULL, i);
		talk_free(t);
		t = ask_as(i ? &logs : &b, API_GET, "/v1/queues/q", NULL);
		assert_int_equal(strstr(t->body.p, "hidden") != NULL, i);
		talk_free(t);
		t = ask_as(i ? &logs : &b, API_GET, "/v1/queues", NULL);
		assert_int_equal(strstr(t->body.p, "hidden") != NULL, i);
		talk_free(t);
		assert_int_equal(
		    status_as(i ? &logs : &b, API_GET, "/v1/tasks?full=true", NULL), i ? 200 : 403);
		assert_int_equal(
		    status_as(i ? &logs : &b, API_GET, "/v1/schedules?full=true", NULL),
		    i ? 200 : 403);
	}
}

static void test_a_token_on_the_socket(void **state)
{
	struct bearer b = token_make("\"name\":\"x\",\"role\":\"read\"");
	struct talk *t = talk_as(&b, API_GET, "/v1/status", NULL);

	t->req.is_unix = true;
	t->req.uid = 4711;
	talk_send(w, t);
	world_run(w);
	assert_int_equal(t->status, 200);
	talk_free(t);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(test_every_role_on_every_route),
	    T(test_a_join_token_opens_nothing_here),
	    T(test_what_a_token_may_be),
	    T(test_a_secret_is_shown_once),
	    T(test_wrong_secrets),
	    T(test_a_good_one_is_looked_at_once),
	    T(test_a_flood_of_wrong_ones),
	    T(test_revoked_at_once),
	    T(test_expired),
	    T(test_nobody_hides_the_refusals_of_others),
	    T(test_refusals_are_written_down_within_bounds),
	    T(test_changes_bear_the_tokens_name),
	    T(test_keys_are_ones_own),
	    T(test_read_shows_no_contents),
	    T(test_a_token_on_the_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
