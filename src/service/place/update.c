/* SPDX-License-Identifier: Apache-2.0 */
/* An auction that is kept: what changes between two batches. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/place/internal.h"

/* Which workers fit, and in which order the trees have them, goes by these. */
static bool is_alike(const struct place_worker *x, const struct place_worker *y)
{
	return x->state == y->state && str_eq(x->target, y->target) &&
	       str_eq(x->labels, y->labels) && str_eq(x->tags, y->tags) &&
	       str_eq(x->optional_tags, y->optional_tags) &&
	       memcmp(x->total, y->total, sizeof x->total) == 0;
}

static void forests_drop(struct auction *a)
{
	for (struct forest *f = a->forests; f < a->forests + FORESTS_MAX; f++)
		if (f->is_built)
			forest_evict(a, f);
}

void auction_update(struct auction *a, uint32_t worker, const struct place_worker *now)
{
	struct place_worker *w = &a->workers[worker];
	bool same = is_alike(w, now);
	uint32_t zone = w->zone_number, rank = w->rank;

	MUST(str_eq(w->zone, now->zone));
	a->starting = a->starting - w->starting + now->starting;
	*w = *now;
	w->zone = a->zones[zone];
	w->zone_number = zone;
	w->rank = rank;
	if (!same)
		forests_drop(a);
	auction_log(a, worker);
}

void auction_count(struct auction *a, uint32_t worker, uint32_t service, int by)
{
	if (by > 0)
		service_add(a, service, worker, (uint32_t)by);
	for (; by < 0; by++)
		service_take(a, service, worker);
}

void auction_grow(struct auction *a, uint32_t n_services)
{
	if (n_services <= a->n_services)
		return;
	a->hosts = xrealloc(a->hosts, ((size_t)n_services + 1) * sizeof *a->hosts);
	memset(a->hosts + a->n_services, 0,
	    ((size_t)n_services + 1 - a->n_services) * sizeof *a->hosts);
	a->n_services = n_services;
}

void auction_shape_gone(struct auction *a, uint32_t shape)
{
	GROW(a->free_shapes, a->free_cap, a->n_free + 1);
	a->free_shapes[a->n_free++] = shape;
}
