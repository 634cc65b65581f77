/* SPDX-License-Identifier: Apache-2.0 */
#include "api/graphs/kept.h"

#include <stdlib.h>
#include <string.h>

#include "api/graphs/rows.h"
#include "base/mem.h"

#define ROWS_AT_ONCE 2000
#define RUBBISH_MIN 20000 /* names */

void kept_release(struct graph_in_memory *k)
{
	package_graph_release(&k->g);
	free(k->places);
	free(k->free);
	free(k->sorted);
	*k = (struct graph_in_memory){0};
}

size_t kept_bytes(const struct graph_in_memory *k)
{
	return package_graph_bytes(&k->g) + k->n_places * sizeof *k->places +
	       k->cap_free * sizeof *k->free + (k->sorted ? k->g.n_known * sizeof *k->sorted : 0);
}

static size_t names_of(const struct graph_in_memory *k)
{
	return k->g.names.n + k->g.versions.n;
}

bool kept_is_stale(const struct graph_in_memory *k)
{
	return names_of(k) > 2 * k->n_names + RUBBISH_MIN;
}

static void note_free(struct graph_in_memory *k, uint32_t number)
{
	GROW(k->free, k->cap_free, k->n_free + 1);
	k->free[k->n_free++] = number;
}

/* Room for the places of all names. */
static void widen(struct graph_in_memory *k)
{
	if (k->n_places >= k->g.names.n)
		return;
	k->places = xrealloc(k->places, k->g.cap * sizeof *k->places);
	for (; k->n_places < k->g.cap; k->n_places++)
		k->places[k->n_places] = NO_NAME;
}

/* A row that makes no sense is left out, and missed when they are counted. */
static void take_row(
    struct graph_in_memory *k, const struct graph_package_row *row, struct arena *a)
{
	struct problem ignored;
	enum upload_result result;
	struct upload u;

	k->n_rows = (uint32_t)row->number + 1;
	if (!row->ident.p) {
		note_free(k, (uint32_t)row->number);
		return;
	}
	if (!package_of_row(row, a, &u) || package_graph_put(&k->g, &u, &result, &ignored) < 0)
		return;
	widen(k);
	k->places[names_find(&k->g.names, u.ident.key)] = (uint32_t)row->number;
}

static int read_page(
    struct graph_in_memory *k, struct store_reader *r, struct part_query *q, bool *ret_more)
{
	AUTO(arena_release) struct arena a = {0};
	struct part_page page = {0};
	const struct graph_package_row *rows;
	int rc = store_parts(r, q, &a, &page);

	if (rc < 0)
		return rc;
	rows = page.rows;
	for (size_t i = 0; i < page.n; i++)
		take_row(k, &rows[i], &a);
	*ret_more = page.n == q->limit;
	if (page.n)
		q->from = rows[page.n - 1].number + 1;
	return 0;
}

static int damaged(const struct graph_in_memory *k, const struct graph_row *row, struct problem *p)
{
	if (row->n_packages < 0)
		problem_set(p, ERR_STORE, "the graph's row in the store is damaged");
	else
		problem_set(p, ERR_STORE, "the graph should have %lld packages, and has %zu",
		    (long long)row->n_packages, k->g.n_known);
	return problem_hint(p, "it is damaged in the store: load all of it again, with --replace");
}

int kept_read(struct graph_in_memory *k, struct store_reader *r, const struct graph_row *row,
    uint64_t seed, struct problem *p)
{
	struct part_query q = {.table = &graph_package_table,
	    .object = row->id,
	    .oldest_first = true,
	    .limit = ROWS_AT_ONCE};
	bool more = true;
	int rc = 0;

	kept_release(k);
	package_graph_seed(&k->g, seed);
	while (more && rc == 0)
		rc = read_page(k, r, &q, &more);
	if (rc < 0)
		return problem_set(p, rc, "the graph cannot be read from the store");
	widen(k);
	k->n_names = names_of(k);
	return k->g.n_known == (size_t)row->n_packages ? 0 : damaged(k, row, p);
}

static int by_name(const void *a, const void *b, void *names)
{
	const struct str *texts = ((const struct names *)names)->texts;

	return str_cmp(texts[*(const uint32_t *)a], texts[*(const uint32_t *)b]);
}

