/* SPDX-License-Identifier: Apache-2.0 */
/* A package of a kept graph as JSON. */
#include <stdlib.h>
#include <string.h>

#include "api/graphs/graphs.h"

#define DEPENDENTS_MAX 10000

static const struct {
	const char *name;
	enum dep_kind kind;
} kinds[] = {{"runtime", DEP_RUNTIME}, {"build", DEP_BUILD}, {"strong", DEP_STRONG}};
#define N_DEP_KINDS (sizeof kinds / sizeof *kinds)

static void add_dep(struct buf *b, const struct package_graph *g, const struct dep *d)
{
	AUTO(buf_release) struct buf text = {0};

	buf_add_str(&text, g->names.texts[d->on]);
	if (d->version != NO_NAME) {
		buf_add_char(&text, '/');
		buf_add_str(&text, g->versions.texts[d->version]);
	}
	jw_str(b, buf_str(&text));
}

static int by_name(const void *a, const void *b, void *graph)
{
	const struct dep *x = a, *y = b;
	const struct package_graph *g = graph;
	int order = str_cmp(g->names.texts[x->on], g->names.texts[y->on]);

	if (order || x->version == y->version)
		return order;
	if (x->version == NO_NAME || y->version == NO_NAME)
		return x->version == NO_NAME ? -1 : 1;
	return str_cmp(g->versions.texts[x->version], g->versions.texts[y->version]);
}

/* Numbers of names come and go with the memory that they are in: people see texts in order. */
static struct dep *sorted_deps(const struct package_graph *g, const struct package *k)
{
	struct dep *deps = xcalloc((size_t)k->n_deps + 1, sizeof *deps);

	if (k->n_deps)
		memcpy(deps, k->deps, k->n_deps * sizeof *deps);
	qsort_r(deps, k->n_deps, sizeof *deps, by_name, (void *)g);
	return deps;
}

static void add_deps(struct buf *b, const struct package_graph *g, const struct package *k)
{
	struct dep *deps = sorted_deps(g, k);

	for (size_t kind = 0; kind < N_DEP_KINDS; kind++) {
		jw_key(b, kinds[kind].name);
		jw_open(b, '[');
		for (uint32_t i = 0; i < k->n_deps; i++)
			if (deps[i].kinds & kinds[kind].kind)
				add_dep(b, g, &deps[i]);
		jw_close(b, ']');
	}
	free(deps);
}

static void add_targets(struct buf *b, struct str targets)
{
	struct str one;

	jw_key(b, "targets");
	jw_open(b, '[');
	while (targets.n && str_next(&targets, ',', &one))
		jw_str(b, one);
	jw_close(b, ']');
}

static void add_members(struct buf *b, const struct package_graph *g, uint32_t name)
{
	const struct package *k = &g->packages[name];

	jw_mstr(b, "package", g->names.texts[name]);
	jw_mstr(b, "ident", str_of(k->ident));
	add_deps(b, g, k);
	add_targets(b, str_of(k->targets));
	jw_mbool(b, "buildable", !k->unbuildable);
	jw_mstr_null(b, "reason", str_of(k->unbuildable));
	jw_mi64_null(b, "duration_ms", k->duration_ms, k->duration_ms > 0);
}

void show_package(struct buf *b, const struct package_graph *g, uint32_t name)
{
	jw_open(b, '{');
	add_members(b, g, name);
	jw_close(b, '}');
}

/* By which kinds it needs the other now, as a set; 0: not at all. */
static unsigned kinds_of(const struct package_graph *g, const struct package *k, uint32_t on)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < k->n_deps; i++)
		if (k->deps[i].on == on && dep_counts(g, &k->deps[i]))
			found |= k->deps[i].kinds;
	return found;
}

static int by_number(const void *a, const void *b, void *graph)
{
	const struct package_graph *g = graph;

	return str_cmp(g->names.texts[*(const uint32_t *)a], g->names.texts[*(const uint32_t *)b]);
}

/* The packages that need this one, by name; the caller frees them. */
static uint32_t *dependents_of(const struct package_graph *g, uint32_t name, size_t *ret_n)
{
	uint32_t *all = NULL;
	size_t n = 0, cap = 0;

	for (uint32_t i = 0; i < g->names.n; i++)
		if (kinds_of(g, &g->packages[i], name)) {
			GROW(all, cap, n + 1);
			all[n++] = i;
		}
	if (n)
		qsort_r(all, n, sizeof *all, by_number, (void *)g);
	*ret_n = n;
	return all;
}

static void add_dependent(struct buf *b, struct str name, unsigned found)
{
	jw_open(b, '{');
	jw_mstr(b, "package", name);
	jw_key(b, "why");
	jw_open(b, '[');
	for (size_t i = 0; i < N_DEP_KINDS; i++)
		if (found & kinds[i].kind)
			jw_str(b, str_of(kinds[i].name));
	jw_close(b, ']');
	jw_close(b, '}');
}

void show_package_whole(struct buf *b, const struct package_graph *g, uint32_t name)
{
	size_t n;
	uint32_t *all = dependents_of(g, name, &n);

	jw_open(b, '{');
	add_members(b, g, name);
	jw_key(b, "dependents");
	jw_open(b, '[');
	for (size_t i = 0; i < n && i < DEPENDENTS_MAX; i++)
		add_dependent(b, g->names.texts[all[i]], kinds_of(g, &g->packages[all[i]], name));
	jw_close(b, ']');
	jw_mi64(b, "n_dependents", (int64_t)n);
	free(all);
	jw_close(b, '}');
}
