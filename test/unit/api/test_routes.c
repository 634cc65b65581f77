/* SPDX-License-Identifier: Apache-2.0 */
/* Every route: who may ask, what is not there, what does not apply. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/frame/route.h"
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

static struct talk *send(struct talk *t)
{
	talk_send(w, t);
	world_run(w);
	return t;
}

/* A body and a path that are well formed for each pattern. */
static void path_of(const struct route *r, char *out, size_t n)
{
	const char *open = strchr(r->pattern, '{');

	if (!open)
		snprintf(out, n, "%s", r->pattern);
	else
		snprintf(out, n, "%.*s%s%s", (int)(open - r->pattern), r->pattern,
		    strncmp(open, "{id}", 4) == 0 ? "655000000a0b0c0d0e000001" : "nothing",
		    strchr(open, '}') + 1);
}

static void check_problem(struct talk *t)
{
	json_t *v = talk_json(t);

	assert_string_equal(t->type, "application/problem+json");
	assert_int_equal(strncmp(jstr(v, "type"), "urn:reeve:error:", 16), 0);
	assert_int_equal(jint(v, "status"), t->status);
	assert_true(strlen(jstr(v, "title")) > 0);
	assert_true(strlen(jstr(v, "detail")) > 0);
	json_decref(v);
}

static void test_unknown_things(void **state)
{
	char path[128];

	for (size_t i = 0; i < route_number(NULL); i++) {
		struct talk *t;

		if (!strchr(route_at(i)->pattern, '{') || route_at(i)->method == API_PUT)
			continue; /* what is not there is made by it */
		path_of(route_at(i), path, sizeof path);
		t = ask(w, route_at(i)->method, path,
		    route_at(i)->request_needed ? "{\"priority\":1}" : NULL);
		assert_int_equal(t->status, 404);
		check_problem(t);
		talk_free(t);
	}
}

static void test_unknown_parameter(void **state)
{
	char path[128], target[160];

	for (size_t i = 0; i < route_number(NULL); i++) {
		struct talk *t;

		path_of(route_at(i), path, sizeof path);
		snprintf(target, sizeof target, "%s?limti=3", path);
		t = ask(w, route_at(i)->method, target, NULL);
		assert_int_equal(t->status, 400);
		check_problem(t);
		if (route_at(i)->query & Q(Q_LIMIT))
			assert_non_null(strstr(t->body.p, "did you mean \\\"limit\\\"?"));
		talk_free(t);
	}
}

/* One that the path does not know. */
static enum api_method wrong_method(const char *path)
{
	static const enum api_method all[] = {API_PUT, API_DELETE, API_POST};
	struct str args[ROUTE_ARGS];
	unsigned allowed;
	size_t i = 0;

	while (route_find(all[i], str_of(path), args, &allowed))
		MUST(++i < sizeof all / sizeof all[0]);
	return all[i];
}

static void test_wrong_method(void **state)
{
	char path[128], allow[64];

	for (size_t i = 0; i < route_number(NULL); i++) {
		struct talk *t;

		path_of(route_at(i), path, sizeof path);
		t = ask(w, wrong_method(path), path, NULL);
		assert_int_equal(t->status, 405);
		assert_non_null(strstr(talk_header(t, "Allow", allow, sizeof allow),
		    method_names[route_at(i)->method]));
		check_problem(t);
		talk_free(t);
	}
}

/* OPTIONS tells what the very path supports, and that there is nothing where there is nothing. */
static void test_options(void **state)
{
	struct talk *t;
	char allow[64];

	t = ask(w, API_OPTIONS, "/v1/tasks", NULL);
	assert_int_equal(t->status, 204);
	assert_string_equal(talk_header(t, "Allow", allow, sizeof allow), "GET, HEAD, POST");
	talk_free(t);
	t = ask(w, API_OPTIONS, "/v1/status", NULL);
	assert_int_equal(t->status, 204);
	assert_string_equal(talk_header(t, "Allow", allow, sizeof allow), "GET, HEAD");
	talk_free(t);
	t = ask(w, API_OPTIONS, "/v1/nothing", NULL);
	assert_int_equal(t->status, 404);
	check_problem(t);
	talk_free(t);
}

