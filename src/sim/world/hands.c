/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's shell: the server's words into the agent, the agent's wishes into the world. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/faults/liar.h"
#include "sim/judge/judge.h"
#include "sim/world/net.h"

/* What the server's shell adds to a run, and knows again. */
static struct receipt receipt_of(const struct sim_worker *k, rid task, int64_t token)
{
	struct rng r = {task ^ (uint64_t)token << 20};
	struct receipt receipt;

	for (const char *p = k->shard; *p; p++)
		r.state = rng_next(&r) ^ (uint64_t)*p;
	for (size_t i = 0; i < sizeof receipt.bytes; i++)
		receipt.bytes[i] = (uint8_t)rng_next(&r);
	return receipt;
}

static bool is_proven(const struct sim_worker *k, const struct link_held *held)
{
	struct receipt own = receipt_of(k, held->task, held->token);

	return !k->drops_receipts && memcmp(own.bytes, held->receipt.bytes, sizeof own.bytes) == 0;
}

/* What the shells of both sides add to it. */
static struct link_hello full_hello(
    struct world *w, struct sim_worker *k, const struct link_hello *from)
{
	struct link_held *held =
	    arena_alloc(&k->arena, (from->n_tasks + LIAR_CLAIMS) * sizeof *held);
	struct link_hello hello = *from;

	for (size_t i = 0; i < from->n_tasks; i++) {
		held[i] = from->tasks[i];
		held[i].proven = is_proven(k, &held[i]);
	}
	sim_worker_facts(k, &hello.facts);
	hello.tasks = held;
	hello.n_tasks = sim_liar_claims(w, k, held, from->n_tasks);
	hello.drops_receipts = k->drops_receipts;
	hello.takes_input = true;
	hello.takes_needs = true;
	hello.takes_services = true;
	return hello;
}

static struct event event_of(struct world *w, struct sim_worker *k, const struct agent_effect *e)
{
	switch (e->kind) {
	case AF_HELLO: return (struct event){.kind = EV_HELLO, .hello = full_hello(w, k, e->hello)};
	case AF_BEAT: return (struct event){.kind = EV_BEAT, .beat = e->beat};
	case AF_STARTED: return (struct event){.kind = EV_STARTED, .started = e->started};
	case AF_INPUT_ACK: return (struct event){.kind = EV_INPUT_ACK, .input_ack = e->input_ack};
	case AF_OUTPUT: return (struct event){.kind = EV_OUTPUT, .output = e->output};
	case AF_HEALTH: return (struct event){.kind = EV_HEALTH, .health = e->health};
	case AF_ENDED: return (struct event){.kind = EV_ENDED, .ended = *e->ended};
	case AF_CHECKED: return (struct event){.kind = EV_CHECKED, .checked = e->checked};
	default: return (struct event){.kind = EV_NOTIFIED, .notified = e->notified};
	}
}

/* What goes over the link. */
static void say(struct world *w, int slot, const struct agent_effect *e)
{
	struct sim_worker *k = &w->workers[slot];
	struct event ev = event_of(w, k, e);

	judge_said(w, slot, &ev);
	if (k->link)
		sim_net_to_server(w, k->link, &ev);
}

static void check(struct world *w, int slot, const struct agent_effect *e)
{
	struct sim_worker *k = &w->workers[slot];
	struct agent_event x = {.kind = AE_CHECKED};
	int64_t takes = w->o.exact ? 10000 : sim_between(&w->rng_hand, 1000, 100000);

	x.checked.number = e->check;
	x.checked.ok = k->no_fork_until_us <= w->now_us;
	if (!x.checked.ok)
		x.checked.reason = STR("fork: resource temporarily unavailable");
	else if (w->o.classes & 1u << CLASS_PROCESS && !w->healed && sim_chance(&w->rng_hand, 20))
		takes = sim_between(&w->rng_hand, SECOND_US, 60 * SECOND_US);
	if (k->check_takes_us)
		takes = k->check_takes_us;
	if (w->o.check_max_ms)
		takes =
		    sim_between(&w->rng_hand, w->o.check_max_ms * 800, w->o.check_max_ms * 1000);
	sim_hand(w, slot, takes, &x);
}

