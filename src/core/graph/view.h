/* SPDX-License-Identifier: Apache-2.0 */
/* A kept graph as others see it: see core.h. */
#ifndef CORE_GRAPH_VIEW_H
#define CORE_GRAPH_VIEW_H

#include "core/core.h"
#include "model/objects/graph.h"

/* NULL: there is none. */
const struct graph_row *core_graph(const struct core *c, rid id);

#endif
