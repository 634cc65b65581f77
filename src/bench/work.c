/* SPDX-License-Identifier: Apache-2.0 */
/* What the cases are made of: queues, submits in bulk and singly, waiting for the end. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/internal.h"

#define POLL_US 10000
#define BULK_CLIENTS 2 /* one is read while the other is committed */

int queue_make(struct bench *b, const char *name, const char *settings)
{
	AUTO(free_cstr) char *body = xasprintf("{\"name\":\"%s\",%s}", name, settings);

	return http_call(b, "POST", "/v1/queues", body, NULL);
}

/* verb: "pause", "resume", or NULL to change settings */
int queue_change(struct bench *b, const char *name, const char *verb, const char *settings)
{
	AUTO(free_cstr)
	char *path = xasprintf("/v1/queues/%s%s%s", name, verb ? "/" : "", verb ? verb : "");

	return http_call(b, verb ? "POST" : "PATCH", path, settings, NULL);
}

int queue_ended(struct bench *b, const char *name, int64_t *ret_n)
{
	AUTO(free_cstr) char *path = xasprintf("/v1/queues/%s", name);
	json_t *queue = NULL;
	double bad;
	int r = http_call(b, "GET", path, NULL, &queue);

	if (r < 0)
		return r;
	*ret_n = (int64_t)figure_get(queue, "counts.succeeded");
	bad = figure_get(queue, "counts.failed") + figure_get(queue, "counts.other");
	json_decref(queue);
	if (bad > 0)
		return problem_set(
		    &b->problem, ERR_INTERNAL, "%.0f tasks of queue %s did not succeed", bad, name);
	return 0;
}

int queue_wait_ended(struct bench *b, const char *name, int64_t n)
{
	double end = bench_seconds() + (double)b->limit_ms / 1000;
	int64_t have = 0;
	int r;

	while ((r = queue_ended(b, name, &have)) == 0 && have < n) {
		if (bench_interrupted() || bench_seconds() > end)
			return problem_set(&b->problem, ERR_TIMEOUT,
			    "%s while %lld of %lld tasks of queue %s had ended",
			    bench_interrupted() ? "interrupted" : "out of time", (long long)have,
			    (long long)n, name);
		usleep(POLL_US);
	}
	return r;
}

/* n requests of `lines` tasks each. */
static int bulk_requests(
    struct bench *b, const char *line, int64_t lines, int64_t n, double *ret_seconds)
{
	AUTO(buf_release) struct buf body = {0}, request = {0};
	struct load_result result;
	struct load load = {.clients = n < BULK_CLIENTS ? 1 : BULK_CLIENTS, .requests = n};
	int r;

	if (n == 0)
		return 0;
	for (int64_t i = 0; i < lines; i++) {
		buf_add_cstr(&body, line);
		buf_add_char(&body, '\n');
	}
	http_request(&request, "POST", "/v1/tasks", "application/x-ndjson", buf_str(&body));
	load.request = buf_str(&request);
	r = load_run(b, &load, &result);
	samples_release(&result.latency);
	*ret_seconds += result.seconds;
	return r;
}

int submit_bulk(struct bench *b, const char *line, int64_t n, double *ret_seconds)
{
	int64_t lines = n < 4 ? n : n / 4 > BULK_LINES ? BULK_LINES : n / 4;
	double seconds = 0;
	int r = bulk_requests(b, line, lines, n / lines, &seconds);

	if (r == 0 && n % lines)
		r = bulk_requests(b, line, n % lines, 1, &seconds);
	if (ret_seconds)
		*ret_seconds = seconds;
	return r;
}

int submit_single(struct bench *b, const char *line, bool tcp, int clients, int64_t n,
    double *ret_rate, json_t **ret_json)
{
	AUTO(buf_release) struct buf request = {0};
	struct load load = {.tcp = tcp, .clients = clients, .requests = n};
	struct load_result result;
	json_t *json;
	int r;

	http_request_as(&request, tcp ? b->stand.token : NULL, "POST", "/v1/tasks",
	    "application/json", str_of(line));
	load.request = buf_str(&request);
	r = load_run(b, &load, &result);
	if (r < 0)
		return r;
	*ret_rate = (double)n / result.seconds;
	json = samples_json(&result.latency);
	json_object_set_new(json, "tasks_per_s", figure(*ret_rate));
	samples_release(&result.latency);
	if (ret_json)
		*ret_json = json;
	else
		json_decref(json);
	return 0;
}

int noop_end_to_end(struct bench *b, const char *queue, int64_t n, double *ret_rate)
{
	AUTO(free_cstr) char *line = xasprintf("{\"queue\":\"%s\",\"params\":{\"n\":1}}", queue);
	int64_t before = 0;
	double start;
	int r = queue_ended(b, queue, &before);

	start = bench_seconds();
	if (r == 0)
		r = submit_bulk(b, line, n, NULL);
	if (r == 0)
		r = queue_wait_ended(b, queue, before + n);
	*ret_rate = (double)n / (bench_seconds() - start);
	return r;
}

int noop_drain(struct bench *b, const char *queue, int64_t n, double *ret_rate)
{
	AUTO(free_cstr) char *line = xasprintf("{\"queue\":\"%s\",\"params\":{\"n\":1}}", queue);
	int64_t before = 0;
	double start;
	int r = queue_ended(b, queue, &before);

	if (r == 0)
		r = queue_change(b, queue, "pause", "{\"reason\":\"to be filled first\"}");
	if (r == 0)
		r = submit_bulk(b, line, n, NULL);
	start = bench_seconds();
	if (r == 0)
		r = queue_change(b, queue, "resume", "{}");
	if (r == 0)
		r = queue_wait_ended(b, queue, before + n);
	*ret_rate = (double)n / (bench_seconds() - start);
	return r;
}
