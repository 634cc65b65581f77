/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs and what each needs, as numbers: what a manifest and a list of jobs have in common. Nothing
 * here recurses, so a chain may be as long as memory is.
 */
#ifndef GRAPH_DAG_DAG_H
#define GRAPH_DAG_DAG_H

#include "base/err.h"
#include "base/str.h"

struct dag {
	uint32_t n;
	uint32_t *first;   /* n + 1 of them: where a job's needs begin and, before the next, end */
	uint32_t *needs;   /* of each job ascending, each once */
	uint8_t *why;      /* beside needs; the owner knows what it means */
	int64_t *duration; /* of each job, at least 1; NULL: all equal, 1 */
	uint32_t *
	    lane; /* of each job: 0, or jobs of one lane run `lanes[lane]` at a time; may be NULL */
	uint32_t *lanes; /* by lane, n_lanes + 1 of them; 0: no limit */
	uint32_t n_lanes;
};

void dag_release(struct dag *d);

static inline int64_t dag_duration(const struct dag *d, uint32_t job)
{
	return d->duration ? d->duration[job] : 1;
}

/* The needs, turned round: users[first[j] … first[j + 1]) need j, ascending. */
struct dag_users {
	uint32_t *first, *users;
};
void dag_users_make(const struct dag *d, struct dag_users *ret_users);
void dag_users_release(struct dag_users *u);

/*
 * Writes the jobs in an order in which each comes after what it needs, and returns how many could
 * be written: fewer than all means that there is a loop.
 */
uint32_t dag_sort(const struct dag *d, uint32_t *ret_order);
/* A loop of a dag that has one: each needs the next, the last the first. The caller frees it. */
uint32_t *dag_loop(const struct dag *d, size_t *ret_n);

/*
 * Which needs are not implied by others, by place in `needs`; the caller frees it. Only edges with
 * `why` in the mask are looked at, and the others kept. NULL: that would take too long.
 */
uint8_t *dag_reduce(const struct dag *d, uint8_t mask);

#endif
