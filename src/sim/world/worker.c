/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/judge/judge.h"
#include "sim/kind.h"
#include "sim/load/needs.h"
#include "sim/world/net.h"

#define WALL_START_MS (INT64_C(1767225600) * 1000)
#define GUARD_POLL_US 50000
#define RESTART_US 100000 /* exec of itself */

struct hand_word { /* owned by its event */
	struct agent_event e;
	char data[];
};

void sim_workers_init(struct world *w)
{
	bool twins = w->o.classes & 1u << CLASS_TWIN && !w->o.exact;

	w->workers = xcalloc((size_t)w->o.workers + 1, sizeof *w->workers);
	for (int i = 0; i < w->o.workers; i++) {
		struct sim_worker *k = &w->workers[i];
		int name = twins && i > 0 && sim_chance(&w->rng_hand, 300) ? i - 1 : i;

		k->node.slot = i;
		k->node.backlog_end = &k->node.backlog;
		node_clock_init(&k->node.clock, 1000 * (i + 1), WALL_START_MS);
		snprintf(k->shard, sizeof k->shard, "w%d", name);
		snprintf(k->lock, sizeof k->lock, "machine-%d", i);
		k->kill_wait_ms = w->o.timeouts.kill_wait_ms;
		k->maxthreads = w->o.exact ? 8 : (int32_t)sim_between(&w->rng_hand, 1, 6);
		k->agent_options.restart_when_lost = w->o.restart_when_lost;
		if (!w->o.exact && sim_chance(&w->rng_hand, 200)) {
			k->agent_options.task_window = 256;
			k->agent_options.link_window = 1024;
		}
	}
}

void sim_workers_release(struct world *w)
{
	for (int i = 0; i < w->o.workers; i++) {
		struct sim_worker *k = &w->workers[i];
		struct sim_process *p;

		while ((p = k->processes)) {
			k->processes = p->next;
			free(p);
		}
		if (k->agent)
			agent_free(k->agent);
		agent_effects_release(&k->effects);
		arena_release(&k->arena);
	}
	free(w->workers);
}

const struct agent *sim_agent(const struct world *w, int slot)
{
	return w->workers[slot].agent;
}

int64_t sim_worker_mono_ms(const struct world *w, int slot)
{
	return node_clock_mono_ms(&w->workers[slot].node.clock, w->now_us);
}

void sim_worker_facts(const struct sim_worker *k, struct worker_facts *f)
{
	*f = (struct worker_facts){
	    .shard = str_of(k->shard),
	    .instance = k->instance,
	    .started_ms = k->started_ms,
	    .start = k->started_ms,
	    .lock = str_of(k->lock),
	    .key = str_of(k->lock), /* a key that nobody else can prove */
	    .host = STR("sim"),
	    .target = STR("sim"),
	    .version = STR(REEVE_VERSION),
	    .plugins = STR("command\n"),
	    .maxthreads = k->maxthreads,
	    .offer = k->offer[0] ? str_of(k->offer) : STR_NULL,
	    .labels = k->labels[0] ? str_of(k->labels) : STR_NULL,
	};
}

void sim_worker_wake(struct world *w, int slot)
{
	struct sim_worker *k = &w->workers[slot];
	int64_t at;

	if (!k->agent)
		return;
	at = node_clock_true_us(&k->node.clock, agent_wake_ms(k->agent));
	if (k->wake && k->wake->node.at == at)
		return;
	world_cancel(w, TAKE(k->wake));
	if (at == INT64_MAX)
		return;
	k->wake = world_event(w, at, SE_WORKER_WAKE, slot);
	k->wake->n = k->incarnation;
}

void sim_hand(struct world *w, int slot, int64_t in_us, const struct agent_event *e)
{
	size_t n = e->kind == AE_OUTPUT ? e->output.data.n : 0;
	struct hand_word *h = xmalloc(sizeof *h + n);
	struct sim_event *x = world_event(w, w->now_us + in_us, SE_HAND, slot);

	h->e = *e;
	if (n) {
		memcpy(h->data, e->output.data.p, n);
		h->e.output.data.p = h->data;
	}
	x->n = w->workers[slot].incarnation;
	x->p = h;
}

