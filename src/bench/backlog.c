/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The case backlog: the same rates with nothing queued, then with a million tasks queued, both in
 * another queue and in the very one that is deep; and what the server's memory does.
 */
#include <stdio.h>

#include "base/mem.h"
#include "bench/internal.h"

#define ONE_CLIENTS 64

struct rates {
	double bulk, one, noop, drain;
};

static json_t *rates_json(const struct rates *r, const struct rates *base)
{
	json_t *o = json_pack("{s:o,s:o,s:o,s:o}", "bulk_submit_per_s", figure(r->bulk),
	    "one_by_one_64_per_s", figure(r->one), "noop_per_s", figure(r->noop), "drain_per_s",
	    figure(r->drain));

	if (base)
		json_object_set_new(o, "ratio",
		    json_pack("{s:o,s:o,s:o,s:o}", "bulk_submit", figure(r->bulk / base->bulk),
		        "one_by_one_64", figure(r->one / base->one), "noop",
		        figure(r->noop / base->noop), "drain", figure(r->drain / base->drain)));
	return o;
}

/* Submits that start nothing. */
static int measure_submits(struct bench *b, const char *queue, struct rates *ret)
{
	AUTO(free_cstr) char *line = xasprintf("{\"queue\":\"%s\",\"params\":{\"n\":1}}", queue);
	int64_t n = bench_scaled(b, 100000, 400);
	double seconds = 1;
	int r = submit_bulk(b, line, n, &seconds);

	ret->bulk = (double)n / seconds;
	return r ? r
	         : submit_single(
	               b, line, false, ONE_CLIENTS, bench_scaled(b, 20000, 128), &ret->one, NULL);
}

static int measure_queue(struct bench *b, const char *parked, const char *noop, struct rates *ret)
{
	int64_t n = bench_scaled(b, 50000, 200);
	int r = measure_submits(b, parked, ret);

	if (r == 0)
		r = noop_end_to_end(b, noop, n, &ret->noop);
	return r ? r : noop_drain(b, noop, n, &ret->drain);
}

/* The deep queue runs: from its start until so many of it have ended. */
static int measure_deep(struct bench *b, struct rates *ret)
{
	int64_t n = bench_scaled(b, 100000, 400), before = 0, after = 0;
	double start = 0, seconds = 1;
	int r = measure_submits(b, "deep", ret);

	if (r == 0)
		r = queue_ended(b, "deep", &before);
	start = bench_seconds();
	if (r == 0)
		r = queue_change(b, "deep", NULL, "{\"threads\":null}");
	if (r == 0)
		r = queue_wait_ended(b, "deep", before + n);
	if (r == 0)
		r = queue_ended(b, "deep", &after);
	seconds = bench_seconds() - start;
	if (r == 0)
		r = queue_change(b, "deep", NULL, "{\"threads\":0}");
	ret->drain = ret->noop = (double)(after - before) / seconds;
	return r;
}

static json_t *mb(int64_t kb)
{
	return figure((double)kb / 1024);
}

static int preload(struct bench *b, json_t *to)
{
	int64_t n = bench_scaled(b, 1000000, 5000);
	double seconds = 1;
	int r = submit_bulk(b, "{\"queue\":\"deep\",\"params\":{\"n\":1}}", n, &seconds);

	json_object_set_new(to, "queued", json_integer(n));
	json_object_set_new(to, "preload_per_s", figure((double)n / seconds));
	json_object_set_new(to, "rss_queued_mb", mb(child_rss_kb(b->stand.server, "VmRSS:")));
	return r;
}

int case_backlog(struct bench *b, json_t *to)
{
	struct rates empty = {0}, other = {0}, same = {0};
	int r = queue_make(b, "deep", "\"plugin\":\"noop\",\"threads\":0");

	json_object_set_new(to, "rss_start_mb", mb(child_rss_kb(b->stand.server, "VmRSS:")));
	if (r == 0)
		r = queue_make(b, "parked", "\"plugin\":\"noop\",\"threads\":0");
	if (r == 0)
		r = queue_make(b, "noop", "\"plugin\":\"noop\"");
	if (r == 0)
		r = measure_queue(b, "parked", "noop", &empty);
	json_object_set_new(to, "rss_empty_mb", mb(child_rss_kb(b->stand.server, "VmRSS:")));
	if (r == 0)
		r = preload(b, to);
	if (r == 0)
		r = measure_queue(b, "parked", "noop", &other);
	if (r == 0)
		r = measure_deep(b, &same);
	json_object_set_new(to, "empty", rates_json(&empty, NULL));
	json_object_set_new(to, "other_queue", rates_json(&other, &empty));
	json_object_set_new(to, "same_queue", rates_json(&same, &empty));
	json_object_set_new(to, "rss_end_mb", mb(child_rss_kb(b->stand.server, "VmRSS:")));
	json_object_set_new(to, "rss_peak_mb", mb(child_rss_kb(b->stand.server, "VmHWM:")));
	return r;
}
