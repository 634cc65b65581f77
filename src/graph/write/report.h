/* SPDX-License-Identifier: Apache-2.0 */
/* A plan with what can be said of it, as JSON and as Graphviz's text. docs/GROUPS.md has the shape.
 */
#ifndef GRAPH_WRITE_REPORT_H
#define GRAPH_WRITE_REPORT_H

#include "graph/dag/measure.h"
#include "graph/jobs/jobs.h"
#include "graph/plan/manifest.h"

struct report {
	const struct manifest *manifest; /* one of the two */
	const struct job_plan *jobs;
	const struct dag *dag;
	struct measures measures;
	const uint32_t *workers; /* makespans are told for each of these */
	size_t n_workers;
	uint32_t rounds; /* of a manifest */
};

/* Measures it; `workers` is lent. */
void report_of_manifest(const struct manifest *m, uint32_t rounds, const uint32_t *workers,
    size_t n_workers, struct report *ret_report);
void report_of_jobs(
    const struct job_plan *j, const uint32_t *workers, size_t n_workers, struct report *ret_report);
void report_release(struct report *r);

/* "core/gcc#2", "build[os=linux]" */
void report_job_name(const struct report *r, uint32_t job, struct buf *out);
bool report_has_durations(const struct report *r);
/* The words of an edge: "runtime", "build", "strong", "order", or "success", "end", "failure". */
size_t report_why(const struct report *r, uint8_t why, const char *ret_words[4]);
/* The nodes of a manifest whose present build some job needs, by name; the caller frees them. */
uint32_t *report_externals(const struct manifest *m, size_t *ret_n);

void report_json(const struct report *r, struct buf *out);
/* Without the edges that others imply; ERR_TOO_LARGE: that would take too long. */
int report_dot(const struct report *r, struct buf *out, struct problem *p);

#endif
