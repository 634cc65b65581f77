/* SPDX-License-Identifier: Apache-2.0 */
#include "model/queue.h"

#include "model/limits.h"
#include "model/row.h"

const char *const queue_order_names[N_ORDERS] = {"fifo", "lifo", "priority"};
const char *const output_mode_names[N_OUTPUT_MODES] = {"auto", "inline", "chunks"};

static int index_of(struct str s, const char *const *names, int n)
{
	for (int i = 0; i < n; i++)
		if (str_is(s, names[i]))
			return i;
	return -1;
}

int queue_order_parse(struct str s)
{
	return index_of(s, queue_order_names, N_ORDERS);
}

int output_mode_parse(struct str s)
{
	return index_of(s, output_mode_names, N_OUTPUT_MODES);
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
    Q(TEXT, "pause_reason", pause_reason),
    Q(I64, "paused_until_ms", paused_until_ms),
    SET(I64, "timeout_ms", timeout_ms),
    SET(I32, "max_attempts", max_attempts),
    SET(I64, "backoff_ms", backoff_ms),
    SET(I64, "backoff_max_ms", backoff_max_ms),
    SET(I32, "exit_codes", exit_codes),
    SET(TEXT, "env", env),
    SET(TEXT, "run", run),
    SET(I32, "output_mode", output_mode),
    SET(I64, "output_max", output_max),
    Q(I64, "ctime_ms", ctime_ms),
    Q(I64, "mtime_ms", mtime_ms),
    Q(I64, "version", version),
    COLUMN_OF(queue_row, I64, "n_succeeded", n_succeeded, COLUMN_STATE),
    COLUMN_OF(queue_row, I64, "n_failed", n_failed, COLUMN_STATE),
    COLUMN_OF(queue_row, I64, "n_other", n_other, COLUMN_STATE),
    COLUMN_SUM_OF("sum", 0),
    COLUMN_SUM_OF("state_sum", COLUMN_STATE),
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
	q->paused_until_ms = 0;
	q->pause_reason = quarantine_reason(f);
}

const struct row_table queue_table = {
    ROW_TABLE(TABLE_QUEUE, "queue", queue_row, queue_columns),
    .n_key = 1,
    .has_id = true,
    .is_loaded = true,
    .quarantine = quarantine,
    .quarantined = "is paused",
};
