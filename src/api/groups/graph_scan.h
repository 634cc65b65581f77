/* SPDX-License-Identifier: Apache-2.0 */
/* A group's graph as it is kept, gone through on a reader's thread, a few pieces at a time. */
#ifndef API_GRAPH_SCAN_H
#define API_GRAPH_SCAN_H

#include "model/objects/group_graph.h"
#include "store/store.h"

#define SCAN_CHUNKS 8 /* pieces in one step: half a megabyte */

struct graph_scan {
	rid group;
	uint32_t n_jobs;
	int64_t n_chunks;
	int64_t at; /* the next piece */
	struct arena *scratch;
	/* Each job once, in order; each edge right after what is needed. Either may be NULL. */
	void (*job)(void *arg, uint32_t job, struct str name);
	void (*edge)(void *arg, const struct group_edge *e, struct str need_name);
	void *arg;
	struct str name; /* of the job at hand, which may go on in the next piece */
	char kept[JOB_NAME_MAX_BYTES];
};

/* 0 or an error; all has been seen when at == n_chunks. */
int graph_scan_step(struct graph_scan *s, struct store_reader *r);
int graph_scan_all(struct graph_scan *s, struct store_reader *r);

#endif
