/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was measured goes before what was said; who has neither takes as long as those that were
 * measured do on average. Rows come in the order of their jobs' numbers, so both are gone through
 * once.
 */
#include "api/groups/weigh.h"

#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/mem.h"
#include "model/objects/built.h"

#define PAGE 1000
#define ROWS_MAX 200000 /* of a series: whatever else it has is not looked at */

struct named {
	int64_t number;
	uint32_t job;
};

struct weighing {
	const struct submit_group *g;
	struct named *names; /* by number */
	size_t n, at;        /* jobs before `at` were found, or were never built */
	uint32_t *weights;   /* 0: not known */
	uint64_t sum, n_known;
	struct same_build *same; /* of each job; NULL: nobody wants to know */
};

static int by_number(const void *x, const void *y)
{
	const struct named *a = x, *b = y;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->job < b->job ? -1 : a->job > b->job;
}

static void compare(struct weighing *w, uint32_t job, const struct built_row *row)
{
	struct input_digest was;

	if (w->same && w->g->digests && row->digest.n &&
	    hex_take(row->digest, was.bytes, sizeof was) && input_digest_is_known(&was) &&
	    !memcmp(&was, &w->g->digests[job], sizeof was))
		w->same[job] = (struct same_build){row->group, row->task};
}

static void take(struct weighing *w, const struct built_row *row)
{
	while (w->at < w->n && w->names[w->at].number < row->job)
		w->at++;
	for (size_t i = w->at; i < w->n && w->names[i].number == row->job; i++) {
		uint32_t job = w->names[i].job;

		if (!str_eq(w->g->names[job], row->job_name))
			continue;
		w->weights[job] = row->duration_ms < 1            ? 1
		                  : row->duration_ms < UINT32_MAX ? (uint32_t)row->duration_ms
		                                                  : UINT32_MAX;
		compare(w, job, row);
		w->sum += w->weights[job];
		w->n_known++;
	}
}

static void read_series(struct weighing *w, struct store_reader *r)
{
	struct part_query q = {.table = &built_table,
	    .object = (rid)built_number(w->g->series),
	    .oldest_first = true,
	    .limit = PAGE};
	struct part_page page = {.n = PAGE};
	struct arena a = {0};

	for (size_t n = 0; n < ROWS_MAX && page.n == PAGE; n += page.n) {
		const struct built_row *rows;

		arena_reset(&a);
		if (store_parts(r, &q, &a, &page) != 0)
			break; /* the order is only a matter of speed */
		rows = page.rows;
		for (size_t i = 0; i < page.n; i++)
			if (str_eq(rows[i].series_name, w->g->series))
				take(w, &rows[i]);
		if (page.n)
			q.from = rows[page.n - 1].job + 1;
	}
	arena_release(&a);
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
	w.names = xcalloc(n, sizeof *w.names);
	w.weights = arena_zalloc(a, n * sizeof *w.weights);
	for (size_t i = 0; i < n; i++)
		w.names[i] = (struct named){built_number(g->names[i]), (uint32_t)i};
	qsort(w.names, n, sizeof *w.names, by_number);
	read_series(&w, r);
	free(w.names);
	if (!w.n_known)
		return;
	fill_in(&w);
	g->weights = w.weights;
}
