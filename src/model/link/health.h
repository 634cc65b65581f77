/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The health of a worker, as the server sees it and as the worker sees itself: one function, the
 * same timeouts (the server sends them), each side on its own monotonic clock.
 *
 * The worker's marks are never younger than the server's: it counts from the moment it SENT what
 * the server heard. It also gives up `margin_ms` earlier. So a worker that the server may call
 * lost has ended its tasks before, without anybody comparing two machines' clocks.
 */
#ifndef MODEL_HEALTH_H
#define MODEL_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/moves.h"

/*
 *   NEW ------> UNHEALTHY ------> MUST_DIE
 *                 ^   |              ^
 *                 |   v              |
 *                HEALTHY      any: an operator says that it is lost
 *
 * NEW: the server does not know yet what it runs. UNHEALTHY: it gets no new tasks. MUST_DIE: for
 * ever; its tasks are given up, and whenever it speaks it is told to die. The table is in health.c;
 * health_step() and health_lose() go through one door there.
 */
enum worker_state {
	WORKER_NEW,
	WORKER_UNHEALTHY,
	WORKER_HEALTHY,
	WORKER_MUST_DIE,
	N_WORKER_STATES,
};

extern const char *const worker_state_names[N_WORKER_STATES];
extern const struct moves worker_moves;

struct timeouts {
	int64_t heartbeat_ms;       /* between two beats */
	int64_t heartbeat_grace_ms; /* a beat may be that late */
	int64_t check_period_ms;    /* between two healthchecks */
	int64_t check_grace_ms;     /* a check may take that long */
	int64_t lose_after_ms;      /* unhealthy for longer: lost */
	int64_t margin_ms;          /* the worker gives up that much earlier than the server */
	int64_t kill_wait_ms;       /* a dying worker's wait between TERM and KILL */
};

#define HEALTH_NEVER INT64_MIN

struct health {
	enum worker_state state;
	int64_t since_ms;      /* since then its time runs out; may lie ahead */
	int64_t beat_ms;       /* last proof that it speaks */
	int64_t check_ms;      /* last proof that it can start processes; HEALTH_NEVER */
	bool known;            /* the worker's running tasks are known: it leaves NEW */
	bool permitted;        /* worker set consensus allows its first HEALTHY */
	bool doubted;          /* on the worker: the server does not call it healthy now */
	bool has_been_healthy; /* after that consensus does not matter any more */
};

/* Why it is not healthy now; the first that holds. */
enum health_lack { LACK_NOTHING, LACK_KNOWN, LACK_BEAT, LACK_CHECK, LACK_CONSENSUS, LACK_LIFE };

void timeouts_default(struct timeouts *ret_timeouts); /* 15, 60, 60, 60, 500, 5, 5 s */
/* What the worker itself goes by: the same, but it gives up earlier. */
struct timeouts timeouts_of_worker(const struct timeouts *t);
/* The longest that a silent worker's tasks may go on after it was last heard. */
int64_t timeouts_to_lose_ms(const struct timeouts *t);

void health_init(struct health *h, int64_t now_ms);
enum health_lack health_lack(const struct health *h, const struct timeouts *t, int64_t now_ms);
/* Every move; for whoever decides one, which is health_step() and health_lose(). */
void health_move(struct health *h, enum worker_state to);
/*
 * What time has done to it. At most one step along the diagram towards MUST_DIE per call, so nobody
 * is given up who was not seen unhealthy before. Returns whether the state changed.
 */
bool health_step(struct health *h, const struct timeouts *t, int64_t now_ms);
/* Not by time: somebody says that it is lost, or the store has it as that. */
void health_lose(struct health *h);
/* When a step would change it if nothing is heard until then; INT64_MAX: never. */
int64_t health_next_ms(const struct health *h, const struct timeouts *t);

#endif
