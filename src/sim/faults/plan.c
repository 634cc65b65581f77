/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/faults/plan.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sim/faults/coma.h"
#include "sim/faults/hostile.h"
#include "sim/faults/liar.h"
#include "sim/faults/remove.h"
#include "sim/faults/split.h"
#include "sim/kind.h"
#include "sim/world/net.h"
#include "sim/world/server.h"
#include "sim/world/worker.h"

#define FAULTS_MOST 200
#define CLOCK_STEP 2 /* added to a slot: the value of the event that sets its clock going */
#define CLOCK_STOP_US (60 * SECOND_US)

struct sim_plan {
	struct fault faults[FAULTS_MOST];
	unsigned numbers[FAULTS_MOST];
	size_t n, n_numbers;
};

/* How often each class is drawn. */
static const int weights[N_CLASSES] = {
    [CLASS_NET] = 6,
    [CLASS_CALL] = 6,
    [CLASS_CRASH] = 6,
    [CLASS_PAUSE] = 4,
    [CLASS_CLOCK] = 2,
    [CLASS_PROCESS] = 2,
    [CLASS_STORE] = 3,
    [CLASS_TWIN] = 1,
    [CLASS_SPLIT] = 5,
};

static int draw_class(struct rng *r)
{
	int n = (int)rng_below(r, 35), i = 0;

	while (n >= weights[i])
		n -= weights[i++];
	return i;
}

static bool is_wanted(const struct world *w, unsigned number, int class)
{
	if (!(w->o.classes & 1u << class))
		return false;
	if (!w->o.has_only)
		return true;
	for (size_t i = 0; i < w->o.n_only; i++)
		if (w->o.only[i] == number)
			return true;
	return false;
}

static void draw_drifts(struct world *w)
{
	struct rng r = {w->o.seed ^ 0x64726966740000ull};

	for (int i = SIM_SERVER; i < w->o.workers; i++) {
		int64_t ppm = sim_between(&r, -w->o.drift_max_ppm, w->o.drift_max_ppm);

		if (w->o.classes & 1u << CLASS_CLOCK)
			node_clock_drift(&world_node(w, i)->clock, 0, ppm);
	}
}

size_t sim_plan_size(const struct sim_options *o)
{
	size_t n =
	    (size_t)(o->n_faults * 2 + o->n_times + o->n_removes + o->n_attacks + o->n_comas);

	return n > FAULTS_MOST ? FAULTS_MOST : n;
}

/* The last ones are of the classes that have their own numbers. */
static int tail_class(const struct sim_options *o, size_t left, int class)
{
	const struct {
		int class, n;
	} tail[] = {{CLASS_COMA, o->n_comas}, {CLASS_HOSTILE, o->n_attacks},
	    {CLASS_REMOVE, o->n_removes}, {CLASS_TIME, o->n_times}};

	for (size_t i = 0; i < sizeof tail / sizeof tail[0]; i++) {
		if (left <= (size_t)tail[i].n)
			return tail[i].class;
		left -= (size_t)tail[i].n;
	}
	return class;
}

struct sim_plan *sim_plan_new(struct world *w)
{
	struct sim_plan *p = xcalloc(1, sizeof *p);
	struct rng r = {w->o.seed ^ 0x706c616e00000000ull};

	if (w->o.exact)
		return p;
	draw_drifts(w);
	p->n = sim_plan_size(&w->o);
	for (size_t i = 0; i < p->n; i++) {
		struct fault *f = &p->faults[i];

		f->rng.state = rng_next(&r);
		f->class = tail_class(&w->o, p->n - i, draw_class(&f->rng));
		f->at_us = w->heal_us / 1000 * sim_between(&f->rng, 5, 960);
		f->slot = (int)(rng_next(&f->rng) % (uint64_t)w->o.workers);
		if (f->class == CLASS_REMOVE && p->faults[i - 1].class != CLASS_REMOVE)
			sim_remove_first(f);
		if (!is_wanted(w, (unsigned)i, f->class))
			continue;
		p->numbers[p->n_numbers++] = (unsigned)i;
		world_event(w, f->at_us, SE_FAULT, SIM_RAW)->n = i;
	}
	return p;
}

void sim_plan_free(struct sim_plan *p)
{
	free(p);
}

size_t sim_plan_numbers(const struct sim_plan *p, const unsigned **ret_numbers)
{
	*ret_numbers = p->numbers;
	return p->n_numbers;
}

/* Short ones are many, long ones few; and all end when everything heals. */
static int64_t until(struct world *w, struct rng *r, int64_t most_us)
{
	int64_t for_us = sim_between(r, 1000, sim_chance(r, 600) ? most_us / 8 : most_us);

	return w->now_us + for_us < w->heal_us ? w->now_us + for_us : w->heal_us;
}

static int64_t notice(struct rng *r)
{
	if (sim_chance(r, 150))
		return -1;
	return sim_between(r, 0, sim_chance(r, 700) ? SECOND_US / 2 : 60 * SECOND_US);
}

