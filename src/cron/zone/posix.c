/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POSIX TZ strings, as RFC 8536 extends them: STD OFFSET [DST [OFFSET] , DATE [/TIME] , DATE
 * [/TIME]]. The sign is POSIX's own: what is added to local time to get UTC, so west is positive.
 *
 * A DST without dates is refused: POSIX leaves its meaning open, and the rules of the United
 * States, which C libraries then take, would be a silent guess.
 */
#include <string.h>

#include "cron/zone/zone_internal.h"

#define TZ_TEXT_MAX 256
#define OFFSET_HOURS_MAX 24
#define TIME_HOURS_MAX 167
#define DEFAULT_TIME 7200

struct scan {
	struct str text;
	size_t at;
	struct problem *p;
};

static int bad(const struct scan *s, const char *expected)
{
	problem_set(
	    s->p, ERR_INVALID, "the TZ string is not valid at byte %zu: %s", s->at + 1, expected);
	problem_hint(s->p, "it looks like EST5EDT,M3.2.0,M11.1.0 or <+03>-3");
	return ERR_INVALID;
}

static char peek(const struct scan *s)
{
	return s->at < s->text.n ? s->text.p[s->at] : 0;
}

static bool skip(struct scan *s, char c)
{
	if (s->at >= s->text.n || s->text.p[s->at] != c)
		return false;
	s->at++;
	return true;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name_byte(char c, bool quoted)
{
	return is_letter(c) || (quoted && (is_digit(c) || c == '+' || c == '-'));
}

static int scan_name(struct scan *s, char ret_name[CRON_ABBREV_MAX])
{
	bool quoted = skip(s, '<');
	size_t n = 0;

	while (is_name_byte(peek(s), quoted)) {
		if (n == CRON_ABBREV_MAX - 1)
			return bad(s, "the name has more than 15 letters");
		ret_name[n++] = s->text.p[s->at++];
	}
	ret_name[n] = 0;
	if (n < 3)
		return bad(s, "a name of at least three letters is expected, or one in < >");
	if (quoted && !skip(s, '>'))
		return bad(s, "a > is expected after the name");
	return 0;
}

static int scan_number(
    struct scan *s, int32_t min, int32_t max, const char *expected, int32_t *ret_n)
{
	size_t began = s->at;
	int32_t n = 0;

	while (is_digit(peek(s)) && s->at - began < 4)
		n = n * 10 + (s->text.p[s->at++] - '0');
	if (s->at == began || n < min || n > max) {
		s->at = began;
		return bad(s, expected);
	}
	*ret_n = n;
	return 0;
}

/* [+-]hh[:mm[:ss]] */
static int scan_time(struct scan *s, int32_t hours_max, const char *expected, int32_t *ret_seconds)
{
	bool minus = skip(s, '-');
	int32_t hours, minutes = 0, seconds = 0;

	if (!minus)
		skip(s, '+');
	if (scan_number(s, 0, hours_max, expected, &hours) < 0)
		return ERR_INVALID;
	if (skip(s, ':')) {
		if (scan_number(s, 0, 59, "minutes from 0 to 59 are expected", &minutes) < 0)
			return ERR_INVALID;
		if (skip(s, ':') &&
		    scan_number(s, 0, 59, "seconds from 0 to 59 are expected", &seconds) < 0)
			return ERR_INVALID;
	}
	*ret_seconds = (hours * 3600 + minutes * 60 + seconds) * (minus ? -1 : 1);
	return 0;
}

static int scan_offset(struct scan *s, int32_t *ret_offset)
{
	int32_t west;

	if (scan_time(s, OFFSET_HOURS_MAX, "an offset of at most 24 hours is expected", &west) < 0)
		return ERR_INVALID;
	*ret_offset = -west;
	return 0;
}

static int scan_weekday(struct scan *s, struct rule_date *d)
{
	d->kind = RULE_WEEKDAY;
	if (scan_number(s, 1, 12, "a month from 1 to 12 is expected", &d->month) < 0)
		return ERR_INVALID;
	if (!skip(s, '.'))
		return bad(s, "a . is expected after the month");
	if (scan_number(s, 1, 5, "a week from 1 to 5 is expected (5 is the last)", &d->week) < 0)
		return ERR_INVALID;
	if (!skip(s, '.'))
		return bad(s, "a . is expected after the week");
	return scan_number(s, 0, 6, "a weekday from 0 (Sunday) to 6 is expected", &d->day);
}

static int scan_day(struct scan *s, struct rule_date *d)
{
	if (skip(s, 'M'))
		return scan_weekday(s, d);
	if (skip(s, 'J')) {
		d->kind = RULE_NO_LEAP_DAY;
		return scan_number(s, 1, 365, "a day from 1 to 365 is expected", &d->day);
	}
	d->kind = RULE_DAY;
	return scan_number(
	    s, 0, 365, "a date is expected: Mm.w.d, Jn, or a day from 0 to 365", &d->day);
}

static int scan_date(struct scan *s, struct rule_date *ret_date)
{
	if (!skip(s, ',')) {
		bad(s, "the dates of the two changes are missing");
		problem_hint(
		    s->p, "say when the clock changes, for example EST5EDT,M3.2.0,M11.1.0");
		return ERR_INVALID;
	}
	if (scan_day(s, ret_date) < 0)
		return ERR_INVALID;
	ret_date->time = DEFAULT_TIME;
	if (!skip(s, '/'))
		return 0;
	return scan_time(
	    s, TIME_HOURS_MAX, "a time from -167 to 167 hours is expected", &ret_date->time);
}

static int scan_daylight(struct scan *s, struct zone_rule *r)
{
	if (scan_name(s, r->daylight.abbrev) < 0)
		return ERR_INVALID;
	r->changes = true;
	r->daylight.dst = true;
	r->daylight.offset = r->standard.offset + 3600;
	if (peek(s) && peek(s) != ',' && scan_offset(s, &r->daylight.offset) < 0)
		return ERR_INVALID;
	if (scan_date(s, &r->start) < 0)
		return ERR_INVALID;
	return scan_date(s, &r->end);
}

int zone_rule_parse(struct str tz, struct zone_rule *ret_rule, struct problem *p)
{
	struct scan s = {tz, 0, p};
	struct zone_rule r = {0};

	if (tz.n > TZ_TEXT_MAX)
		return problem_set(
		    p, ERR_INVALID, "the TZ string has more than %d bytes", TZ_TEXT_MAX);
	if (scan_name(&s, r.standard.abbrev) < 0 || scan_offset(&s, &r.standard.offset) < 0)
		return ERR_INVALID;
	if (s.at < tz.n && scan_daylight(&s, &r) < 0)
		return ERR_INVALID;
	if (s.at < tz.n)
		return bad(&s, "nothing more is expected");
	if (r.changes && zone_rule_order(&r, p) < 0)
		return ERR_INVALID;
	*ret_rule = r;
	return 0;
}
