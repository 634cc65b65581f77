/* SPDX-License-Identifier: Apache-2.0 */
/* Instances: what their workers have room for, how long they run, and what is told of them. */
#include "sim/service/service.h"

#include <stdio.h>
#include <string.h>

#define FOR_EVER_US (365 * 24 * 3600 * SECOND_US)
#define SOON_US (3 * SECOND_US)
#define CRASHES_ON_US (60 * SECOND_US) /* after healing: a program is nobody's fault */

/* All of them together have room on the first one. */
void services_offer(struct world *w, struct sim_worker *k)
{
	struct sim_services *all = sim_services_of(w);
	bool is_first = strcmp(k->shard, "w0") == 0;
	size_t n = strlen(k->offer);
	int room = 100, ports = 100;

	if (!all || (!is_first && sim_chance(&all->hand, 50)))
		return; /* it has no room for any */
	if (!is_first) {
		room = (int)sim_between(&all->hand, 1, 5);
		ports = (int)sim_between(&all->hand, 0, 8);
	}
	snprintf(k->offer + n, sizeof k->offer - n, "instances=%d\nports=%d\n", room, ports);
}

static int temper_of(const struct link_run *run)
{
	int temper;

	return run->body.p && sscanf(run->body.p, "{\"t\":%d", &temper) == 1 ? temper : TEMPER_GOOD;
}

void service_process_new(struct world *w, struct sim_process *p, const struct link_run *run)
{
	struct sim_services *all = sim_services_of(w);

	if (!all || !run || !run->instance.service.p)
		return;
	p->temper = temper_of(run);
	p->n_ports = run->n_ports;
	p->chunks_left = 0;
	p->left_us = FOR_EVER_US;
	if (p->temper == TEMPER_CRASHES)
		p->left_us = sim_between(&all->hand, 1000, SOON_US);
	else if (w->now_us < w->heal_us + CRASHES_ON_US && sim_chance(&all->hand, 300))
		p->left_us = sim_between(
		    &all->hand, 1000, (sim_chance(&all->hand, 500) ? 20 : 200) * SECOND_US);
}

static void tell(struct world *w, const struct sim_process *p, int64_t in_us, bool ready)
{
	struct agent_event e = {.kind = AE_FARES, .task = p->task, .token = p->token};

	e.fares.is_up = true;
	e.fares.is_ready = ready;
	e.fares.address = STR("10.0.0.1");
	e.fares.ports = STR("31001\n");
	sim_hand(w, p->slot, in_us, &e);
}

/* As the startup and the readiness check find out. */
void service_process_started(struct world *w, struct sim_process *p)
{
	struct sim_services *all = sim_services_of(w);
	int64_t up, ready;

	if (!all || !p->temper)
		return;
	up = sim_chance(&all->hand, 400) ? 0 : sim_between(&all->hand, 0, 8 * SECOND_US);
	ready = up + (sim_chance(&all->hand, 400) ? 0 : sim_between(&all->hand, 0, 8 * SECOND_US));
	if (p->temper == TEMPER_NEVER_UP)
		return;
	tell(w, p, up, false);
	if (p->temper == TEMPER_GOOD)
		tell(w, p, ready, true);
}
