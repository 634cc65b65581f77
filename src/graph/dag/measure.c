/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/dag/measure.h"

#include <stdlib.h>

#include "base/mem.h"

void measures_release(struct measures *m)
{
	free(m->level);
	free(m->remaining);
	free(m->path);
	*m = (struct measures){0};
}

static void find_levels(const struct dag *d, const uint32_t *order, struct measures *m)
{
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t job = order[i], level = 1;

		for (uint32_t e = d->first[job]; e < d->first[job + 1]; e++)
			if (m->level[d->needs[e]] >= level)
				level = m->level[d->needs[e]] + 1;
		m->level[job] = level;
		if (level > m->longest_chain)
			m->longest_chain = level;
	}
}

static void find_width(const struct dag *d, struct measures *m)
{
	uint32_t *width = xcalloc((size_t)m->longest_chain + 1, sizeof *width);

	for (uint32_t j = 0; j < d->n; j++)
		if (++width[m->level[j]] > m->widest_level)
			m->widest_level = width[m->level[j]];
	m->at_once = m->longest_chain ? width[1] : 0;
	free(width);
}

/* From the last job backwards, each telling its needs how much comes after them. */
static void find_remaining(const struct dag *d, const uint32_t *order, struct measures *m)
{
	for (uint32_t i = d->n; i-- > 0;) {
		uint32_t job = order[i];

		m->remaining[job] += dag_duration(d, job);
		m->total += dag_duration(d, job);
		if (m->remaining[job] > m->critical)
			m->critical = m->remaining[job];
		for (uint32_t e = d->first[job]; e < d->first[job + 1]; e++)
			if (m->remaining[d->needs[e]] < m->remaining[job])
				m->remaining[d->needs[e]] = m->remaining[job];
	}
}

/* The first of these with so much before it; there is one. */
static uint32_t first_with(
    const struct measures *m, const uint32_t *jobs, uint32_t n, int64_t remaining)
{
	uint32_t i = 0;

	while (i < n && m->remaining[jobs ? jobs[i] : i] != remaining)
		i++;
	MUST(i < n);
	return jobs ? jobs[i] : i;
}

static void find_path(const struct dag *d, struct measures *m)
{
	AUTO(dag_users_release) struct dag_users u = {0};
	int64_t left = m->critical;
	uint32_t job, from;

	if (d->n == 0)
		return;
	dag_users_make(d, &u);
	m->path = xcalloc(m->longest_chain, sizeof *m->path);
	job = first_with(m, NULL, d->n, left);
	for (;;) {
		m->path[m->n_path++] = job;
		left -= dag_duration(d, job);
		if (left == 0)
			return;
		from = u.first[job];
		job = first_with(m, u.users + from, u.first[job + 1] - from, left);
	}
}

void dag_measure(const struct dag *d, struct measures *ret_measures)
{
	struct measures m = {0};
	uint32_t *order = xcalloc((size_t)d->n + 1, sizeof *order);

	MUST(dag_sort(d, order) == d->n);
	m.level = xcalloc((size_t)d->n + 1, sizeof *m.level);
	m.remaining = xcalloc((size_t)d->n + 1, sizeof *m.remaining);
	find_levels(d, order, &m);
	find_width(d, &m);
	find_remaining(d, order, &m);
	find_path(d, &m);
	free(order);
	*ret_measures = m;
}
