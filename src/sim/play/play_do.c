/* SPDX-License-Identifier: Apache-2.0 */
/* What a script does to the server's and the workers' processes, machines and clocks. */
#include <string.h>

#include "sim/play/play_internal.h"

/* "server", or an agent's slot; a puppet has no machine. */
static int node_of(struct at *a)
{
	struct actor *x;

	if (!strcmp(at_str(a, "node", ""), "server")) {
		if (a->p->server_is_puppet)
			play_wrong(a->p, a->path, "node", "the server is a puppet",
			    "it has no process: let it speak or be silent");
		return SIM_SERVER;
	}
	x = at_actor(a, "node");
	if (!is_wrong(a->p) && x->puppet)
		play_wrong(a->p, a->path, "node", "this worker is a puppet",
		    "it has no process: let it speak, hang up, or be silent");
	return x->puppet ? 0 : x->slot;
}

static bool ready(struct at *a)
{
	return !is_wrong(a->p) && !a->p->dry;
}

static void do_start(struct at *a)
{
	int node = node_of(a);
	int64_t in = at_wait(a, "in", 0) * 1000;

	if (!ready(a))
		return;
	if (node == SIM_SERVER)
		sim_server_start(a->p->w);
	else
		sim_worker_start(a->p->w, node, in);
	ask_queues(a->p);
}

/* The time until it is started again; negative: only by a later "start". */
static int64_t down_us(struct at *a)
{
	return at_has(a, "down") ? at_wait(a, "down", 0) * 1000 : -1;
}

static void do_stop(struct at *a)
{
	int node = node_of(a);
	int64_t down = down_us(a);

	if (!ready(a))
		return;
	if (node == SIM_SERVER)
		sim_server_stop(a->p->w, down);
	else
		sim_worker_leave(a->p->w, node);
}

static void do_kill(struct at *a)
{
	int node = node_of(a);
	int64_t down = down_us(a);

	if (!ready(a))
		return;
	if (node == SIM_SERVER)
		sim_server_crash(a->p->w, down);
	else
		sim_worker_kill(a->p->w, node, down);
}

static void do_crash(struct at *a)
{
	static const char *const places[N_BOUNDARIES + 1] = {
	    "nowhere", "step", "fly", "apply", "applied", "release", [N_BOUNDARIES] = "effect"};
	int node = node_of(a);
	int64_t down = down_us(a);
	int place = at_choice(a, "when", places, N_BOUNDARIES + 1, 0);
	int count = (int)at_int(a, "count", 1, 1000000, 1);
	struct sim_server *s;

	if (place && (node == SIM_SERVER) == (place == N_BOUNDARIES))
		play_wrong(a->p, a->path, "when", "it has no such place",
		    "effect is a worker's; the server's are step, fly, apply, applied, release");
	if (!ready(a))
		return;
	s = a->p->w->server;
	if (place == N_BOUNDARIES) {
		sim_worker_kill_at(a->p->w, node, count, down);
	} else if (place) {
		s->crash_at = (enum sim_boundary)place;
		s->crash_after = count;
		s->down_us = down;
	} else if (node == SIM_SERVER) {
		sim_server_crash(a->p->w, down);
	} else {
		sim_machine_crash(a->p->w, node, down);
	}
}

/* The judge goes by the longest that anybody may have heard of. */
static void change_timeouts(struct world *w, const struct timeouts *t)
{
	w->server->core_options.timeouts = *t;
	w->o.other_timeouts = *t;
	w->o.changes_timeouts = true;
	w->o.timeouts = sim_options_longest(&w->o);
}

static void do_restart(struct at *a)
{
	int node = node_of(a);
	int64_t down = at_wait(a, "down", 1000) * 1000;
	static const char *const dispatches[] = {"durable", "volatile"};
	int dispatch = at_has(a, "dispatch") ? at_choice(a, "dispatch", dispatches, 2, 0) : -1;
	struct timeouts t = a->p->w ? a->p->w->server->core_options.timeouts : a->p->o.timeouts;
	bool other = timeouts_read(a, "timeouts", &t);
	struct core_options *o;

	if ((dispatch >= 0 || other) && node != SIM_SERVER)
		play_wrong(a->p, a->path, other ? "timeouts" : "dispatch",
		    "it is the server's setting", "leave it out");
	if (!ready(a))
		return;
	o = &a->p->w->server->core_options;
	if (node != SIM_SERVER) {
		sim_worker_kill(a->p->w, node, down);
		return;
	}
	if (dispatch >= 0)
		o->is_volatile = a->p->w->o.is_volatile = dispatch == 1;
	if (other)
		change_timeouts(a->p->w, &t);
	sim_server_crash(a->p->w, down);
}

