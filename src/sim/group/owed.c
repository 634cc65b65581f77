/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups that their owners trigger. The server's surface finds out their jobs, one group at a time,
 * and takes its time for that: servers die meanwhile, others cancel the group, a draft comes twice
 * or late, or there is none. And the judge: one group per tick, and each gets its jobs or a reason.
 */
#include "base/mem.h"
#include "core/group/view.h"
#include "sim/group/group.h"
#include "sim/world/server.h"

#define JOBS_MOST 4 /* ticks come often */
#define UNSTORED_MOST 200

static bool is_draft(const struct world *w, const struct request *r)
{
	const struct group_wish *p;

	if (r->of != KIND_GROUP)
		return false;
	if (r->kind == EV_DO)
		return r->verb == GROUP_UNDRAFTED;
	p = r->kind == EV_SUBMIT ? group_wish_of(w, r->number) : NULL;
	return p && p->owed;
}

static bool is_drafting(const struct world *w)
{
	for (const struct request *r = w->load->requests; r; r = r->next)
		if (is_draft(w, r))
			return true;
	return false;
}

/* Most are drafted at once, some take so long that ticks and crashes come before. */
static int64_t draw_delay_us(struct rng *g)
{
	int n = (int)rng_below(g, 10);

	return sim_between(g, 0, n < 7 ? SECOND_US / 20 : n < 9 ? 3 * SECOND_US : MINUTE_US / 2);
}

static void give_up(struct world *w, rid group)
{
	struct request *r = load_command(w, w->load, EV_DO, KIND_GROUP);

	r->word = "draft nothing for";
	r->verb = GROUP_UNDRAFTED;
	r->made = group;
	groups_truth(w, group)->is_undrafted = true;
	load_send(w, r, draw_delay_us(&groups_of(w)->rng));
}

static void draft(struct world *w, rid group)
{
	struct rng *g = &groups_of(w)->rng;
	int64_t in_us = draw_delay_us(g);
	struct group_wish *p = group_draw_wish(w, JOBS_MOST);

	p->owed = group;
	p->name[0] = 0; /* the group has its own */
	group_send_wish(w, p, in_us);
	if (sim_chance(g, 100)) { /* somebody wants none of it just then */
		group_ask_cancel(w, groups_truth(w, group), in_us + sim_between(g, 0, 5000));
		groups_truth(w, group)->is_cancelled = true;
	}
}

static void draft_or_not(struct world *w, rid group, bool can)
{
	struct rng *g = &groups_of(w)->rng;

	if (!can || sim_chance(g, 100)) {
		give_up(w, group);
		return;
	}
	draft(w, group);
	if (sim_chance(g, 150)) /* another one, of a server before this one perhaps */
		draft(w, group);
}

void groups_stepped(struct world *w)
{
	struct sim_groups *all = groups_of(w);
	struct arena a = {0};
	struct str text;
	rid id;

	if (!all || !core_is_open(sim_core(w)) || !core_owed(sim_core(w), 0, &a, &text) ||
	    is_drafting(w)) {
		arena_release(&a);
		return;
	}
	id = core_owed(sim_core(w), all->drafted, &a, &text);
	if (!id)
		id = core_owed(sim_core(w), 0, &a, &text);
	all->drafted = id;
	draft_or_not(w, id, text.p != NULL);
	arena_release(&a);
}

/* -- the judge */

const struct truth_group *groups_live_of(const struct world *w, rid owner, rid but, bool ticks_only)
{
	const struct sim_groups *all = groups_of(w);

	for (size_t i = all->n; i-- > 0;) {
		const struct truth_group *g = all->all[i];

		if (g->row.owner == owner && g->id != but && !g->deleted && g->row.id &&
		    !group_is_ended(g->row.state) && (!ticks_only || g->is_of_tick))
			return g;
	}
	return NULL;
}

/* What lives of the group then is cancelled for the next tick. */
void groups_replaced(struct world *w, rid owner)
{
	struct sim_groups *all = groups_of(w);

	for (size_t i = 0; i < all->n; i++) {
		struct truth_group *g = all->all[i];

		if (g->row.owner != owner || g->deleted)
			continue;
		g->is_cancelled = true;
		g->must_cancel |= g->row.id && !group_is_ended(g->row.state);
	}
}

/* The ids behind an owed group's are its jobs': nobody else gets one of them. */
static void check_kept_ids(struct world *w, const struct truth_group *g)
{
	const struct judge *j = w->judge;

	for (size_t i = groups_of(w)->n_tasks_seen; i < j->n_tasks; i++) {
		const struct truth_task *t = j->tasks[i];

		if (t->stored && t->id > g->id && t->id <= g->id + GROUP_JOBS_MAX &&
		    t->owner.id != g->id)
			world_fail(w, 49, "task %u has an id that was set aside for group %u",
			    t->number, g->number);
	}
}

void judge_group_owed(struct world *w, const struct truth_group *g)
{
	bool has_failed = g->row.state == GROUP_FAILED && !g->row.n_jobs;

	if (g->row.owner && !g->has_tick)
		world_fail(w, 49, "group %u of tick %lld has no row of a tick", g->number,
		    (long long)g->row.owner_part);
	if (g->wish && g->wish->owed != (g->row.owner ? g->id : 0))
		world_fail(w, 49, "group %u has the jobs of another", g->number);
	if (group_is_ended(g->row.state) && !g->row.n_jobs && !g->has_reason)
		world_fail(w, 49, "group %u has no jobs, and nobody says why", g->number);
	if (has_failed && !g->is_undrafted)
		world_fail(w, 49, "group %u has failed before it had jobs", g->number);
	if (group_is_ended(g->row.state) && g->must_cancel && g->row.state != GROUP_CANCELED)
		world_fail(w, 46, "group %u is %s, and was cancelled before", g->number,
		    group_state_names[g->row.state]);
}

void judge_groups_kept(struct world *w)
{
	struct sim_groups *all = groups_of(w);

	for (size_t i = 0; i < all->n; i++)
		if (!all->all[i]->deleted && group_is_owed(&all->all[i]->row))
			check_kept_ids(w, all->all[i]);
	/* what is not durable yet may be later, or never */
	while (all->n_tasks_seen < w->judge->n_tasks &&
	       (w->judge->tasks[all->n_tasks_seen]->stored ||
	           w->judge->n_tasks - all->n_tasks_seen > UNSTORED_MOST))
		all->n_tasks_seen++;
}

/* A cancel, or that there is no draft, was acknowledged. */
void judge_group_done(struct world *w, const struct event *command, const struct reply *r)
{
	struct truth_group *g = groups_truth(w, command->object.id);

	if (command->object.verb == GROUP_CANCEL)
		g->must_cancel = true;
	else if (!g->deleted && g->row.state != GROUP_FAILED)
		world_fail(w, 49, "group %u cannot have jobs, and is %s", g->number,
		    group_state_names[g->row.state]);
}
