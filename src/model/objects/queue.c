/* SPDX-License-Identifier: Apache-2.0 */
#include "model/objects/queue.h"

#include "model/limits.h"
#include "model/rows/row.h"

const char *const queue_order_names[N_ORDERS] = {"fifo", "lifo", "priority"};
const char *const queue_placement_names[N_PLACEMENTS] = {"spread", "pack"};
const char *const output_mode_names[N_OUTPUT_MODES] = {"auto", "inline", "chunks"};

int64_t queue_output_max(const struct queue_row *q)
{
	int64_t max = q->output_max > 0 ? q->output_max : OUTPUT_MAX_DEFAULT;

	return q->output_mode == OUTPUT_MODE_INLINE && max > OUTPUT_INLINE_MAX ? OUTPUT_INLINE_MAX
	                                                                       : max;
}

void queue_defaults(struct queue_row *ret_row)
{
	*ret_row = (struct queue_row){
	    .plugin = STR(PLUGIN_COMMAND),
	    .threads = -1,
	    .order = ORDER_FIFO,
	    .max_attempts = 1,
	    .backoff_ms = 1000,
	    .backoff_max_ms = 3600 * 1000,
	    .output_max = OUTPUT_MAX_DEFAULT,
	    .version = 1,
	};
}

#define SET(kind, name, field) COLUMN_OF(queue_row, kind, name, field, COLUMN_SETTABLE)
#define Q(kind, name, field) COLUMN_OF(queue_row, kind, name, field, 0)
static const struct column queue_columns[] = {
    Q(I64, "id", id),
    COLUMN_OF(queue_row, TEXT, "name", name, COLUMN_NAME | COLUMN_SETTABLE),
    SET(TEXT, "plugin", plugin),
    SET(I32, "threads", threads),
    SET(I32, "run_order", order),
    Q(I32, "paused", paused),
    Q(TEXT, "pause_reason", pause.reason),
    Q(I64, "paused_until_ms", pause.until_ms),
    SET(I64, "timeout_ms", timeout_ms),
    SET(I32, "max_attempts", max_attempts),
    SET(I64, "backoff_ms", backoff_ms),
    SET(I64, "backoff_max_ms", backoff_max_ms),
    SET(I32, "exit_codes", exit_codes),
    SET(TEXT, "env", env),
    SET(TEXT, "run", run),
    SET(I32, "output_mode", output_mode),
    SET(I64, "output_max", output_max),
    SET(TEXT, "need", need),
    SET(I32, "placement", placement),
    Q(I64, "ctime_ms", ctime_ms),
    Q(I64, "mtime_ms", mtime_ms),
    Q(I64, "version", version),
    COLUMN_OF(queue_row, I64, "n_succeeded", n_succeeded, COLUMN_STATE),
    COLUMN_OF(queue_row, I64, "n_failed", n_failed, COLUMN_STATE),
    COLUMN_OF(queue_row, I64, "n_other", n_other, COLUMN_STATE),
    COLUMN_SUM_OF("sum", 0),
    COLUMN_SUM_OF("state_sum", COLUMN_STATE),
};

#define F(name, kind, member, bits, text, ...)                \
	FIELD(name, kind, queue_row, member, .flags = (bits), \
	    .about = text __VA_OPT__(, ) __VA_ARGS__)
#define BOTH FIELD_BOTH
static const struct field counts[] = {
    FIELD_FOUND("queued", FIELD_I64, 0, "waiting to be started"),
    FIELD_FOUND("delayed", FIELD_I64, 0, "of the queued ones"),
    FIELD_FOUND("held", FIELD_I64, 0, "held back"),
    FIELD_FOUND("claimed", FIELD_I64, 0, "given to a worker"),
    FIELD_FOUND("running", FIELD_I64, 0, "running"),
    FIELD_FOUND("succeeded", FIELD_I64, 0, "ended well"),
    FIELD_FOUND("failed", FIELD_I64, 0, "failed"),
    FIELD_FOUND("other", FIELD_I64, 0, "ended otherwise"),
    {NULL},
};

