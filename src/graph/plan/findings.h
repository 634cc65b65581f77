/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with a graph, or worth knowing of it, as a whole: loops of runtime dependencies,
 * cycles whose order contradicts itself, dependencies that nobody has uploaded, packages that
 * cannot be built and what cannot be built for their sake. Counts are exact; lists are bounded.
 */
#ifndef GRAPH_PLAN_FINDINGS_H
#define GRAPH_PLAN_FINDINGS_H

#include "graph/plan/manifest.h"

#define FINDINGS_LISTED 1000 /* of each kind */
#define FINDING_USERS 5      /* of an unknown package */

struct finding_unknown {
	struct str package;
	struct str users[FINDING_USERS]; /* the first that need it */
	uint32_t n_users;                /* all of them */
};

struct finding_blocked {
	struct str package, reason;
	struct str through, root; /* empty: it says so itself */
};

struct findings {
	struct arena arena;
	size_t n_packages, n_deps;
	char *loop;            /* of runtime dependencies: the first one, in words; NULL: none */
	char **contradictions; /* each in words */
	size_t n_contradictions;
	struct finding_unknown *unknown; /* by name */
	size_t n_unknown;
	struct finding_blocked *blocked; /* by name */
	size_t n_blocked;
};

/* Texts are lent by the graph, which must outlive this. */
void findings_make(const struct package_graph *g, const struct plan_block *blocked,
    size_t n_blocked, struct findings *ret_findings);
void findings_release(struct findings *f);
/* Whether plans of all of it can be made. */
static inline bool findings_ok(const struct findings *f)
{
	return !f->loop && !f->n_contradictions;
}

#endif
