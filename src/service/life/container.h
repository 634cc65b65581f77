/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a worker has of an instance: from the room kept for it to its end. It can be deleted in
 * every state, so that is no move. docs/STATES.md has the picture.
 */
#ifndef SERVICE_LIFE_CONTAINER_H
#define SERVICE_LIFE_CONTAINER_H

#include "base/moves.h"

enum container_state {
	CONTAINER_RESERVED,     /* there is room for it, and nothing else yet */
	CONTAINER_INITIALIZING, /* the container is being made */
	CONTAINER_CREATED, /* the setup runs, or the monitor has not said yet that it is ready */
	CONTAINER_RUNNING,
	CONTAINER_COMPLETED,
	N_CONTAINER_STATES
};
extern const struct moves container_moves;
extern const char *const container_state_names[N_CONTAINER_STATES];

struct container {
	enum container_state state;
	bool was_told; /* completed: it was asked to stop, so that is no crash */
};

void container_move(struct container *c, enum container_state to);

#endif
