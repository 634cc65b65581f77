/* SPDX-License-Identifier: Apache-2.0 */
/* Items as values: making, freeing, and finding out that one can never match. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cron/pattern/dates.h"
#include "cron/pattern/parse.h"

void ranges_release(struct ranges *r)
{
	free(r->v);
	memset(r, 0, sizeof *r);
}

bool ranges_add(struct ranges *r, int64_t start, int64_t end, int64_t period)
{
	if (r->n >= CRON_LIST_MAX)
		return false;
	end = start + (end - start) / period * period;
	if (start == end)
		period = 1;
	GROW(r->v, r->cap, r->n + 1);
	r->v[r->n++] = (struct cron_range){start, end, period};
	return true;
}

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_ranges(const void *left, const void *right)
{
	const struct cron_range *a = left, *b = right;
	int by_start = compare(a->start, b->start), by_end = compare(a->end, b->end);

	return by_start ? by_start : by_end ? by_end : compare(a->period, b->period);
}

static void ranges_sort(struct ranges *r)
{
	size_t n = 0;

	if (r->n)
		qsort(r->v, r->n, sizeof *r->v, compare_ranges);
	for (size_t i = 0; i < r->n; i++)
		if (n == 0 || compare_ranges(&r->v[n - 1], &r->v[i]) != 0)
			r->v[n++] = r->v[i];
	r->n = n;
}

void ranges_take(struct ranges *r, struct cron_item *ret_item)
{
	ranges_sort(r);
	ret_item->n_ranges = r->n;
	ret_item->ranges = TAKE(r->v);
}

uint64_t ranges_bits(const struct ranges *r, int64_t base)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < r->n; i++)
		for (int64_t v = r->v[i].start; v <= r->v[i].end; v += r->v[i].period)
			bits |= UINT64_C(1) << (v - base);
	return bits;
}

void item_init(struct cron_item *it)
{
	memset(it, 0, sizeof *it);
	it->seconds = 1;
	it->hours = CRON_ALL_HOURS;
	it->days = CRON_ALL_DAYS;
	it->months = CRON_ALL_MONTHS;
	it->weekdays = CRON_ALL_WEEKDAYS;
}

void item_release(struct cron_item *it)
{
	free(it->ranges);
	it->ranges = NULL;
	it->n_ranges = 0;
}

void items_add(struct cron_items *items, struct cron_item *it)
{
	items->items = xrealloc(items->items, (items->n + 1) * sizeof *items->items);
	items->items[items->n++] = *it;
	memset(it, 0, sizeof *it);
}

void cron_items_release(struct cron_items *items)
{
	for (size_t i = 0; i < items->n; i++)
		item_release(&items->items[i]);
	free(items->items);
	free(items->zone);
	memset(items, 0, sizeof *items);
}

bool cron_items_use_zone(const struct cron_items *items)
{
	for (size_t i = 0; i < items->n; i++)
		if (!items->items[i].is_epoch)
			return true;
	return false;
}

static bool has_days(const struct cron_item *it)
{
	return dates_next_day(it, 0) != DATES_NONE;
}

#define MONTHS_HINT                                                                         \
	"February has 28 days, in leap years 29; April, June, September and November have " \
	"30. Change the day, the month or the year"

struct blame {
	const char *what, *hint;
};

/* The same item without its years, and then without its iterated selectors: what helps is to
 * blame. */
static struct blame impossible_part(const struct cron_item *it)
{
	static const struct blame
	    years = {"none of the years has such a date", MONTHS_HINT},
	    iteration = {"no date of the iteration (iter_…) is one of those days",
	        "it comes to other days, months or years than the ones that "
	        "are selected: change its start, period or end, or them"},
	    nth = {"no month has such a weekday",
	        "day_of_week and weekday_of_month have none in common: change one"},
	    weekday = {"those days of the month never fall on such a weekday",
	        "change the days or the weekdays, or make two items of them"},
	    day = {"none of the months has such a day", MONTHS_HINT};
	struct cron_item less = *it;

	less.ranges = NULL;
	less.n_ranges = 0;
	if (has_days(&less))
		return years;
	less.iter_day = less.iter_week = less.iter_month = (struct cron_range){0};
	if (has_days(&less))
		return iteration;
	less.days_before_end = 0;
	less.days = CRON_ALL_DAYS;
	if (!has_days(&less))
		return nth;
	less.weekdays = CRON_ALL_WEEKDAYS;
	memset(less.nth, 0, sizeof less.nth);
	less.days = it->days;
	less.days_before_end = it->days_before_end;
	return has_days(&less) ? weekday : day;
}

int item_check_dates(const struct cron_item *it, const char *where, struct problem *p)
{
	struct blame blame;

	if (it->is_epoch || has_days(it))
		return ERR_OK;
	blame = impossible_part(it);
	problem_set(p, ERR_NOT_FOUND, "%s%sno date will ever match: %s", where, *where ? ": " : "",
	    blame.what);
	problem_hint(p, "%s", blame.hint);
	problem_field(p, where);
	return ERR_NOT_FOUND;
}
