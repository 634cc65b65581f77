/* SPDX-License-Identifier: Apache-2.0 */
/* Server-sent events: form, filters, resuming, heartbeats, slow clients; and the durable list. */
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

static struct talk *follow(const char *query, const char *last)
{
	char target[128];
	struct talk *t;

	snprintf(target, sizeof target, "/v1/events%s", query);
	t = talk_new(API_GET, target, NULL);
	t->req.accept = STR("text/event-stream");
	t->req.last_event_id = str_of(last);
	talk_send(w, t);
	world_run(w);
	return t;
}

static void over(struct talk *t)
{
	talk_hang_up(t);
	talk_free(t);
}

static size_t times(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

/* Every block is id, event, data with one JSON object that says the same. */
static void check_form(const char *text)
{
	const char *at = text;
	unsigned long long id;
	char kind[64];
	int used;

	while ((at = strstr(at, "id: "))) {
		const char *end;
		json_t *v;

		assert_int_equal(
		    sscanf(at, "id: %llu\nevent: %63s\ndata: %n", &id, kind, &used), 2);
		end = strchr(at + used, '\n');
		assert_int_equal(end[1], '\n');
		v = json_loadb(at + used, (size_t)(end - at) - (size_t)used, 0, NULL);
		assert_non_null(v);
		assert_int_equal(jint(v, "seq"), id);
		assert_string_equal(jstr(v, "kind"), kind);
		json_decref(v);
		at = end;
	}
}

static void test_form(void **state)
{
	struct talk *t = follow("", NULL);
	char header[32];
	rid id;

	assert_string_equal(t->type, "text/event-stream");
	assert_string_equal(talk_header(t, "Cache-Control", header, sizeof header), "no-store");
	world_worker(w, "w1", 2);
	id = world_submit(w, NULL);
	world_started(w, id);
	world_ended(w, id, TASK_FAILED, 4, NULL);
	check_form(t->body.p);
	assert_int_equal(times(t->body.p, "event: queue.created\n"), 1);
	assert_int_equal(times(t->body.p, "event: worker.joined\n"), 1);
	assert_int_equal(times(t->body.p, "event: task.failed\n"), 1);
	assert_int_equal(times(t->body.p, "\"exit_code\":4"), 1);
	assert_true(times(t->body.p, "\"queue\":\"default\"") >= 3);
	over(t);
}

static void test_filters(void **state)
{
	struct talk *kinds, *queue, *task;
	char query[64], text[ID_TEXT];
	rid id;

	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"q\"}", 201));
	id = world_submit(w, NULL);
	snprintf(query, sizeof query, "?task=%s", id_format(world_ids(w), id, text));
	task = follow(query, NULL);
	kinds = follow("?kind=task.cancelled,queue&kind=worker", NULL);
	queue = follow("?queue=q", NULL);
	world_submit(w, "{\"queue\":\"q\",\"command\":[\"x\"]}");
	json_decref(ask_json(w, API_POST, "/v1/tasks/actions/cancel", "{\"all\":true}", 200));
	json_decref(ask_json(w, API_POST, "/v1/queues/q/pause", NULL, 200));
	assert_int_equal(times(kinds->body.p, "event: task.cancelled"), 2);
	assert_int_equal(times(kinds->body.p, "event: task.submitted"), 0);
	assert_int_equal(times(kinds->body.p, "event: queue.paused"), 1);
	assert_int_equal(times(queue->body.p, "event: task."), 2);
	assert_int_equal(times(task->body.p, "event: "), 1);
	over(kinds);
	over(queue);
	over(task);
	json_decref(ask_json(w, API_GET, "/v1/events?follow=1&queue=none", NULL, 404));
	json_decref(ask_json(w, API_GET, "/v1/events?follow=1&kind=", NULL, 400));
	json_decref(ask_json(w, API_GET, "/v1/events?follow=1&after=x", NULL, 400));
}

static void test_resume(void **state)
{
	struct talk *t;

	world_submit(w, NULL);
	world_submit(w, NULL);
	t = follow("?after=0", NULL);
	assert_int_equal(times(t->body.p, "event: task.submitted"), 2);
	assert_int_equal(times(t->body.p, "event: reset"), 0);
	world_submit(w, NULL);
	assert_int_equal(times(t->body.p, "event: task.submitted"), 3);
	over(t);
	t = follow("", "4294967298"); /* each start of the server counts from the next 2^32 on */
	assert_int_equal(times(t->body.p, "id: 4294967298\n"), 0);
	assert_int_equal(times(t->body.p, "id: 4294967299\n"), 1);
	over(t);
	t = follow("", "99999999999999"); /* of a life before */
	assert_int_equal(times(t->body.p, "event: reset"), 1);
	over(t);
	world_forget_past(w);
	t = follow("?kind=task", "1");
	assert_int_equal(times(t->body.p, "event: reset"), 1);
	world_submit(w, NULL);
	assert_int_equal(times(t->body.p, "event: task.submitted"), 1);
	check_form(t->body.p);
	over(t);
}

