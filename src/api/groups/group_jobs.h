/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of a group as they are shown: the row of each one's task, and what it needs. */
#ifndef API_GROUP_JOBS_H
#define API_GROUP_JOBS_H

#include "api/groups/graph_scan.h"
#include "api/groups/groups.h"

struct shown_edge { /* a need of a job that is shown, or a job that needs it */
	struct group_edge edge;
	struct str name; /* of the other one */
};

struct shown_job {
	struct task_row row; /* id 0: its task is gone */
	uint32_t number;
	struct str name;
	struct shown_edge *needs, *users;
	size_t n_needs, n_users, cap_needs, cap_users;
	size_t n_all; /* needs, also those that are left out */
};

/* What a reader's thread must know of it; the first member of the call's state. */
struct group_of_call {
	struct call *c;
	rid id;
	int32_t state;
	uint32_t n_jobs;
	int64_t n_chunks;
	/* reading it again */
	call_fn *again;
	void *timer;
	int tries;
};
void group_of_row(struct call *c, struct group_of_call *g, const struct group_row *row);
/*
 * The brain knows of a group's end a commit before the store does: then the rows of its last jobs
 * are read again in a moment, so that no job of a group that has ended is said to run. False: what
 * was read is good, as far as this job goes.
 */
bool group_is_ahead(const struct group_of_call *g, const struct task_row *t);
bool group_read_again(struct group_of_call *g, call_fn *fn); /* false: often enough */
struct graph_scan group_scan(const struct group_of_call *g, struct arena *scratch);
static inline uint32_t job_number(const struct group_of_call *g, rid task)
{
	return (uint32_t)(task - g->id - 1);
}

/* Leaves the object open. */
void show_job(struct call *c, const struct group_of_call *g, struct shown_job *j);
void show_needs(struct buf *b, const char *key, const struct shown_edge *edges, size_t n);

#define GROUP_GRAPH_DAMAGED \
	"the group's graph in the store is damaged: `reeve store check` names what is"

/* True: something could not be read, and that has been said. */
bool group_read_failed(struct call *c);

#endif
