/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An item: a pattern of times. Either seconds since 1970 ("epoch"; no zone touches it), or a wall
 * clock's selectors that must all match, with an answer for each of daylight saving's two tricks.
 * A schedule is a few items; it fires when any of them does.
 *
 * Everything here is pure and reentrant. Times are whole seconds since 1970-01-01T00:00:00Z.
 */
#ifndef CRON_ITEM_H
#define CRON_ITEM_H

#include "cron/zone/zone.h"

#define CRON_YEAR_MIN 1970
#define CRON_YEAR_MAX 9999
#define CRON_TIME_MAX INT64_C(253402300799) /* the last second of 9999, UTC */
#define CRON_ITEMS_MAX 16
#define CRON_TEXT_MAX 16384 /* bytes of an item, line or expression */
#define CRON_LIST_MAX 1024  /* values of one selector */
#define CRON_ZONE_NAME_MAX 255

enum cron_skipped { CRON_SKIP, CRON_UNSKIP };
enum cron_repeated { CRON_REPEAT_BOTH, CRON_REPEAT_EARLY, CRON_REPEAT_LATE };

/* start, start + period, … up to and with end */
struct cron_range {
	int64_t start, end, period;
};

#define CRON_LAST_DAY (1u << 0) /* bit 0 of `days`: the month's last day, whichever it is */
#define CRON_WEEK_LAST 5        /* row of `nth`: the month's last such weekday */
/* Selectors that restrict nothing. */
#define CRON_ALL_MINUTES ((UINT64_C(1) << 60) - 1) /* and seconds */
#define CRON_ALL_HOURS ((1u << 24) - 1)
#define CRON_ALL_DAYS 0xfffffffeu
#define CRON_ALL_MONTHS 0x1ffeu
#define CRON_ALL_WEEKDAYS 0x7fu

struct cron_item {
	bool is_epoch;
	bool by_vixie; /* the two answers below were chosen by Vixie's rule */
	enum cron_skipped skipped;
	enum cron_repeated repeated;
	bool has_shift_limit; /* max_shift_seconds_for_unskip_and_do_not_repeat was given */
	int64_t shift_limit;
	/* bit i: value i matches */
	uint64_t seconds, minutes;
	uint32_t hours;
	uint32_t days; /* 1 to 31, and CRON_LAST_DAY; and this long before the month's end: */
	uint32_t days_before_end; /* bit i: i days before the last one (systemd's ~) */
	uint16_t months;          /* 1 to 12 */
	uint8_t weekdays;         /* 0 is Sunday */
	uint8_t nth[6];           /* [n - 1], [CRON_WEEK_LAST]: weekdays; all 0: no such selector */
	/* Every period days, weeks, months from a date, in days or (iter_month) months since
	 * 1970-01. iter_week starts at the first such weekday. Period 0: none. */
	struct cron_range iter_day, iter_week, iter_month;
	struct cron_range *ranges; /* years, or epochs; sorted by start */
	size_t n_ranges;           /* of years: 0 is any year */
};

struct cron_items {
	struct cron_item *items;
	size_t n;
	char *zone;     /* named by the text itself (CRON_TZ, OnCalendar's last word); NULL: none */
	bool either_or; /* a crontab line with both day fields: two items, or only the weekdays'
	                 * when the days of the month never come (30 February) */
	/* A crontab line that runs all the time here, but not by Vixie's program: it has 0-23 or
	 * 0-59 where that looks for a star. */
	bool full_range;
};

/* ERR_INVALID: malformed, with the position and a hint. ERR_NOT_FOUND: well-formed, but no date
 * will ever match (30 February). `dst`: what a text that cannot say it itself means; NULL is
 * Vixie's rule. */
enum cron_dst_mode { CRON_DST_VIXIE, CRON_DST_GIVEN };
struct cron_dst {
	enum cron_dst_mode mode;
	enum cron_skipped skipped;
	enum cron_repeated repeated;
};
int cron_items_json(struct str text, struct cron_items *ret_items, struct problem *p);
int cron_items_crontab(
    struct str line, const struct cron_dst *dst, struct cron_items *ret_items, struct problem *p);
int cron_items_calendar(
    struct str text, const struct cron_dst *dst, struct cron_items *ret_items, struct problem *p);
/* "vixie", "skip,repeat_use_both", … */
int cron_dst_parse(struct str text, struct cron_dst *ret_dst, struct problem *p);
/* The two answers by that rule: jobs that run all the time just go on, others run exactly once. */
void cron_item_set_dst(struct cron_item *it, const struct cron_dst *dst);
void cron_items_release(struct cron_items *items);
/* The same as JSON text that cron_items_json() takes: what crontab lines and expressions become. */
void cron_items_write(const struct cron_items *items, struct buf *out);
bool cron_items_use_zone(const struct cron_items *items); /* any that is not epoch */

/* The first match at or after t; false: there is none any more. Matches lie between 0 and
 * CRON_TIME_MAX, whatever year the wall clock shows there. */
bool cron_items_next(
    const struct cron_items *items, const struct cron_zone *z, int64_t t, int64_t *ret_time);
/* The last match at or before t; false: there is none. */
bool cron_items_last(
    const struct cron_items *items, const struct cron_zone *z, int64_t t, int64_t *ret_time);

/*
 * A line of a crontab FILE, taken apart; the parts lie inside `line`. `has_user`: the system's
 * kind (/etc/crontab, /etc/cron.d), which names a user before the command.
 */
enum cron_line_kind { CRON_LINE_EMPTY, CRON_LINE_SETTING, CRON_LINE_JOB };
struct cron_line {
	enum cron_line_kind kind; /* empty: also a comment */
	struct str name, value;   /* of a setting, without quotes */
	struct str schedule;      /* for cron_items_crontab() */
	struct str user;          /* STR_NULL without a user column */
	struct str command;       /* as written */
};
int cron_line_split(struct str line, bool has_user, struct cron_line *ret_line, struct problem *p);
/* Vixie's `%`: the first ends the command, what follows is its standard input with every further
 * one a line break; `\%` is a plain one. Both are appended; false: there is no input. */
bool cron_line_command(struct str command, struct buf *ret_command, struct buf *ret_input);

#endif
