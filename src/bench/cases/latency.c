/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The case latency: from just before a submit is sent to the moment the plugin has the task.
 * Both ends read the same clock: the submit time travels in the task's params, the plugin
 * answers with the difference.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/internal.h"

#define PULSE_NS 5000000
#define GAP_US 10000
#define SETTLE_US 500000

/* One probe; its id is kept for later. */
static int probe_send(struct bench *b, char ret_id[25])
{
	char body[96];
	json_t *task = NULL;
	const char *id;
	int r;

	snprintf(body, sizeof body, "{\"queue\":\"latency\",\"params\":{\"t0\":%lld}}",
	    (long long)bench_ns());
	r = http_call(b, "POST", "/v1/tasks", body, &task);
	if (r < 0)
		return r;
	id = json_string_value(json_object_get(task, "id"));
	snprintf(ret_id, 25, "%s", id ? id : "");
	json_decref(task);
	return 0;
}

static int probe_read(struct bench *b, const char *id, struct samples *to)
{
	AUTO(free_cstr) char *path = xasprintf("/v1/tasks/%s?wait=60s", id);
	json_t *task = NULL;
	const char *text;
	int r = http_call(b, "GET", path, NULL, &task);

	if (r < 0)
		return r;
	text = json_string_value(json_object_get(task, "stdout"));
	if (text && *text)
		samples_add(to, strtoll(text, NULL, 10));
	else
		r = problem_set(&b->problem, ERR_INTERNAL,
		    "task %s came back without a time (state %s)", id,
		    json_string_value(json_object_get(task, "state")));
	json_decref(task);
	return r;
}

static int at_idle(struct bench *b, int64_t n, struct samples *to)
{
	char id[25];
	int r = 0;

	for (int64_t i = 0; i < n && r == 0 && !bench_interrupted(); i++) {
		r = probe_send(b, id);
		if (r == 0)
			r = probe_read(b, id, to);
	}
	return r;
}

/* A request with a pulse's share of tasks, every pulse, until it is told to stop. */
static void background(const char *socket, double rate)
{
	struct buf body = {0}, request = {0}, reply = {0};
	int64_t due = bench_ns(), share = (int64_t)(rate * PULSE_NS / 1e9);
	int fd = connect_unix(socket), status;

	for (int64_t i = 0; i < (share < 1 ? 1 : share); i++)
		buf_add_cstr(&body, "{\"queue\":\"latency\",\"params\":{\"n\":1}}\n");
	http_request(&request, "POST", "/v1/tasks", "application/x-ndjson", buf_str(&body));
	while (http_raw(fd, buf_str(&request), &reply, &status) == 0) {
		due += PULSE_NS;
		if (due > bench_ns())
			usleep((useconds_t)((due - bench_ns()) / 1000));
	}
	_exit(0);
}

static pid_t background_start(struct bench *b, double rate)
{
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGTERM, SIG_DFL);
		signal(SIGINT, SIG_IGN); /* the one who started it ends it */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		background(b->stand.socket, rate);
	}
	return pid > 0 ? pid : problem_set(&b->problem, ERR_IO, "fork: %s", strerror(errno));
}

static int under_load(struct bench *b, int64_t n, double rate, struct samples *to)
{
	char(*ids)[25] = xcalloc((size_t)n, sizeof *ids);
	pid_t pid = background_start(b, rate);
	int r = pid < 0 ? pid : 0;

	usleep(SETTLE_US);
	for (int64_t i = 0; i < n && r == 0 && !bench_interrupted(); i++) {
		r = probe_send(b, ids[i]);
		usleep(GAP_US);
	}
	if (pid > 0)
		child_stop(&pid);
	for (int64_t i = 0; i < n && r == 0 && !bench_interrupted(); i++)
		r = probe_read(b, ids[i], to);
	free(ids);
	return r;
}

static int at_half_load(struct bench *b, int64_t n, json_t *to)
{
	struct samples s = {0};
	int64_t before = 0, after = 0;
	double start, seconds;
	json_t *json;
	int r = queue_ended(b, "latency", &before);

	start = bench_seconds();
	if (r == 0)
		r = under_load(b, n, b->noop_rate / 2, &s);
	seconds = bench_seconds() - start;
	if (r == 0)
		r = queue_ended(b, "latency", &after);
	json = samples_json(&s);
	json_object_set_new(json, "wanted_tasks_per_s", figure(b->noop_rate / 2));
	json_object_set_new(json, "tasks_per_s", figure((double)(after - before) / seconds));
	json_object_set_new(to, "half_load", json);
	samples_release(&s);
	return r;
}

int case_latency(struct bench *b, json_t *to)
{
	int64_t n = bench_scaled(b, 500, 20);
	struct samples s = {0};
	double rate = 0;
	int r = queue_make(b, "latency", "\"plugin\":\"noop\"");

	if (r == 0) /* warm, and a rate to take the half of */
		r = noop_end_to_end(
		    b, "latency", bench_scaled(b, b->noop_rate > 0 ? 100 : 50000, 100), &rate);
	if (b->noop_rate <= 0)
		b->noop_rate = rate;
	if (r == 0)
		r = at_idle(b, n, &s);
	json_object_set_new(to, "idle", samples_json(&s));
	samples_release(&s);
	return r ? r : at_half_load(b, n, to);
}
