/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From ordered components to jobs. Jobs are made one after the other, and each edge goes from a
 * job to one that was made before it: so no plan has a loop.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/limits.h"
#include "graph/plan/internal.h"

#define NO_JOB UINT32_MAX

struct edge {
	uint32_t to;
	uint8_t why;
};

struct edges {
	struct edge *v;
	size_t n, cap;
};

/* The users of a job: a list in a pool, newest first. */
struct user {
	uint32_t job, next;
};

struct unroll {
	struct plan *x;
	uint32_t *latest;  /* of each node: the job made last; NO_JOB: none yet */
	uint32_t *users;   /* of each node: in the pool, the users of that job */
	struct user *pool; /* 0 is no user */
	size_t n_pool, pool_cap;
	uint32_t *place; /* of each job and node: where it is in the edges being gathered, + 1 */
	struct edges in, out; /* needs of the job that is being made, inside and outside */
	size_t n_edges, edge_cap, why_cap, n_outside, outside_cap, outside_why_cap;
};

static uint32_t comp_size(const struct plan *x, uint32_t c)
{
	return x->comp_first[c + 1] - x->comp_first[c];
}

static uint32_t comp_rounds(const struct plan *x, uint32_t c)
{
	return comp_size(x, c) > 1 ? x->rounds : 1;
}

static int count_jobs(struct plan *x, uint64_t *ret_jobs)
{
	uint64_t jobs = 0;

	for (uint32_t c = 0; c < x->n_comps; c++)
		jobs += (uint64_t)comp_size(x, c) * comp_rounds(x, c);
	if (jobs > PLAN_JOBS_MAX) {
		problem_set(x->p, ERR_TOO_LARGE, "this plan would have %llu jobs; it may have %d",
		    (unsigned long long)jobs, PLAN_JOBS_MAX);
		return problem_hint(x->p, "take fewer rounds, or touch fewer packages");
	}
	*ret_jobs = jobs;
	return 0;
}

/* Adds an edge to those of one job, or its reason to the edge that is there. */
static void gather(struct edges *e, uint32_t *place, uint32_t to, uint8_t why)
{
	if (place[to]) {
		e->v[place[to] - 1].why |= why;
		return;
	}
	GROW(e->v, e->cap, e->n + 1);
	e->v[e->n++] = (struct edge){to, why};
	place[to] = (uint32_t)e->n;
}

static int edge_cmp(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return (x->to > y->to) - (x->to < y->to);
}

static void settle(struct edges *e, uint32_t *place)
{
	for (size_t i = 0; i < e->n; i++)
		place[e->v[i].to] = 0;
	if (e->n)
		qsort(e->v, e->n, sizeof *e->v, edge_cmp);
}

static void gather_needs(struct unroll *u, uint32_t node)
{
	struct plan *x = u->x;

	for (uint32_t e = x->first[node]; e < x->first[node + 1]; e++)
		if (u->latest[x->on[e]] != NO_JOB)
			gather(&u->in, u->place, u->latest[x->on[e]], x->kinds[e]);
	for (uint32_t i = u->latest[node] == NO_JOB ? 0 : u->users[node]; i; i = u->pool[i].next)
		gather(&u->in, u->place, u->pool[i].job, WHY_ORDER);
	settle(&u->in, u->place);
	for (uint32_t e = x->first[node]; e < x->first[node + 1]; e++)
		if (u->latest[x->on[e]] == NO_JOB)
			gather(&u->out, u->place, x->on[e], x->kinds[e]);
	settle(&u->out, u->place);
}

/* Of a package that is built again, it matters who uses the present round. */
static void note_user(struct unroll *u, uint32_t on, uint32_t job)
{
	GROW(u->pool, u->pool_cap, u->n_pool + 1);
	u->pool[u->n_pool] = (struct user){job, u->users[on]};
	u->users[on] = (uint32_t)u->n_pool++;
}

static void note_uses(struct unroll *u, uint32_t node, uint32_t job)
{
	struct plan *x = u->x;

	for (uint32_t e = x->first[node]; e < x->first[node + 1]; e++) {
		uint32_t on = x->on[e];

		if (u->latest[on] != NO_JOB && comp_size(x, x->comp[on]) > 1 &&
		    x->m->jobs[u->latest[on]].round < x->rounds)
			note_user(u, on, job);
	}
}

