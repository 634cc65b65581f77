/* SPDX-License-Identifier: Apache-2.0 */
#include "cron/words/phrases.h"

#include "cron/pattern/names.h"

#define TIMES_SHOWN 6 /* so many are written out, more become a rule */

unsigned bits_count(uint64_t bits)
{
	return (unsigned)__builtin_popcountll(bits);
}

static int bits_lowest(uint64_t bits)
{
	return __builtin_ctzll(bits);
}

static int bits_highest(uint64_t bits)
{
	return 63 - __builtin_clzll(bits);
}

bool bits_are_run(uint64_t bits)
{
	return bits && (int)bits_count(bits) == bits_highest(bits) - bits_lowest(bits) + 1;
}

/* 0, k, 2k, … up to the end of an hour or a day: k; else 0. */
static int bits_step(uint64_t bits, int size)
{
	int step = bits & 1 && bits != 1 ? bits_lowest(bits & ~UINT64_C(1)) : 0;

	if (step == 0 || size % step || (int)bits_count(bits) != size / step)
		return 0;
	for (int i = 0; i < size; i += step)
		if (!(bits >> i & 1))
			return 0;
	return step;
}

const char *phrase_ending(int n)
{
	if (n % 100 / 10 == 1)
		return "th";
	return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

static void phrase_number(struct buf *out, int n)
{
	buf_printf(out, "%d", n);
}

void phrase_ordinal(struct buf *out, int n)
{
	buf_printf(out, "%d%s", n, phrase_ending(n));
}

void phrase_weekday(struct buf *out, int n)
{
	buf_add_cstr(out, weekday_names[n]);
}

void phrase_month(struct buf *out, int n)
{
	buf_add_cstr(out, month_names[n - 1]);
}

void phrase_between(struct buf *out, bool first, bool last)
{
	if (!first)
		buf_add_cstr(out, last ? " and " : ", ");
}

void phrase_list(struct buf *out, uint64_t bits, void (*add)(struct buf *out, int n))
{
	bool first = true;

	while (bits) {
		int from = bits_lowest(bits), to = from;

		while (to < 63 && bits >> (to + 1) & 1)
			to++;
		if (to - from < 2)
			to = from;
		for (int i = from; i <= to; i++)
			bits &= ~(UINT64_C(1) << i);
		phrase_between(out, first, !bits);
		add(out, from);
		if (to != from) {
			buf_add_cstr(out, " to ");
			add(out, to);
		}
		first = false;
	}
}

/* The lowest bit, taken out. */
static int take_lowest(uint64_t *bits)
{
	int i = bits_lowest(*bits);

	*bits &= *bits - 1;
	return i;
}

static void add_time(struct buf *out, int h, int m, int s)
{
	buf_printf(out, "%02d:%02d", h, m);
	if (s)
		buf_printf(out, ":%02d", s);
}

/* Bit by bit: a walk through the seconds of a day took longer than all else that a reply needs. */
static void add_times(const struct cron_item *it, struct buf *out)
{
	unsigned n = bits_count(it->hours) * bits_count(it->minutes) * bits_count(it->seconds);
	uint64_t hours = it->hours, minutes = 0, seconds = 0;
	int h = 0, m = 0, s;

	buf_add_cstr(out, "at ");
	for (unsigned i = 0; i < n; i++) {
		if (!seconds && !minutes) {
			h = take_lowest(&hours);
			minutes = it->minutes;
		}
		if (!seconds) {
			m = take_lowest(&minutes);
			seconds = it->seconds;
		}
		s = take_lowest(&seconds);
		phrase_between(out, i == 0, i + 1 == n);
		add_time(out, h, m, s);
	}
}

static void add_seconds(uint64_t seconds, struct buf *out)
{
	int step = bits_step(seconds, 60);

	if (step == 1)
		buf_add_cstr(out, "every second");
	else if (step)
		buf_printf(out, "every %d seconds", step);
	else {
		buf_add_cstr(out, bits_count(seconds) == 1 ? "at second " : "at seconds ");
		phrase_list(out, seconds, phrase_number);
	}
}

/* Says whether hours that are not restricted have to be mentioned. */
static bool add_minutes(uint64_t minutes, bool after_seconds, struct buf *out)
{
	int step = bits_step(minutes, 60);

	if (step == 1) {
		buf_add_cstr(out, after_seconds ? "" : "every minute");
		return false;
	}
	if (step && after_seconds)
		buf_printf(out, " of every %d%s minute", step, phrase_ending(step));
	else if (step)
		buf_printf(out, "every %d minutes", step);
	if (step)
		return false;
	buf_add_cstr(out, after_seconds ? " of minute" : "at minute");
	buf_add_cstr(out, bits_count(minutes) == 1 ? " " : "s ");
	phrase_list(out, minutes, phrase_number);
	return true;
}

static void add_hours(uint32_t hours, bool mention, struct buf *out)
{
	int step = bits_step(hours, 24);

	if (step == 1)
		buf_add_cstr(out, mention ? " of every hour" : "");
	else if (step)
		buf_printf(out, " of every %d%s hour", step, phrase_ending(step));
	else if (bits_are_run(hours))
		buf_printf(
		    out, " from %02d:00 to %02d:59", bits_lowest(hours), bits_highest(hours));
	else {
		buf_add_cstr(out, " of the hours ");
		phrase_list(out, hours, phrase_number);
	}
}

bool phrase_clock(const struct cron_item *it, struct buf *out)
{
	bool seconds = it->seconds != 1, mention;

	if (bits_count(it->hours) * bits_count(it->minutes) * bits_count(it->seconds) <=
	    TIMES_SHOWN) {
		add_times(it, out);
		return true;
	}
	if (seconds)
		add_seconds(it->seconds, out);
	mention = add_minutes(it->minutes, seconds, out);
	add_hours(it->hours, mention, out);
	return false;
}
