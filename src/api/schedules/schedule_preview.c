/* SPDX-License-Identifier: Apache-2.0 */
/* What a pattern of times would mean, for whoever is still writing it. */
#include "api/schedules/schedule_in.h"
#include "api/schedules/show_schedule.h"
#include "cron/words/words.h"
#include "cron/zone/civil.h"
#include "wire/json/fields.h"

#define PREVIEW_MAX 100
#define NOTES_MAX 400 /* of a year: no zone moves its clocks that often */

#define F(name, kind, member, text, ...)                         \
	FIELD(name, kind, preview, member, .flags = FIELD_GIVEN, \
	    .about = text __VA_OPT__(, ) __VA_ARGS__)
const struct field preview_fields[] = {
    PATTERN_FIELDS,
    F("from", FIELD_TIME, from_ms, "a time, or a duration from now"),
    F("n", FIELD_I64, n, "so many times to come; 5 unless said", .max = PREVIEW_MAX),
    F("year", FIELD_I64, year, "daylight saving of this year", .min = CRON_YEAR_MIN,
        .max = CRON_YEAR_MAX),
    {NULL},
};

static int read_members(struct call *c, json_t *body, struct preview *w)
{
	struct problem *p = &c->problem;
	const struct fields_in r = {
	    .arena = &c->arena, .into = w, .problem = p, .now_ms = w->now_ms};
	int rc = fields_read(&r, preview_fields, body, "");

	if (rc || (w->from_ms >= 0 && w->from_ms <= CRON_TIME_MAX * 1000))
		return rc;
	problem_set(p, ERR_INVALID, "\"from\" lies before 1970 or after 9999");
	return problem_field(p, "from");
}

struct notes {
	struct buf *out;
	const struct cron_zone *zone;
	size_t n;
};

static void add_note(const struct cron_note *note, void *arg)
{
	struct notes *notes = arg;
	struct buf *b = notes->out, text = {0};

	if (notes->n++ >= NOTES_MAX)
		return;
	cron_note_write(note, &text);
	jw_open(b, '{');
	jw_mstr(b, "text", buf_str(&text));
	jw_mcstr(b, "trick", note->trick == CRON_GAP ? "gap" : "overlap");
	jw_key(b, "at");
	jw_moment(b, notes->zone, note->at);
	jw_mi64(b, "labels", (int64_t)note->n_labels);
	jw_key(b, "runs");
	jw_open(b, '[');
	for (size_t i = 0; i < note->n_fires; i++)
		jw_moment(b, notes->zone, note->fires[i]);
	jw_close(b, ']');
	jw_close(b, '}');
	buf_release(&text);
}

/* The asked year, or this one and the next. */
static void add_daylight(struct call *c, const struct preview *w, const struct pattern *p)
{
	struct notes notes = {.out = &c->out, .zone = p->ref ? p->ref->zone : NULL};
	int64_t from_s = w->from_ms / 1000;
	int64_t offset = notes.zone ? cron_zone_offset(notes.zone, from_s) : 0;
	int32_t year = w->year ? (int32_t)w->year : civil_from_seconds(from_s + offset).year;

	jw_key(&c->out, "daylight_saving");
	jw_open(&c->out, '[');
	if (notes.zone) {
		cron_explain_year(&p->items, notes.zone, year, add_note, &notes);
		if (!w->year && year < CRON_YEAR_MAX)
			cron_explain_year(&p->items, notes.zone, year + 1, add_note, &notes);
	}
	jw_close(&c->out, ']');
}

static void add_next(struct call *c, const struct preview *w, const struct pattern *p)
{
	const struct cron_zone *z = p->ref ? p->ref->zone : NULL;
	int64_t at = w->from_ms / 1000 + (w->from_ms % 1000 > 0) - 1;

	jw_key(&c->out, "next");
	jw_open(&c->out, '[');
	for (int64_t i = 0; i < w->n && cron_items_next(&p->items, z, at + 1, &at); i++) {
		if (at > w->until_ms / 1000)
			break;
		jw_moment(&c->out, z, at);
	}
	jw_close(&c->out, ']');
}

void preview_add(struct call *c, const struct preview *w, const struct pattern *p)
{
	struct buf *b = &c->out;

	jw_key(b, "words");
	jw_words(b, &p->items);
	jw_mstr_null(b, "source", p->source);
	jw_mstr_null(b, "time_zone", p->zone);
	jw_key(b, "items");
	jw_items(b, p->text);
	jw_key(b, "dst");
	jw_dst(b, &p->items);
	jw_mcstr(b, "either_or", cron_either_or_words(&p->items));
	add_next(c, w, p);
	add_daylight(c, w, p);
}

static void answer(struct call *c, const struct preview *w, const struct pattern *p)
{
	jw_open(&c->out, '{');
	preview_add(c, w, p);
	jw_close(&c->out, '}');
	call_json(c, 200);
}

void schedules_preview(struct call *c)
{
	struct preview w = {.n = PREVIEW_N,
	    .now_ms = c->host->wall_ms(c->host->arg),
	    .until_ms = CRON_TIME_MAX * 1000};
	struct pattern_members members;
	struct pattern p = {0};
	json_t *body;

	if (!call_body(c, &body))
		return;
	w.from_ms = w.now_ms;
	pattern_in_find(body, &members);
	if (read_members(c, body, &w) || pattern_in_make(c, &members, NULL, &p))
		call_problem(c);
	else
		answer(c, &w, &p);
	pattern_in_release(&p);
	json_decref(body);
}
