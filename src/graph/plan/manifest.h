/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A manifest: what to build, in which rounds, and what each build waits for, when these packages
 * have changed. The same graph and request give the same manifest, whatever order packages were
 * uploaded in.
 *
 *   touched + all that depends on them, by any kind of dependency
 *     - what cannot be built, with all that depends on it
 *     = strongly connected components, each after those that it needs; ties by name
 *         one package            built once
 *         several                built `rounds` times, inside ordered by runtime and strong edges
 *
 * A job needs the latest round made so far of each of its dependencies, else the build that there
 * is already (an external). The next round of a package waits for all who use the round before.
 */
#ifndef GRAPH_PLAN_MANIFEST_H
#define GRAPH_PLAN_MANIFEST_H

#include "graph/dag/dag.h"
#include "graph/package/packages.h"

/* Beside enum dep_kind, in `why` of an edge: the package's next round waits for this user. */
#define WHY_ORDER 8

struct plan_block {
	struct str key, reason;
};

struct plan_request {
	bool all;                  /* touched or not */
	const struct str *touched; /* keys: origin/name */
	size_t n_touched;
	const struct plan_block *blocked; /* cannot be built, beside those that say so themselves */
	size_t n_blocked;
	uint32_t rounds; /* 0: PLAN_ROUNDS_DEFAULT */
};

struct manifest_job {
	uint32_t node; /* in texts and packages */
	uint32_t round;
};

struct left_out {
	uint32_t node;
	uint32_t through; /* the dependency through which; the node itself: it cannot be built */
	uint32_t root;    /* which at the end of that way cannot be built */
	bool is_touched;  /* the request names it */
};

struct component {
	uint32_t *members; /* in the order of a round */
	uint32_t n;
};

struct manifest {
	/* All packages of the graph, and touched ones that it does not know, by name. */
	struct arena arena;
	uint32_t n_nodes;
	struct str *texts; /* origin/name */
	const struct package *
	    *packages;       /* NULL: unknown. Lent by the graph, which must outlive this */
	struct str *reasons; /* why it cannot be built; empty: it can */

	struct dag dag; /* needs between jobs, with `why`; a job comes after all that it needs */
	struct manifest_job *jobs;
	uint32_t *outside_first, *outside; /* nodes whose present build a job needs, as in a dag */
	uint8_t *outside_why;
	struct left_out *left_out; /* by name */
	uint32_t n_left_out;
	struct component *components; /* larger than one, in the order in which they are built */
	uint32_t n_components;
	uint32_t *unknown; /* touched, but not in the graph */
	uint32_t n_unknown;
	bool has_durations;
};

int manifest_make(const struct package_graph *g, const struct plan_request *request,
    struct manifest *ret_manifest, struct problem *p);
void manifest_release(struct manifest *m);

#endif
