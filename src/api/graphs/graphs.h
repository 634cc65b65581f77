/* SPDX-License-Identifier: Apache-2.0 */
/* Kept graphs as the interface has them: /v1/graphs. */
#ifndef API_GRAPHS_H
#define API_GRAPHS_H

#include "api/graphs/room.h"
#include "api/objects/resource.h"

call_fn graph_replace, graph_add, graph_patch;      /* upload.c */
call_fn graph_packages, graph_package, graph_check; /* look.c */
extern const struct field graph_patch_fields[];

/* What an upload changed, for the answer; NULL: the call is none. */
struct graph_counts {
	size_t added, replaced, same, older, marked, removed;
};
const struct graph_counts *upload_counts(const struct call *c);

/* show_package.c: on a reader's thread */
void show_package(struct buf *b, const struct package_graph *g, uint32_t name);
/* The same with those that need it. */
void show_package_whole(struct buf *b, const struct package_graph *g, uint32_t name);

#endif
