/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of an instance: one for each index of a service, and beside it at most one more of
 * each other presence. docs/STATES.md has the picture of its states.
 */
#ifndef SERVICE_LIFE_INSTANCE_H
#define SERVICE_LIFE_INSTANCE_H

#include "base/moves.h"
#include "service/place/auction.h"

enum instance_state {
	INSTANCE_UNCLAIMED, /* the instance waits for a worker */
	INSTANCE_CLAIMED,   /* a worker starts it */
	INSTANCE_RUNNING,
	INSTANCE_CRASHED, /* the instance is nowhere, and starts again when its wait is over */
	N_INSTANCE_STATES
};
extern const struct moves instance_moves;
extern const char *const instance_state_names[N_INSTANCE_STATES];

enum presence {
	PRESENCE_ORDINARY,
	PRESENCE_EVACUATING, /* on a worker that is drained, until its replacement runs */
	PRESENCE_SUSPECT,    /* on a worker that is silent; a replacement is on its way */
	N_PRESENCES
};
extern const char *const presence_names[N_PRESENCES];

struct instance {
	uint32_t service, index;
	enum instance_state state;
	enum presence presence;
	uint32_t worker; /* NO_WORKER: none */
	uint32_t crash_count;
	uint64_t id;           /* of this start; 0: none */
	int64_t revision;      /* of the service: what is started, or will be; 0: not known */
	uint64_t tag;          /* rises with every change */
	int64_t since_ms;      /* in this state */
	int64_t asked_ms;      /* a start or a stop was asked for last; 0: never */
	int64_t crashed_at_ms; /* 0: never */
	int64_t ready_ms;      /* ready since; 0: it is not */
	bool is_ready;         /* for traffic */
	bool is_stopping;      /* the worker was told to stop it */
	bool is_surge;         /* a deploy made it beyond those that are wanted, for its time */
};

/* The door of every move: with the time, the tag, and what a state cannot have. */
void instance_move(struct instance *i, enum instance_state to, int64_t now_ms);

#endif
