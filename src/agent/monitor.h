/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a long runner well? Decides when to look and what the looks mean; who looks (a probe, a
 * command) is the shell's part. docs/HEALTH.md is written for users.
 *
 * One look at a time: the next one is due an interval after the end of the one before, so a slow
 * answer cannot pile up looks. While it starts, failures are only remembered: they are expected.
 */
#ifndef AGENT_MONITOR_H
#define AGENT_MONITOR_H

#include "base/moves.h"
#include "model/run/settings.h"

#define MONITOR_WHY_MAX 256
#define MONITOR_LEAST_MS 10 /* between two looks, whatever was asked for */

/*
 *   ASLEEP ------> STARTING ------> WELL
 *     |                |             |
 *     |                v             |
 *     |             FAILED <---------'
 *     '-----------------------------> WELL   (nothing to look at: what runs is well)
 *
 * FAILED is for ever: a process that is started anew gets a monitor of its own. The table is in
 * monitor.c; monitor_move() makes every move.
 */
enum monitor_state {
	MONITOR_ASLEEP,
	MONITOR_STARTING,
	MONITOR_WELL,
	MONITOR_FAILED,
	N_MONITOR_STATES,
};

enum monitor_event_kind {
	MONITOR_STARTED, /* the process runs */
	MONITOR_RESULT,  /* a look has ended */
	MONITOR_WAKE,    /* nothing but time has passed */
};

struct monitor_event {
	enum monitor_event_kind kind;
	uint64_t number; /* RESULT: of the look that was asked for */
	bool ok;
	struct str why; /* RESULT, when not ok; cut to fit */
};

enum monitor_effect_kind {
	MONITOR_NOTHING,
	MONITOR_CHECK,     /* look now; an earlier look that has not ended is to be dropped */
	MONITOR_IS_WELL,   /* healthy for the first time; said once */
	MONITOR_HAS_FAILED /* end it; said once, and nothing after it */
};

struct monitor_effect {
	enum monitor_effect_kind kind;
	uint64_t number;                /* CHECK: to be given back with the result */
	char why[MONITOR_WHY_MAX + 64]; /* HAS_FAILED: for people */
};

struct monitor {
	enum monitor_state state;
	bool watched;             /* there is something to look at */
	int64_t start_timeout_ms; /* 0: none */
	int64_t start_interval_ms, interval_ms, timeout_ms;
	int32_t healthy_after, unhealthy_after;
	int64_t started_ms;
	uint64_t number; /* of the last look */
	bool looking;
	int64_t look_ms;           /* when that look began, or when the next one is due */
	int32_t row;               /* so many in a row: good ones while STARTING, else bad ones */
	char why[MONITOR_WHY_MAX]; /* of the last failure; empty: none yet */
};

extern const struct moves monitor_moves;

void monitor_move(struct monitor *m, enum monitor_state to);
/* What cannot be (negative times, a threshold of 0) is raised to the least that can. */
void monitor_init(struct monitor *m, const struct run_check *c);
/* The one door; events that mean nothing now are ignored. At most one effect per step. */
void monitor_step(
    struct monitor *m, const struct monitor_event *ev, int64_t mono_ms, struct monitor_effect *ret);
/* When MONITOR_WAKE is due if nothing is heard until then; INT64_MAX: never. */
int64_t monitor_wake_ms(const struct monitor *m);

#endif
