/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules: what is taken, what is refused and how that is said, and what is told about them. */
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

#define TASK "\"task\":{\"command\":[\"true\"]}"
#define EPOCH "\"items\":{\"epoch\":{\"period\":10}}"
#define REST "\"max_shift\":\"10m\"," TASK

static json_t *make(const char *members)
{
	char body[2048];

	snprintf(body, sizeof body, "{%s," REST "}", members);
	return ask_json(w, API_POST, "/v1/schedules", body, 201);
}

static void make_ten(void)
{
	json_decref(make("\"name\":\"ten\"," EPOCH));
}

static size_t count(json_t *v, const char *key)
{
	return json_array_size(json_object_get(v, key));
}

static const char *words_at(json_t *v, const char *key, size_t i)
{
	return json_string_value(json_array_get(json_object_get(v, key), i));
}

static void test_crontab(void **state)
{
	json_t *v =
	    make("\"name\":\"night\",\"crontab\":\"30 2 * * *\",\"time_zone\":\"Europe/Berlin\"");
	json_t *again = ask_json(w, API_GET, "/v1/schedules/night", NULL, 200);

	assert_true(json_equal(v, again));
	assert_string_equal(jstr(v, "source"), "crontab 30 2 * * *");
	assert_string_equal(jstr(v, "state"), "active");
	assert_string_equal(jstr(v, "overlap"), "skip");
	assert_string_equal(jstr(v, "missed"), "once");
	assert_int_equal(jint(v, "max_shift_ms"), 600000);
	assert_string_equal(jstr(v, "next"), "2023-11-15T01:30:00.000Z");
	assert_string_equal(jstr(v, "next_local"), "2023-11-15T02:30:00+01:00");
	assert_int_equal(count(v, "items"), 1);
	assert_string_equal(words_at(v, "dst", 0),
	    "a time that does not exist runs one second before the gap; one that comes twice "
	    "runs once, the early one");
	assert_string_equal(jstr(json_object_get(v, "task"), "queue"), "default");
	json_decref(again);
	json_decref(v);
}

static void test_given_answers(void **state)
{
	json_t *v = make("\"name\":\"n\",\"calendar\":\"Mon *-*-* 02:30\",\"time_zone\":\"+02:00\","
	                 "\"dst\":[\"skip\",\"repeat_use_both\"]");

	assert_string_equal(words_at(v, "dst", 0),
	    "a time that does not exist is skipped; one that comes twice "
	    "runs twice");
	json_decref(v);
	v = ask_json(w, API_PATCH, "/v1/schedules/n", "{\"dst\":\"vixie\"}", 200);
	assert_non_null(strstr(words_at(v, "dst", 0), "the early one"));
	assert_string_equal(jstr(v, "source"), "calendar Mon *-*-* 02:30");
	assert_string_equal(jstr(v, "time_zone"), "+02:00");
	json_decref(v);
	v = ask_json(w, API_PATCH, "/v1/schedules/n", "{\"time_zone\":\"UTC\"}", 200);
	assert_string_equal(jstr(v, "time_zone"), "UTC");
	assert_int_equal(jint(v, "version"), 3);
	json_decref(v);
}