static void gone(struct world *w, int slot)
{
	struct sim_worker *k = &w->workers[slot];

	agent_free(TAKE(k->agent));
	world_cancel(w, TAKE(k->wake));
	k->link = 0;
	k->dialling = k->exiting = false;
	k->die_after = 0;
	world_resume(w, slot); /* what waited for it is for nobody */
}

void sim_worker_start(struct world *w, int slot, int64_t in_us)
{
	struct sim_worker *k = &w->workers[slot];

	world_cancel(w, TAKE(k->start));
	k->start = world_event(w, w->now_us + in_us, SE_WORKER_START, slot);
}

void sim_worker_kill(struct world *w, int slot, int64_t down_us)
{
	struct sim_worker *k = &w->workers[slot];

	if (k->agent) {
		world_tell(w, "%s is killed", world_node_name(w, slot));
		sim_net_worker_died(w, slot, w->o.exact ? 1000 : (int)rng_below(&w->rng_net, 1001),
		    w->o.exact ? w->o.delay_max_us : sim_between(&w->rng_net, 100, 200000));
		gone(w, slot);
		sim_processes_end(w, slot, w->o.guard_ms * 1000);
	}
	if (down_us >= 0)
		sim_worker_start(w, slot, down_us);
}

void sim_worker_kill_at(struct world *w, int slot, int n, int64_t down_us)
{
	w->workers[slot].die_after = n;
	w->workers[slot].die_down_us = down_us;
}

int64_t sim_worker_give_up_us(const struct world *w, int slot)
{
	const struct sim_worker *k = &w->workers[slot];
	int64_t at = k->agent ? agent_give_up_ms(k->agent) : INT64_MAX;

	return at == INT64_MAX ? at : node_clock_true_us(&k->node.clock, at);
}

void sim_machine_crash(struct world *w, int slot, int64_t down_us)
{
	world_tell(w, "%s: the machine is gone", world_node_name(w, slot));
	sim_net_worker_died(w, slot, 1000, -1);
	if (w->workers[slot].agent)
		gone(w, slot);
	sim_processes_end(w, slot, 0);
	world_cancel(w, TAKE(w->workers[slot].start));
	if (down_us >= 0)
		sim_worker_start(w, slot, down_us);
}

void sim_worker_leave(struct world *w, int slot)
{
	struct agent_event leave = {.kind = AE_LEAVE};

	if (w->workers[slot].agent && !w->workers[slot].node.paused)
		sim_worker_feed(w, slot, &leave);
}

/* The program ends by itself. */
static void leave_program(struct world *w, int slot)
{
	struct sim_worker *k = &w->workers[slot];
	uint64_t link = k->link;
	int code = k->exit_code;
	bool again = k->exit_restart;

	world_tell(w, "%s leaves with %d%s", world_node_name(w, slot), code,
	    again ? ", to begin anew" : "");
	gone(w, slot);
	sim_net_close(w, link, TO_WORKER);
	if (code)
		sim_processes_end(w, slot, w->o.guard_ms * 1000);
	if (w->o.exact) {
		if (again)
			sim_worker_start(w, slot, RESTART_US);
		return;
	}
	if (again)
		sim_worker_start(w, slot, RESTART_US);
	else if (w->healed || sim_chance(&w->rng_hand, 700))
		sim_worker_start(w, slot, sim_between(&w->rng_hand, SECOND_US, 10 * SECOND_US));
}

static void begin(struct world *w, int slot)
{
	struct sim_worker *k = &w->workers[slot];
	int64_t wall = node_clock_wall_ms(&k->node.clock, w->now_us);

	if (k->agent)
		return;
	if (k->processes) {
		/* an earlier one's keeper still works; what nobody keeps is ended here */
		sim_processes_end(w, slot, GUARD_POLL_US);
		sim_worker_start(w, slot, GUARD_POLL_US);
		return;
	}
	k->incarnation++;
	k->instance = rng_next(&w->rng_id) | 1;
	needs_offer(w, k);
	SIM_KINDS_DO(offer, w, k);
	k->drops_receipts = !w->o.exact && (k->instance >> 8) % 4 == 0;
	k->last_ok_us = 0;
	k->started_ms = k->last_started_ms ? k->last_started_ms + 1 : wall;
	k->last_started_ms = k->started_ms;
	k->agent = agent_new(&k->agent_options);
	k->redial_us = 0;
	world_tell(w, "%s starts (instance %016llx)", world_node_name(w, slot),
	    (unsigned long long)k->instance);
	sim_net_dial(w, slot);
}

