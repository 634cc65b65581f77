/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules, their ticks and times in their zones as JSON. */
#include <stdio.h>
#include <stdlib.h>

#include "api/frame/fields_out.h"
#include "api/schedules/show_schedule.h"
#include "cron/words/words.h"
#include "cron/zone/civil.h"

/* "2027-03-28T01:59:59+01:00"; with the offset's seconds where a historic zone has them. */
static void jw_local(struct buf *b, int64_t at_s, int64_t offset_s)
{
	struct civil c = civil_from_seconds(at_s + offset_s);
	int size = abs((int)offset_s);
	char text[64];
	int n = snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d%c%02d:%02d", c.year,
	    c.month, c.day, c.hour, c.minute, c.second, offset_s < 0 ? '-' : '+', size / 3600,
	    size / 60 % 60);

	if (size % 60)
		snprintf(text + n, sizeof text - (size_t)n, ":%02d", size % 60);
	jw_str(b, str_of(text));
}

static int32_t offset_at(const struct cron_zone *z, int64_t at_s)
{
	return z ? cron_zone_offset(z, at_s) : 0;
}

void jw_moment(struct buf *b, const struct cron_zone *z, int64_t at_s)
{
	struct cron_span span = {.abbrev = "UTC"};

	if (z)
		cron_zone_at(z, at_s, &span);
	jw_open(b, '{');
	jw_key(b, "utc");
	jw_time(b, at_s * 1000);
	jw_key(b, "local");
	jw_local(b, at_s, span.offset);
	jw_mi64(b, "offset_s", span.offset);
	jw_mcstr(b, "abbreviation", span.abbrev);
	jw_close(b, '}');
}

void jw_words(struct buf *b, const struct cron_items *items)
{
	struct buf words = {0};

	cron_describe(items, &words);
	while (words.n && words.p[words.n - 1] == '\n')
		words.n--;
	jw_str(b, buf_str(&words));
	buf_release(&words);
}

/* Always a list, also of one. */
void jw_items(struct buf *b, struct str text)
{
	bool bare = text.n && text.p[0] == '{';

	if (bare)
		jw_open(b, '[');
	jw_raw(b, text.n ? text : STR("[]"));
	if (bare)
		jw_close(b, ']');
}

/* Both answers in words; null when no wall clock is in it, an entry for each kind of item. */
void jw_dst(struct buf *b, const struct cron_items *items)
{
	static const char *const skipped[] = {[CRON_SKIP] = "a time that does not exist is skipped",
	    [CRON_UNSKIP] = "a time that does not exist runs one second before the gap"};
	static const char *const repeated[] = {
	    [CRON_REPEAT_BOTH] = "one that comes twice runs twice",
	    [CRON_REPEAT_EARLY] = "one that comes twice runs once, the early one",
	    [CRON_REPEAT_LATE] = "one that comes twice runs once, the late one"};
	unsigned seen = 0;

	if (!cron_items_use_zone(items)) {
		jw_null(b);
		return;
	}
	jw_open(b, '[');
	for (size_t i = 0; i < items->n; i++) {
		const struct cron_item *it = &items->items[i];
		unsigned kind = 1u << (it->skipped * 3 + it->repeated);

		if (it->is_epoch || seen & kind)
			continue;
		seen |= kind;
		jw_open(b, '"');
		buf_printf(b, "%s; %s\"", skipped[it->skipped], repeated[it->repeated]);
	}
	jw_close(b, ']');
}

static void add_duration(struct buf *b, const char *key, int64_t ms)
{
	jw_key(b, key);
	if (ms % 1000)
		buf_printf(b, "\"%lldms\"", (long long)ms);
	else
		buf_printf(b, "\"%llds\"", (long long)ms / 1000);
}

struct schedule_shown {
	const struct api *a;
	const struct schedule_row *r;
	const struct schedule_view *v; /* NULL: a draft, of which there is only the row */
	unsigned flags;
};

/* As POST takes it, so that what is shown can be given again. */
static void put_task(struct buf *b, const void *arg)
{
	const struct schedule_shown *s = arg;
	const struct schedule_row *r = s->r;
	const struct queue_row *q = core_queue(s->a->host.core, r->queue);

	if (r->group.p) {
		jw_null(b);
		return;
	}
	jw_open(b, '{');
	/* 0: a draft's, that names a queue which is made on first use */
	jw_mstr_null(b, "queue", q ? q->name : r->queue ? STR_NULL : STR("default"));
	if (s->flags & SHOW_FULL && r->body.n > 2 && r->body.p[0] == '{')
		jw_raw(b, (struct str){r->body.p + 1, r->body.n - 2});
	if (r->priority)
		jw_mi64(b, "priority", r->priority);
	if (r->max_attempts)
		jw_mi64(b, "max_attempts", r->max_attempts);
	if (r->timeout_ms)
		add_duration(b, "timeout", r->timeout_ms > 0 ? r->timeout_ms : 0);
	if (r->backoff_ms >= 0)
		add_duration(b, "backoff", r->backoff_ms);
	if (r->backoff_max_ms >= 0)
		add_duration(b, "backoff_max", r->backoff_max_ms);
	if (r->labels.n)
		jw_mlabels(b, "labels", r->labels);
	if (r->need.n)
		jw_mneed(b, "need", r->need);
	jw_close(b, '}');
}

