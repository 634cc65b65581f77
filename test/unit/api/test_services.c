/* SPDX-License-Identifier: Apache-2.0 */
/* Domains and services: what is taken, what is refused and how that is said, what is told. */
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

static json_t *is(json_t *v, const char *key)
{
	json_t *member = json_object_get(v, key);

	assert_non_null(member);
	return member;
}

static void test_domain(void **state)
{
	json_t *v = ask_json(w, API_POST, "/v1/domains", "{\"name\":\"apps\",\"ttl\":\"2m\"}", 201);
	json_t *again = ask_json(w, API_GET, "/v1/domains/apps", NULL, 200);

	assert_true(json_equal(v, again));
	assert_int_equal(jint(v, "ttl_ms"), 120000);
	assert_true(json_is_false(is(v, "fresh")));
	assert_true(json_is_null(is(v, "fresh_until")));
	assert_int_equal(jint(v, "services"), 0);
	json_decref(again);
	json_decref(v);
	json_decref(ask_json(w, API_POST, "/v1/domains", "{\"name\":\"apps\"}", 409));
	v = ask_json(w, API_POST, "/v1/domains/apps/fresh", NULL, 200);
	assert_true(json_is_true(is(v, "fresh")));
	assert_string_equal(jstr(v, "fresh_until"), "2023-11-14T22:15:25.000Z");
	json_decref(v);
	world_advance(w, 120000);
	v = ask_json(w, API_GET, "/v1/domains/apps", NULL, 200);
	assert_true(json_is_false(is(v, "fresh")));
	assert_true(json_is_null(is(v, "fresh_until")));
	json_decref(v);
	json_decref(ask_json(w, API_DELETE, "/v1/domains/apps", NULL, 204));
	json_decref(ask_json(w, API_GET, "/v1/domains/apps", NULL, 404));
}

static void test_domain_for_ever(void **state)
{
	json_t *v = ask_json(w, API_PUT, "/v1/domains/apps", NULL, 201);

	assert_true(json_is_null(is(v, "ttl_ms")));
	json_decref(v);
	v = ask_json(w, API_POST, "/v1/domains/apps/fresh", NULL, 200);
	assert_true(json_is_true(is(v, "fresh")));
	assert_true(json_is_null(is(v, "fresh_until")));
	json_decref(v);
	world_advance(w, 1000ll * 86400 * 400);
	v = ask_json(w, API_GET, "/v1/domains/apps", NULL, 200);
	assert_true(json_is_true(is(v, "fresh")));
	json_decref(v);
	v = ask_json(w, API_POST, "/v1/domains/apps/stale", NULL, 200);
	assert_true(json_is_false(is(v, "fresh")));
	json_decref(v);
}

/* The same words again change nothing but the version. */
static void test_domain_put(void **state)
{
	json_t *v = ask_json(w, API_PUT, "/v1/domains/apps", "{\"ttl\":60}", 201);

	assert_string_equal(jstr(v, "name"), "apps");
	assert_int_equal(jint(v, "ttl_ms"), 60000);
	json_decref(v);
	v = ask_json(w, API_PUT, "/v1/domains/apps", "{\"ttl\":60}", 200);
	assert_int_equal(jint(v, "ttl_ms"), 60000);
	json_decref(v);
	v = ask_json(w, API_PUT, "/v1/domains/apps", "{}", 200);
	assert_true(json_is_null(is(v, "ttl_ms")));
	json_decref(v);
	v = ask_json(w, API_PATCH, "/v1/domains/apps", "{\"name\":\"all\",\"ttl\":\"1h\"}", 200);
	assert_string_equal(jstr(v, "name"), "all");
	json_decref(v);
	json_decref(ask_json(w, API_GET, "/v1/domains/apps", NULL, 404));
}

static void test_domain_version(void **state)
{
	struct talk *t;
	char etag[32];

	json_decref(ask_json(w, API_PUT, "/v1/domains/apps", NULL, 201));
	t = talk_new(API_PUT, "/v1/domains/apps", "{\"ttl\":5}");
	t->req.if_match = STR("\"7\"");
	talk_send(w, t);
	world_run(w);
	assert_int_equal(t->status, 412);
	talk_free(t);
	t = talk_new(API_GET, "/v1/domains/apps", NULL);
	t->req.if_none_match = STR("\"1\"");
	talk_send(w, t);
	world_run(w);
	assert_int_equal(t->status, 304);
	assert_string_equal(talk_header(t, "ETag", etag, sizeof etag), "\"1\"");
	talk_free(t);
}

