/* SPDX-License-Identifier: Apache-2.0 */
/* Health: a worker starts tasks only while it is healthy, and gives up before the server does. */
#include "sim/judge/judge_internal.h"
#include "sim/world/net.h"

/* What the server believes of this very instance; false: nothing. */
static bool find_view(const struct world *w, int slot, struct worker_view *v)
{
	const struct sim_worker *k = &w->workers[slot];
	rid id;

	if (!sim_core(w) || !core_is_open(sim_core(w)))
		return false;
	id = core_find(sim_core(w), KIND_WORKER, str_of(k->shard));
	return core_worker(sim_core(w), id, sim_server_mono_ms(w), v) &&
	       v->row->facts.instance == k->instance;
}

static bool is_lost(const struct world *w, int slot)
{
	struct worker_view v;

	return find_view(w, slot, &v) && v.state == WORKER_MUST_DIE;
}

/* The server has lost it for its silence; it must have known that before, once it was welcome. */
static void check_gone(struct world *w, int slot)
{
	struct sim_worker *k = &w->workers[slot];

	if (!k->agent || k->lost_instance != k->instance || k->node.paused ||
	    agent_phase(k->agent) != AGENT_SERVING || agent_give_up_ms(k->agent) == INT64_MAX)
		return;
	if (is_lost(w, slot)) /* a crash may have undone it */
		world_fail(w, 36, "%s serves on, but the server has given it up",
		    world_node_name(w, slot));
}

static void look_at(struct world *w, int slot)
{
	struct sim_worker *k = &w->workers[slot];
	struct worker_view v;

	if (!k->agent || !find_view(w, slot, &v))
		return;
	if (k->lost_instance != k->instance && v.state == WORKER_MUST_DIE) {
		k->lost_instance = k->instance;
		check_gone(w, slot);
	}
	judge_credit(w, slot, &v);
}

/* A beat changes what is believed of its worker only; time, of all. */
void judge_health(struct world *w, const struct event *ev)
{
	const struct sim_link *l;

	judge_new_messages(w);
	if (ev->kind == EV_BEAT) {
		l = sim_link_find(w, ev->link);
		if (l && l->slot >= 0)
			look_at(w, l->slot);
	}
	for (int i = 0; ev->kind == EV_WAKE && i < w->o.workers; i++)
		look_at(w, i);
}

void judge_worker(struct world *w, int slot, const struct agent_event *in)
{
	struct sim_worker *k = &w->workers[slot];

	if (in->kind == AE_CHECKED && in->checked.ok)
		k->last_ok_us = w->now_us;
	for (size_t i = 0; in->kind == AE_RUN && i < k->effects.n; i++)
		if (k->effects.items[i].kind == AF_START &&
		    agent_health(k->agent) != WORKER_HEALTHY)
			world_fail(w, 35, "%s starts a task while it is %s",
			    world_node_name(w, slot), worker_state_names[agent_health(k->agent)]);
	check_gone(w, slot);
}
