/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept graphs in memory, and whose turn it is. A graph is read from the store when it is first
 * needed, and let go when nobody has used it for a while, or when all of them are too large.
 *
 * Whoever uses one waits in its line. Its turn begins on a reader's thread, with the graph at the
 * version that the core has, and ends with graph_turn_end(): for a change only when the outcome is
 * durable. So there is one order of changes, each is made from what the one before it left, and
 * nobody looks at what may yet be refused.
 */
#ifndef API_ROOM_H
#define API_ROOM_H

#include "api/frame/call.h"
#include "api/graphs/kept.h"

struct kept_graph;

struct graph_turn {
	TAILQ_ENTRY(graph_turn) in_line;
	struct call *c; /* held until the end of the turn */
	struct kept_graph *of;
	struct graph_in_memory *kept; /* the graph, while it is its turn */
	struct graph_row row; /* as the core had it when the turn began; names are not in it */
	uint64_t seed;        /* for graphs that are made of what strangers say */
	bool as_it_is;        /* what is there does not matter: it is not read */
	bool is_changed;      /* what is in memory is not what the store has, so far */
	/* On a reader's thread. Errors are set in the problem. */
	void (*work)(struct graph_turn *t);
	/* On the loop; the client may be gone (c->over). Leads to graph_turn_end(). */
	void (*done)(struct graph_turn *t);
	bool is_read;           /* from the store, for this turn */
	struct problem problem; /* code 0: all is well */
	void *state;            /* the handler's own, in the call's arena */
};
TAILQ_HEAD(graph_turns, graph_turn);

/* The call's turn with that graph; id 0: with one that is not there yet. */
struct graph_turn *graph_turn_new(struct call *c, rid graph);
void graph_turn_begin(struct graph_turn *t);
/* What was changed is durable, as that version; 0: it is not, or nothing was changed. */
void graph_turn_end(struct graph_turn *t, int64_t version);

/* For tests and figures: bytes of all that is in memory. */
size_t graph_room_bytes(const struct graph_room *r);

#endif
