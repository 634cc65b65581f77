/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From labels (seconds on the wall clock) to instants. A zone's spans map instants to labels; where
 * the offset grows, labels are left out (a gap), where it shrinks, they come again. Zones do both
 * more than once a day now and then, so a label counts as skipped only when no span has it, and
 * "early" and "late" are the first and last of all spans that have it.
 *
 * Offsets are bounded, so only spans within two greatest offsets of an instant can share its label:
 * mostly that is the span itself, and one look at the zone is enough.
 */
#include "cron/pattern/dates.h"

#include "cron/zone/civil.h"

#define REACH (2 * (int64_t)CRON_OFFSET_MAX) /* two instants of one label are not further apart */
#define NO_LABEL INT64_MAX

struct search {
	const struct cron_item *it;
	const struct cron_zone *zone;
	/* The answer that was found last: no label lies in [asked, found). Rare dates take long. */
	int64_t asked, found;
};

/* A span's labels: [first, end). */
static bool span_has(const struct cron_span *s, int64_t label)
{
	return label - s->offset >= s->begin && label - s->offset < s->end;
}

static bool before(const struct cron_zone *z, struct cron_span *s)
{
	if (s->begin == INT64_MIN)
		return false;
	cron_zone_at(z, s->begin - 1, s);
	return true;
}

static bool after(const struct cron_zone *z, struct cron_span *s)
{
	if (s->end == INT64_MAX)
		return false;
	cron_zone_at(z, s->end, s);
	return true;
}

/*
 * Another span that has the label, before (or after) the given one: the label behind that span's
 * last is returned, up to which there is nothing to look for; `label` itself when there is none.
 */
static int64_t pass_earlier(const struct search *q, struct cron_span s, int64_t label)
{
	int64_t instant = label - s.offset;

	while (s.begin > instant - REACH && before(q->zone, &s))
		if (span_has(&s, label))
			return s.end + s.offset;
	return label;
}

static int64_t pass_later(const struct search *q, struct cron_span s, int64_t label)
{
	int64_t instant = label - s.offset;

	while (s.end < instant + REACH && after(q->zone, &s))
		if (span_has(&s, label))
			return s.end == INT64_MAX ? NO_LABEL : s.end + s.offset;
	return label;
}

static int64_t next_label(struct search *q, int64_t from)
{
	int64_t label;

	if (from == NO_LABEL || (from >= q->asked && from <= q->found))
		return from == NO_LABEL ? NO_LABEL : q->found;
	label = dates_next_label(q->it, from);
	q->asked = from;
	q->found = label == DATES_NONE ? NO_LABEL : label;
	return q->found;
}

/* The first label at or after one that the item wants to fire at in this very span. */
static int64_t first_in_span(struct search *q, const struct cron_span *s, int64_t from)
{
	int64_t label = next_label(q, from), passed;

	while (label != NO_LABEL && label - s->offset < s->end) {
		passed = label;
		if (q->it->repeated == CRON_REPEAT_EARLY)
			passed = pass_earlier(q, *s, label);
		if (q->it->repeated == CRON_REPEAT_LATE)
			passed = pass_later(q, *s, label);
		if (passed == label)
			break;
		label = next_label(q, passed);
	}
	return label;
}

/* A transition before this span has skipped the label already: the event was then. */
static bool skipped_before(const struct search *q, struct cron_span s, int64_t label)
{
	int64_t limit = s.end - REACH, offset = s.offset, at = s.begin;

	while (at > limit && before(q->zone, &s)) {
		if (label >= at + s.offset && label < at + offset)
			return true;
		offset = s.offset;
		at = s.begin;
	}
	return false;
}

/* The first label that matches and that the clock never shows, since it jumps where s ends. */
static bool gap_matches(struct search *q, const struct cron_span *s)
{
	struct cron_span next = *s;
	int64_t label, passed, end;

	if (!after(q->zone, &next) || next.offset <= s->offset)
		return false;
	end = s->end + next.offset;
	for (label = next_label(q, s->end + s->offset); label < end;
	     label = next_label(q, passed)) {
		passed = pass_earlier(q, *s, label);
		if (passed == label)
			passed = pass_later(q, next, label);
		if (passed == label && !skipped_before(q, *s, label))
			return true;
		if (passed == label)
			passed++;
	}
	return false;
}

