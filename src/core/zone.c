/* SPDX-License-Identifier: Apache-2.0 */
#include "core/zone.h"

#include <stdlib.h>

#include "core/state.h"

static int zone_cmp(const struct zone *a, const struct zone *b)
{
	return str_cmp(a->name, b->name);
}

RB_PROTOTYPE(zones_by_name, zone, by_name, zone_cmp)
RB_GENERATE(zones_by_name, zone, by_name, zone_cmp)

static struct zone *find(const struct core *c, struct str name)
{
	struct zone probe = {.name = name};

	return RB_FIND(zones_by_name, &((struct core *)c)->zones.by_name, &probe);
}

static struct zone *find_or_make(struct core *c, struct str name)
{
	struct zone *z = find(c, name);

	if (z)
		return z;
	z = xcalloc(1, sizeof *z);
	z->name = (struct str){xstrndup(name.p, name.n), name.n};
	RB_INSERT(zones_by_name, &c->zones.by_name, z);
	c->zones.n++;
	return z;
}

static void forget(struct core *c, struct zone *z)
{
	RB_REMOVE(zones_by_name, &c->zones.by_name, z);
	c->zones.n--;
	free((char *)z->name.p);
	free(z);
}

struct zone *zone_use(struct core *c, struct zone *before, struct str name)
{
	struct zone *z = name.p ? find_or_make(c, name) : NULL;

	if (z)
		z->users++;
	if (before)
		before->users--; /* the server takes it back, if nobody else is in it */
	return z;
}

struct str core_zone_named(const struct event *ev)
{
	if (ev->kind != EV_CREATE && ev->kind != EV_SET)
		return STR_NULL;
	return row_time_zone(object_kinds[ev->object.kind]->table, ev->object.row);
}

static bool names_zone(const struct pending_list *list, struct str name)
{
	const struct pending *p;

	TAILQ_FOREACH (p, list, in_lane)
		if (str_eq(core_zone_named(&p->event), name))
			return true;
	return false;
}

bool core_needs_zone(const struct core *c, struct str name)
{
	const struct zone *z = find(c, name);

	return (z && z->users) || names_zone(&c->lane.waiting, name) ||
	       names_zone(&c->lane.round, name);
}

size_t core_zones(const struct core *c)
{
	return c->zones.n;
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

void zone_set(struct core *c, const struct event *ev)
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
		kinds_time_changed(c, z);
}

void zones_release(struct core *c)
{
	struct zone *z, *next;

	RB_FOREACH_SAFE (z, zones_by_name, &c->zones.by_name, next)
		forget(c, z);
}
