/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libreeve-cron in a thread of its own: prints each event of a crontab line, or of JSON items, when
 * it is due. The main thread only takes what the ticker's queue has.
 *
 *	cc chimes.c ticker.c -pthread $(pkg-config --cflags --libs reeve-cron) -o chimes
 *	./chimes '30 2 * * *' Europe/Berlin 3
 *	./chimes '30 2 * * *' Europe/Berlin 3 1774700000
 *
 * The last number makes up a clock that begins there, and goes on by ten minutes with every look.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ticker.h"

#define LOOK_MS 1000
#define STEP_S 600 /* of a clock that is made up */

static int64_t real_system(void *arg)
{
	(void)arg;
	return (int64_t)time(NULL);
}

static int64_t real_monotonic(void *arg)
{
	struct timespec now;

	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Read by the ticker's thread alone, the wall clock before the monotonic one. */
static int64_t made_up_system(void *arg)
{
	return *(int64_t *)arg += STEP_S;
}

static int64_t made_up_monotonic(void *arg)
{
	return *(int64_t *)arg * 1000;
}

static int complain(const struct reeve_cron_error *e)
{
	fprintf(stderr, "chimes: %s\n", e->what);
	if (e->hint[0])
		fprintf(stderr, "  hint: %s\n", e->hint);
	return 1;
}

static int chime(const struct ticker_options *o, long count)
{
	static const char *const labels[] = {"on time", "late", "skipped", "already fired"};
	struct ticker *t = ticker_new(o);
	struct ticker_event e;

	if (!t) {
		perror("chimes");
		reeve_cron_zone_free(o->zone);
		return 1;
	}
	while (count-- > 0 && ticker_take(t, &e)) {
		printf("%lld %s\n", (long long)e.event.time, labels[e.event.label]);
		fflush(stdout);
	}
	ticker_free(t);
	return 0;
}

int main(int argc, char **argv)
{
	int64_t made_up = argc > 4 ? strtoll(argv[4], NULL, 10) : 0;
	struct ticker_options o = {.policy = {.max_shift_seconds = 3600, .on_time_seconds = STEP_S},
	    .system_s = argc > 4 ? made_up_system : real_system,
	    .monotonic_ms = argc > 4 ? made_up_monotonic : real_monotonic,
	    .arg = &made_up,
	    .look_ms = argc > 4 ? 0 : LOOK_MS};
	struct reeve_cron_error error;
	struct reeve_cron *cron;
	int code;

	if (argc < 4 || argc > 5) {
		fprintf(stderr, "usage: chimes CRONTAB-LINE|JSON ZONE COUNT [EPOCH-SECONDS]\n");
		return 2;
	}
	if (reeve_cron_parse(argv[1][0] == '{' ? REEVE_CRON_JSON : REEVE_CRON_CRONTAB, argv[1],
	        NULL, &cron, &error) < 0)
		return complain(&error);
	if (reeve_cron_zone_open(argv[2], NULL, &o.zone, &error) < 0) {
		code = complain(&error);
	} else {
		o.cron = cron;
		code = chime(&o, strtol(argv[3], NULL, 10));
	}
	reeve_cron_free(cron);
	return code;
}
