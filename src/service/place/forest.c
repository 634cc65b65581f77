/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For each want, the workers that fit it: a tree for each zone, whose nodes know what their
 * workers have at best. A change of a worker goes into a log, and each forest reads on in it when
 * it is used next. Only so many wants have trees at a time; those used longest ago give way.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/place/internal.h"

#define LOG_MAX 65536 /* entries; then every forest is built anew when it is used next */

void forest_release(struct auction *a, struct forest *f)
{
	for (uint32_t z = 0; f->trees && z < a->n_zones; z++) {
		free(f->trees[z].nodes);
		free(f->trees[z].fixed);
		free(f->trees[z].workers);
	}
	free(f->trees);
	free(f->leaves);
	*f = (struct forest){0};
}

static struct node_of_tree node_of_worker(const struct auction *a, const struct place_worker *w)
{
	struct node_of_tree v;

	for (int r = 0; r < N_PLACE_RESOURCES; r++)
		v.free[r] = worker_room(w, (enum place_resource)r);
	v.load = worker_load(a, w);
	v.task_load = worker_task_load(a, w);
	return v;
}

static void node_join(struct node_of_tree *nodes, uint32_t i)
{
	const struct node_of_tree *l = &nodes[2 * i], *r = &nodes[2 * i + 1];
	struct node_of_tree *v = &nodes[i];

	for (int k = 0; k < N_PLACE_RESOURCES; k++)
		v->free[k] = l->free[k] > r->free[k] ? l->free[k] : r->free[k];
	v->load = l->load < r->load ? l->load : r->load;
	v->task_load = l->task_load < r->task_load ? l->task_load : r->task_load;
}

static void tree_fill(const struct auction *a, struct tree *t)
{
	static const struct node_of_tree none = {{-1, -1, -1, -1}, INT64_MAX, INT64_MAX};

	for (uint32_t i = 0; i < t->cap; i++)
		t->nodes[t->cap + i] =
		    i < t->n ? node_of_worker(a, &a->workers[t->workers[i]]) : none;
	for (uint32_t i = t->cap - 1; i > 0; i--)
		node_join(t->nodes, i);
}

static void tree_refresh(const struct auction *a, struct tree *t, uint32_t leaf)
{
	uint32_t i = t->cap + leaf;

	t->nodes[i] = node_of_worker(a, &a->workers[t->workers[leaf]]);
	while (i >>= 1)
		node_join(t->nodes, i);
}

static struct node_fixed fixed_join(const struct node_fixed *l, const struct node_fixed *r)
{
	struct node_fixed v = {.first = l->first < r->first ? l->first : r->first};

	for (int k = 0; k < N_PLACE_RESOURCES; k++)
		v.largest[k] = l->largest[k] > r->largest[k] ? l->largest[k] : r->largest[k];
	return v;
}

static void tree_fix(const struct auction *a, struct tree *t)
{
	for (uint32_t i = 0; i < t->cap; i++) {
		struct node_fixed *v = &t->fixed[t->cap + i];

		*v = (struct node_fixed){.first = UINT32_MAX};
		if (i < t->n) {
			v->first = t->workers[i];
			memcpy(v->largest, a->workers[v->first].total, sizeof v->largest);
		}
	}
	for (uint32_t i = t->cap - 1; i > 0; i--)
		t->fixed[i] = fixed_join(&t->fixed[2 * i], &t->fixed[2 * i + 1]);
}

/* Memory and disk of a worker, to put those of like size side by side. */
struct size {
	int64_t memory, disk;
	uint32_t worker;
};

static int by_memory(const void *a, const void *b)
{
	const struct size *x = a, *y = b;

	if (x->memory != y->memory)
		return x->memory < y->memory ? -1 : 1;
	return x->worker < y->worker ? -1 : x->worker > y->worker;
}

static int by_disk(const void *a, const void *b)
{
	const struct size *x = a, *y = b;

	if (x->disk != y->disk)
		return x->disk < y->disk ? -1 : 1;
	return x->worker < y->worker ? -1 : x->worker > y->worker;
}

/* Halves by memory and by disk in turn, as the tree halves its leaves. */
static void order_halves(struct size *v, uint32_t n, uint32_t cap, bool is_by_disk)
{
	while (n > 1) {
		uint32_t left = cap / 2 < n ? cap / 2 : n;

		qsort(v, n, sizeof *v, is_by_disk ? by_disk : by_memory);
		order_halves(v + left, n - left, cap / 2, !is_by_disk);
		n = left;
		cap /= 2;
		is_by_disk = !is_by_disk;
	}
}

static void tree_order(const struct auction *a, struct tree *t)
{
	struct size *v = xcalloc(t->n, sizeof *v);

	for (uint32_t i = 0; i < t->n; i++) {
		const struct place_worker *w = &a->workers[t->workers[i]];

		v[i] = (struct size){w->total[PLACE_MEMORY], w->total[PLACE_DISK], t->workers[i]};
	}
	order_halves(v, t->n, t->cap, false);
	for (uint32_t i = 0; i < t->n; i++)
		t->workers[i] = v[i].worker;
	free(v);
}

