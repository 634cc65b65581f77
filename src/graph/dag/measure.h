/* SPDX-License-Identifier: Apache-2.0 */
/* What can be said of a DAG before it runs: how long, how wide, how fast with so many workers. */
#ifndef GRAPH_DAG_MEASURE_H
#define GRAPH_DAG_MEASURE_H

#include "graph/dag/dag.h"

struct measures {
	uint32_t *level;        /* of each job: 1, or one more than the highest of its needs */
	int64_t *remaining;     /* of each job: the longest path from its start to the end */
	uint32_t longest_chain; /* jobs */
	uint32_t widest_level;  /* jobs */
	uint32_t at_once;       /* jobs that need nothing */
	int64_t critical;       /* the longest path by duration: no number of workers is faster */
	int64_t total;          /* one worker's time */
	uint32_t *path;         /* the jobs of that path, first to last */
	uint32_t n_path;
};

/* The dag has no loop. */
void dag_measure(const struct dag *d, struct measures *ret_measures);
void measures_release(struct measures *m);

enum pick { PICK_OLDEST, PICK_LONGEST }; /* of what could start: in order, or by what remains */

/* When the last job ends, if `workers` never idle while something could start. */
int64_t dag_makespan(
    const struct dag *d, const struct measures *m, uint32_t workers, enum pick pick);

#endif
