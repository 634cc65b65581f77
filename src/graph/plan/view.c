/* SPDX-License-Identifier: Apache-2.0 */
/* The graph as a plan sees it: names sorted and numbered, pins resolved, every edge once. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/plan/internal.h"

struct named {
	struct str text;
	uint32_t name; /* in the graph; NO_NAME: touched, and never heard of */
};

static int named_cmp(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = str_cmp(x->text, y->text);

	return order ? order : (x->name > y->name) - (x->name < y->name);
}

/* Every name that something is known of, and the touched ones that the graph has never seen. */
static struct named *gather_names(const struct plan *x, size_t *ret_n)
{
	const struct names *names = &x->g->names;
	struct named *all = xcalloc(names->n + x->request->n_touched + 1, sizeof *all);
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < names->n; i++)
		all[n++] = (struct named){names->texts[i], (uint32_t)i};
	for (size_t i = 0; i < x->request->n_touched; i++)
		if (names_find(names, x->request->touched[i]) == NO_NAME)
			all[n++] = (struct named){
			    arena_str(&x->m->arena, x->request->touched[i]), NO_NAME};
	qsort(all, n, sizeof *all, named_cmp);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || !str_eq(all[kept - 1].text, all[i].text))
			all[kept++] = all[i];
	*ret_n = kept;
	return all;
}

/* By number of the name: its node. */
static uint32_t *number_nodes(struct plan *x)
{
	size_t n;
	struct named *all = gather_names(x, &n);
	uint32_t *nodes = xcalloc(x->g->names.n + 1, sizeof *nodes);

	x->m->n_nodes = (uint32_t)n;
	x->m->texts = xcalloc(n + 1, sizeof *x->m->texts);
	x->m->packages = xcalloc(n + 1, sizeof *x->m->packages);
	x->m->reasons = xcalloc(n + 1, sizeof *x->m->reasons);
	for (size_t i = 0; i < n; i++) {
		x->m->texts[i] = all[i].text;
		if (all[i].name == NO_NAME)
			continue;
		nodes[all[i].name] = (uint32_t)i;
		if (x->g->packages[all[i].name].is_known)
			x->m->packages[i] = &x->g->packages[all[i].name];
	}
	free(all);
	return nodes;
}

struct edge {
	uint32_t on;
	uint8_t kinds;
};

static int edge_cmp(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return (x->on > y->on) - (x->on < y->on);
}

/* A package may be needed by name and by version at once: then both speak of one edge. */
static uint32_t add_edges(struct plan *x, uint32_t at, struct edge *edges, uint32_t n)
{
	uint32_t from = at;

	if (n)
		qsort(edges, n, sizeof *edges, edge_cmp);
	for (uint32_t i = 0; i < n; i++) {
		if (at > from && x->on[at - 1] == edges[i].on) {
			x->kinds[at - 1] |= edges[i].kinds;
			continue;
		}
		x->on[at] = edges[i].on;
		x->kinds[at++] = edges[i].kinds;
	}
	return at;
}

static void resolve_edges(struct plan *x, const uint32_t *nodes)
{
	uint32_t at = 0;
	struct edge *edges = NULL;
	size_t cap = 0;

	x->first = xcalloc((size_t)x->m->n_nodes + 1, sizeof *x->first);
	x->on = xcalloc(x->g->n_deps + 1, sizeof *x->on);
	x->kinds = xcalloc(x->g->n_deps + 1, 1);
	for (uint32_t i = 0; i < x->m->n_nodes; i++) {
		const struct package *k = x->m->packages[i];
		uint32_t n = 0;

		x->first[i] = at;
		for (uint32_t d = 0; k && d < k->n_deps; d++)
			if (dep_counts(x->g, &k->deps[d])) {
				GROW(edges, cap, n + 1);
				edges[n++] = (struct edge){nodes[k->deps[d].on], k->deps[d].kinds};
			}
		at = add_edges(x, at, edges, n);
	}
	x->first[x->m->n_nodes] = at;
	free(edges);
}

static void turn_round(struct plan *x)
{
	struct dag d = {.n = x->m->n_nodes, .first = x->first, .needs = x->on};
	struct dag_users u;

	dag_users_make(&d, &u);
	x->user_first = u.first;
	x->users = u.users;
}

static int str_order(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static uint32_t find_node(const struct plan *x, struct str key)
{
	struct str *at = bsearch(&key, x->m->texts, x->m->n_nodes, sizeof key, str_order);

	return at ? (uint32_t)(at - x->m->texts) : NO_NODE;
}

static void note_touched(struct plan *x)
{
	x->touched = xcalloc((size_t)x->m->n_nodes + 1, 1);
	for (uint32_t i = 0; x->request->all && i < x->m->n_nodes; i++)
		x->touched[i] = x->m->packages[i] != NULL;
	for (size_t i = 0; i < x->request->n_touched; i++)
		x->touched[find_node(x, x->request->touched[i])] = 1;
}

/* What the request says of a package goes before what its upload says. */
static void note_reasons(struct plan *x)
{
	for (uint32_t i = 0; i < x->m->n_nodes; i++)
		if (x->m->packages[i])
			x->m->reasons[i] = str_of(x->m->packages[i]->unbuildable);
	for (size_t i = 0; i < x->request->n_blocked; i++) {
		const struct plan_block *b = &x->request->blocked[i];
		uint32_t node = find_node(x, b->key);

		if (node != NO_NODE)
			x->m->reasons[node] = b->reason.n ? arena_str(&x->m->arena, b->reason)
			                                  : STR("listed as unbuildable");
	}
}

void plan_view(struct plan *x)
{
	uint32_t *nodes = number_nodes(x);

	resolve_edges(x, nodes);
	free(nodes);
	turn_round(x);
	note_touched(x);
	note_reasons(x);
}
