/* SPDX-License-Identifier: Apache-2.0 */
/* What earlier groups of its series say of the jobs of a group: how long each may take, and which
 * was built from the same before. */
#ifndef API_WEIGH_H
#define API_WEIGH_H

#include "core/event.h"
#include "model/objects/group_graph.h"
#include "store/store.h"

/*
 * What a series remembers of the jobs of a group: rows come in the order of their jobs' numbers, so
 * both are gone through once. A name's number may be another name's, too: whoever minds compares.
 */
struct built_row;
struct series_walk {
	struct str series;
	struct numbered_job *jobs; /* room for all of them */
	size_t n;                  /* so many were named */
	void (*found)(void *arg, uint32_t job, const struct built_row *row);
	void *arg;
	/* the walk's own */
	bool is_sorted, is_over;
	size_t at; /* jobs before that were found, or were never built */
	int64_t from;
	size_t n_rows;
};
struct numbered_job {
	int64_t number;
	uint32_t job;
};
void series_walk_name(struct series_walk *w, uint32_t job, struct str name);
/* On a reader's thread: a page of it. 0 or an error; is_over when there is nothing left. */
int series_walk_step(struct series_walk *w, struct store_reader *r, struct arena *a);

/* The build of a job that was built from the same; task 0: there is none. */
struct same_build {
	rid group, task;
};

/* Of a group of n jobs, on a reader's thread: its weights are in the arena. ret_same: of each job;
 * NULL: nobody wants to know. */
void weigh_group(struct submit_group *g, size_t n, struct store_reader *r, struct arena *a,
    struct same_build *ret_same);

#endif
