/* SPDX-License-Identifier: Apache-2.0 */
/* What was found of a graph, as JSON: one object, the same from a server and without one. */
#ifndef GRAPH_WRITE_FINDINGS_H
#define GRAPH_WRITE_FINDINGS_H

#include "graph/plan/findings.h"

void findings_json(const struct findings *f, struct buf *out);

#endif