static void do_pause(struct at *a)
{
	int node = node_of(a);
	int64_t length = at_wait(a, "for", INT64_C(1000000000)) * 1000;

	if (ready(a))
		world_pause(a->p->w, node, length);
}

static void do_sleep(struct at *a)
{
	int node = node_of(a);
	int64_t length = at_wait(a, "for", INT64_C(1000000000)) * 1000;

	if (node == SIM_SERVER)
		play_wrong(a->p, a->path, "node", "only workers' machines sleep",
		    "pause the server: it has no processes beside it");
	if (ready(a))
		world_sleep(a->p->w, node, length);
}

static void do_resume(struct at *a)
{
	int node = node_of(a);

	if (ready(a))
		world_resume(a->p->w, node);
}

static void do_clock_step(struct at *a)
{
	int node = node_of(a);
	int64_t by = at_ms(a, "by", INT64_MIN);

	if (ready(a))
		world_clock_jump(a->p->w, node, by);
}

static void do_clock_drift(struct at *a)
{
	int node = node_of(a);
	int64_t ppm = at_int(a, "ppm", -500000, 500000, 0);

	if (ready(a))
		world_clock_drift(a->p->w, node, ppm);
}

static void set_fork(struct at *a, int64_t until_us)
{
	int node = node_of(a);

	if (node == SIM_SERVER)
		play_wrong(a->p, a->path, "node", "the server starts no tasks", "name a worker");
	if (ready(a))
		a->p->w->workers[node].no_fork_until_us = until_us;
}

static void do_forks_fail(struct at *a)
{
	int64_t length = at_wait(a, "for", INT64_C(1000000000)) * 1000;

	set_fork(a, a->p->event_us + length);
}

static void do_forks_work(struct at *a)
{
	set_fork(a, 0);
}

static void do_checks_slow(struct at *a)
{
	int node = node_of(a);
	int64_t by = at_wait(a, "by", 0) * 1000;

	if (node == SIM_SERVER)
		play_wrong(a->p, a->path, "node", "the server is not checked", "name a worker");
	if (ready(a))
		a->p->w->workers[node].check_takes_us = by;
}

static void do_store(struct at *a)
{
	static const char *const faults[] = {
	    "slow", "busy", "reads_fail", "commit_unknown", "reads_slow", "fine"};
	int fault = at_choice(a, "fault", faults, 6, -1);
	int64_t until = a->p->event_us + at_wait(a, "for", INT64_C(1000000000)) * 1000;
	int64_t by = at_wait(a, "by", 1000) * 1000;
	bool applied = at_bool(a, "applied", false);
	struct sim_server *s;

	if (!ready(a))
		return;
	s = a->p->w->server;
	switch (fault) {
	case 0:
		s->slow_until_us = until;
		s->slow_us = by;
		break;
	case 1: s->busy_until_us = until; break;
	case 2: s->reads_fail_until_us = until; break;
	case 3:
		s->lose_next_commit = true;
		s->lost_is_applied = applied;
		break;
	case 4:
		s->reads_slow_until_us = until;
		s->read_slow_us = by;
		break;
	default:
		s->slow_until_us = s->busy_until_us = s->reads_fail_until_us = 0;
		s->reads_slow_until_us = 0;
		s->lose_next_commit = false;
	}
}

const struct action node_actions[] = {
    {"start", "node in", do_start},
    {"stop", "node down", do_stop},
    {"kill", "node down", do_kill},
    {"crash", "node down when count", do_crash},
    {"restart", "node down dispatch timeouts", do_restart},
    {"pause", "node for", do_pause},
    {"sleep", "node for", do_sleep},
    {"resume", "node", do_resume},
    {"clock_step", "node by", do_clock_step},
    {"clock_drift", "node ppm", do_clock_drift},
    {"processes_fail", "node for", do_forks_fail},
    {"processes_work", "node", do_forks_work},
    {"checks_slow", "node by", do_checks_slow},
    {"store", "fault for by applied", do_store},
    {0},
};
