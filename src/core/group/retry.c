/* SPDX-License-Identifier: Apache-2.0 */
#include "core/group/retry.h"

#include <string.h>

#include "base/mutant.h"

static bool mark(uint8_t *marks, uint32_t job)
{
	bool is_new = marks[job] != RETRY_AGAIN;

	marks[job] = RETRY_AGAIN;
	return is_new;
}

/* What needs one that is done again is done again, and so is what these need and is not built. */
static bool spread(const struct retry_graph *g, uint8_t *marks)
{
	bool has_changed = false;

	for (size_t i = 0; i < g->n_edges; i++) {
		const struct group_edge *e = &g->edges[i];

		if (marks[e->need] == RETRY_AGAIN)
			has_changed |= mark(marks, e->job);
		else if (marks[e->job] == RETRY_AGAIN &&
		         (!g->is_built[e->need] || MUTANT(RETRY_BUILDS_AGAIN)))
			has_changed |= mark(marks, e->need);
	}
	return has_changed;
}

size_t retry_choose(
    const struct retry_graph *g, enum retry_what what, uint32_t from, uint8_t *marks)
{
	size_t n = 0;

	memset(marks, RETRY_NOT, g->n);
	for (uint32_t job = 0; job < g->n; job++)
		if (what == RETRY_FAILED ? !g->is_built[job] : job == from)
			marks[job] = RETRY_AGAIN;
	/* edges come by need, and needs before what needs them: once is enough most times */
	while (spread(g, marks))
		;
	for (size_t i = 0; i < g->n_edges; i++)
		if (marks[g->edges[i].job] == RETRY_AGAIN && marks[g->edges[i].need] == RETRY_NOT)
			marks[g->edges[i].need] = RETRY_TAKEN;
	for (uint32_t job = 0; job < g->n; job++)
		n += marks[job] == RETRY_AGAIN;
	return n;
}

struct group_edge *retry_edges(const struct retry_graph *g, const uint8_t *marks, struct arena *a,
    size_t *ret_n_edges, size_t *ret_n_jobs)
{
	uint32_t *place = arena_zalloc(a, (g->n + 1) * sizeof *place), n_jobs = 0;
	struct group_edge *edges;
	size_t n = 0;

	for (uint32_t job = 0; job < g->n; job++)
		if (marks[job] != RETRY_NOT)
			place[job] = n_jobs++;
	for (size_t i = 0; i < g->n_edges; i++)
		n += marks[g->edges[i].job] == RETRY_AGAIN;
	edges = arena_alloc(a, (n + 1) * sizeof *edges);
	n = 0;
	for (size_t i = 0; i < g->n_edges; i++)
		if (marks[g->edges[i].job] == RETRY_AGAIN) {
			edges[n] = g->edges[i];
			edges[n].job = place[g->edges[i].job];
			edges[n++].need = place[g->edges[i].need];
		}
	*ret_n_edges = n;
	*ret_n_jobs = n_jobs;
	return edges;
}

/* Of what it wrote nothing is taken: that is the other task's. */
struct task_state *retry_taken(
    const struct task_row *built, struct str task, struct str group, struct arena *a)
{
	const struct task_state *s = &built->state;
	struct task_state *t = arena_zalloc(a, sizeof *t);

	*t = (struct task_state){.status = s->status,
	    .attempt = s->attempt,
	    .token = s->token,
	    .worker = s->worker,
	    .exit_code = s->exit_code,
	    .times_doubtful = s->times_doubtful,
	    .usage = s->usage,
	    .claimed_ms = s->claimed_ms,
	    .started_ms = s->started_ms,
	    .ended_ms = s->ended_ms,
	    .reason = arena_strf(
	        a, "taken from group " STR_FMT ", task " STR_FMT, STR_ARG(group), STR_ARG(task)),
	    .result = MUTANT(RETRY_RESULT_LOST) ? STR_NULL : arena_str(a, s->result)};
	return t;
}
