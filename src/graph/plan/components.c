/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strongly connected components by Tarjan's way, with a stack of its own in place of recursion;
 * then in an order in which each comes after those that it needs, ties by its first member's name.
 */
#include <stdlib.h>
#include <string.h>

#include "base/data/heap.h"
#include "base/mem.h"
#include "graph/plan/internal.h"

struct frame {
	uint32_t node, edge;
};

struct search {
	const struct plan *x;
	struct frame *frames;
	uint32_t *stack; /* nodes that are in no component yet */
	uint32_t *index; /* of each node: when it was met, from 1; 0: not yet */
	uint32_t *low;   /* of each node: the earliest that it reaches, of those on the stack */
	uint32_t n_frames, n_stack, n_met, n_found;
	uint32_t *found; /* of each node: its component, as found; NO_NODE: none yet */
};

static void search_release(struct search *s)
{
	free(s->frames);
	free(s->stack);
	free(s->index);
	free(s->low);
	free(s->found);
}

static void meet(struct search *s, uint32_t node)
{
	s->index[node] = s->low[node] = ++s->n_met;
	s->stack[s->n_stack++] = node;
	s->frames[s->n_frames++] = (struct frame){node, s->x->first[node]};
}

static void close_component(struct search *s, uint32_t root)
{
	uint32_t node;

	do {
		node = s->stack[--s->n_stack];
		s->found[node] = s->n_found;
	} while (node != root);
	s->n_found++;
}

static void lower(uint32_t *low, uint32_t to)
{
	if (*low > to)
		*low = to;
}

static void leave(struct search *s)
{
	uint32_t node = s->frames[--s->n_frames].node;

	if (s->low[node] == s->index[node])
		close_component(s, node);
	if (s->n_frames)
		lower(&s->low[s->frames[s->n_frames - 1].node], s->low[node]);
}

static void search_from(struct search *s, uint32_t start)
{
	const struct plan *x = s->x;

	for (meet(s, start); s->n_frames;) {
		struct frame *f = &s->frames[s->n_frames - 1];
		uint32_t on;

		if (f->edge == x->first[f->node + 1]) {
			leave(s);
			continue;
		}
		on = x->on[f->edge++];
		if (!x->chosen[on])
			continue;
		if (s->index[on] == 0)
			meet(s, on);
		else if (s->found[on] == NO_NODE)
			lower(&s->low[f->node], s->index[on]);
	}
}

static void find_components(struct search *s)
{
	uint32_t n = s->x->m->n_nodes;

	s->frames = xcalloc((size_t)n + 1, sizeof *s->frames);
	s->stack = xcalloc((size_t)n + 1, sizeof *s->stack);
	s->index = xcalloc((size_t)n + 1, sizeof *s->index);
	s->low = xcalloc((size_t)n + 1, sizeof *s->low);
	s->found = xcalloc((size_t)n + 1, sizeof *s->found);
	memset(s->found, 0xff, (size_t)n * sizeof *s->found);
	for (uint32_t i = 0; i < n; i++)
		if (s->x->chosen[i] && s->index[i] == 0)
			search_from(s, i);
}

/* The sorting of components, by what each still waits for. */
struct sorting {
	struct plan *x;
	const struct search *s;
	struct heap_node *nodes; /* of each component as found, in the heap by its first member */
	struct heap ready;
	uint32_t *first_member, *waits; /* of each component as found */
	uint32_t *next;                 /* of each node: the next member by name; NO_NODE: none */
	uint32_t *last_member;
};

static void sorting_release(struct sorting *t)
{
	heap_release(&t->ready);
	free(t->nodes);
	free(t->first_member);
	free(t->waits);
	free(t->next);
	free(t->last_member);
}

static void list_members(struct sorting *t)
{
	for (uint32_t i = 0; i < t->x->m->n_nodes; i++) {
		uint32_t c = t->s->found[i];

		t->next[i] = NO_NODE;
		if (c == NO_NODE)
			continue;
		if (t->first_member[c] == NO_NODE)
			t->first_member[c] = i;
		else
			t->next[t->last_member[c]] = i;
		t->last_member[c] = i;
	}
}

static void count_waits(struct sorting *t)
{
	const struct plan *x = t->x;

	for (uint32_t i = 0; i < x->m->n_nodes; i++)
		for (uint32_t e = x->first[i]; x->chosen[i] && e < x->first[i + 1]; e++)
			t->waits[t->s->found[i]] +=
			    x->chosen[x->on[e]] && t->s->found[x->on[e]] != t->s->found[i];
}

static void make_ready(struct sorting *t, uint32_t c)
{
	heap_put(&t->ready, &t->nodes[c], 0, t->first_member[c]);
}

static void tell_users(struct sorting *t, uint32_t node)
{
	const struct plan *x = t->x;

	for (uint32_t e = x->user_first[node]; e < x->user_first[node + 1]; e++) {
		uint32_t user = x->users[e], c = t->s->found[user];

		if (x->chosen[user] && c != t->s->found[node] && --t->waits[c] == 0)
			make_ready(t, c);
	}
}

static void place(struct sorting *t, uint32_t c, uint32_t *n_members)
{
	struct plan *x = t->x;

	for (uint32_t i = t->first_member[c]; i != NO_NODE; i = t->next[i]) {
		x->comp[i] = x->n_comps;
		x->members[(*n_members)++] = i;
		tell_users(t, i);
	}
	x->comp_first[++x->n_comps] = *n_members;
}

static void sort_components(struct sorting *t)
{
	uint32_t n_members = 0;

	for (uint32_t c = 0; c < t->s->n_found; c++)
		if (t->waits[c] == 0)
			make_ready(t, c);
	while (heap_min(&t->ready)) {
		struct heap_node *node = heap_min(&t->ready);

		heap_del(&t->ready, node);
		place(t, (uint32_t)(node - t->nodes), &n_members);
	}
	MUST(t->x->n_comps == t->s->n_found);
}

static struct sorting sorting_begin(struct plan *x, const struct search *s)
{
	size_t n = (size_t)x->m->n_nodes + 1, c = (size_t)s->n_found + 1;
	struct sorting t = {.x = x, .s = s};

	t.nodes = xcalloc(c, sizeof *t.nodes);
	t.first_member = xcalloc(c, sizeof *t.first_member);
	memset(t.first_member, 0xff, c * sizeof *t.first_member);
	t.last_member = xcalloc(c, sizeof *t.last_member);
	t.waits = xcalloc(c, sizeof *t.waits);
	t.next = xcalloc(n, sizeof *t.next);
	x->comp = xcalloc(n, sizeof *x->comp);
	memset(x->comp, 0xff, n * sizeof *x->comp);
	x->members = xcalloc(n, sizeof *x->members);
	x->comp_first = xcalloc(c, sizeof *x->comp_first);
	return t;
}

void plan_components(struct plan *x)
{
	AUTO(search_release) struct search s = {.x = x};

	find_components(&s);
	AUTO(sorting_release) struct sorting t = sorting_begin(x, &s);
	list_members(&t);
	count_waits(&t);
	sort_components(&t);
}
