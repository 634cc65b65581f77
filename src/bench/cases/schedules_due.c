/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ten thousand schedules due in the same second, beside all those at rest: once alone, to read
 * from the tasks afterwards when each was submitted, and once with an event stream open, on which a
 * tick is told when it is durable.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "bench/cases/schedules.h"

#define CLIENTS 64
#define AHEAD_S 2 /* between the last one's creation and the tick */
#define TOLD "event: schedule.fired\n"
#define PAGE 1000
#define POLL_MS 100
#define POLL_US 20000

struct due {
	const char *name; /* of its queue, and of its schedules up to a number */
	int64_t n, tick_s;
};

static int64_t wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void make_due(int64_t i, struct buf *out, const void *arg)
{
	const struct due *d = arg;
	int64_t in_day = d->tick_s % 86400;
	char body[384];
	int n = snprintf(body, sizeof body,
	    "{\"name\":\"%s-%lld\",\"calendar\":\"%02d:%02d:%02d\",\"time_zone\":\"UTC\","
	    "\"max_shift\":\"10m\",\"task\":{\"queue\":\"%s\",\"params\":{\"n\":%lld}}}",
	    d->name, (long long)i, (int)(in_day / 3600), (int)(in_day / 60 % 60),
	    (int)(in_day % 60), d->name, (long long)i);

	http_request(
	    out, "POST", "/v1/schedules", "application/json", (struct str){body, (size_t)n});
}

/* The tick is far enough ahead for all of them to be made before it: 1,000 a second at least. */
static int create(struct bench *b, struct due *d)
{
	struct load load = {.clients = CLIENTS, .requests = d->n, .make = make_due, .arg = d};
	struct load_result result;
	int r = queue_make(b, d->name, "\"plugin\":\"noop\",\"threads\":0");

	if (r < 0)
		return r;
	d->tick_s = wall_ns() / 1000000000 + AHEAD_S + 1 + d->n / 1000;
	if ((r = load_run(b, &load, &result)) < 0)
		return r;
	samples_release(&result.latency);
	if (wall_ns() / 1000000000 < d->tick_s)
		return 0;
	problem_set(&b->problem, ERR_TIMEOUT,
	    "%lld schedules took %.1f s to make: too long for "
	    "their tick",
	    (long long)d->n, result.seconds);
	return problem_hint(&b->problem, "this machine is busy: a smaller --scale needs less");
}

static int wait_submitted(struct bench *b, const struct due *d)
{
	AUTO(free_cstr) char *path = xasprintf("/v1/queues/%s", d->name);
	double end = bench_seconds() + (double)b->limit_ms / 1000, have = 0;
	int64_t left = d->tick_s * INT64_C(1000000) - wall_ns() / 1000 + 1000000;
	int r = 0;

	if (left > 0) /* nobody disturbs the server in that second */
		usleep((useconds_t)left);
	while (r == 0 && have < (double)d->n) {
		json_t *queue = NULL;

		r = http_call(b, "GET", path, NULL, &queue);
		have = r < 0 ? 0 : figure_get(queue, "counts.queued");
		json_decref(queue);
		if (bench_interrupted() || bench_seconds() > end)
			return problem_set(&b->problem, ERR_TIMEOUT,
			    "%.0f of %lld ticks have a task; gave up", have, (long long)d->n);
		usleep(POLL_US);
	}
	return r;
}

static void add_page(const json_t *page, const struct due *d, struct samples *to)
{
	const json_t *task;
	int64_t ms;
	size_t i;

	json_array_foreach(json_object_get(page, "items"), i, task)
	{
		const char *ctime = json_string_value(json_object_get(task, "ctime"));

		if (ctime && time_parse(str_of(ctime), &ms))
			samples_add(to, (ms - d->tick_s * 1000) * 1000000);
	}
}

