/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The case backlog: the same rates with nothing queued and with a million tasks queued, both in
 * another queue and in the very one that is deep; and what the server's memory does. Two servers
 * stand side by side, an empty one and a deep one, and are measured in turns: on a machine that
 * does other things too, a ratio of figures from different minutes says nothing.
 */
#include <stdio.h>

#include "base/mem.h"
#include "bench/internal.h"

#define ONE_CLIENTS 64
#define ROUNDS 3

struct tally {
	double n, seconds;
};

struct rates {
	struct tally bulk, one, noop, drain;
};

static void tally_add(struct tally *t, int64_t n, double rate)
{
	t->n += (double)n;
	t->seconds += (double)n / rate;
}

static double tally_rate(struct tally t)
{
	return t.n / t.seconds;
}

static json_t *ratio(struct tally t, struct tally base)
{
	return figure(tally_rate(t) / tally_rate(base));
}

static json_t *rates_json(const struct rates *r, const struct rates *base)
{
	json_t *o = json_pack("{s:o,s:o,s:o,s:o}", "bulk_submit_per_s", figure(tally_rate(r->bulk)),
	    "one_by_one_64_per_s", figure(tally_rate(r->one)), "noop_per_s",
	    figure(tally_rate(r->noop)), "drain_per_s", figure(tally_rate(r->drain)));

	if (base)
		json_object_set_new(o, "ratio",
		    json_pack("{s:o,s:o,s:o,s:o}", "bulk_submit", ratio(r->bulk, base->bulk),
		        "one_by_one_64", ratio(r->one, base->one), "noop",
		        ratio(r->noop, base->noop), "drain", ratio(r->drain, base->drain)));
	return o;
}

/* Submits that start nothing. */
static int measure_submits(struct bench *b, const char *queue, struct rates *to)
{
	AUTO(free_cstr) char *line = xasprintf("{\"queue\":\"%s\",\"params\":{\"n\":1}}", queue);
	int64_t n = bench_scaled(b, 100000, 400), n_one = bench_scaled(b, 10000, 128);
	double seconds = 0, rate = 0;
	int r = submit_bulk(b, line, n, &seconds);

	if (r < 0)
		return r;
	tally_add(&to->bulk, n, (double)n / seconds);
	r = submit_single(b, line, false, ONE_CLIENTS, n_one, &rate, NULL);
	if (r == 0)
		tally_add(&to->one, n_one, rate);
	return r;
}

/* In queues of their own: `parked` is new in every round, so that it starts empty. */
static int measure_shallow(struct bench *b, int round, struct rates *to)
{
	AUTO(free_cstr) char *parked = xasprintf("parked-%d", round);
	int64_t n = bench_scaled(b, 40000, 200);
	double rate = 0;
	int r = queue_make(b, parked, "\"plugin\":\"noop\",\"threads\":0");

	if (r == 0)
		r = measure_submits(b, parked, to);
	if (r == 0)
		r = noop_end_to_end(b, "noop", n, &rate);
	if (r < 0)
		return r;
	tally_add(&to->noop, n, rate);
	r = noop_drain(b, "noop", n, &rate);
	if (r == 0)
		tally_add(&to->drain, n, rate);
	return r;
}

/* The deep queue runs: from its start until so many of it have ended. */
static int run_deep(struct bench *b, int64_t n, struct tally *to)
{
	int64_t before = 0, after = 0;
	double start;
	int r = queue_ended(b, "deep", &before);

	start = bench_seconds();
	if (r == 0)
		r = queue_change(b, "deep", NULL, "{\"threads\":null}");
	if (r == 0)
		r = queue_wait_ended(b, "deep", before + n);
	if (r == 0)
		r = queue_ended(b, "deep", &after);
	to->n += (double)(after - before);
	to->seconds += bench_seconds() - start;
	return r ? r : queue_change(b, "deep", NULL, "{\"threads\":0}");
}

static int measure_deep(struct bench *b, struct rates *to)
{
	int64_t n = bench_scaled(b, 40000, 200);
	int r = measure_submits(b, "deep", to);

	if (r == 0)
		r = run_deep(b, n, &to->drain);
	return r;
}

static json_t *mb(int64_t kb)
{
	return figure((double)kb / 1024);
}

static int preload(struct bench *b, json_t *to)
{
	int64_t n = bench_scaled(b, 1000000, 5000);
	double seconds = 1, rate;
	int r = queue_make(b, "deep", "\"plugin\":\"noop\",\"threads\":0");

	json_object_set_new(to, "rss_start_mb", mb(child_rss_kb(b->stand.server, "VmRSS:")));
	if (r == 0)
		r = submit_bulk(b, "{\"queue\":\"deep\",\"params\":{\"n\":1}}", n, &seconds);
	json_object_set_new(to, "queued", json_integer(n));
	json_object_set_new(to, "preload_per_s", figure((double)n / seconds));
	json_object_set_new(to, "rss_queued_mb", mb(child_rss_kb(b->stand.server, "VmRSS:")));
	if (r == 0)
		r = queue_make(b, "noop", "\"plugin\":\"noop\"");
	return r ? r : noop_end_to_end(b, "noop", 100, &rate);
}

static void stand_swap(struct bench *b, struct stand *other)
{
	struct stand s = b->stand;

	b->stand = *other;
	*other = s;
}

static int take_turns(struct bench *b, struct stand *empty_stand, struct rates rates[3])
{
	double rate;
	int r;

	stand_swap(b, empty_stand);
	r = queue_make(b, "noop", "\"plugin\":\"noop\"");
	if (r == 0)
		r = noop_end_to_end(b, "noop", 100, &rate);
	for (int i = 0; i < ROUNDS && r == 0; i++) {
		r = measure_shallow(b, i, &rates[0]);
		stand_swap(b, empty_stand);
		if (r == 0)
			r = measure_shallow(b, i, &rates[1]);
		if (r == 0)
			r = measure_deep(b, &rates[2]);
		stand_swap(b, empty_stand);
	}
	stand_swap(b, empty_stand);
	return r;
}

int case_backlog(struct bench *b, json_t *to)
{
	struct stand empty = {.fd = -1};
	struct rates rates[3] = {0};
	int r = preload(b, to);

	if (r == 0) {
		stand_swap(b, &empty);
		r = stand_start(b, "backlog-empty");
		stand_swap(b, &empty);
	}
	if (r == 0)
		r = take_turns(b, &empty, rates);
	json_object_set_new(to, "empty", rates_json(&rates[0], NULL));
	json_object_set_new(to, "other_queue", rates_json(&rates[1], &rates[0]));
	json_object_set_new(to, "same_queue", rates_json(&rates[2], &rates[0]));
	json_object_set_new(to, "rss_end_mb", mb(child_rss_kb(b->stand.server, "VmRSS:")));
	json_object_set_new(to, "rss_peak_mb", mb(child_rss_kb(b->stand.server, "VmHWM:")));
	stand_swap(b, &empty);
	stand_stop(b);
	stand_swap(b, &empty);
	return r;
}
