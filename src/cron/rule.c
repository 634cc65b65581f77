/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule of a POSIX TZ string at work. Its changes are numbered through all years: 2 * year is
 * the first change of that year, 2 * year + 1 the second. Their times rise with their numbers (that
 * is what zone_rule_order() makes sure of), so the span around a time is found from the year by a
 * step or two.
 */
#include "cron/civil.h"
#include "cron/zone_internal.h"

/* Beyond these years no clock changes: so far the arithmetic can not overflow. */
#define RULE_YEAR_MAX 1000000
#define RULE_TIME_MAX (INT64_C(31556952) * 2 * RULE_YEAR_MAX) /* surely beyond them */
#define CYCLE_YEARS 400

/* Days from 1 January to the month's first, in a year without leap day. */
static const int16_t month_begins[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};

static int64_t weekday_in_year(const struct rule_date *d, int64_t new_year, bool leap)
{
	int64_t first = new_year + month_begins[d->month - 1] + (leap && d->month > 2);
	int64_t next = new_year + month_begins[d->month] + (leap && d->month >= 2);
	int64_t day = first + (d->day - civil_weekday(first) + 7) % 7 + 7 * (d->week - 1);

	return day < next ? day : day - 7;
}

/* Seconds since 1970 by the wall clock at which the date's time comes in that year. */
static int64_t date_in_year(const struct rule_date *d, int32_t year)
{
	int64_t day = civil_days(year, 1, 1);
	bool leap = civil_leap(year);

	switch (d->kind) {
	case RULE_NO_LEAP_DAY: day += d->day - 1 + (leap && d->day >= 60); break;
	case RULE_DAY: day += d->day; break;
	case RULE_WEEKDAY: day = weekday_in_year(d, day, leap); break;
	}
	return day * DAY_SECONDS + d->time;
}

static int64_t start_in_year(const struct zone_rule *r, int32_t year)
{
	return date_in_year(&r->start, year) - r->standard.offset;
}

static int64_t end_in_year(const struct zone_rule *r, int32_t year)
{
	return date_in_year(&r->end, year) - r->daylight.offset;
}

static bool is_start(const struct zone_rule *r, int64_t change)
{
	return (change & 1) == r->end_first;
}

static int64_t change_time(const struct zone_rule *r, int64_t change)
{
	int64_t year = change >> 1;

	if (year > RULE_YEAR_MAX)
		return INT64_MAX;
	if (year < -RULE_YEAR_MAX)
		return INT64_MIN;
	return is_start(r, change) ? start_in_year(r, (int32_t)year)
	                           : end_in_year(r, (int32_t)year);
}

/* The number of a change that is near t. */
static int64_t change_near(int64_t t)
{
	int32_t year, month, day;

	t = t > RULE_TIME_MAX ? RULE_TIME_MAX : t < -RULE_TIME_MAX ? -RULE_TIME_MAX : t;
	civil_from_days(t / DAY_SECONDS, &year, &month, &day);
	if (year > RULE_YEAR_MAX || year < -RULE_YEAR_MAX)
		year = year > 0 ? RULE_YEAR_MAX : -RULE_YEAR_MAX;
	return 2 * (int64_t)year + (month > 6);
}

void zone_rule_span(const struct zone_rule *r, int64_t t, struct cron_span *ret_span)
{
	const struct zone_type *type = &r->standard;
	int64_t change, begin = INT64_MIN, end = INT64_MAX;

	if (r->changes) {
		change = change_near(t);
		begin = change_time(r, change);
		end = change_time(r, change + 1);
		for (; t < begin; change--) {
			end = begin;
			begin = change_time(r, change - 1);
		}
		for (; t >= end && end != INT64_MAX; change++) {
			begin = end;
			end = change_time(r, change + 2);
		}
		type = is_start(r, change) ? &r->daylight : &r->standard;
	}
	*ret_span = (struct cron_span){begin, end, type->offset, type->dst, type->abbrev};
}

enum order { STARTS_FIRST = 1, ENDS_FIRST = 2, NEVER_ENDS = 4 };

static enum order order_in_year(const struct zone_rule *r, int32_t year)
{
	int64_t start = start_in_year(r, year), end = end_in_year(r, year);

	if (start < end)
		return end < start_in_year(r, year + 1) ? STARTS_FIRST : NEVER_ENDS;
	return end < start && start < end_in_year(r, year + 1) ? ENDS_FIRST : 0;
}

/* Leap years and weekdays repeat after 400 years, so what holds in those holds always. */
int zone_rule_order(struct zone_rule *r, struct problem *p)
{
	enum order seen = order_in_year(r, 2000);

	for (int32_t year = 2001; seen && year < 2000 + CYCLE_YEARS; year++)
		if (order_in_year(r, year) != seen)
			seen = 0;
	if (!seen) {
		problem_set(p, ERR_INVALID,
		    "the TZ string's two changes are not always in the same order, or coincide");
		problem_hint(p, "keep the two dates apart in every year");
		return ERR_INVALID;
	}
	r->end_first = seen == ENDS_FIRST;
	if (seen == NEVER_ENDS) {
		r->standard = r->daylight;
		r->changes = false;
	}
	return 0;
}
