/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of every row kind. Of a task, what filters look at comes first and what is bulky
 * last: a row is read from its front, and a long tail spills to other pages that scans then skip.
 */
#include "store/columns.h"

#include <string.h>

#include "base/mem.h"
#include "model/batch.h"

#define COL(row, kind, name, field, flags)                              \
	{                                                               \
		name, offsetof(struct row, field), COLUMN_##kind, flags \
	}
#define N(columns) (sizeof columns / sizeof columns[0])
#define TABLE(name, row, columns)                                                     \
	{                                                                             \
		name, columns, N(columns), sizeof(struct row), (uint64_t[N(columns)]) \
		{                                                                     \
			0                                                             \
		}                                                                     \
	}

#define SUM(name, flags)                     \
	{                                    \
		name, 0, COLUMN_SUM, (flags) \
	}

#define T(kind, name, field, flags) COL(task_row, kind, name, field, flags)
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
    T(I64, "schedule", spec.schedule, 0),
    T(I64, "tick_s", spec.tick_s, 0),
    T(I32, "times_doubtful", state.times_doubtful, COLUMN_STATE),
    T(I32, "attempts_before", state.attempts_before, COLUMN_STATE),
    SUM("spec_sum", 0),
    SUM("state_sum", COLUMN_STATE),
    SUM("body_sum", COLUMN_BULKY),
    SUM("output_sum", COLUMN_STATE | COLUMN_BULKY),
};
const struct row_table task_table = TABLE("task", task_row, task_columns);

#define Q(kind, name, field) COL(queue_row, kind, name, field, 0)
static const struct column queue_columns[] = {
    Q(I64, "id", id),
    Q(TEXT, "name", name),
    Q(TEXT, "plugin", plugin),
    Q(I32, "threads", threads),
    Q(I32, "run_order", order),
    Q(I32, "paused", paused),
    Q(TEXT, "pause_reason", pause_reason),
    Q(I64, "paused_until_ms", paused_until_ms),
    Q(I64, "timeout_ms", timeout_ms),
    Q(I32, "max_attempts", max_attempts),
    Q(I64, "backoff_ms", backoff_ms),
    Q(I64, "backoff_max_ms", backoff_max_ms),
    Q(I32, "exit_codes", exit_codes),
    Q(TEXT, "env", env),
    Q(TEXT, "run", run),
    Q(I32, "output_mode", output_mode),
    Q(I64, "output_max", output_max),
    Q(I64, "ctime_ms", ctime_ms),
    Q(I64, "mtime_ms", mtime_ms),
    Q(I64, "version", version),
    COL(queue_row, I64, "n_succeeded", n_succeeded, COLUMN_STATE),
    COL(queue_row, I64, "n_failed", n_failed, COLUMN_STATE),
    COL(queue_row, I64, "n_other", n_other, COLUMN_STATE),
    SUM("sum", 0),
    SUM("state_sum", COLUMN_STATE),
};
const struct row_table queue_table = TABLE("queue", queue_row, queue_columns);

#define W(kind, name, field) COL(worker_row, kind, name, field, 0)
static const struct column worker_columns[] = {
    W(I64, "id", id),
    W(TEXT, "shard", facts.shard),
    W(I64, "instance", facts.instance),
    W(I64, "started_ms", facts.started_ms),
    W(TEXT, "lock", facts.lock),
    W(TEXT, "host", facts.host),
    W(TEXT, "zone", facts.zone),
    W(TEXT, "target", facts.target),
    W(TEXT, "version_text", facts.version),
    W(TEXT, "labels", facts.labels),
    W(TEXT, "plugins", facts.plugins),
    W(TEXT, "active_queues", facts.active_queues),
    W(TEXT, "ignore_queues", facts.ignore_queues),
    W(I32, "maxthreads", facts.maxthreads),
    W(I32, "maxthreads_set", maxthreads_set),
    W(I32, "maxthreads_is_set", maxthreads_is_set),
    W(I32, "state", state),
    W(I64, "first_seen_ms", first_seen_ms),
    W(I64, "last_seen_ms", last_seen_ms),
    W(I64, "version", version),
    W(I64, "start", facts.start),
    W(TEXT, "link_key", facts.key),
    W(I32, "unwritten", unwritten),
    SUM("sum", 0),
};
const struct row_table worker_table = TABLE("worker", worker_row, worker_columns);

