/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/package/change.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/limits.h"
#include "graph/package/internal.h"
#include "graph/package/loops.h"

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_deps(const struct package *a, const struct package *b)
{
	if (a->n_deps != b->n_deps)
		return false;
	for (uint32_t i = 0; i < a->n_deps; i++)
		if (a->deps[i].on != b->deps[i].on || a->deps[i].version != b->deps[i].version ||
		    a->deps[i].kinds != b->deps[i].kinds)
			return false;
	return true;
}

static bool is_same(const struct package *a, const struct package *b)
{
	return a->is_known == b->is_known && a->duration_ms == b->duration_ms &&
	       same_text(a->ident, b->ident) && same_text(a->unbuildable, b->unbuildable) &&
	       same_text(a->targets, b->targets) && same_deps(a, b);
}

/* The new one takes its place; what was there is kept for an undo. */
static void put(struct package_change *x, uint32_t at, struct package k)
{
	package_swap(x->g, at, &k);
	GROW(x->log, x->cap, x->n + 1);
	x->log[x->n++] = (struct changed){at, k};
}

int change_upload(struct package_change *x, const struct upload *u, struct problem *p)
{
	struct package_graph *g = x->g;
	struct package k;
	uint32_t at;
	int rc = package_check_size(g, u, p);

	if (rc < 0)
		return rc;
	at = package_place(g, u->ident.key);
	if (package_is_older(&g->packages[at], u)) {
		x->older++;
		return 0;
	}
	k = package_make(g, u);
	if (is_same(&k, &g->packages[at])) {
		x->same++;
		package_release(&k);
		return 0;
	}
	if (g->packages[at].is_known)
		x->replaced++;
	else
		x->added++;
	put(x, at, k);
	return 0;
}

int change_remove(struct package_change *x, const struct ident *id, struct problem *p)
{
	uint32_t at;
	int rc = package_there(x->g, id, &at, p);

	if (rc < 0)
		return rc;
	put(x, at, (struct package){0});
	x->removed++;
	return 0;
}

static struct package package_dup(const struct package *k)
{
	struct package d = *k;

	d.deps = k->n_deps ? xcalloc(k->n_deps, sizeof *d.deps) : NULL;
	if (k->n_deps)
		memcpy(d.deps, k->deps, k->n_deps * sizeof *d.deps);
	d.ident = k->ident ? xstrdup(k->ident) : NULL;
	d.targets = k->targets ? xstrdup(k->targets) : NULL;
	d.unbuildable = NULL;
	return d;
}

int change_mark(
    struct package_change *x, const struct ident *id, struct str reason, struct problem *p)
{
	struct package k;
	uint32_t at;
	int rc = package_there(x->g, id, &at, p);

	if (rc < 0)
		return rc;
	if (reason.n > PACKAGE_REASON_MAX)
		return problem_set(p, ERR_TOO_LARGE, "the reason has %zu bytes; it may have %d",
		    reason.n, PACKAGE_REASON_MAX);
	k = package_dup(&x->g->packages[at]);
	k.unbuildable = reason.n ? xstrndup(reason.p, reason.n) : NULL;
	if (is_same(&k, &x->g->packages[at])) {
		x->same++;
		package_release(&k);
		return 0;
	}
	x->marked++;
	put(x, at, k);
	return 0;
}

static int number_cmp(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

uint32_t *change_places(const struct package_change *x, size_t *ret_n)
{
	uint32_t *all = xcalloc(x->n + 1, sizeof *all);
	size_t kept = 0;

	for (size_t i = 0; i < x->n; i++)
		all[i] = x->log[i].at;
	qsort(all, x->n, sizeof *all, number_cmp);
	for (size_t i = 0; i < x->n; i++)
		if (kept == 0 || all[kept - 1] != all[i])
			all[kept++] = all[i];
	*ret_n = kept;
	return all;
}

int change_check(const struct package_change *x, struct problem *p)
{
	size_t n;
	uint32_t *places = change_places(x, &n);
	int rc = runtime_loop_among(x->g, places, n, p);

	free(places);
	return rc;
}

static void end(struct package_change *x)
{
	for (size_t i = 0; i < x->n; i++)
		package_release(&x->log[i].was);
	free(x->log);
	x->log = NULL;
	x->n = x->cap = 0;
}

void change_keep(struct package_change *x)
{
	end(x);
}

void change_undo(struct package_change *x)
{
	for (size_t i = x->n; i-- > 0;)
		package_swap(x->g, x->log[i].at, &x->log[i].was);
	end(x);
}