static void test_domain_list(void **state)
{
	static const char *const names[] = {"shop", "api", "apps", "batch"};
	json_t *v, *items;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char path[64];

		snprintf(path, sizeof path, "/v1/domains/%s", names[i]);
		json_decref(ask_json(w, API_PUT, path, NULL, 201));
	}
	v = ask_json(w, API_GET, "/v1/domains?limit=3", NULL, 200);
	items = is(v, "items");
	assert_int_equal(json_array_size(items), 3);
	assert_string_equal(jstr(json_array_get(items, 0), "name"), "api");
	assert_string_equal(jstr(v, "next"), "batch");
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/domains?cursor=batch", NULL, 200);
	assert_int_equal(json_array_size(is(v, "items")), 1);
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/domains?name=ap", NULL, 200);
	assert_int_equal(json_array_size(is(v, "items")), 2);
	json_decref(v);
}

#define WEB "{\"name\":\"web\",\"instances\":3,\"ports\":1,\"task\":{\"command\":[\"httpd\"]}"

static json_t *make(const char *more)
{
	char body[4096];

	snprintf(body, sizeof body, WEB "%s%s}", *more ? "," : "", more);
	return ask_json(w, API_POST, "/v1/services", body, 201);
}

static void make_web(void)
{
	json_decref(make(""));
}

static json_t *inside(json_t *v, const char *path)
{
	char name[64];

	for (size_t n; *path; path += n + (path[n] == '.')) {
		n = strcspn(path, ".");
		snprintf(name, sizeof name, "%.*s", (int)n, path);
		v = json_is_array(v) ? json_array_get(v, (size_t)atoi(name)) : is(v, name);
	}
	return v;
}

static long long number(json_t *v, const char *path)
{
	json_t *n = inside(v, path);

	assert_true(json_is_integer(n));
	return json_integer_value(n);
}

static const char *text(json_t *v, const char *path)
{
	json_t *s = inside(v, path);

	assert_true(json_is_string(s));
	return json_string_value(s);
}

static void test_defaults(void **state)
{
	json_t *v = make(""), *again = ask_json(w, API_GET, "/v1/services/web", NULL, 200);

	assert_true(json_equal(v, again));
	assert_int_equal(number(v, "instances"), 3);
	assert_int_equal(number(v, "ports"), 1);
	assert_int_equal(number(v, "crash.at_once"), 2);
	assert_int_equal(number(v, "crash.wait_ms"), 30000);
	assert_string_equal(text(v, "strategy.kind"), "rolling");
	assert_string_equal(text(v, "queue"), "services");
	assert_string_equal(text(v, "task.command.0"), "httpd");
	assert_int_equal(number(v, "deploy.target"), 1);
	assert_true(json_is_null(is(v, "routes")));
	assert_true(json_is_null(is(v, "annotation")));
	assert_int_equal(json_array_size(is(v, "needs")), 0);
	json_decref(again);
	json_decref(v);
	json_decref(ask_json(w, API_POST, "/v1/services", WEB "}", 409));
}

static void test_all_members(void **state)
{
	json_t *v;

	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"q\"}", 201));
	v = make(
	    "\"domain\":\"apps\",\"singleton\":true,\"labels\":{\"team\":\"shop\"},"
	    "\"annotation\":\"who knows\",\"routes\":[{\"host\":\"a.example\"}],\"queue\":\"q\","
	    "\"crash\":{\"wait\":\"5s\"},\"strategy\":{\"kind\":\"canary\",\"canary\":2},"
	    "\"need\":{\"memory\":\"1G\"},\"needs\":[\"db\",\"cache\",\"db\"],\"reason\":\"new\"");
	assert_string_equal(text(v, "domain"), "apps");
	assert_true(json_is_true(is(v, "singleton")));
	assert_string_equal(text(v, "labels.team"), "shop");
	assert_string_equal(text(v, "annotation"), "who knows");
	assert_string_equal(text(v, "routes.0.host"), "a.example");
	assert_string_equal(text(v, "queue"), "q");
	assert_int_equal(number(v, "crash.wait_ms"), 5000);
	assert_int_equal(number(v, "crash.at_once"), 2);
	assert_string_equal(text(v, "strategy.kind"), "canary");
	assert_int_equal(number(v, "strategy.canary"), 2);
	assert_int_equal(number(v, "strategy.max_surge"), 1);
	assert_int_equal(json_array_size(is(v, "needs")), 2);
	assert_string_equal(text(v, "needs.0"), "db");
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/services/web/revisions", NULL, 200);
	assert_string_equal(text(v, "items.0.reason"), "new");
	assert_string_equal(text(v, "items.0.queue"), "q");
	assert_true(json_is_true(inside(v, "items.0.target")));
	json_decref(v);
}

