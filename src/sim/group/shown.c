/* SPDX-License-Identifier: Apache-2.0 */
/* The judge of what jobs are shown: exactly those of their needs that have something to say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/group/group.h"

void judge_group_result(struct truth_group *g, int job, const struct task_row *row)
{
	struct truth_result *r = &g->results[job];

	free(r->text);
	r->text = row->state.result.n ? xstrndup(row->state.result.p, row->state.result.n) : NULL;
	r->n = row->state.result.n;
}

static bool has_to_say(const struct truth_group *g, int job)
{
	return g->results[job].n || g->jobs[job]->stored_status != TASK_SUCCEEDED;
}

static bool is_needed(const struct truth_group *g, int job, int need)
{
	for (size_t i = 0; i < g->wish->n_edges; i++)
		if ((int)g->wish->edges[i].job == job && (int)g->wish->edges[i].need == need)
			return true;
	return false;
}

static const struct link_need *shown(const struct link_run *run, rid task)
{
	for (size_t i = 0; i < run->n_needs; i++)
		if (run->needs[i].task == task)
			return &run->needs[i];
	return NULL;
}

static bool is_right(const struct truth_group *g, int need, const struct link_need *n)
{
	const struct truth_result *r = &g->results[need];
	struct task_state s = {.status = g->jobs[need]->stored_status,
	    .wish = g->is_skipped[need] ? WISH_SKIP : WISH_NONE};

	return str_is(n->state, job_state_names[job_state(GROUP_DISPATCHING, &s)]) &&
	       n->result.n == r->n && (!r->n || memcmp(n->result.p, r->text, r->n) == 0);
}

void judge_group_job_shown(struct world *w, struct truth_task *t, const struct link_run *run)
{
	const struct truth_group *g = groups_truth(w, t->owner.id);
	int job = groups_place(g, t);
	size_t n = 0;

	if (g->deleted || job < 0 || !g->wish)
		return;
	for (int i = 0; i < SUBMIT_MOST; i++) {
		const struct link_need *need;

		if (!g->jobs[i] || !is_needed(g, job, i) || !has_to_say(g, i))
			continue;
		n++;
		need = shown(run, g->jobs[i]->id);
		if (!need || !is_right(g, i, need))
			world_fail(w, 47,
			    "group %u: task %u is shown %s of task %u, which it needs", g->number,
			    t->number, need ? "something wrong" : "nothing", g->jobs[i]->number);
	}
	if (n != run->n_needs || run->needs_left_out)
		world_fail(w, 47, "group %u: task %u is shown %zu jobs, not %zu", g->number,
		    t->number, run->n_needs, n);
}
