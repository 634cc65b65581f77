/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vixie's five fields. Both days given (neither field begins with a `*`) means either of them: that
 * becomes two items. From Quartz: `L` (the month's last day), `friL` and `fri#2`.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cron/pattern/names.h"
#include "cron/pattern/parse.h"

struct field {
	const char *name;
	int64_t min, max;
	const char *const *names;
	size_t n_names;
	int64_t first_name;
};

enum { MINUTE, HOUR, DAY, MONTH, WEEKDAY, N_FIELDS };
static const struct field fields[N_FIELDS] = {
    [MINUTE] = {"minute", 0, 59},
    [HOUR] = {"hour", 0, 23},
    [DAY] = {"day of the month", 1, 31},
    [MONTH] = {"month", 1, 12, month_names, 12, 1},
    [WEEKDAY] = {"day of the week", 0, 7, weekday_names, 7, 0},
};

/* What one line says, gathered before it becomes one or two items. */
struct fields {
	uint64_t bits[N_FIELDS];
	bool star[N_FIELDS]; /* begins with one */
	bool last_day;
	uint8_t nth[CRON_WEEK_LAST + 1];
	bool any_nth;
};

static const struct {
	const char *name, *line;
} shorthands[] = {
    {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
    {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},
    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
};

static int bad_value(struct scan *s, size_t at, const struct field *f)
{
	char c = at < s->all.n ? s->all.p[at] : 0;

	if (c == 0 || c == ' ' || c == '\t')
		scan_bad(s, at, "the %s ends too early", f->name);
	else
		scan_bad(s, at, "'%c' is no %s", c, f->name);
	if (c == '?')
		problem_hint(s->p, "write * for every one");
	else if (f->names)
		problem_hint(s->p,
		    "a number from %d to %d or a name such as %.3s, ranges a-b, steps "
		    "*/n or a-b/n, lists a,b,c",
		    (int)f->min, (int)f->max, f->names[0]);
	else
		problem_hint(s->p,
		    "a number from %d to %d, ranges a-b, steps */n or a-b/n, lists "
		    "a,b,c",
		    (int)f->min, (int)f->max);
	return ERR_INVALID;
}

static int read_value(struct scan *s, const struct field *f, int64_t *ret_n)
{
	size_t at = s->at;
	struct str name;
	int32_t named;

	if (!scan_number(s, ret_n)) {
		if (scan_is_digit(s))
			return scan_too_great(s, f->name, f->min, f->max);
		name = scan_letters(s);
		/* friL: the L is not the name's */
		if (f == &fields[WEEKDAY] && name.n == 4 && name.p[3] == 'L') {
			name.n--;
			s->at--;
		}
		named = f->names ? name_find(name, f->names, f->n_names) : -1;
		if (named < 0)
			return bad_value(s, at, f);
		*ret_n = named + f->first_name;
	}
	if (*ret_n >= f->min && *ret_n <= f->max)
		return ERR_OK;
	scan_bad(s, at, "%s %lld is too %s", f->name, (long long)*ret_n,
	    *ret_n < f->min ? "small" : "great");
	problem_hint(s->p, "it must lie between %d and %d", (int)f->min, (int)f->max);
	return ERR_INVALID;
}

static int read_step(struct scan *s, const struct field *f, int64_t *ret_step)
{
	size_t at = s->at;

	*ret_step = 1;
	if (!scan_take(s, '/'))
		return ERR_OK;
	if (scan_number(s, ret_step) && *ret_step >= 1 && *ret_step <= f->max - f->min + 1)
		return ERR_OK;
	scan_bad(s, at + 1, "a step is a number from 1 to %d", (int)(f->max - f->min + 1));
	problem_hint(s->p, "*/5 is every fifth, from the first on");
	return ERR_INVALID;
}

static int bad_order(struct scan *s, size_t at, int64_t start, int64_t end)
{
	scan_bad(s, at, "the range ends (%d) before it starts (%d)", (int)end, (int)start);
	problem_hint(s->p, "ranges do not wrap around: write two, with a comma between them");
	return ERR_INVALID;
}

static uint64_t bits_between(int64_t start, int64_t end, int64_t step)
{
	uint64_t bits = 0;

	for (int64_t v = start; v <= end; v += step)
		bits |= UINT64_C(1) << v;
	return bits;
}

/* After one weekday: `#2` or `L`. */
static int read_nth(struct scan *s, int64_t weekday, struct fields *f, bool *ret_is_nth)
{
	size_t at = s->at;
	int64_t row = CRON_WEEK_LAST + 1;

	*ret_is_nth = true;
	if (scan_take(s, '#')) {
		if (!scan_number(s, &row) || row < 1 || row > 5) {
			scan_bad(s, at + 1, "after # comes a number from 1 to 5");
			problem_hint(s->p, "fri#2 is the month's second Friday, friL the last one");
			return ERR_INVALID;
		}
	} else if (!scan_take(s, 'L')) {
		*ret_is_nth = false;
		return ERR_OK;
	}
	f->nth[row - 1] |= (uint8_t)(1u << weekday % 7);
	f->any_nth = true;
	return ERR_OK;
}

static int read_range(struct scan *s, size_t id, struct fields *f)
{
	const struct field *field = &fields[id];
	size_t at = s->at;
	int64_t start, end, step;
	bool is_nth = false;
	int rc;

	if ((rc = read_value(s, field, &start)))
		return rc;
	if (id == WEEKDAY && ((rc = read_nth(s, start, f, &is_nth)) || is_nth))
		return rc;
	end = start;
	if (scan_take(s, '-')) {
		if ((rc = read_value(s, field, &end)))
			return rc;
		if (id == WEEKDAY && end == 0 && start > 0)
			end = 7; /* Sunday, by name or as 0, at a range's end */
		if (end < start)
			return bad_order(s, at, start, end);
	} else if (scan_peek(s) == '/') {
		scan_bad(s, s->at, "a step needs a range or * before it");
		problem_hint(s->p, "write %d-%d/n", (int)start, (int)field->max);
		return ERR_INVALID;
	}
	if ((rc = read_step(s, field, &step)))
		return rc;
	f->bits[id] |= bits_between(start, end, step);
	return ERR_OK;
}

static int read_part(struct scan *s, size_t id, struct fields *f)
{
	int64_t step;
	int rc;

	if (id == DAY && scan_take(s, 'L')) {
		f->last_day = true;
		return ERR_OK;
	}
	if (!scan_take(s, '*'))
		return read_range(s, id, f);
	if ((rc = read_step(s, &fields[id], &step)))
		return rc;
	f->bits[id] |= bits_between(fields[id].min, id == WEEKDAY ? 6 : fields[id].max, step);
	return ERR_OK;
}

static int bad_rest(struct scan *s, const struct field *f)
{
	char c = scan_peek(s);

	if (c == 'W') {
		scan_bad(s, s->at, "W (the nearest working day) is not supported");
		problem_hint(s->p, "name the weekdays, or the day");
	} else if (c == '~') {
		scan_bad(s, s->at, "~ (a random value) is not supported");
		problem_hint(s->p, "give the schedule a jitter instead");
	} else {
		bad_value(s, s->at, f);
	}
	return ERR_INVALID;
}

static int read_field(struct scan *s, size_t id, struct fields *f)
{
	int rc;

	f->star[id] = scan_peek(s) == '*';
	do {
		if ((rc = read_part(s, id, f)))
			return rc;
	} while (scan_take(s, ','));
	return scan_is_end(s) ? ERR_OK : bad_rest(s, &fields[id]);
}

static int read_fields(struct scan *s, struct fields *f)
{
	int rc;

	for (size_t id = 0; id < N_FIELDS; id++) {
		scan_spaces(s);
		if (s->at >= s->all.n) {
			scan_bad(s, s->at, "the %s is missing: there are only %zu of 5 fields",
			    fields[id].name, id);
			problem_hint(s->p,
			    "minute, hour, day of the month, month, day of the week: "
			    "\"30 2 * * *\" is every day at 02:30");
			return ERR_INVALID;
		}
		if ((rc = read_field(s, id, f)))
			return rc;
	}
	scan_spaces(s);
	if (s->at >= s->all.n)
		return ERR_OK;
	scan_bad(s, s->at, "there are more than five fields");
	problem_hint(s->p,
	    "a crontab has no seconds and no years: write a JSON item with \"second\" "
	    "or \"year\"; a command does not belong here");
	return ERR_INVALID;
}

static int expand_shorthand(struct scan *s, size_t at)
{
	struct str word = scan_word(s);

	if (str_is(word, "@every")) {
		scan_bad(s, at, "@every is not known: it counts from no time of the clock");
		problem_hint(s->p, "a JSON item does that: {\"epoch\": {\"period\": 300}} is every "
		                   "5 minutes, whatever the zone");
		return ERR_INVALID;
	}
	scan_spaces(s);
	if (s->at < s->all.n) {
		scan_bad(s, s->at, "nothing may follow " STR_FMT, (int)(word.n > 40 ? 40 : word.n),
		    word.p);
		return ERR_INVALID;
	}
	for (size_t i = 0; i < sizeof shorthands / sizeof *shorthands; i++)
		if (str_is(word, shorthands[i].name)) {
			s->all = str_of(shorthands[i].line);
			s->at = 0;
			return ERR_OK;
		}
	if (str_is(word, "@reboot")) {
		scan_bad(s, at, "@reboot names no time: it is when a machine starts");
		problem_hint(s->p, "let the machine's own init do that");
	} else {
		scan_bad(s, at, "this shorthand is not known");
		problem_hint(
		    s->p, "@yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly");
	}
	return ERR_INVALID;
}

static int read_zone(struct scan *s, char **ret_zone)
{
	struct str name;
	size_t quote;
	int rc;

	if (!scan_take_text(s, "CRON_TZ=") && !scan_take_text(s, "TZ="))
		return ERR_OK;
	quote = scan_peek(s) == '"' || scan_peek(s) == '\'';
	name = scan_word(s);
	if (quote && name.n >= 2 && name.p[name.n - 1] == name.p[0]) {
		name.p++;
		name.n -= 2;
	}
	rc = scan_zone(s, name, ret_zone);
	scan_spaces(s);
	return rc;
}

static void take_weekdays(const struct fields *f, struct cron_item *it)
{
	uint64_t bits = f->bits[WEEKDAY];
	uint8_t plain = (uint8_t)((bits | bits >> 7) & CRON_ALL_WEEKDAYS);

	if (!f->any_nth) {
		it->weekdays = plain;
		return;
	}
	memcpy(it->nth, f->nth, sizeof it->nth);
	for (size_t week = 0; week < CRON_WEEK_LAST; week++)
		it->nth[week] |= plain; /* a plain weekday beside fri#2: in every week */
}

static void take_days(const struct fields *f, struct cron_item *it)
{
	it->days = (uint32_t)f->bits[DAY] | (f->last_day ? CRON_LAST_DAY : 0);
}

static bool is_starred(const struct fields *f)
{
	return f->star[MINUTE] || f->star[HOUR];
}

/*
 * Vixie's own rule goes by the star: a minute field of star-slash-ten counts as running all the
 * time, even in one hour only. An item's "vixie" sees no stars: here the answers are written out.
 * A range that leaves nothing out is as good as a star (docs/decisions/0018).
 */
static void set_dst(const struct fields *f, const struct cron_dst *dst, struct cron_item *it)
{
	static const struct cron_dst all_the_time = {
	    .mode = CRON_DST_GIVEN, .skipped = CRON_SKIP, .repeated = CRON_REPEAT_BOTH};

	cron_item_set_dst(it, dst);
	if (it->by_vixie && it->skipped != CRON_SKIP && is_starred(f))
		cron_item_set_dst(it, &all_the_time);
}

static int add_item(const struct fields *f, bool days, bool weekdays, const struct cron_dst *dst,
    struct cron_items *items, struct problem *p)
{
	struct cron_item it;
	int rc;

	item_init(&it);
	it.minutes = f->bits[MINUTE];
	it.hours = (uint32_t)f->bits[HOUR];
	it.months = (uint16_t)f->bits[MONTH];
	if (days)
		take_days(f, &it);
	if (weekdays)
		take_weekdays(f, &it);
	set_dst(f, dst, &it);
	items->full_range = it.by_vixie && it.skipped == CRON_SKIP && !is_starred(f);
	if ((rc = item_check_dates(&it, "", p)) == ERR_OK)
		items_add(items, &it);
	return rc;
}

static int read_line(struct scan *s, const struct cron_dst *dst, struct cron_items *items)
{
	struct fields f = {0};
	int rc;

	if ((rc = scan_check(s, "the crontab line")))
		return rc;
	scan_spaces(s);
	if ((rc = read_zone(s, &items->zone)))
		return rc;
	if (scan_peek(s) == '@' && (rc = expand_shorthand(s, s->at)))
		return rc;
	if ((rc = read_fields(s, &f)))
		return rc;
	items->either_or = !f.star[DAY] && !f.star[WEEKDAY];
	if (!items->either_or)
		return add_item(&f, true, true, dst, items, s->p);
	/* Of either-or, one that never comes is no mistake: the other does. */
	add_item(&f, true, false, dst, items, NULL);
	return add_item(&f, false, true, dst, items, s->p);
}

int cron_items_crontab(
    struct str line, const struct cron_dst *dst, struct cron_items *ret_items, struct problem *p)
{
	struct scan s = {.all = line, .p = p};
	struct cron_items items = {0};
	int rc = read_line(&s, dst, &items);

	if (rc)
		cron_items_release(&items);
	else
		*ret_items = items;
	return rc;
}