/* Only what it runs, or needs for that, makes a revision. */
static void test_what_makes_a_revision(void **state)
{
	json_t *v;

	make_web();
	v = ask_json(w, API_PATCH, "/v1/services/web",
	    "{\"instances\":5,\"routes\":{\"a\":1},\"annotation\":\"x\",\"crash\":{\"stop_at\":3},"
	    "\"strategy\":{\"max_unavailable\":1}}",
	    200);
	assert_int_equal(number(v, "deploy.target"), 1);
	assert_int_equal(number(v, "instances"), 5);
	assert_int_equal(number(v, "crash.stop_at"), 3);
	assert_int_equal(number(v, "crash.at_once"), 2);
	assert_int_equal(number(v, "strategy.max_surge"), 1);
	assert_int_equal(number(v, "strategy.max_unavailable"), 1);
	json_decref(v);
	v = ask_json(w, API_PATCH, "/v1/services/web",
	    "{\"task\":{\"command\":[\"httpd\",\"-v2\"]},\"reason\":\"v2\"}", 200);
	assert_int_equal(number(v, "deploy.target"), 2);
	assert_int_equal(number(v, "ports"), 1);
	json_decref(v);
	v = ask_json(w, API_PATCH, "/v1/services/web", "{\"ports\":2}", 200);
	assert_int_equal(number(v, "deploy.target"), 3);
	assert_string_equal(text(v, "task.command.1"), "-v2");
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/services/web/revisions", NULL, 200);
	assert_int_equal(json_array_size(is(v, "items")), 3);
	assert_int_equal(number(v, "items.0.revision"), 3);
	assert_string_equal(text(v, "items.1.reason"), "v2");
	assert_string_equal(text(v, "items.1.outcome"), "replaced");
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/services/web/revisions?limit=2", NULL, 200);
	assert_int_equal(json_array_size(is(v, "items")), 2);
	assert_string_equal(text(v, "next"), "2");
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/services/web/revisions?cursor=2", NULL, 200);
	assert_int_equal(number(v, "items.0.revision"), 1);
	assert_true(json_is_null(is(v, "next")));
	json_decref(v);
}

static void test_put(void **state)
{
	static const char body[] = "{\"instances\":2,\"task\":{\"command\":[\"httpd\"]}}";
	json_t *v = ask_json(w, API_PUT, "/v1/services/web", body, 201);
	long long version = number(v, "version");

	assert_string_equal(text(v, "name"), "web");
	json_decref(v);
	v = ask_json(w, API_PUT, "/v1/services/web", body, 200);
	assert_int_equal(number(v, "version"), version);
	json_decref(v);
	v = ask_json(w, API_PUT, "/v1/services/web", WEB "}", 200);
	assert_int_equal(number(v, "version"), version + 1);
	assert_int_equal(number(v, "instances"), 3);
	assert_int_equal(number(v, "deploy.target"), 2);
	json_decref(v);
	v = ask_json(w, API_PUT, "/v1/services/web", body, 200);
	assert_int_equal(number(v, "ports"), 0);
	json_decref(v);
}