static void test_bodies(void **state)
{
	static const struct {
		const char *body;
		int status;
	} bad[] = {{"[1]", 400}, {"{", 400}, {"7", 400}, {"{\"nonsense\":1}", 400},
	    {"{\"a\\u0000b\":1}", 400}, {"{\"x\":99999999999999999999999}", 400},
	    {"{\"x\":\"\xff\"}", 400}, {"{\"reason\":1,\"reason\":2}", 400}};
	char path[128];

	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"nothing\"}", 201));
	world_worker(w, "nothing", 1);
	json_decref(ask_json(w, API_POST, "/v1/schedules",
	    "{\"name\":\"nothing\",\"items\":{\"epoch\":32000000000},\"max_shift\":1,"
	    "\"task\":{\"command\":[\"true\"]}}",
	    201));
	json_decref(ask_json(w, API_POST, "/v1/groups", "{\"name\":\"nothing\",\"jobs\":[]}", 201));
	json_decref(ask_json(w, API_PUT, "/v1/graphs/nothing/packages", "{\"packages\":[]}", 201));
	json_decref(ask_json(w, API_POST, "/v1/domains", "{\"name\":\"nothing\"}", 201));
	json_decref(ask_json(w, API_POST, "/v1/services",
	    "{\"name\":\"nothing\",\"instances\":0,\"task\":{\"command\":[\"true\"]}}", 201));
	for (size_t i = 0; i < route_number(NULL); i++)
		for (size_t k = 0; route_at(i)->request && k < sizeof bad / sizeof bad[0]; k++) {
			struct talk *t;

			path_of(route_at(i), path, sizeof path);
			t = ask(w, route_at(i)->method, path, bad[k].body);
			if (t->status != bad[k].status &&
			    !(k == 0 && route_at(i)->flags & ROUTE_BULK))
				fail_msg("%s with %s: %d", path, bad[k].body, t->status);
			talk_free(t);
		}
}

static void test_loading(void **state)
{
	struct world *early = world_new();
	json_t *v = ask_json(early, API_GET, "/v1/tasks", NULL, 503);
	struct talk *t;

	assert_string_equal(jstr(v, "type"), "urn:reeve:error:busy");
	json_decref(v);
	t = ask(early, API_GET, "/readyz", NULL);
	assert_int_equal(t->status, 503);
	talk_free(t);
	t = ask(early, API_GET, "/healthz", NULL);
	assert_int_equal(t->status, 200);
	assert_string_equal(t->body.p, "ok\n");
	talk_free(t);
	v = ask_json(early, API_GET, "/v1/status", NULL, 200);
	assert_true(json_is_false(json_object_get(v, "ready")));
	assert_int_equal(json_array_size(json_object_get(v, "waiting")), 1);
	json_decref(v);
	world_free(early);
}

static int status_as(bool is_unix, bool loopback, unsigned uid, const char *bearer,
    const char *host, const char *origin)
{
	struct talk *t = talk_new(API_GET, "/v1/status", NULL);
	int status;

	t->req.is_unix = is_unix;
	t->req.is_loopback = loopback;
	t->req.uid = uid;
	t->req.authorization = str_of(bearer);
	t->req.host = str_of(host);
	t->req.origin = str_of(origin);
	status = send(t)->status;
	talk_free(t);
	return status;
}

static void test_who_may_ask(void **state)
{
	struct api_options o = {.server_uid = 42,
	    .facts = {.listen = "build.example:80\n"},
	    .allow_hosts = "other.example\n",
	    .allow_origins = "https://ui.example\n"};
	const char *own = "Bearer sesame";

	world_options(w, &o);
	assert_int_equal(status_as(true, true, 0, NULL, NULL, NULL), 200);
	assert_int_equal(status_as(true, true, 42, NULL, NULL, NULL), 200);
	assert_int_equal(status_as(true, true, 43, NULL, NULL, NULL), 403);
	assert_int_equal(status_as(false, true, 0, NULL, "localhost:80", NULL), 401);
	assert_int_equal(status_as(false, false, 0, NULL, "10.0.0.1", NULL), 401);
	assert_int_equal(status_as(false, true, 0, "Bearer ", "localhost", NULL), 401);
	o.token = "sesame";
	world_options(w, &o);
	assert_int_equal(status_as(false, true, 0, own, "localhost:80", NULL), 200);
	assert_int_equal(status_as(false, true, 0, own, "127.0.0.1", NULL), 200);
	assert_int_equal(status_as(false, true, 0, own, "[::1]:80", NULL), 200);
	assert_int_equal(status_as(false, true, 0, own, "evil.example", NULL), 403);
	assert_int_equal(status_as(false, true, 0, own, "build.example:80", NULL), 200);
	assert_int_equal(status_as(false, true, 0, own, "other.example:1", NULL), 200);
	assert_int_equal(status_as(false, true, 0, own, "localhost", "http://evil.example"), 403);
	assert_int_equal(status_as(false, true, 0, own, "localhost:9", "http://localhost:9"), 200);
	assert_int_equal(status_as(false, true, 0, own, "localhost", "https://ui.example"), 200);
	assert_int_equal(status_as(false, true, 0, own, "localhost", "null"), 403);
	assert_int_equal(status_as(false, true, 0, NULL, NULL, NULL), 401);
	assert_int_equal(status_as(false, true, 0, "Bearer sesam", NULL, NULL), 401);
	assert_int_equal(status_as(false, true, 0, "Bearer sesamee", NULL, NULL), 401);
	assert_int_equal(status_as(false, true, 0, "Basic sesame", NULL, NULL), 401);
	assert_int_equal(status_as(false, false, 0, "Bearer sesame", "10.0.0.1", NULL), 200);
	assert_int_equal(status_as(true, true, 0, NULL, NULL, NULL), 200);
}