#define E(kind, name, field) COL(event_row, kind, name, field, 0)
static const struct column event_columns[] = {
    E(I64, "seq", seq),
    E(I64, "time_ms", time_ms),
    E(TEXT, "kind", kind),
    E(TEXT, "subject", subject),
    E(TEXT, "actor", actor),
    E(TEXT, "detail", detail),
    /* the hash stands for itself */
    COL(event_row, I64, "prev", prev, COLUMN_UNSUMMED),
    COL(event_row, BLOB, "hash", hash, COLUMN_UNSUMMED),
    SUM("sum", 0),
};
const struct row_table event_table = TABLE("event", event_row, event_columns);

#define I(kind, name, field) COL(idem_row, kind, name, field, 0)
static const struct column idem_columns[] = {
    I(TEXT, "idem_key", key),
    I(I64, "fingerprint", fingerprint),
    I(I64, "time_ms", time_ms),
    I(BLOB, "result", result),
    SUM("sum", 0),
};
const struct row_table idem_table = TABLE("idem", idem_row, idem_columns);

#define O(kind, name, field) COL(output_row, kind, name, field, 0)
static const struct column output_columns[] = {
    O(I64, "task", task),
    O(I64, "token", token),
    O(I32, "stream", stream),
    O(I64, "at", offset),
    O(I32, "raw_bytes", raw_bytes),
    O(I32, "codec", codec),
    O(BLOB, "data", data),
    SUM("sum", 0),
};
const struct row_table output_table = TABLE("output", output_row, output_columns);

static const struct column meta_columns[] = {
    COL(meta_row, TEXT, "name", name, 0),
    COL(meta_row, BLOB, "value", value, 0),
    SUM("sum", 0),
};
const struct row_table meta_table = TABLE("meta", meta_row, meta_columns);

#define S(kind, name, field) COL(schedule_row, kind, name, field, 0)
#define P(kind, name, field) COL(schedule_row, kind, name, field, COLUMN_STATE)
/* The long ones last: a tick changes the row's front, and SQLite writes only pages that differ. */
static const struct column schedule_columns[] = {
    S(I64, "id", id),
    P(I32, "state", state),
    P(I32, "begun", progress.begun),
    P(I64, "done_until_s", progress.done_until_s),
    P(I64, "seen_until_s", progress.seen_until_s),
    P(I64, "system_s", progress.system_s),
    P(I64, "zone_offset_s", progress.zone_offset_s),
    P(I64, "moved_s", progress.moved_s),
    P(I64, "dealt0_from_s", progress.dealt[0].from_s),
    P(I64, "dealt0_to_s", progress.dealt[0].to_s),
    P(I64, "dealt0_moved_s", progress.dealt[0].moved_s),
    P(I64, "dealt1_from_s", progress.dealt[1].from_s),
    P(I64, "dealt1_to_s", progress.dealt[1].to_s),
    P(I64, "dealt1_moved_s", progress.dealt[1].moved_s),
    P(I64, "dealt2_from_s", progress.dealt[2].from_s),
    P(I64, "dealt2_to_s", progress.dealt[2].to_s),
    P(I64, "dealt2_moved_s", progress.dealt[2].moved_s),
    P(I64, "dealt3_from_s", progress.dealt[3].from_s),
    P(I64, "dealt3_to_s", progress.dealt[3].to_s),
    P(I64, "dealt3_moved_s", progress.dealt[3].moved_s),
    P(I64, "waiting_s", progress.waiting_s),
    P(I64, "waiting_offset_s", progress.waiting_offset_s),
    P(I64, "last_tick_s", progress.last_tick_s),
    P(I64, "last_task", progress.last_task),
    P(I64, "n_fired", progress.n_fired),
    P(I64, "n_skipped", progress.n_skipped),
    S(TEXT, "name", name),
    S(TEXT, "zone", zone),
    S(I64, "queue", queue),
    S(I32, "priority", priority),
    S(I32, "max_attempts", max_attempts),
    S(I64, "timeout_ms", timeout_ms),
    S(I64, "backoff_ms", backoff_ms),
    S(I64, "backoff_max_ms", backoff_max_ms),
    S(I32, "overlap", overlap),
    S(I32, "missed", missed),
    S(I64, "max_shift_s", max_shift_s),
    S(I64, "jitter_ms", jitter_ms),
    S(I64, "start_ms", start_ms),
    S(I64, "end_ms", end_ms),
    S(TEXT, "pause_reason", pause_reason),
    S(I64, "paused_ms", paused_ms),
    S(I64, "paused_until_ms", paused_until_ms),
    S(I64, "ctime_ms", ctime_ms),
    S(I64, "mtime_ms", mtime_ms),
    S(I64, "version", version),
    S(TEXT, "items", items),
    S(TEXT, "source", source),
    S(TEXT, "labels", labels),
    S(TEXT, "body", body),
    SUM("sum", 0),
    SUM("state_sum", COLUMN_STATE),
};
_Static_assert(DEALT_SPANS == 4, "columns for each span");
_Static_assert(N(task_columns) <= COLUMNS_MAX && N(schedule_columns) <= COLUMNS_MAX, "the widest");
const struct row_table schedule_table = TABLE("schedule", schedule_row, schedule_columns);

