/* SPDX-License-Identifier: Apache-2.0 */
/* Items in plain English: when, on which days, within which months and years. */
#include "cron/words/words.h"

#include <inttypes.h>

#include "cron/words/phrases.h"
#include "cron/zone/civil.h"

#define RANGES_SHOWN 6

static void add_nth(const struct cron_item *it, struct buf *out)
{
	static const char *const names[] = {"first", "second", "third", "fourth", "fifth", "last"};
	bool first = true;

	for (size_t row = 0; row < 6; row++) {
		if (!it->nth[row])
			continue;
		buf_add_cstr(out, first ? ", on the " : " and the ");
		buf_printf(out, "%s ", names[row]);
		phrase_list(out, it->nth[row], phrase_weekday);
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
		buf_printf(out, "%d%s day before the last", n, phrase_ending(n));
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
		phrase_list(out, days, phrase_ordinal);
	if (days && before)
		buf_add_cstr(out, " and the ");
	if (before)
		phrase_list(out, before, add_before_end);
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

static void add_month_of(struct buf *out, int64_t months)
{
	buf_printf(out, "%04d-%02d", (int)(1970 + months / 12), (int)(months % 12) + 1);
}

static void add_ends(struct buf *out, const struct cron_range *r, int64_t greatest,
    void (*add)(struct buf *out, int64_t n))
{
	buf_add_cstr(out, " from ");
	add(out, r->start);
	if (!is_open(r, greatest)) {
		buf_add_cstr(out, " to ");
		add(out, r->end);
	}
}

/* "every 3 days", "every 2nd Tuesday", from when to when. */
static void add_iterated_days(const struct cron_item *it, struct buf *out)
{
	const struct cron_range *days = &it->iter_day, *weeks = &it->iter_week;
	int64_t last = CRON_TIME_MAX / DAY_SECONDS;

	if (days->period) {
		if (days->period == 1)
			buf_add_cstr(out, ", every day");
		else
			buf_printf(out, ", every %" PRId64 " days", days->period);
		add_ends(out, days, last, add_date);
	}
	if (weeks->period) {
		int n = (int)weeks->period;

		if (n == 1)
			buf_add_cstr(out, ", every ");
		else
			buf_printf(out, ", every %d%s ", n, phrase_ending(n));
		phrase_weekday(out, civil_weekday(weeks->start));
		add_ends(out, weeks, last, add_date);
	}
}

static void add_iterated_months(const struct cron_range *r, struct buf *out)
{
	int n = (int)r->period;

	if (n == 0)
		return;
	if (n == 1)
		buf_add_cstr(out, ", in every month");
	else
		buf_printf(out, ", in every %d%s month", n, phrase_ending(n));
	add_ends(out, r, (CRON_YEAR_MAX - 1970 + 1) * 12 - 1, add_month_of);
}

static void add_days(const struct cron_item *it, bool is_daily, struct buf *out)
{
	size_t n = out->n;
	bool dated;

	add_nth(it, out);
	add_month_days(it, out);
	dated = out->n > n;
	if (it->weekdays != CRON_ALL_WEEKDAYS) {
		buf_add_cstr(out, dated                        ? ", if it is a "
		                  : bits_are_run(it->weekdays) ? ", "
		                                               : ", every ");
		if (!dated && bits_count(it->weekdays) == 1)
			buf_add_cstr(out, "every ");
		phrase_list(out, it->weekdays, phrase_weekday);
	}
	add_iterated_days(it, out);
	if (out->n == n && is_daily)
		buf_add_cstr(out, ", every day");
	add_iterated_months(&it->iter_month, out);
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
		phrase_between(out, i == 0, i + 1 == it->n_ranges);
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
	add_days(it, phrase_clock(it, out), out);
	if (it->months != CRON_ALL_MONTHS) {
		buf_add_cstr(out, ", in ");
		phrase_list(out, it->months, phrase_month);
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

const char *cron_either_or_words(const struct cron_items *items)
{
	if (!items->either_or)
		return NULL;
	if (items->n > 1)
		return "both day fields are given: it runs when either matches, as crontab means "
		       "it";
	return "both day fields are given, and either would do; but those days of the month never "
	       "come in those months: only the weekdays count";
}
