/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/faults/liar.h"

#include "sim/faults/hostile.h"
#include "sim/judge/judge_internal.h"
#include "sim/world/net.h"

#define LIAR_HELLOS 3

enum { STEP_CRASH = 1, STEP_LIE, STEP_LEAVE, STEP_HANG_UP };

static void plan(struct world *w, unsigned number, int64_t at_us, int step)
{
	struct sim_event *e = world_event(w, at_us, SE_FAULT, SIM_RAW);

	e->n = number;
	e->value = step;
}

static int64_t soon(struct world *w, struct fault *f, int64_t least_us, int64_t most_us)
{
	int64_t at_us = w->now_us + sim_between(&f->rng, least_us, most_us);

	return at_us < w->heal_us ? at_us : w->heal_us;
}

/* Orders still reach them, their words do not come back. */
bool sim_liar_begin(struct world *w, struct fault *f, unsigned number)
{
	if (!sim_core(w) || !w->server->core_options.is_volatile || w->o.workers < 2)
		return false;
	f->end_us = soon(w, f, SECOND_US, 10 * SECOND_US);
	world_tell(w, "FAULT: the words of all workers are held up");
	for (int i = 0; i < w->o.workers; i++)
		sim_net_block(w, i, TO_SERVER, f->end_us);
	plan(w, number, f->end_us, STEP_CRASH);
	return true;
}

/* One that runs something stays away for longest. */
static int who_stays_away(const struct world *w, const struct fault *f)
{
	for (int i = 0; i < w->o.workers; i++) {
		int slot = (f->slot + i) % w->o.workers;

		if (w->workers[slot].processes)
			return slot;
	}
	return f->slot;
}

/* A worker that was given tasks, so that its word counts; it lacks the others' receipts. */
static int who_turns(struct world *w, struct fault *f, int away)
{
	int slot = (int)rng_below(&f->rng, (uint64_t)w->o.workers);

	if (slot == away || sim_chance(&f->rng, 200))
		return -1;
	world_tell(w, "FAULT: %s turns liar", world_node_name(w, slot));
	w->workers[slot].lies = LIAR_HELLOS;
	w->workers[slot].lie_rng = f->rng;
	return slot;
}

static bool has(const struct link_held *held, size_t n, rid task)
{
	for (size_t i = 0; i < n; i++)
		if (held[i].task == task)
			return true;
	return false;
}

size_t sim_liar_claims(struct world *w, struct sim_worker *k, struct link_held *held, size_t n)
{
	const size_t most = n + LIAR_CLAIMS;

	if (!k->lies || !sim_core(w))
		return n;
	k->lies--;
	for (int i = 0; i < 4 * LIAR_CLAIMS && n < most; i++) {
		struct link_held lie;

		if (!sim_hostile_lies_of(w, &k->lie_rng, &lie))
			break;
		if (has(held, n, lie.task))
			continue;
		sim_hostile_claims(w, k->instance, &lie);
		held[n++] = lie;
	}
	return n;
}

static void crash(struct world *w, struct fault *f, unsigned number)
{
	int away = who_stays_away(w, f), turned;
	int64_t down_us = sim_between(&f->rng, 1000, SECOND_US);
	int64_t long_us = soon(w, f, 10 * SECOND_US, 3 * MINUTE_US);

	if (!sim_core(w))
		return;
	f->set_server = w->server->core_options.server;
	f->end_us = soon(w, f, down_us + 2 * SECOND_US, down_us + 6 * SECOND_US);
	world_tell(w, "FAULT: the server is killed, and %s stays away for longest",
	    world_node_name(w, away));
	sim_server_crash(w, down_us);
	turned = who_turns(w, f, away);
	for (int i = 0; i < w->o.workers; i++) {
		int64_t until_us = i == away ? long_us : i == turned ? w->now_us : f->end_us;

		sim_net_block(w, i, TO_SERVER, until_us);
		sim_net_block(w, i, TO_WORKER, until_us);
	}
	plan(w, number, w->now_us + down_us + SECOND_US / 100, STEP_LIE);
}

static void lie(struct world *w, struct fault *f, unsigned number)
{
	uint64_t instance = rng_next(&f->rng) | 1;
	struct set_id set = {.server = f->set_server, .version = 1};

	set_hash_add(&set.hash, instance);
	f->link = sim_hostile_lie(w, &f->rng, instance, &set);
	if (!f->link)
		return;
	plan(w, number, soon(w, f, SECOND_US / 10, 2 * SECOND_US), STEP_LEAVE);
}

/* A worker that stays in the set and is silent holds up the others, which is known. */
static void leave(struct world *w, struct fault *f, unsigned number)
{
	struct event ev = {.kind = EV_BEAT};

	sim_hostile_end(w, &f->rng, f->link);
	ev.beat.number = 1;
	ev.beat.own = WORKER_HEALTHY;
	ev.beat.leaving = true;
	sim_raw_send(w, f->link, &ev);
	plan(w, number, soon(w, f, SECOND_US / 2, SECOND_US), STEP_HANG_UP);
}

void sim_liar_step(struct world *w, struct fault *f, unsigned number, int step)
{
	switch (step) {
	case STEP_CRASH: crash(w, f, number); break;
	case STEP_LIE: lie(w, f, number); break;
	case STEP_LEAVE: leave(w, f, number); break;
	default: sim_raw_close(w, f->link); break;
	}
}
