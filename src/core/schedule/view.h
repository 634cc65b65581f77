/* SPDX-License-Identifier: Apache-2.0 */
/* A schedule as others see it: see core.h. */
#ifndef CORE_SCHEDULE_VIEW_H
#define CORE_SCHEDULE_VIEW_H

#include "core/core.h"
#include "cron/pattern/item.h"
#include "model/objects/schedule.h"

struct schedule_view {
	struct schedule_row row;
	const struct cron_items *items; /* until the next step, as is the zone */
	const struct cron_zone *zone;   /* NULL: it has none, or it is not known here */
	int64_t next_s;                 /* the next tick; 0: there is none */
	uint32_t live;                  /* of its tasks have not ended */
	const char *failed;             /* static: why it cannot fire at all; NULL: it can */
};
/* The row is made for the asker, in the arena; without one it lives until the next step, and has no
 * items' text. */
bool core_schedule(const struct core *c, rid id, struct arena *a, struct schedule_view *ret_view);

#endif