/* An address in front of another site's name is that site's name. */
static void test_host_is_read_to_its_end(void **state)
{
	static const char *const good[] = {"localhost", "LOCALHOST:1", "127.0.0.1:65535",
	    "127.0.0.1:", "[::1]", "[fe80::1]:80", "build.example", "other.example:"};
	static const char *const bad[] = {"", ":", ":80", "[::1].evil.com", "[::1]evil.com",
	    "[::1]:evil.com", "[::1]:80.evil.com", "[::1", "[]", "[]:80", "[localhost]",
	    "[127.0.0.1]", "[::1]]", "::1", "127.0.0.1:evil.com", "127.0.0.1:80:evil.com",
	    "127.0.0.1:+80", "127.0.0.1:-0", "127.0.0.1:800000", "127.0.0.1 ", " 127.0.0.1",
	    "localhost:80@evil.com", "evil.com:80", "other.example:x", "user@localhost"};

	world_options(w, &(struct api_options){.token = "sesame",
	                     .facts = {.listen = "build.example:80\n"},
	                     .allow_hosts = "other.example\n"});
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		if (status_as(false, true, 0, "Bearer sesame", good[i], NULL) != 200)
			fail_msg("\"%s\" is refused", good[i]);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (status_as(false, true, 0, "Bearer sesame", bad[i], NULL) != 403)
			fail_msg("\"%s\" is not refused", bad[i]);
}

static void test_base_path(void **state)
{
	struct api_options o = {.base_path = "/reeve"};
	char location[128];
	struct talk *t;

	world_options(w, &o);
	json_decref(ask_json(w, API_GET, "/reeve/v1/status", NULL, 200));
	json_decref(ask_json(w, API_GET, "/v1/status", NULL, 200));
	t = ask(w, API_POST, "/reeve/v1/tasks", "{\"command\":[\"x\"]}");
	talk_header(t, "Location", location, sizeof location);
	assert_int_equal(strncmp(location, "/reeve/v1/tasks/", 16), 0);
	talk_free(t);
}

static void test_odd_paths(void **state)
{
	static const char *const odd[] = {"", "/v1", "/v1/", "/v1/tasks//logs", "/v2/tasks",
	    "/v1/tasks/x/y/z", "/v1/tasks/../queues", "/v1/task"};

	for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
		json_decref(ask_json(w, API_GET, odd[i], NULL, 404));
	json_decref(ask_json(w, API_GET, "/v1/tasks/", NULL, 200));
	json_decref(ask_json(w, API_GET, "/v1/tasks?limit=1&limit=2", NULL, 400));
}

static void test_nul_in_a_path(void **state)
{
	static const char paths[][32] = {
	    "/v1/schedules/zz\0x", "/v1/queues/zz\0x", "/v1/no\0thing"};

	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		struct talk *t = talk_new(API_GET, paths[i], NULL);
		json_t *v;

		t->req.path = (struct str){paths[i], strlen(paths[i]) + 2};
		talk_send(w, t);
		world_run(w);
		assert_int_equal(t->status, 400);
		v = talk_json(t);
		assert_string_equal(jstr(v, "detail"), "the path holds a NUL byte (%00)");
		json_decref(v);
		talk_free(t);
	}
}

static void test_two_arguments(void **state)
{
	static const struct {
		const char *path, *first, *second; /* NULL: it is no such route */
	} cases[] = {
	    {"/v1/groups/g/jobs/a", "g", "a"},
	    {"/v1/groups/g/jobs/core/gcc#2", "g", "core/gcc#2"},
	    {"/v1/groups/g/jobs/a/jobs/b/", "g", "a/jobs/b"},
	    {"/v1/groups/g/jobs", "g", NULL},
	    {"/v1/groups/g/jobs/", "g", NULL},
	    {"/v1/groups//jobs/a", NULL, NULL},
	    {"/v1/groups/g/job/a", NULL, NULL},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct str args[ROUTE_ARGS];
		unsigned allowed;
		const struct route *r = route_find(API_GET, str_of(cases[i].path), args, &allowed);

		assert_int_equal(r != NULL, cases[i].first != NULL);
		assert_true(!r || str_is(args[0], cases[i].first));
		assert_true(!r || !cases[i].second || str_is(args[1], cases[i].second));
		assert_true(!r || cases[i].second || !args[1].p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_two_arguments),
	    cmocka_unit_test_setup_teardown(test_unknown_things, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_unknown_parameter, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_wrong_method, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_options, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_bodies, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_loading, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_who_may_ask, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_host_is_read_to_its_end, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_base_path, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_odd_paths, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_nul_in_a_path, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
