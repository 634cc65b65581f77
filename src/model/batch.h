/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch: typed row operations that a store commits as one transaction, in the order given for
 * rows of one key. The core writes batches, the stores apply them; neither knows the other.
 */
#ifndef MODEL_BATCH_H
#define MODEL_BATCH_H

#include "base/arena.h"
#include "model/queue.h"
#include "model/schedule.h"
#include "model/task.h"
#include "model/token.h"
#include "model/worker.h"

enum row_kind {
	ROW_TASK_INSERT,   /* task: the whole row */
	ROW_TASK_UPDATE,   /* task: its state; id names it; spec is not written, but priority is */
	ROW_TASK_PRUNE,    /* id: delete it and its output, only if it is ended */
	ROW_QUEUE_PUT,     /* queue: insert or replace by id */
	ROW_QUEUE_COUNTS,  /* queue: only the lifetime counters */
	ROW_QUEUE_DELETE,  /* id: the queue and every task in it, with their output */
	ROW_QUEUE_RERANK,  /* id: the queue; order: recompute rank of its queued tasks
	                      (priority: -priority, else 0) */
	ROW_WORKER_PUT,    /* worker: insert or replace by id */
	ROW_WORKER_DELETE, /* id */
	ROW_EVENT,         /* event: append */
	ROW_IDEMPOTENT,    /* idem: insert or replace by key */
	ROW_OUTPUT,        /* output: insert or replace by (task, token, stream, offset) */
	ROW_META,          /* meta: insert or replace by name */
	ROW_SCHEDULE_PUT,  /* schedule: insert or replace by id */
	ROW_SCHEDULE_PROGRESS, /* schedule: only its state and progress; id names it */
	ROW_SCHEDULE_DELETE,   /* id: the schedule and its ticks; its tasks stay */
	ROW_TICK,              /* tick: insert or replace by (schedule, tick_s, offset_s) */
	ROW_TOKEN_PUT,         /* token: insert or replace by id */
	ROW_TOKEN_DELETE,      /* id */
};

/* What people audit. Task events live only in the server's memory (see docs/API.md). */
struct event_row {
	uint64_t seq;
	int64_t time_ms;
	struct str kind;    /* "queue.created", "worker.lost", … */
	struct str subject; /* name or id of what it is about */
	struct str actor;   /* who caused it: "uid=0", "token:ci", "reeve" */
	struct str detail;  /* JSON object text */
	/* set by the store: the event before it, and the hash over both */
	uint64_t prev;
	struct str hash;
};

struct idem_row {
	struct str key;
	uint64_t fingerprint; /* of the request */
	int64_t time_ms;
	struct str result; /* what the core answered, packed: see core/idem.h */
	bool damaged;      /* the rest is not certain; not stored */
};

struct output_row {
	rid task;
	int64_t token;
	int32_t stream;
	int64_t offset; /* of the first raw byte, in the kept stream */
	int32_t raw_bytes;
	int32_t codec; /* 0: as it is, 1: zstd */
	struct str data;
};

/* Ten hex digits: the middle of every id. */
#define META_INSTALLATION "installation"

struct meta_row {
	struct str name;
	struct str value;
};

struct row_op {
	enum row_kind kind;
	union {
		struct task_row *task;
		struct queue_row *queue;
		struct worker_row *worker;
		struct event_row *event;
		struct idem_row *idem;
		struct output_row *output;
		struct meta_row *meta;
		struct schedule_row *schedule;
		struct tick_row *tick;
		struct token_row *token;
		struct {
			rid id;
			int32_t order; /* with ROW_QUEUE_RERANK */
		};
	};
};

struct batch {
	struct arena arena; /* owns everything the rows point to */
	struct row_op *rows;
	size_t n, cap;
	uint64_t seq; /* batches are numbered from 1 */
};

void batch_release(struct batch *b);
void batch_reset(struct batch *b, uint64_t seq); /* keeps memory */
struct row_op *batch_add(struct batch *b, enum row_kind kind);

/* Deep copies into an arena: strings NUL-terminated. */
struct task_row *task_row_copy(struct arena *a, const struct task_row *r);
struct queue_row *queue_row_copy(struct arena *a, const struct queue_row *r);
struct worker_row *worker_row_copy(struct arena *a, const struct worker_row *r);
struct schedule_row *schedule_row_copy(struct arena *a, const struct schedule_row *r);

#endif
