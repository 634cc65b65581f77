/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a long runner well? Decides when to look and what the looks mean; who looks (a probe, a
 * command) is the shell's part. docs/HEALTH.md is written for users. While it starts, failures are
 * only remembered: they are expected. Whether it wants traffic is another question: readiness.h.
 */
#ifndef AGENT_MONITOR_H
#define AGENT_MONITOR_H

#include "agent/look.h"
#include "base/moves.h"

/*
 *   ASLEEP ------> STARTING ------> WELL
 *     |                |             |
 *     |                v             |
 *     |             FAILED <---------'
 *     '-----------------------------> WELL   (nothing to wait for: what runs is well)
 *
 * FAILED is for ever: a process that is started anew gets a monitor of its own. The table is in
 * monitor.c; monitor_move() makes every move.
 */
enum monitor_state {
	MONITOR_ASLEEP,
	MONITOR_STARTING, /* by its startup check */
	MONITOR_WELL,     /* by its liveness check */
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
	bool ok;         /* STARTED: it was well already when an earlier worker saw it */
	struct str why;  /* RESULT, when not ok; cut to fit */
};

enum monitor_effect_kind {
	MONITOR_NOTHING,
	MONITOR_CHECK,      /* look now; an earlier look that has not ended is to be dropped */
	MONITOR_IS_WELL,    /* healthy for the first time; said once */
	MONITOR_HAS_FAILED, /* end it; said once, and nothing after it */
	MONITOR_IS_READY,   /* readiness.h: it wants traffic */
	MONITOR_IS_UNREADY, /* and now it does not */
};

struct monitor_effect {
	enum monitor_effect_kind kind;
	uint64_t number;             /* CHECK: to be given back with the result */
	char why[LOOK_WHY_MAX + 64]; /* HAS_FAILED, IS_UNREADY: for people */
};

struct monitor {
	enum monitor_state state;
	struct run_check startup, liveness;
	struct look look; /* by one of these, as the state wants */
	int64_t started_ms;
	int32_t row; /* so many in a row: good ones while STARTING, else bad ones */
};

extern const struct moves monitor_moves;

void monitor_move(struct monitor *m, enum monitor_state to);
/* What cannot be (negative times, a threshold of 0) is raised to the least that can. */
void monitor_init(struct monitor *m, const struct run_checks *c);
/* The one door; events that mean nothing now are ignored. At most one effect per step. */
void monitor_step(
    struct monitor *m, const struct monitor_event *ev, int64_t mono_ms, struct monitor_effect *ret);
/* When MONITOR_WAKE is due if nothing is heard until then; INT64_MAX: never. */
int64_t monitor_wake_ms(const struct monitor *m);
/* At what it looks now. */
const struct run_check *monitor_check(const struct monitor *m);

#endif
