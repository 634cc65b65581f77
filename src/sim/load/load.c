/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/load/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/load/load_internal.h"
#include "sim/world/server.h"

#define TRIES_MOST 60

void sim_load_begin(struct world *w)
{
	struct load *l = xcalloc(1, sizeof *l);
	int64_t every;

	w->load = l;
	if (w->o.no_load)
		return;
	l->n_queues = (int)sim_between(&w->rng_load, 1, QUEUES_MOST);
	for (int i = 0; i < l->n_queues; i++)
		load_make_queue(w, l, i);
	every = w->heal_us * 9 / 10 / (w->o.n_commands + 1);
	for (int i = 0; i < w->o.tasks; i++)
		world_event(
		    w, every * i + sim_between(&w->rng_load, 0, every * 2), SE_LOAD, SIM_RAW)
		    ->n = N_KINDS;
	SIM_KINDS_DO(load, w);
}

static void request_free(struct load *l, struct request *r)
{
	*r->prev = r->next;
	if (r->next)
		r->next->prev = r->prev;
	l->n_open--;
	free(r->own);
	free(r);
}

void sim_load_free(struct load *l)
{
	while (l->requests)
		request_free(l, l->requests);
	load_inputs_free(l);
	free(l->tasks);
	free(l);
}

struct request *load_request(struct world *w, struct load *l, enum event_kind kind)
{
	struct request *r = xcalloc(1, sizeof *r);

	r->w = w;
	r->number = ++l->last_request;
	r->kind = kind;
	r->next = l->requests;
	r->prev = &l->requests;
	if (r->next)
		r->next->prev = &r->next;
	l->requests = r;
	l->n_open++;
	r->repeat = true;
	return r;
}

struct request *load_command(struct world *w, struct load *l, enum event_kind kind, enum kind of)
{
	struct request *r = load_request(w, l, kind);

	r->of = of;
	return r;
}

uint64_t load_fields(const struct row_table *t, const size_t *offsets, size_t n, unsigned drawn)
{
	uint64_t fields = 0;

	for (size_t i = 0; i < n; i++)
		if (drawn & 1u << i)
			fields |= row_bit(t, offsets[i]);
	return fields;
}

void load_send(struct world *w, struct request *r, int64_t in_us)
{
	struct sim_event *e = world_event(
	    w, w->now_us + in_us + sim_between(&w->rng_load, 100, 5000), SE_COMMAND, SIM_SERVER);

	e->p = r;
	r->pending++;
	r->tries++;
}

static void remember(struct load *l, rid id)
{
	GROW(l->tasks, l->cap_tasks, l->n_tasks + 1);
	l->tasks[l->n_tasks++] = id;
}

/* At the server, when the answer leaves it: what it says is durable now. */
static void answered(const struct reply *reply, void *arg)
{
	struct request *r = arg;
	struct world *w = r->w;
	struct sim_event *e;

	if (reply) {
		load_judge(w, r, reply);
		r->got_code = reply->code;
	} else {
		r->got_code = ERR_UNREACHABLE;
	}
	/* on its way to the client it may get lost */
	if (!w->healed && w->o.classes & 1u << CLASS_NET && sim_chance(&w->rng_load, 30))
		r->got_code = ERR_UNREACHABLE;
	e = world_event(w, w->now_us + sim_between(&w->rng_load, 100, 5000), SE_REPLY, SIM_RAW);
	e->p = r;
	e->value = r->got_code;
}

static void reply(struct world *w, struct request *r, int code)
{
	bool again = code == ERR_UNREACHABLE || code == ERR_BUSY;

	r->pending--;
	if (again && r->repeat && !r->given_up && r->tries < TRIES_MOST) {
		load_send(w, r, sim_between(&w->rng_load, SECOND_US / 5, 6 * SECOND_US));
		return;
	}
	if (code == 0 && r->kind == EV_SUBMIT && !r->remembered) {
		r->remembered = true;
		w->load->batch = r->made ? r->made : w->load->batch;
		for (size_t i = 0; i < r->n_ids; i++)
			if (r->ids[i])
				remember(w->load, r->ids[i]);
		if (load_is_streamed(r) && r->ids[0])
			load_input_begin(w, r->ids[0]);
	}
	if (code == 0 && r->kind == EV_DELETE && r->of == KIND_QUEUE)
		load_make_queue(w, w->load, r->queue);
	/* an impatient client may send the very same once more */
	if (r->idem && code == 0 && r->tries < 3 && sim_chance(&w->rng_load, 100))
		load_send(w, r, sim_between(&w->rng_load, 0, 20 * SECOND_US));
	if (!r->pending)
		request_free(w->load, r);
}

static void arrive(struct world *w, struct request *r)
{
	struct event ev = {.kind = r->kind, .actor = STR("sim")};
	struct command_parts parts = {0};
	bool taken;

	if (r->given_up) {
		reply(w, r, ERR_TIMEOUT);
		return;
	}
	taken = w->server->core && load_event_of(w, r, &ev, &parts) &&
	        sim_server_command(w, &ev, answered, r);
	arena_release(&parts.arena);
	if (!taken)
		answered(NULL, r);
}

void sim_load_event(struct world *w, struct sim_event *e)
{
	switch (e->kind) {
	case SE_LOAD:
		if (!w->healed && e->n < N_KINDS)
			sim_kind_of((enum kind)e->n)->draw_request(w);
		else if (!w->healed)
			load_draw(w, w->load);
		break;
	case SE_COMMAND: arrive(w, e->p); break;
	default: reply(w, e->p, (int)e->value); break;
	}
}

void sim_load_heal(struct world *w)
{
	if (w->o.no_load)
		return;
	for (struct request *r = w->load->requests; r; r = r->next)
		if (r->kind != EV_SUBMIT && !(r->kind == EV_CREATE && r->of == KIND_QUEUE))
			r->given_up = true; /* an old wish must not come after the ones below */
	SIM_KINDS_DO(heal, w);
}

bool sim_load_is_quiet(const struct world *w)
{
	return w->load->n_open == 0;
}
