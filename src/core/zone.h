/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time zones as the server was told of them, by name. A name stays while an object is in the zone,
 * or until the server takes the zone back; it does so when nobody needs it (core_needs_zone()).
 */
#ifndef CORE_ZONE_H
#define CORE_ZONE_H

#include <bsd/sys/tree.h>

#include "base/str.h"

struct core;
struct cron_zone;
struct event;

/* The zone itself belongs to whoever told us of it. */
struct zone {
	RB_ENTRY(zone) by_name;
	struct str name;
	const struct cron_zone *zone; /* NULL: this machine does not know it */
	uint32_t users;               /* objects that are in it */
};
RB_HEAD(zones_by_name, zone);

struct known_zones {
	struct zones_by_name by_name;
	size_t n;
};

/* From now on an object is in that zone (NULL: in none) and not in the one before. Nothing may be
 * known of the zone yet. */
struct zone *zone_use(struct core *c, struct zone *before, struct str name);
void zone_set(struct core *c, const struct event *ev);
void zones_release(struct core *c);

#endif
