/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the digests of a group's jobs lie, and what was not taken in: beside the pieces of its
 * graph (group_graph.h), with numbers so far behind them that whoever reads the graph, also an
 * older program, never sees them.
 */
#ifndef MODEL_GROUP_DIGESTS_H
#define MODEL_GROUP_DIGESTS_H

#include "model/objects/group_graph.h"

#define INPUT_DIGESTS_FROM (INT64_C(1) << 20)
/* What a plan of packages left out, as the answer to who asks for it: pieces of one text. */
#define LEFT_OUT_FROM (INT64_C(1) << 21)
#define LEFT_OUT_CHUNKS 8
#define LEFT_OUT_MAX_BYTES (LEFT_OUT_CHUNKS * GRAPH_CHUNK_BYTES)

#endif
