/* SPDX-License-Identifier: Apache-2.0 */
#include "service/life/container.h"

const char *const container_state_names[N_CONTAINER_STATES] = {
    [CONTAINER_RESERVED] = "RESERVED",
    [CONTAINER_INITIALIZING] = "INITIALIZING",
    [CONTAINER_CREATED] = "CREATED",
    [CONTAINER_RUNNING] = "RUNNING",
    [CONTAINER_COMPLETED] = "COMPLETED",
};

const struct moves container_moves = {
    "container",
    {[CONTAINER_RESERVED] = "reserved",
        [CONTAINER_INITIALIZING] = "initializing",
        [CONTAINER_CREATED] = "created",
        [CONTAINER_RUNNING] = "running",
        [CONTAINER_COMPLETED] = "completed"},
    {
        {CONTAINER_RESERVED, CONTAINER_INITIALIZING, "it is run"},
        {CONTAINER_INITIALIZING, CONTAINER_CREATED, "it is made, and its setup begins"},
        {CONTAINER_INITIALIZING, CONTAINER_COMPLETED, "it could not be made, or was stopped"},
        {CONTAINER_CREATED, CONTAINER_RUNNING, "its monitor says that it is ready, or it has none"},
        {CONTAINER_CREATED, CONTAINER_COMPLETED, "it ended, was never ready, or was stopped"},
        {CONTAINER_RUNNING, CONTAINER_COMPLETED, "it ended, is not alive, or was stopped"},
    },
};

void container_move(struct container *c, enum container_state to)
{
	c->state = moves_make(&container_moves, c->state, to);
}
