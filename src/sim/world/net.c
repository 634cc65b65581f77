/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/net.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sim/world/server.h"
#include "sim/world/trace.h"
#include "sim/world/worker.h"

#define DIAL_PATIENCE_US (10 * SECOND_US)
#define REDIAL_FIRST_US 50000
#define REDIAL_SLOWEST_US (5 * SECOND_US)

void sim_net_init(struct world *w)
{
	w->net = xcalloc(1, sizeof *w->net);
	w->net->paths = xcalloc((size_t)w->o.workers + 1, sizeof *w->net->paths);
}

void sim_net_release(struct world *w)
{
	struct sim_link *l;
	struct net_rule *r;

	while ((l = w->net->links)) {
		w->net->links = l->next;
		free(l);
	}
	while ((r = w->net->rules)) {
		w->net->rules = r->next;
		free(r);
	}
	idmap_release(&w->net->by_number);
	free(w->net->paths);
	free(w->net);
}

struct sim_link *sim_link_find(const struct world *w, uint64_t number)
{
	return number ? idmap_get(&w->net->by_number, number) : NULL;
}

static struct sim_path *path_of(struct world *w, int slot)
{
	return slot < 0 ? &w->net->paths[w->o.workers] : &w->net->paths[slot];
}

static int64_t usual_delay(struct world *w)
{
	int64_t most = w->o.delay_max_us;

	if (w->o.exact)
		return most;
	/* mostly quick, sometimes not */
	return sim_between(&w->rng_net, 50, sim_chance(&w->rng_net, 100) ? most : most / 8 + 50);
}

static int64_t arrival(struct world *w, const struct sim_link *l, int direction)
{
	struct sim_path *p = path_of(w, l->slot);
	int64_t at = w->now_us, delay = usual_delay(w);

	if (p->blocked_until_us[direction] > at)
		at = p->blocked_until_us[direction] + l->lag_us;
	if (p->slow_until_us > w->now_us)
		delay += p->extra_us;
	at += delay;
	return at > l->last_us[direction] ? at : l->last_us[direction];
}

static void post(struct world *w, const struct sim_link *l, struct packet *p, int64_t at)
{
	struct sim_event *e =
	    world_event(w, at, SE_PACKET, p->direction == TO_SERVER ? SIM_SERVER : l->slot);

	e->p = p;
}

static bool rule_fits(const struct world *w, const struct net_rule *r, const struct sim_link *l,
    const struct packet *p)
{
	int kind = p->direction == TO_WORKER ? (int)p->to_worker.kind : (int)p->to_server.kind;

	if (r->direction != p->direction || r->until_us < w->now_us || r->left == 0)
		return false;
	if (r->slot >= 0 && r->slot != l->slot)
		return false;
	/* streams of output, and what acknowledges them, keep the link's guarantee */
	if (kind == (p->direction == TO_WORKER ? (int)MSG_OUTPUT_ACK : (int)EV_OUTPUT) &&
	    !w->o.exact)
		return false;
	return r->kind < 0 || r->kind == kind;
}

static struct net_rule *rule_for(struct world *w, const struct sim_link *l, const struct packet *p)
{
	for (struct net_rule *r = w->net->rules; r; r = r->next)
		if (rule_fits(w, r, l, p) && sim_chance(&r->rng, r->per_mille)) {
			if (r->left > 0)
				r->left--;
			return r;
		}
	return NULL;
}

static void apply_rule(struct world *w, struct sim_link *l, struct packet *p, struct net_rule *r)
{
	int64_t late = w->o.exact ? r->delay_us : sim_between(&r->rng, 0, r->delay_us);
	int64_t at = arrival(w, l, p->direction);

	switch (r->action) {
	case CALL_LOSE:
		packet_tell(w, "LOST ", p, l->slot);
		free(p);
		return;
	case CALL_DOUBLE:
		packet_tell(w, "DOUBLED ", p, l->slot);
		post(w, l, packet_copy(p), at + late);
		l->last_us[p->direction] = at;
		post(w, l, p, at);
		return;
	case CALL_STALL:
		packet_tell(w, "STALLED ", p, l->slot);
		l->last_us[p->direction] = at + late;
		post(w, l, p, at + late);
		return;
	default: packet_tell(w, "LATE ", p, l->slot); post(w, l, p, at + late);
	}
}

