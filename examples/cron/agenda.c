/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libreeve-cron in another program: the next times of a crontab line, and what is due after a
 * sleep. It needs nothing but the installed header and library:
 *
 *	cc agenda.c $(pkg-config --cflags --libs reeve-cron) -o agenda
 *	./agenda '30 2 * * *' Europe/Berlin 1774700000
 */
#include <stdio.h>
#include <stdlib.h>

#include <reeve-cron.h>

#define N_TIMES 3

static int complain(const struct reeve_cron_error *e)
{
	fprintf(stderr, "agenda: %s\n", e->what);
	if (e->hint[0])
		fprintf(stderr, "  hint: %s\n", e->hint);
	return 1;
}

static void show_next(
    const struct reeve_cron *cron, const struct reeve_cron_zone *zone, int64_t time)
{
	for (int i = 0; i < N_TIMES && reeve_cron_next(cron, zone, time, &time) == 1; i++, time++)
		printf("next %lld (local time is UTC%+d minutes)\n", (long long)time,
		    reeve_cron_zone_offset(zone, time) / 60);
}

/* One call of a program's timer: what is due now, by what the last call left. */
static int show_due(const struct reeve_cron *cron, const struct reeve_cron_reading *now,
    struct reeve_cron_state *state)
{
	static const char *const labels[] = {"on time", "late", "skipped", "already fired"};
	struct reeve_cron_policy policy = {.max_shift_seconds = 12 * 3600, .on_time_seconds = 60};
	struct reeve_cron_error error;
	struct reeve_cron_event event;
	struct reeve_cron_run *run;

	if (reeve_cron_begin(cron, &policy, now, state, &run, &error) < 0)
		return complain(&error);
	while (reeve_cron_take(run, &event))
		printf("due %lld: %s by %lld s\n", (long long)event.time, labels[event.label],
		    (long long)event.shift);
	reeve_cron_end(run, state);
	return 0;
}

/* The second call comes two days after the first: the machine slept. */
static int show_sleep(
    const struct reeve_cron *cron, const struct reeve_cron_zone *zone, int64_t time)
{
	struct reeve_cron_reading now = {time, REEVE_CRON_NO_MONOTONIC, zone};
	struct reeve_cron_state state = {0};
	int code = show_due(cron, &now, &state);

	now.system += 48 * 3600;
	return code ? code : show_due(cron, &now, &state);
}

int main(int argc, char **argv)
{
	struct reeve_cron_zone *zone = NULL;
	struct reeve_cron_error error;
	struct reeve_cron *cron;
	int code = 1;

	if (argc != 4) {
		fprintf(stderr, "usage: agenda CRONTAB-LINE ZONE EPOCH-SECONDS\n");
		return 2;
	}
	if (reeve_cron_parse(REEVE_CRON_CRONTAB, argv[1], NULL, &cron, &error) < 0)
		return complain(&error);
	if (reeve_cron_zone_open(argv[2], NULL, &zone, &error) < 0) {
		complain(&error);
	} else {
		char *words = reeve_cron_to_words(cron);
		int64_t from = strtoll(argv[3], NULL, 10);

		fputs(words, stdout);
		free(words);
		show_next(cron, zone, from);
		code = show_sleep(cron, zone, from);
	}
	reeve_cron_zone_free(zone);
	reeve_cron_free(cron);
	return code;
}
