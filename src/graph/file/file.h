/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file to plan: JSON or YAML, either packages and what has changed, or a ready-made DAG of jobs.
 * docs/GROUPS.md has the format. Errors name the line, and the package or job.
 */
#ifndef GRAPH_FILE_FILE_H
#define GRAPH_FILE_FILE_H

#include "graph/jobs/jobs.h"
#include "graph/plan/manifest.h"

/* So much is taken: more is refused while it is being read. */
struct plan_bounds {
	size_t jobs;
	size_t needs; /* of all jobs together, as they are written */
};

struct plan_file {
	struct plan_bounds bounds;
	bool has_packages, has_jobs; /* one of them */
	struct arena arena;
	struct buf said; /* members that are about running it, not about the plan: a JSON object */

	struct package_graph graph;
	struct names idents;   /* of uploads, each once */
	uint32_t *ident_lines; /* where each stands */
	size_t ident_cap;
	uint32_t *lines; /* by name of the graph: where its newest upload stands; 0: nowhere */
	size_t line_cap;
	bool has_touched;
	struct str *touched;
	size_t n_touched, touched_cap;
	struct plan_block *blocked;
	size_t n_blocked, blocked_cap;
	uint32_t rounds; /* 0: not said */
	struct str from; /* the kept graph that has the packages; NULL: the file has */

	struct job_specs jobs;
	size_t n_needs;
};

int plan_file_read(struct str text, struct plan_file *ret_file, struct problem *p);
/* How a file is read: one of strangers with a seed, one that is to be looked at with its loops. */
struct plan_reading {
	struct plan_bounds bounds; /* all 0: those of limits.h */
	uint64_t seed;
	bool any_loops;
	bool from_graph; /* the file may name a kept graph in place of packages */
};
int plan_file_read_as(
    struct str text, const struct plan_reading *how, struct plan_file *ret_file, struct problem *p);
void plan_file_release(struct plan_file *f);
/* Adds a package to what is touched, by any form of its name. */
int plan_file_touch(struct plan_file *f, struct str text, struct problem *p);
/* The plan of a file with packages. What is not touched by name is all, unless the file says. */
int plan_file_manifest(
    const struct plan_file *f, uint32_t rounds, struct manifest *ret_manifest, struct problem *p);

#endif
