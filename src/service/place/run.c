/* SPDX-License-Identifier: Apache-2.0 */
/* One batch: in which order, in which zones, and who wins. */
#include <stdlib.h>

#include "base/mem.h"
#include "service/place/internal.h"

#define HARD_ABOVE 1 /* hashed zones: up to this index another zone will do */

/* Index 0 of all services, then tasks, then index 1, 2, … */
static uint32_t rank_of(const struct place_work *w)
{
	if (w->service == NO_SERVICE)
		return 1;
	return w->index == 0 ? 0 : w->index + 1;
}

struct turn {
	uint32_t rank, which;
	int64_t memory;
	uint32_t service, index;
};

static int by_turn(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->memory != y->memory)
		return x->memory > y->memory ? -1 : 1;
	if (x->service != y->service)
		return x->service < y->service ? -1 : 1;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return x->which < y->which ? -1 : x->which > y->which;
}

static void order_make(
    const struct auction *a, const struct place_work *work, uint32_t n, uint32_t *ret_order)
{
	struct turn *turns = xcalloc(n + 1, sizeof *turns);

	for (uint32_t i = 0; i < n; i++)
		turns[i] = (struct turn){rank_of(&work[i]), i,
		    a->shapes[work[i].shape].amount[PLACE_MEMORY], work[i].service, work[i].index};
	qsort(turns, n, sizeof *turns, by_turn);
	for (uint32_t i = 0; i < n; i++)
		ret_order[i] = turns[i].which;
	free(turns);
}

/* FNV-1a: where a service's first zone is depends on its name alone. */
static uint32_t name_hash(struct str s)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * 16777619u;
	return h;
}

/* The zone of an instance, where each index has its own. */
static uint32_t zone_preferred(const struct auction *a, uint32_t service, uint32_t index)
{
	if (a->n_preferred == 0)
		return NO_ZONE;
	return a->preferred[(name_hash(a->service_names[service]) % a->n_preferred + index) %
	                    a->n_preferred];
}

/* The zones with the fewest instances of the service together, then those with the next few. */
static void seek_evenly(const struct auction *a, const struct forest *f, struct seek *q)
{
	const struct zone_count *zones = a->now->zones;
	int64_t done = -1;

	while (q->worker == NO_WORKER) {
		int64_t least = INT64_MAX;

		for (uint32_t z = 0; z < a->n_zones; z++)
			if (f->trees[z].n && zones[z].has > done && zones[z].has < least)
				least = zones[z].has;
		if (least == INT64_MAX)
			return;
		for (uint32_t z = 0; z < a->n_zones; z++)
			if (zones[z].has == least)
				tree_seek(q, f, z);
		done = least;
	}
}

static void seek_anywhere(const struct auction *a, const struct forest *f, struct seek *q)
{
	for (uint32_t z = 0; z < a->n_zones; z++)
		tree_seek(q, f, z);
}

static void seek(struct auction *a, const struct place_work *w, struct seek *q, uint32_t *ret_must)
{
	struct forest *f = forest_get(a, a->shapes[w->shape].want);
	uint32_t zone;

	if (q->is_task) {
		seek_anywhere(a, f, q);
		return;
	}
	service_spread(a, w->service, f);
	if (!a->config.zones_are_hashed) {
		seek_evenly(a, f, q);
		return;
	}
	zone = zone_preferred(a, w->service, w->index);
	if (zone != NO_ZONE)
		tree_seek(q, f, zone);
	if (w->index > HARD_ABOVE)
		*ret_must = zone;
	else
		seek_evenly(a, f, q);
}

static bool starts_are_full(const struct auction *a)
{
	return a->config.starts_max && a->starting >= a->config.starts_max;
}

static void take(
    struct auction *a, const struct place_work *w, const struct seek *q, struct place_result *ret)
{
	const struct place_worker *to = &a->workers[q->worker];

	ret->worker = q->worker;
	ret->code = PLACE_OK;
	ret->colocated = q->is_task ? to->tasks : q->colocated;
	ret->zone_had = q->is_task ? 0 : a->now->zones[to->zone_number].has;
	ret->score = q->is_task ? q->score - ((int64_t)to->tasks << TASK_SHIFT) : q->score;
	ret->score /= 3;
	worker_charge(a, q->worker, &a->shapes[w->shape], q->is_task, 1, 1);
	if (!q->is_task)
		service_add(a, w->service, q->worker, 1);
}

static void place(struct auction *a, const struct place_work *w, struct place_result *ret)
{
	struct work_shape *s = &a->shapes[w->shape];
	struct seek q = {
	    .a = a, .amount = s->amount, .is_task = w->service == NO_SERVICE, .worker = NO_WORKER};

	*ret =
	    (struct place_result){.worker = NO_WORKER, .zone_must = NO_ZONE, .code = PLACE_NO_ROOM};
	if (s->failed_in == a->batch)
		return;
	seek(a, w, &q, &ret->zone_must);
	if (q.worker == NO_WORKER) {
		if (ret->zone_must == NO_ZONE)
			s->failed_in = a->batch;
	} else if (starts_are_full(a)) {
		ret->code = PLACE_STARTS;
	} else {
		take(a, w, &q, ret);
	}
}

void auction_run(struct auction *a, const struct place_work *work, uint32_t n,
    struct place_result *ret_results, uint32_t *ret_order)
{
	a->batch++;
	order_make(a, work, n, ret_order);
	for (uint32_t i = 0; i < n; i++)
		place(a, &work[ret_order[i]], &ret_results[ret_order[i]]);
}
