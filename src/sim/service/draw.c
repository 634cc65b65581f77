/* SPDX-License-Identifier: Apache-2.0 */
/* What clients want of a service, as drawn. */
#include <stdio.h>

#include "sim/service/service.h"

static struct rng *rng_of(const struct world *w)
{
	return &sim_services_of(w)->rng;
}

void service_draw_body(struct world *w, struct service_plan *p, enum temper temper)
{
	snprintf(p->body, sizeof p->body, "{\"t\":%d,\"v\":%u}", (int)temper,
	    ++sim_services_of(w)->versions);
	p->row.spec.body = str_of(p->body);
}

/* A service may need one with a lower number, and now and then one that needs it, which is refused.
 */
static void draw_spec(struct world *w, struct service_plan *p)
{
	struct rng *g = rng_of(w);
	int number = p->name[1] - '0';

	service_draw_body(
	    w, p, sim_chance(g, 700) ? TEMPER_GOOD : (enum temper)sim_between(g, 1, N_TEMPERS - 1));
	p->row.spec.n_ports = (int32_t)sim_between(g, 0, sim_chance(g, 700) ? 0 : 3);
	if (sim_chance(g, 200))
		snprintf(p->needs, sizeof p->needs, "s%d\n",
		    number && sim_chance(g, 900) ? (int)rng_below(g, (uint64_t)number)
		                                 : number + 1);
	p->row.spec.needs = p->needs[0] ? str_of(p->needs) : STR_NULL;
}

static void draw_strategy(struct rng *g, struct service_strategy *t)
{
	t->kind = (int32_t)rng_below(g, N_STRATEGY_KINDS);
	t->max_surge = (int32_t)sim_between(g, 0, 2);
	t->max_unavailable = (int32_t)sim_between(g, t->max_surge ? 0 : 1, 2);
	t->canary = (int32_t)sim_between(g, 1, 2);
	t->auto_rollback = sim_chance(g, 500);
	t->min_healthy_ms = sim_between(g, 0, 10000);
	t->deadline_ms = sim_chance(g, 300) ? 0 : sim_between(g, 20000, 200000);
}

static void draw_crash(struct rng *g, struct service_crash *k)
{
	k->at_once = (int32_t)sim_between(g, 0, 3);
	k->stop_at = sim_chance(g, 600) ? 0 : (int32_t)sim_between(g, 1, 8);
	k->wait_ms = sim_between(g, 500, 30000);
	k->factor = sim_between(g, 1000, 3000);
	k->wait_max_ms = sim_between(g, k->wait_ms, 60000);
	k->reset_after_ms = sim_chance(g, 300) ? 0 : sim_between(g, 1000, 100000);
}

static void draw_domain(struct rng *g, struct service_plan *p)
{
	if (!sim_chance(g, 700))
		return;
	snprintf(p->domain, sizeof p->domain, "d%d", (int)rng_below(g, 2));
	p->row.domain = str_of(p->domain);
}

void service_draw(struct world *w, struct service_plan *p)
{
	struct rng *g = rng_of(w);

	service_defaults(&p->row);
	p->row.name = str_of(p->name);
	p->row.instances = (int32_t)sim_between(g, 0, SERVICE_INDEXES);
	p->row.singleton = sim_chance(g, 400);
	if (p->row.singleton)
		p->row.instances = (int32_t)sim_between(g, 1, 2);
	draw_domain(g, p);
	draw_spec(w, p);
	draw_strategy(g, &p->row.strategy);
	draw_crash(g, &p->row.crash);
}

uint64_t service_spec_fields(void)
{
	return SERVICE_BIT(spec.body) | SERVICE_BIT(spec.n_ports) | SERVICE_BIT(spec.needs);
}

uint64_t service_strategy_fields(void)
{
	return SERVICE_BIT(strategy.kind) | SERVICE_BIT(strategy.max_surge) |
	       SERVICE_BIT(strategy.max_unavailable) | SERVICE_BIT(strategy.canary) |
	       SERVICE_BIT(strategy.auto_rollback) | SERVICE_BIT(strategy.min_healthy_ms) |
	       SERVICE_BIT(strategy.deadline_ms);
}

uint64_t service_crash_fields(void)
{
	return SERVICE_BIT(crash.at_once) | SERVICE_BIT(crash.stop_at) |
	       SERVICE_BIT(crash.wait_ms) | SERVICE_BIT(crash.factor) |
	       SERVICE_BIT(crash.wait_max_ms) | SERVICE_BIT(crash.reset_after_ms);
}
