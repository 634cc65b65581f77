/* SPDX-License-Identifier: Apache-2.0 */
/* The time zones of a world: made from rules, not from files, and one that somebody moves. */
#ifndef SIM_ZONES_H
#define SIM_ZONES_H

#include "cron/zone/zone.h"
#include "sim/kind.h"

enum sim_zone_kind {
	ZONE_PLAIN,  /* half hours, never changes */
	ZONE_SUMMER, /* daylight saving begins and ends within minutes of the world's beginning */
	ZONE_MOVING, /* has two forms that differ by a fixed time; faults swap them */
	N_SIM_ZONES,
};
extern const char *const sim_zone_names[N_SIM_ZONES];

struct sim_zones;

struct sim_zones *sim_zones_new(struct rng *r);
void sim_zones_free(struct sim_zones *z);
const struct cron_zone *sim_zone(const struct world *w, int kind); /* as it is now */
/* As it was when the moving one was that far east of Greenwich. */
const struct cron_zone *sim_zone_at(const struct world *w, int kind, int64_t offset_s);
/* The moving one becomes the other; the server hears of it if it is up. */
void sim_zone_move(struct world *w);
/* For a server that starts: feeds it every zone. */
void sim_zones_tell(struct world *w, struct loading *l);

#endif
