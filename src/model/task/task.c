/* SPDX-License-Identifier: Apache-2.0 */
/* Names and allowed moves of task states. */
#include "model/task/task.h"

#include "model/limits.h"
#include "model/rows/row.h"

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
    "task_state.status",
};

bool task_move_allowed(int from, int to)
{
	return moves_allowed(&task_moves, task_phase(from), task_phase(to));
}

/* Each name, and the numbers that it stands for. */
#define STATE_TABLE(X)                                    \
	X("held", HELD_STATUS_MIN, -7)                    \
	X("orphaned", TASK_ORPHANED, TASK_ORPHANED)       \
	X("cancelled", TASK_CANCELLED, TASK_CANCELLED)    \
	X("blocked", TASK_BLOCKED, TASK_BLOCKED)          \
	X("terminated", TASK_TERMINATED, TASK_TERMINATED) \
	X("queued", TASK_QUEUED, TASK_QUEUED)             \
	X("claimed", TASK_CLAIMED, TASK_CLAIMED)          \
	X("running", TASK_RUNNING, TASK_RUNNING)          \
	X("succeeded", TASK_SUCCEEDED, TASK_SUCCEEDED)    \
	X("failed", TASK_FAILED, TASK_FAILED)             \
	X("finished", TASK_FAILED + 1, PLUGIN_STATUS_MAX)

static const struct {
	const char *name;
	int min, max;
} states[] = {
#define X(name, min, max) {name, min, max},
    STATE_TABLE(X)
#undef X
};

const char *const task_state_names[] = {
#define X(name, min, max) name,
    STATE_TABLE(X)
#undef X
};
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

/* What filters look at comes first and what is bulky last: a row is read from its front, and a long
 * tail spills to other pages that scans then skip. */
#define T(kind, name, field, flags) COLUMN_OF(task_row, kind, name, field, flags)
static const struct column task_columns[] = {
    T(I64, "id", id, 0),
    T(I32, "status", state.status, COLUMN_STATE),
    T(I64, "queue", spec.queue, 0),
    T(I64, "rank", state.rank, COLUMN_STATE | COLUMN_UNSUMMED),
    T(I64, "due_ms", state.due_ms, COLUMN_STATE),
    T(TEXT, "unique_key", spec.key, 0),
    T(I64, "batch", spec.batch, 0),
    T(I64, "worker", state.worker, COLUMN_STATE),
    T(I64, "ended_ms", state.ended_ms, COLUMN_STATE),
    T(TEXT, "labels", spec.labels, 0),
    T(I64, "ctime_ms", ctime_ms, 0),
    T(I64, "mtime_ms", state.mtime_ms, COLUMN_STATE),
    T(I32, "priority", spec.priority, COLUMN_STATE),
    T(I32, "max_attempts", spec.max_attempts, 0),
    T(I64, "run_after_ms", spec.run_after_ms, 0),
    T(I64, "timeout_ms", spec.timeout_ms, 0),
    T(I64, "backoff_ms", spec.backoff_ms, 0),
    T(I64, "backoff_max_ms", spec.backoff_max_ms, 0),
    T(I32, "attempt", state.attempt, COLUMN_STATE),
    T(I64, "token", state.token, COLUMN_STATE),
    T(I64, "instance", state.instance, COLUMN_STATE),
    T(I32, "wish", state.wish, COLUMN_STATE),
    T(I32, "exit_code", state.exit_code, COLUMN_STATE),
    T(I32, "signal", state.signal, COLUMN_STATE),
    T(I64, "claimed_ms", state.claimed_ms, COLUMN_STATE),
    T(I64, "started_ms", state.started_ms, COLUMN_STATE),
    T(I32, "output_where", state.output_where, COLUMN_STATE),
    T(I64, "stdout_bytes", state.output_bytes[STDOUT], COLUMN_STATE),
    T(I64, "stderr_bytes", state.output_bytes[STDERR], COLUMN_STATE),
    T(I64, "stdout_dropped", state.output_dropped[STDOUT], COLUMN_STATE),
    T(I64, "stderr_dropped", state.output_dropped[STDERR], COLUMN_STATE),
    T(TEXT, "reason", state.reason, COLUMN_STATE),
    T(TEXT, "body", spec.body, COLUMN_BULKY | COLUMN_FAR),
    T(TEXT, "history", state.history, COLUMN_STATE | COLUMN_BULKY),
    T(BLOB, "stdout", state.output[STDOUT], COLUMN_STATE | COLUMN_BULKY),
    T(BLOB, "stderr", state.output[STDERR], COLUMN_STATE | COLUMN_BULKY),
    T(USAGE, "usage", state.usage, COLUMN_STATE),
    T(BLOB, "result", state.result, COLUMN_STATE | COLUMN_BULKY),
    /* behind the bulky ones, for they came later; who looks for them has an index */
    {"owner", offsetof(struct task_row, spec.owner.id), 0, COLUMN_I64, "schedule"},
    {"owner_part", offsetof(struct task_row, spec.owner.part), 0, COLUMN_I64, "tick_s"},
    T(I32, "owner_kind", spec.owner.kind, 0),
    T(I32, "times_doubtful", state.times_doubtful, COLUMN_STATE),
    T(I32, "attempts_before", state.attempts_before, COLUMN_STATE),
    T(TEXT, "name", spec.name, 0),
    T(TEXT, "actor", spec.actor, 0),
    T(TEXT, "deeds", state.deeds, COLUMN_STATE | COLUMN_BULKY),
    T(I32, "streamed", spec.is_streamed, 0),
    T(TEXT, "need", spec.need, 0),
    T(TEXT, "charged", state.charged, COLUMN_STATE),
    COLUMN_SUM_OF("spec_sum", 0),
    COLUMN_SUM_OF("state_sum", COLUMN_STATE),
    COLUMN_SUM_OF("body_sum", COLUMN_BULKY),
    COLUMN_SUM_OF("output_sum", COLUMN_STATE | COLUMN_BULKY),
};
_Static_assert(N_COLUMNS(task_columns) <= COLUMNS_MAX, "one of the widest");
_Static_assert(DAMAGED_SPEC == 1 << 0 && DAMAGED_STATE == 1 << COLUMN_STATE &&
                   DAMAGED_BODY == 1 << COLUMN_BULKY && DAMAGED_OUTPUT == 1 << COLUMN_SET,
    "a task's damage is that of its sets of columns");

static void quarantine(void *row, const struct quarantine_facts *f)
{
	((struct task_row *)row)->damage = f->damage;
}

const struct row_table task_table = {
    ROW_TABLE(TABLE_TASK, "task", task_row, task_columns),
    .n_key = 1,
    .has_id = true,
    .quarantine = quarantine,
};
