/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest run that still fails in the same way: classes of faults are switched off, the
 * world gets smaller, and of the planned faults chunks and then single ones are left out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/faults/plan.h"
#include "sim/runs.h"

#define TRIES_MOST 1500

struct search {
	struct sim_options best;
	unsigned *only; /* best's list */
	int invariant, tries;
	FILE *progress;
};

static bool still_fails(struct search *s, const struct sim_options *o)
{
	if (s->tries >= TRIES_MOST)
		return false;
	s->tries++;
	if (s->progress)
		fprintf(s->progress, "\rshrinking: %d runs, %zu faults, %d workers ", s->tries,
		    s->best.n_only, s->best.workers);
	return run_apart(o, s->invariant == 34) == s->invariant;
}

static bool try_number(struct search *s, size_t offset, int to)
{
	struct sim_options o = s->best;
	int *field = (int *)((char *)&o + offset);

	if (to < 1 || to >= *field)
		return false;
	*field = to;
	if (!still_fails(s, &o))
		return false;
	s->best = o;
	return true;
}

static bool lower(struct search *s, size_t offset)
{
	bool any = false;

	for (;;) {
		int now = *(int *)((char *)&s->best + offset);

		if (try_number(s, offset, 1) || try_number(s, offset, now / 2) ||
		    try_number(s, offset, now * 3 / 4) || try_number(s, offset, now - 1))
			any = true;
		else
			return any;
	}
}

static bool drop_classes(struct search *s)
{
	bool any = false;

	for (int i = 0; i < N_CLASSES; i++) {
		struct sim_options o = s->best;

		if (!(o.faults & 1u << i))
			continue;
		o.faults &= ~(1u << i);
		if (!still_fails(s, &o))
			continue;
		s->best = o;
		any = true;
	}
	return any;
}

/* Without the part [from, from + n) of the list. */
static bool drop_part(struct search *s, size_t from, size_t n)
{
	struct sim_options o = s->best;
	unsigned *list = xcalloc(o.n_only + 1, sizeof *list);
	size_t left = 0;

	for (size_t i = 0; i < o.n_only; i++)
		if (i < from || i >= from + n)
			list[left++] = o.only[i];
	o.only = list;
	o.n_only = left;
	if (!still_fails(s, &o)) {
		free(list);
		return false;
	}
	free(s->only);
	s->only = list;
	s->best = o;
	return true;
}

static bool drop_faults(struct search *s)
{
	bool any = false;

	for (size_t n = s->best.n_only; n >= 1; n /= 2)
		for (size_t from = 0; from < s->best.n_only;) {
			if (drop_part(s, from, n))
				any = true;
			else
				from += n;
		}
	return any;
}

/* The whole list, so that single ones can be left out. */
static void list_faults(struct search *s)
{
	struct sim_options drawn = s->best;
	struct world *w;
	const unsigned *numbers;
	size_t n;

	sim_options_draw(&drawn);
	w = world_new(&drawn);
	n = sim_plan_numbers(w->plan, &numbers);
	s->only = xcalloc(n + 1, sizeof *s->only);
	memcpy(s->only, numbers, n * sizeof *numbers);
	world_free(w);
	s->best.workers = drawn.workers;
	s->best.minutes = drawn.minutes;
	s->best.tasks = drawn.tasks;
	s->best.faults = drawn.classes;
	s->best.is_listed = true;
	s->best.has_only = true;
	s->best.only = s->only;
	s->best.n_only = n;
}

void shrink(struct sim_options *o, int invariant, FILE *progress)
{
	struct search s = {.best = *o, .invariant = invariant, .progress = progress};
	bool any = true;

	list_faults(&s);
	while (any) {
		any = drop_faults(&s);
		any |= drop_classes(&s);
		any |= lower(&s, offsetof(struct sim_options, tasks));
		any |= lower(&s, offsetof(struct sim_options, workers));
		any |= lower(&s, offsetof(struct sim_options, minutes));
	}
	if (progress)
		fputs("\r\033[K", progress);
	*o = s.best;
}
