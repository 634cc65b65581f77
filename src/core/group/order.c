/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of importance: what unlocks the longest remaining path comes first, and of equals what
 * was given first. A job's own weight counts, so what it needs always comes before it.
 */
#include "core/group/group.h"

#include <stdlib.h>
#include <string.h>

struct weighed {
	uint64_t path; /* the job's own weight, and the longest path behind it */
	uint32_t job;
};

struct sorting {
	const struct order *o;
	uint32_t *first, *needed_by; /* by need: first[n + 1] */
	uint32_t *open;
	uint32_t *sorted; /* needs before what needs them */
	uint32_t n_sorted;
};

static void index_edges(struct sorting *s, struct arena *a)
{
	const struct order *o = s->o;
	uint32_t *at;

	s->first = arena_zalloc(a, (o->n + 2) * sizeof *s->first);
	s->open = arena_zalloc(a, (o->n + 1) * sizeof *s->open);
	s->needed_by = arena_alloc(a, (o->n_edges + 1) * sizeof *s->needed_by);
	at = s->first + 1;
	for (size_t i = 0; i < o->n_edges; i++) {
		at[o->edges[i].need + 1]++;
		s->open[o->edges[i].job]++;
	}
	for (uint32_t i = 0; i < o->n; i++)
		at[i + 1] += at[i];
	/* at[i] is where job i's begin; it moves on to where they end, which is first[i + 1] */
	for (size_t i = 0; i < o->n_edges; i++)
		s->needed_by[at[o->edges[i].need]++] = o->edges[i].job;
}

static void sort_by_needs(struct sorting *s, struct arena *a)
{
	s->sorted = arena_alloc(a, (s->o->n + 1) * sizeof *s->sorted);
	for (uint32_t i = 0; i < s->o->n; i++)
		if (!s->open[i])
			s->sorted[s->n_sorted++] = i;
	for (uint32_t k = 0; k < s->n_sorted; k++) {
		uint32_t job = s->sorted[k];

		for (uint32_t e = s->first[job]; e < s->first[job + 1]; e++)
			if (--s->open[s->needed_by[e]] == 0)
				s->sorted[s->n_sorted++] = s->needed_by[e];
	}
}

static uint64_t longest_behind(const struct sorting *s, const struct weighed *w, uint32_t job)
{
	uint64_t longest = 0;

	for (uint32_t e = s->first[job]; e < s->first[job + 1]; e++)
		if (w[s->needed_by[e]].path > longest)
			longest = w[s->needed_by[e]].path;
	return longest;
}

static int more_important(const void *x, const void *y)
{
	const struct weighed *a = x, *b = y;

	if (a->path != b->path)
		return a->path > b->path ? -1 : 1;
	return a->job < b->job ? -1 : a->job > b->job;
}

/* Back along needs that are in a cycle, or behind one: after so many steps it is in one. */
static uint32_t some_in_cycle(const struct sorting *s)
{
	const struct order *o = s->o;
	uint32_t job = 0;

	while (!s->open[job])
		job++;
	for (uint32_t steps = 0; steps < o->n && steps < 1000; steps++)
		for (size_t i = 0; i < o->n_edges; i++)
			if (o->edges[i].job == job && s->open[o->edges[i].need]) {
				job = o->edges[i].need;
				break;
			}
	return job;
}

bool order_jobs(const struct order *o, struct arena *a, uint32_t **ret_order, uint32_t *ret_job)
{
	struct sorting s = {.o = o};
	struct weighed *w = arena_alloc(a, (o->n + 1) * sizeof *w);

	index_edges(&s, a);
	sort_by_needs(&s, a);
	if (s.n_sorted < o->n) {
		*ret_job = some_in_cycle(&s);
		return false;
	}
	for (uint32_t k = o->n; k-- > 0;) {
		uint32_t job = s.sorted[k], own = o->weights ? o->weights[job] : 1;

		w[job] = (struct weighed){(own ? own : 1) + longest_behind(&s, w, job), job};
	}
	qsort(w, o->n, sizeof *w, more_important);
	*ret_order = s.sorted;
	for (uint32_t i = 0; i < o->n; i++)
		s.sorted[i] = w[i].job;
	return true;
}
