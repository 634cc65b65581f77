/* SPDX-License-Identifier: Apache-2.0 */
/* Clients who make, scale, deploy, restart and remove services, and drain workers. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sim/service/service.h"
#include "sim/world/server.h"

#define REPAIR_LATER_US (20 * SECOND_US)

static struct rng *rng_of(const struct world *w)
{
	return &sim_services_of(w)->rng;
}

static struct request *request(
    struct world *w, enum event_kind kind, enum kind of, int number, enum verb verb)
{
	struct request *r = load_command(w, w->load, kind, of);
	struct service_plan *p = r->own = xcalloc(1, sizeof *p);

	r->verb = verb;
	r->word = "do";
	snprintf(p->name, sizeof p->name, "%c%d", of == KIND_DOMAIN ? 'd' : 's', number);
	return r;
}

static void make(struct world *w, int number, int64_t in_us)
{
	struct request *r = request(w, EV_CREATE, KIND_SERVICE, number, VERB_NONE);

	service_draw(w, r->own);
	r->fields = row_settable(&service_table) & ~SERVICE_BIT(spec.queue);
	load_send(w, r, in_us);
}

static void draw_set(struct world *w, int number)
{
	struct request *r = request(w, EV_SET, KIND_SERVICE, number, VERB_NONE);
	int n = (int)rng_below(rng_of(w), 10);

	service_draw(w, r->own);
	r->fields = n < 4   ? SERVICE_BIT(instances)
	            : n < 8 ? service_spec_fields()
	            : n < 9 ? service_strategy_fields() | SERVICE_BIT(instances)
	                    : service_crash_fields() | service_spec_fields();
	if (sim_chance(rng_of(w), 50))
		r->fields |= SERVICE_BIT(domain);
	load_send(w, r, 0);
}

/* --- what else is asked */

/* The judge knows before the server does. */
static void draw_verb(struct world *w, int number, enum verb verb)
{
	struct request *r = request(w, EV_DO, KIND_SERVICE, number, verb);
	struct service_plan *p = r->own;
	struct truth_service *s = truth_service_named(w, p->name);

	if (verb == SERVICE_RESTART || verb == SERVICE_STOP) {
		p->number =
		    sim_between(rng_of(w), verb == SERVICE_RESTART ? -1 : 0, SERVICE_INDEXES - 1);
		if (s && p->number >= 0)
			s->stops |= 1u << p->number;
	} else if (verb == SERVICE_DEPLOY || (verb == SERVICE_ROLLBACK && p->number)) {
		p->number = s ? sim_between(rng_of(w), 1, s->row.last_revision + 1) : 1;
	}
	r->repeat = false;
	load_send(w, r, 0);
}

void services_drain(struct world *w, int slot, bool on)
{
	struct request *r = load_command(w, w->load, EV_DO, KIND_WORKER);

	r->slot = slot;
	r->verb = on ? WORKER_DRAIN : WORKER_UNDRAIN;
	r->word = on ? "drain" : "undrain";
	load_send(w, r, 0);
}

static void draw_drain(struct world *w, bool on)
{
	services_drain(w, (int)rng_below(rng_of(w), (uint64_t)w->o.workers), on);
}

static void draw_fresh(struct world *w)
{
	int number = (int)rng_below(rng_of(w), 2);
	enum verb verb = sim_chance(rng_of(w), 500) ? DOMAIN_FRESH : DOMAIN_STALE;

	load_send(w, request(w, EV_DO, KIND_DOMAIN, number, verb), 0);
}

static void remove_one(struct world *w, int number, int64_t in_us)
{
	load_send(w, request(w, EV_DELETE, KIND_SERVICE, number, VERB_NONE), in_us);
}

/* Now and then in the middle of a deploy. */
static void draw_remove(struct world *w, int number)
{
	struct rng *g = rng_of(w);
	bool deploys = sim_chance(g, 500);

	if (deploys)
		draw_set(w, number);
	remove_one(w, number, deploys ? sim_between(g, 0, 10 * SECOND_US) : 0);
}

