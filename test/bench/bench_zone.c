/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long it takes to look a time up in a zone, and what a zone costs in memory.
 *
 *   bench_zone [ZONE…]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/rng.h"
#include "zones/zones.h"

#define N_TIMES 4096 /* random, so that no branch can be guessed from the one before */
#define ROUNDS 2000

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static double ns_per_call(const struct cron_zone *z, int64_t from, int64_t until)
{
	static int64_t times[N_TIMES], sum;
	struct rng r = {7};
	struct cron_span s;
	int64_t began;

	for (size_t i = 0; i < N_TIMES; i++)
		times[i] = from + (int64_t)rng_below(&r, (uint64_t)(until - from));
	began = cpu_ns();
	for (size_t round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < N_TIMES; i++) {
			cron_zone_at(z, times[i], &s);
			sum += s.end + s.offset;
		}
	began = cpu_ns() - began;
	return (double)began / ROUNDS / N_TIMES + (sum == 1);
}

static void measure(struct zones *zones, const char *name)
{
	struct zone_ref *ref;
	struct problem p;

	if (zones_get(zones, str_of(name), &ref, &p) < 0) {
		fprintf(stderr, "bench_zone: %s (%s)\n", p.what, p.hint);
		exit(1);
	}
	printf("%-28s %6zu bytes  1970-2037 %5.1f ns  2026-2027 %5.1f ns  2040-2100 %5.1f ns\n",
	    name, cron_zone_bytes(ref->zone), ns_per_call(ref->zone, 0, 2114380800),
	    ns_per_call(ref->zone, 1767225600, 1830297600),
	    ns_per_call(ref->zone, 2208988800, 4102444800));
	zone_ref_drop(ref);
}

int main(int argc, char **argv)
{
	static const char *const usual[] = {"UTC", "Europe/Berlin", "America/New_York",
	    "Australia/Lord_Howe", "Asia/Gaza", "EST5EDT,M3.2.0,M11.1.0", "CET-1CEST,J60,300"};
	struct zones *zones = zones_new(NULL);

	for (int i = 1; i < argc; i++)
		measure(zones, argv[i]);
	for (size_t i = 0; argc < 2 && i < sizeof usual / sizeof usual[0]; i++)
		measure(zones, usual[i]);
	zones_free(zones);
	return 0;
}
