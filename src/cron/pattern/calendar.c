/* SPDX-License-Identifier: Apache-2.0 */
/*
 * systemd's OnCalendar: [weekdays] [date] [time] [zone], where weekdays and date must both match.
 * Parts of a date or time are `*` or lists of values, ranges a..b and repetitions a/n; `~` instead
 * of the last `-` counts days from the month's end. Fractions of seconds are refused: everything
 * here is whole seconds.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "cron/pattern/names.h"
#include "cron/pattern/parse.h"

#define MONTH_END_MAX 28 /* days from its end that every month has */

struct part {
	const char *name;
	int64_t min, max;
};

static const struct part year_part = {"year", CRON_YEAR_MIN, CRON_YEAR_MAX};
static const struct part month_part = {"month", 1, 12};
static const struct part day_part = {"day", 1, 31};
static const struct part end_part = {"day from the month's end", 1, MONTH_END_MAX};
static const struct part hour_part = {"hour", 0, 23};
static const struct part minute_part = {"minute", 0, 59};
static const struct part second_part = {"second", 0, 59};

static const struct {
	const char *name, *meaning;
} shorthands[] = {
    {"minutely", "*-*-* *:*:00"},
    {"hourly", "*-*-* *:00:00"},
    {"daily", "*-*-* 00:00:00"},
    {"weekly", "Mon *-*-* 00:00:00"},
    {"monthly", "*-*-01 00:00:00"},
    {"quarterly", "*-01,04,07,10-01 00:00:00"},
    {"semiannually", "*-01,07-01 00:00:00"},
    {"semi-annually", "*-01,07-01 00:00:00"},
    {"biannually", "*-01,07-01 00:00:00"},
    {"bi-annually", "*-01,07-01 00:00:00"},
    {"yearly", "*-01-01 00:00:00"},
    {"annually", "*-01-01 00:00:00"},
    {"anually", "*-01-01 00:00:00"},
};

/* 70 is 1970 and 69 is 2069, as two digits of a year are read there. */
static int64_t full_year(const struct part *part, int64_t n, size_t digits)
{
	if (part != &year_part || digits > 2)
		return n;
	return n < 70 ? n + 2000 : n + 1900;
}

static int bad_value(struct scan *s, size_t at, const struct part *part)
{
	char c = at < s->all.n ? s->all.p[at] : 0;

	if (c == 0 || c == ' ' || c == '\t')
		scan_bad(s, at, "the %s is missing", part->name);
	else if (c == '*')
		scan_bad(s, at, "* stands alone, for every %s", part->name);
	else
		scan_bad(s, at, "'%c' is no %s", c, part->name);
	problem_hint(s->p,
	    "a number from %d to %d, ranges a..b, repetitions a/n, lists a,b,c; or * "
	    "for every one (every second one is %d/2)",
	    (int)part->min, (int)part->max, (int)part->min);
	return ERR_INVALID;
}

static int read_value(struct scan *s, const struct part *part, int64_t *ret_n)
{
	size_t at = s->at;

	if (!scan_number(s, ret_n))
		return scan_is_digit(s) ? scan_too_great(s, part->name, part->min, part->max)
		                        : bad_value(s, at, part);
	*ret_n = full_year(part, *ret_n, s->at - at);
	if (*ret_n >= part->min && *ret_n <= part->max)
		return ERR_OK;
	scan_bad(s, at, "%s %lld is too %s", part->name, (long long)*ret_n,
	    *ret_n < part->min ? "small" : "great");
	problem_hint(s->p, "it must lie between %d and %d", (int)part->min, (int)part->max);
	return ERR_INVALID;
}

static int read_period(struct scan *s, const struct part *part, int64_t *ret_period)
{
	size_t at = s->at;

	if (scan_number(s, ret_period) && *ret_period >= 1 && *ret_period <= part->max - part->min)
		return ERR_OK;
	scan_bad(s, at, "a repetition of the %s is a number from 1 to %d", part->name,
	    (int)(part->max - part->min));
	problem_hint(s->p, "0/15 is 0, 15, 30, …");
	return ERR_INVALID;
}

static int add_range(
    struct scan *s, size_t at, int64_t start, int64_t end, int64_t period, struct ranges *r)
{
	if (end < start) {
		scan_bad(s, at, "the range ends (%d) before it starts (%d)", (int)end, (int)start);
		problem_hint(
		    s->p, "ranges do not wrap around: write two, with a comma between them");
		return ERR_INVALID;
	}
	if (ranges_add(r, start, end, period))
		return ERR_OK;
	scan_bad(s, at, "there are more than %d values", CRON_LIST_MAX);
	problem_hint(s->p, "use a range or a repetition");
	return ERR_INVALID;
}

