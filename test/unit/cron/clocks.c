/* SPDX-License-Identifier: Apache-2.0 */
#include "clocks.h"

#include "base/mem.h"

static struct cron_zone *zone_of(const char *text)
{
	struct cron_zone *z;
	struct problem p;

	if (cron_zone_fixed(str_of(text), &z, &p) < 0)
		MUST(cron_zone_posix(str_of(text), &z, &p) == 0);
	return z;
}

void watch_init(struct watch *w, const char *json, const char *zone, int64_t limit)
{
	struct problem p;

	*w = (struct watch){.policy = {limit, 5}, .zone = zone_of(zone)};
	MUST(cron_items_json(str_of(json), &w->items, &p) == 0);
}

void watch_release(struct watch *w)
{
	cron_items_release(&w->items);
	cron_zone_free(w->zone);
}

void watch_zone(struct watch *w, const char *zone)
{
	cron_zone_free(w->zone);
	w->zone = zone_of(zone);
}

void watch_pass(struct watch *w, int64_t real, int64_t step)
{
	w->system += real + step;
	w->monotonic_ms += real * 1000;
}

size_t watch_call(struct watch *w, struct cron_event *ret_events, size_t max)
{
	struct cron_reading now = {w->system, w->monotonic_ms, w->zone};
	struct cron_engine e;
	size_t n = 0;

	cron_engine_begin(&e, &w->items, &w->policy, &now, &w->state);
	while (n < max && cron_engine_next(&e, &ret_events[n]))
		n++;
	w->state = e.state;
	w->change = e.change;
	return n;
}
