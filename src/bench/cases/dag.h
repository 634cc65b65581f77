/* SPDX-License-Identifier: Apache-2.0 */
/* The case dag: jobs that need each other, as Reeve, make and ninja are told of them. */
#ifndef BENCH_CASES_DAG_H
#define BENCH_CASES_DAG_H

#include "bench/internal.h"
#include "graph/dag/dag.h"

enum dag_shape {
	DAG_CHAIN,  /* each needs the one before it */
	DAG_WIDE,   /* one, then all others, then one that needs them */
	DAG_LAYERS, /* a hundred layers, three random needs in the layer before */
	N_DAG_SHAPES
};
extern const char *const dag_shape_names[N_DAG_SHAPES];

/* dag_shape.c: n jobs of that shape, always the same; and the file's plan */
void dag_make(struct dag *d, enum dag_shape shape, uint32_t n);
int dag_read(struct dag *d, const char *path, struct problem *p);
void dag_as_group(const struct dag *d, const char *queue, const char *work, struct buf *out);
void dag_as_makefile(const struct dag *d, struct buf *out);
void dag_as_ninja(const struct dag *d, struct buf *out);

/* dag_peers.c: seconds that make or ninja take for it with two jobs at once; NAN: not here */
#define DAG_PEERS_AT_ONCE 2
enum dag_peer { PEER_MAKE, PEER_NINJA, N_DAG_PEERS };
double dag_peer_seconds(struct bench *b, enum dag_peer peer, const struct dag *d);

/* dag_gap.c: "end_to_start", from one job's end to the next one's start */
int dag_gaps(struct bench *b, json_t *to);

#endif
