/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was measured goes before what was said; who has neither takes as long as those that were
 * measured do on average.
 */
#include "api/groups/weigh.h"

#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/mem.h"
#include "model/objects/built.h"

#define PAGE 1000
#define ROWS_MAX 200000 /* of a series: whatever else it has is not looked at */

struct weighing {
	const struct submit_group *g;
	size_t n;
	uint32_t *weights; /* 0: not known */
	uint64_t sum, n_known;
	struct same_build *same; /* of each job; NULL: nobody wants to know */
};

/* -- the walk */

static int by_number(const void *x, const void *y)
{
	const struct numbered_job *a = x, *b = y;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->job < b->job ? -1 : a->job > b->job;
}

void series_walk_name(struct series_walk *w, uint32_t job, struct str name)
{
	w->jobs[w->n++] = (struct numbered_job){built_number(name), job};
}

static void meet(struct series_walk *w, const struct built_row *row)
{
	while (w->at < w->n && w->jobs[w->at].number < row->job)
		w->at++;
	for (size_t i = w->at; i < w->n && w->jobs[i].number == row->job; i++)
		w->found(w->arg, w->jobs[i].job, row);
}

int series_walk_step(struct series_walk *w, struct store_reader *r, struct arena *a)
{
	const struct part_query q = {.table = &built_table,
	    .object = (rid)built_number(w->series),
	    .from = w->from,
	    .oldest_first = true,
	    .limit = PAGE};
	const struct built_row *rows;
	struct part_page page;
	int rc;

	if (!w->is_sorted && w->n)
		qsort(w->jobs, w->n, sizeof *w->jobs, by_number);
	w->is_sorted = true;
	arena_reset(a);
	rc = store_parts(r, &q, a, &page);
	if (rc)
		return rc;
	rows = page.rows;
	for (size_t i = 0; i < page.n; i++)
		if (str_eq(rows[i].series_name, w->series))
			meet(w, &rows[i]);
	if (page.n)
		w->from = rows[page.n - 1].job + 1;
	w->n_rows += page.n;
	w->is_over = page.n < PAGE || w->n_rows >= ROWS_MAX;
	return 0;
}

/* -- weights */

static void compare(struct weighing *w, uint32_t job, const struct built_row *row)
{
	struct input_digest was;

	if (w->same && w->g->digests && row->digest.n &&
	    hex_take(row->digest, was.bytes, sizeof was) && input_digest_is_known(&was) &&
	    !memcmp(&was, &w->g->digests[job], sizeof was))
		w->same[job] = (struct same_build){row->group, row->task};
}

static void take(void *arg, uint32_t job, const struct built_row *row)
{
	struct weighing *w = arg;

	if (!str_eq(w->g->names[job], row->job_name))
		return;
	w->weights[job] = row->duration_ms < 1            ? 1
	                  : row->duration_ms < UINT32_MAX ? (uint32_t)row->duration_ms
	                                                  : UINT32_MAX;
	compare(w, job, row);
	w->sum += w->weights[job];
	w->n_known++;
}

/* The order is only a matter of speed: what cannot be read is not known. */
static void read_series(struct weighing *w, struct store_reader *r)
{
	struct series_walk walk = {.series = w->g->series,
	    .jobs = xcalloc(w->n, sizeof *walk.jobs),
	    .found = take,
	    .arg = w};
	struct arena a = {0};

	for (size_t i = 0; i < w->n; i++)
		series_walk_name(&walk, (uint32_t)i, w->g->names[i]);
	while (!walk.is_over && series_walk_step(&walk, r, &a) == 0)
		;
	arena_release(&a);
	free(walk.jobs);
}

static void fill_in(struct weighing *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (!w->weights[i])
			w->weights[i] =
			    w->g->weights ? w->g->weights[i] : (uint32_t)(w->sum / w->n_known);
}

void weigh_group(struct submit_group *g, size_t n, struct store_reader *r, struct arena *a,
    struct same_build *ret_same)
{
	struct weighing w = {.g = g, .n = n, .same = ret_same};

	if (!g->series.n || !n || !g->names)
		return;
	w.weights = arena_zalloc(a, n * sizeof *w.weights);
	read_series(&w, r);
	if (!w.n_known)
		return;
	fill_in(&w);
	g->weights = w.weights;
}
