/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a long runner that is up want traffic? That may change as often as it likes, and ends
 * nothing. Without a readiness check what is up is ready.
 */
#ifndef AGENT_READINESS_H
#define AGENT_READINESS_H

#include "agent/monitor.h"

/*
 *   ASLEEP --> UNREADY <--> READY
 *     '----------------------^
 *
 * The table is in readiness.c; readiness_move() makes every move.
 */
enum readiness_state {
	READINESS_ASLEEP, /* the process is not up yet */
	READINESS_UNREADY,
	READINESS_READY,
	N_READINESS_STATES,
};

struct readiness {
	enum readiness_state state;
	struct run_check check;
	struct look look;
	int32_t row; /* so many answers in a row that speak for the other state */
};

extern const struct moves readiness_moves;

void readiness_move(struct readiness *r, enum readiness_state to);
void readiness_init(struct readiness *r, const struct run_check *c);
/* As monitor_step(). MONITOR_STARTED: it is up; ok: it was ready when an earlier worker saw it. */
void readiness_step(struct readiness *r, const struct monitor_event *ev, int64_t mono_ms,
    struct monitor_effect *ret);
int64_t readiness_wake_ms(const struct readiness *r);

#endif
