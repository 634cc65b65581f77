/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph of packages: the newest upload of each, and what it needs. A package that is only needed
 * by others is there as a name without an upload.
 *
 *   upload of a newer or the same version   takes the place of what was there, with its
 * dependencies upload of an older version              changes nothing upload that closes a loop of
 * runtime dependencies                            is refused, and changes nothing; loops of others
 * are fine
 *
 * A dependency on origin/name is an edge. One on origin/name/version is an edge while that version
 * is the newest. One on origin/name/version/release is none: that build is there already.
 */
#ifndef GRAPH_PACKAGE_PACKAGES_H
#define GRAPH_PACKAGE_PACKAGES_H

#include "graph/package/ident.h"
#include "graph/package/names.h"

enum dep_kind { DEP_RUNTIME = 1, DEP_BUILD = 2, DEP_STRONG = 4 };

struct dep {
	uint32_t on;      /* number of the name */
	uint32_t version; /* NO_NAME: any */
	uint8_t kinds;    /* of enum dep_kind */
};

struct package {
	bool is_known;    /* the package was uploaded; else others need it */
	uint32_t version; /* in the table of versions */
	uint32_t n_deps;
	struct dep *deps;    /* by name's number and version, each once */
	char *ident;         /* origin/name/version/release */
	char *unbuildable;   /* why it cannot be built; NULL: it can */
	char *targets;       /* with commas between; NULL: any */
	int64_t duration_ms; /* what a build takes; 0: not known */
};

struct package_graph {
	struct names names, versions;
	struct package *packages; /* by the name's number */
	size_t cap, n_known, n_deps;
};

struct upload_dep {
	struct ident on;
	enum dep_kind kind;
};

struct upload {
	struct ident ident; /* with all four parts */
	const struct upload_dep *deps;
	size_t n_deps;
	struct str unbuildable; /* empty: it can be built */
	struct str targets;     /* with commas between; empty: any */
	int64_t duration_ms;
};

enum upload_result { UPLOAD_ADDED, UPLOAD_REPLACED, UPLOAD_OLDER };

/* A zeroed graph is an empty one. One that strangers fill has a seed that they do not know. */
void package_graph_seed(struct package_graph *g, uint64_t seed);
void package_graph_release(struct package_graph *g);
size_t package_graph_bytes(const struct package_graph *g); /* of memory, about */

/* One upload. ERR_CONFLICT: it would close a loop, which the problem names. */
int package_graph_add(struct package_graph *g, const struct upload *u,
    enum upload_result *ret_result, struct problem *p);
/* For loading many: as above, but nobody looks for loops until package_graph_check(). */
int package_graph_put(struct package_graph *g, const struct upload *u,
    enum upload_result *ret_result, struct problem *p);
/* Whether runtime dependencies are free of loops; the problem names one. */
int package_graph_check(const struct package_graph *g, struct problem *p);
/* By origin/name, or by the full ident of what is there. */
int package_graph_remove(struct package_graph *g, const struct ident *id, struct problem *p);

/* NULL: it was never uploaded, or removed. */
const struct package *package_graph_find(const struct package_graph *g, struct str key);
/* What a dependency's version says: whether it is an edge now. */
bool dep_counts(const struct package_graph *g, const struct dep *d);

#endif