static int read_link(struct scan *s, const struct part *part, struct ranges *r)
{
	size_t at = s->at;
	int64_t start, end, period = 1;
	bool has_end, repeats;
	int rc;

	if ((rc = read_value(s, part, &start)))
		return rc;
	end = start;
	has_end = scan_take_text(s, "..");
	if (has_end && (rc = read_value(s, part, &end)))
		return rc;
	repeats = scan_take(s, '/');
	if (repeats && (rc = read_period(s, part, &period)))
		return rc;
	if (!repeats || has_end)
		return add_range(s, at, start, end, period, r);
	if (part != &end_part)
		return add_range(s, at, start, part->max, period, r);
	/* ~7/2: from the seventh last day on, towards the month's end */
	return add_range(s, at, start - (start - 1) / period * period, start, period, r);
}

/* `*` leaves the list empty. */
static int read_chain(struct scan *s, const struct part *part, struct ranges *r)
{
	int rc;

	if (scan_take(s, '*'))
		return scan_peek(s) == '/' || scan_peek(s) == ',' ? bad_value(s, s->at - 1, part)
		                                                  : ERR_OK;
	do {
		if ((rc = read_link(s, part, r)))
			return rc;
	} while (scan_take(s, ','));
	return ERR_OK;
}

static int read_bits(struct scan *s, const struct part *part, uint64_t all, uint64_t *ret_bits)
{
	AUTO(ranges_release) struct ranges r = {0};
	int rc = read_chain(s, part, &r);

	if (rc == ERR_OK)
		*ret_bits = r.n ? ranges_bits(&r, 0) : all;
	return rc;
}

static int read_years(struct scan *s, struct cron_item *it)
{
	AUTO(ranges_release) struct ranges r = {0};
	int rc = read_chain(s, &year_part, &r);

	if (!rc)
		ranges_take(&r, it);
	return rc;
}

static int read_days(struct scan *s, bool from_end, struct cron_item *it)
{
	uint64_t bits = 0;
	int rc = read_bits(s, from_end ? &end_part : &day_part, 0, &bits);

	if (rc || !bits)
		return rc;
	it->days = (uint32_t)bits;
	if (from_end) {
		it->days = bits >> 1 & 1 ? CRON_LAST_DAY : 0;
		it->days_before_end = (uint32_t)(bits >> 1) & ~1u;
	}
	return ERR_OK;
}

static size_t count_separators(struct str word)
{
	size_t n = 0;

	for (size_t i = 0; i < word.n; i++)
		n += word.p[i] == '-' || word.p[i] == '~';
	return n;
}

static int bad_end(struct scan *s, const char *what)
{
	if (scan_peek(s) == 0)
		scan_bad(s, s->at, "the %s ends too early", what);
	else
		scan_bad(s, s->at, "'%c' does not belong here in a %s", scan_peek(s), what);
	problem_hint(s->p, "an expression is [weekdays] [date] [time] [zone], such as \"Mon..Fri "
	                   "*-*-1..7 08:30:00 Europe/Berlin\"");
	return ERR_INVALID;
}

/* [year-]month-day, [year-]month~day */
static int read_date(struct scan *s, struct str word, struct cron_item *it)
{
	uint64_t bits = 0;
	bool from_end;
	int rc;

	if (count_separators(word) >= 2) {
		if ((rc = read_years(s, it)))
			return rc;
		if (!scan_take(s, '-'))
			return bad_end(s, "date");
	}
	if ((rc = read_bits(s, &month_part, CRON_ALL_MONTHS, &bits)))
		return rc;
	it->months = (uint16_t)bits;
	from_end = scan_take(s, '~');
	if (!from_end && !scan_take(s, '-'))
		return bad_end(s, "date");
	if ((rc = read_days(s, from_end, it)))
		return rc;
	return scan_is_end(s) ? ERR_OK : bad_end(s, "date");
}

/* hour:minute[:second] */
static int read_time(struct scan *s, struct cron_item *it)
{
	uint64_t hours = 0;
	int rc = read_bits(s, &hour_part, CRON_ALL_HOURS, &hours);

	if (rc)
		return rc;
	it->hours = (uint32_t)hours;
	if (!scan_take(s, ':'))
		return bad_end(s, "time");
	if ((rc = read_bits(s, &minute_part, CRON_ALL_MINUTES, &it->minutes)))
		return rc;
	if (scan_take(s, ':') && (rc = read_bits(s, &second_part, CRON_ALL_MINUTES, &it->seconds)))
		return rc;
	if (scan_peek(s) != '.')
		return scan_is_end(s) ? ERR_OK : bad_end(s, "time");
	scan_bad(s, s->at, "fractions of a second are not supported");
	problem_hint(s->p, "schedules have whole seconds: leave the fraction out");
	return ERR_INVALID;
}

