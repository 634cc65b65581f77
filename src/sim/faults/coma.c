/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/faults/coma.h"

#include "sim/judge/judge.h"
#include "sim/world/worker.h"

/* All of its processes are under way: one that is just being made would start at waking. */
static bool is_at_work(const struct world *w, int slot)
{
	const struct sim_worker *k = &w->workers[slot];
	size_t n = 0;

	if (!k->agent || k->node.paused || agent_phase(k->agent) != AGENT_SERVING)
		return false;
	for (const struct sim_process *p = k->processes; p; p = p->next) {
		if (p->state != PROCESS_RUNS || p->instance != k->instance)
			return false;
		n++;
	}
	return n > 0 && n == agent_live(k->agent);
}

void sim_coma_begin(struct world *w, struct fault *f)
{
	int64_t give_up, end;

	for (int i = 0; i < w->o.workers && !is_at_work(w, f->slot); i++)
		f->slot = (f->slot + 1) % w->o.workers;
	if (!is_at_work(w, f->slot))
		return;
	give_up = sim_worker_give_up_us(w, f->slot);
	if (give_up >= w->heal_us - 2 * SECOND_US)
		return;
	end = sim_between(&f->rng, give_up + SECOND_US, w->heal_us);
	world_tell(w, "FAULT: %s sleeps past every limit", world_node_name(w, f->slot));
	world_sleep(w, f->slot, end - w->now_us);
}

static void moment_passed(struct world *w, void *arg)
{
	int slot = (int)(intptr_t)arg;
	const struct sim_worker *k = &w->workers[slot];

	if (!k->node.asleep)
		return;
	if (sim_worker_give_up_us(w, slot) > w->now_us) {
		sim_coma_watch(w, slot); /* the sleeper's clocks run slower by now */
		return;
	}
	for (struct sim_process *p = k->processes; p; p = p->next)
		if (p->state == PROCESS_RUNS && !p->overslept)
			judge_overslept(w, p);
}

void sim_coma_watch(struct world *w, int slot)
{
	int64_t give_up = sim_worker_give_up_us(w, slot);

	if (w->workers[slot].processes && give_up < w->workers[slot].node.resume_us)
		world_at(w, give_up, moment_passed, (void *)(intptr_t)slot);
}
