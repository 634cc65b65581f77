/* SPDX-License-Identifier: Apache-2.0 */
/* Workers that always take the first of what can start, in virtual time. */
#include <stdlib.h>

#include "base/data/heap.h"
#include "base/mem.h"
#include "graph/dag/measure.h"

struct shop {
	const struct dag *d;
	const struct measures *m;
	enum pick pick;
	struct dag_users users;
	struct heap_node *nodes;    /* a job is in one heap at a time */
	struct heap ready, running; /* by what comes first; by when it ends */
	struct heap *held;          /* by lane: ready, but the lane is full */
	uint32_t *lane_running;
	uint32_t *missing; /* needs that have not ended */
	uint32_t idle;
	int64_t now;
};

static void shop_release(struct shop *s)
{
	for (uint32_t i = 0; i <= s->d->n_lanes; i++)
		heap_release(&s->held[i]);
	heap_release(&s->ready);
	heap_release(&s->running);
	dag_users_release(&s->users);
	free(s->nodes);
	free(s->held);
	free(s->lane_running);
	free(s->missing);
}

static uint32_t take(struct shop *s, struct heap *h)
{
	struct heap_node *node = heap_min(h);

	heap_del(h, node);
	return (uint32_t)(node - s->nodes);
}

static uint32_t lane_of(const struct shop *s, uint32_t job)
{
	return s->d->lane ? s->d->lane[job] : 0;
}

static bool lane_is_full(const struct shop *s, uint32_t lane)
{
	return lane && s->d->lanes[lane] && s->lane_running[lane] >= s->d->lanes[lane];
}

static void make_ready(struct shop *s, struct heap *in, uint32_t job)
{
	heap_put(in, &s->nodes[job], s->pick == PICK_LONGEST ? -s->m->remaining[job] : 0, job);
}

static void start(struct shop *s, uint32_t job)
{
	heap_put(&s->running, &s->nodes[job], s->now + dag_duration(s->d, job), job);
	s->lane_running[lane_of(s, job)]++;
	s->idle--;
}

static void start_all(struct shop *s)
{
	while (s->idle && heap_min(&s->ready)) {
		uint32_t job = take(s, &s->ready), lane = lane_of(s, job);

		if (lane_is_full(s, lane))
			make_ready(s, &s->held[lane], job);
		else
			start(s, job);
	}
}

static void end(struct shop *s, uint32_t job)
{
	uint32_t lane = lane_of(s, job);

	s->idle++;
	s->lane_running[lane]--;
	if (heap_min(&s->held[lane]))
		make_ready(s, &s->ready, take(s, &s->held[lane]));
	for (uint32_t e = s->users.first[job]; e < s->users.first[job + 1]; e++)
		if (--s->missing[s->users.users[e]] == 0)
			make_ready(s, &s->ready, s->users.users[e]);
}

/* Everything that ends at the next moment at which something does. */
static void end_next(struct shop *s)
{
	struct heap_node *first = heap_min(&s->running);

	s->now = first->at;
	while ((first = heap_min(&s->running)) && first->at == s->now)
		end(s, take(s, &s->running));
}

int64_t dag_makespan(
    const struct dag *d, const struct measures *m, uint32_t workers, enum pick pick)
{
	AUTO(shop_release) struct shop s = {.d = d, .m = m, .pick = pick, .idle = workers};

	MUST(workers > 0);
	dag_users_make(d, &s.users);
	s.nodes = xcalloc((size_t)d->n + 1, sizeof *s.nodes);
	s.held = xcalloc((size_t)d->n_lanes + 1, sizeof *s.held);
	s.lane_running = xcalloc((size_t)d->n_lanes + 1, sizeof *s.lane_running);
	s.missing = xcalloc((size_t)d->n + 1, sizeof *s.missing);
	for (uint32_t j = 0; j < d->n; j++)
		if ((s.missing[j] = d->first[j + 1] - d->first[j]) == 0)
			make_ready(&s, &s.ready, j);
	for (start_all(&s); heap_min(&s.running); start_all(&s))
		end_next(&s);
	return s.now;
}
