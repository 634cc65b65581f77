/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time as the brain cannot see it by itself: what zones are, when their files change, and that
 * somebody set the wall clock or the machine woke up. Each becomes an event.
 */
#ifndef SERVER_TIME_ZONES_H
#define SERVER_TIME_ZONES_H

#include "core/event.h"
#include "net/loop/loop.h"
#include "zones/zones.h"

struct time_zones;

struct time_zones_options {
	const char *dir;    /* NULL: the system's */
	int64_t refresh_ms; /* between two looks at the files; 0: a minute */
	void (*feed)(struct event *ev, void *arg);
	bool (*needs)(struct str name, void *arg); /* whether the brain does */
	void *arg;
};

struct time_zones *time_zones_new(struct loop *l, const struct time_zones_options *o);
void time_zones_free(struct time_zones *t); /* after the brain: it uses the zones until then */
/*
 * Before an event that names a zone: the brain is told of it, once a name. When there is no such
 * zone it is looked for again with the files. What the brain does not need is taken back then.
 */
int time_zones_need(struct time_zones *t, struct str name, struct problem *p);
size_t time_zones_count(const struct time_zones *t); /* names that are kept */
/* For whoever only wants to look: the brain hears nothing. zone_ref_drop() when done. */
int time_zones_get(
    struct time_zones *t, struct str name, struct zone_ref **ret_ref, struct problem *p);

#endif
