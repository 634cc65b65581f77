/* SPDX-License-Identifier: Apache-2.0 */
/* What is in memory of an active group: its graph, a byte per job, and what is to be done. */
#include "core/group/group.h"
#include "core/state.h"

#include <stdlib.h>
#include <string.h>

void job_list_push(struct job_list *l, uint32_t job)
{
	GROW(l->jobs, l->cap, l->first + l->n + 1);
	l->jobs[l->first + l->n++] = job;
}

bool job_list_pop(struct job_list *l, uint32_t *ret_job)
{
	if (!l->n)
		return false;
	*ret_job = l->jobs[l->first++];
	if (--l->n == 0) {
		free(l->jobs);
		*l = (struct job_list){0};
	}
	return true;
}

const struct moves stage_moves = {
    "active group",
    {[STAGE_GRAPH] = "graph", [STAGE_STATES] = "states", [STAGE_RUN] = "run", [STAGE_END] = "end"},
    {
        {STAGE_GRAPH, STAGE_STATES, "the whole graph was read"},
        {STAGE_STATES, STAGE_RUN, "it is known how each job stands"},
        {STAGE_RUN, STAGE_END, "a job failed and it fails fast, or is stuck, or is cancelled"},
        {STAGE_GRAPH, STAGE_END, "cancelled, or was ending before a start, or is damaged"},
        {STAGE_STATES, STAGE_END, "cancelled"},
        {STAGE_END, STAGE_END, "cancelled: what runs is ended, too"},
    },
};

void stage_move(struct active *a, enum group_stage to)
{
	a->stage = moves_make(&stage_moves, a->stage, to);
}

/* The graph comes first. */
void active_begin(struct core *c, struct group *g)
{
	struct active *a = g->active = xcalloc(1, sizeof *a);
	size_t n = (size_t)g->row.n_jobs;

	a->marks = xmalloc(n + 1);
	memset(a->marks, MARK_UNKNOWN, n);
	a->n_unknown = (uint32_t)n;
	a->first_failed = UINT32_MAX;
}

static void drop_graph(struct active *a)
{
	free(a->first);
	free(a->needed_by);
	free(a->open);
	free(a->todo.jobs);
	free(a->ended.jobs);
	free(a->near.jobs);
	needs_drop(a);
	a->first = a->needed_by = a->open = NULL;
	a->todo = a->ended = a->near = (struct job_list){0};
	a->n_begun = 0;
	a->n_edges = a->cap_edges = a->edge = 0;
	a->n_read = 0;
}

/* Unless it has been moved since. */
static void let_go(struct core *c, const struct group *g, uint32_t job)
{
	struct task *t = task_find(c, group_job_id(&g->row, job));

	if (t && !t->worker && !t->window && !t->ghost_read && task_is_held(t->row.state.status))
		task_forget(c, t);
}

void active_keep(struct core *c, struct group *g, uint32_t job)
{
	struct active *a = g->active;
	uint32_t *at = &a->kept[a->n_kept % GROUP_NEAR];

	if (a->n_kept++ >= GROUP_NEAR)
		let_go(c, g, *at);
	*at = job;
}

void active_end(struct core *c, struct group *g)
{
	struct active *a = g->active;

	if (!a)
		return;
	stands_go_on(c, g);
	for (size_t i = 0; i < a->n_kept && i < GROUP_NEAR; i++)
		let_go(c, g, a->kept[i]);
	timer_clear(c, TIMER_MONO, &a->later);
	drop_graph(a);
	free(a->left);
	free(a->digests);
	free(a->first_failed_name);
	free(a->marks);
	free(a->asked);
	free(a);
	g->active = NULL;
}

/* What is known of the jobs stays known; a read under way is answered to the new stage. */
void active_end_rest(struct core *c, struct group *g)
{
	bool was_active = g->active;

	stands_go_on(c, g);
	if (!was_active)
		active_begin(c, g);
	stage_move(g->active, STAGE_END);
	if (!was_active)
		return;
	drop_graph(g->active);
	g->active->next = 0;
	groups_of(c)->look_at_late = true;
}

static enum job_mark mark_of(const struct task_state *s)
{
	if (task_is_held(s->status))
		return MARK_WAITS; /* held by an operator: that is seen when it is due */
	if (!task_is_ended(s->status))
		return MARK_LIVE;
	switch (job_state(GROUP_DISPATCHING, s)) {
	case JOB_BUILT: return MARK_BUILT;
	case JOB_DEPENDENCY_FAILED: return MARK_SKIPPED;
	default: return MARK_FAILED;
	}
}

static bool is_end(enum job_mark m)
{
	return m == MARK_BUILT || m == MARK_FAILED || m == MARK_SKIPPED;
}

static void count_end(struct active *a, uint32_t job, const struct task_state *s, struct str name)
{
	int64_t failed = group_count_failed(&a->counts);

	group_count_end(&a->counts, s);
	if (failed || !group_count_failed(&a->counts) || a->first_failed != UINT32_MAX)
		return;
	a->first_failed = job;
	a->first_failed_name = name.n ? xstrndup(name.p, name.n) : NULL;
}

static void set_mark(struct active *a, uint32_t job, enum job_mark to)
{
	a->n_unknown -= a->marks[job] == MARK_UNKNOWN;
	a->n_live += (to == MARK_LIVE) - (a->marks[job] == MARK_LIVE);
	a->marks[job] = (uint8_t)to;
	if (is_end(to) && a->stage == STAGE_RUN)
		job_list_push(&a->ended, job);
	if (is_end(to) && a->stage == STAGE_RUN && MUTANT(GROUP_LOWERED_TWICE))
		job_list_push(&a->ended, job);
}

void active_note(struct group *g, uint32_t job, const struct task_state *s, struct str name)
{
	struct active *a = g->active;

	if (is_end(a->marks[job]))
		return;
	if (task_is_ended(s->status))
		count_end(a, job, s, name);
	if (task_is_ended(s->status) && s->result.n)
		needs_note_result(g, job);
	set_mark(a, job, mark_of(s));
}

void active_note_gone(struct group *g, uint32_t job)
{
	struct active *a = g->active;

	if (is_end(a->marks[job]))
		return;
	a->n_gone++;
	if (a->first_failed == UINT32_MAX)
		a->first_failed = job;
	set_mark(a, job, MARK_FAILED);
}

void active_note_held(struct group *g)
{
	struct active *a = g->active;

	memset(a->marks, MARK_WAITS, (size_t)g->row.n_jobs);
	a->n_unknown = 0;
	a->next = (uint32_t)g->row.n_jobs;
}

bool active_has_ended(const struct group *g)
{
	const struct active *a = g->active;

	return !a->n_unknown && group_count(&a->counts) + a->n_gone >= g->row.n_jobs;
}
