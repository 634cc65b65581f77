/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/faults/split.h"

#include "sim/world/net.h"
#include "sim/world/server.h"
#include "sim/world/worker.h"

enum { STEP_SWAP = 1, STEP_CRASH };

static void plan(struct world *w, unsigned number, int64_t at_us, int step)
{
	struct sim_event *e = world_event(w, at_us, SE_FAULT, SIM_RAW);

	e->n = number;
	e->value = step;
}

/* Some, but not all; often those who are there, so that the others are known to nobody. */
static uint64_t draw_group(struct world *w, struct rng *r)
{
	uint64_t all = (UINT64_C(1) << w->o.workers) - 1, group = 0;

	for (int i = 0; i < w->o.workers && sim_chance(r, 900); i++)
		group |= (uint64_t)(w->workers[i].agent != NULL) << i;
	while (!group || group == all)
		group = rng_next(r) & all;
	return group;
}

static bool is_away(const struct fault *f, int slot)
{
	return f->away >> slot & 1;
}

static void cut_off(struct world *w, const struct fault *f, bool away, bool deaf, int64_t until_us)
{
	for (int i = 0; i < w->o.workers; i++) {
		if (is_away(f, i) != away)
			continue;
		sim_net_block(w, i, TO_WORKER, until_us);
		if (!deaf)
			sim_net_block(w, i, TO_SERVER, until_us);
		world_tell(w, "FAULT: %s %s until %lld ms", world_node_name(w, i),
		    deaf ? "hears nothing" : "is cut off", (long long)until_us / 1000);
	}
}

void sim_split_begin(struct world *w, struct fault *f, unsigned number)
{
	struct rng *r = &f->rng;
	int64_t beat_us = w->o.timeouts.heartbeat_ms * 1000, swap_us;

	if (w->o.workers < 2 || w->o.workers > 62)
		return;
	f->away = draw_group(w, r);
	swap_us = w->now_us + sim_between(r, beat_us / 4, beat_us * 5);
	cut_off(w, f, true, sim_chance(r, 400), swap_us);
	for (int i = 0; i < w->o.workers; i++) {
		if (is_away(f, i) || !sim_chance(r, 600))
			continue;
		if (w->workers[i].agent)
			sim_worker_kill(w, i, sim_between(r, 1000, SECOND_US));
		else
			sim_worker_start(w, i, sim_between(r, 1000, SECOND_US));
	}
	plan(w, number, swap_us, STEP_SWAP);
}

static void crash(struct world *w, struct fault *f)
{
	if (!w->server->core)
		return;
	world_tell(w, "FAULT: the server is killed");
	sim_server_crash(w, sim_between(&f->rng, 1000, SECOND_US));
}

void sim_split_step(struct world *w, struct fault *f, unsigned number, int step)
{
	struct rng *r = &f->rng;
	int64_t beat_us = w->o.timeouts.heartbeat_ms * 1000;

	crash(w, f);
	if (step != STEP_SWAP)
		return;
	f->end_us = w->now_us + sim_between(r, beat_us, beat_us * 8);
	if (f->end_us > w->heal_us)
		f->end_us = w->heal_us;
	cut_off(w, f, false, sim_chance(r, 200), f->end_us);
	while (sim_chance(r, 500))
		plan(w, number, sim_between(r, w->now_us + SECOND_US, f->end_us + SECOND_US),
		    STEP_CRASH);
}
