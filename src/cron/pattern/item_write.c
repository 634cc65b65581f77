/* SPDX-License-Identifier: Apache-2.0 */
/* Items written as JSON that reads back as the same items: one spelling for each. */
#include <string.h>

#include "cron/pattern/item.h"
#include "cron/pattern/names.h"
#include "cron/zone/civil.h"
#include "cron/zone/dst.h"

#define NAME_SHORT 3

static void write_key(struct buf *out, const char *key)
{
	if (out->n && out->p[out->n - 1] != '{')
		buf_add_cstr(out, ",");
	buf_printf(out, "\"%s\":", key);
}

/* `max`: the end that may go unsaid. */
static void write_range(struct buf *out, const struct cron_range *r, int64_t min, int64_t max)
{
	const char *comma = "";

	if (r->start == r->end) {
		buf_add_i64(out, r->start);
		return;
	}
	buf_add_char(out, '{');
	if (r->start != min) {
		buf_printf(out, "\"start\":%lld", (long long)r->start);
		comma = ",";
	}
	if (r->end + r->period <= max) {
		buf_printf(out, "%s\"end\":%lld", comma, (long long)r->end);
		comma = ",";
	}
	if (r->period != 1 || !*comma)
		buf_printf(out, "%s\"period\":%lld", comma, (long long)r->period);
	buf_add_char(out, '}');
}

/* Bits as one range when they are evenly spaced and more than two. */
static bool bits_range(uint64_t bits, struct cron_range *ret_range)
{
	int64_t first = __builtin_ctzll(bits), second, v;
	uint64_t rest = bits & (bits - 1);

	if (!(rest & (rest - 1)) && rest)
		return false;
	second = rest ? __builtin_ctzll(rest) : first + 1;
	*ret_range = (struct cron_range){first, first, second - first};
	for (v = second; v < 64 && bits >> v & 1; v += second - first) {
		rest &= ~(UINT64_C(1) << v);
		ret_range->end = v;
	}
	return rest == 0;
}

static void write_bit_list(struct buf *out, uint64_t bits, int64_t base)
{
	const char *comma = "";

	for (; bits; bits &= bits - 1, comma = ",")
		buf_printf(out, "%s%d", comma, __builtin_ctzll(bits) + (int)base);
}

/* Bit 0 stands for min. */
static void write_bits(struct buf *out, const char *key, uint64_t bits, int64_t min, int64_t max)
{
	struct cron_range r;

	write_key(out, key);
	if (bits_range(bits, &r)) {
		r.start += min;
		r.end += min;
		write_range(out, &r, min, max);
		return;
	}
	buf_add_char(out, '[');
	write_bit_list(out, bits, min);
	buf_add_char(out, ']');
}

static void write_ranges(
    struct buf *out, const char *key, const struct cron_item *it, int64_t min, int64_t max)
{
	write_key(out, key);
	if (it->n_ranges > 1)
		buf_add_char(out, '[');
	for (size_t i = 0; i < it->n_ranges; i++) {
		if (i)
			buf_add_cstr(out, ",");
		write_range(out, &it->ranges[i], min, max);
	}
	if (it->n_ranges > 1)
		buf_add_char(out, ']');
}

static void write_days(struct buf *out, const struct cron_item *it)
{
	uint32_t numbers = it->days & CRON_ALL_DAYS;
	uint32_t last = it->days_before_end | (it->days & CRON_LAST_DAY ? 1 : 0);
	const char *comma = numbers ? "," : "";

	if (!last) {
		write_bits(out, "day_of_month", numbers >> 1, 1, 31);
		return;
	}
	write_key(out, "day_of_month");
	buf_add_char(out, '[');
	write_bit_list(out, numbers, 0);
	for (; last; last &= last - 1, comma = ",")
		if (last & 1)
			buf_printf(out, "%s\"last\"", comma);
		else
			buf_printf(out, "%s\"last-%d\"", comma, __builtin_ctz(last));
	buf_add_char(out, ']');
}

static void write_weekdays(struct buf *out, uint8_t weekdays)
{
	bool many = weekdays & (weekdays - 1);
	const char *comma = "";

	if (many)
		buf_add_char(out, '[');
	for (uint32_t i = 0; i < 7; i++)
		if (weekdays >> i & 1) {
			buf_printf(out, "%s\"%.*s\"", comma, NAME_SHORT, weekday_names[i]);
			comma = ",";
		}
	if (many)
		buf_add_char(out, ']');
}

