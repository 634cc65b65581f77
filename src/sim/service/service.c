/* SPDX-License-Identifier: Apache-2.0 */
/* Services among the kinds: which worlds have them, and what must hold there. */
#include "sim/service/service.h"

#include <stdlib.h>

#include "base/mem.h"

#define PER_MILLE 200 /* of the worlds */

static const struct invariant invariants[] = {
    {21, "one-per-index",
        "one instance runs per index, beyond what is declared as evacuating or suspect"},
    {51, "singleton", "of a singleton there are never two in true time"},
    {52, "recorded", "whatever runs has a record"},
    {53, "no-surplus-stop", "nothing outside a fresh domain is stopped as surplus"},
    {54, "evacuation", "what is evacuated goes on until its replacement is ready"},
    {55, "service-moves", "records move as the table allows, and their tags only rise"},
    {56, "deploys", "only what was healthy becomes stable; a deploy comes to an end"},
    {57, "services-run", "after healing all that is wanted runs, and nothing else"},
    {58, "service-needs", "nothing starts before a service that it needs is ready"},
    {59, "services-room", "a worker has no more instances than it offers room for"},
    {0},
};

/* As for tasks: a worker's last processes may outlive the moment at which the server gives it up.
 */
static void draw_long_kill(struct sim_options *o, struct rng *r)
{
	struct timeouts *t = &o->timeouts;

	if (!sim_chance(r, 250))
		return;
	t->lose_after_ms = sim_between(r, 5000, 60000);
	t->kill_wait_ms = sim_between(r, t->margin_ms, 40000);
	o->lost_hold_ms = t->kill_wait_ms + sim_between(r, 3000, 26000);
	if (!o->changes_timeouts)
		o->other_timeouts = *t; /* no others: they stay the same */
	o->classes |= (1u << CLASS_CRASH | 1u << CLASS_PROCESS | 1u << CLASS_NET) & o->faults;
}

/* What else a seed draws stays what it was without. */
static void draw(struct sim_options *o)
{
	struct rng r = {o->seed ^ 0x7365727669636573ull};

	if (!sim_chance(&r, PER_MILLE))
		return;
	o->kinds |= 1u << KIND_SERVICE;
	if (sim_chance(&r, 500))
		o->classes |= (1u << CLASS_CRASH) & o->faults;
	if (sim_chance(&r, 300))
		o->classes |= (1u << CLASS_NET) & o->faults;
	draw_long_kill(o, &r);
}

static void begin(struct world *w)
{
	struct sim_services *all;

	if (!(w->o.kinds & 1u << KIND_SERVICE))
		return;
	all = w->of_kind[KIND_SERVICE] = xcalloc(1, sizeof *all);
	all->rng.state = w->o.seed ^ 0x736572766963652dull;
	all->hand.state = w->o.seed ^ 0x696e7374616e6365ull;
	if (sim_chance(&all->rng, 250))
		all->is_emptied_at = (uint64_t)sim_between(&all->rng, 1, 3);
	all->n_names = (int)sim_between(&all->rng, 1, SERVICE_NAMES);
}

static void end(struct world *w)
{
	struct sim_services *all = sim_services_of(w);

	for (size_t i = 0; all && i < all->n; i++) {
		free(all->all[i]->revisions);
		free(all->all[i]->records);
		free(all->all[i]->starts);
		free(all->all[i]);
	}
	if (all)
		free(all->all);
	if (all)
		free(all->drains);
	free(all);
}

const struct sim_kind sim_kind_service = {
    .kind = KIND_SERVICE,
    .invariants = invariants,
    .draw = draw,
    .begin = begin,
    .free = end,
    .starting = services_starting,
    .offer = services_offer,
    .process_new = service_process_new,
    .process_started = service_process_started,
    .load = services_load,
    .draw_request = services_draw_request,
    .heal = services_heal,
    .command = service_command,
    .task_stored = judge_service_task,
    .task_started = judge_service_started,
    .stored = judge_service_stored,
    .applied = judge_services_applied,
    .settled = judge_services_settled,
    .unsettled = judge_services_unsettled,
};

const struct sim_kind sim_kind_domain = {
    .kind = KIND_DOMAIN,
    .command = domain_command,
};
