/* SPDX-License-Identifier: Apache-2.0 */
/* What the auction knows: workers with their room, zones, and who holds what where. */
#include "service/place/auction.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/place/internal.h"

const char *const place_resource_names[N_PLACE_RESOURCES] = {
    [PLACE_MEMORY] = "memory",
    [PLACE_DISK] = "disk",
    [PLACE_CPU] = "cpu",
    [PLACE_INSTANCES] = "instances",
};
const char *const place_worker_state_names[N_PLACE_WORKER_STATES] = {
    [PLACE_READY] = "ready", [PLACE_DRAINING] = "draining", [PLACE_SILENT] = "silent"};
const char *const place_code_names[N_PLACE_CODES] = {
#define X(code, name) [code] = name,
    PLACE_CODES(X)
#undef X
};
const struct place_config place_config_default = {.starting_weight = SCORE_ONE / 4};

static int by_name(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Zones of workers and of the configuration, by name, each once. */
static void zones_number(struct auction *a)
{
	uint32_t n = 0;

	a->zones = xcalloc(a->n_workers + a->config.n_zones + 1, sizeof *a->zones);
	for (uint32_t i = 0; i < a->n_workers; i++)
		a->zones[n++] = a->workers[i].zone;
	for (uint32_t i = 0; i < a->config.n_zones; i++)
		a->zones[n++] = a->config.zones[i];
	qsort(a->zones, n, sizeof *a->zones, by_name);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || !str_eq(a->zones[i], a->zones[a->n_zones - 1]))
			a->zones[a->n_zones++] = a->zones[i];
	/* the names outlive the texts of workers that are updated */
	for (uint32_t i = 0; i < a->n_zones; i++)
		a->zones[i].p = xstrndup(a->zones[i].n ? a->zones[i].p : "", a->zones[i].n);
}

static uint32_t zone_find(const struct auction *a, struct str name)
{
	const struct str *z = bsearch(&name, a->zones, a->n_zones, sizeof name, by_name);

	MUST(z);
	return (uint32_t)(z - a->zones);
}

static void zones_prefer(struct auction *a)
{
	bool all = a->config.n_zones == 0;

	a->n_preferred = all ? a->n_zones : a->config.n_zones;
	a->preferred = xcalloc(a->n_preferred + 1, sizeof *a->preferred);
	for (uint32_t i = 0; i < a->n_preferred; i++)
		a->preferred[i] = all ? i : zone_find(a, a->config.zones[i]);
}

static void workers_take(struct auction *a, const struct place_worker *workers)
{
	uint32_t *ranks; /* by zone: the next one */

	a->workers = xcalloc(a->n_workers + 1, sizeof *a->workers);
	if (a->n_workers)
		memcpy(a->workers, workers, a->n_workers * sizeof *a->workers);
	zones_number(a);
	ranks = xcalloc(a->n_zones + 1, sizeof *ranks);
	for (uint32_t i = 0; i < a->n_workers; i++) {
		struct place_worker *w = &a->workers[i];

		memset(w->reserved, 0, sizeof w->reserved);
		w->starting = w->tasks = 0;
		w->zone_number = zone_find(a, w->zone);
		w->zone = a->zones[w->zone_number];
		w->rank = ranks[w->zone_number]++;
	}
	free(ranks);
}

struct auction *auction_new(const struct place_config *config, const struct place_worker *workers,
    uint32_t n_workers, const struct str *names, uint32_t n_services)
{
	struct auction *a = xcalloc(1, sizeof *a);

	a->config = *config;
	a->n_workers = n_workers;
	a->n_services = n_services;
	a->service_names = names;
	workers_take(a, workers);
	zones_prefer(a);
	a->hosts = xcalloc(n_services + 1, sizeof *a->hosts);
	spread_init(&a->common, a);
	return a;
}

void auction_free(struct auction *a)
{
	if (!a)
		return;
	for (int i = 0; i < FORESTS_MAX; i++)
		forest_release(a, &a->forests[i]);
	for (uint32_t i = 0; i < a->n_services; i++) {
		free(a->hosts[i].v);
		if (a->hosts[i].own)
			spread_release(a->hosts[i].own);
		free(a->hosts[i].own);
	}
	for (uint32_t i = 0; i < a->n_zones; i++)
		free((char *)a->zones[i].p);
	names_release(&a->want_names);
	free(a->workers);
	free(a->zones);
	free(a->preferred);
	free(a->hosts);
	free(a->wants);
	free(a->shapes);
	free(a->free_shapes);
	free(a->forest_of);
	free(a->log);
	spread_release(&a->common);
	free(a);
}

uint32_t auction_shape(
    struct auction *a, const int64_t amount[N_PLACE_RESOURCES], const struct place_want *want)
{
	uint32_t n = a->n_free ? a->free_shapes[--a->n_free] : a->n_shapes++;
	struct work_shape *s;

	GROW(a->shapes, a->shape_cap, n + 1);
	s = &a->shapes[n];
	memcpy(s->amount, amount, sizeof s->amount);
	s->amount[PLACE_INSTANCES] = 1;
	s->want = want_intern(a, want);
	s->failed_in = 0;
	return n;
}

void worker_charge(struct auction *a, uint32_t worker, const struct work_shape *s, bool is_task,
    uint32_t count, uint32_t starting)
{
	struct place_worker *w = &a->workers[worker];

	for (int r = 0; r < N_PLACE_RESOURCES; r++)
		w->reserved[r] += s->amount[r] * count;
	w->starting += starting;
	a->starting += starting;
	if (is_task)
		w->tasks += count;
	auction_log(a, worker);
}

void auction_hold(struct auction *a, uint32_t worker, uint32_t service, uint32_t shape,
    uint32_t count, uint32_t starting)
{
	worker_charge(a, worker, &a->shapes[shape], service == NO_SERVICE, count, starting);
	if (service != NO_SERVICE)
		service_add(a, service, worker, count);
}

void auction_drop(
    struct auction *a, uint32_t worker, uint32_t service, uint32_t shape, bool was_starting)
{
	struct place_worker *w = &a->workers[worker];

	for (int r = 0; r < N_PLACE_RESOURCES; r++)
		w->reserved[r] -= a->shapes[shape].amount[r];
	if (service == NO_SERVICE)
		w->tasks--;
	else
		service_take(a, service, worker);
	if (was_starting)
		auction_started(a, worker);
	else
		auction_log(a, worker);
}

void auction_started(struct auction *a, uint32_t worker)
{
	MUST(a->workers[worker].starting > 0);
	a->workers[worker].starting--;
	a->starting--;
	auction_log(a, worker);
}

int64_t worker_room(const struct place_worker *w, enum place_resource r)
{
	int64_t free = w->total[r] - w->reserved[r];

	return free > 0 ? free : 0;
}

const struct place_worker *auction_worker(const struct auction *a, uint32_t worker)
{
	return &a->workers[worker];
}

uint32_t auction_workers(const struct auction *a)
{
	return a->n_workers;
}

struct str auction_zone_name(const struct auction *a, uint32_t zone)
{
	return a->zones[zone];
}

uint32_t auction_starting(const struct auction *a)
{
	return a->starting;
}
