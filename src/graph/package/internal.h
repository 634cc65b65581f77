/* SPDX-License-Identifier: Apache-2.0 */
/* How an upload becomes a package, for whoever changes a graph. */
#ifndef GRAPH_PACKAGE_INTERNAL_H
#define GRAPH_PACKAGE_INTERNAL_H

#include "graph/package/packages.h"

void package_release(struct package *k);
/* The number of a name, with its place among the packages. */
uint32_t package_place(struct package_graph *g, struct str key);
/* Whether there is room for it. */
int package_check_size(const struct package_graph *g, const struct upload *u, struct problem *p);
bool package_is_older(const struct package *there, const struct upload *u);
struct package package_make(struct package_graph *g, const struct upload *u);
/* Puts one in the other's place: twice the same call changes nothing. */
void package_swap(struct package_graph *g, uint32_t at, struct package *k);
/* The one that is there, by origin/name or by its full ident. */
int package_there(
    const struct package_graph *g, const struct ident *id, uint32_t *ret_at, struct problem *p);

#endif
