/* SPDX-License-Identifier: Apache-2.0 */
/* Civil dates by day counting (era arithmetic), so no libc time zone is ever consulted. */
#include "base/timefmt.h"

#include <stdio.h>

int64_t time_days(int64_t y, int month, int day)
{
	int64_t era, yoe, doy;

	y -= month <= 2;
	era = (y >= 0 ? y : y - 399) / 400;
	yoe = y - era * 400;
	doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static void civil(int64_t days, int64_t *ret_y, int *ret_m, int *ret_d)
{
	int64_t era, doe, yoe, doy, mp;

	days += 719468;
	era = (days >= 0 ? days : days - 146096) / 146097;
	doe = days - era * 146097;
	yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	mp = (5 * doy + 2) / 153;
	*ret_d = (int)(doy - (153 * mp + 2) / 5 + 1);
	*ret_m = (int)(mp < 10 ? mp + 3 : mp - 9);
	*ret_y = yoe + era * 400 + (*ret_m <= 2);
}

/* A quarter of all that an answer costs would be printf's. */
static char *put_digits(char *at, int64_t n, int digits, char then)
{
	for (int i = digits; i-- > 0; n /= 10)
		at[i] = (char)('0' + n % 10);
	at[digits] = then;
	return at + digits + 1;
}

const char *time_format_ms(int64_t ms, char out[TIME_TEXT_MAX])
{
	int64_t days = ms / 86400000, rest = ms % 86400000, y;
	char *at;
	int m, d;

	if (rest < 0) {
		rest += 86400000;
		days--;
	}
	civil(days, &y, &m, &d);
	if (y < 0 || y > 9999) {
		snprintf(out, TIME_TEXT_MAX, "%lldms", (long long)ms);
		return out;
	}
	at = put_digits(out, y, 4, '-');
	at = put_digits(at, m, 2, '-');
	at = put_digits(at, d, 2, 'T');
	at = put_digits(at, rest / 3600000, 2, ':');
	at = put_digits(at, rest / 60000 % 60, 2, ':');
	at = put_digits(at, rest / 1000 % 60, 2, '.');
	at = put_digits(at, rest % 1000, 3, 'Z');
	*at = 0;
	return out;
}

static bool digits(struct str s, size_t at, size_t n, int *ret)
{
	if (at + n > s.n)
		return false;
	*ret = 0;
	for (size_t i = at; i < at + n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		*ret = *ret * 10 + (s.p[i] - '0');
	}
	return true;
}

static bool offset_minutes(struct str s, int *ret)
{
	int h, m;

	if (s.n == 1 && (s.p[0] == 'Z' || s.p[0] == 'z')) {
		*ret = 0;
		return true;
	}
	if (s.n != 6 || (s.p[0] != '+' && s.p[0] != '-') || s.p[3] != ':' || !digits(s, 1, 2, &h) ||
	    !digits(s, 4, 2, &m) || h > 23 || m > 59)
		return false;
	*ret = (s.p[0] == '-' ? -1 : 1) * (h * 60 + m);
	return true;
}

static int month_days(int y, int m)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;

	return days[m - 1] + (m == 2 && leap);
}

static size_t fraction_ms(struct str s, size_t at, int *ret_ms)
{
	int scale = 100;

	*ret_ms = 0;
	if (at >= s.n || s.p[at] != '.')
		return at;
	for (at++; at < s.n && s.p[at] >= '0' && s.p[at] <= '9'; at++) {
		*ret_ms += (s.p[at] - '0') * scale;
		scale /= 10;
	}
	return at;
}

bool time_parse(struct str s, int64_t *ret_ms)
{
	int y, mo, d, h, mi, sec, ms, off;
	size_t at;

	if (s.n < 20 || s.p[4] != '-' || s.p[7] != '-' ||
	    (s.p[10] != 'T' && s.p[10] != 't' && s.p[10] != ' ') || s.p[13] != ':' ||
	    s.p[16] != ':')
		return false;
	if (!digits(s, 0, 4, &y) || !digits(s, 5, 2, &mo) || !digits(s, 8, 2, &d) ||
	    !digits(s, 11, 2, &h) || !digits(s, 14, 2, &mi) || !digits(s, 17, 2, &sec))
		return false;
	if (mo < 1 || mo > 12 || d < 1 || d > month_days(y, mo) || h > 23 || mi > 59 || sec > 60)
		return false;
	at = fraction_ms(s, 19, &ms);
	if (!offset_minutes((struct str){s.p + at, s.n - at}, &off))
		return false;
	*ret_ms = ((time_days(y, mo, d) * 24 + h) * 60 + mi - off) * 60000 + sec * 1000 + ms;
	return true;
}

const char *time_human_ms(int64_t ms, char out[TIME_TEXT_MAX])
{
	int64_t s = (ms < 60000 && ms >= 59950 ? 60000 : ms) / 1000;

	if (ms < 1000)
		snprintf(out, TIME_TEXT_MAX, "%lldms", (long long)ms);
	else if (ms < 59950) /* 59.95 would be written 60.0 */
		snprintf(out, TIME_TEXT_MAX, "%.1fs", (double)ms / 1000);
	else if (s < 3600)
		snprintf(out, TIME_TEXT_MAX, "%lldm%02llds", (long long)s / 60, (long long)s % 60);
	else if (s < 86400)
		snprintf(out, TIME_TEXT_MAX, "%lldh%02lldm", (long long)s / 3600,
		    (long long)s / 60 % 60);
	else
		snprintf(out, TIME_TEXT_MAX, "%lldd%lldh", (long long)s / 86400,
		    (long long)s / 3600 % 24);
	return out;
}
