/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that change under us: a new tzdata package, or another /etc/localtime. Looking costs one
 * stat() a file; only a file that is another one, or was written to, is read again.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "zones/internal.h"

/* A missing /etc/localtime is no failure; it means UTC. */
static int mark_now(const struct entry *e, struct file_mark *ret_mark)
{
	int rc = file_mark_read(e->path, ret_mark, NULL);

	if (rc == ERR_NOT_FOUND && str_is(str_of(e->name), "local")) {
		*ret_mark = (struct file_mark){0};
		return 0;
	}
	return rc;
}

static int load_again(struct zones *z, struct entry *e, struct cron_zone **ret_zone)
{
	int rc = zone_file_load(e->path, ret_zone, &e->mark, &z->last_stale);

	if (rc != ERR_NOT_FOUND || !str_is(str_of(e->name), "local"))
		return rc;
	e->mark = (struct file_mark){0};
	*ret_zone = cron_zone_utc();
	return 0;
}

/* True when the entry has another zone afterwards. */
static bool entry_refresh(struct zones *z, struct entry *e)
{
	struct cron_zone *zone = NULL;
	struct file_mark now;

	if (mark_now(e, &now) == 0 && file_mark_eq(&now, &e->mark))
		return false;
	if (load_again(z, e, &zone) < 0) {
		e->mark = (struct file_mark){.size = -1}; /* like no file: read it again */
		z->n_stale++;
		return false;
	}
	if (cron_zone_equal(zone, e->ref->zone)) {
		cron_zone_free(zone);
		return false;
	}
	zone_ref_drop(e->ref);
	e->ref = zone_ref_new(zone);
	return true;
}

/* The callback may ask for zones, which can make the cache forget some: so the changed ones are
 * held, and only then is anybody told. */
size_t zones_refresh(
    struct zones *z, void (*changed)(struct str name, struct zone_ref *now, void *arg), void *arg)
{
	struct entry **told = xcalloc(z->n + 1, sizeof *told);
	size_t n = 0;

	z->n_stale = 0;
	for (size_t i = 0; i < z->n; i++)
		if (z->entries[i]->path && entry_refresh(z, z->entries[i])) {
			z->entries[i]->ref->refs++;
			told[n++] = z->entries[i];
		}
	name_list_release(&z->names);
	for (size_t i = 0; i < n && changed; i++)
		changed(str_of(told[i]->name), told[i]->ref, arg);
	for (size_t i = 0; i < n; i++)
		zone_ref_drop(told[i]->ref);
	free(told);
	return n;
}

size_t zones_stale(const struct zones *z, struct problem *ret_last)
{
	if (z->n_stale && ret_last)
		*ret_last = z->last_stale;
	return z->n_stale;
}