static void test_plan(void **state)
{
	json_t *v = ask_json(w, API_PUT, "/v1/services/web?dry_run=true", WEB "}", 200);

	assert_true(json_is_false(is(v, "exists")));
	assert_true(json_is_true(is(v, "revision")));
	json_decref(v);
	json_decref(ask_json(w, API_GET, "/v1/services/web", NULL, 404));
	make_web();
	v = ask_json(w, API_PUT, "/v1/services/web?dry_run=true", WEB "}", 200);
	assert_true(json_is_false(is(v, "revision")));
	assert_int_equal(json_array_size(is(v, "changes")), 0);
	json_decref(v);
	v = ask_json(w, API_PATCH, "/v1/services/web?dry_run=true",
	    "{\"instances\":9,\"crash\":{\"wait\":1},\"task\":{\"command\":[\"httpd\"],"
	    "\"env\":{\"A\":\"1\"}}}",
	    200);
	assert_true(json_is_true(is(v, "revision")));
	assert_int_equal(json_array_size(is(v, "changes")), 3);
	assert_string_equal(text(v, "changes.0.member"), "instances");
	assert_int_equal(number(v, "changes.0.from"), 3);
	assert_int_equal(number(v, "changes.0.to"), 9);
	assert_string_equal(text(v, "changes.1.member"), "crash.wait_ms");
	assert_string_equal(text(v, "changes.2.member"), "task.env");
	assert_int_equal(number(v, "service.instances"), 9);
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/services/web", NULL, 200);
	assert_int_equal(number(v, "instances"), 3);
	assert_int_equal(number(v, "version"), 1);
	json_decref(v);
}

static void test_diff(void **state)
{
	json_t *v;

	make_web();
	v = ask_json(w, API_GET, "/v1/services/web/diff", NULL, 200);
	assert_true(json_is_null(is(v, "from")));
	assert_int_equal(number(v, "to"), 1);
	json_decref(v);
	json_decref(ask_json(w, API_PATCH, "/v1/services/web",
	    "{\"ports\":0,\"task\":{\"command\":[\"nginx\"]}}", 200));
	v = ask_json(w, API_GET, "/v1/services/web/diff", NULL, 200);
	assert_int_equal(number(v, "from"), 1);
	assert_int_equal(json_array_size(is(v, "changes")), 2);
	assert_string_equal(text(v, "changes.1.member"), "task.command");
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/services/web/diff?from=2&to=1", NULL, 200);
	assert_int_equal(number(v, "changes.0.to"), 1);
	json_decref(v);
	json_decref(ask_json(w, API_GET, "/v1/services/web/diff?from=9", NULL, 404));
}

static void test_verbs(void **state)
{
	json_t *v;

	make_web();
	json_decref(ask_json(w, API_PATCH, "/v1/services/web", "{\"ports\":2}", 200));
	v = ask_json(w, API_POST, "/v1/services/web/deploy", "{\"revision\":1}", 200);
	assert_int_equal(number(v, "deploy.target"), 1);
	assert_int_equal(number(v, "ports"), 1);
	json_decref(v);
	v = ask_json(w, API_POST, "/v1/services/web/rollback", "{\"revision\":2}", 200);
	assert_int_equal(number(v, "deploy.target"), 2);
	json_decref(v);
	json_decref(ask_json(w, API_POST, "/v1/services/web/deploy", "{\"revision\":2}", 409));
	json_decref(ask_json(w, API_POST, "/v1/services/web/promote", NULL, 409));
	json_decref(ask_json(w, API_POST, "/v1/services/web/deploy", "{\"revision\":7}", 404));
}

static void test_list(void **state)
{
	json_t *v;

	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"q\"}", 201));
	make_web();
	json_decref(ask_json(w, API_PUT, "/v1/services/api",
	    "{\"domain\":\"apps\",\"queue\":\"q\",\"task\":{\"command\":[\"a\"]}}", 201));
	json_decref(ask_json(w, API_PUT, "/v1/services/db",
	    "{\"domain\":\"apps\",\"task\":{\"command\":[\"a\"]}}", 201));
	v = ask_json(w, API_GET, "/v1/services?limit=2", NULL, 200);
	assert_string_equal(text(v, "items.0.name"), "api");
	assert_true(json_is_null(inside(v, "items.0.task")));
	assert_string_equal(text(v, "next"), "db");
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/services?cursor=db", NULL, 200);
	assert_int_equal(json_array_size(is(v, "items")), 1);
	assert_string_equal(text(v, "items.0.name"), "web");
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/services?domain=apps&queue=q&full=true", NULL, 200);
	assert_int_equal(json_array_size(is(v, "items")), 1);
	assert_string_equal(text(v, "items.0.task.command.0"), "a");
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/services?state=stalled", NULL, 200);
	assert_int_equal(json_array_size(is(v, "items")), 0);
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/domains", NULL, 200);
	assert_int_equal(json_array_size(is(v, "items")), 0);
	json_decref(v);
	v = ask_json(w, API_PUT, "/v1/domains/apps", NULL, 201);
	assert_int_equal(number(v, "services"), 2);
	json_decref(v);
	json_decref(ask_json(w, API_DELETE, "/v1/services/api", NULL, 204));
	json_decref(ask_json(w, API_GET, "/v1/services/api", NULL, 404));
}

