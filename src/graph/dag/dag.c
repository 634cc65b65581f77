/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/dag/dag.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void dag_release(struct dag *d)
{
	free(d->first);
	free(d->needs);
	free(d->why);
	free(d->duration);
	free(d->lane);
	free(d->lanes);
	*d = (struct dag){0};
}

void dag_users_make(const struct dag *d, struct dag_users *ret_users)
{
	uint32_t n_edges = d->n ? d->first[d->n] : 0;
	uint32_t *first = xcalloc((size_t)d->n + 2, sizeof *first);
	uint32_t *users = xcalloc((size_t)n_edges + 1, sizeof *users);

	for (uint32_t e = 0; e < n_edges; e++)
		first[d->needs[e] + 2]++;
	for (uint32_t j = 0; j < d->n; j++)
		first[j + 2] += first[j + 1];
	for (uint32_t j = 0; j < d->n; j++)
		for (uint32_t e = d->first[j]; e < d->first[j + 1]; e++)
			users[first[d->needs[e] + 1]++] = j;
	*ret_users = (struct dag_users){first, users};
}

void dag_users_release(struct dag_users *u)
{
	free(u->first);
	free(u->users);
	*u = (struct dag_users){0};
}

uint32_t dag_sort(const struct dag *d, uint32_t *ret_order)
{
	AUTO(dag_users_release) struct dag_users u = {0};
	uint32_t *missing = xcalloc((size_t)d->n + 1, sizeof *missing), n = 0;

	dag_users_make(d, &u);
	for (uint32_t j = 0; j < d->n; j++)
		if ((missing[j] = d->first[j + 1] - d->first[j]) == 0)
			ret_order[n++] = j;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t e = u.first[ret_order[i]]; e < u.first[ret_order[i] + 1]; e++)
			if (--missing[u.users[e]] == 0)
				ret_order[n++] = u.users[e];
	free(missing);
	return n;
}

/* The first need that is in no order, which every job that is in none has. */
static uint32_t need_unsorted(const struct dag *d, const uint8_t *sorted, uint32_t job)
{
	uint32_t e = d->first[job];

	while (sorted[d->needs[e]])
		e++;
	MUST(e < d->first[job + 1]);
	return d->needs[e];
}

uint32_t *dag_loop(const struct dag *d, size_t *ret_n)
{
	uint32_t *order = xcalloc((size_t)d->n + 1, sizeof *order), n = dag_sort(d, order), at = 0;
	uint8_t *sorted = xcalloc((size_t)d->n + 1, 1);
	uint32_t *place = xcalloc((size_t)d->n + 1, sizeof *place), from;

	for (uint32_t i = 0; i < n; i++)
		sorted[order[i]] = 1;
	while (at < d->n && sorted[at])
		at++;
	MUST(at < d->n);
	for (n = 0; place[at] == 0; at = need_unsorted(d, sorted, at)) {
		order[n] = at;
		place[at] = ++n;
	}
	from = place[at] - 1;
	*ret_n = n - from;
	memmove(order, order + from, (n - from) * sizeof *order);
	free(sorted);
	free(place);
	return order;
}
