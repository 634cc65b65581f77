/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zones by name, read from the system's files and kept until those change. Not for several threads
 * at once.
 */
#ifndef ZONES_ZONES_H
#define ZONES_ZONES_H

#include "cron/zone/zone.h"

#define ZONE_NAME_MAX 255 /* bytes; POSIX TZ strings are names, too */

struct zones;

struct zones *zones_new(const char *dir); /* NULL: /usr/share/zoneinfo */
void zones_free(struct zones *z);
/* What "local" reads instead of /etc/localtime; before anybody asks for it. */
void zones_set_local(struct zones *z, const char *path);

/*
 * A zone that is held: by whoever got it, until zone_ref_drop(), also beyond zones_free() and when
 * the file changes (then the cache holds another one from then on).
 */
struct zone_ref {
	struct cron_zone *zone;
	unsigned refs;
};
/*
 * "local": what /etc/localtime is (UTC without that file); "UTC", "Z", "+02:00", "UTC+5": east is
 * plus; "Europe/Berlin" or ":Europe/Berlin": a file; what is no file but looks like a POSIX TZ
 * string ("EST5", "<+03>-3", "CET-1CEST,M3.5.0,M10.5.0/3"): that, west is plus.
 * ERR_NOT_FOUND: no such zone, with a hint. ERR_INVALID: the name or the file is not valid. ERR_IO:
 * the file cannot be read.
 */
int zones_get(struct zones *z, struct str name, struct zone_ref **ret_ref, struct problem *p);
void zone_ref_drop(struct zone_ref *r);
size_t zones_count(const struct zones *z); /* in the cache, held or not */

/*
 * Looks at the files of all zones in the cache again; calls back for each zone that differs now
 * (from 1970 on), and returns how many there were. `now` is the cache's: take zones_get() or refs++
 * to keep it. A file that cannot be read any more changes nothing: zones_stale() counts those.
 */
size_t zones_refresh(
    struct zones *z, void (*changed)(struct str name, struct zone_ref *now, void *arg), void *arg);
/* Zones whose file was unreadable or damaged at the last refresh; *ret_last says what the last of
 * them had. They stay as they were, and are looked at again by every refresh. */
size_t zones_stale(const struct zones *z, struct problem *ret_last);

/* In tzdata.zi's order, or else zone1970.tab's; valid until the next zones_refresh(). */
size_t zones_names(struct zones *z, const char *const **ret_names);

#endif
