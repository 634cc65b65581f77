/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge of groups. What a job needs is what its client asked for, not what the store has: rows
 * of jobs say which request they are of, and which of its tasks.
 */
#include "sim/group/group.h"

#include <stdio.h>

#include "base/mem.h"

struct truth_group *groups_truth(struct world *w, rid id)
{
	struct sim_groups *all = groups_of(w);
	struct truth_group *g;

	for (size_t i = all->n; i-- > 0;)
		if (all->all[i]->id == id)
			return all->all[i];
	g = xcalloc(1, sizeof *g);
	g->id = id;
	GROW(all->all, all->cap, all->n + 1);
	all->all[all->n++] = g;
	g->number = (unsigned)all->n;
	return g;
}

const struct truth_group *groups_find(const struct world *w, rid id)
{
	const struct sim_groups *all = groups_of(w);

	for (size_t i = all->n; i-- > 0;)
		if (all->all[i]->id == id)
			return all->all[i]->row.id ? all->all[i] : NULL;
	return NULL;
}

/* -- jobs */

void judge_group_job(struct world *w, struct truth_task *t)
{
	struct truth_group *g = groups_truth(w, t->owner.id);

	g->touched = true;
	g->n_jobs++;
}

int groups_place(const struct truth_group *g, const struct truth_task *t)
{
	for (int i = 0; i < SUBMIT_MOST; i++)
		if (g->jobs[i] == t)
			return i;
	return -1;
}

/* The first row of it that is seen says whose it is. */
static int enter(
    struct world *w, struct truth_group *g, struct truth_task *t, const struct task_row *row)
{
	unsigned request, index;
	int idem, place = groups_place(g, t);

	if (place >= 0 || !row->spec.body.p ||
	    sscanf(row->spec.body.p, "{\"r\":%u,\"i\":%u,\"k\":%d}", &request, &index, &idem) != 3)
		return place;
	g->wish = group_wish_of(w, request);
	g->jobs[index] = t;
	return (int)index;
}

static const char *end_of(const struct truth_group *g, int job)
{
	const struct truth_task *t = g->jobs[job];

	if (!t || !task_is_ended(t->stored_status))
		return NULL;
	if (t->stored_status == TASK_SUCCEEDED)
		return "built";
	return g->is_skipped[job] ? "skipped" : "failed";
}

static bool is_met(const struct group_edge *e, const char *end)
{
	if (!end)
		return false;
	switch (e->condition) {
	case EDGE_SUCCESS: return end[0] == 'b';
	case EDGE_FAILURE: return end[0] == 'f';
	default: return true;
	}
}

static bool is_broken(const struct group_edge *e, const char *end)
{
	return end && !is_met(e, end);
}

static void check_skip(struct world *w, const struct truth_group *g, int job)
{
	for (size_t i = 0; i < g->wish->n_edges; i++)
		if ((int)g->wish->edges[i].job == job &&
		    is_broken(&g->wish->edges[i], end_of(g, (int)g->wish->edges[i].need)))
			return;
	world_fail(w, 46, "group %u: task %u is skipped, and nothing that it needs is missing",
	    g->number, g->jobs[job]->number);
}

static void check_needs(struct world *w, const struct truth_group *g, int job, const char *what)
{
	for (size_t i = 0; i < g->wish->n_edges; i++) {
		const struct group_edge *e = &g->wish->edges[i];
		const char *end = end_of(g, (int)e->need);

		if ((int)e->job == job && !is_met(e, end))
			world_fail(w, 15, "group %u: task %u %s after %s of a job that is %s",
			    g->number, g->jobs[job]->number, what,
			    edge_condition_names[e->condition], end ? end : "not over");
	}
}

void judge_group_job_moved(struct world *w, struct truth_task *t, const struct task_row *row)
{
	struct truth_group *g = groups_truth(w, t->owner.id);
	int job = enter(w, g, t, row);

	g->touched = true;
	if (job < 0 || !g->wish)
		return;
	g->is_skipped[job] = row->state.status == TASK_CANCELLED && row->state.wish == WISH_SKIP;
	judge_group_result(g, job, row);
	judge_group_taken(w, g, job, row);
}

void judge_group_job_started(struct world *w, struct truth_task *t)
{
	const struct truth_group *g = groups_truth(w, t->owner.id);
	int job = groups_place(g, t);

	if (g->deleted || job < 0)
		return;
	check_needs(w, g, job, "starts");
	if (g->wish->taken[job].id)
		world_fail(
		    w, 48, "group %u: task %u starts, and was built before", g->number, t->number);
	if (group_is_ended(g->row.state) && !t->is_risked)
		world_fail(w, 18, "group %u is %s, and its task %u starts", g->number,
		    group_state_names[g->row.state], t->number);
}

/* -- groups */

