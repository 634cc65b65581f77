/* SPDX-License-Identifier: Apache-2.0 */
#include "cron/pattern/parse.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define DIGITS_MAX 9

char scan_peek(const struct scan *s)
{
	return s->at < s->all.n ? s->all.p[s->at] : 0;
}

bool scan_take(struct scan *s, char c)
{
	if (s->at >= s->all.n || s->all.p[s->at] != c)
		return false;
	s->at++;
	return true;
}

bool scan_take_text(struct scan *s, const char *text)
{
	struct str rest = {s->all.p + s->at, s->all.n - s->at};

	if (!str_starts(rest, text))
		return false;
	s->at += strlen(text);
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool scan_spaces(struct scan *s)
{
	size_t begin = s->at;

	while (is_blank(scan_peek(s)))
		s->at++;
	return s->at > begin;
}

bool scan_is_end(struct scan *s)
{
	return s->at >= s->all.n || is_blank(scan_peek(s));
}

struct str scan_word(struct scan *s)
{
	size_t begin = s->at;

	while (!scan_is_end(s))
		s->at++;
	return (struct str){s->all.p + begin, s->at - begin};
}

struct str scan_letters(struct scan *s)
{
	size_t begin = s->at;

	while (isalpha((unsigned char)scan_peek(s)))
		s->at++;
	return (struct str){s->all.p + begin, s->at - begin};
}

bool scan_number(struct scan *s, int64_t *ret_n)
{
	size_t begin = s->at;
	int64_t n = 0;

	while (isdigit((unsigned char)scan_peek(s)) && s->at - begin < DIGITS_MAX)
		n = n * 10 + (s->all.p[s->at++] - '0');
	if (s->at == begin || isdigit((unsigned char)scan_peek(s))) {
		s->at = begin;
		return false;
	}
	*ret_n = n;
	return true;
}

bool scan_is_digit(const struct scan *s)
{
	return isdigit((unsigned char)scan_peek(s));
}

int scan_too_great(struct scan *s, const char *what, int64_t min, int64_t max)
{
	scan_bad(s, s->at, "this number is too great for a %s", what);
	problem_hint(s->p, "it must lie between %lld and %lld", (long long)min, (long long)max);
	return ERR_INVALID;
}

int scan_bad(struct scan *s, size_t at, const char *fmt, ...)
{
	char text[256], column[32];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	snprintf(column, sizeof column, "column %zu", at + 1);
	problem_set(s->p, ERR_INVALID, "%s: %s", column, text);
	problem_field(s->p, column);
	return ERR_INVALID;
}

int scan_check(struct scan *s, const char *what)
{
	if (s->all.n > CRON_TEXT_MAX) {
		problem_set(s->p, ERR_INVALID, "%s has %zu bytes; at most %d are allowed", what,
		    s->all.n, CRON_TEXT_MAX);
		return ERR_INVALID;
	}
	for (size_t i = 0; i < s->all.n; i++)
		if (iscntrl((unsigned char)s->all.p[i]) && s->all.p[i] != '\t')
			return scan_bad(s, i, "there is a control character (byte 0x%02x)",
			    (unsigned)(unsigned char)s->all.p[i]);
	return ERR_OK;
}

int scan_zone(struct scan *s, struct str name, char **ret_zone)
{
	size_t at = (size_t)(name.p - s->all.p);

	if (name.n == 0 || name.n > CRON_ZONE_NAME_MAX) {
		scan_bad(s, at, "a zone's name has 1 to %d characters", CRON_ZONE_NAME_MAX);
		problem_hint(s->p, "write a name such as Europe/Berlin or UTC");
		return ERR_INVALID;
	}
	for (size_t i = 0; i < name.n; i++)
		if (!isalnum((unsigned char)name.p[i]) && !strchr("_+-/:,.<>", name.p[i])) {
			scan_bad(s, at + i, "'%c' cannot be part of a zone's name", name.p[i]);
			problem_hint(s->p, "write a name such as Europe/Berlin or UTC");
			return ERR_INVALID;
		}
	*ret_zone = xstrndup(name.p, name.n);
	return ERR_OK;
}
