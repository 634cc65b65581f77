/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task: what was asked for (spec, never changes) and how it stands (state).
 *
 *                 due / release            place               started
 *   held(<-6,-4) ----------> queued(-2) ---------> claimed(-1) ---------> running(0)
 *        ^  hold              |  ^  ^                 |   |                  |
 *        +--------------------+  |  +--not started----+   |                  |
 *                                +----retry (attempts left)+-----------------+
 *                                |                         |                 |
 *   cancel: queued, held -> cancelled(-5)                  v                 v
 *   ended: succeeded(1) failed(2) plugin's own(>2) terminated(-3, time limit or kill)
 *          cancelled(-5) orphaned(-6, its worker was lost and it may not run twice)
 *   operator's retry: any ended -> queued
 *
 * The table of allowed moves, between phases, is in task.c; core/run/task.c holds the one function
 * that moves.
 */
#ifndef MODEL_TASK_H
#define MODEL_TASK_H

#include "base/moves.h"
#include "model/id.h"
#include "model/objects/kind.h"
#include "model/run/usage.h"

enum task_status {
	TASK_ORPHANED = -6,
	TASK_CANCELLED = -5,
	TASK_BLOCKED = -4,
	TASK_TERMINATED = -3,
	TASK_QUEUED = -2,
	TASK_CLAIMED = -1,
	TASK_RUNNING = 0,
	TASK_SUCCEEDED = 1,
	TASK_FAILED = 2,
};

enum task_phase { PHASE_HELD, PHASE_QUEUED, PHASE_CLAIMED, PHASE_RUNNING, PHASE_ENDED, N_PHASES };

/* Skip: its group ended it, because what it needs did not end as it must; it stays after the end.
 * Fail: as cancel, and its end is that of a job that has failed. */
enum task_wish { WISH_NONE, WISH_CANCEL, WISH_SKIP, WISH_FAIL };

enum output_where { OUTPUT_NONE, OUTPUT_INLINE, OUTPUT_CHUNKS };

enum { STDOUT, STDERR, N_STREAMS };

/* What the submitter asked for. */
struct task_spec {
	rid queue;
	rid batch;              /* see model/task/task_batch.h; 0: none */
	int32_t priority;       /* higher first, in queues of order priority */
	int32_t max_attempts;   /* 0: the queue's */
	int64_t run_after_ms;   /* wall clock; 0: at once */
	int64_t timeout_ms;     /* 0: the queue's; -1: none */
	int64_t backoff_ms;     /* -1: the queue's */
	int64_t backoff_max_ms; /* -1: the queue's */
	int32_t is_streamed;    /* bool: its standard input comes bit by bit (model/task/input.h) */
	struct owner owner;     /* the object that submitted it, and for which part of it */
	struct str name;        /* for people; NULL: none */
	struct str actor;       /* who submitted it; NULL: the server, or nobody knows */
	struct str key;         /* unique among the queue's live tasks; NULL: none */
	struct str labels;      /* "key=value\n" lines, sorted; NULL: none */
	struct str need;        /* of its worker: model/task/need.h; NULL: what the queue says */
	struct str body; /* JSON object: command, env, cwd, params, run; opaque to the brains */
};

/* How it stands. */
struct task_state {
	int32_t status;
	int32_t attempt;        /* attempts begun; the first is 1, and a retry goes on counting */
	int64_t token;          /* fencing: rises with every dispatch */
	int64_t rank;           /* order inside the queue before the id; smaller first */
	int64_t due_ms;         /* queued: not before this wall time; 0: now */
	rid worker;             /* the one that has the task, or had it last */
	uint64_t instance;      /* of that worker */
	struct str charged;     /* the need that its worker was charged with; NULL: none, or not
	                           dispatched */
	int32_t wish;           /* enum task_wish: what an operator wants of a dispatched task */
	int32_t exit_code;      /* of the last attempt; -1: none */
	int32_t signal;         /* the signal that ended the last attempt; 0: none */
	int32_t times_doubtful; /* bool: started and ended had to be moved to what is possible */
	struct usage usage;     /* of the last attempt */
	int64_t mtime_ms; /* of the last move or wish, by the server's clock; of an ended task: its
	                     end */
	int64_t claimed_ms; /* of the present or last attempt; 0: not yet */
	int64_t started_ms; /* by the worker's clock, where that is possible by ours */
	int64_t ended_ms;
	struct str reason;  /* for people: why it ended or waits as it does; NULL: none */
	struct str history; /* earlier attempts, one line each: see model/task/history.h */
	struct str deeds;   /* what operators did to it: see model/task/deeds.h; NULL: nothing */
	int32_t attempts_before;      /* the last retry: these do not count towards the maximum */
	int32_t output_where;         /* enum output_where */
	struct str output[N_STREAMS]; /* when inline */
	int64_t output_bytes[N_STREAMS];   /* kept */
	int64_t output_dropped[N_STREAMS]; /* beyond the cap */
	struct str
	    result; /* what the last attempt left in its result file; NULL: none, or not ended */
};

/* Parts of a row that the store could not vouch for: their texts are NULL, their numbers doubtful.
 */
enum task_damage {
	DAMAGED_SPEC = 1,   /* what was asked for, less the body */
	DAMAGED_STATE = 2,  /* how it stands */
	DAMAGED_BODY = 4,   /* what to run */
	DAMAGED_OUTPUT = 8, /* history, deeds, result, and output that is kept in the row */
};

/* What moves look at lies together, at its beginning: most of them touch little else. */
struct task_row {
	rid id;
	int64_t ctime_ms;
	struct task_state state;
	struct task_spec spec;
	unsigned damage; /* enum task_damage; not stored */
};

extern const struct row_table task_table; /* model/rows/row.h */

/* The task's worker is to end it, because somebody asked for that. */
static inline bool task_is_told(const struct task_state *s)
{
	return s->wish == WISH_CANCEL || s->wish == WISH_FAIL;
}

enum task_phase task_phase(int status);
bool task_is_ended(int status);
/* held: any negative status that is not one of ours, and blocked */
bool task_is_held(int status);
extern const struct moves task_moves; /* between phases */
bool task_move_allowed(int from, int to);
/* "queued", "succeeded", …; "held" for held ones, "finished" for plugin statuses above 2 */
const char *task_state_name(int status);
/* A name, or a bare number; a name that covers a range gives both ends. */
bool task_state_parse(struct str name, int *ret_min, int *ret_max);
extern const char *const task_state_names[];
extern const size_t n_task_state_names;

#endif
