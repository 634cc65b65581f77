/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to jobs, by whomever: it is only noted here, and acted upon before the step ends.
 * And what an operator may do to a single job, so that its group stays right:
 *
 *   cancel    it counts as failed, whatever state the group is in
 *   fail      it has failed, for the reason that is given
 *   hold      the group waits for it, for as long as it takes
 *   release   it starts if what it needs has ended as it must, else it waits for that again
 *   retry     is refused: what needed it has been skipped by then
 */
#include "core/group/group.h"
#include "core/state.h"

static struct queue_use *use_of(struct group *g, rid queue)
{
	for (uint32_t i = 0; i < g->n_queues; i++)
		if (g->queues[i].queue == queue)
			return &g->queues[i];
	g->queues = xrealloc(g->queues, (g->n_queues + 1) * sizeof *g->queues);
	g->queues[g->n_queues] = (struct queue_use){queue, 0};
	return &g->queues[g->n_queues++];
}

void group_task_live(struct core *c, struct object *o, rid task, rid queue)
{
	use_of((struct group *)o, queue)->n++;
}

/* While jobs are unknown the row's counts are those of before, and what has ended since. */
void group_task_ended(struct core *c, struct object *o, rid task)
{
	struct group *g = (struct group *)o;
	const struct task *t = task_find(c, task);
	uint32_t job;

	MUST(t);
	use_of(g, t->row.spec.queue)->n--;
	if (group_of(c, &t->row, &job) != g)
		return;
	group_count_end(&g->row.counts, &t->row.state);
	g->is_changed = true;
	g->is_untouched = false;
	series_note(g, job, &t->row);
	if (g->active) {
		active_note(g, job, &t->row.state, t->row.spec.name);
		if (!g->active->n_unknown)
			g->row.counts = g->active->counts;
	}
	group_dirty(c, g);
}

/* A group that is ending has nothing tried again. */
void group_task_waits(struct core *c, struct object *o, rid task)
{
	struct group *g = (struct group *)o;
	const struct task *t = task_find(c, task);
	uint32_t job;

	if (!t || !g->active || g->active->stage != STAGE_END || group_of(c, &t->row, &job) != g)
		return;
	job_list_push(&g->active->todo, job);
	group_dirty(c, g);
}

const struct object *group_user_of(const struct core *c, rid queue)
{
	struct group *g;

	EACH_OBJECT(g, c, KIND_GROUP)
	{
		for (uint32_t i = 0; i < g->n_queues && !group_is_ended(g->row.state); i++)
			if (g->queues[i].queue == queue &&
			    (g->queues[i].n || g->row.state < GROUP_QUEUED))
				return &g->object;
	}
	return NULL;
}

/* An operator fails the job. What is being cancelled ends as that: its end is not made another. */
static const char *fail_refused(const struct group *g, const struct task *t)
{
	if (task_is_ended(t->row.state.status))
		return NULL;
	if (g->row.state == GROUP_CANCELING)
		return "its group is being cancelled: it ends as cancelled";
	if (t->row.state.wish == WISH_CANCEL)
		return "it is being cancelled, and ends as that";
	return NULL;
}

const char *group_refuses(
    const struct core *c, const struct object *o, const struct task *t, const struct event *ev)
{
	if (ev->kind == EV_CANCEL)
		return fail_refused((const struct group *)o, t);
	if (ev->kind == EV_RETRY)
		return "it is a job of a group, and what needed it was skipped by then";
	if (ev->tasks.has_status && ev->tasks.status == TASK_BLOCKED &&
	    t->row.state.status == TASK_QUEUED)
		return "it is a job, and blocked is its group's word: give another status";
	return NULL;
}

void group_failed(struct core *c, const struct object *o, const struct task *t, struct str reason,
    struct str actor, struct effects *out)
{
	const struct detail d[] = {{"job", t->row.spec.name}, {"reason", reason}};

	audit_object(c, "group.job_failed", o, actor, details_of(&out->batch.arena, d, 2), out);
}

int group_released(const struct core *c, const struct object *o, const struct task *t)
{
	uint32_t job;
	const struct group *g = group_of(c, &t->row, &job);
	bool is_met;

	if (!g)
		return TASK_QUEUED;
	is_met = g->row.state == GROUP_DISPATCHING && g->active && g->active->stage == STAGE_RUN &&
	         (g->active->marks[job] == MARK_LIVE || g->active->marks[job] == MARK_DUE);
	return is_met || MUTANT(GROUP_RELEASE_IGNORES_NEEDS) ? TASK_QUEUED : TASK_BLOCKED;
}
