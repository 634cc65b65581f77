/* SPDX-License-Identifier: Apache-2.0 */
/* A schedule's JSON from the options of `schedule add` and `schedule set`. */
#include <string.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/schedule/schedules.h"
#include "model/objects/schedule.h"

#define RUNS_LOOKED_AT 20

bool schedule_pattern_given(const struct cli *c)
{
	return options_given(&c->options, "item") || options_given(&c->options, "crontab") ||
	       options_given(&c->options, "calendar");
}

int schedule_put_pattern(struct cli *c, const struct cron_pattern *p, json_t *body)
{
	const char *dst = options_get(&c->options, "dst"), *tz = options_get(&c->options, "tz");

	if (p && !strcmp(p->kind, "item"))
		json_object_set_new(body, "items", cron_items_tree(&p->items));
	else if (p && body_add_text(c, body, p->kind, p->text.p ? p->text.p : "") < 0)
		return c->problem.code;
	if (dst && body_add_text(c, body, "dst", dst) < 0)
		return c->problem.code;
	return tz ? body_add_text(c, body, "time_zone", tz) : 0;
}

int schedule_put_policies(struct cli *c, json_t *body)
{
	struct made_settings made;

	return body_add(c, settings_make(schedule_fields, &made), NULL, body);
}

const char *shift_suggestion(int64_t distance_s)
{
	static const struct {
		int64_t from_s;
		const char *text;
	} steps[] = {{2 * 86400, "1d"}, {86400, "12h"}, {12 * 3600, "6h"}, {6 * 3600, "3h"},
	    {2 * 3600, "1h"}, {3600, "30m"}, {1800, "15m"}, {600, "5m"}, {300, "150s"}};

	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
		if (distance_s >= steps[i].from_s)
			return steps[i].text;
	return "1m";
}

/* The smallest one of the next few. The zone matters little here, and may be unknown to us. */
static int64_t distance_of(const struct cron_items *items)
{
	struct zones *zones = zones_new(NULL);
	int64_t t = clock_wall_ms() / 1000, last = 0, least = INT64_MAX;
	struct zone_ref *utc;

	if (zones_get(zones, STR("UTC"), &utc, NULL) == 0) {
		for (int i = 0; i < RUNS_LOOKED_AT && cron_items_next(items, utc->zone, t, &t);
		     i++, t++) {
			if (i > 0 && t - last < least)
				least = t - last;
			last = t;
		}
		zone_ref_drop(utc);
	}
	zones_free(zones);
	return least;
}

int schedule_need_shift(struct cli *c, const struct cron_items *items)
{
	size_t n_said = 0;

	for (size_t i = 0; i < items->n; i++)
		n_said += items->items[i].has_shift_limit;
	if (options_given(&c->options, "max-shift") || (items->n && n_said == items->n))
		return 0;
	problem_set(&c->problem, ERR_INVALID,
	    "how late may a run still start? --max-shift says it, and has no default");
	return problem_hint(&c->problem,
	    "after a stop or a clock set forward, ticks later than that are skipped; when the "
	    "clock is set back by less, nothing runs twice. Half the distance of two runs is "
	    "common, here: --max-shift %s",
	    shift_suggestion(distance_of(items)));
}
