/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/faults/remove.h"

#include "sim/world/net.h"
#include "sim/world/server.h"
#include "sim/world/worker.h"

enum { STEP_REMOVE = 1, STEP_HUSH, STEP_CRASH };

static void plan(struct world *w, unsigned number, int64_t at_us, int step)
{
	struct sim_event *e = world_event(w, at_us, SE_FAULT, SIM_RAW);

	e->n = number;
	e->value = step;
}

/* The worker holds nothing, and nothing that it was sent can reach it any more. */
static bool is_idle(struct world *w, int slot, rid *ret_id)
{
	struct sim_worker *k = &w->workers[slot];
	struct worker_view v;

	if (!k->agent || k->processes || agent_held(k->agent) || !sim_core(w) ||
	    !core_is_open(sim_core(w)))
		return false;
	*ret_id = core_find(sim_core(w), KIND_WORKER, str_of(k->shard));
	return *ret_id && core_worker(sim_core(w), *ret_id, sim_server_mono_ms(w), &v) &&
	       v.row->facts.instance == k->instance && !v.running;
}

static void answered(const struct reply *r, void *arg)
{
	struct world *w = arg;

	world_tell(w, "operator: %s", r ? err_name(r->code) : "no answer");
}

void sim_remove_first(struct fault *f)
{
	f->slot = 0;
	f->at_us = sim_between(&f->rng, REMOVE_ALONE_US / 2, REMOVE_ALONE_US);
}

/* Nothing passes any more, and the server has noticed; the worker need not have. */
void sim_remove_begin(struct world *w, struct fault *f, unsigned number)
{
	rid id;

	for (int i = 0; i < w->o.workers; i++, f->slot = (f->slot + 1) % w->o.workers)
		if (is_idle(w, f->slot, &id))
			break;
	if (w->o.workers < 2 || !is_idle(w, f->slot, &id))
		return;
	f->end_us = w->now_us + sim_between(&f->rng, 20 * SECOND_US, 3 * MINUTE_US);
	if (f->end_us > w->heal_us)
		f->end_us = w->heal_us;
	world_tell(w, "FAULT: %s is cut off and idle", world_node_name(w, f->slot));
	sim_net_block(w, f->slot, TO_SERVER, f->end_us);
	sim_net_block(w, f->slot, TO_WORKER, f->end_us);
	sim_net_cut_all(w, f->slot, 0, 0, -1);
	plan(w, number, w->now_us + sim_between(&f->rng, 1000, 5 * SECOND_US), STEP_REMOVE);
}

static void remove_it(struct world *w, struct fault *f, unsigned number)
{
	struct event ev = {.kind = EV_DELETE,
	    .object = {.kind = KIND_WORKER, .force = true},
	    .actor = STR("operator")};

	if (!is_idle(w, f->slot, &ev.object.id))
		return;
	world_tell(w, "operator: %s is removed as lost", world_node_name(w, f->slot));
	sim_server_command(w, &ev, answered, w);
	plan(w, number, f->end_us - sim_between(&f->rng, SECOND_US, 10 * SECOND_US), STEP_HUSH);
}

/* Orders still reach the others, their words do not come back. */
static void hush(struct world *w, struct fault *f, unsigned number)
{
	for (int i = 0; i < w->o.workers; i++)
		if (i != f->slot)
			sim_net_block(w, i, TO_SERVER, f->end_us);
	plan(w, number, f->end_us, STEP_CRASH);
}

static void crash(struct world *w, struct fault *f)
{
	int64_t until = w->now_us + sim_between(&f->rng, SECOND_US, 60 * SECOND_US);

	if (until > w->heal_us)
		until = w->heal_us;
	world_tell(w, "FAULT: the server is killed, and only %s comes back at once",
	    world_node_name(w, f->slot));
	sim_server_crash(w, sim_between(&f->rng, 1000, SECOND_US));
	for (int i = 0; i < w->o.workers; i++) {
		if (i == f->slot)
			continue;
		sim_net_block(w, i, TO_SERVER, until);
		sim_net_block(w, i, TO_WORKER, until);
	}
}

void sim_remove_step(struct world *w, struct fault *f, unsigned number, int step)
{
	if (step == STEP_REMOVE)
		remove_it(w, f, number);
	else if (step == STEP_HUSH)
		hush(w, f, number);
	else
		crash(w, f);
}
