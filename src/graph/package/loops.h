/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of runtime dependencies: found without recursion, told by name. */
#ifndef GRAPH_PACKAGE_LOOPS_H
#define GRAPH_PACKAGE_LOOPS_H

#include "graph/package/packages.h"

/* ERR_CONFLICT: this package needs itself at run time, through others or not. */
int runtime_loop_through(const struct package_graph *g, uint32_t start, struct problem *p);
/* The same for each of these, in their order: also loops that they only lead to. */
int runtime_loop_among(
    const struct package_graph *g, const uint32_t *starts, size_t n, struct problem *p);
/* The same for all packages, in the order of their names' numbers. */
int runtime_loop_anywhere(const struct package_graph *g, struct problem *p);

/* "a -> b -> c -> a", cut in the middle where it is long; the caller frees it. */
char *loop_words(const struct str *names, size_t n);

#endif
