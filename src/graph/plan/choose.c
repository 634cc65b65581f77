/* SPDX-License-Identifier: Apache-2.0 */
/* What is built: the touched packages and all who use them, without what cannot be. */
#include <stdlib.h>

#include "base/mem.h"
#include "graph/plan/internal.h"

struct spread {
	uint32_t *queue;
	uint32_t n;
	uint32_t *from; /* of each node: the one it was reached from, first of all; NO_NODE: not
	                   reached */
};

static struct spread spread_begin(const struct plan *x)
{
	struct spread s = {xcalloc((size_t)x->m->n_nodes + 1, sizeof *s.queue), 0,
	    xcalloc((size_t)x->m->n_nodes + 1, sizeof *s.from)};

	for (uint32_t i = 0; i < x->m->n_nodes; i++)
		s.from[i] = NO_NODE;
	return s;
}

static void spread_release(struct spread *s)
{
	free(s->queue);
	free(s->from);
}

static void reach(struct spread *s, uint32_t node, uint32_t from)
{
	if (s->from[node] != NO_NODE)
		return;
	s->from[node] = from;
	s->queue[s->n++] = node;
}

/* Breadth first, so that each is reached by one of the shortest ways. */
static void spread_to_users(const struct plan *x, struct spread *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t node = s->queue[i];

		for (uint32_t e = x->user_first[node]; e < x->user_first[node + 1]; e++)
			reach(s, x->users[e], node);
	}
}

static void choose_touched(struct plan *x)
{
	AUTO(spread_release) struct spread s = spread_begin(x);

	for (uint32_t i = 0; i < x->m->n_nodes; i++)
		if (x->touched[i])
			reach(&s, i, i);
	spread_to_users(x, &s);
	x->chosen = xcalloc((size_t)x->m->n_nodes + 1, 1);
	for (uint32_t i = 0; i < s.n; i++)
		x->chosen[s.queue[i]] = 1;
}

/* In the order of the queue, whoever a node was reached from has its root already. */
static void tell_left_out(struct plan *x, const struct spread *s)
{
	uint32_t *root = xcalloc((size_t)x->m->n_nodes + 1, sizeof *root);
	struct manifest *m = x->m;

	m->left_out = xcalloc((size_t)s->n + 1, sizeof *m->left_out);
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t node = s->queue[i], from = s->from[node];

		root[node] = from == node ? node : root[from];
	}
	for (uint32_t i = 0; i < m->n_nodes; i++)
		if (s->from[i] != NO_NODE)
			m->left_out[m->n_left_out++] = (struct left_out){
			    i, s->from[i], root[i], x->touched[i] && !x->request->all};
	free(root);
}

static void leave_out(struct plan *x)
{
	AUTO(spread_release) struct spread s = spread_begin(x);

	for (uint32_t i = 0; i < x->m->n_nodes; i++)
		if (x->chosen[i] && x->m->reasons[i].n)
			reach(&s, i, i);
	spread_to_users(x, &s);
	for (uint32_t i = 0; i < s.n; i++)
		x->chosen[s.queue[i]] = 0;
	tell_left_out(x, &s);
}

static void tell_unknown(struct plan *x)
{
	x->m->unknown = xcalloc((size_t)x->m->n_nodes + 1, sizeof *x->m->unknown);
	for (uint32_t i = 0; i < x->m->n_nodes; i++)
		if (x->chosen[i] && !x->m->packages[i])
			x->m->unknown[x->m->n_unknown++] = i;
}

void plan_choose(struct plan *x)
{
	choose_touched(x);
	leave_out(x);
	tell_unknown(x);
}
