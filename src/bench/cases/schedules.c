/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The case schedules: what very many of them cost the server in memory and at rest, and how late
 * tasks are when ten thousand are due in the same second.
 */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/cases/schedules.h"

#define CLIENTS 64
#define DUE 10000
#define SETTLE_US 2000000 /* checkpoints and the like come to their end */
#define LOOK_US 100000
#define EMPTY_SECONDS_MAX 15
#define QUIET_MONTHS 2 /* from now: nothing is due before */

static const char *const zones[] = {"America/Los_Angeles", "America/New_York", "America/Sao_Paulo",
    "Europe/London", "Europe/Berlin", "Europe/Athens", "Africa/Cairo", "Asia/Kolkata", "Asia/Tokyo",
    "Australia/Sydney", "Australia/Lord_Howe", "Pacific/Auckland", "UTC"};

/* Varied wall clock patterns in months that are not near. */
static void make_schedule(int64_t i, struct buf *out, const void *arg)
{
	int month = (*(const int *)arg + QUIET_MONTHS + (int)(i % 9)) % 12 + 1;
	int minute = (int)(i % 60), hour = (int)(i / 60 % 24), day = (int)(i / 7 % 28) + 1;
	char when[80], body[512];
	int n;

	switch (i % 4) {
	case 0: snprintf(when, sizeof when, "%d %d * %d *", minute, hour, month); break;
	case 1: snprintf(when, sizeof when, "%d %d %d %d *", minute, hour, day, month); break;
	case 2: snprintf(when, sizeof when, "%d,%d 9-17 * %d 1-5", minute, 59, month); break;
	/* not the last one: in Cairo the clock jumps over its first hour, always */
	default: snprintf(when, sizeof when, "*/5 %d * %d fri#2", hour, month); break;
	}
	n = snprintf(body, sizeof body,
	    "{\"name\":\"rest-%lld\",\"crontab\":\"%s\",\"time_zone\":\"%s\",\"max_shift\":\"10m\","
	    "\"task\":{\"queue\":\"parked\",\"params\":{\"n\":%lld}}}",
	    (long long)i, when, zones[i % (int64_t)(sizeof zones / sizeof zones[0])], (long long)i);
	http_request(
	    out, "POST", "/v1/schedules", "application/json", (struct str){body, (size_t)n});
}

static double rss_mb(const struct bench *b)
{
	return (double)child_rss_kb(b->stand.server, "VmRSS:") / 1024;
}

static int create(struct bench *b, int64_t n, json_t *to)
{
	time_t now = time(NULL);
	struct tm today;
	struct load load = {.clients = CLIENTS, .requests = n, .make = make_schedule};
	struct load_result result;
	int r;

	gmtime_r(&now, &today);
	load.arg = &today.tm_mon;
	bench_note("%lld schedules are made …", (long long)n);
	if ((r = load_run(b, &load, &result)) < 0)
		return r;
	json_object_set_new(to, "created_per_s", figure((double)n / result.seconds));
	json_object_set_new(to, "create", samples_json(&result.latency));
	samples_release(&result.latency);
	return 0;
}

/* The processor's share of a core over a time in which nobody asks for anything. */
static int rest(struct bench *b, double seconds, double *ret_percent)
{
	double start, end, cpu;

	usleep(SETTLE_US);
	start = bench_seconds();
	end = start + seconds;
	cpu = child_cpu_exact(b->stand.server);
	while (bench_seconds() < end && !bench_interrupted())
		usleep(LOOK_US);
	if (!child_is_alive(b->stand.server))
		return problem_set(&b->problem, ERR_IO, "the server under test has ended");
	*ret_percent = (child_cpu_exact(b->stand.server) - cpu) * 100 / (bench_seconds() - start);
	return 0;
}

static int rest_empty(struct bench *b, json_t *to)
{
	double percent = 0;
	int r = rest(
	    b, b->seconds < EMPTY_SECONDS_MAX ? (double)b->seconds : EMPTY_SECONDS_MAX, &percent);

	json_object_set_new(to, "empty_cpu_percent", figure(percent));
	return r;
}

static int rest_full(struct bench *b, json_t *to)
{
	double percent = 0;
	int r;

	bench_note("at rest for %lld s …", (long long)b->seconds);
	r = rest(b, (double)b->seconds, &percent);
	json_object_set_new(to, "idle_cpu_percent", figure(percent));
	return r;
}

static void add_memory(struct bench *b, const char *name, double before, int64_t n, json_t *to)
{
	AUTO(free_cstr) char *total = xasprintf("rss_mb%s", name);
	AUTO(free_cstr) char *growth = xasprintf("rss_mb_per_100000%s", name);
	double now = rss_mb(b);

	json_object_set_new(to, total, figure(now));
	json_object_set_new(to, growth, figure((now - before) * 100000 / (double)n));
}

/* In memory that was never used for anything else, as after any restart. */
static int reload(struct bench *b, double before, int64_t n, json_t *to)
{
	double start = bench_seconds();
	int r = stand_restart_server(b);

	if (r < 0)
		return r;
	json_object_set_new(to, "restart_s", figure(bench_seconds() - start));
	usleep(SETTLE_US);
	add_memory(b, "_loaded", before, n, to);
	return 0;
}

static int measure(struct bench *b, json_t *to)
{
	int64_t n = bench_scaled(b, b->objects, 100);
	json_t *due = json_object();
	double before;
	int r = queue_make(b, "parked", "\"plugin\":\"noop\",\"threads\":0");

	json_object_set_new(to, "schedules", json_integer(n));
	json_object_set_new(to, "due", due);
	if (r < 0 || (r = rest_empty(b, to)) < 0)
		return r;
	before = rss_mb(b);
	json_object_set_new(to, "rss_mb_before", figure(before));
	if ((r = create(b, n, to)) < 0)
		return r;
	add_memory(b, "_busy", before, n, to);
	if ((r = rest_full(b, to)) < 0)
		return r;
	add_memory(b, "", before, n, to);
	if ((r = reload(b, before, n, to)) < 0)
		return r;
	return due_measure(b, bench_scaled(b, DUE, 50), due);
}

int case_schedules(struct bench *b, json_t *to)
{
	int r = stand_start_server(b, "durable");

	if (r == 0)
		r = measure(b, to);
	stand_stop(b);
	return r;
}

const struct goal schedules_goals[] = {
    {"schedules, the server's memory for 100,000, at rest, MB", "schedules.rss_mb_per_100000", 64,
        true},
    {"schedules, the same after a restart, MB", "schedules.rss_mb_per_100000_loaded", 64, true},
    {"schedules, none due, the server's share of a core, percent", "schedules.idle_cpu_percent",
        0.1, true},
    {"schedules, 10,000 due at once, the latest task, ms", "schedules.due.alone.submitted.max_ms",
        50, true},
    {"schedules, 10,000 due at once, the latest one durable and told, ms",
        "schedules.due.watched.told.max_ms", 50, true},
    {0},
};