#define K(kind, name, field) COL(tick_row, kind, name, field, 0)
static const struct column tick_columns[] = {
    K(I64, "schedule", schedule),
    K(I64, "tick_s", tick_s),
    K(I64, "offset_s", offset_s),
    K(I64, "until_s", until_s),
    K(I32, "outcome", outcome),
    K(I64, "task", task),
    K(I64, "time_ms", time_ms),
    K(I64, "shift_s", shift_s),
    K(TEXT, "reason", reason),
    SUM("sum", 0),
};
const struct row_table tick_table = TABLE("tick", tick_row, tick_columns);

#define A(kind, name, field) COL(token_row, kind, name, field, 0)
static const struct column token_columns[] = {
    A(I64, "id", id),
    A(TEXT, "name", name),
    A(I32, "role", role),
    A(I32, "once", once),
    A(TEXT, "queues", queues),
    A(TEXT, "labels", labels),
    A(TEXT, "zone", zone),
    A(TEXT, "hash", hash),
    A(TEXT, "creator", creator),
    A(I64, "ctime_ms", ctime_ms),
    A(I64, "expires_ms", expires_ms),
    SUM("sum", 0),
};
const struct row_table token_table = TABLE("token", token_row, token_columns);

static const struct column stat_columns[] = {
    COL(sqlite_stat, I64, "last_id", last_id, 0),
    COL(sqlite_stat, I64, "last_event", last_event, 0),
    COL(sqlite_stat, I64, "n_tasks", n_tasks, 0),
    SUM("sum", 0),
};
const struct row_table stat_table = TABLE("stat", sqlite_stat, stat_columns);

void *row_dup(const struct row_table *t, const void *row)
{
	size_t size = t->row_size;
	char *copy, *at;

	for (int i = 0; i < t->n; i++)
		if (column_is_str(&t->columns[i]) && column_str(&t->columns[i], row).p)
			size += column_str(&t->columns[i], row).n + 1;
	copy = xmalloc(size);
	memcpy(copy, row, t->row_size);
	at = copy + t->row_size;
	for (int i = 0; i < t->n; i++) {
		const struct column *c = &t->columns[i];
		struct str s;

		if (!column_is_str(c) || !(s = column_str(c, row)).p)
			continue;
		memcpy(at, s.p, s.n);
		at[s.n] = 0;
		((struct str *)column_at(c, copy))->p = at;
		at += s.n + 1;
	}
	return copy;
}

void row_copy(
    const struct row_table *t, struct arena *a, const void *row, unsigned skip_flags, void *ret_row)
{
	memmove(ret_row, row, t->row_size);
	for (int i = 0; i < t->n; i++) {
		const struct column *c = &t->columns[i];

		if (!column_is_str(c))
			continue;
		*(struct str *)column_at(c, ret_row) =
		    (c->flags & skip_flags) ? STR_NULL : arena_str(a, column_str(c, row));
	}
}

static bool column_differs(const struct column *c, const void *x, const void *y)
{
	struct str sx, sy;

	if (c->type == COLUMN_I32)
		return column_i32(c, x) != column_i32(c, y);
	if (c->type == COLUMN_I64)
		return column_i64(c, x) != column_i64(c, y);
	if (c->type == COLUMN_USAGE)
		return !usage_equal(column_usage(c, x), column_usage(c, y));
	if (c->type == COLUMN_SUM)
		return false;
	sx = column_str(c, x);
	sy = column_str(c, y);
	return !sx.p != !sy.p || !str_eq(sx, sy);
}

const struct column *row_differs(const struct row_table *t, const void *x, const void *y)
{
	for (int i = 0; i < t->n; i++)
		if (column_differs(&t->columns[i], x, y))
			return &t->columns[i];
	return NULL;
}