static void test_heartbeat(void **state)
{
	struct talk *t = follow("", NULL);

	world_advance(w, 15000);
	world_advance(w, 15000);
	assert_int_equal(times(t->body.p, ": still here\n\n"), 2);
	over(t);
	assert_int_equal(world_watches(w), 0);
}

static void has_read(struct talk *t)
{
	t->pending = 0;
	t->drain(t->drain_arg);
	world_advance(w, 1);
}

/* A client that does not read is told no more until it has; then it hears all that is still in the
 * ring. */
static void test_slow_client(void **state)
{
	struct talk *slow = follow("", NULL), *quick = follow("", NULL);

	slow->pending = 8193;
	world_submit(w, NULL);
	world_submit(w, NULL);
	world_advance(w, 15000);
	assert_int_equal(times(slow->body.p, "event: task.submitted"), 0);
	assert_int_equal(times(slow->body.p, ": still here"), 0);
	assert_int_equal(times(quick->body.p, "event: task.submitted"), 2);
	assert_non_null(slow->drain);
	has_read(slow);
	assert_int_equal(times(slow->body.p, "event: task.submitted"), 2);
	has_read(slow); /* and whenever it has read everything from now on */
	world_submit(w, NULL);
	has_read(slow);
	world_submit(w, NULL);
	assert_int_equal(times(slow->body.p, "event: task.submitted"), 4);
	assert_int_equal(times(quick->body.p, "event: task.submitted"), 4);
	assert_int_equal(times(slow->body.p, "event: reset"), 0);
	check_form(slow->body.p);
	over(slow);
	over(quick);
	assert_int_equal(world_watches(w), 0);
}

/* Too slow for the ring: that is said, and the present goes on. */
static void test_very_slow_client(void **state)
{
	struct talk *slow = follow("?kind=task", NULL);

	slow->pending = 8193;
	world_submit(w, NULL);
	world_forget_past(w);
	has_read(slow);
	assert_int_equal(times(slow->body.p, "event: reset"), 1);
	assert_int_equal(times(slow->body.p, "event: task.submitted"), 0);
	world_submit(w, NULL);
	assert_int_equal(times(slow->body.p, "event: task.submitted"), 1);
	over(slow);
}

static void submit_many(int times)
{
	struct buf b = {0};
	struct talk *t[64];

	buf_add_char(&b, '[');
	for (int i = 0; i < 100; i++)
		buf_printf(&b, "%s{\"command\":[\"x\"]}", i ? "," : "");
	buf_add(&b, "]", 2);
	for (int i = 0; i < times; i++) { /* all of them are one commit */
		t[i] = talk_new(API_POST, "/v1/tasks", b.p);
		talk_send(w, t[i]);
	}
	world_run(w);
	for (int i = 0; i < times; i++) {
		assert_int_equal(t[i]->status, 200);
		talk_free(t[i]);
	}
	buf_release(&b);
}

/* More than is told in one turn: all hear the same, in order, and nothing twice. */
static void test_many_followers(void **state)
{
	enum { FOLLOWERS = 80 };
	struct talk *t[FOLLOWERS];

	world_submit(w, NULL);
	for (int i = 0; i < FOLLOWERS; i++)
		t[i] = follow("", NULL);
	submit_many(1);
	for (int i = 0; i < FOLLOWERS; i++) {
		while (t[i]->drain && times(t[i]->body.p, "event: task.submitted") < 100)
			has_read(t[i]);
		assert_int_equal(times(t[i]->body.p, "event: task.submitted"), 100);
		assert_string_equal(t[i]->body.p, t[0]->body.p);
		check_form(t[i]->body.p);
	}
	for (int i = 0; i < FOLLOWERS; i++)
		over(t[i]);
	assert_int_equal(world_watches(w), 0);
}

/* More in one commit than the ring may hold: who wants little of it misses nothing. */
static void test_a_giant_commit(void **state)
{
	struct talk *t;

	world_submit(w, NULL);
	t = follow("?kind=queue", NULL);
	submit_many(45);
	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"q\"}", 201));
	assert_int_equal(times(t->body.p, "event: queue.created"), 1);
	assert_int_equal(times(t->body.p, "event: reset"), 0);
	over(t);
}

