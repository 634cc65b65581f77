/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random selectors of dates, alone and together, against a walk over every day that asks the C
 * library for the calendar. In UTC: what zones do to it is another test's.
 */
#include <time.h>

#include "base/rng.h"
#include "support.h"

#define DAY 86400
#define CASES 1500
#define DAYS_MAX (30 * 366) /* that one case walks at most */

/* What was written as JSON, kept as plain values. Zero: not said. */
struct wish {
	int year, year_end, year_period;
	bool months[13];
	bool any_month;
	bool days[32]; /* [0] the last */
	int before_end;
	bool any_day;
	bool weekdays[7];
	bool any_weekday;
	int nth, nth_weekday; /* 6 is the last */
	int64_t iter_day, iter_day_end;
	int iter_day_period;
	int64_t iter_week;
	int iter_week_period;
	int iter_month, iter_month_period; /* months since 1970 */
};

static struct tm day_of(int64_t day)
{
	time_t t = day * DAY;
	struct tm tm;

	gmtime_r(&t, &tm);
	return tm;
}

static int month_length(const struct tm *tm)
{
	struct tm next = {.tm_year = tm->tm_year, .tm_mon = tm->tm_mon + 1, .tm_mday = 0};

	timegm(&next);
	return next.tm_mday;
}

static bool year_fits(const struct wish *w, int year)
{
	return !w->year ||
	       (year >= w->year && year <= w->year_end && (year - w->year) % w->year_period == 0);
}

static bool nth_fits(const struct wish *w, const struct tm *tm)
{
	if (!w->nth)
		return true;
	if (tm->tm_wday != w->nth_weekday)
		return false;
	return w->nth == 6 ? tm->tm_mday + 7 > month_length(tm) : (tm->tm_mday + 6) / 7 == w->nth;
}

static bool day_fits(const struct wish *w, const struct tm *tm)
{
	int back = month_length(tm) - tm->tm_mday;

	return !w->any_day || w->days[tm->tm_mday] || (w->days[0] && back == 0) ||
	       (w->before_end && back == w->before_end);
}

static bool iterations_fit(const struct wish *w, int64_t day, const struct tm *tm)
{
	int month = (tm->tm_year - 70) * 12 + tm->tm_mon;

	if (w->iter_day_period && (day < w->iter_day || day > w->iter_day_end ||
	                              (day - w->iter_day) % w->iter_day_period))
		return false;
	if (w->iter_week_period &&
	    (day < w->iter_week || (day - w->iter_week) % (7 * w->iter_week_period)))
		return false;
	return !w->iter_month_period ||
	       (month >= w->iter_month && (month - w->iter_month) % w->iter_month_period == 0);
}

static bool fits(const struct wish *w, int64_t day)
{
	struct tm tm = day_of(day);

	return year_fits(w, tm.tm_year + 1900) && (!w->any_month || w->months[tm.tm_mon + 1]) &&
	       day_fits(w, &tm) && (!w->any_weekday || w->weekdays[tm.tm_wday]) &&
	       nth_fits(w, &tm) && iterations_fit(w, day, &tm);
}

static bool one_in(struct rng *r, uint64_t n)
{
	return rng_below(r, n) == 0;
}

static void wish_numbers(struct rng *r, struct buf *b, const char *key, bool *set, int min, int max)
{
	int n = 1 + (int)rng_below(r, 3);

	buf_printf(b, ",\"%s\":[", key);
	for (int i = 0; i < n; i++) {
		int v = min + (int)rng_below(r, (uint64_t)(max - min + 1));

		set[v] = true;
		buf_printf(b, "%s%d", i ? "," : "", v);
	}
	buf_add_char(b, ']');
}

static void wish_days(struct rng *r, struct buf *b, struct wish *w)
{
	w->any_day = true;
	wish_numbers(r, b, "day_of_month", w->days, 1, 31);
	w->days[0] = one_in(r, 3);
	w->before_end = one_in(r, 3) ? 1 + (int)rng_below(r, 30) : 0;
	b->n--;
	buf_add_cstr(b, w->days[0] ? ",\"last\"" : "");
	if (w->before_end)
		buf_printf(b, ",\"last-%d\"", w->before_end);
	buf_add_char(b, ']');
}

static void wish_weekdays(struct rng *r, struct buf *b, struct wish *w)
{
	bool set[8] = {0};

	w->any_weekday = true;
	wish_numbers(r, b, "day_of_week", set, 1, 7);
	memcpy(w->weekdays, set + 1, sizeof w->weekdays);
}

static void wish_nth(struct rng *r, struct buf *b, struct wish *w)
{
	w->nth = 1 + (int)rng_below(r, 6);
	w->nth_weekday = (int)rng_below(r, 7);
	buf_printf(b, ",\"weekday_of_month\":{\"day\":%d,\"nth\":", w->nth_weekday + 1);
	if (w->nth == 6)
		buf_add_cstr(b, "\"last\"}");
	else
		buf_printf(b, "%d}", w->nth);
}

