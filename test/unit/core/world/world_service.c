/* SPDX-License-Identifier: Apache-2.0 */
/* Domains, services, their revisions and instances in the stories' store: by their keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "world.h"

static struct world_rows *rows_of(struct world *w, const struct row_table *t)
{
	if (t == &domain_table)
		return &w->domains;
	if (t == &service_table)
		return &w->services;
	if (t == &revision_table)
		return &w->revisions;
	return t == &instance_table ? &w->instances : NULL;
}

static size_t place_of(const struct world_rows *r, const struct row_table *t, const void *row)
{
	size_t i = 0;

	while (i < r->n && row_compare(t, t->n_key, r->v[i], row) < 0)
		i++;
	return i;
}

static bool is_at(const struct world_rows *r, const struct row_table *t, const void *row, size_t i)
{
	return i < r->n && row_compare(t, t->n_key, r->v[i], row) == 0;
}

bool world_put_part(struct world *w, const struct row_table *t, const void *row)
{
	struct world_rows *r = rows_of(w, t);
	size_t i;

	if (!r)
		return false;
	i = place_of(r, t, row);
	if (!is_at(r, t, row, i)) {
		GROW(r->v, r->cap, r->n + 1);
		memmove(&r->v[i + 1], &r->v[i], (r->n++ - i) * sizeof *r->v);
	}
	r->v[i] = row_new(&w->rows_arena, t, row);
	return true;
}

void world_put_service_state(struct world *w, const void *row)
{
	size_t i = place_of(&w->services, &service_table, row);

	assert_true(is_at(&w->services, &service_table, row, i));
	row_take_state(&service_table, w->services.v[i], row);
}

static void take_out(struct world_rows *r, size_t i)
{
	memmove(&r->v[i], &r->v[i + 1], (--r->n - i) * sizeof *r->v);
}

void world_drop_part(struct world *w, const struct row_table *t, const void *row)
{
	struct world_rows *r = rows_of(w, t);
	size_t i = place_of(r, t, row);

	if (is_at(r, t, row, i))
		take_out(r, i);
}

static void drop_all(struct world_rows *r, rid id)
{
	for (size_t i = r->n; i-- > 0;)
		if (*(const rid *)r->v[i] == id)
			take_out(r, i);
}

void world_drop_service(struct world *w, const struct row_table *t, rid id)
{
	if (t == &domain_table)
		drop_all(&w->domains, id);
	if (t != &service_table)
		return;
	drop_all(&w->services, id);
	drop_all(&w->revisions, id);
	drop_all(&w->instances, id);
}

static void load(struct world *w, const struct row_table *t)
{
	struct world_rows *r = rows_of(w, t);

	for (size_t i = 0; i < r->n; i++)
		world_step(w, &(struct event){.kind = EV_LOAD_ROW, .load = {t, r->v[i]}});
}

void world_load_services(struct world *w)
{
	load(w, &domain_table);
	load(w, &service_table);
	load(w, &revision_table);
	load(w, &instance_table);
}

rid world_last_service(const struct world *w, rid last)
{
	for (size_t i = 0; i < w->services.n; i++)
		if (*(const rid *)w->services.v[i] > last)
			last = *(const rid *)w->services.v[i];
	for (size_t i = 0; i < w->domains.n; i++)
		if (*(const rid *)w->domains.v[i] > last)
			last = *(const rid *)w->domains.v[i];
	return last;
}

void world_free_services(struct world *w)
{
	free(w->domains.v);
	free(w->services.v);
	free(w->revisions.v);
	free(w->instances.v);
}
