/* SPDX-License-Identifier: Apache-2.0 */
/* Names and allowed moves of task states. */
#include "model/task.h"

#include "model/limits.h"

enum task_phase task_phase(int status)
{
	if (status > 0)
		return PHASE_ENDED;
	switch (status) {
	case TASK_ORPHANED:
	case TASK_CANCELLED:
	case TASK_TERMINATED: return PHASE_ENDED;
	case TASK_QUEUED: return PHASE_QUEUED;
	case TASK_CLAIMED: return PHASE_CLAIMED;
	case TASK_RUNNING: return PHASE_RUNNING;
	default: return PHASE_HELD;
	}
}

bool task_is_ended(int status)
{
	return task_phase(status) == PHASE_ENDED;
}

bool task_is_held(int status)
{
	return task_phase(status) == PHASE_HELD;
}

const struct moves task_moves = {
    "task",
    {[PHASE_HELD] = "held",
        [PHASE_QUEUED] = "queued",
        [PHASE_CLAIMED] = "claimed",
        [PHASE_RUNNING] = "running",
        [PHASE_ENDED] = "ended"},
    {
        {PHASE_HELD, PHASE_QUEUED, "released"},
        {PHASE_HELD, PHASE_HELD, "held with another status"},
        {PHASE_HELD, PHASE_ENDED, "cancelled"},
        {PHASE_QUEUED, PHASE_CLAIMED, "placed: a worker has room"},
        {PHASE_QUEUED, PHASE_HELD, "held by an operator, or its row is damaged"},
        {PHASE_QUEUED, PHASE_ENDED, "cancelled"},
        {PHASE_CLAIMED, PHASE_RUNNING, "its worker has started it"},
        {PHASE_CLAIMED, PHASE_QUEUED, "never started; or it failed, with attempts left"},
        {PHASE_CLAIMED, PHASE_ENDED, "its worker says how it ended, or is lost"},
        {PHASE_RUNNING, PHASE_QUEUED, "it failed, or its worker is lost, with attempts left"},
        {PHASE_RUNNING, PHASE_ENDED, "its worker says how it ended, or is lost"},
        {PHASE_ENDED, PHASE_QUEUED, "an operator retries it"},
    },
};

bool task_move_allowed(int from, int to)
{
	return moves_allowed(&task_moves, task_phase(from), task_phase(to));
}

static const struct {
	const char *name;
	int min, max;
} states[] = {
    {"held", HELD_STATUS_MIN, -7},
    {"orphaned", TASK_ORPHANED, TASK_ORPHANED},
    {"cancelled", TASK_CANCELLED, TASK_CANCELLED},
    {"blocked", TASK_BLOCKED, TASK_BLOCKED},
    {"terminated", TASK_TERMINATED, TASK_TERMINATED},
    {"queued", TASK_QUEUED, TASK_QUEUED},
    {"claimed", TASK_CLAIMED, TASK_CLAIMED},
    {"running", TASK_RUNNING, TASK_RUNNING},
    {"succeeded", TASK_SUCCEEDED, TASK_SUCCEEDED},
    {"failed", TASK_FAILED, TASK_FAILED},
    {"finished", TASK_FAILED + 1, PLUGIN_STATUS_MAX},
};

const char *const task_state_names[] = {"held", "orphaned", "cancelled", "blocked", "terminated",
    "queued", "claimed", "running", "succeeded", "failed", "finished"};
const size_t n_task_state_names = sizeof task_state_names / sizeof task_state_names[0];

const char *task_state_name(int status)
{
	for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
		if (status >= states[i].min && status <= states[i].max)
			return states[i].name;
	return "held";
}

bool task_state_parse(struct str name, int *ret_min, int *ret_max)
{
	int64_t n;

	for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
		if (str_is(name, states[i].name)) {
			*ret_min = states[i].min;
			*ret_max = states[i].max;
			return true;
		}
	if (!str_to_i64(name, HELD_STATUS_MIN, PLUGIN_STATUS_MAX, &n))
		return false;
	*ret_min = *ret_max = (int)n;
	return true;
}
