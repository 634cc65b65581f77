/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kept graph of packages: what people upload bit by bit, and trigger groups from. Its row says
 * how much there is; of each package the newest upload is a part of it. What the parts mean is
 * src/graph's to say; here they are rows.
 */
#ifndef MODEL_GRAPH_H
#define MODEL_GRAPH_H

#include "model/id.h"
#include "model/rows/field.h"

#define GRAPHS_MAX 1000

struct graph_row {
	rid id;
	struct str name;
	int64_t n_packages;    /* uploaded ones */
	int64_t n_deps;        /* what they need, all together */
	int64_t n_unbuildable; /* packages that say so */
	int64_t ctime_ms, mtime_ms;
	int64_t version;  /* rises with every change; a change says from which one it was made */
	struct str actor; /* who changed it last */
};

/* The newest upload of a package. */
struct graph_package_row {
	rid graph;
	int64_t number;   /* the package's place; free again when it is removed */
	struct str ident; /* origin/name/version/release; NULL: the place is free */
	struct str needs; /* "rbs origin/name\n" lines: which kinds, and what */
	struct str targets;
	struct str reason; /* why it cannot be built; NULL: it can */
	int64_t duration_ms;
	int64_t time_ms; /* of its last change */
};

extern const struct row_table graph_table, graph_package_table; /* model/rows/row.h */
extern const struct field graph_fields[];

#endif
