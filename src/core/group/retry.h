/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left of a group that has ended, as a new one. Which jobs those are is chosen here;
 * whoever asks reads their rows, and submits them (event.h: submit_group). Pure, and nobody's
 * state.
 */
#ifndef CORE_GROUP_RETRY_H
#define CORE_GROUP_RETRY_H

#include "core/event.h"

enum retry_what {
	RETRY_FAILED, /* what is not built, and all that needs it */
	RETRY_FROM,   /* one job and all that needs it, and what those need and is not built */
};

enum retry_mark {
	RETRY_NOT,   /* no part of the new group */
	RETRY_TAKEN, /* built, and needed: it is there as it was */
	RETRY_AGAIN,
};

struct retry_graph {
	uint32_t n;                     /* jobs */
	const struct group_edge *edges; /* between them */
	size_t n_edges;
	const uint8_t *is_built; /* of each job */
};
/* marks: enum retry_mark of each job. Returns how many are to be done again. */
size_t retry_choose(
    const struct retry_graph *g, enum retry_what what, uint32_t from, uint8_t *ret_marks);
/* The needs of what is done again, by the places that the jobs of the new group have among each
 * other; *ret_n_jobs of these there are. */
struct group_edge *retry_edges(const struct retry_graph *g, const uint8_t *marks, struct arena *a,
    size_t *ret_n_edges, size_t *ret_n_jobs);
/* How a job stands that was built elsewhere. `from`: its task and its group, for people. */
struct task_state *retry_taken(
    const struct task_row *built, struct str task, struct str group, struct arena *a);

#endif
