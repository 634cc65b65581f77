/* SPDX-License-Identifier: Apache-2.0 */
/* The door of libreeve-cron that reads files. */
#include <stdlib.h>

#include "base/mem.h"
#include "cron/library.h"
#include "zones/zones.h"

int reeve_cron_zone_open(const char *name, const char *dir, struct reeve_cron_zone **ret_zone,
    struct reeve_cron_error *ret_error)
{
	struct zones *cache = zones_new(dir);
	struct zone_ref *held = NULL;
	struct problem p = {0};
	int r = zones_get(cache, str_of(name), &held, &p);

	zones_free(cache);
	if (r < 0)
		return library_error(ret_error, &p);
	MUST(held->refs == 1); /* the cache is gone: the zone is the caller's alone */
	*ret_zone = library_zone(held->zone);
	free(held);
	return 0;
}