static void test_circle(void **state)
{
	json_t *v;

	make_web();
	json_decref(ask_json(w, API_PUT, "/v1/services/db",
	    "{\"needs\":[\"web\"],\"task\":{\"command\":[\"a\"]}}", 201));
	v = ask_json(w, API_PATCH, "/v1/services/web", "{\"needs\":[\"db\"]}", 400);
	assert_string_equal(text(v, "field"), "needs");
	assert_string_equal(text(v, "detail"), "what the service \"web\" needs, needs it, too");
	json_decref(v);
}

/* Longer than a part of the loop's turn may be, and longer than is taken at all. */
static void test_too_long(void **state)
{
	static const struct {
		const char *member;
		size_t n;
		int status;
	} cases[] = {{"annotation", 10 << 10, 200}, {"annotation", (10 << 10) + 1, 400},
	    {"routes", (128 << 10) - 2, 200}, {"routes", (128 << 10) - 1, 413},
	    {"annotation", 10 << 20, 413}};

	make_web();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *long_text = malloc(cases[i].n + 1), *body;

		memset(long_text, 'x', cases[i].n);
		long_text[cases[i].n] = 0;
		body = xasprintf("{\"%s\":\"%s\"}", cases[i].member, long_text);
		json_decref(ask_json(w, API_PATCH, "/v1/services/web", body, cases[i].status));
		free(body);
		free(long_text);
	}
}

static void assert_domain(const char *path, int services)
{
	json_t *v = ask_json(w, API_GET, path, NULL, 200);

	assert_int_equal(jint(v, "services"), services);
	json_decref(v);
}

/* Also of services that were there before it, and by the name that it has now. */
static void test_a_domain_counts_its_services(void **state)
{
	json_decref(make("\"domain\":\"apps\""));
	json_decref(ask_json(w, API_PUT, "/v1/domains/apps", NULL, 201));
	json_decref(ask_json(w, API_PUT, "/v1/domains/shop", NULL, 201));
	assert_domain("/v1/domains/apps", 1);
	json_decref(ask_json(w, API_PATCH, "/v1/services/web", "{\"domain\":\"shop\"}", 200));
	assert_domain("/v1/domains/apps", 0);
	assert_domain("/v1/domains/shop", 1);
	json_decref(ask_json(w, API_PATCH, "/v1/domains/shop", "{\"name\":\"mall\"}", 200));
	assert_domain("/v1/domains/mall", 0);
	json_decref(ask_json(
	    w, API_PATCH, "/v1/services/web", "{\"domain\":\"mall\",\"instances\":0}", 200));
	assert_domain("/v1/domains/mall", 1);
	json_decref(ask_json(w, API_DELETE, "/v1/services/web", NULL, 204));
	world_run(w);
	assert_domain("/v1/domains/mall", 0);
}

/* --- routes */

static void test_routes(void **state)
{
	json_t *v;

	json_decref(
	    make("\"domain\":\"apps\",\"routes\":{\"host\":\"a\"},\"labels\":{\"k\":\"v\"}"));
	json_decref(
	    ask_json(w, API_PUT, "/v1/services/api", "{\"task\":{\"command\":[\"a\"]}}", 201));
	v = ask_json(w, API_GET, "/v1/routes", NULL, 200);
	assert_int_equal(json_array_size(is(v, "services")), 2);
	assert_string_equal(text(v, "services.0.name"), "api");
	assert_string_equal(text(v, "services.1.routes.host"), "a");
	assert_string_equal(text(v, "services.1.labels.k"), "v");
	assert_int_equal(json_array_size(inside(v, "services.1.instances")), 0);
	assert_true(number(v, "tag") >= number(v, "services.0.tag"));
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/routes?domain=apps", NULL, 200);
	assert_int_equal(json_array_size(is(v, "services")), 1);
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/routes/prometheus", NULL, 200);
	assert_int_equal(json_array_size(v), 0);
	json_decref(v);
}