static void send(struct world *w, struct sim_link *l, struct packet *p)
{
	int d = p->direction;
	struct net_rule *r, scripted;
	bool is_scripted;

	p->link = l->number;
	p->order = ++l->sent[d];
	is_scripted = w->hooks.sent && w->hooks.sent(w, l, p, &scripted, w->hooks.arg);
	if (w->trace) /* after the script, which may only now have a name for its task */
		sim_trace_sent(w, p, l->slot);
	if (is_scripted) {
		apply_rule(w, l, p, &scripted);
		return;
	}
	if (w->net->rules && (r = rule_for(w, l, p))) {
		apply_rule(w, l, p, r);
		return;
	}
	l->last_us[d] = arrival(w, l, d);
	post(w, l, p, l->last_us[d]);
}

void sim_net_to_worker(struct world *w, const struct message *m)
{
	struct sim_link *l = sim_link_find(w, m->link);

	if (l && l->open[TO_SERVER])
		send(w, l, packet_of_message(m));
}

void sim_net_to_server(struct world *w, uint64_t link, const struct event *ev)
{
	struct sim_link *l = sim_link_find(w, link);

	if (l && l->open[TO_WORKER])
		send(w, l, packet_of_event(ev));
}

static void link_free(struct world *w, struct sim_link *l)
{
	struct sim_link **at = &w->net->links;

	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	idmap_del(&w->net->by_number, l->number);
	free(l);
}

/* One side's link is gone: who has it hears of it, the rest of what was sent to it is lost. */
static void close_side(struct world *w, struct sim_link *l, int direction)
{
	struct event lost = {.kind = EV_LINK_LOST};
	uint64_t number = l->number;
	bool greeted = l->greeted, is_last;
	int slot = l->slot;

	l->open[direction] = false;
	is_last = !l->open[TO_SERVER] && !l->open[TO_WORKER];
	if (is_last)
		link_free(w, l);
	if (direction == TO_SERVER && greeted) {
		lost.link = number;
		sim_server_step(w, &lost);
	} else if (direction == TO_WORKER && slot >= 0) {
		sim_worker_link_down(w, slot, number);
	} else if (direction == TO_WORKER && w->net->raw_down) {
		w->net->raw_down(w, number, w->net->raw_arg);
	}
}

static void notice_down(struct world *w, const struct sim_link *l, int direction, int64_t at)
{
	struct sim_event *e =
	    world_event(w, at, SE_LINK_DOWN, direction == TO_SERVER ? SIM_SERVER : l->slot);

	e->n = l->number;
	e->value = direction;
}

void sim_net_close(struct world *w, uint64_t link, int side)
{
	struct sim_link *l = sim_link_find(w, link);
	int other = !side;

	if (!l || !l->open[side])
		return;
	if (l->open[other])
		notice_down(w, l, other, arrival(w, l, other));
	close_side(w, l, side);
}

/*
 * The link breaks now: of what is under way a part still arrives (share of a thousand); each side
 * notices after a while (negative: it does not notice).
 */
static void sim_net_cut(struct world *w, struct sim_link *l, int share, int64_t server_notices_us,
    int64_t worker_notices_us)
{
	for (int d = 0; d < N_DIRECTIONS; d++)
		if (l->dead_after[d] == UINT64_MAX && l->sent[d] >= l->arrived[d])
			l->dead_after[d] =
			    l->arrived[d] + (l->sent[d] - l->arrived[d]) * (uint64_t)share / 1000;
	if (server_notices_us >= 0)
		notice_down(w, l, TO_SERVER, w->now_us + server_notices_us);
	if (worker_notices_us >= 0)
		notice_down(w, l, TO_WORKER, w->now_us + worker_notices_us);
}

