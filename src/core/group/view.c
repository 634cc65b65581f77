/* SPDX-License-Identifier: Apache-2.0 */
#include "core/group/view.h"

#include "core/group/group.h"
#include "core/service/worker.h"
#include "core/state.h"

static size_t bytes_of(const struct group *g)
{
	const struct active *a = g->active;
	size_t n = (size_t)g->row.n_jobs, bytes;

	if (!a)
		return 0;
	bytes = sizeof *a + n + GROUP_READ_JOBS * sizeof *a->asked;
	if (a->first)
		bytes += n * sizeof *a->first + n * sizeof *a->open +
		         a->cap_edges * sizeof *a->needed_by;
	return bytes + (a->todo.cap + a->ended.cap) * sizeof *a->todo.jobs;
}

bool core_group(const struct core *c, rid id, struct group_view *ret_view)
{
	const struct group *g = group_find(c, id);

	if (!g)
		return false;
	*ret_view = (struct group_view){.row = &g->row, .live = -1, .bytes = bytes_of(g)};
	ret_view->news_batch = group_is_ended(g->row.state) ? g->batch_seq : g->jobs_seq;
	if (!g->active)
		return true;
	ret_view->is_reading = g->active->stage == STAGE_GRAPH || g->active->stage == STAGE_STATES;
	if (!g->active->n_unknown)
		ret_view->live = g->active->n_live;
	return true;
}

/* Jobs' ids are those behind their group's: only the last group before the task can be its own. */
bool core_may_prune(const struct core *c, rid task)
{
	const struct group *g = object_before(c, KIND_GROUP, task);

	if (!services_may_prune(c, task))
		return false;
	return !g || group_is_ended(g->row.state) || task - g->row.id > (rid)g->row.n_jobs;
}
