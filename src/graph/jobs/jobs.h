/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A DAG that somebody has written down: jobs with names, what each needs and on which condition,
 * and arrays of jobs over values (a matrix).
 *
 * A job with a matrix stands for one element per combination of its values. Who needs the job
 * needs every element. `throttle` says how many elements may run at once.
 */
#ifndef GRAPH_JOBS_JOBS_H
#define GRAPH_JOBS_JOBS_H

#include "base/arena.h"
#include "graph/dag/dag.h"

/* When a job may begin, of each that it needs; `why` of an edge. */
enum after { AFTER_SUCCESS = 1, AFTER_END = 2, AFTER_FAILURE = 4 };
const char *after_name(enum after a);
bool after_parse(struct str s, enum after *ret_after);

struct job_need {
	struct str job;
	enum after after;
	uint32_t line;
};

struct job_axis {
	struct str name;
	struct str *values;
	uint32_t n;
};

struct job {
	struct str name;
	uint32_t line; /* where it is written; 0: nowhere */
	struct job_need *needs;
	uint32_t n_needs;
	struct job_axis *axes; /* none: the job is its only element */
	uint32_t n_axes;
	uint32_t throttle;   /* 0: none */
	int64_t duration_ms; /* 0: not known */
	struct str task;     /* what the task is given, as a JSON object */
};

struct job_specs {
	struct arena arena; /* of everything in it but what jobs need */
	struct arena needs;
	struct job *jobs;
	size_t n, cap;
	uint64_t seed;              /* of the hash of names, where they come from strangers */
	size_t jobs_max, needs_max; /* of its plan; 0: what any plan may have */
};

void job_specs_release(struct job_specs *l);
/* What each job needs is forgotten, when its plan is made: it takes more memory than the rest. */
void job_specs_drop_needs(struct job_specs *l);
/* A job after the others; it lies in the list's arena. */
struct job *job_specs_add(struct job_specs *l);
/* Letters, digits, punctuation but for , [ ] " and backslash; no control characters. */
int job_name_check(struct str name, const char *what, struct problem *p);

struct job_element {
	uint32_t job;  /* in the list */
	uint32_t cell; /* which combination, the last axis fastest */
};

struct job_plan {
	const struct job_specs *list; /* lent: it must outlive this */
	struct dag dag;               /* of elements, in the order of the list */
	struct job_element *elements;
	uint32_t *first; /* of each job: its first element; one more at the end */
	bool has_durations;
};

/*
 * Checks the whole list and makes its DAG. Refused, with the line and the name: two jobs of one
 * name, a need that is not there, needs on two conditions at once, loops, and too much of anything.
 */
int job_plan_make(const struct job_specs *l, struct job_plan *ret_plan, struct problem *p);
void job_plan_release(struct job_plan *j);
/* "build" or "build[os=linux,bits=64]" */
void job_element_name(const struct job_plan *j, uint32_t element, struct buf *out);
/* The value of an axis in an element. */
struct str job_element_value(const struct job_plan *j, uint32_t element, uint32_t axis);

#endif