static void net_fault(struct world *w, struct fault *f)
{
	struct rng *r = &f->rng;
	int64_t end = until(w, r, 5 * MINUTE_US), a = notice(r), b = notice(r);
	int share = (int)rng_below(r, 1001), what = (int)rng_below(r, 10);

	if (what < 4) {
		world_tell(w, "FAULT: the links of %s break", world_node_name(w, f->slot));
		/* one side at least finds out */
		sim_net_cut_all(w, f->slot, share, a, b < 0 ? SECOND_US : b);
	} else if (what < 5) {
		world_tell(w, "FAULT: all links break");
		for (int i = 0; i < w->o.workers; i++)
			sim_net_cut_all(w, i, share, a, b < 0 ? SECOND_US : b);
	} else if (what < 9) {
		if (what != 5)
			sim_net_block(w, f->slot, TO_SERVER, end);
		if (what != 6)
			sim_net_block(w, f->slot, TO_WORKER, end);
		world_tell(w, "FAULT: %s is cut off%s until %lld ms", world_node_name(w, f->slot),
		    what == 5   ? ", one way (from the server)"
		    : what == 6 ? ", one way (to the server)"
		                : "",
		    (long long)end / 1000);
	} else {
		world_tell(w, "FAULT: the line to %s is slow", world_node_name(w, f->slot));
		sim_net_slow(w, f->slot, sim_between(r, 10000, 20 * SECOND_US), end);
	}
}

static void call_fault(struct world *w, struct fault *f)
{
	struct rng *r = &f->rng;
	static const int to_server[] = {
	    EV_HELLO, EV_BEAT, EV_CHECKED, EV_NOTIFIED, EV_STARTED, EV_ENDED};
	struct net_rule rule = {
	    .slot = sim_chance(r, 300) ? -1 : f->slot,
	    .direction = (int)rng_below(r, N_DIRECTIONS),
	    .kind = -1,
	    .action = (enum sim_action)rng_below(r, N_CALL_ACTIONS),
	    .per_mille = (int)sim_between(r, 20, 600),
	    .left = -1,
	    .until_us = until(w, r, 3 * MINUTE_US),
	    .delay_us = sim_between(r, 1000, sim_chance(r, 500) ? SECOND_US : 90 * SECOND_US),
	};

	if (sim_chance(r, 600)) {
		rule.kind = rule.direction == TO_WORKER ? (int)rng_below(r, MSG_SETTINGS + 1)
		                                        : to_server[rng_below(r, 6)];
		rule.per_mille = (int)sim_between(r, 300, 1000);
	}
	rule.rng.state = rng_next(r);
	world_tell(w, "FAULT: calls to %s %s (%d in 1000, %s) until %lld ms",
	    rule.direction == TO_WORKER ? "workers" : "the server",
	    rule.action == CALL_LOSE     ? "get lost"
	    : rule.action == CALL_DOUBLE ? "come twice"
	    : rule.action == CALL_STALL  ? "hold up their link"
	                                 : "come late",
	    rule.per_mille,
	    rule.kind < 0 ? "of any kind" : packet_kind_name(rule.direction, rule.kind),
	    (long long)rule.until_us / 1000);
	sim_net_rule(w, &rule);
}

/* At once, or between any two things that one step of its brain wants done. */
static void kill_worker(struct world *w, struct fault *f, int64_t down)
{
	struct rng *r = &f->rng;

	if (sim_chance(r, 500)) {
		world_tell(w, "FAULT: %s is killed", world_node_name(w, f->slot));
		sim_worker_kill(w, f->slot, down);
		return;
	}
	world_tell(w, "FAULT: %s will die in the middle of something", world_node_name(w, f->slot));
	sim_worker_kill_at(w, f->slot, (int)sim_between(r, 1, sim_chance(r, 500) ? 4 : 40), down);
}

static void crash_fault(struct world *w, struct fault *f)
{
	struct rng *r = &f->rng;
	struct sim_server *s = w->server;
	int what = (int)rng_below(r, 12);
	int64_t down = sim_between(r, 1000, sim_chance(r, 700) ? 5 * SECOND_US : 2 * MINUTE_US);

	if (what < 2) {
		world_tell(w, "FAULT: the server is killed");
		sim_server_crash(w, down);
	} else if (what < 6) {
		s->crash_at = (enum sim_boundary)sim_between(r, AT_STEP, N_BOUNDARIES - 1);
		s->crash_after = (int)sim_between(r, 1, 30);
		s->down_us = down;
		world_tell(w, "FAULT: the server will die at boundary %d, crossing %d", s->crash_at,
		    s->crash_after);
	} else if (what < 7) {
		world_tell(w, "FAULT: the server is stopped");
		sim_server_stop(w, down);
	} else if (what < 9) {
		kill_worker(w, f, sim_chance(r, 800) ? down : -1);
	} else if (what < 11) {
		sim_machine_crash(w, f->slot, sim_chance(r, 800) ? down : -1);
	} else {
		world_tell(w, "FAULT: %s is told to leave", world_node_name(w, f->slot));
		sim_worker_leave(w, f->slot);
	}
}

