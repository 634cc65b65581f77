/* SPDX-License-Identifier: Apache-2.0 */
/* Groups among the kinds: which worlds have them, and what must hold there. */
#include "sim/group/group.h"

#include <stdlib.h>

#include "base/mem.h"

#define PER_MILLE 200 /* of the worlds */

static const struct invariant invariants[] = {
    {15, "needs-met", "a job starts only when what it needs has ended as it must"},
    {16, "group-counts", "a group's counts equal a recount of its jobs' rows"},
    {17, "whole-groups", "a group appears whole or not at all, and never with a cycle"},
    {18, "over-is-over", "no job starts, runs or waits once its group has ended"},
    {46, "groups-end", "after healing every group has ended, as its jobs and its clients say"},
    {47, "needs-shown", "a job sees of what it needs exactly what that has to say"},
    {49, "owed-groups",
        "one group per tick, named by the tick's row; each gets its jobs, once, or a reason"},
    {50, "series", "what is remembered of a build is that build's"},
    {48, "built-once", "what is left of a group has nothing that is built, but as it was built"},
    {0},
};

/* What else a seed draws stays what it was without. */
static void draw(struct sim_options *o)
{
	struct rng r = {o->seed ^ 0x67726f7570677270ull};

	if (!sim_chance(&r, PER_MILLE))
		return;
	o->kinds |= 1u << KIND_GROUP;
	o->groups_active = (uint32_t)sim_between(&r, 1, 3);
	if (sim_chance(&r, 400))
		o->classes |= (1u << CLASS_CRASH) & o->faults;
}

static void begin(struct world *w)
{
	struct sim_groups *all;

	if (!(w->o.kinds & 1u << KIND_GROUP))
		return;
	all = w->of_kind[KIND_GROUP] = xcalloc(1, sizeof *all);
	all->rng.state = w->o.seed ^ 0x6a6f62736a6f6273ull;
}

static void end(struct world *w)
{
	struct sim_groups *all = groups_of(w);

	if (!all)
		return;
	for (size_t i = 0; i < all->n; i++) {
		for (int k = 0; k < SUBMIT_MOST; k++)
			free(all->all[i]->results[k].text);
		free(all->all[i]);
	}
	for (size_t i = 0; i < all->n_wishes; i++)
		free(all->wishes[i]);
	free(all->all);
	free(all->wishes);
	free(all);
}

const struct sim_kind sim_kind_group = {
    .kind = KIND_GROUP,
    .invariants = invariants,
    .draw = draw,
    .begin = begin,
    .free = end,
    .load = groups_load,
    .draw_request = groups_draw_request,
    .heal = groups_heal,
    .submit = group_submit,
    .stepped = groups_stepped,
    .done = judge_group_done,
    .command = group_command,
    .task_stored = judge_group_job,
    .task_moved = judge_group_job_moved,
    .task_started = judge_group_job_started,
    .task_shown = judge_group_job_shown,
    .stored = judge_group_stored,
    .applied = judge_groups_applied,
    .settled = judge_groups_settled,
    .unsettled = judge_groups_unsettled,
};
