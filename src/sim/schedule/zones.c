/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/schedule/zones.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "core/pipeline/loading.h"
#include "sim/schedule/schedule.h"
#include "sim/world/server.h"

#define N_FORMS 2

const char *const sim_zone_names[N_SIM_ZONES] = {"Sim/Plain", "Sim/Summer", "Sim/Moving"};

struct sim_zones {
	struct cron_zone *zones[N_SIM_ZONES][N_FORMS];
	int form; /* of the moving one */
};

static struct cron_zone *made_of(const char *rule)
{
	struct cron_zone *z;
	struct problem p = {0};

	MUST(cron_zone_posix(str_of(rule), &z, &p) == 0);
	return z;
}

struct sim_zones *sim_zones_new(struct rng *r)
{
	static const char *const moved[] = {
	    "BBB0:05", "BBB-0:05", "BBB1", "BBB-1", "BBB3", "BBB-3", "BBB0:00:30", "BBB-11"};
	struct sim_zones *z = xcalloc(1, sizeof *z);

	z->zones[ZONE_PLAIN][0] = made_of("<+0530>-5:30");
	/* the world begins with the year: 00:03 is followed by 01:03, and 01:08 by 00:08 */
	z->zones[ZONE_SUMMER][0] = made_of("AAA0BBB-1,J1/0:03,J1/1:08");
	z->zones[ZONE_MOVING][0] = made_of("AAA0");
	z->zones[ZONE_MOVING][1] = made_of(moved[rng_below(r, sizeof moved / sizeof moved[0])]);
	return z;
}

void sim_zones_free(struct sim_zones *z)
{
	for (int i = 0; i < N_SIM_ZONES; i++)
		for (int k = 0; k < N_FORMS; k++)
			cron_zone_free(z->zones[i][k]);
	free(z);
}

const struct cron_zone *sim_zone(const struct world *w, int kind)
{
	const struct sim_zones *z = schedules_of(w)->zones;

	return z->zones[kind][kind == ZONE_MOVING ? z->form : 0];
}

const struct cron_zone *sim_zone_at(const struct world *w, int kind, int64_t offset_s)
{
	const struct sim_zones *z = schedules_of(w)->zones;

	for (int i = 0; kind == ZONE_MOVING && i < N_FORMS; i++)
		if (cron_zone_offset(z->zones[kind][i], 0) == offset_s)
			return z->zones[kind][i];
	return sim_zone(w, kind);
}

void sim_zone_move(struct world *w)
{
	const char *name = sim_zone_names[ZONE_MOVING];
	struct sim_schedules *all = schedules_of(w);
	struct event ev = {.kind = EV_ZONE, .zone.name = str_of(name)};

	if (!all)
		return;
	all->zones->form = !all->zones->form;
	ev.zone.zone = sim_zone(w, ZONE_MOVING);
	world_tell(w, "%s is %d s east of Greenwich now", name, cron_zone_offset(ev.zone.zone, 0));
	sim_server_step(w, &ev);
}

void sim_zones_tell(struct world *w, struct loading *l)
{
	for (int i = 0; schedules_of(w) && i < N_SIM_ZONES; i++)
		loading_feed(l, &(struct event){.kind = EV_ZONE,
		                    .zone = {str_of(sim_zone_names[i]), sim_zone(w, i)}});
}
