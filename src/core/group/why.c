/* SPDX-License-Identifier: Apache-2.0 */
/* Why a job waits, up to the one that all wait for, and what holds a group. */
#include "core/group/view.h"
#include "core/state.h"

#define CHAIN_MAX 1000

static struct str job_text(
    const struct core *c, const struct group *g, uint32_t job, struct arena *a)
{
	char text[ID_TEXT];

	return arena_str(a, str_of(id_format(&c->ids, group_job_id(&g->row, job), text)));
}

static void why_needs(
    struct why_answer *an, const struct core *c, const struct group *g, uint32_t job)
{
	uint32_t need, next;
	int64_t n = 1;

	if (!graph_blocker(g, job, &need)) {
		why_add(an, WHY_JOB_DUE)->name = g->row.name;
		return;
	}
	*why_add(an, WHY_JOB_NEEDS) =
	    (struct facts){.name = g->row.name, .other = job_text(c, g, need, an->a)};
	for (; n < CHAIN_MAX && graph_blocker(g, need, &next); n++)
		need = next;
	if (n > 1)
		*why_add(an, WHY_JOB_NEEDS_FIRST) = (struct facts){
		    .name = g->row.name, .other = job_text(c, g, need, an->a), .n = n};
}

static int64_t n_before(const struct core *c, const struct group *g)
{
	const struct group *other;
	int64_t n = (int64_t)c->groups.n_active;

	TAILQ_FOREACH (other, &c->groups.waiting, in_line) {
		if (other == g)
			break;
		n++;
	}
	return n;
}

static void why_group(struct why_answer *an, const struct core *c, const struct group *g)
{
	const struct active *a = g->active;
	struct facts f = {.name = g->row.name,
	    .of = g->row.n_jobs,
	    .n = g->row.n_jobs - group_count(&g->row.counts),
	    .reason = g->row.reason};

	if (group_is_ended(g->row.state))
		return;
	if (group_is_owed(&g->row)) {
		*why_add(an, WHY_GROUP_OWED) = f;
	} else if (!a) {
		f.n = n_before(c, g);
		*why_add(an, WHY_GROUP_WAITS) = f;
	} else if (a->stage == STAGE_END) {
		*why_add(an, WHY_GROUP_ENDS) = f;
	} else if (a->stage == STAGE_RUN) {
		f.n = a->n_live;
		*why_add(an, WHY_GROUP_RUNS) = f;
	} else {
		*why_add(an, WHY_GROUP_READS) = f;
	}
}

bool group_why_job(
    struct why_answer *an, const struct core *c, const struct task_row *row, int32_t status)
{
	uint32_t job;
	const struct group *g = group_of(c, row, &job);

	if (!g || status != TASK_BLOCKED)
		return false;
	if (g->active && g->active->stage == STAGE_RUN)
		why_needs(an, c, g, job);
	else
		why_group(an, c, g);
	return true;
}

size_t core_group_why(const struct core *c, rid id, struct arena *a, struct why **ret_whys)
{
	const struct group *g = group_find(c, id);
	struct why_answer an = {.a = a};

	if (g)
		why_group(&an, c, g);
	*ret_whys = an.whys;
	return an.n;
}
