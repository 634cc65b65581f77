/* SPDX-License-Identifier: Apache-2.0 */
/* What Prometheus is told. */
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

static void expect(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("no \"%s\" in:\n%s", line, text);
}

static void test_figures(void **state)
{
	struct talk *t;
	rid id;

	world_worker(w, "w1", 2);
	id = world_submit(w, NULL);
	world_started(w, id);
	world_advance(w, 2000);
	world_ended(w, id, TASK_SUCCEEDED, 0, NULL);
	api_saw_commit(world_api(w), 0.003, 12);
	json_decref(ask_json(w, API_GET, "/nowhere", NULL, 404));
	t = ask(w, API_GET, "/metrics", NULL);
	assert_int_equal(t->status, 200);
	expect(t->body.p, "reeve_tasks_total{queue=\"default\",outcome=\"submitted\"} 1\n");
	expect(t->body.p, "reeve_tasks_total{queue=\"default\",outcome=\"succeeded\"} 1\n");
	expect(t->body.p, "reeve_queue_tasks{queue=\"default\",state=\"queued\"} 0\n");
	expect(t->body.p, "reeve_task_wait_seconds_count{queue=\"default\"} 1\n");
	expect(t->body.p, "reeve_task_duration_seconds_bucket{queue=\"default\",le=\"1\"} 0\n");
	expect(t->body.p, "reeve_task_duration_seconds_bucket{queue=\"default\",le=\"2.5\"} 1\n");
	expect(t->body.p, "reeve_workers{zone=\"a\",state=\"healthy\"} 1\n");
	expect(t->body.p, "reeve_workers{zone=\"a\",state=\"must_die\"} 0\n");
	expect(t->body.p, "reeve_workers{zone=\"a\",state=\"left\"} 0\n");
	expect(t->body.p, "reeve_workers_connected 1\n");
	expect(t->body.p, "reeve_tasks_unsure 0\n");
	expect(t->body.p, "reeve_worker_set_workers 1\n");
	expect(t->body.p, "# TYPE reeve_worker_set_version gauge\n");
	expect(t->body.p, "# TYPE reeve_worker_set_consensus gauge\n");
	expect(t->body.p, "reeve_initial_wait_seconds 0.000\n");
	expect(t->body.p, "reeve_commit_seconds_bucket{le=\"0.005\"} 1\n");
	expect(t->body.p, "reeve_commit_rows_total 12\n");
	expect(t->body.p, "reeve_http_requests_total{route=\"POST /v1/tasks\",status=\"201\"} 1\n");
	expect(t->body.p, "reeve_http_requests_total{route=\"none\",status=\"404\"} 1\n");
	expect(t->body.p, "reeve_build_info{version=\"0.0.1\"} 1\n");
	talk_free(t);
}

static void test_rates(void **state)
{
	json_t *v;

	for (int i = 0; i < 20; i++)
		world_submit(w, NULL);
	world_advance(w, 1000);
	v = ask_json(w, API_GET, "/v1/status", NULL, 200);
	assert_true(json_real_value(
	                json_object_get(json_object_get(v, "rates"), "submitted_per_s")) == 2.0);
	assert_int_equal(jint(json_object_get(v, "tasks"), "queued"), 20);
	json_decref(v);
}

static void expect_lag(int64_t ms, const char *metric)
{
	json_t *v = ask_json(w, API_GET, "/v1/status", NULL, 200);
	struct talk *t = ask(w, API_GET, "/metrics", NULL);

	assert_int_equal(jint(v, "search_lag_ms"), ms);
	expect(t->body.p, metric);
	json_decref(v);
	talk_free(t);
}

/* How old the oldest task is that searches have to look at by itself. */
static void test_the_index_is_behind(void **state)
{
	expect_lag(0, "reeve_search_index_lag_seconds 0.000\n");
	world_index_lacks(w, world_now(w) - 72500);
	expect_lag(72500, "reeve_search_index_lag_seconds 72.500\n");
	world_index_lacks(w, world_now(w) + 60000); /* its clock was set back since */
	expect_lag(0, "reeve_search_index_lag_seconds 0.000\n");
}

/* Large submits are announced once: their tasks are counted all the same, and once. */
static void test_large_submit(void **state)
{
	struct buf b = {0};
	struct talk *t;

	for (int i = 0; i < 150; i++)
		buf_add_cstr(&b, "{\"command\":[\"x\"]}\n");
	t = talk_new(API_POST, "/v1/tasks", b.p);
	t->req.content_type = STR("application/x-ndjson");
	talk_send(w, t);
	world_run(w);
	talk_free(t);
	t = ask(w, API_GET, "/metrics", NULL);
	expect(t->body.p, "reeve_tasks_total{queue=\"default\",outcome=\"submitted\"} 150\n");
	talk_free(t);
	buf_release(&b);
}

/* Without services the figures are there all the same, so that an alarm can be made. */
static void test_services(void **state)
{
	struct talk *t = ask(w, API_GET, "/metrics", NULL);
	json_t *v, *all;

	expect(t->body.p, "reeve_services 0\n");
	expect(t->body.p, "reeve_service_missed_total 0\n");
	talk_free(t);
	json_decref(ask_json(w, API_POST, "/v1/services",
	    "{\"name\":\"web\",\"instances\":3,\"task\":{\"command\":[\"httpd\"]}}", 201));
	world_advance(w, 100);
	t = ask(w, API_GET, "/metrics", NULL);
	expect(t->body.p, "reeve_services 1\n");
	expect(t->body.p, "reeve_service_instances{state=\"UNCLAIMED\"} 3\n");
	expect(t->body.p, "reeve_service_instances{state=\"RUNNING\"} 0\n");
	expect(t->body.p, "reeve_service_instances_beside{presence=\"evacuating\"} 0\n");
	expect(t->body.p, "reeve_service_instances_beside{presence=\"suspect\"} 0\n");
	expect(t->body.p, "reeve_service_instances_unplaced 3\n");
	expect(t->body.p, "reeve_service_instances_waiting 3\n");
	expect(t->body.p, "reeve_service_auctions_total 1\n");
	expect(t->body.p, "reeve_service_placements_failed_total 3\n");
	expect(t->body.p, "reeve_service_starts_total 0\n");
	expect(t->body.p, "reeve_service_crashes_total 0\n");
	expect(t->body.p, "reeve_service_missed_total 0\n");
	assert_null(strstr(t->body.p, "reeve_service_full_passes_total 1\n"));
	talk_free(t);
	all = ask_json(w, API_GET, "/v1/status", NULL, 200);
	v = json_object_get(all, "services");
	assert_int_equal(jint(v, "total"), 1);
	assert_int_equal(jint(v, "unclaimed"), 3);
	assert_int_equal(jint(v, "unplaced"), 3);
	assert_int_equal(jint(v, "ready"), 0);
	json_decref(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_figures, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_rates, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_the_index_is_behind, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_large_submit, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_services, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