void sim_worker_dial(struct world *w, int slot)
{
	struct sim_worker *k = &w->workers[slot];
	enum agent_phase phase = agent_phase(k->agent);

	k->dialling = false;
	if (!k->link && (phase == AGENT_SERVING || phase == AGENT_LEAVING))
		sim_net_dial(w, slot);
}

void sim_worker_link_up(struct world *w, int slot, uint64_t link)
{
	struct agent_event up = {.kind = AE_LINK_UP};

	w->workers[slot].link = link;
	world_tell(w, "%s has link %llu", world_node_name(w, slot), (unsigned long long)link);
	sim_worker_feed(w, slot, &up);
}

static void link_lost(struct world *w, int slot)
{
	struct agent_event down = {.kind = AE_LINK_DOWN};

	world_tell(w, "%s: the link is down", world_node_name(w, slot));
	sim_worker_feed(w, slot, &down);
	if (w->workers[slot].agent && !w->workers[slot].dialling)
		sim_net_redial(w, slot);
}

void sim_worker_link_down(struct world *w, int slot, uint64_t link)
{
	struct sim_worker *k = &w->workers[slot];
	struct agent_event down = {.kind = AE_LINK_DOWN};

	if (!k->agent || k->link != link)
		return;
	k->link = 0;
	if (k->stepping)
		sim_hand(w, slot, 0, &down); /* the worker closed the link itself */
	else
		link_lost(w, slot);
}

void sim_worker_paused(struct world *w, int slot)
{
	struct sim_worker *k = &w->workers[slot];
	int64_t give_up, at;

	if (!k->agent)
		return;
	give_up = agent_give_up_ms(k->agent);
	if (give_up == INT64_MAX)
		return;
	at = node_clock_true_us(&k->node.clock, give_up + k->kill_wait_ms);
	if (at < k->node.resume_us)
		world_event(w, at, SE_GUARD, slot)->n = k->incarnation;
}

static void guard(struct world *w, int slot, uint64_t incarnation)
{
	struct sim_worker *k = &w->workers[slot];

	if (!k->agent || k->incarnation != incarnation || !k->node.paused || !k->processes)
		return;
	if (sim_worker_mono_ms(w, slot) < agent_give_up_ms(k->agent) + k->kill_wait_ms) {
		sim_worker_paused(w, slot); /* another pause by now, or its clock runs slower */
		return;
	}
	world_tell(w, "%s: the guard ends its processes", world_node_name(w, slot));
	sim_processes_end(w, slot, 1000);
}

void sim_workers_heal(struct world *w)
{
	for (int i = 0; i < w->o.workers; i++) {
		struct sim_worker *k = &w->workers[i];

		k->no_fork_until_us = 0;
		k->die_after = 0;
		if (!k->agent && !w->o.exact)
			sim_worker_start(w, i, sim_between(&w->rng_hand, 0, SECOND_US));
	}
}

void sim_worker_leave_if_exiting(struct world *w, int slot)
{
	if (w->workers[slot].agent && w->workers[slot].exiting)
		leave_program(w, slot);
}

static void hand_says(struct world *w, int slot, struct hand_word *h)
{
	if (h->e.kind == AE_LINK_DOWN)
		link_lost(w, slot);
	else
		sim_worker_feed(w, slot, &h->e);
}

void sim_worker_event(struct world *w, struct sim_event *e)
{
	struct sim_worker *k = &w->workers[e->slot];
	struct agent_event wake = {.kind = AE_WAKE};

	switch (e->kind) {
	case SE_WORKER_START:
		if (k->start == e)
			k->start = NULL;
		begin(w, e->slot);
		break;
	case SE_WORKER_WAKE:
		if (k->agent && k->incarnation == e->n)
			sim_worker_feed(w, e->slot, &wake);
		break;
	case SE_GUARD: guard(w, e->slot, e->n); break;
	default:
		if (k->agent && k->incarnation == e->n)
			hand_says(w, e->slot, e->p);
		free(e->p);
		break;
	}
}