/* When each task was submitted, as its own row has it. */
static int read_tasks(struct bench *b, const struct due *d, struct samples *to)
{
	AUTO(free_cstr) char *cursor = NULL;
	int r = 0;

	do {
		AUTO(free_cstr)
		char *path = xasprintf("/v1/tasks?queue=%s&limit=%d%s%s", d->name, PAGE,
		    cursor ? "&cursor=" : "", cursor ? cursor : "");
		json_t *page = NULL;
		const char *next;

		r = http_call(b, "GET", path, NULL, &page);
		if (r < 0)
			return r;
		add_page(page, d, to);
		next = json_string_value(json_object_get(page, "next"));
		free_cstr(&cursor);
		cursor = next ? xstrdup(next) : NULL;
		json_decref(page);
	} while (cursor);
	if (to->n == (size_t)d->n)
		return 0;
	return problem_set(
	    &b->problem, ERR_INTERNAL, "%zu tasks for %lld ticks", to->n, (long long)d->n);
}

static int add_submitted(struct bench *b, const struct due *d, json_t *to)
{
	struct samples s = {0};
	int r = read_tasks(b, d, &s);

	if (r == 0)
		json_object_set_new(to, "submitted", samples_json(&s));
	samples_release(&s);
	return r;
}

static int stream_open(struct bench *b)
{
	AUTO(buf_release) struct buf request = {0};
	int fd = connect_unix(b->stand.socket);

	http_request(&request, "GET", "/v1/events?follow=true&kind=schedule.fired", NULL, STR_NULL);
	if (fd >= 0 && send(fd, request.p, request.n, MSG_NOSIGNAL) == (ssize_t)request.n)
		return fd;
	if (fd >= 0)
		close(fd);
	return problem_set(&b->problem, ERR_IO, "the event stream cannot be opened");
}

/* What is complete in the buffer counts as told now; the rest of it is kept for later. */
static void count_told(struct buf *in, const struct due *d, struct samples *to)
{
	int64_t late = wall_ns() - d->tick_s * INT64_C(1000000000);
	char *at = in->p, *end = in->p + in->n, *found;
	size_t keep;

	while ((found = memmem(at, (size_t)(end - at), TOLD, strlen(TOLD)))) {
		samples_add(to, late);
		at = found + strlen(TOLD);
	}
	keep = (size_t)(end - at) < strlen(TOLD) ? (size_t)(end - at) : strlen(TOLD) - 1;
	memmove(in->p, end - keep, keep);
	in->n = keep;
}

static int listen_told(struct bench *b, int fd, const struct due *d, struct samples *to)
{
	AUTO(buf_release) struct buf in = {0};
	double limit = bench_seconds() + (double)b->limit_ms / 1000;

	while (to->n < (size_t)d->n) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		ssize_t n;

		if (bench_interrupted() || bench_seconds() > limit)
			return problem_set(&b->problem, ERR_TIMEOUT,
			    "%zu of %lld ticks were told; gave up", to->n, (long long)d->n);
		if (poll(&p, 1, POLL_MS) <= 0)
			continue;
		buf_reserve(&in, 262144);
		n = recv(fd, in.p + in.n, 262143, 0);
		if (n <= 0)
			return problem_set(&b->problem, ERR_IO, "the event stream broke off");
		in.n += (size_t)n;
		count_told(&in, d, to);
	}
	return 0;
}

static int add_told(struct bench *b, const struct due *d, json_t *to)
{
	struct samples s = {0};
	int fd = stream_open(b), r = fd < 0 ? fd : listen_told(b, fd, d, &s);

	if (fd >= 0)
		close(fd);
	if (r == 0)
		json_object_set_new(to, "told", samples_json(&s));
	samples_release(&s);
	return r;
}

static int measure(struct bench *b, const char *name, bool watched, int64_t n, json_t *to)
{
	struct due d = {.name = name, .n = n};
	json_t *one = json_object();
	int r = create(b, &d);
	double cpu = child_cpu_exact(b->stand.server);

	json_object_set_new(to, name, one);
	if (r == 0 && watched)
		r = add_told(b, &d, one);
	if (r == 0)
		r = wait_submitted(b, &d);
	cpu = child_cpu_exact(b->stand.server) - cpu;
	json_object_set_new(one, "server_cpu_us_per_tick", figure(cpu * 1e6 / (double)n));
	return r ? r : add_submitted(b, &d, one);
}

int due_measure(struct bench *b, int64_t n, json_t *to)
{
	int r;

	bench_note("%lld due at once …", (long long)n);
	json_object_set_new(to, "ticks", json_integer(n));
	r = measure(b, "alone", false, n, to);
	return r ? r : measure(b, "watched", true, n, to);
}