void sim_net_cut_all(
    struct world *w, int slot, int share, int64_t server_notices_us, int64_t worker_notices_us)
{
	for (struct sim_link *l = w->net->links; l; l = l->next)
		if (l->slot == slot)
			sim_net_cut(w, l, share, server_notices_us, worker_notices_us);
}

void sim_net_server_died(struct world *w, int share, int64_t notice_us)
{
	struct sim_link *l, *next;

	for (l = w->net->links; l; l = next) {
		next = l->next;
		if (!l->open[TO_SERVER])
			continue;
		sim_net_cut(w, l, share, -1, notice_us);
		l->greeted = false;
		close_side(w, l, TO_SERVER);
	}
}

void sim_net_worker_died(struct world *w, int slot, int share, int64_t notice_us)
{
	struct sim_link *l, *next;

	for (l = w->net->links; l; l = next) {
		next = l->next;
		if (l->slot != slot || !l->open[TO_WORKER])
			continue;
		sim_net_cut(w, l, share, notice_us, -1);
		l->open[TO_WORKER] = false;
		if (!l->open[TO_SERVER])
			link_free(w, l);
	}
}

void sim_net_block(struct world *w, int slot, int direction, int64_t until_us)
{
	struct sim_path *p = path_of(w, slot);

	if (until_us > p->blocked_until_us[direction])
		p->blocked_until_us[direction] = until_us;
}

void sim_net_slow(struct world *w, int slot, int64_t extra_us, int64_t until_us)
{
	struct sim_path *p = path_of(w, slot);

	p->extra_us = extra_us;
	p->slow_until_us = until_us;
}

void sim_net_rule(struct world *w, const struct net_rule *rule)
{
	struct net_rule *r = xmalloc(sizeof *r), **at = &w->net->rules;

	*r = *rule;
	r->next = NULL;
	while (*at)
		at = &(*at)->next;
	*at = r;
}

void sim_net_heal(struct world *w)
{
	struct net_rule *r;

	while ((r = w->net->rules)) {
		w->net->rules = r->next;
		free(r);
	}
	for (int i = 0; i <= w->o.workers; i++)
		w->net->paths[i] = (struct sim_path){0};
	/* a peer that holds one end only is told so, as by keepalive */
	for (struct sim_link *l = w->net->links; l; l = l->next)
		if (!l->open[TO_SERVER] || !l->open[TO_WORKER] ||
		    l->dead_after[TO_SERVER] != UINT64_MAX ||
		    l->dead_after[TO_WORKER] != UINT64_MAX)
			for (int d = 0; d < N_DIRECTIONS; d++)
				notice_down(w, l, d, w->now_us + SECOND_US);
}

void sim_net_dial(struct world *w, int slot)
{
	struct sim_worker *k = &w->workers[slot];
	struct sim_path *p = path_of(w, slot);
	int64_t wait = 0, at = w->now_us + 2 * usual_delay(w);
	struct sim_event *e;

	for (int d = 0; d < N_DIRECTIONS; d++)
		if (p->blocked_until_us[d] - w->now_us > wait)
			wait = p->blocked_until_us[d] - w->now_us;
	e = world_event(
	    w, at + (wait < DIAL_PATIENCE_US ? wait : DIAL_PATIENCE_US), SE_DIALLED, slot);
	e->n = k->incarnation;
	e->value = wait >= DIAL_PATIENCE_US;
	k->dialling = true;
}

