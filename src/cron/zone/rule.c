/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule of a POSIX TZ string at work. Its changes are numbered through all years: 2 * year is
 * the first change of that year, 2 * year + 1 the second. Their times rise with their numbers (that
 * is what zone_rule_order() makes sure of), so the span around a time is found from the year by a
 * step or two.
 */
#include "cron/zone/civil.h"
#include "cron/zone/zone_internal.h"

/* Beyond these years no clock changes. */
#define RULE_YEAR_MAX 1000000
/* So many years, a multiple of 400, make each of them positive; they have this many days. */
#define YEARS_BIAS 2000000
#define DAYS_BIAS (INT64_C(146097) * (YEARS_BIAS / 400))
#define DAYS_1_TO_1970 719162
#define YEAR_SECONDS INT64_C(31556952) /* on average */
#define CYCLE_YEARS 400

/* Days from 1 January to the month's first, in a year without leap day. */
static const int16_t month_begins[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};

static int32_t nth_weekday(const struct rule_date *d, bool leap, int32_t new_year_weekday)
{
	int32_t first = month_begins[d->month - 1] + (leap && d->month > 2);
	int32_t next = month_begins[d->month] + (leap && d->month >= 2);
	int32_t weekday = (new_year_weekday + first) % 7;
	int32_t day = first + (d->day - weekday + 7) % 7 + 7 * (d->week - 1);

	return day < next ? day : day - 7;
}

/* Seconds from the year's beginning by the same wall clock. */
static int32_t date_in_year(const struct rule_date *d, bool leap, int32_t new_year_weekday)
{
	int32_t day = d->day;

	if (d->kind == RULE_NO_LEAP_DAY)
		day += -1 + (leap && d->day >= 60);
	else if (d->kind == RULE_WEEKDAY)
		day = nth_weekday(d, leap, new_year_weekday);
	return day * DAY_SECONDS + d->time;
}

/* There are only fourteen kinds of years. */
static void fill_changes(struct zone_rule *r)
{
	for (int leap = 0; leap < 2; leap++)
		for (int weekday = 0; weekday < 7; weekday++) {
			r->start_in[leap][weekday] =
			    date_in_year(&r->start, leap, weekday) - r->standard.offset;
			r->end_in[leap][weekday] =
			    date_in_year(&r->end, leap, weekday) - r->daylight.offset;
		}
}

static bool is_start(const struct zone_rule *r, int64_t change)
{
	return (change & 1) == r->end_first;
}

static int64_t change_in_year(const struct zone_rule *r, int32_t year, bool start)
{
	uint32_t y = (uint32_t)(year + YEARS_BIAS), before = y - 1;
	uint32_t days = 365 * before + before / 4 - before / 100 + before / 400;
	uint32_t weekday = (days + 1) % 7; /* 1 January of the year 1 was a Monday */
	bool leap = y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);

	return ((int64_t)days - DAYS_BIAS - DAYS_1_TO_1970) * DAY_SECONDS +
	       (start ? r->start_in : r->end_in)[leap][weekday];
}

static int64_t change_time(const struct zone_rule *r, int64_t change)
{
	int64_t year = change >> 1;

	if (year > RULE_YEAR_MAX)
		return INT64_MAX;
	if (year < -RULE_YEAR_MAX)
		return INT64_MIN;
	return change_in_year(r, (int32_t)year, is_start(r, change));
}

/* The number of a change that is not far from t. */
static int64_t change_near(int64_t t)
{
	int64_t halves = t / (YEAR_SECONDS / 2) - (t < 0) + 2 * 1970;

	if (halves > 2 * RULE_YEAR_MAX)
		return 2 * RULE_YEAR_MAX;
	return halves < -2 * RULE_YEAR_MAX ? -2 * RULE_YEAR_MAX : halves;
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
	int64_t start = change_in_year(r, year, true), end = change_in_year(r, year, false);

	if (start < end)
		return end < change_in_year(r, year + 1, true) ? STARTS_FIRST : NEVER_ENDS;
	return end < start && start < change_in_year(r, year + 1, false) ? ENDS_FIRST : 0;
}

/* Leap years and weekdays repeat after 400 years, so what holds in those holds always. */
int zone_rule_order(struct zone_rule *r, struct problem *p)
{
	enum order seen;

	fill_changes(r);
	seen = order_in_year(r, 2000);
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
