/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace for ShiViz of everything that the nodes of a world say, hear and do. The world sees
 * through restarts, so a node is one host for its whole life. Nothing that happens depends on it.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "base/err.h"
#include "sim/world/net.h"

/* A script has names of its own. */
struct sim_trace_names {
	/* NULL: the world's. link 0: none in particular. */
	const char *(*node)(void *arg, int slot, uint64_t link);
	/* The text with its own names in it, appended. */
	void (*words)(void *arg, const char *text, struct buf *out);
	void *arg;
};

/* From now on, until the world ends; what the file held before is gone. names may be NULL. */
int sim_trace_open(struct world *w, const char *path, const struct sim_trace_names *names,
    struct problem *ret_problem);
void sim_trace_close(struct world *w);
/* Only when w->trace is there. slot: the worker at the other end of the server's link. */
void sim_trace_sent(struct world *w, struct packet *p, int slot);
void sim_trace_arrived(struct world *w, const struct packet *p, int slot);
/* A line of the story: told again as an event if it begins with the name of a node. */
void sim_trace_told(struct world *w, const char *line);

#endif
