/* SPDX-License-Identifier: Apache-2.0 */
/* Why a job waits, up to the one that all wait for, and what holds a group. */
#include "core/group/group.h"
#include "core/group/view.h"
#include "core/state.h"

#include <string.h>

#define LIVE_LOOKED_AT 10000 /* jobs: that takes a millisecond */

struct str group_job_text(
    const struct core *c, const struct group *g, uint32_t job, struct arena *a)
{
	char text[ID_TEXT];

	return arena_str(a, str_of(id_format(&c->ids, group_job_id(&g->row, job), text)));
}

static struct facts job_facts(
    const struct core *c, const struct group *g, uint32_t job, struct arena *a)
{
	return (struct facts){.name = g->row.name,
	    .other = group_job_text(c, g, job, a),
	    .at = group_job_id(&g->row, job)};
}

static void why_needs(
    struct why_answer *an, const struct core *c, const struct group *g, uint32_t job)
{
	uint32_t need, first, n = graph_blockers(g, job, &need, &first);

	if (!n) {
		why_add(an, WHY_JOB_DUE)->name = g->row.name;
		return;
	}
	*why_add(an, WHY_JOB_NEEDS) = job_facts(c, g, need, an->a);
	if (n == 1)
		return;
	*why_add(an, WHY_JOB_NEEDS_FIRST) = job_facts(c, g, first, an->a);
	an->whys[an->n - 1].facts.n = n;
}

static int64_t n_before(const struct core *c, const struct group *g)
{
	const struct group *other;
	int64_t n = 0;

	TAILQ_FOREACH (other, &groups_of(c)->waiting, in_line) {
		if (other == g)
			break;
		n++;
	}
	return n;
}

static void why_waits(struct why_answer *an, const struct core *c, const struct group *g)
{
	const struct groups *all = groups_of(c);
	bool no_memory = groups_fill_memory(c) && all->n_stand;
	int64_t before = n_before(c, g);
	struct facts f = {.name = g->row.name,
	    .n = (int64_t)(all->n_active - all->n_stand),
	    .of = c->o.groups_active,
	    .in_ms = groups_pull_in_ms(c, an->mono_ms)};

	if (no_memory)
		f.n = (int64_t)all->n_active;
	*why_add(an, no_memory ? WHY_GROUP_NO_MEMORY : WHY_GROUP_WAITS) = f;
	if (all->n_stand && !no_memory)
		why_add(an, WHY_GROUPS_STAND)->n = (int64_t)all->n_stand;
	if (before)
		why_add(an, WHY_GROUPS_BEFORE)->n = before;
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
		f.other = str_of(kind_names[group_owner(&g->row).kind]);
		*why_add(an, WHY_GROUP_OWED) = f;
	} else if (!a) {
		why_waits(an, c, g);
	} else if (a->stage == STAGE_END) {
		*why_add(an, WHY_GROUP_ENDS) = f;
	} else if (a->stage == STAGE_RUN) {
		f.n = a->n_live;
		*why_add(an, WHY_GROUP_RUNS) = f;
	} else {
		*why_add(an, WHY_GROUP_READS) = f;
	}
}

bool group_why_job(struct why_answer *an, const struct core *c, const struct object *o,
    const struct task_row *row, int32_t status)
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

/* -- which jobs could go on */

struct live_jobs {
	rid jobs[GROUP_LIVE_MAX];
	size_t n;
};

/* What is not in memory is of one kind, too: it is held, or far behind in its queue. */
struct kind_of_wait {
	const struct window *window;
	const struct shape *shape;
};

struct live {
	struct live_jobs first, more, run;
	struct kind_of_wait kinds[GROUP_LIVE_MAX]; /* of the first ones */
};

static void live_add(struct live_jobs *l, rid job)
{
	if (l->n < GROUP_LIVE_MAX)
		l->jobs[l->n++] = job;
}

static void live_take(struct live *l, rid job, const struct task *t)
{
	struct kind_of_wait k = {t ? t->window : NULL, t ? t->shape : NULL};
	size_t i = 0;

	if (t && t->worker) {
		live_add(&l->run, job);
		return;
	}
	while (i < l->first.n && (l->kinds[i].window != k.window || l->kinds[i].shape != k.shape))
		i++;
	if (i == GROUP_LIVE_MAX)
		return;
	l->kinds[i] = k;
	live_add(i == l->first.n ? &l->first : &l->more, job);
}

static void live_join(struct live_jobs *all, const struct live_jobs *l)
{
	for (size_t i = 0; i < l->n; i++)
		live_add(all, l->jobs[i]);
}

/* One of each that dispatches: what holds that is what holds those that wait behind it. */
static void live_of_others(const struct core *c, bool stand, struct live_jobs *all)
{
	const struct group *g;

	TAILQ_FOREACH (g, &groups_of(c)->active, in_line) {
		const struct active *a = g->active;
		const uint8_t *at = NULL;

		if (all->n == GROUP_LIVE_MAX)
			return;
		if (a && g->row.state == GROUP_DISPATCHING && a->stands == stand)
			at = memchr(a->marks, MARK_LIVE, (size_t)g->row.n_jobs);
		if (at)
			live_add(all, group_job_id(&g->row, (uint32_t)(at - a->marks)));
	}
}

static size_t live_before(const struct core *c, rid ret_jobs[GROUP_LIVE_MAX])
{
	struct live_jobs all = {0};

	live_of_others(c, false, &all);
	live_of_others(c, true, &all);
	memcpy(ret_jobs, all.jobs, sizeof all.jobs);
	return all.n;
}

size_t core_group_live(const struct core *c, rid id, rid ret_jobs[GROUP_LIVE_MAX])
{
	const struct group *g = group_find(c, id);
	struct live l = {0};
	struct live_jobs all = {0};
	int looked = 0;

	if (g && g->row.state == GROUP_QUEUED)
		return live_before(c, ret_jobs);
	if (!g || !g->active)
		return 0;
	for (uint32_t job = 0; job < g->row.n_jobs && looked < LIVE_LOOKED_AT; job++) {
		rid task = group_job_id(&g->row, job);

		if (g->active->marks[job] != MARK_LIVE)
			continue;
		live_take(&l, task, task_find(c, task));
		looked++;
	}
	live_join(&all, &l.first);
	live_join(&all, &l.more);
	live_join(&all, &l.run);
	memcpy(ret_jobs, all.jobs, sizeof all.jobs);
	return all.n;
}

size_t core_group_why(
    const struct core *c, rid id, int64_t mono_ms, struct arena *a, struct why **ret_whys)
{
	const struct group *g = group_find(c, id);
	struct why_answer an = {.a = a, .mono_ms = mono_ms};

	if (g)
		why_group(&an, c, g);
	*ret_whys = an.whys;
	return an.n;
}
