/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache: one entry a name, sorted. It holds each zone once; what nobody else holds is forgotten
 * when there is much of that, so that asking for ever new names cannot fill the memory.
 */
#include "zones/zones.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "zones/internal.h"

#define DEFAULT_DIR "/usr/share/zoneinfo"
#define DEFAULT_LOCAL "/etc/localtime"
#define ENTRIES_MIN 256 /* so many are kept, held or not */

struct zones *zones_new(const char *dir)
{
	struct zones *z = xcalloc(1, sizeof *z);

	z->dir = xstrdup(dir ? dir : DEFAULT_DIR);
	z->local = xstrdup(DEFAULT_LOCAL);
	z->sweep_at = ENTRIES_MIN;
	return z;
}

void zones_set_local(struct zones *z, const char *path)
{
	free(z->local);
	z->local = xstrdup(path);
}

struct zone_ref *zone_ref_new(struct cron_zone *zone)
{
	struct zone_ref *r = xcalloc(1, sizeof *r);

	r->zone = zone;
	r->refs = 1;
	return r;
}

void zone_ref_drop(struct zone_ref *r)
{
	if (!r || --r->refs > 0)
		return;
	cron_zone_free(r->zone);
	free(r);
}

static void entry_free(struct entry *e)
{
	zone_ref_drop(e->ref);
	free(e->path);
	free(e->name);
	free(e);
}

void zones_free(struct zones *z)
{
	if (!z)
		return;
	for (size_t i = 0; i < z->n; i++)
		entry_free(z->entries[i]);
	free(z->entries);
	name_list_release(&z->names);
	free(z->local);
	free(z->dir);
	free(z);
}

/* Where the name is, or belongs. */
static size_t find(const struct zones *z, struct str name, bool *ret_found)
{
	size_t low = 0, high = z->n;

	*ret_found = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = str_cmp(str_of(z->entries[middle]->name), name);

		if (order == 0)
			*ret_found = true;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void forget_unused(struct zones *z)
{
	size_t kept = 0;

	for (size_t i = 0; i < z->n; i++) {
		if (z->entries[i]->ref->refs > 1)
			z->entries[kept++] = z->entries[i];
		else
			entry_free(z->entries[i]);
	}
	z->n = kept;
	z->sweep_at = kept * 2 > ENTRIES_MIN ? kept * 2 : ENTRIES_MIN;
}

static void insert(struct zones *z, struct entry *e)
{
	bool found;
	size_t at;

	if (z->n >= z->sweep_at)
		forget_unused(z);
	at = find(z, str_of(e->name), &found);
	GROW(z->entries, z->cap, z->n + 1);
	memmove(z->entries + at + 1, z->entries + at, (z->n - at) * sizeof *z->entries);
	z->entries[at] = e;
	z->n++;
}

/* So that it can be shown wherever an error goes. */
static bool is_plain(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] <= ' ' || name.p[i] >= 0x7f)
			return false;
	return name.n > 0 && name.n <= ZONE_NAME_MAX;
}

int zones_get(struct zones *z, struct str name, struct zone_ref **ret_ref, struct problem *p)
{
	struct cron_zone *zone = NULL;
	struct entry *e;
	bool found;
	size_t at;
	int rc;

	if (!is_plain(name))
		return problem_set(p, ERR_INVALID,
		    "a time zone's name is 1 to %d plain characters without spaces", ZONE_NAME_MAX);
	at = find(z, name, &found);
	if (!found) {
		e = xcalloc(1, sizeof *e);
		e->name = xstrndup(name.p, name.n);
		rc = entry_load(z, e, &zone, p);
		if (rc < 0) {
			entry_free(e);
			return rc;
		}
		e->ref = zone_ref_new(zone);
		insert(z, e);
	} else {
		e = z->entries[at];
	}
	e->ref->refs++;
	*ret_ref = e->ref;
	return 0;
}

size_t zones_count(const struct zones *z)
{
	return z->n;
}

size_t zones_names(struct zones *z, const char *const **ret_names)
{
	name_list_read(&z->names, z->dir);
	*ret_names = z->names.names;
	return z->names.n;
}
