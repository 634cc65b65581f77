/* SPDX-License-Identifier: Apache-2.0 */
/* Dates and pattern together must leave something to run: whoever asks for nothing is told so. */
#include "api/schedules/schedule_in.h"

#include "base/timefmt.h"

/* The schedule as it would be: what a change leaves out is as it was. */
struct reach {
	const struct cron_items *items;
	const struct cron_zone *zone;
	int64_t start_ms, end_ms;
	bool moved, is_new_pattern; /* any of it; that of it */
};

static struct reach reach_of(const struct schedule_in *in, const struct schedule_view *old)
{
	bool pattern = !old || in->fields & SCHEDULE_BIT(items);
	bool start = !old || in->fields & SCHEDULE_BIT(start_ms);
	bool end = !old || in->fields & SCHEDULE_BIT(end_ms);

	return (struct reach){
	    .items = pattern ? &in->pattern.items : old->items,
	    .zone = !pattern          ? old->zone
	            : in->pattern.ref ? in->pattern.ref->zone
	                              : NULL,
	    .start_ms = start ? in->row.start_ms : old->row.start_ms,
	    .end_ms = end ? in->row.end_ms : old->row.end_ms,
	    .moved = pattern || start || end,
	    .is_new_pattern = pattern,
	};
}

static int bad(struct schedule_in *in, const char *field, const char *what, const char *hint)
{
	struct problem *p = &in->c->problem;

	problem_set(p, ERR_INVALID, "%s", what);
	problem_hint(p, "%s", hint);
	return problem_field(p, field);
}

static const char *pattern_field(const struct schedule_in *in)
{
	const struct pattern_members *m = &in->pattern_members;

	return m->crontab ? "crontab" : m->calendar ? "calendar" : "items";
}

static int too_early(struct schedule_in *in, int64_t first_s)
{
	struct problem *p = &in->c->problem;
	char first[TIME_TEXT_MAX];

	problem_set(p, ERR_INVALID,
	    "it would never run: its \"end\" lies before its first time, %s",
	    time_format_ms(first_s * 1000, first));
	problem_hint(p, "give a later one, or null for none");
	return problem_field(p, "end");
}

/* The tick of this very second may still be wanted. */
static int check_ticks(struct schedule_in *in, const struct reach *r)
{
	int64_t from_s = in->now_ms / 1000, next;
	int64_t start_s = r->start_ms / 1000 + (r->start_ms % 1000 > 0);

	if (cron_items_use_zone(r->items) && !r->zone) /* the zone's problem is told elsewhere */
		return 0;
	if (r->start_ms && start_s > from_s)
		from_s = start_s;
	if (!cron_items_next(r->items, r->zone, from_s, &next))
		return bad(in, r->is_new_pattern ? pattern_field(in) : "start",
		    "it would never run: all its times lie in the past, before \"start\", or where "
		    "the "
		    "clock jumps over them",
		    "give times that are still to come, an earlier \"start\", or another answer to "
		    "daylight saving");
	if (r->end_ms && next > r->end_ms / 1000)
		return too_early(in, next);
	return 0;
}

int schedule_dates_check(struct schedule_in *in, const struct schedule_view *old)
{
	struct reach r = reach_of(in, old);

	if (!r.moved)
		return 0;
	if (r.start_ms && r.end_ms && r.start_ms > r.end_ms)
		return bad(in, "end", "the schedule ends before it starts",
		    "\"end\" must not lie before \"start\"; null takes either away");
	if (r.end_ms && r.end_ms < in->now_ms)
		return bad(in, "end", "it would never run: its \"end\" lies in the past",
		    "give a later one, or null for none; to stop a schedule, pause or delete it");
	return check_ticks(in, &r);
}