void sim_net_redial(struct world *w, int slot)
{
	struct sim_worker *k = &w->workers[slot];
	int64_t wait;
	struct sim_event *e;

	if (!k->redial_us)
		k->redial_us = REDIAL_FIRST_US;
	wait = k->redial_us / 2 +
	       (w->o.exact ? k->redial_us / 2 : sim_between(&w->rng_net, 0, k->redial_us));
	k->redial_us = k->redial_us * 2 < REDIAL_SLOWEST_US ? k->redial_us * 2 : REDIAL_SLOWEST_US;
	e = world_event(w, w->now_us + wait, SE_DIAL, slot);
	e->n = k->incarnation;
	k->dialling = true;
}

static struct sim_link *link_new(struct world *w, int slot)
{
	struct sim_link *l = xcalloc(1, sizeof *l);

	l->number = ++w->net->last_number;
	l->slot = slot;
	if (w->o.classes & 1u << CLASS_NET && sim_chance(&w->rng_net, 300))
		l->lag_us = sim_between(&w->rng_net, 1000, 60 * SECOND_US);
	l->open[TO_SERVER] = l->open[TO_WORKER] = true;
	l->dead_after[TO_SERVER] = l->dead_after[TO_WORKER] = UINT64_MAX;
	l->next = w->net->links;
	w->net->links = l;
	idmap_put(&w->net->by_number, l->number, l);
	return l;
}

static void dialled(struct world *w, struct sim_event *e)
{
	struct sim_worker *k = &w->workers[e->slot];
	struct sim_link *l;

	if (!k->agent || k->incarnation != e->n)
		return;
	k->dialling = false;
	if (e->value || !(w->server->core || w->hooks.said)) {
		sim_net_redial(w, e->slot);
		return;
	}
	l = link_new(w, e->slot);
	l->instance = k->instance;
	sim_worker_link_up(w, e->slot, l->number);
}

static void deliver_to_server(struct world *w, struct sim_link *l, struct packet *p)
{
	struct event ev = p->to_server;

	if (!l->greeted && ev.kind != EV_HELLO) {
		sim_net_close(w, l->number, TO_SERVER); /* the first frame must be a hello */
		return;
	}
	l->greeted = true;
	ev.link = l->number;
	if (w->hooks.said)
		w->hooks.said(w, &ev, w->hooks.arg);
	else
		sim_server_step(w, &ev);
}

static void arrive(struct world *w, struct sim_event *e)
{
	struct packet *p = e->p;
	struct sim_link *l = sim_link_find(w, p->link);

	if (l && l->open[p->direction] && p->order <= l->dead_after[p->direction]) {
		if (p->order > l->arrived[p->direction])
			l->arrived[p->direction] = p->order;
		packet_mix(w, p);
		packet_tell(w, "", p, l->slot);
		if (w->trace)
			sim_trace_arrived(w, p, l->slot);
		if (p->direction == TO_SERVER)
			deliver_to_server(w, l, p);
		else if (l->slot >= 0)
			sim_worker_message(w, l->slot, &p->to_worker);
		else if (w->net->raw)
			w->net->raw(w, p->link, &p->to_worker, w->net->raw_arg);
	}
	free(p);
}

uint64_t sim_raw_open(struct world *w)
{
	return link_new(w, SIM_RAW)->number;
}

void sim_raw_send(struct world *w, uint64_t link, const struct event *ev)
{
	sim_net_to_server(w, link, ev);
}

void sim_raw_close(struct world *w, uint64_t link)
{
	sim_net_close(w, link, TO_WORKER);
}

void sim_net_event(struct world *w, struct sim_event *e)
{
	struct sim_link *l;

	switch (e->kind) {
	case SE_PACKET: arrive(w, e); break;
	case SE_DIALLED: dialled(w, e); break;
	case SE_DIAL:
		if (w->workers[e->slot].agent && w->workers[e->slot].incarnation == e->n)
			sim_worker_dial(w, e->slot);
		break;
	default:
		l = sim_link_find(w, e->n);
		if (l && l->open[e->value])
			close_side(w, l, (int)e->value);
		break;
	}
}
