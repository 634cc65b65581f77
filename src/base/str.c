/* SPDX-License-Identifier: Apache-2.0 */
/* Length-counted strings, their small parsers, and the growable buffer. */
#include "base/str.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

struct str str_of(const char *cstr)
{
	return (struct str){cstr, cstr ? strlen(cstr) : 0};
}

bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_is(struct str a, const char *cstr)
{
	return str_eq(a, str_of(cstr));
}

int str_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.p, b.p, n) : 0;

	if (c)
		return c;
	return a.n < b.n ? -1 : a.n > b.n;
}

bool str_starts(struct str s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

bool str_to_i64(struct str s, int64_t min, int64_t max, int64_t *ret_n)
{
	bool minus = s.n && s.p[0] == '-';
	int64_t n = 0;

	if (s.n == (size_t)minus)
		return false;
	for (size_t i = minus; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_sub_overflow(n, s.p[i] - '0', &n))
			return false;
	}
	if (!minus && __builtin_sub_overflow((int64_t)0, n, &n))
		return false;
	if (n < min || n > max)
		return false;
	*ret_n = n;
	return true;
}

bool str_next(struct str *rest, char sep, struct str *ret_part)
{
	const char *at;

	if (!rest->p)
		return false;
	at = rest->n ? memchr(rest->p, sep, rest->n) : NULL;
	if (!at) {
		*ret_part = *rest;
		*rest = STR_NULL;
		return true;
	}
	*ret_part = (struct str){rest->p, (size_t)(at - rest->p)};
	rest->n -= ret_part->n + 1;
	rest->p = at + 1;
	return true;
}

/* One "number unit" pair; the number may have a fraction. Returns the bytes used, 0 if none. */
static size_t number_at(struct str s, double *ret_value)
{
	char text[32];
	char *end;
	size_t n = 0;

	while (n < s.n && n < sizeof text - 1 && (isdigit((unsigned char)s.p[n]) || s.p[n] == '.'))
		n++;
	if (n == 0)
		return 0;
	memcpy(text, s.p, n);
	text[n] = 0;
	*ret_value = strtod(text, &end);
	return *end ? 0 : n;
}

static size_t unit_at(struct str s, bool iso_date, double *ret_ms)
{
	static const struct {
		const char *name;
		double ms;
	} units[] = {{"ms", 1}, {"min", 60e3}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3},
	    {"d", 86400e3}, {"w", 7 * 86400e3}};

	if (iso_date && s.n && (s.p[0] == 'M' || s.p[0] == 'm'))
		return 0; /* months have no fixed length */
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		size_t n = strlen(units[i].name);

		if (s.n >= n && strncasecmp(s.p, units[i].name, n) == 0) {
			*ret_ms = units[i].ms;
			return n;
		}
	}
	return 0;
}

/* "P1DT2H": the T must be followed by something, and so must the P. */
static size_t skip_time_mark(struct str s, size_t at, bool *in_date)
{
	if (!*in_date || (s.p[at] != 'T' && s.p[at] != 't'))
		return at;
	*in_date = false;
	return at + 1;
}

bool str_to_duration_ms(struct str s, int64_t *ret_ms)
{
	bool iso = s.n > 1 && (s.p[0] == 'P' || s.p[0] == 'p'), in_date = iso, plain;
	double total = 0, value, unit;
	size_t at = iso, used, parts = 0;

	do {
		at = at < s.n ? skip_time_mark(s, at, &in_date) : at;
		used = number_at((struct str){s.p + at, s.n - at}, &value);
		if (used == 0)
			return false;
		at += used;
		plain = at == s.n && !iso && parts == 0; /* seconds */
		used = plain ? 0 : unit_at((struct str){s.p + at, s.n - at}, in_date, &unit);
		if (used == 0 && !plain)
			return false;
		total += value * (plain ? 1e3 : unit);
		at += used;
		parts++;
	} while (at < s.n);
	if (total > 1e15)
		return false;
	*ret_ms = (int64_t)(total + 0.5);
	return true;
}