/* body, field, a piece of what is said or hinted */
static const char *const refusals[][3] = {
    {"{}", "name", "name"},
    {"{\"name\":\"preview\"," EPOCH "," REST "}", "name", "something else"},
    {"{\"name\":\"a/b\"," EPOCH "," REST "}", "name", "usable name"},
    {"{\"name\":\"x\"," REST "}", "crontab", "when it shall run"},
    {"{\"name\":\"x\"," EPOCH ",\"crontab\":\"* * * * *\"," REST "}", "items", "more than once"},
    {"{\"name\":\"x\",\"crontab\":\"61 * * * *\",\"time_zone\":\"UTC\"," REST "}", "crontab",
        "column"},
    {"{\"name\":\"x\",\"crontab\":7,\"time_zone\":\"UTC\"," REST "}", "crontab", "a string"},
    {"{\"name\":\"x\",\"crontab\":\"0 0 30 2 *\",\"time_zone\":\"UTC\"," REST "}", "crontab",
        "no date will ever match"},
    {"{\"name\":\"x\",\"crontab\":\"0 0 * * *\"," REST "}", "time_zone", "need a zone"},
    {"{\"name\":\"x\",\"crontab\":\"0 0 * * *\",\"time_zone\":\"Europe/Berln\"," REST "}",
        "time_zone", "Europe/Berlin"},
    {"{\"name\":\"x\",\"crontab\":\"0 0 * * *\",\"time_zone\":3," REST "}", "time_zone",
        "a string"},
    {"{\"name\":\"x\",\"crontab\":\"CRON_TZ=UTC 0 0 * * *\",\"time_zone\":\"Europe/Paris\"," REST
     "}",
        "time_zone", "leave one of them out"},
    {"{\"name\":\"x\",\"time_zone\":\"UTC\"," EPOCH "," REST "}", "time_zone", "every zone"},
    {"{\"name\":\"x\",\"crontab\":\"0 0 * * *\",\"time_zone\":\"UTC\",\"dst\":\"maybe\"," REST "}",
        "dst", "skip"},
    {"{\"name\":\"x\",\"crontab\":\"0 0 * * *\",\"time_zone\":\"UTC\",\"dst\":[\"skip\"]," REST "}",
        "dst", "two"},
    {"{\"name\":\"x\"," EPOCH ",\"dst\":\"vixie\"," REST "}", "dst", "dst_fixes"},
    {"{\"name\":\"x\",\"items\":{\"hour\":2}," REST "}", "items.minute", "is missing"},
    {"{\"name\":\"x\"," EPOCH "," TASK "}", "max_shift", "how late"},
    {"{\"name\":\"x\"," EPOCH ",\"max_shift\":\"1500ms\"," TASK "}", "max_shift", "whole seconds"},
    {"{\"name\":\"x\"," EPOCH ",\"max_shift\":\"400d\"," TASK "}", "max_shift", "366"},
    {"{\"name\":\"x\",\"items\":{\"epoch\":5,"
     "\"max_shift_seconds_for_unskip_and_do_not_repeat\":7}," REST "}",
        "max_shift", "one such limit"},
    {"{\"name\":\"x\",\"items\":[{\"epoch\":5,"
     "\"max_shift_seconds_for_unskip_and_do_not_repeat\":7},{\"epoch\":6,"
     "\"max_shift_seconds_for_unskip_and_do_not_repeat\":8}]," TASK "}",
        "max_shift", "one such limit"},
    {"{\"name\":\"x\"," EPOCH ",\"max_shift\":1}", "task", "POST /v1/tasks"},
    {"{\"name\":\"x\"," EPOCH ",\"max_shift\":1,\"task\":[]}", "task", "an object"},
    {"{\"name\":\"x\"," EPOCH ",\"max_shift\":1,\"task\":{\"comand\":[]}}", "task.comand",
        "command"},
    {"{\"name\":\"x\"," EPOCH ",\"max_shift\":1,\"task\":{\"run_after\":5}}", "task.run_after",
        "jitter"},
    {"{\"name\":\"x\"," EPOCH ",\"max_shift\":1,\"task\":{\"key\":\"k\"}}", "task.key", "overlap"},
    {"{\"name\":\"x\"," EPOCH ",\"overlap\":\"skp\"," REST "}", "overlap", "did you mean"},
    {"{\"name\":\"x\"," EPOCH ",\"missed\":\"never\"," REST "}", "missed", "once"},
    {"{\"name\":\"x\"," EPOCH ",\"jitter\":\"2d\"," REST "}", "jitter", "a day"},
    {"{\"name\":\"x\"," EPOCH ",\"start\":\"soon\"," REST "}", "start", "neither a time"},
    {"{\"name\":\"x\"," EPOCH ",\"start\":\"2h\",\"end\":\"1h\"," REST "}", "end",
        "before it starts"},
    {"{\"name\":\"x\"," EPOCH ",\"end\":\"2023-11-14T22:00:00Z\"," REST "}", "end",
        "lies in the past"},
    {"{\"name\":\"x\",\"crontab\":\"0 0 1 1 *\",\"time_zone\":\"UTC\",\"end\":\"1d\"," REST "}",
        "end", "first time, 2024-01-01T00:00:00"},
    {"{\"name\":\"x\",\"items\":{\"epoch\":5}," REST "}", "items", "lie in the past"},
    {"{\"name\":\"x\",\"calendar\":\"2020-1-1\",\"time_zone\":\"UTC\"," REST "}", "calendar",
        "lie in the past"},
    {"{\"name\":\"x\",\"items\":{\"epoch\":{\"period\":10,\"end\":1800000000}},"
     "\"start\":\"2099-01-01T00:00:00Z\"," REST "}",
        "items", "before \\\"start"},
    {"{\"name\":\"x\"," EPOCH ",\"ende\":\"1h\"," REST "}", "ende", "end"},
};