/* What is not for it does not age it: nothing was missed, so there is no gap. */
static void test_idle_filter_has_no_gap(void **state)
{
	struct talk *t;

	world_submit(w, NULL);
	t = follow("?kind=queue", NULL);
	world_submit(w, NULL);
	world_submit(w, NULL);
	world_forget_past(w);
	t->pending = 8193;
	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"q\"}", 201));
	has_read(t);
	assert_int_equal(times(t->body.p, "event: queue.created"), 1);
	assert_int_equal(times(t->body.p, "event: reset"), 0);
	over(t);
}

static void test_durable_list(void **state)
{
	json_t *v, *items;

	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"q\"}", 201));
	json_decref(ask_json(w, API_POST, "/v1/queues/q/pause", NULL, 200));
	v = ask_json(w, API_GET, "/v1/events", NULL, 200);
	items = json_object_get(v, "items");
	assert_int_equal(json_array_size(items), 3);
	assert_string_equal(jstr(json_array_get(items, 0), "kind"), "server.started");
	assert_string_equal(jstr(json_array_get(items, 1), "kind"), "queue.created");
	assert_string_equal(jstr(json_array_get(items, 1), "actor"), "uid=0");
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/events?after=0&limit=1", NULL, 200);
	assert_int_equal(json_array_size(json_object_get(v, "items")), 1);
	assert_true(*jstr(v, "next"));
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/events?kind=queue.paused", NULL, 200);
	assert_int_equal(json_array_size(json_object_get(v, "items")), 1);
	json_decref(v);
	json_decref(ask_json(w, API_GET, "/v1/events?limit=0", NULL, 400));
	json_decref(ask_json(w, API_GET, "/v1/events?after=-1", NULL, 400));
}

/* What matches lies far before the newest, and far behind the first: it is found all the same. */
static void test_filters_come_before_pages(void **state)
{
	json_t *v, *items;

	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"rare\"}", 201));
	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"often\"}", 201));
	for (int i = 0; i < 1200; i++) {
		json_decref(ask_json(w, API_POST, "/v1/queues/often/pause", NULL, 200));
		json_decref(ask_json(w, API_POST, "/v1/queues/often/resume", NULL, 200));
	}
	json_decref(ask_json(w, API_POST, "/v1/queues/rare/pause", NULL, 200));
	for (int after = 0; after < 2; after++) {
		v = ask_json(w, API_GET,
		    after ? "/v1/events?queue=rare&after=0" : "/v1/events?queue=rare", NULL, 200);
		items = json_object_get(v, "items");
		assert_int_equal(json_array_size(items), 2);
		assert_string_equal(jstr(json_array_get(items, 0), "kind"), "queue.created");
		assert_string_equal(jstr(json_array_get(items, 1), "kind"), "queue.paused");
		json_decref(v);
	}
	v = ask_json(w, API_GET, "/v1/events?kind=queue.resumed&limit=3", NULL, 200);
	assert_int_equal(json_array_size(json_object_get(v, "items")), 3);
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/events?kind=queue.resumed&limit=3&after=0", NULL, 200);
	assert_int_equal(json_array_size(json_object_get(v, "items")), 3);
	assert_true(*jstr(v, "next"));
	json_decref(v);
}

/* More events than one step reads; a head that was seen is found again, another one is not. */
static void test_verify(void **state)
{
	char name[64], query[160];
	json_t *v, *later;

	v = ask_json(w, API_GET, "/v1/audit/verify", NULL, 200);
	assert_true(json_is_true(json_object_get(v, "fits")));
	assert_int_equal(json_integer_value(json_object_get(v, "checked")), 1);
	for (int i = 0; i < 600; i++) {
		snprintf(name, sizeof name, "{\"name\":\"q%d\"}", i);
		json_decref(ask_json(w, API_POST, "/v1/queues", name, 201));
	}
	snprintf(query, sizeof query, "/v1/audit/verify?expect=%s", jstr(v, "head"));
	later = ask_json(w, API_GET, query, NULL, 200);
	assert_true(json_is_true(json_object_get(later, "fits")));
	assert_int_equal(json_integer_value(json_object_get(later, "checked")), 601);
	json_decref(later);
	query[strlen(query) - 1] = query[strlen(query) - 1] == '0' ? '1' : '0';
	later = ask_json(w, API_GET, query, NULL, 200);
	assert_true(json_is_false(json_object_get(later, "fits")));
	assert_string_equal(jstr(json_object_get(later, "fault"), "kind"), "rewritten");
	json_decref(later);
	json_decref(v);
	json_decref(ask_json(w, API_GET, "/v1/audit/verify?expect=1:23", NULL, 400));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_form, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_filters, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_resume, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_heartbeat, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_slow_client, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_very_slow_client, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_idle_filter_has_no_gap, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_many_followers, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_a_giant_commit, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_durable_list, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_filters_come_before_pages, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_verify, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
