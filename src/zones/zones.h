/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zones by name, read from the system's files and kept until those change. Not for several threads
 * at once.
 */
#ifndef ZONES_ZONES_H
#define ZONES_ZONES_H

#include "cron/zone.h"

struct zones;

struct zones *zones_new(const char *dir); /* NULL: /usr/share/zoneinfo */
void zones_free(struct zones *z);
/* "Europe/Berlin"; "UTC", "+02:00"; ":NAME" or a POSIX TZ string that has a comma or a digit after
 * three letters; "local": what /etc/localtime is. The zone lives until zones_free(): a changed file
 * makes a new one beside it (struct zone_ref below has a count). */
struct zone_ref {
	struct cron_zone *zone;
	unsigned refs;
};
int zones_get(struct zones *z, struct str name, struct zone_ref **ret_ref, struct problem *p);
void zone_ref_drop(struct zone_ref *r);
/* Looks at the files of every zone held again; calls back for each that is another now. */
size_t zones_refresh(
    struct zones *z, void (*changed)(struct str name, struct zone_ref *now, void *arg), void *arg);
/* The names in tzdata.zi's or zone1970.tab's order; for completion and for errors' "did you mean".
 */
size_t zones_names(struct zones *z, const char *const **ret_names);

#endif
