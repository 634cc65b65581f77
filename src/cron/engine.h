/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stateful engine: which events are due, given what the clocks and the zone say now and what
 * they said at the last call. A clock that is stepped, a zone that is changed, a process that
 * slept: each moves the same distance, between where the schedule has got to and where the clock
 * stands now, so they add up and cancel out by themselves.
 */
#ifndef CRON_ENGINE_H
#define CRON_ENGINE_H

#include "cron/pattern/item.h"

/* What the world says at one call. */
struct cron_reading {
	int64_t system;               /* seconds; fractions cut off */
	int64_t monotonic_ms;         /* of this boot; CRON_NO_MONOTONIC: unknown */
	const struct cron_zone *zone; /* NULL only when no item uses one */
};
#define CRON_NO_MONOTONIC INT64_MIN

/* A small value that the store keeps. Zeroed: never called. */
struct cron_state {
	bool begun;
	int64_t done_until; /* every event up to here has been dealt with */
	int64_t seen_until; /* less than done_until while a clock that was set back catches up */
	int64_t system;     /* the last reading */
	int64_t monotonic_ms;
	int32_t offset; /* of the zone at `system`, then */
};

struct cron_policy {
	int64_t shift_limit; /* max_shift_seconds_for_unskip_and_do_not_repeat */
	int64_t on_time;     /* an event found so late is still on time, in seconds */
};

/* What changed between two calls, in seconds; each 0 when it did not. */
struct cron_change {
	int64_t elapsed;    /* by the monotonic clock (by the system's when that is unknown) */
	int64_t step;       /* the system clock was moved by so much, beyond `elapsed`; 1 second is
	                       what cutting off fractions makes, and told as 0 */
	int64_t zone_shift; /* the retrospective heuristic: the zone gives another offset for the
	                       last reading than it gave then */
	int64_t distance;   /* all together: now minus where the schedule had got to */
	bool repeats;       /* the clock went back so far that what follows fires again */
};

enum cron_label { CRON_ON_TIME, CRON_LATE, CRON_SKIPPED, CRON_ALREADY_FIRED };
const char *cron_label_name(enum cron_label label); /* "on-time", "already-fired" … */

struct cron_event {
	enum cron_label label;
	int64_t time;  /* skipped: the first of them */
	int64_t until; /* skipped: no event in (time, until] was fired; else the same as time */
	int64_t shift; /* now minus time */
};

/*
 *	cron_engine_begin(&e, items, &policy, &reading, &state);
 *	while (cron_engine_next(&e, &event)) …
 *	state = e.state;    (also valid between two events: what was not taken comes again)
 */
struct cron_engine {
	const struct cron_items *items;
	const struct cron_zone *zone;
	struct cron_policy policy;
	struct cron_change change;
	int64_t now;
	struct cron_state state;
};
void cron_engine_begin(struct cron_engine *e, const struct cron_items *items,
    const struct cron_policy *policy, const struct cron_reading *now,
    const struct cron_state *state);
bool cron_engine_next(struct cron_engine *e, struct cron_event *ret_event);
/* The system time at which the next call is worth while (that of the next event, already fired
   ones included); false: never again. */
bool cron_engine_wake(const struct cron_engine *e, int64_t *ret_time);

#endif
