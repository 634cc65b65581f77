/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search goes month by month: a month's days are the bits of a word, every selector of days is
 * such a word too, and what all of them leave is found without looking at single days. Months and
 * years that are not selected are passed over, so it needs no limit but the calendar's end.
 */
#include "cron/pattern/dates.h"

#include "cron/zone/civil.h"

#define DAY_LIMIT INT64_C(2932897) /* 10000-01-01 */
#define WEEKS_OF_MONTH ((UINT64_C(1) << 0) | (1u << 7) | (1u << 14) | (1u << 21) | (1u << 28))

struct month {
	int32_t year, month;
	int64_t first; /* day since 1970 */
	int32_t days;
};

static struct month month_of(int32_t year, int32_t month)
{
	return (struct month){
	    year, month, civil_days(year, month, 1), civil_month_days(year, month)};
}

/* Weekdays counted from another one: bit 0 is `first`. */
static uint64_t rotate_week(uint8_t weekdays, int32_t first)
{
	return ((uint32_t)weekdays >> first | (uint32_t)weekdays << (7 - first)) &
	       CRON_ALL_WEEKDAYS;
}

static bool any_nth(const struct cron_item *it)
{
	uint8_t all = 0;

	for (size_t i = 0; i <= CRON_WEEK_LAST; i++)
		all |= it->nth[i];
	return all != 0;
}

/* In the words below bit d is the d-th of the month. */

static uint64_t days_by_number(const struct cron_item *it, const struct month *m)
{
	uint64_t days = it->days & CRON_ALL_DAYS;

	if (it->days & CRON_LAST_DAY)
		days |= UINT64_C(1) << m->days;
	for (int32_t back = 0; it->days_before_end >> back; back++)
		if (it->days_before_end >> back & 1 && back < m->days)
			days |= UINT64_C(1) << (m->days - back);
	return days;
}

static uint64_t days_by_nth(const struct cron_item *it, const struct month *m)
{
	int32_t first = civil_weekday(m->first);
	int32_t last_week = m->days - 7; /* days before the month's last seven */
	uint64_t days = rotate_week(it->nth[CRON_WEEK_LAST], (first + last_week) % 7) << last_week;

	for (int32_t week = 0; week < CRON_WEEK_LAST; week++)
		days |= rotate_week(it->nth[week], first) << (7 * week);
	return days << 1;
}

int64_t cron_range_next(const struct cron_range *r, int64_t v)
{
	int64_t next;

	if (v <= r->start)
		return r->start;
	if (v > r->end)
		return INT64_MAX;
	next = v + (r->period - (v - r->start) % r->period) % r->period;
	return next <= r->end ? next : INT64_MAX;
}

static uint64_t days_by_iteration(struct cron_range r, const struct month *m)
{
	uint64_t days = 0;
	int64_t end = m->first + m->days;

	for (int64_t d = cron_range_next(&r, m->first); d < end; d = cron_range_next(&r, d + 1))
		days |= UINT64_C(1) << (d - m->first + 1);
	return days;
}

static struct cron_range weeks_as_days(struct cron_range r)
{
	r.period *= 7;
	return r;
}

static int64_t months_since_1970(int32_t year, int32_t month)
{
	return (int64_t)(year - CRON_YEAR_MIN) * 12 + month - 1;
}

static uint64_t month_days(const struct cron_item *it, const struct month *m)
{
	uint64_t days = days_by_number(it, m) & ((UINT64_C(2) << m->days) - 2);
	int64_t number = months_since_1970(m->year, m->month);

	if (it->iter_month.period && cron_range_next(&it->iter_month, number) != number)
		return 0;
	if (it->weekdays != CRON_ALL_WEEKDAYS)
		days &= rotate_week(it->weekdays, civil_weekday(m->first)) * WEEKS_OF_MONTH << 1;
	if (any_nth(it))
		days &= days_by_nth(it, m);
	if (it->iter_day.period)
		days &= days_by_iteration(it->iter_day, m);
	if (it->iter_week.period)
		days &= days_by_iteration(weeks_as_days(it->iter_week), m);
	return days;
}

static int64_t first_of(int64_t month)
{
	if (month >= months_since_1970(CRON_YEAR_MAX + 1, 1))
		return DAY_LIMIT;
	return civil_days(CRON_YEAR_MIN + (int32_t)(month / 12), (int32_t)(month % 12) + 1, 1);
}

/* A day before which no iterated selector matches: `day` itself, or later. */
static int64_t pass_iterations(const struct cron_item *it, int64_t day)
{
	int64_t far = day, next;
	struct cron_range weeks = weeks_as_days(it->iter_week);
	int32_t y, m, d;

	if (it->iter_day.period && (next = cron_range_next(&it->iter_day, day)) > far)
		far = next;
	if (weeks.period && (next = cron_range_next(&weeks, day)) > far)
		far = next;
	if (it->iter_month.period) {
		civil_from_days(day, &y, &m, &d);
		next = cron_range_next(&it->iter_month, months_since_1970(y, m));
		if (next > months_since_1970(y, m) && (next = first_of(next)) > far)
			far = next;
	}
	return far;
}

