/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The case cron: next times per second on one core, for patterns that people use and for rare
 * ones; with --peers beside other programs, in turns, with the same patterns, zones and times.
 */
#include "bench/cases/cron.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "cron/pattern/item.h"
#include "zones/zones.h"

#define SEED 7
#define N_STARTS 1000
#define STARTS_FROM INT64_C(1577836800)  /* 2020 */
#define STARTS_UNTIL INT64_C(2208988800) /* 2040 */
#define WALK_UNTIL INT64_C(4102444800)   /* 2100 */
#define ROUNDS 5                         /* the best one counts: others ran beside the rest */
#define ROUND_NS 20000000

static const struct cron_pattern patterns[] = {
    {"tuesdays_at_0230", false, false, "30 2 * * 2", "30 2 * * 2", "30 2 * * 2",
        "America/Los_Angeles"},
    {"every_5_minutes", false, false, "*/5 * * * *", "*/5 * * * *", "*/5 * * * *", "Europe/Berlin"},
    {"every_5_minutes_utc", false, false, "*/5 * * * *", "*/5 * * * *", "*/5 * * * *", "UTC"},
    {"weekdays_at_9", false, false, "0 9 * * 1-5", "0 9 * * 1-5", "0 9 * * 1-5",
        "America/New_York"},
    {"nightly_at_0215", false, false, "15 2 * * *", "15 2 * * *", "15 2 * * *",
        "Australia/Lord_Howe"},
    {"first_of_month", false, false, "0 0 1 * *", "0 0 1 * *", "0 0 1 * *", "Europe/London"},
    {"last_of_month", false, false, "0 0 L * *", "0 0 L * *", "0 0 L * *", "Asia/Tokyo"},
    {"last_friday", false, false, "0 17 * * friL", "0 17 * * 5#L", "0 17 * * 5L", "Europe/Berlin"},
    {"every_10_seconds", false, true, "*:*:0/10", "*/10 * * * * *", "*/10 * * * * *",
        "America/New_York"},
    {"first_of_january", true, false, "0 0 1 1 *", "0 0 1 1 *", "0 0 1 1 *", "Europe/Paris"},
    {"friday_13th", true, true, "Fri *-*-13 00:00", "0 0 13 * +5", NULL, "America/New_York"},
    {"february_29", true, false, "0 0 29 2 *", "0 0 29 2 *", "0 0 29 2 *", "America/Los_Angeles"},
    {"february_29_on_a_monday", true, true, "Mon *-02-29 00:00", "0 0 29 2 +1", NULL,
        "America/Los_Angeles"},
};
#define N_PATTERNS (sizeof patterns / sizeof patterns[0])

struct subject {
	struct cron_items items;
	struct zone_ref *zone;
};

static int64_t next_after(const struct subject *s, int64_t t)
{
	int64_t time;

	return cron_items_next(&s->items, s->zone->zone, t + 1, &time) ? time : CRON_NO_TIME;
}

/* Both passes return how many times they asked. */
static size_t pass_fresh(const struct subject *s, struct cron_asked *a)
{
	for (size_t i = 0; i < a->n; i++)
		a->fresh[i] = next_after(s, a->starts[i]);
	return a->n;
}

static size_t pass_walking(const struct subject *s, struct cron_asked *a)
{
	int64_t t = a->starts[0];
	size_t asked = 0;

	a->n_walk = 0;
	while (asked < a->n) {
		t = next_after(s, t);
		asked++;
		if (t == CRON_NO_TIME || t >= a->until)
			break;
		a->walk[a->n_walk++] = t;
	}
	return asked;
}

static double best_rate(const struct subject *s, struct cron_asked *a,
    size_t (*pass)(const struct subject *, struct cron_asked *))
{
	double best = 0, rate;

	for (int round = 0; round < ROUNDS; round++) {
		int64_t begun = bench_ns(), took;
		size_t asked = 0;

		do {
			asked += pass(s, a);
			took = bench_ns() - begun;
		} while (took < ROUND_NS);
		rate = (double)asked * 1e9 / (double)took;
		best = rate > best ? rate : best;
	}
	return best;
}