static void write_edges(struct unroll *u)
{
	struct manifest *m = u->x->m;

	GROW(m->dag.needs, u->edge_cap, u->n_edges + u->in.n + 1);
	GROW(m->dag.why, u->why_cap, u->n_edges + u->in.n + 1);
	for (size_t i = 0; i < u->in.n; i++, u->n_edges++) {
		m->dag.needs[u->n_edges] = u->in.v[i].to;
		m->dag.why[u->n_edges] = u->in.v[i].why;
	}
	GROW(m->outside, u->outside_cap, u->n_outside + u->out.n + 1);
	GROW(m->outside_why, u->outside_why_cap, u->n_outside + u->out.n + 1);
	for (size_t i = 0; i < u->out.n; i++, u->n_outside++) {
		m->outside[u->n_outside] = u->out.v[i].to;
		m->outside_why[u->n_outside] = u->out.v[i].why;
	}
}

static int make_job(struct unroll *u, uint32_t node, uint32_t round)
{
	struct manifest *m = u->x->m;
	uint32_t job = m->dag.n++;

	m->jobs[job] = (struct manifest_job){node, round};
	u->in.n = u->out.n = 0;
	gather_needs(u, node);
	write_edges(u);
	m->dag.first[job + 1] = (uint32_t)u->n_edges;
	m->outside_first[job + 1] = (uint32_t)u->n_outside;
	note_uses(u, node, job);
	u->latest[node] = job;
	u->users[node] = 0; /* also its own use of the round before: it never waits for itself */
	if (u->n_edges + u->n_outside <= PLAN_EDGES_MAX)
		return 0;
	problem_set(u->x->p, ERR_TOO_LARGE,
	    "this plan would have more than %d dependencies between jobs, the most that it may",
	    PLAN_EDGES_MAX);
	return problem_hint(u->x->p, "take fewer rounds, or touch fewer packages");
}

static int make_jobs(struct unroll *u, uint32_t c)
{
	struct plan *x = u->x;
	int rc = 0;

	for (uint32_t round = 1; round <= comp_rounds(x, c); round++)
		for (uint32_t i = x->comp_first[c]; i < x->comp_first[c + 1] && rc == 0; i++)
			rc = make_job(u, x->members[i], round);
	return rc;
}

static void unroll_begin(struct unroll *u, uint64_t jobs)
{
	struct manifest *m = u->x->m;
	size_t most = jobs > m->n_nodes ? (size_t)jobs : m->n_nodes;

	u->latest = xcalloc((size_t)m->n_nodes + 1, sizeof *u->latest);
	memset(u->latest, 0xff, ((size_t)m->n_nodes + 1) * sizeof *u->latest);
	u->users = xcalloc((size_t)m->n_nodes + 1, sizeof *u->users);
	u->place = xcalloc(most + 1, sizeof *u->place);
	u->n_pool = 1;
	m->jobs = xcalloc(jobs + 1, sizeof *m->jobs);
	m->dag.first = xcalloc(jobs + 1, sizeof *m->dag.first);
	m->outside_first = xcalloc(jobs + 1, sizeof *m->outside_first);
}

static void unroll_release(struct unroll *u)
{
	free(u->latest);
	free(u->users);
	free(u->pool);
	free(u->place);
	free(u->in.v);
	free(u->out.v);
}

static void tell_components(struct plan *x)
{
	struct manifest *m = x->m;
	uint32_t n = 0;

	for (uint32_t c = 0; c < x->n_comps; c++)
		n += comp_size(x, c) > 1;
	m->components = xcalloc((size_t)n + 1, sizeof *m->components);
	for (uint32_t c = 0; c < x->n_comps; c++)
		if (comp_size(x, c) > 1)
			m->components[m->n_components++] = (struct component){
			    arena_memdup(&m->arena, x->members + x->comp_first[c],
			        comp_size(x, c) * sizeof *x->members),
			    comp_size(x, c)};
}

int plan_unroll(struct plan *x)
{
	AUTO(unroll_release) struct unroll u = {.x = x};
	uint64_t jobs = 0;
	int rc = count_jobs(x, &jobs);

	if (rc < 0)
		return rc;
	unroll_begin(&u, jobs);
	for (uint32_t c = 0; c < x->n_comps && rc == 0; c++)
		rc = make_jobs(&u, c);
	tell_components(x);
	return rc;
}
