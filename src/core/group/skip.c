/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a job that can never start: one of its needs has broken, and the reason says which and
 * how. The need's name is in its row only, which is read together with the job's own.
 */
#include "core/group/group.h"
#include "core/state.h"

static const char *const ends[N_JOB_STATES] = {[JOB_BUILT] = "was built",
    [JOB_FAILED] = "failed",
    [JOB_DEPENDENCY_FAILED] = "was skipped",
    [JOB_LOST] = "was lost",
    [JOB_CANCEL_COMPLETE] = "was cancelled"};

/* The need's row has id 0 if it is gone. */
static struct str why_skipped(const struct core *c, const struct group *g,
    const struct group_edge *e, const struct task_row *need, struct arena *a)
{
	const char *how = need->id ? ends[job_state(GROUP_DISPATCHING, &need->state)] : "is gone";
	const char *what = e->condition == EDGE_FAILURE ? "it runs after a failure of" : "it needs";
	struct str id = group_job_text(c, g, e->need, a), name = need->spec.name;

	if (!how)
		how = "did not end as it must";
	return name.n ? arena_strf(a, "%s " STR_FMT ", which %s", what, STR_ARG(name), how)
	              : arena_strf(a, "%s task " STR_FMT ", which %s", what, STR_ARG(id), how);
}

void group_skip(struct core *c, struct group *g, uint32_t job, struct task *t,
    const struct task_row *need, struct effects *out)
{
	enum task_phase phase = task_phase(t->row.state.status);
	struct group_edge e = graph_broken(g, job);
	const struct task *known = task_find(c, group_job_id(&g->row, e.need));

	if ((phase != PHASE_HELD && phase != PHASE_QUEUED) || start_may_run(c, &t->row)) {
		active_note(g, job, &t->row.state, t->row.spec.name);
		return;
	}
	if (known)
		need = &known->row;
	if (!need) {
		job_list_push(&g->active->todo, job); /* it was doomed while it was read */
		return;
	}
	t->row.state.wish = WISH_SKIP;
	task_move(c, t, TASK_CANCELLED, why_skipped(c, g, &e, need, &out->batch.arena), out);
	task_forget(c, t);
}
