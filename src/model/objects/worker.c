/* SPDX-License-Identifier: Apache-2.0 */
#include "model/objects/worker.h"

#include "model/rows/row.h"

const char *const worker_shown_names[N_WORKER_ASKED] = {
    "new", "unhealthy", "healthy", "must_die", "left", "lost", "drained"};

#define SET(kind, name, field) COLUMN_OF(worker_row, kind, name, field, COLUMN_SETTABLE)
#define W(kind, name, field) COLUMN_OF(worker_row, kind, name, field, 0)
static const struct column worker_columns[] = {
    W(I64, "id", id),
    COLUMN_OF(worker_row, TEXT, "shard", facts.shard, COLUMN_NAME),
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
    SET(I32, "maxthreads_set", maxthreads_set),
    SET(I32, "maxthreads_is_set", maxthreads_is_set),
    W(I32, "state", state),
    W(I64, "first_seen_ms", first_seen_ms),
    W(I64, "last_seen_ms", last_seen_ms),
    W(I64, "version", version),
    W(I64, "start", facts.start),
    W(TEXT, "link_key", facts.key),
    W(I32, "unwritten", unwritten),
    W(I32, "departed", departed),
    W(I32, "drained", drained),
    W(TEXT, "drain_reason", drain_reason),
    W(I64, "drain_until_ms", drain_until_ms),
    W(TEXT, "offer", facts.offer),
    COLUMN_SUM_OF("sum", 0),
};

/*
 * Nobody knows its key, its lock, whether it was lost, or what a volatile server gave it. So nobody
 * can come back as it, it counts as there until it must have ended by itself, and a server that
 * waits needs its word. Its instance may be right, and is fenced then; it is never 0.
 */
static void quarantine(void *row, const struct quarantine_facts *f)
{
	struct worker_row *w = row, kept = *w;

	*w = (struct worker_row){.id = kept.id,
	    .facts =
	        {
	            .shard = f->name,
	            .instance = kept.facts.instance ? kept.facts.instance : kept.id,
	            .lock = STR(""),
	            .key = STR(WORKER_KEY_UNKNOWN),
	            .host = STR(ROW_DAMAGED),
	            .zone = STR(""),
	            .target = STR(""),
	            .version = STR(""),
	            .labels = STR(""),
	            .plugins = STR(""),
	            .active_queues = STR(""),
	            .ignore_queues = STR(""),
	        },
	    .maxthreads_set = -1,
	    .state = WORKER_NEW,
	    .unwritten = 1,
	    .first_seen_ms = quarantine_time_ms(f, kept.first_seen_ms),
	    .last_seen_ms = quarantine_time_ms(f, kept.last_seen_ms),
	    .version = 1};
}

const struct row_table worker_table = {
    ROW_TABLE(TABLE_WORKER, "worker", worker_row, worker_columns),
    .n_key = 1,
    .has_id = true,
    .is_loaded = true,
    .quarantine = quarantine,
    .quarantined = "is nobody until it is lost",
};
