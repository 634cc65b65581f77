/* SPDX-License-Identifier: Apache-2.0 */
/* What is left of a group: a client that asks for it, and the judge of what it got. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/group/retry.h"
#include "sim/group/group.h"

static bool is_built(const struct truth_group *g, int job)
{
	return g->jobs[job] && g->jobs[job]->stored_status == TASK_SUCCEEDED;
}

/* -- the client */

static bool is_whole(const struct truth_group *g)
{
	for (int i = 0; g->wish && i < g->wish->n; i++)
		if (!g->jobs[i] || !task_is_ended(g->jobs[i]->stored_status))
			return false;
	return g->wish != NULL;
}

static struct task_row taken_of(const struct truth_group *g, int job)
{
	const struct truth_task *t = g->jobs[job];

	return (struct task_row){.id = t->id,
	    .state = {.status = TASK_SUCCEEDED,
	        .token = t->stored_token,
	        .attempt = t->stored_attempt,
	        .started_ms = 1,
	        .ended_ms = 1,
	        .result = g->results[job].n ? sim_result(t->stored_token) : STR_NULL}};
}

static void fill(struct group_wish *p, const struct truth_group *g, const uint8_t *marks)
{
	for (int i = 0; i < g->wish->n; i++) {
		if (marks[i] == RETRY_NOT)
			continue;
		p->origin[p->n] = i;
		if (marks[i] == RETRY_TAKEN)
			p->taken[p->n] = taken_of(g, i);
		p->n++;
	}
}

bool group_wish_left(struct group_wish *p, const struct truth_group *g, struct rng *rng)
{
	struct arena a = {0};
	uint8_t built[SUBMIT_MOST], marks[SUBMIT_MOST];
	struct retry_graph graph = {.is_built = built};
	struct group_edge *edges;
	size_t n_jobs, n;

	if (!group_is_ended(g->row.state) || !is_whole(g) || !g->wish->n)
		return false;
	graph.n = (uint32_t)g->wish->n;
	graph.edges = g->wish->edges;
	graph.n_edges = g->wish->n_edges;
	for (int i = 0; i < g->wish->n; i++)
		built[i] = p->was_built[i] = is_built(g, i);
	p->parent = g;
	p->from = sim_chance(rng, 500) ? -1 : (int)rng_below(rng, (uint64_t)g->wish->n);
	n = retry_choose(&graph, p->from < 0 ? RETRY_FAILED : RETRY_FROM, (uint32_t)p->from, marks);
	edges = retry_edges(&graph, marks, &a, &p->n_edges, &n_jobs);
	memcpy(p->edges, edges, p->n_edges * sizeof *edges);
	p->policy = g->wish->policy;
	p->n = 0;
	fill(p, g, marks);
	arena_release(&a);
	return n > 0;
}

/* The job goes only by the success of others that are taken, too. */
static bool may_be_taken(const struct group_wish *p, int job)
{
	for (size_t i = 0; i < p->n_edges; i++) {
		const struct group_edge *e = &p->edges[i];

		if ((int)e->job == job && (e->condition != EDGE_SUCCESS || !p->taken[e->need].id))
			return false;
	}
	return true;
}

void group_wish_reuse(struct group_wish *p, const struct truth_group *g, uint64_t wanted)
{
	bool more = g->wish && g->wish->n && !p->has_cycle;

	while (more) {
		more = false;
		for (int i = 0; i < p->n; i++) {
			int from = i % g->wish->n;

			if (p->taken[i].id || !(wanted >> i & 1) || !is_built(g, from) ||
			    !may_be_taken(p, i))
				continue;
			p->taken[i] = taken_of(g, from);
			more = true;
		}
	}
}

void group_submit_left(const struct group_wish *p, struct submit_group *g, struct arena *a)
{
	const struct task_state **taken = arena_zalloc(a, SUBMIT_MOST * sizeof *taken);

	for (int i = 0; i < p->n; i++)
		if (p->taken[i].id)
			taken[i] = retry_taken(&p->taken[i], STR("T"), STR("G"), a);
	g->taken = taken;
	g->retried_of = p->parent ? p->parent->id : 0;
}

/* -- the judge */

/* By what the client of the first group asked for, in the slowest way. */
static void must_again(const struct group_wish *p, bool *again)
{
	const struct group_wish *all = p->parent->wish;
	bool has_changed = true;

	for (int i = 0; i < all->n; i++)
		again[i] = p->from < 0 ? !p->was_built[i] : i == p->from;
	while (has_changed) {
		has_changed = false;
		for (size_t i = 0; i < all->n_edges; i++) {
			const struct group_edge *e = &all->edges[i];
			bool unbuilt = again[e->job] && !p->was_built[e->need];

			if (again[e->need] ? !again[e->job] : unbuilt) {
				again[again[e->need] ? e->job : e->need] = true;
				has_changed = true;
			}
		}
	}
}

void judge_group_left(struct world *w, const struct truth_group *g)
{
	const struct group_wish *p = g->wish;
	bool again[SUBMIT_MOST] = {0};
	int n = 0, n_again = 0;

	if (!p || !p->parent)
		return;
	must_again(p, again);
	for (int i = 0; i < p->parent->wish->n; i++)
		n_again += again[i];
	for (int i = 0; i < p->n; i++) {
		n += !p->taken[i].id;
		if (!!p->taken[i].id == again[p->origin[i]])
			world_fail(w, 48, "group %u: its job %d is %s", g->number, i,
			    again[p->origin[i]] ? "not built again" : "built again");
	}
	if (n != n_again || g->row.retried_of != p->parent->id)
		world_fail(w, 48, "group %u is not what is left of group %u", g->number,
		    p->parent->number);
}

void judge_group_taken(
    struct world *w, const struct truth_group *g, int job, const struct task_row *row)
{
	const struct task_row *from = &g->wish->taken[job];

	if (!from->id || g->deleted)
		return;
	if (row->state.status != TASK_SUCCEEDED || row->state.token != from->state.token ||
	    !str_eq(row->state.result, from->state.result))
		world_fail(w, 48, "group %u: job %d is not as it was built", g->number, job);
}
