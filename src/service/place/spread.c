/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the instances of a service are. Each service keeps a short list of its workers. The one
 * that is placed now has it spread out over all of them; one that is on many workers keeps that,
 * since to spread it out each time would cost more than to find its place.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/place/internal.h"

#define OWN_SHARE 16 /* on more than one in so many workers, it has its own */
#define OWN_LEAST 4

void spread_init(struct spread *s, const struct auction *a)
{
	s->service = NO_SERVICE;
	s->forest = NULL;
	s->marks = xcalloc(a->n_workers + 1, sizeof *s->marks);
	s->zones = xcalloc(a->n_zones + 1, sizeof *s->zones);
}

void spread_release(struct spread *s)
{
	free(s->marks);
	free(s->zones);
}

/* The least of all workers of a tree, and how many have more. */
static void zone_recount(struct spread *s, const struct tree *t, uint32_t zone)
{
	struct zone_count *z = &s->zones[zone];
	uint32_t least = UINT32_MAX;

	z->n_above = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t n = s->marks[t->workers[i]].n;

		if (n < least) {
			z->n_above = i;
			least = n;
		} else if (n > least) {
			z->n_above++;
		}
	}
	z->floor = least;
}

static void spread_clear(struct auction *a, struct spread *s)
{
	const struct hosts *h;

	if (s->service == NO_SERVICE)
		return;
	h = &a->hosts[s->service];
	for (size_t i = 0; i < h->n; i++)
		s->marks[h->v[i].worker] = (struct mark){0};
	memset(s->zones, 0, a->n_zones * sizeof *s->zones);
	s->service = NO_SERVICE;
}

static void spread_fill(struct auction *a, struct spread *s, uint32_t service)
{
	const struct hosts *h = &a->hosts[service];

	for (uint32_t i = 0; i < h->n; i++) {
		uint32_t worker = h->v[i].worker;

		s->marks[worker] = (struct mark){h->v[i].n, i + 1};
		s->zones[a->workers[worker].zone_number].has += h->v[i].n;
	}
	s->service = service;
	s->forest = NULL;
}

/* Only its own workers can be above nothing; a tree full of them is counted whole. */
static void spread_floors(struct auction *a, struct spread *s, const struct forest *f)
{
	const struct hosts *h = &a->hosts[s->service];

	for (uint32_t z = 0; z < a->n_zones; z++)
		s->zones[z].floor = s->zones[z].n_above = 0;
	for (size_t i = 0; i < h->n; i++)
		if (f->leaves[h->v[i].worker] != NO_LEAF)
			s->zones[a->workers[h->v[i].worker].zone_number].n_above++;
	for (uint32_t z = 0; z < a->n_zones; z++)
		if (f->trees[z].n && s->zones[z].n_above == f->trees[z].n)
			zone_recount(s, &f->trees[z], z);
	s->forest = f;
	s->build = f->build;
}

static void own_make(struct auction *a, uint32_t service)
{
	struct hosts *h = &a->hosts[service];

	h->own = xcalloc(1, sizeof *h->own);
	spread_init(h->own, a);
	spread_fill(a, h->own, service);
}

void service_spread(struct auction *a, uint32_t service, const struct forest *f)
{
	struct hosts *h = &a->hosts[service];

	if (!h->own && h->n > OWN_LEAST && h->n > a->n_workers / OWN_SHARE) {
		if (a->common.service == service)
			spread_clear(a, &a->common);
		own_make(a, service);
	}
	a->now = h->own ? h->own : &a->common;
	if (a->now->service != service) {
		spread_clear(a, a->now);
		spread_fill(a, a->now, service);
	}
	if (a->now->forest != f || a->now->build != f->build)
		spread_floors(a, a->now, f);
}

static struct spread *spread_of(struct auction *a, uint32_t service)
{
	if (a->hosts[service].own)
		return a->hosts[service].own;
	return a->common.service == service ? &a->common : NULL;
}

/* After a worker's count has changed from `was`. */
static void floor_follow(struct auction *a, struct spread *s, uint32_t worker, uint32_t was)
{
	const struct forest *f = s->forest;
	uint32_t zone = a->workers[worker].zone_number, n = s->marks[worker].n;
	struct zone_count *z = &s->zones[zone];

	if (!f || f->build != s->build || f->leaves[worker] == NO_LEAF)
		return;
	if (n > was) {
		if (was == z->floor && ++z->n_above == f->trees[zone].n)
			zone_recount(s, &f->trees[zone], zone);
	} else if (n < z->floor) {
		zone_recount(s, &f->trees[zone], zone);
	} else if (n == z->floor && was > n) {
		z->n_above--;
	}
}

static uint32_t host_of(struct auction *a, uint32_t service, uint32_t worker)
{
	const struct hosts *h = &a->hosts[service];
	const struct spread *s = spread_of(a, service);
	uint32_t i = 0;

	if (s)
		return s->marks[worker].host;
	while (i < h->n && h->v[i].worker != worker)
		i++;
	return i < h->n ? i + 1 : 0;
}

static void count_change(struct auction *a, uint32_t service, uint32_t host, int64_t by)
{
	struct host *v = &a->hosts[service].v[host - 1];
	struct spread *s = spread_of(a, service);
	uint32_t was = v->n;

	v->n = (uint32_t)(v->n + by);
	if (!s)
		return;
	s->marks[v->worker] = (struct mark){v->n, host};
	s->zones[a->workers[v->worker].zone_number].has += (uint32_t)by;
	floor_follow(a, s, v->worker, was);
}

void service_add(struct auction *a, uint32_t service, uint32_t worker, uint32_t n)
{
	struct hosts *h = &a->hosts[service];
	uint32_t host = host_of(a, service, worker);

	if (n == 0)
		return;
	if (!host) {
		GROW(h->v, h->cap, h->n + 1);
		h->v[h->n++] = (struct host){worker, 0};
		host = (uint32_t)h->n;
	}
	count_change(a, service, host, n);
}

/* The last of the list takes the place of one that is gone. */
void service_take(struct auction *a, uint32_t service, uint32_t worker)
{
	struct hosts *h = &a->hosts[service];
	uint32_t host = host_of(a, service, worker);
	struct spread *s = spread_of(a, service);

	MUST(host);
	count_change(a, service, host, -1);
	if (h->v[host - 1].n)
		return;
	h->v[host - 1] = h->v[--h->n];
	if (!s)
		return;
	s->marks[worker].host = 0;
	if (host <= h->n)
		s->marks[h->v[host - 1].worker].host = host;
}