const struct field queue_fields[] = {
    F("id", FIELD_ID, id, FIELD_SHOWN, "its id"),
    F("name", FIELD_OBJECT_NAME, name, BOTH | FIELD_NEEDED, "its name, which no other queue has"),
    F("plugin", FIELD_OBJECT_NAME, plugin, BOTH, "what runs its tasks; command: their own command"),
    F("threads", FIELD_I32, threads, BOTH | FIELD_NULL | FIELD_NEGATIVE_NONE,
        "so many at once, over all workers; null: no limit", .max = THREADS_MAX),
    F("order", FIELD_CHOICE, order, BOTH,
        "which task is started first: fifo (or default), lifo or priority",
        .names = queue_order_names, .first_too = "default", .n_names = N_ORDERS),
    F("paused", FIELD_BOOL, paused, FIELD_SHOWN, "nothing more is started from it"),
    F("pause_reason", FIELD_TEXT, pause.reason, FIELD_SHOWN | FIELD_NULL_SHOWN, "why it is paused"),
    F("paused_until", FIELD_TIME, pause.until_ms, FIELD_SHOWN | FIELD_NULL_SHOWN,
        "when it resumes by itself"),
    F("timeout", FIELD_DURATION, timeout_ms, BOTH | FIELD_NULL,
        "for tasks that do not say themselves; null: no limit"),
    F("max_attempts", FIELD_I32, max_attempts, BOTH,
        "how often a task may be tried that does not say itself", .min = 1, .max = ATTEMPTS_MAX),
    F("backoff", FIELD_DURATION, backoff_ms, BOTH,
        "pause before the second attempt of a task that does not say itself; it doubles"),
    F("backoff_max", FIELD_DURATION, backoff_max_ms, BOTH, "the longest such pause"),
    F("exit_codes", FIELD_BOOL, exit_codes, BOTH,
        "exit codes 99, 100 and 111 mean skip, permanent and temporary"),
    F("env", FIELD_STRINGS, env, BOTH | FIELD_SECRET, "variables of every task"),
    F("run", FIELD_RUN, run, BOTH | FIELD_NULL, "how processes of its tasks are run"),
    F("output", FIELD_CHOICE, output_mode, BOTH,
        "how output is kept: auto, in chunks, or inline, in the task itself (at most 16 MiB of a "
        "stream)",
        .names = output_mode_names, .n_names = N_OUTPUT_MODES, .option = "output-mode"),
    F("output_max", FIELD_I64, output_max, BOTH, "so many bytes of each stream are kept",
        .max = INT64_MAX / 2),
    F("need", FIELD_NEED, need, BOTH | FIELD_NULL,
        "what its tasks need of a worker; a task's own amounts stand for these"),
    F("placement", FIELD_CHOICE, placement, BOTH,
        "which of the workers that fit gets a task: the least busy (spread) or the most (pack)",
        .names = queue_placement_names, .n_names = N_PLACEMENTS),
    F("ctime", FIELD_TIME, ctime_ms, FIELD_SHOWN, "when it was made"),
    F("mtime", FIELD_TIME, mtime_ms, FIELD_SHOWN, "when it was changed last"),
    F("version", FIELD_I64, version, FIELD_SHOWN, "rises with every change: the ETag"),
    FIELD_FOUND("counts", FIELD_OBJECT, FIELD_NULL_SHOWN,
        "its tasks, by state; null: a token with labels is not told", .table = counts),
    FIELD_FOUND("oldest_ms", FIELD_I64, FIELD_NULL_SHOWN, "the age of the oldest task that waits"),
    FIELD_FOUND("workers", FIELD_I64, 0, "connected ones that would serve it"),
    {NULL},
};

static void quarantine(void *row, const struct quarantine_facts *f)
{
	struct queue_row *q = row, kept = *q;

	if (quarantine_is_whole(f)) {
		queue_defaults(q);
		q->id = kept.id;
		q->name = f->name;
		q->plugin = STR(ROW_DAMAGED); /* no worker has it */
		q->ctime_ms = q->mtime_ms = quarantine_time_ms(f, kept.ctime_ms);
	}
	q->n_succeeded = q->n_failed = q->n_other = 0;
	q->paused = 1;
	q->pause = (struct pause){quarantine_reason(f), 0};
}

const struct row_table queue_table = {
    ROW_TABLE(TABLE_QUEUE, "queue", queue_row, queue_columns),
    .n_key = 1,
    .has_id = true,
    .is_loaded = true,
    .quarantine = quarantine,
    .quarantined = "is paused",
};