/* A text that is JSON stands there as that, others as the text that they are. */
static void put_group(struct buf *b, const void *arg)
{
	const struct schedule_shown *s = arg;
	json_t *v;

	if (!s->r->group.p) {
		jw_null(b);
		return;
	}
	if (!(s->flags & SHOW_FULL)) {
		jw_raw(b, STR("{}"));
		return;
	}
	v = json_loadb(s->r->group.p, s->r->group.n, JSON_REJECT_DUPLICATES, NULL);
	if (json_is_object(v))
		jw_value(b, v);
	else
		jw_str(b, s->r->group);
	json_decref(v);
}

static void put_problem(struct buf *b, const void *arg)
{
	const struct schedule_shown *s = arg;

	if (s->v->failed)
		jw_str(b, str_of(s->v->failed));
	else
		jw_null(b);
}

static void put_items(struct buf *b, const void *arg)
{
	jw_items(b, ((const struct schedule_shown *)arg)->r->items);
}

static void put_words(struct buf *b, const void *arg)
{
	jw_words(b, ((const struct schedule_shown *)arg)->v->items);
}

static void put_dst(struct buf *b, const void *arg)
{
	jw_dst(b, ((const struct schedule_shown *)arg)->v->items);
}

static void put_pause(struct buf *b, const void *arg)
{
	const struct schedule_row *r = ((const struct schedule_shown *)arg)->r;

	if (r->state != SCHEDULE_PAUSED) {
		jw_null(b);
		return;
	}
	jw_open(b, '{');
	jw_mstr_null(b, "reason", r->pause.reason);
	jw_mtime_null(b, "since", r->paused_ms);
	jw_mtime_null(b, "until", r->pause.until_ms);
	jw_close(b, '}');
}

static void put_next(struct buf *b, const void *arg)
{
	const struct schedule_shown *s = arg;

	if (s->v->next_s)
		jw_time(b, s->v->next_s * 1000);
	else
		jw_null(b);
}

static void put_next_local(struct buf *b, const void *arg)
{
	const struct schedule_view *v = ((const struct schedule_shown *)arg)->v;

	if (v->next_s)
		jw_local(b, v->next_s, offset_at(v->zone, v->next_s));
	else
		jw_null(b);
}

static void put_last(struct buf *b, const void *arg)
{
	const struct schedule_shown *s = arg;
	const struct schedule_progress *p = &s->r->progress;

	if (!p->last_task) {
		jw_null(b);
		return;
	}
	jw_open(b, '{');
	jw_mtime_null(b, "tick", p->last_tick_s * 1000);
	jw_mid_null(b, "task", s->a->host.ids, s->r->group.p ? 0 : p->last_task);
	jw_mid_null(b, "group", s->a->host.ids, s->r->group.p ? p->last_task : 0);
	jw_close(b, '}');
}

static void put_live(struct buf *b, const void *arg)
{
	jw_i64(b, ((const struct schedule_shown *)arg)->v->live);
}

static const struct field_out found[] = {{"task", put_task}, {"group", put_group},
    {"problem", put_problem}, {"items", put_items}, {"words", put_words}, {"dst", put_dst},
    {"pause", put_pause}, {"next", put_next}, {"next_local", put_next_local}, {"last", put_last},
    {"live", put_live}, {NULL}};

void show_draft(struct buf *b, const struct api *a, const struct schedule_row *r)
{
	const struct schedule_shown shown = {a, r, NULL, SHOW_FULL};
	const struct showing s = {a->host.ids, r, found, &shown, true};

	fields_write(b, &s, schedule_settings);
}

void show_schedule(
    struct buf *b, const struct api *a, const struct schedule_view *v, unsigned flags)
{
	const struct schedule_shown shown = {a, &v->row, v, flags};
	const struct showing s = {a->host.ids, &v->row, found, &shown, flags & SHOW_FULL};

	jw_open(b, '{');
	fields_write(b, &s, schedule_fields);
	jw_close(b, '}');
}

/* What somebody asked for has no wall clock's label of its own. */
static int64_t tick_offset(const struct tick_row *t, const struct schedule_view *v)
{
	return t->outcome == TICK_MANUAL || t->outcome == TICK_BACKFILL
	           ? offset_at(v->zone, t->tick_s)
	           : t->offset_s;
}

void show_tick(
    struct buf *b, const struct api *a, const struct tick_row *t, const struct schedule_view *v)
{
	bool stretch = t->until_s > t->tick_s;

	jw_open(b, '{');
	jw_key(b, "tick");
	jw_time(b, t->tick_s * 1000);
	jw_key(b, "local");
	jw_local(b, t->tick_s, tick_offset(t, v));
	jw_mtime_null(b, "until", stretch ? t->until_s * 1000 : 0);
	jw_mcstr(b, "outcome", tick_outcome_names[t->outcome]);
	jw_mid_null(b, "task", a->host.ids, v->row.group.p ? 0 : t->task);
	jw_mid_null(b, "group", a->host.ids, v->row.group.p ? t->task : 0);
	jw_mtime_null(b, "decided", t->time_ms);
	jw_mi64(b, "late_by_ms", t->shift_s * 1000);
	jw_mstr_null(b, "reason", t->reason);
	jw_close(b, '}');
}
