/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch: typed row operations that a store commits as one transaction, in the order given for
 * rows of one key. The core writes batches, the stores apply them; neither knows the other.
 */
#ifndef MODEL_BATCH_H
#define MODEL_BATCH_H

#include "base/arena.h"
#include "model/queue.h"
#include "model/records.h"
#include "model/row.h"
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

#endif
