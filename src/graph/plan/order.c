/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a round: inside a component, a package comes after those that it needs at run time
 * or strongly; ties by name. Build dependencies order nothing there, or no cycle could be built.
 */
#include <stdlib.h>

#include "base/data/heap.h"
#include "base/mem.h"
#include "graph/package/loops.h"
#include "graph/plan/internal.h"

#define ORDERS (DEP_RUNTIME | DEP_STRONG)

struct round {
	struct plan *x;
	uint32_t c;
	struct heap_node *nodes; /* of each node */
	struct heap ready;
	uint32_t *waits; /* of each node of the component; 0 when it is placed */
};

static bool orders(const struct plan *x, uint32_t user, uint32_t edge)
{
	return (x->kinds[edge] & ORDERS) && x->comp[x->on[edge]] == x->comp[user];
}

/* Whether the edge from `user` to `on` orders; the edges of a node ascend. */
static bool is_ordered(const struct plan *x, uint32_t user, uint32_t on)
{
	uint32_t low = x->first[user], high = x->first[user + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (x->on[middle] < on)
			low = middle + 1;
		else
			high = middle;
	}
	return orders(x, user, low);
}

static void count_waits(struct round *r)
{
	struct plan *x = r->x;

	for (uint32_t m = x->comp_first[r->c]; m < x->comp_first[r->c + 1]; m++) {
		uint32_t node = x->members[m];

		r->waits[node] = 0;
		for (uint32_t e = x->first[node]; e < x->first[node + 1]; e++)
			r->waits[node] += orders(x, node, e);
		if (r->waits[node] == 0)
			heap_put(&r->ready, &r->nodes[node], 0, node);
	}
}

static void tell_users(struct round *r, uint32_t node)
{
	struct plan *x = r->x;

	for (uint32_t e = x->user_first[node]; e < x->user_first[node + 1]; e++) {
		uint32_t user = x->users[e];

		if (x->comp[user] == r->c && is_ordered(x, user, node) && --r->waits[user] == 0)
			heap_put(&r->ready, &r->nodes[user], 0, user);
	}
}

/* One of those that wait for each other: each has an ordering edge to another that waits. */
static uint32_t next_waiting(const struct round *r, uint32_t node)
{
	const struct plan *x = r->x;
	uint32_t e = x->first[node];

	while (!orders(x, node, e) || r->waits[x->on[e]] == 0)
		e++;
	return x->on[e];
}

/* By name from the first that waits, until the way comes back to where it has been. */
static int contradiction(struct round *r)
{
	struct plan *x = r->x;
	uint32_t n_members = x->comp_first[r->c + 1] - x->comp_first[r->c], n = 0, from;
	uint32_t *place = xcalloc((size_t)x->m->n_nodes + 1, sizeof *place), at = 0;
	struct str *way = xcalloc(n_members + 1, sizeof *way);
	AUTO(free_cstr) char *words = NULL;

	while (x->comp[at] != r->c || r->waits[at] == 0)
		at++;
	for (; place[at] == 0; at = next_waiting(r, at)) {
		way[n] = x->m->texts[at];
		place[at] = ++n;
	}
	from = place[at] - 1;
	words = loop_words(way + from, n - from);
	problem_set(
	    x->p, ERR_CONFLICT, "runtime and strong dependencies contradict each other: %s", words);
	problem_field(x->p, way[from].p);
	free(place);
	free(way);
	return problem_hint(x->p, "no order of a round can satisfy them all: make one of them a "
	                          "plain build dependency");
}

static int order_component(struct round *r)
{
	struct plan *x = r->x;
	uint32_t at = x->comp_first[r->c];

	count_waits(r);
	while (heap_min(&r->ready)) {
		struct heap_node *first = heap_min(&r->ready);

		heap_del(&r->ready, first);
		x->members[at] = (uint32_t)(first - r->nodes);
		tell_users(r, x->members[at++]);
	}
	return at == x->comp_first[r->c + 1] ? 0 : contradiction(r);
}

static void round_begin(struct round *r)
{
	r->nodes = xcalloc((size_t)r->x->m->n_nodes + 1, sizeof *r->nodes);
	r->waits = xcalloc((size_t)r->x->m->n_nodes + 1, sizeof *r->waits);
}

static void round_release(struct round *r)
{
	heap_release(&r->ready);
	free(r->nodes);
	free(r->waits);
}

int plan_order(struct plan *x)
{
	AUTO(round_release) struct round r = {.x = x};
	int rc = 0;

	round_begin(&r);
	for (r.c = 0; r.c < x->n_comps && rc == 0; r.c++)
		rc = order_component(&r);
	return rc;
}

void plan_order_each(struct plan *x, void (*tell)(void *arg, const struct problem *p), void *arg)
{
	AUTO(round_release) struct round r = {.x = x};

	round_begin(&r);
	for (r.c = 0; r.c < x->n_comps; r.c++)
		if (order_component(&r) < 0)
			tell(arg, x->p);
}
