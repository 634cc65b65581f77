/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group: jobs that need each other. A job is a task; the group says which needs which, and goes
 * through these states:
 *
 *   failed, canceled <--- (a triggered one, whose jobs never came to be known)
 *      ^
 *   triggered ---> created ---> queued ---> dispatching ---> complete
 *                                 |           |  |  |
 *                                 |           |  |  +--> failed <--- cleanup
 *                                 |           |  +-------------------^
 *                                 |           |  (fail fast, or nothing can start any more)
 *                                 +-----------+--> canceling ---> canceled
 *
 * The table of allowed moves is in group.c; group_move() in core makes them all.
 *
 * A job's state is nowhere else than in its task's row and its group's state: see job_state().
 */
#ifndef MODEL_GROUP_H
#define MODEL_GROUP_H

#include "base/moves.h"
#include "model/rows/field.h"
#include "model/task/task.h"

#define GROUPS_MAX 100000
#define GROUP_JOBS_MAX 100000
#define GROUP_EDGES_MAX 1000000
#define JOB_NAME_MAX_BYTES 512

enum group_state {
	GROUP_TRIGGERED,
	GROUP_CREATED,
	GROUP_QUEUED,
	GROUP_DISPATCHING,
	GROUP_COMPLETE,
	GROUP_FAILURE_CLEANUP,
	GROUP_FAILED,
	GROUP_CANCELING,
	GROUP_CANCELED,
	N_GROUP_STATES
};

/* A job has failed: go on with all that can still be done; end what waits; end what runs, too. */
enum group_policy { GROUP_BEST_EFFORT, GROUP_FAIL_FAST, GROUP_FAIL_NOW, N_GROUP_POLICIES };

enum job_state {
	JOB_PENDING,     /* the group does not dispatch yet */
	JOB_SCHEDULABLE, /* waits for what it needs, or is held by an operator */
	JOB_ELIGIBLE,    /* waits for a worker */
	JOB_DISPATCHED,
	JOB_BUILT,
	JOB_FAILED,
	JOB_DEPENDENCY_FAILED, /* what it needs did not end as it must */
	JOB_LOST,
	JOB_CANCEL_PENDING, /* the worker is told */
	JOB_CANCEL_COMPLETE,
	N_JOB_STATES
};

extern const char *const group_state_names[N_GROUP_STATES];
extern const char *const group_policy_names[N_GROUP_POLICIES];
extern const char *const job_state_names[N_JOB_STATES];
extern const char job_letters[N_JOB_STATES + 1]; /* one of each state, for what must be short */
extern const struct moves group_moves;

bool group_is_ended(int state);
struct group_row;
/* The group was triggered, and its jobs are not known yet: it is to be drafted. */
bool group_is_owed(const struct group_row *g);
enum job_state job_state(enum group_state group, const struct task_state *task);

/* Of a group's jobs so many have ended like this: written with the batch that ends them. */
struct group_counts {
	int64_t built, failed, lost, skipped, cancelled;
};

struct group_row {
	rid id;
	struct str name;
	int32_t state;
	int32_t policy; /* enum group_policy */
	/* the jobs' tasks have the ids behind the group's own, in the order of their numbers */
	int64_t n_jobs;
	int64_t n_edges, n_chunks; /* of its graph */
	struct group_counts counts;
	int64_t ctime_ms;
	int64_t mtime_ms;      /* of the last move */
	int64_t dispatched_ms; /* 0: not yet */
	int64_t ended_ms;      /* 0: not yet */
	struct str reason;     /* why it is in its state; NULL: nothing special */
	struct str actor;      /* who submitted it */
	rid retried_of;        /* the group that it is left of; 0: none */
	struct str series; /* of groups that build the same; NULL: none (model/objects/built.h) */
	/* see group_owner() */
	rid owner;
	int64_t owner_part;
};

/* A piece of a group's graph: see model/objects/group_graph.h. */
struct group_graph_row {
	rid group;
	int64_t number; /* from 0 */
	struct str data;
};

extern const struct row_table group_table, group_graph_table; /* model/rows/row.h */
/* A group's members, and those of its counts (model/rows/field.h). */
extern const struct field group_fields[], group_count_fields[];

/* What triggered it; id 0: nothing did. Part 0: somebody asked for it by hand. */
static inline struct owner group_owner(const struct group_row *g)
{
	return (struct owner){GROUP_OWNER, g->owner, g->owner_part};
}

static inline rid group_job_id(const struct group_row *g, uint32_t job)
{
	return g->id + 1 + job;
}

/* An ended one more. */
void group_count_end(struct group_counts *n, const struct task_state *task);

static inline int64_t group_count(const struct group_counts *n)
{
	return n->built + n->failed + n->lost + n->skipped + n->cancelled;
}

/* Skipped ones have failed only if something else has. */
static inline int64_t group_count_failed(const struct group_counts *n)
{
	return n->failed + n->lost + n->cancelled;
}

#endif