static void refuse(const char *target, const char *const wanted[3])
{
	struct talk *t = ask(w, API_POST, target, wanted[0]);
	json_t *v = talk_json(t);

	if (t->status != 400 || strcmp(jstr(v, "field"), wanted[1]) != 0 ||
	    !strstr(t->body.p, wanted[2]))
		fail_msg("%s\nis answered with %s", wanted[0], t->body.p);
	json_decref(v);
	talk_free(t);
}

static void test_refusals(void **state)
{
	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"default\"}", 201));
	for (size_t i = 0; i < 2 * sizeof refusals / sizeof refusals[0]; i++)
		refuse(i % 2 ? "/v1/schedules" : "/v1/schedules?dry_run=true", refusals[i / 2]);
	assert_int_equal(core_count(world_core(w), KIND_SCHEDULE), 0);
}

/* A change is held to the same, and what it leaves out counts as it was. */
static void test_changes_that_leave_nothing(void **state)
{
	static const char *const refused[] = {
	    "{\"end\":\"2023-11-14T22:00:00Z\"}",
	    "{\"items\":{\"epoch\":5}}",
	    "{\"items\":{\"epoch\":4000000000}}",
	    "{\"start\":\"2099-01-01T00:00:00Z\",\"end\":null,"
	    "\"items\":{\"epoch\":{\"period\":10,\"end\":1900000000}}}",
	};
	json_t *v = make("\"name\":\"ten\",\"end\":\"2030-01-01T00:00:00Z\"," EPOCH);

	json_decref(v);
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		v = ask_json(w, API_PATCH, "/v1/schedules/ten", refused[i], 400);
		assert_non_null(strstr(jstr(v, "detail"), "never run"));
		json_decref(v);
	}
	v = ask_json(w, API_PATCH, "/v1/schedules/ten",
	    "{\"items\":{\"epoch\":4000000000},\"end\":null}", 200);
	assert_int_equal(jint(v, "version"), 2);
	json_decref(v);
}