/* What came since the last look; it is forgotten then. */
static char *heard(struct talk *t)
{
	char *text;

	world_run(w);
	text = xstrndup(t->body.p ? t->body.p : "", t->body.n);
	buf_reset(&t->body);
	return text;
}

static void assert_heard(struct talk *t, const char *const *words)
{
	char *said = heard(t);
	const char *at = said;

	for (; *words; words++) {
		at = strstr(at, *words);
		if (!at)
			fail_msg("not %s in: %s", *words, said);
	}
	free(said);
}

#define HEARD(t, ...) assert_heard(t, (const char *const[]){__VA_ARGS__, NULL})

static void test_stream_of_routes(void **state)
{
	struct talk *t = talk_new(API_GET, "/v1/routes/stream", NULL);
	char *said;

	make_web();
	talk_send(w, t);
	HEARD(t, "event: reset", "event: service", "\"name\":\"web\"", "event: synced");
	json_decref(ask_json(w, API_PATCH, "/v1/services/web", "{\"routes\":7}", 200));
	HEARD(t, "id: ", "event: service", "\"routes\":7");
	json_decref(ask_json(w, API_PUT, "/v1/domains/apps", NULL, 201));
	said = heard(t);
	assert_string_equal(said, "");
	free(said);
	json_decref(ask_json(w, API_PATCH, "/v1/services/web", "{\"instances\":0}", 200));
	world_run(w);
	json_decref(ask_json(w, API_DELETE, "/v1/services/web", NULL, 204));
	HEARD(t, "event: gone\ndata: {\"name\":\"web\",\"tag\":");
	talk_hang_up(t);
	talk_free(t);
}

static void test_stream_goes_on(void **state)
{
	struct talk *t;
	json_t *v;
	char *said;

	make_web();
	v = ask_json(w, API_GET, "/v1/routes", NULL, 200);
	t = talk_new(API_GET, "/v1/routes/stream", NULL);
	t->req.last_event_id = str_of(text(v, "next"));
	talk_send(w, t);
	said = heard(t);
	assert_null(strstr(said, "event:"));
	free(said);
	json_decref(ask_json(w, API_PATCH, "/v1/services/web", "{\"routes\":8}", 200));
	HEARD(t, "event: service", "\"routes\":8");
	talk_hang_up(t);
	talk_free(t);
	json_decref(v);
	t = talk_new(API_GET, "/v1/routes/stream?cursor=3-77", NULL); /* another process's */
	talk_send(w, t);
	HEARD(t, "event: reset", "event: synced");
	talk_hang_up(t);
	talk_free(t);
}

/* A client that does not read is told later, and then what is so. */
static void test_stream_that_is_not_read(void **state)
{
	struct talk *t = talk_new(API_GET, "/v1/routes/stream", NULL);
	char *said;

	talk_send(w, t);
	HEARD(t, "event: synced");
	t->pending = 100000;
	make_web();
	json_decref(ask_json(w, API_PATCH, "/v1/services/web", "{\"routes\":1}", 200));
	json_decref(ask_json(w, API_PATCH, "/v1/services/web", "{\"routes\":2}", 200));
	said = heard(t);
	assert_string_equal(said, "");
	free(said);
	t->pending = 0;
	t->drain(t->drain_arg);
	said = heard(t);
	assert_null(strstr(said, "\"routes\":1"));
	assert_non_null(strstr(said, "\"routes\":2"));
	free(said);
	talk_hang_up(t);
	talk_free(t);
}

#define LONG 1000        /* instances */
#define PIECE_MAX 150000 /* bytes of an event */

/* The next event: its words end there. False: that was all. */
static bool next_event(struct str *rest, struct str *ret_kind, json_t **ret_data)
{
	struct str line;

	*ret_data = NULL;
	while (!*ret_data && rest->n && str_next(rest, '\n', &line)) {
		assert_true(line.n < PIECE_MAX);
		if (str_starts(line, "event: "))
			*ret_kind = (struct str){line.p + 7, line.n - 7};
		if (str_starts(line, "data: "))
			*ret_data = json_loadb(line.p + 6, line.n - 6, 0, NULL);
	}
	return *ret_data;
}

