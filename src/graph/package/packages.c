/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/package/packages.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/limits.h"
#include "graph/package/internal.h"
#include "graph/package/loops.h"

#define PACKAGE_TEXTS 96 /* bytes of a package's own texts, about */

void package_release(struct package *k)
{
	free(k->deps);
	free(k->ident);
	free(k->unbuildable);
	free(k->targets);
	*k = (struct package){0};
}

void package_graph_release(struct package_graph *g)
{
	for (size_t i = 0; i < g->names.n; i++)
		package_release(&g->packages[i]);
	free(g->packages);
	names_release(&g->names);
	names_release(&g->versions);
	*g = (struct package_graph){0};
}

const struct package *package_graph_find(const struct package_graph *g, struct str key)
{
	uint32_t n = names_find(&g->names, key);

	return n != NO_NAME && g->packages[n].is_known ? &g->packages[n] : NULL;
}

bool dep_counts(const struct package_graph *g, const struct dep *d)
{
	const struct package *on = &g->packages[d->on];

	return d->version == NO_NAME || (on->is_known && on->version == d->version);
}

uint32_t package_place(struct package_graph *g, struct str key)
{
	uint32_t n = names_put(&g->names, key);

	if (n >= g->cap) {
		size_t was = g->cap;

		GROW(g->packages, g->cap, n + 1);
		memset(g->packages + was, 0, (g->cap - was) * sizeof *g->packages);
	}
	return n;
}

static int dep_cmp(const void *a, const void *b)
{
	const struct dep *x = a, *y = b;

	if (x->on != y->on)
		return x->on < y->on ? -1 : 1;
	return x->version < y->version ? -1 : x->version > y->version;
}

/* What is listed twice, or under two kinds, is there once, with all its kinds. */
static uint32_t dep_merge(struct dep *deps, uint32_t n)
{
	uint32_t kept = 0;

	if (n)
		qsort(deps, n, sizeof *deps, dep_cmp);
	for (uint32_t i = 0; i < n; i++) {
		if (kept && dep_cmp(&deps[kept - 1], &deps[i]) == 0)
			deps[kept - 1].kinds |= deps[i].kinds;
		else
			deps[kept++] = deps[i];
	}
	return kept;
}

static void deps_make(struct package_graph *g, const struct upload *u, struct package *k)
{
	uint32_t n = 0;

	if (u->n_deps == 0)
		return;
	k->deps = xcalloc(u->n_deps, sizeof *k->deps);
	for (size_t i = 0; i < u->n_deps; i++) {
		const struct ident *on = &u->deps[i].on;
		uint32_t version = NO_NAME;

		if (on->release.n)
			continue;
		if (on->version.n)
			version = names_put(&g->versions, on->version);
		k->deps[n++] =
		    (struct dep){package_place(g, on->key), version, (uint8_t)u->deps[i].kind};
	}
	k->n_deps = dep_merge(k->deps, n);
}

static char *text_or_null(struct str s)
{
	return s.n ? xstrndup(s.p, s.n) : NULL;
}

struct package package_make(struct package_graph *g, const struct upload *u)
{
	struct package k = {.is_known = true, .duration_ms = u->duration_ms};

	k.version = names_put(&g->versions, u->ident.version);
	k.ident = xasprintf(STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(u->ident.key),
	    STR_ARG(u->ident.version), STR_ARG(u->ident.release));
	k.unbuildable = text_or_null(u->unbuildable);
	k.targets = text_or_null(u->targets);
	deps_make(g, u, &k);
	return k;
}