static void test_dry_run(void **state)
{
	static const char body[] = "{\"name\":\"ten\",\"start\":\"2023-11-14T22:20:01Z\","
	                           "\"end\":\"2023-11-14T22:20:20Z\"," EPOCH "," REST "}";
	json_t *v = ask_json(w, API_POST, "/v1/schedules?dry_run=true", body, 200);

	assert_int_equal(count(v, "next"), 2);
	assert_string_equal(
	    jstr(json_array_get(json_object_get(v, "next"), 0), "utc"), "2023-11-14T22:20:10.000Z");
	assert_string_equal(jstr(v, "overlap"), "skip");
	assert_int_equal(jint(v, "max_shift_ms"), 600000);
	assert_string_equal(jstr(json_object_get(v, "task"), "queue"), "default");
	assert_int_equal(core_count(world_core(w), KIND_SCHEDULE), 0);
	assert_null(core_queue(world_core(w),
	    core_find(world_core(w), KIND_QUEUE, STR("default")))); /* it only would be made */
	json_decref(v);
	json_decref(ask_json(w, API_POST, "/v1/schedules", body, 201));
	v = ask_json(w, API_POST, "/v1/schedules?dry_run=1", body, 409);
	assert_non_null(strstr(jstr(v, "detail"), "already"));
	json_decref(v);
	json_decref(ask_json(w, API_POST, "/v1/schedules?dry_run=perhaps", body, 400));
}

static void test_fires_and_tells(void **state)
{
	json_t *v, *tick, *task;
	char target[96];

	make_ten();
	world_advance(w, 5000);
	v = ask_json(w, API_GET, "/v1/schedules/ten/history", NULL, 200);
	assert_int_equal(count(v, "items"), 1);
	tick = json_array_get(json_object_get(v, "items"), 0);
	assert_string_equal(jstr(tick, "outcome"), "fired");
	assert_string_equal(jstr(tick, "tick"), "2023-11-14T22:13:30.000Z");
	assert_string_equal(jstr(tick, "local"), "2023-11-14T22:13:30+00:00");
	snprintf(target, sizeof target, "/v1/tasks/%s", jstr(tick, "task"));
	task = ask_json(w, API_GET, target, NULL, 200);
	assert_string_equal(jstr(task, "schedule"), "ten");
	assert_string_equal(jstr(task, "tick"), "2023-11-14T22:13:30.000Z");
	json_decref(task);
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/tasks?schedule=ten", NULL, 200);
	assert_int_equal(count(v, "items"), 1);
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/schedules/ten", NULL, 200);
	assert_int_equal(jint(v, "fired"), 1);
	assert_int_equal(jint(v, "live"), 1);
	assert_string_equal(jstr(json_object_get(v, "last"), "tick"), "2023-11-14T22:13:30.000Z");
	json_decref(v);
}

static void test_history_pages(void **state)
{
	char target[160];
	json_t *v, *next;
	int n = 0;

	make_ten(); /* its first task never ends: then skips */
	for (int i = 0; i < 7; i++)
		world_advance(w, 10000);
	snprintf(target, sizeof target, "/v1/schedules/ten/history?limit=2");
	for (;;) {
		v = ask_json(w, API_GET, target, NULL, 200);
		n += (int)count(v, "items");
		next = json_object_get(v, "next");
		assert_true(n <= 7);
		if (json_is_null(next))
			break;
		snprintf(target, sizeof target, "/v1/schedules/ten/history?limit=2&cursor=%s",
		    json_string_value(next));
		json_decref(v);
	}
	json_decref(v);
	assert_int_equal(n, 7);
	json_decref(ask_json(w, API_GET, "/v1/schedules/ten/history?cursor=1.2", NULL, 400));
	json_decref(ask_json(w, API_GET, "/v1/schedules/ten/history?cursor=1.2.3.4", NULL, 400));
	json_decref(ask_json(w, API_GET, "/v1/schedules/ten/history?cursor=x", NULL, 400));
}

static void test_pause_and_resume(void **state)
{
	json_t *v, *tick;

	make_ten();
	v = ask_json(w, API_POST, "/v1/schedules/ten/pause", "{\"reason\":\"a move\"}", 200);
	assert_string_equal(jstr(v, "state"), "paused");
	assert_string_equal(jstr(json_object_get(v, "pause"), "reason"), "a move");
	assert_true(json_is_null(json_object_get(v, "next")));
	json_decref(v);
	world_advance(w, 60000);
	json_decref(ask_json(w, API_POST, "/v1/schedules/ten/resume", NULL, 200));
	json_decref(ask_json(w, API_POST, "/v1/schedules/ten/resume", NULL, 409));
	v = ask_json(w, API_GET, "/v1/schedules/ten/history", NULL, 200);
	assert_int_equal(count(v, "items"), 1);
	tick = json_array_get(json_object_get(v, "items"), 0);
	assert_string_equal(jstr(tick, "outcome"), "skipped");
	assert_string_equal(jstr(tick, "reason"), "paused: a move");
	assert_string_equal(jstr(tick, "until"), "2023-11-14T22:14:25.000Z");
	json_decref(v);
}

