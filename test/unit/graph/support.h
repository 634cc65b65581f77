/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs and manifests as short text, so that a story is a row of a table.
 *
 *   "o/a/1/1 r:o/b b:o/c/2 s:o/d !plan gone @90\n…"   a package a line: runtime, build and strong
 *   dependencies, why it cannot be built (to the end of the line), what a build takes
 */
#ifndef TEST_GRAPH_SUPPORT_H
#define TEST_GRAPH_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "graph/plan/manifest.h"

/* One line; the answer of package_graph_add() or, without `checked`, of package_graph_put(). */
int add_line(struct package_graph *g, const char *line, bool checked,
    enum upload_result *ret_result, struct problem *p);
/* All lines, none of which may be refused, and no loop of runtime dependencies. */
void load_lines(struct package_graph *g, const char *lines);

/* "a,b" as a request; "*": all. `blocked`: "o/a=why,o/b". */
int plan_of(const struct package_graph *g, const char *touched, const char *blocked,
    uint32_t rounds, struct manifest *ret_manifest, struct problem *p);

/* A job a line: "o/a#1 < o/b#1(rbso) | o/c(b)"; then "-o/x: why", "-o/y through o/x". Caller frees.
 */
char *manifest_words(const struct manifest *m);

#endif
