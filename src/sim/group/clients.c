/* SPDX-License-Identifier: Apache-2.0 */
/* Clients who submit groups, cancel and remove them, and meddle with single jobs. */
#include "sim/group/group.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/limits.h"

#define RELEASE_LATER_US (20 * SECOND_US)

static struct rng *rng_of(const struct world *w)
{
	return &groups_of(w)->rng;
}

static void add_edge(struct group_wish *p, struct group_edge e)
{
	if (p->n_edges < PLAN_EDGES)
		p->edges[p->n_edges++] = e;
}

static uint8_t draw_condition(struct rng *g)
{
	int n = (int)rng_below(g, 10);

	return n < 7 ? EDGE_SUCCESS : n < 9 ? EDGE_END : EDGE_FAILURE;
}

static bool has_edge(const struct group_wish *p, uint32_t job, uint32_t need)
{
	for (size_t i = 0; i < p->n_edges; i++)
		if (p->edges[i].job == job && p->edges[i].need == need)
			return true;
	return false;
}

/* Any acyclic graph: what is needed comes earlier in some order that is drawn, too. */
static void draw_graph(struct rng *g, struct group_wish *p)
{
	uint32_t order[SUBMIT_MOST];

	for (int i = 0; i < p->n; i++) {
		int k = (int)rng_below(g, (uint64_t)i + 1);

		order[i] = order[k];
		order[k] = (uint32_t)i;
	}
	for (int i = 1; i < p->n; i++)
		for (int64_t k = sim_between(g, 0, 3); k > 0; k--) {
			uint32_t need = order[rng_below(g, (uint64_t)i)];

			if (!has_edge(p, order[i], need))
				add_edge(p, (struct group_edge){order[i], need, draw_condition(g),
				                (uint8_t)rng_below(g, EDGE_REASONS_MAX)});
		}
	if (p->n_edges && sim_chance(g, 300)) /* needs that are listed twice */
		add_edge(p, p->edges[rng_below(g, p->n_edges)]);
	if (p->n_edges && sim_chance(g, 30)) {
		p->has_cycle = true;
		add_edge(p, (struct group_edge){p->edges[0].need, p->edges[0].job});
	}
}

struct group_wish *group_draw_wish(struct world *w, int n_most)
{
	struct sim_groups *all = groups_of(w);
	struct group_wish *p = xcalloc(1, sizeof *p);

	p->n = (int)sim_between(&all->rng, sim_chance(&all->rng, 50) ? 0 : 1, n_most);
	p->policy = sim_chance(&all->rng, 600) ? GROUP_BEST_EFFORT
	                                       : (int32_t)rng_below(&all->rng, N_GROUP_POLICIES);
	if (sim_chance(&all->rng, 300))
		snprintf(p->name, sizeof p->name, "g%d", (int)rng_below(&all->rng, 3));
	draw_graph(&all->rng, p);
	return p;
}

/* By numbers of its own, in every other world: all else is drawn as without it. */
static void maybe_reuse(struct world *w, struct group_wish *p)
{
	const struct sim_groups *all = groups_of(w);
	struct rng world = {w->o.seed ^ 0x7265757365000000ull}, own = world;

	own.state ^= (uint64_t)p->request << 32;
	if (p->parent || !all->n || !group_is_of_series(p) || !sim_chance(&world, 500) ||
	    !sim_chance(&own, 500))
		return;
	group_wish_reuse(p, all->all[rng_below(&own, all->n)], rng_next(&own));
}

void group_send_wish(struct world *w, struct group_wish *p, int64_t in_us)
{
	struct sim_groups *all = groups_of(w);
	struct rng *g = rng_of(w);
	struct request *r = load_request(w, w->load, EV_SUBMIT);

	p->request = r->number;
	maybe_reuse(w, p);
	GROW(all->wishes, all->cap_wishes, all->n_wishes + 1);
	all->wishes[all->n_wishes++] = p;
	r->makes = true;
	r->of = KIND_GROUP;
	r->queue = (int)rng_below(g, (uint64_t)w->load->n_queues);
	r->n = p->n;
	r->max_attempts = (int)sim_between(g, 0, 3);
	r->idem = sim_chance(g, 500) && !p->owed;
	r->repeat = r->idem || sim_chance(g, 500);
	r->status = TASK_BLOCKED;
	load_send(w, r, in_us);
}

void groups_load(struct world *w)
{
	struct sim_groups *all = groups_of(w);
	int n = w->o.tasks / 8 + 1;

	if (!all)
		return;
	group_send_wish(w, group_draw_wish(w, SUBMIT_MOST), SECOND_US);
	for (int i = 0; i < n; i++)
		world_event(w, sim_between(&all->rng, 0, w->heal_us * 9 / 10), SE_LOAD, SIM_RAW)
		    ->n = KIND_GROUP;
}