static size_t backfill(const char *body)
{
	json_t *v = ask_json(w, API_POST, "/v1/schedules/ten/backfill", body, 200);
	size_t n = count(v, "tasks");

	json_decref(v);
	return n;
}

static void test_backfill_and_run(void **state)
{
	json_t *v;

	make_ten();
	assert_int_equal(backfill("{\"from\":\"60s\"}"), 6);
	assert_int_equal(backfill("{\"from\":\"60s\"}"), 0);
	assert_int_equal(backfill("{\"from\":\"80s\",\"to\":\"50s\"}"), 2);
	json_decref(ask_json(w, API_POST, "/v1/schedules/ten/backfill", "{}", 400));
	json_decref(ask_json(
	    w, API_POST, "/v1/schedules/ten/backfill", "{\"from\":\"1h\",\"to\":\"2h\"}", 400));
	json_decref(ask_json(w, API_POST, "/v1/schedules/ten/backfill",
	    "{\"from\":\"1h\",\"to\":\"2123-01-01T00:00:00Z\"}", 400));
	json_decref(ask_json(
	    w, API_POST, "/v1/schedules/ten/backfill", "{\"from\":\"1970-01-02T00:00:00Z\"}", 413));
	v = ask_json(w, API_POST, "/v1/schedules/ten/run", NULL, 201);
	assert_int_equal(count(v, "tasks"), 1);
	json_decref(v);
}

/* A stretch that was skipped keeps its line when one of its ticks is filled in. */
static void test_backfill_keeps_the_skip(void **state)
{
	json_t *v;

	make_ten();
	json_decref(ask_json(w, API_POST, "/v1/schedules/ten/pause", NULL, 200));
	world_advance(w, 60000);
	json_decref(ask_json(w, API_POST, "/v1/schedules/ten/backfill", "{\"from\":\"60s\"}", 409));
	json_decref(ask_json(w, API_POST, "/v1/schedules/ten/resume", NULL, 200));
	assert_int_equal(backfill("{\"from\":\"60s\",\"to\":\"50s\"}"), 1);
	v = ask_json(w, API_GET, "/v1/schedules/ten/history", NULL, 200);
	assert_int_equal(count(v, "items"), 2);
	json_decref(v);
	assert_int_equal(backfill("{\"from\":\"60s\"}"), 5);
}

static void test_versions(void **state)
{
	struct talk *t;

	make_ten();
	t = talk_new(API_PATCH, "/v1/schedules/ten", "{\"jitter\":\"2s\"}");
	t->req.if_match = STR("\"7\"");
	talk_send(w, t);
	world_run(w);
	assert_int_equal(t->status, 412);
	talk_free(t);
	json_decref(ask_json(w, API_PATCH, "/v1/schedules/ten", "{}", 400));
	json_decref(
	    ask_json(w, API_POST, "/v1/schedules", "{\"name\":\"ten\"," EPOCH "," REST "}", 409));
	json_decref(ask_json(w, API_DELETE, "/v1/queues/default", NULL, 409));
	assert_null(ask_json(w, API_DELETE, "/v1/schedules/ten", NULL, 204));
	json_decref(ask_json(w, API_GET, "/v1/schedules/ten", NULL, 404));
}