static void tree_make(const struct auction *a, struct tree *t)
{
	while ((1u << t->depth) < t->n)
		t->depth++;
	t->cap = 1u << t->depth;
	t->nodes = xcalloc((size_t)t->cap * 2, sizeof *t->nodes);
	t->fixed = xcalloc((size_t)t->cap * 2, sizeof *t->fixed);
	tree_order(a, t);
	tree_fix(a, t);
	tree_fill(a, t);
}

static void forest_build(struct auction *a, struct forest *f)
{
	const struct place_want *want = &a->wants[f->want];

	f->trees = xcalloc(a->n_zones + 1, sizeof *f->trees);
	f->leaves = xcalloc(a->n_workers + 1, sizeof *f->leaves);
	for (uint32_t i = 0; i < a->n_workers; i++) {
		const struct place_worker *w = &a->workers[i];

		f->leaves[i] = NO_LEAF;
		if (w->state == PLACE_READY && want_fits(want, w)) {
			struct tree *t = &f->trees[w->zone_number];

			GROW(t->workers, t->workers_cap, t->n + 1);
			t->workers[t->n++] = i;
		}
	}
	for (uint32_t z = 0; z < a->n_zones; z++) {
		struct tree *t = &f->trees[z];

		if (t->n)
			tree_make(a, t);
		f->n_nodes += 2 * t->cap;
		for (uint32_t leaf = 0; leaf < t->n; leaf++)
			f->leaves[t->workers[leaf]] = leaf;
	}
	f->synced = a->n_log;
	f->is_built = true;
	f->build = ++a->builds;
	a->n_nodes += f->n_nodes;
}

static void forest_sync(struct auction *a, struct forest *f)
{
	if (a->n_log - f->synced > a->n_workers) {
		for (uint32_t z = 0; z < a->n_zones; z++)
			if (f->trees[z].n)
				tree_fill(a, &f->trees[z]);
		f->synced = a->n_log;
	}
	for (; f->synced < a->n_log; f->synced++) {
		uint32_t worker = a->log[f->synced];

		if (f->leaves[worker] != NO_LEAF)
			tree_refresh(
			    a, &f->trees[a->workers[worker].zone_number], f->leaves[worker]);
	}
}

void forest_evict(struct auction *a, struct forest *f)
{
	a->n_nodes -= f->n_nodes;
	a->forest_of[f->want] = 0;
	forest_release(a, f);
}

static struct forest *forest_oldest(struct auction *a)
{
	struct forest *oldest = NULL;

	for (struct forest *f = a->forests; f < a->forests + FORESTS_MAX; f++)
		if (f->is_built && (!oldest || f->last_use < oldest->last_use))
			oldest = f;
	return oldest;
}

/* Somewhere free; the oldest go while there are too many, or they are too large together. */
static struct forest *forest_room(struct auction *a)
{
	struct forest *f = a->forests;

	while (a->n_nodes > NODES_MAX)
		forest_evict(a, forest_oldest(a));
	while (f < a->forests + FORESTS_MAX && f->is_built)
		f++;
	if (f == a->forests + FORESTS_MAX) {
		f = forest_oldest(a);
		forest_evict(a, f);
	}
	return f;
}

struct forest *forest_get(struct auction *a, uint32_t want)
{
	size_t was = a->forest_cap;
	struct forest *f;

	GROW(a->forest_of, a->forest_cap, want + 1);
	memset(a->forest_of + was, 0, (a->forest_cap - was) * sizeof *a->forest_of);
	if (a->forest_of[want]) {
		f = &a->forests[a->forest_of[want] - 1];
		forest_sync(a, f);
	} else {
		f = forest_room(a);
		f->want = want;
		a->forest_of[want] = (uint32_t)(f - a->forests) + 1;
		forest_build(a, f);
	}
	f->last_use = ++a->uses;
	return f;
}

/* What is in the log's beginning again would not be read by those that are behind: they begin
   anew, by being farther behind than there are workers. */
static void log_restart(struct auction *a)
{
	for (struct forest *f = a->forests; f < a->forests + FORESTS_MAX; f++) {
		if (!f->is_built)
			continue;
		for (uint32_t z = 0; z < a->n_zones; z++)
			if (f->trees[z].n)
				tree_fill(a, &f->trees[z]);
		f->synced = 0;
	}
	a->n_log = 0;
}

void auction_log(struct auction *a, uint32_t worker)
{
	if (a->n_log >= LOG_MAX)
		log_restart(a);
	GROW(a->log, a->log_cap, a->n_log + 1);
	a->log[a->n_log++] = worker;
}
