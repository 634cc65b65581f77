/* SPDX-License-Identifier: Apache-2.0 */
/* Items in plain English: when, on which days, within which months and years. */
#include "cron/words.h"

#include <inttypes.h>

#include "cron/civil.h"
#include "cron/names.h"

#define TIMES_SHOWN 6 /* so many are written out, more become a rule */
#define RANGES_SHOWN 6

static unsigned count_of(uint64_t bits)
{
	return (unsigned)__builtin_popcountll(bits);
}

static int lowest(uint64_t bits)
{
	return __builtin_ctzll(bits);
}

static int highest(uint64_t bits)
{
	return 63 - __builtin_clzll(bits);
}

static bool is_run(uint64_t bits)
{
	return bits && (int)count_of(bits) == highest(bits) - lowest(bits) + 1;
}

/* 0, k, 2k, … up to the end of an hour or a day: k; else 0. */
static int even_step(uint64_t bits, int size)
{
	int step = bits & 1 && bits != 1 ? lowest(bits & ~UINT64_C(1)) : 0;

	if (step == 0 || size % step || (int)count_of(bits) != size / step)
		return 0;
	for (int i = 0; i < size; i += step)
		if (!(bits >> i & 1))
			return 0;
	return step;
}

static const char *ending(int n)
{
	if (n % 100 / 10 == 1)
		return "th";
	return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

static void add_number(struct buf *out, int n)
{
	buf_printf(out, "%d", n);
}

static void add_ordinal(struct buf *out, int n)
{
	buf_printf(out, "%d%s", n, ending(n));
}

static void add_weekday(struct buf *out, int n)
{
	buf_add_cstr(out, weekday_names[n]);
}

static void add_month(struct buf *out, int n)
{
	buf_add_cstr(out, month_names[n - 1]);
}

static void add_between(struct buf *out, bool first, bool last)
{
	if (!first)
		buf_add_cstr(out, last ? " and " : ", ");
}

/* "1, 3 to 5 and 9" */
static void add_list(struct buf *out, uint64_t bits, void (*add)(struct buf *out, int n))
{
	bool first = true;

	while (bits) {
		int from = lowest(bits), to = from;

		while (to < 63 && bits >> (to + 1) & 1)
			to++;
		if (to - from < 2)
			to = from;
		for (int i = from; i <= to; i++)
			bits &= ~(UINT64_C(1) << i);
		add_between(out, first, !bits);
		add(out, from);
		if (to != from) {
			buf_add_cstr(out, " to ");
			add(out, to);
		}
		first = false;
	}
}

static void add_times(const struct cron_item *it, struct buf *out)
{
	unsigned left = count_of(it->hours) * count_of(it->minutes) * count_of(it->seconds);
	bool first = true;

	buf_add_cstr(out, "at ");
	for (int at = 0; at < DAY_SECONDS; at++) {
		int h = at / 3600, m = at / 60 % 60, s = at % 60;

		if (!(it->hours >> h & 1) || !(it->minutes >> m & 1) || !(it->seconds >> s & 1))
			continue;
		add_between(out, first, --left == 0);
		buf_printf(out, "%02d:%02d", h, m);
		if (s)
			buf_printf(out, ":%02d", s);
		first = false;
	}
}

static void add_seconds(uint64_t seconds, struct buf *out)
{
	int step = even_step(seconds, 60);

	if (step == 1)
		buf_add_cstr(out, "every second");
	else if (step)
		buf_printf(out, "every %d seconds", step);
	else {
		buf_add_cstr(out, count_of(seconds) == 1 ? "at second " : "at seconds ");
		add_list(out, seconds, add_number);
	}
}

/* Says whether hours that are not restricted have to be mentioned. */
static bool add_minutes(uint64_t minutes, bool after_seconds, struct buf *out)
{
	int step = even_step(minutes, 60);

	if (step == 1) {
		buf_add_cstr(out, after_seconds ? "" : "every minute");
		return false;
	}
	if (step && after_seconds)
		buf_printf(out, " of every %d%s minute", step, ending(step));
	else if (step)
		buf_printf(out, "every %d minutes", step);
	if (step)
		return false;
	buf_add_cstr(out, after_seconds ? " of minute" : "at minute");
	buf_add_cstr(out, count_of(minutes) == 1 ? " " : "s ");
	add_list(out, minutes, add_number);
	return true;
}

static void add_hours(uint32_t hours, bool mention, struct buf *out)
{
	int step = even_step(hours, 24);

	if (step == 1)
		buf_add_cstr(out, mention ? " of every hour" : "");
	else if (step)
		buf_printf(out, " of every %d%s hour", step, ending(step));
	else if (is_run(hours))
		buf_printf(out, " from %02d:00 to %02d:59", lowest(hours), highest(hours));
	else {
		buf_add_cstr(out, " of the hours ");
		add_list(out, hours, add_number);
	}
}

/* False: the time says already that it is every day. */
static bool add_clock(const struct cron_item *it, struct buf *out)
{
	bool seconds = it->seconds != 1, mention;

	if (count_of(it->hours) * count_of(it->minutes) * count_of(it->seconds) <= TIMES_SHOWN) {
		add_times(it, out);
		return true;
	}
	if (seconds)
		add_seconds(it->seconds, out);
	mention = add_minutes(it->minutes, seconds, out);
	add_hours(it->hours, mention, out);
	return false;
}

static void add_nth(const struct cron_item *it, struct buf *out)
{
	static const char *const names[] = {"first", "second", "third", "fourth", "fifth", "last"};
	bool first = true;

	for (size_t row = 0; row < 6; row++) {
		if (!it->nth[row])
			continue;
		buf_add_cstr(out, first ? ", on the " : " and the ");
		buf_printf(out, "%s ", names[row]);
		add_list(out, it->nth[row], add_weekday);
		first = false;
	}
	if (!first)
		buf_add_cstr(out, " of the month");
}

static void add_before_end(struct buf *out, int n)
{
	if (n == 0)
		buf_add_cstr(out, "last day");
	else
		buf_printf(out, "%d%s day before the last", n, ending(n));
}

static void add_month_days(const struct cron_item *it, struct buf *out)
{
	uint32_t days = it->days & ~CRON_LAST_DAY, before = it->days_before_end;

	if (it->days & CRON_LAST_DAY)
		before |= 1;
	if (days == CRON_ALL_DAYS && !it->days_before_end)
		return;
	buf_add_cstr(out, ", on the ");
	if (days)
		add_list(out, days, add_ordinal);
	if (days && before)
		buf_add_cstr(out, " and the ");
	if (before)
		add_list(out, before, add_before_end);
	buf_add_cstr(out, " of the month");
}

static void add_date(struct buf *out, int64_t days)
{
	int32_t year, month, day;

	civil_from_days(days, &year, &month, &day);
	buf_printf(out, "%04d-%02d-%02d", year, month, day);
}

/* The last value of a range may lie short of the greatest one that there is. */
static bool is_open(const struct cron_range *r, int64_t greatest)
{
	return r->end > greatest - r->period;
}

static void add_iterated(
    const struct cron_range *r, const char *unit, int64_t open_end, struct buf *out)
{
	if (r->period == 0)
		return;
	if (r->period == 1)
		buf_printf(out, ", every %s from ", unit);
	else
		buf_printf(out, ", every %" PRId64 " %ss from ", r->period, unit);
	add_date(out, r->start);
	if (!is_open(r, open_end)) {
		buf_add_cstr(out, " to ");
		add_date(out, r->end);
	}
}

/* Months are counted from January 1970, days are not: the first of the month stands for it. */
static int64_t month_days(int64_t months)
{
	return civil_days((int32_t)(1970 + months / 12), (int32_t)(months % 12) + 1, 1);
}

static void add_iterated_months(const struct cron_range *r, struct buf *out)
{
	int64_t last = (CRON_YEAR_MAX - 1970 + 1) * 12 - 1;
	struct cron_range days = {.period = r->period};

	if (r->period == 0)
		return;
	days.start = month_days(r->start);
	days.end = is_open(r, last) ? INT64_MAX : month_days(r->end);
	add_iterated(&days, "month", INT64_MAX, out);
}

static void add_days(const struct cron_item *it, bool is_daily, struct buf *out)
{
	int64_t last = CRON_TIME_MAX / DAY_SECONDS;
	size_t n = out->n;
	bool dated;

	add_nth(it, out);
	add_month_days(it, out);
	dated = out->n > n;
	if (it->weekdays != CRON_ALL_WEEKDAYS) {
		buf_add_cstr(out, dated                  ? ", if it is a "
		                  : is_run(it->weekdays) ? ", "
		                                         : ", every ");
		if (!dated && count_of(it->weekdays) == 1)
			buf_add_cstr(out, "every ");
		add_list(out, it->weekdays, add_weekday);
	}
	add_iterated(&it->iter_day, "day", last, out);
	add_iterated(&it->iter_week, "week", last, out);
	add_iterated_months(&it->iter_month, out);
	if (out->n == n && is_daily)
		buf_add_cstr(out, ", every day");
}

static void add_year_range(struct buf *out, const struct cron_range *r)
{
	if (r->start == r->end)
		buf_printf(out, "%" PRId64, r->start);
	else if (is_open(r, CRON_YEAR_MAX))
		buf_printf(out, "%" PRId64 " and later", r->start);
	else
		buf_printf(out, "%" PRId64 " to %" PRId64, r->start, r->end);
	if (r->period > 1 && r->start != r->end)
		buf_printf(out, " (every %" PRId64 " years)", r->period);
}

static void add_years(const struct cron_item *it, struct buf *out)
{
	const struct cron_range *r = it->ranges;

	if (it->n_ranges == 0 || (it->n_ranges == 1 && r->start <= CRON_YEAR_MIN &&
	                             r->end >= CRON_YEAR_MAX && r->period == 1))
		return;
	buf_add_cstr(out, it->months == CRON_ALL_MONTHS ? ", in " : " ");
	for (size_t i = 0; i < it->n_ranges && i < RANGES_SHOWN; i++) {
		add_between(out, i == 0, i + 1 == it->n_ranges);
		add_year_range(out, &r[i]);
	}
	if (it->n_ranges > RANGES_SHOWN)
		buf_printf(out, " and %zu more", it->n_ranges - RANGES_SHOWN);
}

static void add_instant(struct buf *out, int64_t t)
{
	struct civil c = civil_from_seconds(t);

	buf_printf(out, "%04d-%02d-%02dT%02d:%02d:%02dZ", c.year, c.month, c.day, c.hour, c.minute,
	    c.second);
}

static void add_period(struct buf *out, int64_t seconds)
{
	static const struct {
		int64_t size;
		const char *name;
	} units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
	size_t i = 0;

	while (seconds % units[i].size)
		i++;
	if (seconds == units[i].size)
		buf_printf(out, "every %s", units[i].name);
	else
		buf_printf(out, "every %" PRId64 " %ss", seconds / units[i].size, units[i].name);
}

static void add_epoch_range(struct buf *out, const struct cron_range *r)
{
	if (r->start == r->end) {
		buf_add_cstr(out, "once at ");
		add_instant(out, r->start);
		return;
	}
	add_period(out, r->period);
	if (r->start > 0) {
		buf_add_cstr(out, " from ");
		add_instant(out, r->start);
	}
	if (!is_open(r, CRON_TIME_MAX)) {
		buf_add_cstr(out, " until ");
		add_instant(out, r->end);
	}
}

static void describe_epoch(const struct cron_item *it, struct buf *out)
{
	for (size_t i = 0; i < it->n_ranges && i < RANGES_SHOWN; i++) {
		buf_add_cstr(out, i ? ", " : "");
		add_epoch_range(out, &it->ranges[i]);
	}
	if (it->n_ranges > RANGES_SHOWN)
		buf_printf(out, " and %zu more", it->n_ranges - RANGES_SHOWN);
	buf_add_cstr(out, ", whatever the zone");
}

void cron_describe_item(const struct cron_item *it, struct buf *out)
{
	if (it->is_epoch) {
		describe_epoch(it, out);
		return;
	}
	add_days(it, add_clock(it, out), out);
	if (it->months != CRON_ALL_MONTHS) {
		buf_add_cstr(out, ", in ");
		add_list(out, it->months, add_month);
	}
	add_years(it, out);
}

void cron_describe(const struct cron_items *items, struct buf *out)
{
	for (size_t i = 0; i < items->n; i++) {
		cron_describe_item(&items->items[i], out);
		buf_add_char(out, '\n');
	}
}

void cron_describe_dst(const struct cron_item *it, struct buf *out)
{
	static const char *const repeated[] = {
	    [CRON_REPEAT_BOTH] = "both times",
	    [CRON_REPEAT_EARLY] = "once, the early one",
	    [CRON_REPEAT_LATE] = "once, the late one",
	};

	if (it->is_epoch)
		return;
	buf_printf(out, "a time that does not exist %s; one that happens twice runs %s%s",
	    it->skipped == CRON_UNSKIP ? "runs a second before the clock jumps" : "does not run",
	    repeated[it->repeated], it->by_vixie ? " (by Vixie's rule)" : "");
}