static void write_nth(struct buf *out, const struct cron_item *it)
{
	const char *comma = "";

	write_key(out, "weekday_of_month");
	buf_add_char(out, '[');
	for (size_t i = 0; i <= CRON_WEEK_LAST; i++) {
		if (!it->nth[i])
			continue;
		buf_printf(out, "%s{\"day\":", comma);
		write_weekdays(out, it->nth[i]);
		if (i == CRON_WEEK_LAST)
			buf_add_cstr(out, ",\"nth\":\"last\"}");
		else
			buf_printf(out, ",\"nth\":%zu}", i + 1);
		comma = ",";
	}
	buf_add_char(out, ']');
}

static void write_date(struct buf *out, int64_t days)
{
	int32_t y, m, d;

	civil_from_days(days, &y, &m, &d);
	buf_printf(out, "\"%04d-%02d-%02d\"", y, m, d);
}

static void write_month_number(struct buf *out, int64_t n)
{
	buf_printf(out, "\"%04d-%02d\"", (int)(CRON_YEAR_MIN + n / 12), (int)(n % 12) + 1);
}

static void write_iteration(struct buf *out, const struct cron_range *r, int64_t max,
    void (*write)(struct buf *out, int64_t n))
{
	buf_add_cstr(out, "\"start\":");
	write(out, r->start);
	buf_printf(out, ",\"period\":%lld", (long long)r->period);
	if (r->end < max) {
		buf_add_cstr(out, ",\"end\":");
		write(out, r->end);
	}
	buf_add_char(out, '}');
}

static void write_iterations(struct buf *out, const struct cron_item *it)
{
	int64_t last_day = civil_days(CRON_YEAR_MAX, 12, 31);
	int64_t last_month = (CRON_YEAR_MAX - CRON_YEAR_MIN) * 12 + 11;

	if (it->iter_day.period) {
		write_key(out, "iter_day");
		buf_add_char(out, '{');
		write_iteration(out, &it->iter_day, last_day, write_date);
	}
	if (it->iter_week.period) {
		write_key(out, "iter_day_of_week");
		buf_printf(out, "{\"day\":\"%.*s\",", NAME_SHORT,
		    weekday_names[civil_weekday(it->iter_week.start)]);
		write_iteration(out, &it->iter_week, last_day, write_date);
	}
	if (it->iter_month.period) {
		write_key(out, "iter_month");
		buf_add_char(out, '{');
		write_iteration(out, &it->iter_month, last_month, write_month_number);
	}
}

static void write_dates(struct buf *out, const struct cron_item *it)
{
	static const uint8_t none[sizeof it->nth] = {0};
	bool by_day = it->days != CRON_ALL_DAYS || it->days_before_end;
	bool by_weekday = it->weekdays != CRON_ALL_WEEKDAYS;
	bool by_nth = memcmp(it->nth, none, sizeof none) != 0;

	if (by_weekday) {
		write_key(out, "day_of_week");
		write_weekdays(out, it->weekdays);
	}
	if (by_day)
		write_days(out, it);
	if (by_nth)
		write_nth(out, it);
	if (by_day + by_weekday + by_nth > 1) {
		write_key(out, "both_days");
		buf_add_cstr(out, "true");
	}
	if (it->months != CRON_ALL_MONTHS)
		write_bits(out, "month", it->months >> 1, 1, 12);
	if (it->n_ranges)
		write_ranges(out, "year", it, CRON_YEAR_MIN, CRON_YEAR_MAX);
	write_iterations(out, it);
}

static void write_wall(struct buf *out, const struct cron_item *it)
{
	if (it->seconds != 1)
		write_bits(out, "second", it->seconds, 0, 59);
	write_bits(out, "minute", it->minutes, 0, 59);
	if (it->hours != CRON_ALL_HOURS)
		write_bits(out, "hour", it->hours, 0, 23);
	write_dates(out, it);
	write_key(out, "dst_fixes");
	if (it->by_vixie)
		buf_add_cstr(out, "\"vixie\"");
	else
		buf_printf(out, "[\"%s\",\"%s\"]", dst_skipped_name(it->skipped),
		    dst_repeated_name(it->repeated));
}

static void write_item(struct buf *out, const struct cron_item *it)
{
	buf_add_char(out, '{');
	if (it->is_epoch)
		write_ranges(out, "epoch", it, 0, CRON_TIME_MAX);
	else
		write_wall(out, it);
	if (it->has_shift_limit) {
		write_key(out, "max_shift_seconds_for_unskip_and_do_not_repeat");
		buf_add_i64(out, it->shift_limit);
	}
	buf_add_char(out, '}');
}

void cron_items_write(const struct cron_items *items, struct buf *out)
{
	if (items->n != 1)
		buf_add_char(out, '[');
	for (size_t i = 0; i < items->n; i++) {
		if (i)
			buf_add_cstr(out, ",");
		write_item(out, &items->items[i]);
	}
	if (items->n != 1)
		buf_add_char(out, ']');
}