static int subject_init(
    struct bench *b, struct zones *zones, const struct cron_pattern *p, struct subject *ret_s)
{
	struct str text = str_of(p->ours);
	int r = p->is_calendar ? cron_items_calendar(text, NULL, &ret_s->items, &b->problem)
	                       : cron_items_crontab(text, NULL, &ret_s->items, &b->problem);

	return r ? r : zones_get(zones, str_of(p->zone), &ret_s->zone, &b->problem);
}

static void subject_release(struct subject *s)
{
	cron_items_release(&s->items);
	if (s->zone)
		zone_ref_drop(s->zone);
}

static int measure_pattern(struct bench *b, struct zones *zones, struct cron_asked *a, json_t *to)
{
	AUTO(subject_release) struct subject s = {0};
	int r = subject_init(b, zones, a->pattern, &s);

	if (r < 0)
		return r;
	a->fresh_per_s = best_rate(&s, a, pass_fresh);
	a->walking_per_s = best_rate(&s, a, pass_walking);
	json_object_set_new(to, "pattern", json_string(a->pattern->ours));
	json_object_set_new(to, "zone", json_string(a->pattern->zone));
	json_object_set_new(to, "fresh_per_s", figure(a->fresh_per_s));
	json_object_set_new(to, "walking_per_s", figure(a->walking_per_s));
	return 0;
}

/* The worst pattern of a kind, by its ratio to the faster peer. */
static void add_least(const json_t *list, bool rare, json_t *to)
{
	double least = INFINITY;

	for (size_t i = 0; i < N_PATTERNS; i++) {
		const json_t *one = json_object_get(list, patterns[i].name);
		double ratio = figure_get(one, "ratio");

		if (patterns[i].rare == rare && ratio < least)
			least = ratio;
	}
	json_object_set_new(to, rare ? "least_ratio_rare" : "least_ratio_common", figure(least));
}

static int measure_all(
    struct bench *b, struct zones *zones, struct cron_asked *a, bool peers, json_t *list)
{
	int r = 0;

	for (size_t i = 0; i < N_PATTERNS && r == 0 && !bench_interrupted(); i++) {
		json_t *to = json_object();

		a->pattern = &patterns[i];
		json_object_set_new(list, patterns[i].name, to);
		r = measure_pattern(b, zones, a, to);
		if (r == 0 && peers)
			r = cron_peers_measure(b, a, to);
	}
	return r;
}

static void draw_starts(int64_t *starts, size_t n)
{
	struct rng rng = {SEED};

	for (size_t i = 0; i < n; i++)
		starts[i] = STARTS_FROM + (int64_t)rng_below(&rng, STARTS_UNTIL - STARTS_FROM);
}

static int add_peers(struct bench *b, json_t *to)
{
	json_t *versions;

	if (!b->peers) {
		bench_note("no peers: only Reeve is measured; for others see docs/BENCHMARKS.md");
		json_object_set_new(to, "peers", json_null());
		return 0;
	}
	versions = cron_peers_versions(b);
	if (!versions)
		return b->problem.code;
	return json_object_set_new(to, "peers", versions);
}

int case_cron(struct bench *b, json_t *to)
{
	size_t n = (size_t)bench_scaled(b, N_STARTS, 20);
	int64_t *all = xcalloc(3 * n, sizeof *all);
	struct cron_asked a = {
	    .starts = all, .n = n, .until = WALK_UNTIL, .fresh = all + n, .walk = all + 2 * n};
	struct zones *zones = zones_new(NULL);
	json_t *list = json_object();
	int r = add_peers(b, to);

	draw_starts(all, n);
	json_object_set_new(to, "start_times", json_integer((json_int_t)n));
	json_object_set_new(to, "patterns", list);
	if (r == 0)
		r = measure_all(b, zones, &a, b->peers != NULL, list);
	for (int rare = 0; rare < 2; rare++)
		add_least(list, rare, to);
	zones_free(zones);
	free(all);
	return r;
}
