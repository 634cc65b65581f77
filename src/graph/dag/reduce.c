/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaving out what is implied: an edge to a job that is also reached through another need says
 * nothing more. Jobs are looked for 512 at a time: one pass over all edges tells, of these, which
 * each job reaches, so the memory is 64 bytes a job however long the chains are.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/dag/dag.h"

#define BLOCK 512
#define WORDS (BLOCK / 64)
#define WORK_MAX 20000000000u /* edges looked at: half a minute */

struct reduction {
	const struct dag *d;
	uint8_t mask;
	uint32_t *order, *place; /* both ways */
	uint64_t (*reach)[WORDS];
	uint8_t *keep;
};

static bool in_block(const struct reduction *r, uint32_t job, uint32_t from, uint32_t *ret_bit)
{
	*ret_bit = r->place[job] - from;
	return r->place[job] >= from && *ret_bit < BLOCK;
}

/* What lies before the block reaches nothing in it, and holds what an earlier pass has found. */
static void gather(const struct reduction *r, uint32_t job, uint32_t from, uint64_t all[WORDS])
{
	const struct dag *d = r->d;

	memset(all, 0, sizeof(uint64_t) * WORDS);
	for (uint32_t e = d->first[job]; e < d->first[job + 1]; e++)
		if ((d->why[e] & r->mask) && r->place[d->needs[e]] >= from)
			for (size_t w = 0; w < WORDS; w++)
				all[w] |= r->reach[d->needs[e]][w];
}

/* What its needs reach, and then the needs themselves. */
static void look(struct reduction *r, uint32_t job, uint32_t from)
{
	const struct dag *d = r->d;
	uint64_t all[WORDS];
	uint32_t bit;

	gather(r, job, from, all);
	for (uint32_t e = d->first[job]; e < d->first[job + 1]; e++)
		if ((d->why[e] & r->mask) && in_block(r, d->needs[e], from, &bit) &&
		    (all[bit / 64] >> bit % 64 & 1))
			r->keep[e] = 0;
	for (uint32_t e = d->first[job]; e < d->first[job + 1]; e++)
		if ((d->why[e] & r->mask) && in_block(r, d->needs[e], from, &bit))
			all[bit / 64] |= (uint64_t)1 << bit % 64;
	memcpy(r->reach[job], all, sizeof all);
}

uint8_t *dag_reduce(const struct dag *d, uint8_t mask)
{
	uint32_t n_edges = d->n ? d->first[d->n] : 0;
	struct reduction r = {.d = d, .mask = mask};

	if ((uint64_t)n_edges * (d->n / BLOCK + 1) * WORDS > WORK_MAX)
		return NULL;
	r.order = xcalloc((size_t)d->n + 1, sizeof *r.order);
	r.place = xcalloc((size_t)d->n + 1, sizeof *r.place);
	r.reach = xcalloc((size_t)d->n + 1, sizeof *r.reach);
	r.keep = xmalloc((size_t)n_edges + 1);
	memset(r.keep, 1, (size_t)n_edges + 1);
	MUST(dag_sort(d, r.order) == d->n);
	for (uint32_t i = 0; i < d->n; i++)
		r.place[r.order[i]] = i;
	for (uint32_t from = 0; from < d->n; from += BLOCK)
		for (uint32_t i = from; i < d->n; i++)
			look(&r, r.order[i], from);
	free(r.order);
	free(r.place);
	free(r.reach);
	return r.keep;
}