/* The client reads all that comes, piece by piece. */
static void read_all(struct talk *t)
{
	void (*fn)(void *);

	talk_send(w, t);
	world_run(w);
	while ((fn = t->drain)) {
		t->drain = NULL;
		fn(t->drain_arg);
		world_run(w);
	}
}

static json_t *read_json(const char *path)
{
	struct talk *t = talk_new(API_GET, path, NULL);
	json_t *v;

	read_all(t);
	v = json_loadb(t->body.p, t->body.n, 0, NULL);
	assert_non_null(v);
	talk_free(t);
	return v;
}

/* Of a long service all instances come, each once and in order, and no piece is very long. */
static void test_a_long_service_is_told_in_pieces(void **state)
{
	struct talk *t = talk_new(API_GET, "/v1/routes/stream", NULL);
	size_t n = 0, pieces = 0;
	bool more = false;
	json_t *v, *one;
	struct str kind, rest;

	world_worker_with(w, "w1", "web", LONG);
	read_all(t);
	rest = buf_str(&t->body);
	while (next_event(&rest, &kind, &v)) {
		size_t i;

		assert_true(str_is(kind, "instances") == more || !str_is(kind, "instances"));
		json_array_foreach(json_object_get(v, "instances"), i, one)
		{
			assert_int_equal(jint(one, "index"), n++);
			assert_true(json_is_true(is(one, "routed")));
		}
		more = json_is_true(json_object_get(v, "more"));
		pieces += json_object_get(v, "instances") != NULL;
		json_decref(v);
	}
	assert_int_equal(n, LONG);
	assert_true(pieces > 3 && !more);
	assert_true(str_is(kind, "synced"));
	talk_hang_up(t);
	talk_free(t);
}

static void test_a_long_service_in_the_state(void **state)
{
	json_t *v;

	world_worker_with(w, "w1", "web", LONG);
	json_decref(
	    ask_json(w, API_PUT, "/v1/services/api", "{\"task\":{\"command\":[\"a\"]}}", 201));
	v = read_json("/v1/routes");
	assert_int_equal(json_array_size(is(v, "services")), 2);
	assert_int_equal(json_array_size(inside(v, "services.1.instances")), LONG);
	assert_int_equal(number(v, "services.1.instances.999.index"), 999);
	assert_string_equal(text(v, "services.1.domain"), "apps");
	json_decref(v);
	v = read_json("/v1/routes/prometheus");
	assert_int_equal(json_array_size(v), 2 * LONG);
	json_decref(v);
}