const uint32_t *kept_sorted(struct graph_in_memory *k)
{
	size_t n = 0;

	if (k->sorted)
		return k->sorted;
	k->sorted = xcalloc(k->g.n_known + 1, sizeof *k->sorted);
	for (uint32_t i = 0; i < k->g.names.n; i++)
		if (k->g.packages[i].is_known)
			k->sorted[n++] = i;
	qsort_r(k->sorted, n, sizeof *k->sorted, by_name, &k->g.names);
	return k->sorted;
}

static int mark_all(struct package_change *x, const struct plan_file *f, struct problem *p)
{
	struct ident id;
	int rc = 0;

	for (size_t i = 0; i < f->n_blocked && rc == 0; i++) {
		rc = ident_parse(f->blocked[i].key, &id, p);
		if (rc == 0)
			rc = change_mark(x, &id, f->blocked[i].reason, p);
	}
	return rc;
}

int kept_of_file(struct graph_in_memory *ret_kept, struct plan_file *f, struct problem *p)
{
	struct graph_in_memory k = {.g = f->graph};
	struct package_change marks = {.g = &k.g};
	int rc;

	f->graph = (struct package_graph){0};
	rc = mark_all(&marks, f, p);
	change_keep(&marks);
	k.n_names = names_of(&k);
	widen(&k);
	if (rc < 0)
		kept_release(&k);
	else
		*ret_kept = k;
	return rc;
}

int kept_merge(struct package_change *x, const struct plan_file *f, struct problem *p)
{
	AUTO(arena_release) struct arena a = {0};
	int rc = 0;

	for (size_t i = 0; i < f->graph.names.n && rc == 0; i++) {
		const struct package *k = &f->graph.packages[i];
		struct upload u;

		if (!k->is_known)
			continue;
		arena_reset(&a);
		package_to_upload(&f->graph, k, &a, &u);
		rc = change_upload(x, &u, p);
	}
	return rc < 0 ? rc : mark_all(x, f, p);
}

/* The place of a package that there is, or is no more: then it is free again. */
static uint32_t place_of(struct graph_in_memory *k, uint32_t name)
{
	uint32_t *at = &k->places[name], number = *at;

	if (!k->g.packages[name].is_known) {
		*at = NO_NAME;
		if (number != NO_NAME)
			note_free(k, number);
		return number;
	}
	if (number == NO_NAME)
		*at = number = k->n_free ? k->free[--k->n_free] : k->n_rows++;
	return number;
}

static uint32_t *all_known(const struct graph_in_memory *k, size_t *ret_n)
{
	uint32_t *all = xcalloc(k->g.n_known + 1, sizeof *all);

	*ret_n = 0;
	for (uint32_t i = 0; i < k->g.names.n; i++)
		if (k->g.packages[i].is_known)
			all[(*ret_n)++] = i;
	return all;
}

struct graph_package_row *kept_rows(
    struct graph_in_memory *k, const struct package_change *x, struct arena *a, size_t *ret_n)
{
	size_t n, kept = 0;
	uint32_t *names = x ? change_places(x, &n) : all_known(k, &n);
	struct graph_package_row *rows = arena_zalloc(a, (n + 1) * sizeof *rows);

	widen(k);
	free(k->sorted);
	k->sorted = NULL;
	for (size_t i = 0; i < n; i++) {
		uint32_t number = place_of(k, names[i]);

		if (number == NO_NAME) /* a package that came and went in one change */
			continue;
		rows[kept].number = number;
		package_to_row(&k->g, &k->g.packages[names[i]], a, &rows[kept++]);
	}
	free(names);
	*ret_n = kept;
	return rows;
}

void kept_count(const struct graph_in_memory *k, struct graph_row *ret_row)
{
	ret_row->n_packages = (int64_t)k->g.n_known;
	ret_row->n_deps = (int64_t)k->g.n_deps;
	ret_row->n_unbuildable = 0;
	for (size_t i = 0; i < k->g.names.n; i++)
		ret_row->n_unbuildable += k->g.packages[i].unbuildable != NULL;
}
