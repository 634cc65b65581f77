/* SPDX-License-Identifier: Apache-2.0 */
/* The cases submit and noop: rates on a fresh store. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/internal.h"

#define PARKED "\"plugin\":\"noop\",\"threads\":0"
#define NOOP "\"plugin\":\"noop\""

int case_machine(struct bench *b, json_t *to)
{
	int r = limits_disk(b, to);

	return r ? r : limits_ping(b, to);
}

struct spent spent_now(const struct bench *b)
{
	return (struct spent){
	    child_cpu_seconds(b->stand.server), child_cpu_seconds(b->stand.worker)};
}

void spent_add(const struct bench *b, struct spent since, int64_t n, json_t *to)
{
	struct spent now = spent_now(b);

	json_object_set_new(
	    to, "server_cpu_us", figure((now.server - since.server) * 1e6 / (double)n));
	json_object_set_new(
	    to, "worker_cpu_us", figure((now.worker - since.worker) * 1e6 / (double)n));
}

static int submit_in_bulk(struct bench *b, json_t *to)
{
	int64_t n = bench_scaled(b, 500000, 2000);
	struct spent since = spent_now(b);
	double seconds = 0;
	json_t *json;
	int r = submit_bulk(b, "{\"queue\":\"parked\",\"params\":{\"n\":1}}", n, &seconds);

	if (r < 0)
		return r;
	b->bulk_rate = (double)n / seconds;
	json = json_pack("{s:I,s:o}", "tasks", (json_int_t)n, "tasks_per_s", figure(b->bulk_rate));
	spent_add(b, since, n, json);
	return json_object_set_new(to, "bulk", json);
}

static int submit_one_by_one(struct bench *b, bool tcp, json_t *to)
{
	static const struct {
		int clients;
		int64_t n;
		const char *name;
	} steps[] = {{1, 5000, "clients_1"}, {8, 20000, "clients_8"}, {64, 60000, "clients_64"}};

	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		int64_t n = bench_scaled(b, steps[i].n, 2 * steps[i].clients);
		struct spent since = spent_now(b);
		json_t *json = NULL;
		double rate, syncs = limit_sync_now(b);
		int r = submit_single(b, "{\"queue\":\"parked\",\"params\":{\"n\":1}}", tcp,
		    steps[i].clients, n, &rate, &json);

		if (r < 0)
			return r;
		spent_add(b, since, n, json);
		json_object_set_new(json, "fdatasync_per_s", figure(syncs));
		json_object_set_new(to, steps[i].name, json);
	}
	return 0;
}

int case_submit(struct bench *b, json_t *to)
{
	json_t *by_unix = json_object(), *by_tcp = json_object();
	int r;

	json_object_set_new(to, "one_by_one_unix", by_unix);
	json_object_set_new(to, "one_by_one_tcp", by_tcp);
	r = queue_make(b, "parked", PARKED);
	if (r == 0)
		r = submit_in_bulk(b, to);
	if (r == 0)
		r = submit_one_by_one(b, false, by_unix);
	return r ? r : submit_one_by_one(b, true, by_tcp);
}

static int noop_step(struct bench *b, bool prefilled, int64_t n, json_t *to)
{
	struct spent since = spent_now(b);
	double rate = 0;
	json_t *json;
	int r = prefilled ? noop_drain(b, "noop", n, &rate) : noop_end_to_end(b, "noop", n, &rate);

	if (r < 0)
		return r;
	if (!prefilled)
		b->noop_rate = rate;
	json = json_pack("{s:I,s:o}", "tasks", (json_int_t)n, "tasks_per_s", figure(rate));
	spent_add(b, since, n, json);
	return json_object_set_new(to, prefilled ? "drain" : "end_to_end", json);
}

int case_noop(struct bench *b, json_t *to)
{
	int64_t n = bench_scaled(b, b->tasks, 500);
	double rate;
	int r = queue_make(b, "noop", NOOP);

	json_object_set_new(to, "in_flight", json_integer(b->inflight));
	json_object_set_new(to, "plugin_processes", json_integer(b->processes));
	if (r == 0) /* the plugin's processes start with the first tasks */
		r = noop_end_to_end(b, "noop", 100, &rate);
	if (r == 0)
		r = noop_step(b, false, n, to);
	return r ? r : noop_step(b, true, n, to);
}