/* method, path, body, status, field, a piece of what is said or hinted */
#define TASK ",\"task\":{\"command\":[\"a\"]}"
static const struct refusal {
	enum api_method method;
	const char *path, *body;
	int status;
	const char *field, *words;
} refusals[] = {
    {API_POST, "/v1/domains", "{}", 400, "name", "needs a \"name\""},
    {API_POST, "/v1/domains", "{\"name\":\"a\",\"tll\":5}", 400, "tll", "ttl"},
    {API_POST, "/v1/domains", "{\"name\":\"a\",\"ttl\":-5}", 400, "ttl", "duration"},
    {API_POST, "/v1/domains", "{\"name\":\"a/b\"}", 400, "name", "usable name"},
    {API_PUT, "/v1/domains/a,b", NULL, 400, "domain", "usable name"},
    {API_PUT, "/v1/domains/a", "{\"name\":\"b\"}", 400, "name", "no member"},
    {API_PATCH, "/v1/domains/none", "{\"ttl\":5}", 404, "domain", "reeve domain set none"},
    {API_POST, "/v1/domains/none/fresh", NULL, 404, "domain", "there is no domain"},
    {API_POST, "/v1/services", "{\"task\":{\"command\":[\"a\"]}}", 400, "name", "needs a \"name\""},
    {API_POST, "/v1/services", "{\"name\":\"a\"}", 400, "task", "POST /v1/tasks"},
    {API_POST, "/v1/services", "{\"name\":\"a\",\"instances\":-1" TASK "}", 400, "instances",
        "between 0 and"},
    {API_POST, "/v1/services", "{\"name\":\"a\",\"instances\":100001" TASK "}", 400, "instances",
        "100000"},
    {API_POST, "/v1/services", "{\"name\":\"a\",\"instances\":1.5" TASK "}", 400, "instances",
        "integer"},
    {API_POST, "/v1/services", "{\"name\":\"a\",\"instnaces\":1" TASK "}", 400, "instnaces",
        "instances"},
    {API_POST, "/v1/services", "{\"name\":\"a\",\"ports\":65" TASK "}", 400, "ports", "64"},
    {API_POST, "/v1/services", "{\"name\":\"a\",\"crash\":{\"wiat\":1}" TASK "}", 400, "crash.wiat",
        "wait"},
    {API_POST, "/v1/services", "{\"name\":\"a\",\"crash\":{\"at_once\":-1}" TASK "}", 400,
        "crash.at_once", "between"},
    {API_POST, "/v1/services", "{\"name\":\"a\",\"strategy\":{\"kind\":\"roling\"}" TASK "}", 400,
        "strategy.kind", "rolling"},
    {API_POST, "/v1/services", "{\"name\":\"a\",\"needs\":\"db\"" TASK "}", 400, "needs",
        "names of services"},
    {API_POST, "/v1/services", "{\"name\":\"a\",\"needs\":[\"d/b\"]" TASK "}", 400, "needs[0]",
        "usable name"},
    {API_POST, "/v1/services", "{\"name\":\"a\",\"needs\":[\"a\"]" TASK "}", 400, "needs",
        "needs itself"},
    {API_POST, "/v1/services", "{\"name\":\"a\",\"labels\":{\"k\":1}" TASK "}", 400, "labels.k",
        "a string"},
    {API_POST, "/v1/services", "{\"name\":\"a\",\"queue\":\"none\"" TASK "}", 404, "queue",
        "no queue"},
    {API_POST, "/v1/services", "{\"name\":\"a\",\"task\":{\"comand\":[]}}", 400, "task.comand",
        "command"},
    {API_POST, "/v1/services", "{\"name\":\"a\",\"task\":{}}", 400, "task.command",
        "no \"command\""},
    {API_POST, "/v1/services", "{\"name\":\"a\",\"task\":{\"timeout\":5}}", 400, "task.timeout",
        "until it is stopped"},
    {API_PUT, "/v1/services/b", "{\"name\":\"a\"" TASK "}", 400, "name", "PATCH renames"},
    {API_PUT, "/v1/services/a,b", "{\"name\":\"a\"" TASK "}", 400, "service", "usable name"},
    {API_PATCH, "/v1/services/none", "{\"instances\":1}", 404, "service", "reeve service ls"},
    {API_GET, "/v1/services/none/instances", NULL, 404, "service", "no service"},
    {API_GET, "/v1/services/none/revisions", NULL, 404, "service", "no service"},
    {API_GET, "/v1/services/none/why?index=0", NULL, 404, "service", "no service"},
    {API_POST, "/v1/services/none/restart", NULL, 404, "service", "no service"},
};

static void refused(const struct refusal *r)
{
	json_t *v = ask_json(w, r->method, r->path, r->body, r->status);
	char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);

	if (r->field)
		assert_string_equal(jstr(v, "field"), r->field);
	if (!strstr(jstr(v, "detail"), r->words) &&
	    !(json_object_get(v, "hint") && strstr(jstr(v, "hint"), r->words)))
		fail_msg("%s %s: %s", r->path, r->body ? r->body : "", text);
	free(text);
	json_decref(v);
}

static void test_refusals(void **state)
{
	for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
		refused(&refusals[i]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_domain), TEST(test_domain_for_ever),
	    TEST(test_domain_put), TEST(test_domain_version), TEST(test_domain_list),
	    TEST(test_defaults), TEST(test_all_members), TEST(test_what_makes_a_revision),
	    TEST(test_put), TEST(test_plan), TEST(test_diff), TEST(test_verbs), TEST(test_list),
	    TEST(test_circle), TEST(test_too_long), TEST(test_routes), TEST(test_stream_of_routes),
	    TEST(test_stream_goes_on), TEST(test_stream_that_is_not_read),
	    TEST(test_a_long_service_is_told_in_pieces), TEST(test_a_domain_counts_its_services),
	    TEST(test_a_long_service_in_the_state), TEST(test_refusals)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