/* Here weeks begin on Monday, so that Fri..Sun is a range. */
static int read_weekday(struct scan *s, int32_t *ret_day)
{
	size_t at = s->at;
	struct str name = scan_letters(s);
	int32_t named = name_find(name, weekday_names, 7);

	*ret_day = (named + 6) % 7;
	if (named >= 0)
		return ERR_OK;
	scan_bad(s, at, "\"" STR_FMT "\" is no weekday", (int)(name.n > 40 ? 40 : name.n), name.p);
	problem_hint(s->p, "Mon, Tue, Wed, Thu, Fri, Sat, Sun, ranges such as Mon..Fri; or a "
	                   "shorthand: minutely, hourly, daily, weekly, monthly, quarterly, "
	                   "semiannually, yearly");
	return ERR_INVALID;
}

static int read_weekdays(struct scan *s, struct cron_item *it)
{
	size_t at;
	int32_t first, last;
	int rc;

	it->weekdays = 0;
	do {
		at = s->at;
		if (it->weekdays && scan_is_end(s))
			break; /* a comma at the list's end */
		if ((rc = read_weekday(s, &first)))
			return rc;
		last = first;
		if ((scan_take_text(s, "..") || scan_take(s, '-')) && (rc = read_weekday(s, &last)))
			return rc;
		if (last < first) {
			scan_bad(s, at, "weeks begin on Monday, so this range goes backwards");
			problem_hint(s->p, "write two, with a comma between them: Sat,Sun,Mon");
			return ERR_INVALID;
		}
		for (int32_t d = first; d <= last; d++)
			it->weekdays |= (uint8_t)(1u << (d + 1) % 7);
	} while (scan_take(s, ','));
	return scan_is_end(s) ? ERR_OK : bad_end(s, "list of weekdays");
}

static struct str next_word(const struct scan *s)
{
	struct scan ahead = *s;

	return scan_word(&ahead);
}

static bool has_colon(struct str word)
{
	return word.n && memchr(word.p, ':', word.n);
}

static int bad_joint(struct scan *s)
{
	scan_bad(s, s->at, "here a date and a time are written as one word");
	problem_hint(s->p, "put a blank between them: 2027-10-15 11:12:13");
	return ERR_INVALID;
}

static int read_pattern(struct scan *s, struct cron_item *it)
{
	struct str word = next_word(s);
	bool any = false;
	int rc;

	it->minutes = 1;
	it->hours = 1;
	if (isalpha((unsigned char)scan_peek(s))) {
		if ((rc = read_weekdays(s, it)))
			return rc;
		scan_spaces(s);
		word = next_word(s);
		any = true;
	}
	if (word.n && !isalpha((unsigned char)*word.p) && !has_colon(word)) {
		if ((rc = read_date(s, word, it)))
			return rc;
		scan_spaces(s);
		word = next_word(s);
		any = true;
	}
	if (has_colon(word) && !isalpha((unsigned char)*word.p))
		return count_separators(word) ? bad_joint(s) : read_time(s, it);
	return any ? ERR_OK : bad_end(s, "calendar expression");
}

/* A shorthand is replaced by its meaning; what follows it (a zone) stays for the caller. */
static int read_shorthand(struct scan *s, struct cron_item *it, bool *ret_is_one)
{
	struct str word = next_word(s);
	struct scan meaning = {.p = s->p};

	*ret_is_one = false;
	for (size_t i = 0; i < sizeof shorthands / sizeof *shorthands; i++)
		if (word.n == strlen(shorthands[i].name) &&
		    strncasecmp(word.p, shorthands[i].name, word.n) == 0) {
			*ret_is_one = true;
			s->at += word.n;
			meaning.all = str_of(shorthands[i].meaning);
			return read_pattern(&meaning, it);
		}
	return ERR_OK;
}

static int read_expression(struct scan *s, struct cron_item *it, char **ret_zone)
{
	bool is_shorthand;
	int rc;

	if ((rc = scan_check(s, "the calendar expression")))
		return rc;
	scan_spaces(s);
	if (scan_peek(s) == '@') {
		scan_bad(s, s->at, "a count of seconds is no calendar expression");
		problem_hint(s->p, "write a JSON item: {\"epoch\": 1395716396}");
		return ERR_INVALID;
	}
	if ((rc = read_shorthand(s, it, &is_shorthand)))
		return rc;
	if (!is_shorthand && (rc = read_pattern(s, it)))
		return rc;
	scan_spaces(s);
	if (s->at < s->all.n && (rc = scan_zone(s, scan_word(s), ret_zone)))
		return rc;
	scan_spaces(s);
	return s->at < s->all.n ? bad_end(s, "calendar expression") : ERR_OK;
}

int cron_items_calendar(
    struct str text, const struct cron_dst *dst, struct cron_items *ret_items, struct problem *p)
{
	struct scan s = {.all = text, .p = p};
	struct cron_items items = {0};
	struct cron_item it;
	int rc;

	item_init(&it);
	rc = read_expression(&s, &it, &items.zone);
	cron_item_set_dst(&it, dst);
	if (rc == ERR_OK)
		rc = item_check_dates(&it, "", p);
	if (rc == ERR_OK)
		items_add(&items, &it);
	else
		item_release(&it);
	if (rc)
		cron_items_release(&items);
	else
		*ret_items = items;
	return rc;
}