static size_t distance(struct str a, const char *b)
{
	size_t row[65], nb = strlen(b), diagonal, above;

	if (a.n > 64 || nb > 64)
		return 64;
	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t best = diagonal + (tolower((unsigned char)a.p[i - 1]) !=
			                             tolower((unsigned char)b[j - 1]));

			above = row[j];
			if (above + 1 < best)
				best = above + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diagonal = above;
			row[j] = best;
		}
	}
	return row[nb];
}

bool str_to_bytes(struct str s, int64_t *ret_bytes)
{
	static const struct {
		const char *name;
		int64_t bytes;
	} units[] = {{"", 1}, {"B", 1}, {"K", 1 << 10}, {"KiB", 1 << 10}, {"kB", 1000},
	    {"KB", 1000}, {"M", 1 << 20}, {"MiB", 1 << 20}, {"MB", 1000000}, {"G", 1 << 30},
	    {"GiB", 1 << 30}, {"GB", 1000000000}, {"T", 1LL << 40}, {"TiB", 1LL << 40},
	    {"TB", 1000000000000}};
	size_t digits = 0;
	int64_t n;

	while (digits < s.n && s.p[digits] >= '0' && s.p[digits] <= '9')
		digits++;
	if (!str_to_i64((struct str){s.p, digits}, 0, INT64_MAX, &n))
		return false;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (str_is((struct str){s.p + digits, s.n - digits}, units[i].name))
			return !__builtin_mul_overflow(n, units[i].bytes, ret_bytes);
	return false;
}

const char *str_nearest(struct str s, const char *const *names, size_t n)
{
	size_t limit = s.n / 3 > 2 ? s.n / 3 : 2, best = limit + 1;
	const char *found = NULL;

	for (size_t i = 0; i < n; i++) {
		size_t d = distance(s, names[i]);

		if (d < best && d < strlen(names[i])) {
			best = d;
			found = names[i];
		}
	}
	return found;
}

void buf_release(struct buf *b)
{
	free(b->p);
	*b = (struct buf){0};
}

void buf_reset(struct buf *b)
{
	b->n = 0;
	if (b->p)
		b->p[0] = 0;
}

void buf_reserve(struct buf *b, size_t extra)
{
	size_t need = b->n + extra + 1;

	MUST(need > extra);
	if (need > b->cap)
		GROW(b->p, b->cap, need < 64 ? 64 : need);
}

/* Is there room for n more and the NUL? Answers are written in very small pieces. */
static inline bool buf_has(const struct buf *b, size_t n)
{
	return b->cap > b->n && b->cap - b->n > n;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	if (!buf_has(b, n))
		buf_reserve(b, n);
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
	b->p[b->n] = 0;
}

void buf_add_str(struct buf *b, struct str s)
{
	buf_add(b, s.p, s.n);
}

void buf_add_cstr(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_add_char(struct buf *b, char c)
{
	if (!buf_has(b, 1))
		buf_reserve(b, 1);
	b->p[b->n++] = c;
	b->p[b->n] = 0;
}

void buf_add_u64(struct buf *b, uint64_t n)
{
	char text[20];
	size_t at = sizeof text;

	do {
		text[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	buf_add(b, text + at, sizeof text - at);
}

void buf_add_i64(struct buf *b, int64_t n)
{
	if (n < 0)
		buf_add_char(b, '-');
	buf_add_u64(b, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

static bool is_plain_word(struct str word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                            "0123456789_@%+=:,./-";
	bool is_plain = word.n > 0;

	for (size_t i = 0; i < word.n && is_plain; i++)
		is_plain = memchr(plain, word.p[i], sizeof plain - 1) != NULL;
	return is_plain;
}

void buf_add_typed(struct buf *b, struct str word)
{
	if (is_plain_word(word)) {
		buf_add_str(b, word);
		return;
	}
	buf_add_char(b, '\'');
	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] == '\'')
			buf_add_cstr(b, "'\\''");
		else
			buf_add_char(b, word.p[i]);
	buf_add_char(b, '\'');
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	MUST(n >= 0);
	buf_reserve(b, (size_t)n);
	vsnprintf(b->p + b->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->n += (size_t)n;
}

struct str buf_str(const struct buf *b)
{
	return (struct str){b->p ? b->p : "", b->n};
}

char *buf_take(struct buf *b)
{
	char *p = b->p ? b->p : xstrdup("");

	*b = (struct buf){0};
	return p;
}