static void stop_clock(struct world *w, struct rng *r, int slot, unsigned number)
{
	struct sim_event *e = world_event(w, until(w, r, CLOCK_STOP_US), SE_FAULT, SIM_RAW);

	e->n = number;
	e->value = slot + CLOCK_STEP;
	world_clock_stop(w, slot, true);
}

static void clock_fault(struct world *w, struct fault *f, unsigned number)
{
	struct rng *r = &f->rng;
	int slot = sim_chance(r, 400) ? SIM_SERVER : f->slot;
	int64_t by = sim_between(r, 1, sim_chance(r, 700) ? 600 : INT64_C(10) * 365 * 86400) * 1000;

	if (sim_chance(r, 250))
		stop_clock(w, r, slot, number);
	else if (sim_chance(r, 300))
		world_clock_drift(w, slot, sim_between(r, -w->o.drift_max_ppm, w->o.drift_max_ppm));
	else
		world_clock_jump(w, slot, sim_chance(r, 500) ? by : -by);
}

static void store_fault(struct world *w, struct fault *f)
{
	struct rng *r = &f->rng;
	struct sim_server *s = w->server;
	int64_t end = until(w, r, 40 * SECOND_US);

	switch (rng_below(r, 4)) {
	case 0:
		s->slow_until_us = end;
		s->slow_us = sim_between(r, 10000, 8 * SECOND_US);
		world_tell(w, "FAULT: the store is slow");
		break;
	case 1:
		s->busy_until_us = end;
		world_tell(w, "FAULT: the store refuses writes");
		break;
	case 2:
		s->reads_fail_until_us = end;
		world_tell(w, "FAULT: the store's reads fail");
		break;
	default:
		s->lose_next_commit = true;
		s->lost_is_applied = sim_chance(r, 500);
		s->down_us = sim_between(r, 1000, 20 * SECOND_US);
		world_tell(w, "FAULT: the outcome of a commit will be unknown");
		break;
	}
}

/*
 * A machine that sleeps longer than its worker may be silent wakes up with processes that are
 * somebody else's by then: nobody can end them before they wake. So it has none, or wakes before.
 */
static void sleep_fault(struct world *w, int slot, int64_t end)
{
	int64_t give_up = sim_worker_give_up_us(w, slot);

	if (w->workers[slot].processes && give_up < end)
		end = give_up;
	world_sleep(w, slot, end - w->now_us);
}

static void pause_fault(struct world *w, struct fault *f)
{
	struct rng *r = &f->rng;
	int64_t end = until(w, r, w->o.pause_max_ms * 1000);

	if (sim_chance(r, 250) && w->server->core)
		world_pause(w, SIM_SERVER,
		    end - w->now_us > 40 * SECOND_US ? 40 * SECOND_US : end - w->now_us);
	else if (w->workers[f->slot].agent && sim_chance(r, 300))
		sleep_fault(w, f->slot, end);
	else if (w->workers[f->slot].agent)
		world_pause(w, f->slot, end - w->now_us);
}

void sim_plan_event(struct world *w, struct sim_event *e)
{
	struct fault *f = &w->plan->faults[e->n];

	if (w->healed)
		return;
	if (e->value && f->class == CLASS_CLOCK) {
		world_clock_stop(w, (int)e->value - CLOCK_STEP, false);
		return;
	}
	if (e->value && f->class == CLASS_REMOVE) {
		sim_remove_step(w, f, (unsigned)e->n, (int)e->value);
		return;
	}
	if (e->value && f->class == CLASS_HOSTILE) {
		sim_liar_step(w, f, (unsigned)e->n, (int)e->value);
		return;
	}
	if (e->value) {
		sim_split_step(w, f, (unsigned)e->n, (int)e->value);
		return;
	}
	world_tell(w, "fault %llu (%s)", (unsigned long long)e->n, sim_class_names[f->class]);
	switch (f->class) {
	case CLASS_NET: net_fault(w, f); break;
	case CLASS_CALL: call_fault(w, f); break;
	case CLASS_PAUSE: pause_fault(w, f); break;
	case CLASS_CLOCK: clock_fault(w, f, (unsigned)e->n); break;
	case CLASS_STORE: store_fault(w, f); break;
	case CLASS_TIME: SIM_KINDS_DO(time_fault, w, f); break;
	case CLASS_COMA: sim_coma_begin(w, f); break;
	case CLASS_REMOVE: sim_remove_begin(w, f, (unsigned)e->n); break;
	case CLASS_HOSTILE: sim_hostile_begin(w, f, (unsigned)e->n); break;
	case CLASS_SPLIT: sim_split_begin(w, f, (unsigned)e->n); break;
	case CLASS_PROCESS:
		world_tell(w, "FAULT: %s cannot start processes", world_node_name(w, f->slot));
		w->workers[f->slot].no_fork_until_us = until(w, &f->rng, 2 * MINUTE_US);
		break;
	default: crash_fault(w, f); break;
	}
}