void judge_group_stored(struct world *w, const struct row_op *op)
{
	const struct group_row *row = op->row;
	struct truth_group *g;

	if (op->table == &built_table && op->verb == ROW_PUT && groups_of(w))
		judge_group_built(w, op->row);
	if (op->table != &group_table || !groups_of(w))
		return;
	g = groups_truth(w, op->verb == ROW_DELETE ? op->id : row->id);
	if (op->verb == ROW_DELETE) {
		g->deleted = true;
		return;
	}
	g->touched = true;
	g->row = *row;
	g->has_reason = row->reason.n > 0;
	g->row.name = g->row.reason = g->row.actor = g->row.series = STR_NULL;
	if (row->state == GROUP_FAILURE_CLEANUP &&
	    (row->policy == GROUP_BEST_EFFORT || !group_count_failed(&row->counts)))
		world_fail(w, 46, "group %u is stuck", g->number);
	world_tell(w, "group %u is %s: %lld of %lld jobs have ended", g->number,
	    group_state_names[row->state], (long long)group_count(&row->counts),
	    (long long)row->n_jobs);
}

static void recount(struct world *w, const struct truth_group *g)
{
	const struct group_counts *n = &g->row.counts;
	struct group_counts found = {0};

	for (int i = 0; i < SUBMIT_MOST; i++)
		if (g->jobs[i] && task_is_ended(g->jobs[i]->stored_status))
			group_count_end(
			    &found, &(struct task_state){.status = g->jobs[i]->stored_status,
			                .wish = g->is_skipped[i] ? WISH_SKIP : WISH_NONE});
	if (n->built != found.built || n->failed != found.failed || n->lost != found.lost ||
	    n->skipped != found.skipped || n->cancelled != found.cancelled)
		world_fail(w, 16,
		    "group %u counts %lld %lld %lld %lld %lld, its jobs are %lld %lld %lld %lld "
		    "%lld",
		    g->number, (long long)n->built, (long long)n->failed, (long long)n->lost,
		    (long long)n->skipped, (long long)n->cancelled, (long long)found.built,
		    (long long)found.failed, (long long)found.lost, (long long)found.skipped,
		    (long long)found.cancelled);
}

static void check_jobs(struct world *w, const struct truth_group *g)
{
	for (int i = 0; i < SUBMIT_MOST; i++) {
		const struct truth_task *t = g->jobs[i];

		if (!t)
			continue;
		if (g->is_skipped[i])
			check_skip(w, g, i);
		if (task_phase(t->stored_status) == PHASE_QUEUED)
			check_needs(w, g, i, "is queued");
		if (group_is_ended(g->row.state) && !task_is_ended(t->stored_status))
			world_fail(w, 18, "group %u is %s, and its task %u is %s", g->number,
			    group_state_names[g->row.state], t->number,
			    task_state_name(t->stored_status));
		if (group_is_ended(g->row.state) && t->running && !t->given_up && !t->over_by_us &&
		    !t->is_risked)
			world_fail(w, 18, "group %u is %s, and its task %u runs", g->number,
			    group_state_names[g->row.state], t->number);
	}
}

static void check_whole(struct world *w, const struct truth_group *g)
{
	if (g->n_jobs != g->row.n_jobs)
		world_fail(w, 17, "group %u has %d of its %lld jobs", g->number, g->n_jobs,
		    (long long)g->row.n_jobs);
	if (g->wish && (g->wish->has_cycle || g->wish->n != g->n_jobs))
		world_fail(w, 17, "group %u is not what was asked for", g->number);
}

static void check_end(struct world *w, const struct truth_group *g)
{
	int64_t failed = group_count_failed(&g->row.counts);

	if ((g->row.state == GROUP_COMPLETE && failed) ||
	    (g->row.state == GROUP_FAILED && !failed && g->row.n_jobs))
		world_fail(w, 46, "group %u is %s, and %lld of its jobs have failed", g->number,
		    group_state_names[g->row.state], (long long)failed);
	if (g->row.state == GROUP_CANCELED && !g->is_cancelled)
		world_fail(w, 46, "group %u is canceled, and nobody has asked for it", g->number);
}

void judge_groups_applied(struct world *w)
{
	struct sim_groups *all = groups_of(w);

	for (size_t i = 0; all && i < all->n; i++) {
		struct truth_group *g = all->all[i];

		if (!g->touched || g->deleted)
			continue;
		g->touched = false;
		check_whole(w, g);
		judge_group_left(w, g);
		recount(w, g);
		check_jobs(w, g);
		check_end(w, g);
		judge_group_owed(w, g);
	}
	if (all)
		judge_groups_kept(w);
}

static bool waits_for_time(const struct world *w, const struct truth_group *g)
{
	for (int i = 0; i < SUBMIT_MOST; i++)
		if (g->jobs[i] && truth_is_far(w, g->jobs[i]))
			return true;
	return false;
}

static const struct truth_group *first_live(struct world *w)
{
	const struct sim_groups *all = groups_of(w);

	for (size_t i = 0; all && i < all->n; i++)
		if (all->all[i]->row.id && !all->all[i]->deleted &&
		    !group_is_ended(all->all[i]->row.state) && !waits_for_time(w, all->all[i]))
			return all->all[i];
	return NULL;
}

bool judge_groups_settled(struct world *w)
{
	return !first_live(w);
}

void judge_groups_unsettled(struct world *w)
{
	const struct truth_group *g = first_live(w);

	if (g)
		world_fail(w, 46, "group %u is still %s: %lld of %lld jobs have ended", g->number,
		    group_state_names[g->row.state], (long long)group_count(&g->row.counts),
		    (long long)g->row.n_jobs);
}