void services_draw_request(struct world *w)
{
	static const enum verb verbs[] = {SERVICE_RESTART, SERVICE_RESTART, SERVICE_STOP,
	    SERVICE_PROMOTE, SERVICE_ROLLBACK, SERVICE_DEPLOY};
	struct rng *g = rng_of(w);
	int n = (int)rng_below(g, 24);
	int number = (int)rng_below(g, (uint64_t)sim_services_of(w)->n_names);

	if (n < 10)
		draw_set(w, number);
	else if (n < 16)
		draw_verb(w, number, verbs[n - 10]);
	else if (n < 17)
		draw_fresh(w);
	else if (n < 18)
		draw_remove(w, number);
	else if (n < 20)
		make(w, number, 0);
	else
		draw_drain(w, n < 22);
}

static void make_domain(struct world *w, int number)
{
	struct request *r = request(w, EV_CREATE, KIND_DOMAIN, number, VERB_NONE);
	struct service_plan *p = r->own;

	p->of_domain.name = str_of(p->name);
	p->of_domain.ttl_ms = sim_chance(rng_of(w), 300) ? 0 : sim_between(rng_of(w), 1000, 60000);
	r->fields = row_settable(&domain_table);
	load_send(w, r, 0);
}

void services_load(struct world *w)
{
	struct sim_services *all = sim_services_of(w);
	int n = w->o.tasks / 3 + 2;

	if (!all)
		return;
	for (int i = 0; i < 2; i++)
		make_domain(w, i);
	for (int i = 0; i < all->n_names; i++)
		make(w, i, sim_between(&all->rng, SECOND_US, 20 * SECOND_US));
	for (int i = 0; i < n; i++)
		world_event(w, sim_between(&all->rng, 0, w->heal_us * 9 / 10), SE_LOAD, SIM_RAW)
		    ->n = KIND_SERVICE;
}

/* --- healing */

static void undrain_all(struct world *w)
{
	for (int i = 0; i < w->o.workers; i++) {
		struct request *r = load_command(w, w->load, EV_DO, KIND_WORKER);

		r->slot = i;
		r->verb = WORKER_UNDRAIN;
		r->word = "undrain";
		load_send(w, r, 2 * SECOND_US);
	}
}

/* A good revision, which comes in by itself, and as many as are wanted. */
static void repair(struct world *w, int number)
{
	struct request *r = request(w, EV_SET, KIND_SERVICE, number, VERB_NONE);
	struct service_plan *p = r->own;

	service_defaults(&p->row);
	service_draw_body(w, p, TEMPER_GOOD);
	p->row.strategy.deadline_ms = 0;
	p->row.strategy.min_healthy_ms = 1000;
	p->row.crash.at_once = 0;
	p->row.crash.wait_ms = 2000;
	p->row.crash.wait_max_ms = 10000;
	p->row.instances = (int32_t)sim_between(rng_of(w), 1, 2);
	r->fields = service_spec_fields() | service_strategy_fields() | service_crash_fields();
	if (sim_services_of(w)->was_emptied)
		r->fields |= SERVICE_BIT(instances);
	load_send(w, r, REPAIR_LATER_US);
}

void services_heal(struct world *w)
{
	const struct sim_services *all = sim_services_of(w);

	if (!all)
		return;
	undrain_all(w);
	for (int i = 0; i < all->n_names; i++)
		repair(w, i);
}

void services_remove_all(struct world *w)
{
	for (int i = 0; i < sim_services_of(w)->n_names; i++)
		remove_one(w, i, 0);
}

/* --- as commands */

bool service_command(
    struct world *w, const struct request *r, rid queue, struct event *ev, struct command_parts *c)
{
	struct service_plan *p = r->own;

	ev->object.id =
	    r->kind == EV_CREATE ? 0 : core_find(sim_core(w), KIND_SERVICE, str_of(p->name));
	ev->object.row = &p->row;
	ev->object.fields = r->fields;
	ev->object.number = p->number;
	ev->object.reason = STR("drawn");
	return true;
}

bool domain_command(
    struct world *w, const struct request *r, rid queue, struct event *ev, struct command_parts *c)
{
	struct service_plan *p = r->own;

	ev->object.id =
	    r->kind == EV_CREATE ? 0 : core_find(sim_core(w), KIND_DOMAIN, str_of(p->name));
	ev->object.row = &p->of_domain;
	ev->object.fields = r->fields;
	return true;
}
