/* SPDX-License-Identifier: Apache-2.0 */
/* What daylight saving does to a schedule in a year, in words. */
#include "cron/pattern/dates.h"
#include "cron/words/words.h"
#include "cron/zone/civil.h"

#define CHANGES_MAX 64 /* in a year; real zones have had six at most */

/* The instants that have this label, the first and the last of them: 0, 1, or 2 for "several". */
static size_t instants_of(const struct cron_zone *z, int64_t label, int64_t ret_times[2])
{
	struct cron_span s = {.end = label - CRON_OFFSET_MAX};
	size_t n = 0;

	while (s.end <= label + CRON_OFFSET_MAX) {
		cron_zone_at(z, s.end, &s);
		if (label - s.offset < s.begin || label - s.offset >= s.end)
			continue;
		ret_times[1] = label - s.offset;
		if (n == 0)
			ret_times[0] = ret_times[1];
		n = n == 0 ? 1 : 2;
	}
	return n;
}

static void set_fires(struct cron_note *note, const int64_t times[2])
{
	const struct cron_item *it = note->item;

	if (note->trick == CRON_GAP) {
		note->n_fires = it->skipped == CRON_UNSKIP;
		note->fires[0] = note->at - 1;
		return;
	}
	note->n_fires = it->repeated == CRON_REPEAT_BOTH ? 2 : 1;
	note->fires[0] = times[it->repeated == CRON_REPEAT_LATE];
	note->fires[1] = times[1];
}

/* Local seconds [begin, end). */
struct labels {
	int64_t begin, end;
};

static struct labels touched(const struct cron_note *note)
{
	bool gap = note->trick == CRON_GAP;

	return (struct labels){note->at + (gap ? note->before : note->after),
	    note->at + (gap ? note->after : note->before)};
}

/* A label counts only when no (or more than one) span of the zone has it: two changes may lie so
   close that one gives back what the other took. */
static void gather(struct cron_note *note, const struct cron_zone *z, struct labels year)
{
	struct labels in = touched(note);
	int64_t label = dates_next_label(note->item, in.begin > year.begin ? in.begin : year.begin);
	int64_t times[2] = {0};

	for (; label != DATES_NONE && label < in.end && label < year.end;
	     label = dates_next_label(note->item, label + 1)) {
		size_t n = instants_of(z, label, times);

		if (note->trick == CRON_GAP ? n != 0 : n < 2)
			continue;
		if (note->n_labels++ == 0) {
			note->label = label;
			set_fires(note, times);
		}
		note->last_label = label;
	}
}

void cron_explain_year(const struct cron_items *items, const struct cron_zone *z, int32_t year,
    void (*each)(const struct cron_note *note, void *arg), void *arg)
{
	struct labels local = {
	    civil_days(year, 1, 1) * DAY_SECONDS, civil_days(year + 1, 1, 1) * DAY_SECONDS};
	struct cron_span before, after;

	cron_zone_at(z, local.begin - 2 * CRON_OFFSET_MAX, &after);
	for (int n = 0; n < CHANGES_MAX && after.end < local.end + 2 * CRON_OFFSET_MAX; n++) {
		before = after;
		cron_zone_at(z, before.end, &after);
		for (size_t i = 0; i < items->n && after.offset != before.offset; i++) {
			struct cron_note note = {
			    .trick = after.offset > before.offset ? CRON_GAP : CRON_OVERLAP,
			    .item = &items->items[i],
			    .at = before.end,
			    .before = before.offset,
			    .after = after.offset};

			if (items->items[i].is_epoch)
				continue;
			gather(&note, z, local);
			if (note.n_labels)
				each(&note, arg);
		}
	}
}

static void add_day(struct buf *out, int64_t label)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	struct civil c = civil_from_seconds(label);

	buf_printf(out, "%d %.3s %d", c.day, months + 3 * (c.month - 1), c.year);
}

static void add_clock(struct buf *out, int64_t label)
{
	struct civil c = civil_from_seconds(label);

	buf_printf(out, "%02d:%02d", c.hour, c.minute);
	if (c.second)
		buf_printf(out, ":%02d", c.second);
}

/* "runs 01:59:59", with the day when that is another one. */
static void add_run(const struct cron_note *note, struct buf *out)
{
	int64_t label = note->fires[0] + note->before;

	if (label / DAY_SECONDS != note->label / DAY_SECONDS) {
		add_day(out, label);
		buf_add_char(out, ' ');
	}
	add_clock(out, label);
}

static void add_gap(const struct cron_note *note, struct buf *out)
{
	buf_add_cstr(out, " does not exist, ");
	if (note->n_fires == 0 && note->n_labels == 1) {
		buf_add_cstr(out, "does not run");
		return;
	}
	if (note->n_fires == 0) {
		buf_printf(out, "%zu runs less", note->n_labels);
		return;
	}
	if (note->n_labels == 1)
		buf_add_cstr(out, "runs ");
	else
		buf_printf(out, "its %zu runs become one at ", note->n_labels);
	add_run(note, out);
}

static void add_overlap(const struct cron_note *note, struct buf *out)
{
	bool early = note->item->repeated == CRON_REPEAT_EARLY;

	buf_add_cstr(out, " happens twice, ");
	if (note->n_labels == 1 && note->n_fires == 2)
		buf_add_cstr(out, "runs twice");
	else if (note->n_labels == 1)
		buf_printf(out, "runs once, the %s one", early ? "early" : "late");
	else if (note->n_fires == 2)
		buf_printf(out, "%zu runs more", note->n_labels);
	else
		buf_printf(out, "its %zu runs only the %s time", note->n_labels,
		    early ? "first" : "second");
}

void cron_note_write(const struct cron_note *note, struct buf *out)
{
	struct labels all = touched(note);

	add_day(out, note->label);
	buf_add_cstr(out, ": ");
	if (note->n_labels == 1) {
		add_clock(out, note->label);
	} else {
		add_clock(out, all.begin);
		buf_add_cstr(out, "–");
		add_clock(out, all.end - (all.end % 60 ? 1 : 60));
	}
	if (note->trick == CRON_GAP)
		add_gap(note, out);
	else
		add_overlap(note, out);
}
