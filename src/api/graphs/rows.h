/* SPDX-License-Identifier: Apache-2.0 */
/* Packages as rows: what each needs is text, a line for each dependency. */
#ifndef API_GRAPH_ROWS_H
#define API_GRAPH_ROWS_H

#include "base/arena.h"
#include "graph/package/packages.h"
#include "model/objects/graph.h"

void package_to_row(const struct package_graph *g, const struct package *k, struct arena *a,
    struct graph_package_row *ret_row);
/* False: that is none. The upload's texts lie in the row, its list in the arena. */
bool package_of_row(
    const struct graph_package_row *row, struct arena *a, struct upload *ret_upload);
/* The upload that would make this package: for another graph. */
void package_to_upload(const struct package_graph *g, const struct package *k, struct arena *a,
    struct upload *ret_upload);

#endif