static void wish_iter_day(struct rng *r, struct buf *b, struct wish *w, int64_t from)
{
	w->iter_day = from - 1000 + (int64_t)rng_below(r, 2000);
	w->iter_day = w->iter_day < 0 ? 0 : w->iter_day;
	w->iter_day_end = w->iter_day + (int64_t)rng_below(r, 4000);
	w->iter_day_period = 1 + (int)rng_below(r, one_in(r, 4) ? 1000 : 10);
	buf_printf(b, ",\"iter_day\":{\"start\":\"%.10s\",\"end\":\"%.10s\",\"period\":%d}",
	    utc_text(w->iter_day * DAY), utc_text(w->iter_day_end * DAY), w->iter_day_period);
}

static void wish_iter_week(struct rng *r, struct buf *b, struct wish *w, int64_t from)
{
	int64_t start = from - (from < 1000 ? from : 1000) + (int64_t)rng_below(r, 2000);
	int weekday = (int)rng_below(r, 7);

	w->iter_week = start;
	while (day_of(w->iter_week).tm_wday != weekday)
		w->iter_week++;
	w->iter_week_period = 1 + (int)rng_below(r, 9);
	buf_printf(b, ",\"iter_day_of_week\":{\"day\":%d,\"start\":\"%.10s\",\"period\":%d}",
	    weekday + 1, utc_text(start * DAY), w->iter_week_period);
}

static void wish_iter_month(struct rng *r, struct buf *b, struct wish *w)
{
	w->iter_month = (int)rng_below(r, 600);
	w->iter_month_period = 1 + (int)rng_below(r, 14);
	buf_printf(b, ",\"iter_month\":{\"start\":\"%04d-%02d\",\"period\":%d}",
	    1970 + w->iter_month / 12, 1 + w->iter_month % 12, w->iter_month_period);
}

static void wish_years(struct rng *r, struct buf *b, struct wish *w)
{
	w->year = 1970 + (int)rng_below(r, 60);
	w->year_end = w->year + (int)rng_below(r, 20);
	w->year_period = 1 + (int)rng_below(r, 4);
	buf_printf(b, ",\"year\":{\"start\":%d,\"end\":%d,\"period\":%d}", w->year, w->year_end,
	    w->year_period);
}

static struct wish random_wish(struct rng *r, struct buf *b, int64_t from)
{
	struct wish w = {0};

	buf_reset(b);
	buf_add_cstr(b, "{\"minute\":0,\"hour\":0,\"both_days\":true,\"dst_fixes\":\"vixie\"");
	if (one_in(r, 4))
		wish_years(r, b, &w);
	if (one_in(r, 3)) {
		w.any_month = true;
		wish_numbers(r, b, "month", w.months, 1, 12);
	}
	if (one_in(r, 2))
		wish_days(r, b, &w);
	if (one_in(r, 3))
		wish_weekdays(r, b, &w);
	if (one_in(r, 4))
		wish_nth(r, b, &w);
	if (one_in(r, 6))
		wish_iter_day(r, b, &w, from);
	if (one_in(r, 6))
		wish_iter_week(r, b, &w, from);
	if (one_in(r, 6))
		wish_iter_month(r, b, &w);
	buf_add_char(b, '}');
	return w;
}

static void check_case(struct rng *r, const struct cron_zone *utc, struct buf *b, size_t *refused)
{
	int64_t from = (int64_t)rng_below(r, 80 * 365), day = from, t;
	struct wish w = random_wish(r, b, from);
	struct cron_items items;
	struct problem p = {0};
	int rc = cron_items_json(buf_str(b), &items, &p);

	while (day < from + DAYS_MAX && !fits(&w, day))
		day++;
	if (rc == ERR_NOT_FOUND) {
		if (day < from + DAYS_MAX)
			fail_msg("%s\nmatches %s, but: %s", b->p, utc_text(day * DAY), p.what);
		(*refused)++;
		return;
	}
	if (rc)
		fail_msg("%s\n%s", b->p, p.what);
	assert_round_trip(&items);
	if (!cron_items_next(&items, utc, from * DAY, &t))
		t = INT64_MAX;
	if (day < from + DAYS_MAX ? t != day * DAY : t < day * DAY)
		fail_msg("%s\nfrom %s: %s, wanted %s", b->p, utc_text(from * DAY), utc_text(t),
		    utc_text(day * DAY));
	cron_items_release(&items);
}

static void test_random(void **state)
{
	const char *cases = getenv("REEVE_CRON_CASES"), *seed = getenv("REEVE_CRON_SEED");
	uint64_t n = cases ? strtoull(cases, NULL, 10) : CASES;
	struct rng r = {seed ? strtoull(seed, NULL, 10) : 1};
	struct cron_zone *utc = cron_zone_utc();
	struct buf b = {0};
	size_t refused = 0;

	for (uint64_t i = 0; i < n; i++)
		check_case(&r, utc, &b, &refused);
	assert_true(refused < n / 3); /* most wishes can come true, or this proves little */
	cron_zone_free(utc);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
