/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libreeve-cron: when does a pattern of times match, in a zone that moves its clocks; and which
 * matches are due, through clock steps, zone changes and sleep.
 *
 * Times are whole seconds since 1970-01-01T00:00:00Z. There is no global state: any number of
 * threads may use it at once, and share patterns and zones, which never change once made. No
 * function reads a clock or the environment; only reeve_cron_zone_open() reads files.
 *
 * Functions that can fail return 0 or a negative enum reeve_cron_code, write their outputs only on
 * success, and explain themselves in a struct reeve_cron_error, which may be NULL. Without memory
 * the process ends.
 */
#ifndef REEVE_CRON_H
#define REEVE_CRON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum reeve_cron_code {
	REEVE_CRON_OK = 0,
	REEVE_CRON_INVALID = -1,   /* malformed, or used wrongly */
	REEVE_CRON_NOT_FOUND = -2, /* no such zone; or no date will ever match */
	REEVE_CRON_IO = -3,        /* a file cannot be read */
};

struct reeve_cron_error {
	enum reeve_cron_code code;
	char what[320]; /* what was wrong, one sentence */
	char hint[320]; /* what to do about it; may be empty */
};

/* ---- zones ---- */

struct reeve_cron_zone;

/*
 * "Europe/Berlin": a file below `dir` (NULL: /usr/share/zoneinfo); "local": /etc/localtime; "UTC",
 * "+02:00", "UTC+5": east is plus; "CET-1CEST,M3.5.0,M10.5.0/3": a POSIX TZ string.
 */
int reeve_cron_zone_open(const char *name, const char *dir, struct reeve_cron_zone **ret_zone,
    struct reeve_cron_error *ret_error);
/* From the bytes of a TZif file, wherever they come from. */
int reeve_cron_zone_tzif(const void *bytes, size_t n, struct reeve_cron_zone **ret_zone,
    struct reeve_cron_error *ret_error);
void reeve_cron_zone_free(struct reeve_cron_zone *zone);
/* Local time is UTC plus so many seconds at that time. */
int32_t reeve_cron_zone_offset(const struct reeve_cron_zone *zone, int64_t time);

/* ---- patterns ---- */

struct reeve_cron;

enum reeve_cron_form {
	REEVE_CRON_JSON,     /* {"minute": 30, "hour": 2, "dst_fixes": "vixie"}, or a list */
	REEVE_CRON_CRONTAB,  /* 30 2 * * tue */
	REEVE_CRON_CALENDAR, /* Tue *-*-* 02:30, as systemd's OnCalendar */
};

/*
 * `dst`: what happens to times that do not exist or come twice, for the two forms that cannot say
 * it themselves: "vixie" (so is NULL) or two words as "unskip,repeat_use_only_early". NULL for
 * JSON.
 */
int reeve_cron_parse(enum reeve_cron_form form, const char *text, const char *dst,
    struct reeve_cron **ret_cron, struct reeve_cron_error *ret_error);
void reeve_cron_free(struct reeve_cron *cron);
/* The zone that the text names itself (CRON_TZ=…, a calendar expression's last word), or NULL. */
const char *reeve_cron_zone_name(const struct reeve_cron *cron);
/* False: only seconds since 1970 are named, and no zone is needed. */
bool reeve_cron_uses_zone(const struct reeve_cron *cron);

/* The first match at or after a time, the last at or before it. 1: found; 0: there is none;
 * REEVE_CRON_INVALID: the pattern needs a zone and got NULL. */
int reeve_cron_next(const struct reeve_cron *cron, const struct reeve_cron_zone *zone, int64_t time,
    int64_t *ret_time);
int reeve_cron_last(const struct reeve_cron *cron, const struct reeve_cron_zone *zone, int64_t time,
    int64_t *ret_time);

/* As JSON that can be parsed again; in English, a line for each item. The caller calls free(). */
char *reeve_cron_to_json(const struct reeve_cron *cron);
char *reeve_cron_to_words(const struct reeve_cron *cron);

/* ---- what is due ---- */

#define REEVE_CRON_NO_MONOTONIC INT64_MIN

/* What the world says now. */
struct reeve_cron_reading {
	int64_t system;       /* seconds; fractions cut off */
	int64_t monotonic_ms; /* of this boot, or REEVE_CRON_NO_MONOTONIC; decides nothing */
	const struct reeve_cron_zone *zone;
};

/* What one call leaves for the next: zero it once, store it as you like. */
struct reeve_cron_state {
	bool begun;
	int64_t done_until, seen_until;
	int64_t system, monotonic_ms;
	int32_t offset;
};

struct reeve_cron_policy {
	/* Events missed by no more than this many seconds still fire, and a clock that goes back by
	 * no more repeats none. About half the period is usual. What the items say about it is not
	 * looked at: parse those with limits of their own one by one, and begin each with its own.
	 */
	int64_t max_shift_seconds;
	int64_t on_time_seconds; /* found so late, an event is still on time */
};

enum reeve_cron_label {
	REEVE_CRON_ON_TIME,
	REEVE_CRON_LATE,
	REEVE_CRON_SKIPPED,       /* too old; one event for all of them */
	REEVE_CRON_ALREADY_FIRED, /* the clock was set back and passes it again */
};

struct reeve_cron_event {
	enum reeve_cron_label label;
	int64_t time;  /* skipped: the first of them */
	int64_t until; /* skipped: no event in (time, until] fires; else the same as time */
	int64_t shift; /* now minus time */
};

/*
 *	reeve_cron_begin(cron, &policy, &reading, &state, &run, &error);
 *	while (reeve_cron_take(run, &event)) …
 *	if (reeve_cron_wake(run, &time)) … call again then, or earlier
 *	reeve_cron_end(run, &state);
 *
 * The pattern and the zone must live until the end. Events that were not taken come again.
 */
struct reeve_cron_run;

int reeve_cron_begin(const struct reeve_cron *cron, const struct reeve_cron_policy *policy,
    const struct reeve_cron_reading *now, const struct reeve_cron_state *state,
    struct reeve_cron_run **ret_run, struct reeve_cron_error *ret_error);
bool reeve_cron_take(struct reeve_cron_run *run, struct reeve_cron_event *ret_event);
bool reeve_cron_wake(const struct reeve_cron_run *run, int64_t *ret_time);
/* Now minus where the schedule had got to at the last call, in seconds: negative after steps back.
 */
int64_t reeve_cron_distance(const struct reeve_cron_run *run);
void reeve_cron_end(struct reeve_cron_run *run, struct reeve_cron_state *ret_state);

#ifdef __cplusplus
}
#endif

#endif
