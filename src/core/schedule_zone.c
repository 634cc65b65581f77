/* SPDX-License-Identifier: Apache-2.0 */
/* Time zones as the server was told of them, by name. */
#include "core/internal.h"

#include <stdlib.h>

static int zone_cmp(const struct zone *a, const struct zone *b)
{
	return str_cmp(a->name, b->name);
}

RB_PROTOTYPE(zones_by_name, zone, by_name, zone_cmp)
RB_GENERATE(zones_by_name, zone, by_name, zone_cmp)

struct zone *zone_find(struct core *c, struct str name)
{
	struct zone probe = {.name = name};
	struct zone *z = RB_FIND(zones_by_name, &c->schedules.zones, &probe);

	if (z)
		return z;
	z = xcalloc(1, sizeof *z);
	z->name = (struct str){xstrndup(name.p, name.n), name.n};
	RB_INSERT(zones_by_name, &c->schedules.zones, z);
	return z;
}

void zone_set(struct core *c, const struct event *ev, struct effects *out)
{
	struct zone *z = zone_find(c, ev->zone.name);

	if (c->open && MUTANT(ZONE_MOVE_IGNORED))
		return;
	z->zone = ev->zone.zone;
	if (c->open)
		schedules_look_all(c, z);
}

void zones_forget(struct core *c)
{
	struct zone *z, *next;

	RB_FOREACH_SAFE (z, zones_by_name, &c->schedules.zones, next) {
		RB_REMOVE(zones_by_name, &c->schedules.zones, z);
		free((char *)z->name.p);
		free(z);
	}
}