static void carry_out(struct world *w, int slot, const struct agent_effect *e)
{
	struct sim_worker *k = &w->workers[slot];

	switch (e->kind) {
	case AF_CHECK: check(w, slot, e); break;
	case AF_START: sim_process_new(w, slot, e); break;
	case AF_STOP: sim_process_stop(w, slot, e->task, e->token, e->kill); break;
	case AF_READ: sim_process_read(w, slot, e->task, e->token, e->read); break;
	case AF_INPUT: sim_process_given(w, slot, e); break;
	case AF_CLOSE:
		world_tell(w, "%s closes its link: " STR_FMT, world_node_name(w, slot),
		    STR_ARG(e->why.text));
		sim_net_close(w, k->link, TO_WORKER);
		break;
	case AF_EXIT:
		k->exiting = true;
		k->exit_code = e->why.code;
		k->exit_restart = e->why.restart;
		break;
	case AF_NOTE:
		world_tell(w, "%s notes: " STR_FMT, world_node_name(w, slot), STR_ARG(e->why.text));
		break;
	default: say(w, slot, e); break;
	}
}

/* False: it dies on the way, and the rest is never done. */
static bool carry_out_all(struct world *w, int slot)
{
	struct sim_worker *k = &w->workers[slot];

	for (size_t i = 0; i < k->effects.n; i++) {
		if (k->die_after && --k->die_after == 0) {
			world_tell(w, "%s dies with %zu of %zu things done",
			    world_node_name(w, slot), i, k->effects.n);
			return false;
		}
		carry_out(w, slot, &k->effects.items[i]);
	}
	return true;
}

void sim_worker_feed(struct world *w, int slot, struct agent_event *e)
{
	struct sim_worker *k = &w->workers[slot];
	bool done;

	if (!k->agent)
		return;
	MUST(!k->stepping);
	e->now_ms = node_clock_wall_ms(&k->node.clock, w->now_us);
	e->mono_ms = sim_worker_mono_ms(w, slot);
	agent_effects_reset(&k->effects);
	arena_reset(&k->arena);
	k->stepping = true;
	agent_step(k->agent, e, &k->effects);
	if (!w->o.no_judge)
		judge_worker(w, slot, e);
	done = carry_out_all(w, slot);
	k->stepping = false;
	if (!done) {
		sim_worker_kill(w, slot, k->die_down_us);
		return;
	}
	if (k->exiting)
		sim_worker_leave_if_exiting(w, slot);
	else
		sim_worker_wake(w, slot);
}

static struct agent_event event_of_message(const struct message *m)
{
	switch (m->kind) {
	case MSG_WELCOME: return (struct agent_event){.kind = AE_WELCOME, .welcome = m->welcome};
	case MSG_SETTINGS:
		return (struct agent_event){.kind = AE_SETTINGS, .settings = m->settings};
	case MSG_REFUSED: return (struct agent_event){.kind = AE_REFUSED, .refused = m->refused};
	case MSG_RUN: return (struct agent_event){.kind = AE_RUN, .run = &m->run};
	case MSG_NOTIFY: return (struct agent_event){.kind = AE_NOTIFY, .notify = m->notify};
	case MSG_CHECK: return (struct agent_event){.kind = AE_CHECK, .check = m->check};
	case MSG_KILL: return (struct agent_event){.kind = AE_KILL, .kill = m->kill};
	case MSG_ENDED_ACK:
		return (struct agent_event){.kind = AE_ENDED_ACK, .ended_ack = m->ended_ack};
	case MSG_INPUT: return (struct agent_event){.kind = AE_INPUT, .input = m->input};
	case MSG_OUTPUT_ACK:
		return (struct agent_event){.kind = AE_OUTPUT_ACK, .output_ack = m->output_ack};
	default: return (struct agent_event){.kind = AE_BEAT_ACK, .beat_ack = m->beat_ack};
	}
}

void sim_worker_message(struct world *w, int slot, const struct message *m)
{
	struct sim_worker *k = &w->workers[slot];
	struct agent_event e = event_of_message(m);
	struct link_run run;

	if (m->kind == MSG_WELCOME) {
		k->redial_us = 0;
		k->kill_wait_ms = m->welcome.timeouts.kill_wait_ms;
	} else if (m->kind == MSG_RUN) {
		run = m->run;
		run.receipt = receipt_of(k, run.task, run.token);
		e.run = &run;
	}
	sim_worker_feed(w, slot, &e);
}