int package_check_size(const struct package_graph *g, const struct upload *u, struct problem *p)
{
	if (u->n_deps > PACKAGE_DEPS_MAX)
		return problem_set(p, ERR_TOO_LARGE,
		    STR_FMT " has %zu dependencies; a package may have %d", STR_ARG(u->ident.key),
		    u->n_deps, PACKAGE_DEPS_MAX);
	if (g->n_deps + u->n_deps > GRAPH_DEPS_MAX)
		return problem_set(p, ERR_TOO_LARGE,
		    "with " STR_FMT
		    " the graph has more than %d dependencies, the most that it may",
		    STR_ARG(u->ident.key), GRAPH_DEPS_MAX);
	if (g->names.n > GRAPH_NAMES_MAX)
		return problem_set(p, ERR_TOO_LARGE,
		    "the graph has more than %d names of packages, the most that it may",
		    GRAPH_NAMES_MAX);
	return 0;
}

bool package_is_older(const struct package *there, const struct upload *u)
{
	struct ident id;

	if (!there->is_known || ident_parse(str_of(there->ident), &id, NULL) < 0)
		return false;
	return ident_cmp_age(&u->ident, &id) < 0;
}

void package_swap(struct package_graph *g, uint32_t at, struct package *k)
{
	struct package was = g->packages[at];

	g->packages[at] = *k;
	*k = was;
	g->n_deps += g->packages[at].n_deps;
	g->n_deps -= k->n_deps;
	g->n_known += g->packages[at].is_known;
	g->n_known -= k->is_known;
}

static int put(struct package_graph *g, const struct upload *u, bool look_for_loop,
    enum upload_result *ret_result, struct problem *p)
{
	struct package k;
	uint32_t at;
	int rc = package_check_size(g, u, p);

	if (rc < 0)
		return rc;
	at = package_place(g, u->ident.key);
	*ret_result = UPLOAD_OLDER;
	if (package_is_older(&g->packages[at], u))
		return 0;
	*ret_result = g->packages[at].is_known ? UPLOAD_REPLACED : UPLOAD_ADDED;
	k = package_make(g, u);
	package_swap(g, at, &k);
	if (look_for_loop && (rc = runtime_loop_through(g, at, p)) < 0)
		package_swap(g, at, &k);
	package_release(&k);
	return rc;
}

int package_graph_add(struct package_graph *g, const struct upload *u,
    enum upload_result *ret_result, struct problem *p)
{
	return put(g, u, true, ret_result, p);
}

int package_graph_put(struct package_graph *g, const struct upload *u,
    enum upload_result *ret_result, struct problem *p)
{
	return put(g, u, false, ret_result, p);
}

int package_graph_check(const struct package_graph *g, struct problem *p)
{
	return runtime_loop_anywhere(g, p);
}

int package_there(
    const struct package_graph *g, const struct ident *id, uint32_t *ret_at, struct problem *p)
{
	uint32_t at = names_find(&g->names, id->key);
	struct ident there = {0};

	if (at == NO_NAME || !g->packages[at].is_known)
		return problem_set(
		    p, ERR_NOT_FOUND, "there is no package " STR_FMT, STR_ARG(id->key));
	ident_parse(str_of(g->packages[at].ident), &there, NULL);
	if ((id->version.n && !str_eq(id->version, there.version)) ||
	    (id->release.n && !str_eq(id->release, there.release)))
		return problem_set(
		    p, ERR_NOT_FOUND, "the package that is there is %s", g->packages[at].ident);
	*ret_at = at;
	return 0;
}

int package_graph_remove(struct package_graph *g, const struct ident *id, struct problem *p)
{
	struct package none = {0};
	uint32_t at;
	int rc = package_there(g, id, &at, p);

	if (rc < 0)
		return rc;
	package_swap(g, at, &none);
	package_release(&none);
	return 0;
}

void package_graph_seed(struct package_graph *g, uint64_t seed)
{
	g->names.seed = g->versions.seed = seed;
}

size_t package_graph_bytes(const struct package_graph *g)
{
	return g->cap * sizeof *g->packages + g->n_deps * sizeof(struct dep) +
	       g->n_known * PACKAGE_TEXTS + names_bytes(&g->names) + names_bytes(&g->versions);
}
