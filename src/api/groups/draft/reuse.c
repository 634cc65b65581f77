/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A digest goes by all that it needs, so equal ones mean equal inputs all the way down. A job that
 * goes by another's failure, or by any end, has none: what it does depends on how that one ended.
 * Nor has any that needs such a job. A job is taken only if all that it needs are taken, too: then
 * what it is shown of them is what it was built with.
 */
#include "api/groups/draft/reuse.h"

#include <stdlib.h>

#include "base/data/sha256.h"
#include "base/mem.h"
#include "core/group/order.h"
#include "core/group/retry.h"

/* The jobs, each after all that it needs, and what each needs. */
struct walk {
	uint32_t *order;
	uint32_t *first, *edges; /* of each job, in the group's list */
};

/* False: they need each other in a circle, which the brain refuses. */
static bool walk_make(const struct draft *d, struct arena *a, struct walk *w)
{
	const struct submit_group *g = &d->group;
	const struct order o = {g->edges, g->n_edges, NULL, (uint32_t)d->n};
	uint32_t job;

	for (size_t i = 0; i < g->n_edges; i++)
		if (g->edges[i].job >= d->n || g->edges[i].need >= d->n)
			return false;
	if (!order_jobs(&o, a, &w->order, &job))
		return false;
	w->first = arena_zalloc(a, (d->n + 2) * sizeof *w->first);
	w->edges = arena_alloc(a, (g->n_edges + 1) * sizeof *w->edges);
	for (size_t i = 0; i < g->n_edges; i++)
		w->first[g->edges[i].job + 2]++;
	for (size_t i = 2; i < d->n + 2; i++)
		w->first[i] += w->first[i - 1];
	for (size_t i = 0; i < g->n_edges; i++)
		w->edges[w->first[g->edges[i].job + 1]++] = (uint32_t)i;
	return true;
}

static int by_name(const void *x, const void *y, void *group)
{
	const struct submit_group *g = group;
	uint32_t a = g->edges[*(const uint32_t *)x].need, b = g->edges[*(const uint32_t *)y].need;
	int by = str_cmp(g->names[a], g->names[b]);

	return by ? by : a < b ? -1 : a > b;
}

/* Throttles say when it may start, and not what it does. */
static void add_place(struct sha256 *s, struct str need)
{
	struct str line;

	while (need.n && str_next(&need, '\n', &line))
		if (line.n && line.p[0] != '%')
			sha256_add_str(s, line);
	sha256_add_str(s, STR(""));
}

static void add_own(struct sha256 *s, const struct draft *d, uint32_t job)
{
	const struct task_spec *t = &d->tasks[job].spec;
	const struct queue_row *q = d->rows[d->jobs[job].queue];

	sha256_add_str(s, STR("reeve job 1"));
	sha256_add_str(s, d->group.names[job]);
	sha256_add_str(s, t->body);
	add_place(s, t->need);
	sha256_add_str(s, q->name);
	sha256_add_str(s, q->plugin);
	sha256_add_str(s, q->env);
	sha256_add_str(s, q->run);
	add_place(s, q->need);
	sha256_add_str(s, d->outside ? d->outside[job] : STR_NULL);
}

static void digest_one(
    const struct draft *d, const struct walk *w, uint32_t job, struct input_digest *all)
{
	const struct submit_group *g = &d->group;
	uint32_t from = w->first[job], to = w->first[job + 1], last = UINT32_MAX;
	uint8_t digest[SHA256_BYTES];
	struct sha256 s;

	qsort_r(w->edges + from, to - from, sizeof *w->edges, by_name, (void *)g);
	sha256_begin(&s);
	add_own(&s, d, job);
	for (uint32_t i = from; i < to; i++) {
		const struct group_edge *e = &g->edges[w->edges[i]];

		if (e->condition != EDGE_SUCCESS || !input_digest_is_known(&all[e->need]))
			return;
		if (e->need == last)
			continue; /* twice is once */
		last = e->need;
		sha256_add_str(&s, g->names[e->need]);
		sha256_add(&s, all[e->need].bytes, sizeof all->bytes);
	}
	sha256_end(&s, digest);
	memcpy(all[job].bytes, digest, sizeof all->bytes);
}

void reuse_digest(struct draft *d)
{
	AUTO(arena_release) struct arena scratch = {0};
	struct input_digest *all;
	struct walk w;

	if (!d->group.series.n || !d->n || !walk_make(d, &scratch, &w))
		return;
	all = arena_zalloc(&d->arena, d->n * sizeof *all);
	for (size_t i = 0; i < d->n; i++)
		digest_one(d, &w, w.order[i], all);
	d->group.digests = all;
}

/* The row of what was built may have gone, or lie outside the limits of who asks. */
static bool is_usable(
    const struct draft *d, uint32_t job, const struct same_build *same, const struct task_row *row)
{
	const struct queue_row *q = d->rows[d->jobs[job].queue];

	return !row->damage && row->state.status == TASK_SUCCEEDED &&
	       row->spec.owner.kind == KIND_GROUP && row->spec.owner.id == same->group &&
	       row->spec.queue == q->id && str_eq(row->spec.name, d->group.names[job]) &&
	       (!d->limit || token_covers(d->limit, q->name, row->spec.labels));
}

static bool needs_are_taken(const struct draft *d, const struct walk *w, uint32_t job,
    const struct task_state *const *taken)
{
	for (uint32_t i = w->first[job]; i < w->first[job + 1]; i++)
		if (!taken[d->group.edges[w->edges[i]].need])
			return false;
	return true;
}

static const struct task_state *take_one(struct draft *d, uint32_t job,
    const struct same_build *same, struct store_reader *r, struct arena *scratch)
{
	char task[ID_TEXT], group[ID_TEXT];
	struct task_state *taken;
	struct task_row row;

	arena_reset(scratch);
	if (store_task_get(r, same->task, scratch, &row) || !is_usable(d, job, same, &row))
		return NULL;
	taken = retry_taken(&row, str_of(id_format(&d->ids, same->task, task)),
	    str_of(id_format(&d->ids, same->group, group)), &d->arena);
	taken->reason = arena_strf(&d->arena, STR_FMT ": same input", STR_ARG(taken->reason));
	return taken;
}

void reuse_take(struct draft *d, const struct same_build *same, struct store_reader *r)
{
	AUTO(arena_release) struct arena scratch = {0}, passing = {0};
	const struct task_state **taken;
	struct walk w;

	if (!d->group.digests || !walk_make(d, &scratch, &w))
		return;
	taken = arena_zalloc(&d->arena, (d->n + 1) * sizeof *taken);
	for (size_t i = 0; i < d->n; i++) {
		uint32_t job = w.order[i];

		if (same[job].task && needs_are_taken(d, &w, job, taken))
			taken[job] = take_one(d, job, &same[job], r, &passing);
	}
	d->group.taken = taken;
}
