/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several uploads, marks and removals as one change of a graph: each is made at once, and all of
 * them are kept or undone together. A loop of runtime dependencies is looked for at the end, from
 * what was changed: the graph had none before, so a new one leads through there.
 */
#ifndef GRAPH_PACKAGE_CHANGE_H
#define GRAPH_PACKAGE_CHANGE_H

#include "graph/package/packages.h"

struct changed {
	uint32_t at;        /* number of the name */
	struct package was; /* owned, until it is kept or undone */
};

struct package_change {
	struct package_graph *g;
	struct changed *log;
	size_t n, cap;
	size_t added, replaced, same, older, marked, removed; /* packages */
};

/* Errors leave the rest of the change as it is: undo it. */
int change_upload(struct package_change *x, const struct upload *u, struct problem *p);
int change_remove(struct package_change *x, const struct ident *id, struct problem *p);
/* Why it cannot be built; an empty reason: it can. */
int change_mark(
    struct package_change *x, const struct ident *id, struct str reason, struct problem *p);
/* ERR_CONFLICT: a loop, which the problem names. */
int change_check(const struct package_change *x, struct problem *p);
/* The numbers of what was changed, ascending, each once; the caller frees them. */
uint32_t *change_places(const struct package_change *x, size_t *ret_n);
void change_keep(struct package_change *x);
void change_undo(struct package_change *x);

#endif
