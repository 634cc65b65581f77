/* SPDX-License-Identifier: Apache-2.0 */
/* A worker: a shard (its lasting name), and the instance (this process) that now bears it. */
#ifndef MODEL_WORKER_H
#define MODEL_WORKER_H

#include "model/id.h"
#include "model/link/health.h"
#include "model/link/worker_set.h"

/* What a worker says of itself. Lists are "item\n" lines. */
struct worker_facts {
	struct str shard;
	uint64_t instance;  /* random; this process */
	int64_t started_ms; /* of this process, wall clock; only shown */
	int64_t start;      /* rises with every process under one lock */
	struct str lock;    /* machine id + state directory: proves it is alone */
	struct str key; /* what the worker has proven to hold, as text; empty: older than keys */
	struct str host;
	struct str zone;
	struct str target; /* platform, e.g. "x86_64-linux" */
	struct str version;
	struct str labels;        /* "key=value\n" lines, sorted */
	struct str plugins;       /* allowed ones */
	struct str active_queues; /* names or ids; if not empty, only these */
	struct str ignore_queues; /* used only when active_queues is empty */
	int32_t maxthreads;       /* -1: no limit */
	struct str offer; /* model/task/need.h; NULL: of before there were any: it gets no task that
	                     needs something */
};

/* In place of the key of a worker whose row is damaged: nobody can prove to hold it. */
#define WORKER_KEY_UNKNOWN "damaged"

struct worker_row {
	rid id;
	struct worker_facts facts;
	int32_t maxthreads_set; /* an operator's setting overrides the worker's; -1: not set */
	int32_t maxthreads_is_set;
	int32_t state; /* enum worker_state, as of the last write */
	/* The worker's instance could be given tasks by a volatile server, and may hold starts of
	 * which no row tells: a server that waits needs its word. */
	int32_t unwritten;
	/* the worker said goodbye and had nothing: nobody misses it. Its health runs down unseen */
	int32_t departed;
	int32_t drained; /* an operator wants it to get nothing more */
	struct str drain_reason;
	int64_t drain_until_ms; /* then what is still there is ended; 0: it is left to end */
	int64_t first_seen_ms, last_seen_ms;
	int64_t version; /* the ETag */
};

/* What people see of it: its health, or that it has left. */
enum worker_shown { WORKER_LEFT = N_WORKER_STATES, N_WORKER_SHOWN };
/* What people ask for besides: "must_die" as they know it, and what is no state of its own. */
enum worker_asked { WORKER_ASKED_LOST = N_WORKER_SHOWN, WORKER_ASKED_DRAINED, N_WORKER_ASKED };
extern const char *const worker_shown_names[N_WORKER_ASKED];

extern const struct row_table worker_table; /* model/rows/row.h */

#endif
