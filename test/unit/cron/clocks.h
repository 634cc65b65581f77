/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine's tests share: items and zones from text, and one call of the engine. */
#ifndef TEST_CRON_CLOCKS_H
#define TEST_CRON_CLOCKS_H

#include "cron/engine.h"

/* A server that watches its clocks. */
struct watch {
	struct cron_items items;
	struct cron_policy policy;
	struct cron_zone *zone;
	int64_t system, monotonic_ms;
	struct cron_state state;
	struct cron_change change; /* of the last call */
};

void watch_init(struct watch *w, const char *json, const char *zone, int64_t limit);
void watch_release(struct watch *w);
void watch_zone(struct watch *w, const char *zone);
/* `real` seconds go by; the clock is set by `step` beyond that. */
void watch_pass(struct watch *w, int64_t real, int64_t step);
/* Calls the engine and takes at most `max` events; returns how many there were. */
size_t watch_call(struct watch *w, struct cron_event *ret_events, size_t max);

#endif
