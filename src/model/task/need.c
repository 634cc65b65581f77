/* SPDX-License-Identifier: Apache-2.0 */
#include "model/task/need.h"

#include <string.h>

#include "base/mem.h"
#include "model/lines.h"

enum amount_unit amount_unit(struct str name)
{
	if (str_is(name, AMOUNT_CPU))
		return AMOUNT_MILLI;
	return str_is(name, AMOUNT_MEMORY) || str_is(name, AMOUNT_DISK) ? AMOUNT_BYTES
	                                                                : AMOUNT_PIECES;
}

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool amount_name_ok(struct str name)
{
	if (!name.n || name.n > AMOUNT_NAME_MAX || !is_alnum(name.p[0]))
		return false;
	for (size_t i = 1; i < name.n; i++)
		if (!is_alnum(name.p[i]) && !memchr("_-./", name.p[i], 4))
			return false;
	return true;
}

/* Whole units where it is a whole number of them, else tenths of the largest that fits. */
static void add_bytes(struct buf *b, int64_t n)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
	int64_t one = 1;
	size_t u = 0;

	while (u + 1 < sizeof units / sizeof units[0] && n / one >= 1024) {
		one *= 1024;
		u++;
	}
	buf_add_i64(b, n / one);
	if (n % one >= one / 10 && one > 1)
		buf_printf(b, ".%d", (int)(n % one / (one / 10) > 9 ? 9 : n % one / (one / 10)));
	buf_printf(b, " %s", units[u]);
}

static void add_milli(struct buf *b, int64_t n)
{
	static const int64_t parts[] = {1000, 100, 10, 1};
	int digits = 3;

	buf_add_i64(b, n / 1000);
	while (digits > 0 && n % 1000 % parts[digits - 1] == 0)
		digits--;
	if (digits)
		buf_printf(b, ".%0*d", digits, (int)(n % 1000 / parts[digits]));
}

void amount_add(struct buf *b, struct str name, int64_t n)
{
	if (n < 0) {
		buf_add_char(b, '-');
		n = -n;
	}
	switch (amount_unit(name)) {
	case AMOUNT_MILLI: add_milli(b, n); break;
	case AMOUNT_BYTES: add_bytes(b, n); break;
	default: buf_add_i64(b, n); break;
	}
}

/* A line that says something of the place, not of an amount. */
static bool is_of_place(struct str line)
{
	return line.n && memchr("+-@", line.p[0], 3);
}

static bool parse_line(struct str line, struct amount *ret)
{
	struct str rest = line;

	return str_next(&rest, '=', &ret->name) && rest.n && amount_name_ok(ret->name) &&
	       str_to_i64(rest, 0, AMOUNT_MAX, &ret->n);
}

bool amount_next(struct str *rest, struct amount *ret)
{
	struct str line;

	while (lines_next(rest, &line))
		if (!is_of_place(line) && parse_line(line, ret))
			return true;
	return false;
}

int64_t amount_of(struct str lines, struct str name)
{
	struct amount a;

	while (amount_next(&lines, &a))
		if (str_eq(a.name, name))
			return a.n;
	return -1;
}

void amount_line(struct buf *lines, struct str name, int64_t n)
{
	buf_add_str(lines, name);
	buf_add_char(lines, '=');
	buf_add_i64(lines, n);
	buf_add_char(lines, '\n');
}

bool throttle_next(struct str *rest, struct amount *ret)
{
	struct str line;

	while (lines_next(rest, &line))
		if (line.n && line.p[0] == '%' &&
		    parse_line((struct str){line.p + 1, line.n - 1}, ret) && ret->n > 0)
			return true;
	return false;
}

int64_t throttle_of(struct str lines, struct str key)
{
	struct amount a;

	while (throttle_next(&lines, &a))
		if (str_eq(a.name, key))
			return a.n;
	return -1;
}

void throttle_line(struct buf *lines, struct str key, int64_t limit)
{
	buf_add_char(lines, '%');
	amount_line(lines, key, limit);
}

bool need_asks_worker(struct str need)
{
	struct str line;

	while (lines_next(&need, &line))
		if (line.n && line.p[0] != '%')
			return true;
	return false;
}

struct str need_merge(struct arena *a, struct str queue, struct str task)
{
	AUTO(buf_release) struct buf b = {0};
	struct str rest = queue, line;
	struct amount at;

	if (!queue.n)
		return task;
	if (!task.n)
		return queue;
	buf_add_str(&b, task);
	while (lines_next(&rest, &line))
		if (is_of_place(line))
			lines_add(&b, line);
	rest = queue;
	while (amount_next(&rest, &at))
		if (amount_of(task, at.name) < 0)
			amount_line(&b, at.name, at.n);
	rest = queue;
	while (throttle_next(&rest, &at))
		if (throttle_of(task, at.name) < 0)
			throttle_line(&b, at.name, at.n);
	return lines_sorted(a, buf_str(&b));
}

static bool is_zone(struct str label, struct str zone)
{
	return zone.n && str_starts(label, "zone=") &&
	       str_eq((struct str){label.p + 5, label.n - 5}, zone);
}

struct str need_unmet(struct str need, struct str target, struct str zone, struct str labels)
{
	struct str line;

	while (lines_next(&need, &line)) {
		struct str what = {line.p + 1, line.n - 1};
		bool met = true;

		switch (line.p[0]) {
		case '+': met = lines_has(labels, what) || is_zone(what, zone); break;
		case '-': met = !lines_has(labels, what) && !is_zone(what, zone); break;
		case '@': met = str_eq(target, what); break;
		default: break;
		}
		if (!met)
			return line;
	}
	return STR_NULL;
}

bool offer_is_valid(struct str offer)
{
	struct str line, last = STR_NULL;
	struct amount at, before = {0};
	size_t n = 0;

	while (lines_next(&offer, &line)) {
		if (is_of_place(line) || !parse_line(line, &at) || ++n > OFFER_LINES_MAX)
			return false;
		if (last.p && (str_cmp(last, line) >= 0 || str_eq(before.name, at.name)))
			return false;
		last = line;
		before = at;
	}
	return true;
}