/* When nothing fires from t to the end of its span, whose next label is `label`: where to go on. */
static int64_t jump(const struct cron_span *s, int64_t t, int64_t label)
{
	/* Labels before t's can only come again if the clock goes back soon. */
	if (s->end < t + s->offset + CRON_OFFSET_MAX || label == NO_LABEL)
		return s->end;
	return label - CRON_OFFSET_MAX > s->end ? label - CRON_OFFSET_MAX : s->end;
}

/* Nothing can fire any more: all labels are behind t, out of reach of any turning back. */
static bool is_over(const struct cron_span *s, int64_t t, int64_t label)
{
	return label == NO_LABEL &&
	       (s->end == INT64_MAX || s->end >= t + s->offset + CRON_OFFSET_MAX);
}

static bool next_on_wall(struct search *q, int64_t t, int64_t *ret_time)
{
	struct cron_span s;
	int64_t label;

	if (t < 0)
		t = 0;
	while (t <= CRON_TIME_MAX) {
		cron_zone_at(q->zone, t, &s);
		label = first_in_span(q, &s, t + s.offset);
		if (label != NO_LABEL && label - s.offset < s.end) {
			*ret_time = label - s.offset;
			return true;
		}
		if (q->it->skipped == CRON_UNSKIP && gap_matches(q, &s)) {
			*ret_time = s.end - 1;
			return true;
		}
		label = next_label(q, t + s.offset);
		if (is_over(&s, t, label))
			return false;
		t = jump(&s, t, label);
	}
	return false;
}

static bool next_epoch(const struct cron_item *it, int64_t t, int64_t *ret_time)
{
	int64_t best = INT64_MAX;

	for (size_t i = 0; i < it->n_ranges && it->ranges[i].start < best; i++) {
		int64_t next = cron_range_next(&it->ranges[i], t);
		best = next < best ? next : best;
	}
	*ret_time = best;
	return best != INT64_MAX;
}

static bool cron_item_next(
    const struct cron_item *it, const struct cron_zone *z, int64_t t, int64_t *ret_time)
{
	struct search q = {it, z, 0, INT64_MIN};
	int64_t time;

	if (!(it->is_epoch ? next_epoch(it, t, &time) : next_on_wall(&q, t, &time)))
		return false;
	if (time > CRON_TIME_MAX) /* west of UTC the wall clock's 9999 ends later than UTC's */
		return false;
	*ret_time = time;
	return true;
}

bool cron_items_next(
    const struct cron_items *items, const struct cron_zone *z, int64_t t, int64_t *ret_time)
{
	int64_t time, best = 0;
	bool found = false;

	for (size_t i = 0; i < items->n; i++)
		if (cron_item_next(&items->items[i], z, t, &time) && (!found || time < best)) {
			best = time;
			found = true;
		}
	if (found)
		*ret_time = best;
	return found;
}

/* The last match is the last time whose next match is not later: growing steps back, then halves.
 */
bool cron_items_last(
    const struct cron_items *items, const struct cron_zone *z, int64_t t, int64_t *ret_time)
{
	int64_t late, early, step = 1, match = 0;

	if (t > CRON_TIME_MAX)
		t = CRON_TIME_MAX;
	late = t + 1;
	early = t;
	while (early >= 0 && (!cron_items_next(items, z, early, &match) || match > t)) {
		late = early;
		early -= step;
		step *= 2;
	}
	if (early < 0 && (!cron_items_next(items, z, 0, &match) || match > t))
		return false;
	early = match;
	while (late - early > 1) {
		int64_t middle = early + (late - early) / 2;

		if (cron_items_next(items, z, middle, &match) && match <= t)
			early = match;
		else
			late = middle;
	}
	*ret_time = early;
	return true;
}
