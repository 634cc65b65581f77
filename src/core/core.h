/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's brain. core_step() is the only way to change it; everything else here only looks.
 * Pure: no clock, no randomness, no I/O, no threads.
 */
#ifndef CORE_CORE_H
#define CORE_CORE_H

#include "core/effects.h"
#include "core/event.h"

struct core;

struct core_options {
	uint32_t window_tasks; /* of each queue kept in memory (0: 2048) */
	size_t window_bytes;   /* and at most this much of bodies (0: 4 MiB) */
	int64_t heartbeat_ms;  /* 0: 15 s */
	int64_t lose_after_ms; /* silence after which a worker is lost (0: 565 s) */
};

struct core *core_new(const struct core_options *o);
void core_free(struct core *c);
/* Returns 0, or the enum err that a command was answered with (its reply says more). */
int core_step(struct core *c, const struct event *in, struct effects *out);
/* When EV_TICK is wanted next, monotonic; INT64_MAX: not at all. wall is now_ms - mono_ms. */
int64_t core_wake_ms(const struct core *c);
bool core_is_open(const struct core *c); /* everything is loaded */

/* Looking. Returned rows and strings are valid until the next step. */
const struct queue_row *core_queue(const struct core *c, rid id);
const struct queue_row *core_queue_by_name(const struct core *c, struct str name);
const struct queue_row *core_queue_next(const struct core *c, rid after); /* by id; 0: first */
struct queue_counts {
	int64_t queued, delayed, held, claimed, running; /* delayed is part of queued; just after a
	                                                    start it is what has been read so far */
	int64_t in_memory;
	int64_t oldest_ms; /* ctime of the oldest queued task in memory; 0: none */
	int32_t workers;   /* connected ones that would serve it */
};
void core_queue_counts(const struct core *c, rid id, struct queue_counts *ret_counts);

struct worker_view {
	const struct worker_row *row;
	enum worker_state state;
	int32_t maxthreads; /* in force; -1: none */
	int32_t running;    /* claimed and running tasks, unsure ones too */
	int64_t silent_ms;  /* since it was last heard */
	int64_t lost_in_ms; /* until it is declared lost; -1: not running down */
};
bool core_worker(const struct core *c, rid id, int64_t mono_ms, struct worker_view *ret_view);
rid core_worker_by_name(const struct core *c, struct str shard);
rid core_worker_next(const struct core *c, rid after);

/* The state of a task that is in memory now (its stored row may lag by one batch). */
bool core_task_state(const struct core *c, rid id, struct task_state *ret_state);

/* Why a task waits: every reason, and what would lift it. */
struct why {
	const char *code; /* static, stable: "queue-paused", "queue-full", … */
	struct str text;  /* what holds it */
	struct str lift;  /* what would lift it */
};
size_t core_why(const struct core *c, const struct task_row *row, int64_t now_ms, int64_t mono_ms,
    struct arena *a, struct why **ret_whys);

#endif