static size_t listed(const char *query)
{
	char target[128];
	json_t *v;
	size_t n;

	snprintf(target, sizeof target, "/v1/schedules%s", query);
	v = ask_json(w, API_GET, target, NULL, 200);
	n = count(v, "items");
	json_decref(v);
	return n;
}

static void test_list(void **state)
{
	static const char *const names[] = {"a", "ab", "abc", "b", "z"};
	char members[128];
	json_t *v;

	for (size_t i = 0; i < 5; i++) {
		snprintf(members, sizeof members, "\"name\":\"%s\"," EPOCH, names[i]);
		json_decref(make(members));
	}
	json_decref(ask_json(w, API_POST, "/v1/schedules/ab/pause", NULL, 200));
	assert_int_equal(listed(""), 5);
	assert_int_equal(listed("?name=ab"), 2);
	assert_int_equal(listed("?name=a&state=active"), 2);
	assert_int_equal(listed("?state=paused,finished"), 1);
	assert_int_equal(listed("?name=ab&cursor=ab"), 1);
	assert_int_equal(listed("?cursor=abc"), 2);
	assert_int_equal(listed("?queue=default"), 5);
	assert_int_equal(listed("?name=q"), 0);
	v = ask_json(w, API_GET, "/v1/schedules?limit=2", NULL, 200);
	assert_string_equal(jstr(v, "next"), "ab");
	assert_null(json_object_get(
	    json_object_get(json_array_get(json_object_get(v, "items"), 0), "task"), "command"));
	json_decref(v);
	json_decref(ask_json(w, API_GET, "/v1/schedules?state=asleep", NULL, 400));
}

static void test_preview(void **state)
{
	json_t *v = ask_json(w, API_POST, "/v1/schedules/preview",
	    "{\"crontab\":\"30 2 1 * Mon\",\"time_zone\":\"Europe/Berlin\",\"n\":2,\"year\":2027}",
	    200);

	assert_int_equal(count(v, "items"), 2);
	assert_true(*jstr(v, "either_or"));
	assert_int_equal(count(v, "next"), 2);
	assert_int_equal(core_count(world_core(w), KIND_SCHEDULE), 0);
	json_decref(v);
	v = ask_json(w, API_POST, "/v1/schedules/preview",
	    "{\"crontab\":\"30 2 * * *\",\"time_zone\":\"Europe/Berlin\",\"n\":0}", 200);
	assert_int_equal(count(v, "daylight_saving"), 4);
	json_decref(v);
	json_decref(ask_json(
	    w, API_POST, "/v1/schedules/preview", "{\"crontab\":\"* * * * *\",\"n\":101}", 400));
	json_decref(ask_json(w, API_POST, "/v1/schedules/preview", "{}", 400));
}

static void test_next(void **state)
{
	json_t *v;

	json_decref(make("\"name\":\"ten\",\"start\":\"2023-11-14T22:20:01Z\","
	                 "\"end\":\"2023-11-14T22:20:20Z\"," EPOCH));
	v = ask_json(w, API_GET, "/v1/schedules/ten/next?n=9", NULL, 200);
	assert_int_equal(count(v, "items"), 2);
	assert_string_equal(jstr(json_array_get(json_object_get(v, "items"), 0), "utc"),
	    "2023-11-14T22:20:10.000Z");
	json_decref(v);
	for (int i = 0; i < 50; i++)
		world_advance(w, 10000);
	v = ask_json(w, API_GET, "/v1/schedules/ten", NULL, 200);
	assert_string_equal(jstr(v, "state"), "finished");
	json_decref(v);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {T(test_crontab), T(test_given_answers), T(test_refusals),
	    T(test_fires_and_tells), T(test_history_pages), T(test_pause_and_resume),
	    T(test_backfill_and_run), T(test_backfill_keeps_the_skip), T(test_versions),
	    T(test_list), T(test_preview), T(test_next), T(test_changes_that_leave_nothing),
	    T(test_dry_run)};

	return cmocka_run_group_tests_name("api/schedules", tests, NULL, NULL);
}
