/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules among the kinds: which worlds have them, and what must hold there. */
#include "sim/schedule/schedule.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sim/schedule/zones.h"

#define PER_MILLE 200 /* of the worlds */

static const struct invariant invariants[] = {
    {19, "one-per-tick",
        "at most one task per schedule and tick; every due tick has one, waits, or has a reason"},
    {20, "no-repeat", "a clock that is set back makes no tick fire twice"},
    {40, "schedule-rules",
        "schedules keep their overlap policy, pauses, dates and jitter; rows and counts agree"},
    {0},
};

/* What else a seed draws stays what it was without. */
static void draw(struct sim_options *o)
{
	struct rng r = {o->seed ^ 0x7469636b74696d65ull};
	bool asked = o->is_listed && o->faults & 1u << CLASS_TIME;
	bool has = sim_chance(&r, PER_MILLE) || asked;

	if (has)
		o->kinds |= 1u << KIND_SCHEDULE;
	if (has && (sim_chance(&r, 800) || asked))
		o->classes |= (1u << CLASS_TIME) & o->faults;
	if (has && sim_chance(&r, 400))
		o->classes |= (1u << CLASS_CRASH) & o->faults;
	o->n_times = o->classes & 1u << CLASS_TIME ? (int)sim_between(&r, 1, 12) : 0;
}

/* Where there are groups, schedules may make them: by numbers of its own. */
static unsigned draw_of_groups(const struct world *w)
{
	struct rng own = {w->o.seed ^ 0x7469636b67726f75ull};

	return (unsigned)rng_next(&own) | (unsigned)rng_next(&own);
}

static void begin(struct world *w)
{
	struct sim_schedules *all;

	if (!(w->o.kinds & 1u << KIND_SCHEDULE))
		return;
	all = w->of_kind[KIND_SCHEDULE] = xcalloc(1, sizeof *all);
	all->rng.state = w->o.seed ^ 0x7363686564756c65ull;
	all->zones = sim_zones_new(&all->rng);
	all->of_groups = w->o.kinds & 1u << KIND_GROUP ? draw_of_groups(w) : 0;
}

static void end(struct world *w)
{
	struct sim_schedules *all = schedules_of(w);

	if (!all)
		return;
	truth_schedules_free(all);
	sim_zones_free(all->zones);
	free(all);
}

const struct sim_kind sim_kind_schedule = {
    .kind = KIND_SCHEDULE,
    .invariants = invariants,
    .draw = draw,
    .begin = begin,
    .free = end,
    .starting = sim_zones_tell,
    .time_fault = schedules_time_fault,
    .load = schedules_load,
    .draw_request = schedules_draw_request,
    .heal = schedules_heal,
    .command = schedule_command,
    .done = judge_schedule_done,
    .before = judge_schedules_before,
    .after = judge_schedules_after,
    .loaded = judge_schedules_loaded,
    .task_stored = judge_schedule_task,
    .stored = judge_schedule_stored,
    .applied = judge_schedules_applied,
};