static int32_t next_year(const struct cron_item *it, int32_t year)
{
	int64_t best = it->n_ranges ? INT64_MAX : year;

	for (size_t i = 0; i < it->n_ranges && it->ranges[i].start < best; i++) {
		int64_t next = cron_range_next(&it->ranges[i], year);
		best = next < best ? next : best;
	}
	return best > CRON_YEAR_MAX ? CRON_YEAR_MAX + 1 : (int32_t)best;
}

/* The first of a year and month that are selected, at or after those of a day: the day itself, or
 * the first day of a later month. */
static int64_t pass_months(
    const struct cron_item *it, int64_t day, int32_t *ret_year, int32_t *ret_month)
{
	int32_t year, month, day_of_month, found;
	uint32_t later;

	civil_from_days(day, &year, &month, &day_of_month);
	*ret_year = year;
	*ret_month = month;
	found = next_year(it, year);
	later = found == year ? (uint32_t)it->months >> month << month : 0;
	if (later >> month & 1)
		return day;
	if (!later) {
		found = found == year ? next_year(it, year + 1) : found;
		later = it->months;
	}
	if (!later || found > CRON_YEAR_MAX)
		return DAY_LIMIT;
	*ret_year = found;
	*ret_month = __builtin_ctz(later);
	return civil_days(*ret_year, *ret_month, 1);
}

static bool is_every_day(const struct cron_item *it)
{
	return (it->days & CRON_ALL_DAYS) == CRON_ALL_DAYS && it->months == CRON_ALL_MONTHS &&
	       it->weekdays == CRON_ALL_WEEKDAYS && it->n_ranges == 0 && !any_nth(it) &&
	       !it->iter_day.period && !it->iter_week.period && !it->iter_month.period;
}

int64_t dates_next_day(const struct cron_item *it, int64_t from)
{
	bool iterated = it->iter_day.period || it->iter_week.period || it->iter_month.period;
	int64_t day = from < DATES_FIRST_DAY ? DATES_FIRST_DAY : from;

	if (is_every_day(it))
		return day < DAY_LIMIT ? day : DATES_NONE;
	while (day < DAY_LIMIT) {
		struct month m;
		uint64_t days;
		int32_t year, month;

		if (iterated && (day = pass_iterations(it, day)) >= DAY_LIMIT)
			break;
		if ((day = pass_months(it, day, &year, &month)) >= DAY_LIMIT)
			break;
		m = month_of(year, month);
		days = month_days(it, &m) >> (day - m.first + 1);
		if (days)
			return day + __builtin_ctzll(days);
		day = m.first + m.days;
	}
	return DATES_NONE;
}

static int32_t next_bit(uint64_t bits, int32_t from)
{
	bits = bits >> from << from;
	return bits ? __builtin_ctzll(bits) : -1;
}

/* The first time of day that matches, at or after one; -1 when it is the next day's. */
static int32_t next_time(const struct cron_item *it, int32_t from)
{
	int32_t hour = from / 3600, minute = from / 60 % 60, second = from % 60;
	int32_t h = next_bit(it->hours, hour), m, s;

	if (h == hour) {
		m = next_bit(it->minutes, minute);
		s = m == minute ? next_bit(it->seconds, second) : 0;
		if (s < 0)
			m = next_bit(it->minutes, minute + 1);
		if (m > minute || s < 0)
			s = next_bit(it->seconds, 0);
		if (m >= 0)
			return h * 3600 + m * 60 + s;
		h = next_bit(it->hours, hour + 1);
	}
	if (h < 0)
		return -1;
	return h * 3600 + next_bit(it->minutes, 0) * 60 + next_bit(it->seconds, 0);
}

int64_t dates_next_label(const struct cron_item *it, int64_t from)
{
	const int64_t first = DATES_FIRST_DAY * DAY_SECONDS;
	int64_t since = from < first ? 0 : from - first; /* never negative: it is divided */
	int64_t today = since / DAY_SECONDS + DATES_FIRST_DAY;
	int64_t day = dates_next_day(it, today);
	int32_t time;

	if (day == today) {
		time = next_time(it, (int32_t)(since % DAY_SECONDS));
		if (time >= 0)
			return day * DAY_SECONDS + time;
		day = dates_next_day(it, today + 1);
	}
	if (day == DATES_NONE)
		return DATES_NONE;
	return day * DAY_SECONDS + next_time(it, 0);
}
