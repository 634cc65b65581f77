/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time zones as the server was told of them, by name. A name stays while a schedule is in it, or
 * until the server takes the zone back; it does so when nobody needs it (core_needs_zone()).
 */
#include "core/state.h"

#include <stdlib.h>

static int zone_cmp(const struct zone *a, const struct zone *b)
{
	return str_cmp(a->name, b->name);
}

RB_PROTOTYPE(zones_by_name, zone, by_name, zone_cmp)
RB_GENERATE(zones_by_name, zone, by_name, zone_cmp)

static struct zone *find(const struct core *c, struct str name)
{
	struct zone probe = {.name = name};

	return RB_FIND(zones_by_name, &((struct core *)c)->schedules.zones, &probe);
}

static struct zone *find_or_make(struct core *c, struct str name)
{
	struct zone *z = find(c, name);

	if (z)
		return z;
	z = xcalloc(1, sizeof *z);
	z->name = (struct str){xstrndup(name.p, name.n), name.n};
	RB_INSERT(zones_by_name, &c->schedules.zones, z);
	c->schedules.n_zones++;
	return z;
}

static void forget(struct core *c, struct zone *z)
{
	RB_REMOVE(zones_by_name, &c->schedules.zones, z);
	c->schedules.n_zones--;
	free((char *)z->name.p);
	free(z);
}

void zone_use(struct core *c, struct schedule *s, struct str name)
{
	struct zone *before = s->zone;

	s->zone = name.p ? find_or_make(c, name) : NULL;
	if (s->zone)
		s->zone->users++;
	if (before)
		before->users--; /* the server takes it back, if nobody else is in it */
}

static bool names_zone(const struct pending_list *list, struct str name)
{
	const struct pending *p;

	TAILQ_FOREACH (p, list, in_lane) {
		const struct event *ev = &p->event;

		if ((ev->kind == EV_CREATE || ev->kind == EV_SET) &&
		    ev->object.kind == KIND_SCHEDULE &&
		    str_eq(((const struct schedule_row *)ev->object.row)->zone, name))
			return true;
	}
	return false;
}

bool core_needs_zone(const struct core *c, struct str name)
{
	const struct zone *z = find(c, name);

	return (z && z->users) || names_zone(&c->lane.waiting, name) ||
	       names_zone(&c->lane.group, name);
}

size_t core_zones(const struct core *c)
{
	return c->schedules.n_zones;
}

static void take_back(struct core *c, struct str name)
{
	struct zone *z = find(c, name);

	if (!z)
		return;
	z->zone = NULL;
	if (!z->users)
		forget(c, z);
}

void zone_set(struct core *c, const struct event *ev, struct effects *out)
{
	struct zone *z;

	if (!ev->zone.zone) {
		take_back(c, ev->zone.name);
		return;
	}
	z = find_or_make(c, ev->zone.name);
	if (c->open && MUTANT(ZONE_MOVE_IGNORED))
		return;
	z->zone = ev->zone.zone;
	if (c->open)
		schedules_look_all(c, z);
}

void zones_forget(struct core *c)
{
	struct zone *z, *next;

	RB_FOREACH_SAFE (z, zones_by_name, &c->schedules.zones, next)
		forget(c, z);
}
