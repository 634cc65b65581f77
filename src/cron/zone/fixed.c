/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed offsets as people write them: east of Greenwich is plus, unlike in a POSIX TZ string. */
#include <stdio.h>
#include <strings.h>

#include "cron/zone/zone_internal.h"

#define FIXED_TEXT_MAX 32

static int bad(struct problem *p, struct str text)
{
	struct str shown = {text.p, text.n < FIXED_TEXT_MAX ? text.n : FIXED_TEXT_MAX};

	problem_set(p, ERR_INVALID, "\"" STR_FMT "\" is no offset from UTC", STR_ARG(shown));
	problem_hint(p, "write UTC, +02:00, -0330 or UTC+5, up to 25:59:59; east is plus");
	return ERR_INVALID;
}

/* Takes "UTC" or "GMT" off the front; "Z" stands alone. */
static const char *take_word(struct str *rest)
{
	const char *word = NULL;

	if (rest->n == 1 && (rest->p[0] == 'Z' || rest->p[0] == 'z')) {
		*rest = STR_NULL;
		return "UTC";
	}
	if (rest->n >= 3 && strncasecmp(rest->p, "UTC", 3) == 0)
		word = "UTC";
	if (rest->n >= 3 && strncasecmp(rest->p, "GMT", 3) == 0)
		word = "GMT";
	if (word)
		*rest = (struct str){rest->p + 3, rest->n - 3};
	return word;
}

static size_t leading_digits(struct str s)
{
	size_t n = 0;

	while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
		n++;
	return n;
}

static bool take_number(struct str *rest, size_t digits, int32_t max, int32_t *ret_n)
{
	int64_t n;

	if (leading_digits(*rest) < digits ||
	    !str_to_i64((struct str){rest->p, digits}, 0, max, &n))
		return false;
	*ret_n = (int32_t)n;
	*rest = (struct str){rest->p + digits, rest->n - digits};
	return true;
}

/* "5", "05", "0530", "053015", "5:30", "05:30:15" */
static bool parse_clock(struct str s, int32_t *ret_seconds)
{
	bool colons = leading_digits(s) <= 2;
	int32_t hours, parts[2] = {0, 0};

	if (!take_number(&s, colons ? leading_digits(s) : 2, 25, &hours))
		return false;
	for (size_t i = 0; i < 2 && s.n; i++) {
		if (colons && s.p[0] != ':')
			return false;
		s = (struct str){s.p + colons, s.n - colons};
		if (!take_number(&s, 2, 59, &parts[i]))
			return false;
	}
	*ret_seconds = hours * 3600 + parts[0] * 60 + parts[1];
	return s.n == 0;
}

/* "+02", "-0330": as IANA names zones that have no name of their own. */
static void offset_abbrev(int32_t offset, char ret_abbrev[CRON_ABBREV_MAX])
{
	int32_t size = offset < 0 ? -offset : offset;
	int n = snprintf(
	    ret_abbrev, CRON_ABBREV_MAX, "%c%02d", offset < 0 ? '-' : '+', size / 3600 % 100);

	if (size % 3600)
		n += snprintf(ret_abbrev + n, CRON_ABBREV_MAX - (size_t)n, "%02d", size / 60 % 60);
	if (size % 60)
		snprintf(ret_abbrev + n, CRON_ABBREV_MAX - (size_t)n, "%02d", size % 60);
}

int cron_zone_fixed(struct str text, struct cron_zone **ret_zone, struct problem *p)
{
	struct str rest = text;
	const char *word = take_word(&rest);
	char abbrev[CRON_ABBREV_MAX];
	int32_t size = 0;
	bool minus = rest.n && rest.p[0] == '-';

	if (rest.n || !word) {
		if (!rest.n || (rest.p[0] != '+' && rest.p[0] != '-') ||
		    !parse_clock((struct str){rest.p + 1, rest.n - 1}, &size))
			return bad(p, text);
	}
	if (size == 0) {
		*ret_zone = zone_constant(0, word ? word : "UTC");
		return 0;
	}
	offset_abbrev(minus ? -size : size, abbrev);
	*ret_zone = zone_constant(minus ? -size : size, abbrev);
	return 0;
}
