/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <time.h>

#define ZONE_FILE_MAX 65536

bool zone_try(const char *name, struct cron_zone **ret_zone)
{
	static char bytes[ZONE_FILE_MAX];
	char path[512];
	struct problem p = {0};
	size_t n;
	FILE *f;

	snprintf(path, sizeof path, "/usr/share/zoneinfo/%s", name);
	if (!(f = fopen(path, "r")))
		return false;
	n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	return cron_zone_tzif(bytes, n, ret_zone, &p) == 0;
}

struct cron_zone *zone_load(const char *name)
{
	struct cron_zone *z = NULL;

	if (!zone_try(name, &z))
		fail_msg("there is no zone %s on this machine (package tzdata)", name);
	return z;
}

int64_t at_utc(const char *text)
{
	struct tm tm = {0};

	if (sscanf(text, "%d-%d-%d %d:%d:%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
	        &tm.tm_min, &tm.tm_sec) < 3)
		fail_msg("no time: %s", text);
	tm.tm_year -= 1900;
	tm.tm_mon--;
	return timegm(&tm);
}

const char *utc_text(int64_t t)
{
	static char texts[4][64];
	static unsigned turn;
	char *text = texts[turn++ % 4];
	time_t time = t;
	struct tm tm;

	gmtime_r(&time, &tm);
	strftime(text, sizeof texts[0], "%F %T", &tm);
	return text;
}

static struct cron_items parsed(
    int rc, const char *text, struct cron_items items, struct problem *p)
{
	if (rc)
		fail_msg("%s was refused (%d): %s; %s", text, rc, p->what, p->hint);
	return items;
}

struct cron_items json_items(const char *text)
{
	struct cron_items items = {0};
	struct problem p = {0};
	int rc = cron_items_json(str_of(text), &items, &p);

	return parsed(rc, text, items, &p);
}

struct cron_items crontab_items(const char *line)
{
	struct cron_items items = {0};
	struct problem p = {0};
	int rc = cron_items_crontab(str_of(line), NULL, &items, &p);

	return parsed(rc, line, items, &p);
}

struct cron_items calendar_items(const char *text)
{
	struct cron_items items = {0};
	struct problem p = {0};
	int rc = cron_items_calendar(str_of(text), NULL, &items, &p);

	return parsed(rc, text, items, &p);
}

static bool same_range(const struct cron_range *a, const struct cron_range *b)
{
	return a->start == b->start && a->end == b->end && a->period == b->period;
}

static bool same_item(const struct cron_item *a, const struct cron_item *b)
{
	if (a->n_ranges != b->n_ranges)
		return false;
	for (size_t i = 0; i < a->n_ranges; i++)
		if (!same_range(&a->ranges[i], &b->ranges[i]))
			return false;
	return a->is_epoch == b->is_epoch && a->by_vixie == b->by_vixie &&
	       a->skipped == b->skipped && a->repeated == b->repeated &&
	       a->has_shift_limit == b->has_shift_limit && a->shift_limit == b->shift_limit &&
	       a->seconds == b->seconds && a->minutes == b->minutes && a->hours == b->hours &&
	       a->days == b->days && a->days_before_end == b->days_before_end &&
	       a->months == b->months && a->weekdays == b->weekdays &&
	       memcmp(a->nth, b->nth, sizeof a->nth) == 0 &&
	       same_range(&a->iter_day, &b->iter_day) && same_range(&a->iter_week, &b->iter_week) &&
	       same_range(&a->iter_month, &b->iter_month);
}

bool same_items(const struct cron_items *a, const struct cron_items *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!same_item(&a->items[i], &b->items[i]))
			return false;
	return true;
}

void assert_round_trip(const struct cron_items *items)
{
	struct buf first = {0}, second = {0};
	struct cron_items back;

	cron_items_write(items, &first);
	back = json_items(first.p);
	if (!same_items(items, &back))
		fail_msg("reads back as something else: %s", first.p);
	cron_items_write(&back, &second);
	assert_string_equal(first.p, second.p);
	cron_items_release(&back);
	buf_release(&first);
	buf_release(&second);
}
