/* SPDX-License-Identifier: Apache-2.0 */
#include "service/life/instance.h"

const char *const instance_state_names[N_INSTANCE_STATES] = {
    [INSTANCE_UNCLAIMED] = "UNCLAIMED",
    [INSTANCE_CLAIMED] = "CLAIMED",
    [INSTANCE_RUNNING] = "RUNNING",
    [INSTANCE_CRASHED] = "CRASHED",
};
const char *const presence_names[N_PRESENCES] = {
    [PRESENCE_ORDINARY] = "ordinary",
    [PRESENCE_EVACUATING] = "evacuating",
    [PRESENCE_SUSPECT] = "suspect",
};

const struct moves instance_moves = {
    "instance",
    {[INSTANCE_UNCLAIMED] = "unclaimed",
        [INSTANCE_CLAIMED] = "claimed",
        [INSTANCE_RUNNING] = "running",
        [INSTANCE_CRASHED] = "crashed"},
    {
        {INSTANCE_UNCLAIMED, INSTANCE_CLAIMED, "a worker starts it"},
        {INSTANCE_UNCLAIMED, INSTANCE_RUNNING, "a worker says that it runs there already"},
        {INSTANCE_CLAIMED, INSTANCE_RUNNING, "it runs, there or on another worker"},
        {INSTANCE_CLAIMED, INSTANCE_UNCLAIMED,
            "its worker is lost, is drained or has nothing of it; or it crashed, and starts again "
            "at once"},
        {INSTANCE_CLAIMED, INSTANCE_CRASHED, "it crashed, and has to wait"},
        {INSTANCE_RUNNING, INSTANCE_CLAIMED, "its worker says that it is only starting"},
        {INSTANCE_RUNNING, INSTANCE_UNCLAIMED,
            "its worker is lost, is drained or has nothing of it; or it crashed, and starts again "
            "at once"},
        {INSTANCE_RUNNING, INSTANCE_CRASHED, "it crashed, and has to wait"},
        {INSTANCE_CRASHED, INSTANCE_UNCLAIMED, "its wait is over, or an operator ends it"},
        {INSTANCE_CRASHED, INSTANCE_RUNNING, "a worker says that it runs after all"},
    },
};

void instance_move(struct instance *i, enum instance_state to, int64_t now_ms)
{
	i->state = moves_make(&instance_moves, i->state, to);
	i->since_ms = now_ms;
	i->asked_ms = to == INSTANCE_UNCLAIMED ? now_ms : 0;
	i->is_stopping = false;
	i->tag++;
	if (to == INSTANCE_UNCLAIMED || to == INSTANCE_CRASHED) {
		i->worker = NO_WORKER;
		i->id = 0;
	}
	if (to != INSTANCE_RUNNING) {
		i->is_ready = false;
		i->ready_ms = 0;
	}
}