static struct truth_group *some_group(const struct world *w)
{
	struct sim_groups *all = groups_of(w);

	return all->n ? all->all[rng_below(&all->rng, all->n)] : NULL;
}

void group_ask_cancel(struct world *w, const struct truth_group *t, int64_t in_us)
{
	struct request *r = load_command(w, w->load, EV_DO, KIND_GROUP);

	r->word = "cancel";
	r->verb = GROUP_CANCEL;
	r->made = t->id;
	load_send(w, r, in_us);
}

static void draw_cancel(struct world *w)
{
	struct truth_group *t = some_group(w);

	if (!t)
		return;
	t->is_cancelled = true;
	group_ask_cancel(w, t, 0);
}

static void draw_remove(struct world *w)
{
	const struct truth_group *t = some_group(w);
	struct request *r;

	if (!t)
		return;
	r = load_command(w, w->load, EV_DELETE, KIND_GROUP);
	r->made = t->id;
	load_send(w, r, 0);
}

/* Jobs are tasks like any others: people cancel, fail, hold, release and repeat them. */
static void draw_task(struct world *w)
{
	static const enum event_kind kinds[] = {EV_CANCEL, EV_RETRY, EV_TASK_SET, EV_TASK_SET};
	struct rng *g = rng_of(w);
	struct truth_group *t = some_group(w);
	struct request *r;

	if (!t || !t->n_jobs)
		return;
	r = load_request(w, w->load, kinds[rng_below(g, 4)]);
	r->flag = r->kind == EV_CANCEL && sim_chance(g, 500);
	r->status = sim_chance(g, 600) ? HELD_STATUS : TASK_QUEUED;
	for (int64_t n = sim_between(g, 1, 3); n > 0; n--) {
		const struct truth_task *job = t->jobs[rng_below(g, (uint64_t)t->n_jobs)];

		if (job)
			r->ids[r->n_ids++] = job->id;
	}
	load_send(w, r, 0);
}

/* What is left of one that has ended. */
static void retry(struct world *w)
{
	struct truth_group *t = some_group(w);
	struct group_wish *p = xcalloc(1, sizeof *p);

	if (t && group_wish_left(p, t, rng_of(w)))
		group_send_wish(w, p, 0);
	else
		free(p);
}

void groups_draw_request(struct world *w)
{
	int n = (int)rng_below(rng_of(w), 12);

	if (n >= 10)
		retry(w);
	else if (n < 4)
		group_send_wish(w, group_draw_wish(w, SUBMIT_MOST), 0);
	else if (n < 5)
		draw_cancel(w);
	else if (n < 6)
		draw_remove(w);
	else
		draw_task(w);
}

/* Nobody holds anything any more. */
void groups_heal(struct world *w)
{
	const struct sim_groups *all = groups_of(w);

	for (size_t i = 0; all && i < all->n; i++) {
		const struct truth_group *t = all->all[i];
		struct request *r;

		if (t->deleted || group_is_ended(t->row.state))
			continue;
		r = load_request(w, w->load, EV_TASK_SET);
		r->status = TASK_QUEUED;
		for (int k = 0; k < t->n_jobs; k++)
			if (t->jobs[k])
				r->ids[r->n_ids++] = t->jobs[k]->id;
		load_send(w, r, RELEASE_LATER_US);
	}
}

const struct group_wish *group_wish_of(const struct world *w, unsigned request)
{
	const struct sim_groups *all = groups_of(w);

	for (size_t i = all->n_wishes; i-- > 0;)
		if (all->wishes[i]->request == request)
			return all->wishes[i];
	return NULL;
}

void group_submit(struct world *w, const struct request *r, struct event *ev, struct arena *a)
{
	const struct group_wish *p = group_wish_of(w, r->number);
	struct submit_group *g = arena_zalloc(a, sizeof *g);
	struct str *names = arena_zalloc(a, SUBMIT_MOST * sizeof *names);

	for (int i = 0; i < p->n; i++)
		names[i] = arena_strf(a, "j%d", i);
	g->name = p->name[0] ? arena_str(a, str_of((char *)p->name)) : STR_NULL;
	g->policy = p->policy;
	g->edges = arena_memdup(a, p->edges, p->n_edges * sizeof *p->edges);
	g->n_edges = p->n_edges;
	g->names = names;
	g->owed = p->owed;
	group_submit_series(p, g, a);
	group_submit_left(p, g, a);
	ev->submit.group = g;
}

bool group_command(
    struct world *w, const struct request *r, rid queue, struct event *ev, struct command_parts *c)
{
	ev->object.id = r->made;
	ev->object.reason = STR("drawn");
	return true;
}
