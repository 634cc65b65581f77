/* SPDX-License-Identifier: Apache-2.0 */
/* A schedule's ticks: those to come, those that were, and tasks that somebody asks for. */
#include <stdio.h>

#include "api/objects/resource.h"
#include "api/schedules/schedule_in.h"
#include "api/schedules/show_schedule.h"
#include "wire/json/fields.h"

static bool makes_groups(const struct call *c, rid schedule)
{
	struct schedule_view v;

	return core_schedule(c->host->core, schedule, NULL, &v) && v.row.group.p;
}

static void add_ids(struct call *c, const char *key, const struct reply *r, size_t n)
{
	jw_key(&c->out, key);
	jw_open(&c->out, '[');
	for (size_t i = 0; i < n; i++)
		jw_id(&c->out, c->host->ids, r->outcomes[i].id);
	jw_close(&c->out, ']');
}

static void add_tasks(struct call *c, const struct reply *r)
{
	bool groups = makes_groups(c, r->id);
	struct buf *b = &c->out;

	jw_open(b, '{');
	jw_mid_null(b, "schedule", c->host->ids, r->id);
	add_ids(c, "tasks", r, groups ? 0 : r->n);
	if (groups)
		add_ids(c, "groups", r, r->n);
	jw_close(b, '}');
}

static void run_done(struct call *c, const struct reply *r)
{
	if (call_refused(c, r))
		return;
	if (r->n)
		call_location(
		    c, makes_groups(c, r->id) ? "/v1/groups/" : "/v1/tasks/", r->outcomes[0].id);
	add_tasks(c, r);
	call_json(c, 201);
}

void schedules_run(struct call *c)
{
	struct event ev = {.kind = EV_DO, .object.verb = SCHEDULE_RUN};

	if (resource_begin(c, &ev))
		call_command(c, &ev, run_done);
}

struct stretch {
	int64_t from_ms, to_ms;
};

#define NOT_GIVEN INT64_MIN
const struct field backfill_fields[] = {
    FIELD("from", FIELD_PAST, stretch, from_ms, .flags = FIELD_GIVEN | FIELD_NEEDED,
        .about = "a time, or a duration ago"),
    FIELD("to", FIELD_PAST, stretch, to_ms, .flags = FIELD_GIVEN | FIELD_NULL_GIVEN,
        .about = "a time, or a duration ago; null: now"),
    {NULL},
};

static int check_stretch(const struct stretch *s, struct problem *p)
{
	if (s->from_ms == NOT_GIVEN) {
		problem_set(p, ERR_INVALID, "a backfill needs a \"from\"");
		problem_hint(
		    p, "a time, or a duration ago: {\"from\":\"2d\"}; \"to\" is now unless given");
		return problem_field(p, "from");
	}
	if (s->from_ms >= 0 && s->from_ms < s->to_ms)
		return 0;
	problem_set(p, ERR_INVALID,
	    s->from_ms < 0 ? "\"from\" lies before 1970" : "\"from\" does not lie before \"to\"");
	return problem_field(p, "from");
}

static void backfill_done(struct call *c, const struct reply *r)
{
	if (call_refused(c, r))
		return;
	add_tasks(c, r);
	call_json(c, 200);
}

static int64_t up_to_second(int64_t ms)
{
	return ms / 1000 + (ms % 1000 > 0);
}

void schedules_backfill(struct call *c)
{
	struct event ev = {.kind = EV_DO, .object.verb = SCHEDULE_BACKFILL};
	struct stretch s = {.from_ms = NOT_GIVEN};
	const struct fields_in r = {
	    .into = &s, .problem = &c->problem, .now_ms = c->host->wall_ms(c->host->arg)};

	if (!resource_begin(c, &ev) || !call_fields(c, &r, backfill_fields))
		return;
	if (!s.to_ms)
		s.to_ms = r.now_ms;
	if (check_stretch(&s, &c->problem)) {
		call_problem(c);
		return;
	}
	ev.object.from_s = up_to_second(s.from_ms);
	ev.object.to_s = up_to_second(s.to_ms);
	call_command(c, &ev, backfill_done);
}

struct history {
	struct part_query query;
	struct tick_row after;
	struct part_page page;
};

/* A place in the list: when it was decided, which tick, by which label. */
static bool read_cursor(struct call *c, struct history *h)
{
	struct str rest = c->query[Q_CURSOR], part;
	int64_t *to[] = {&h->after.time_ms, &h->after.tick_s, &h->after.offset_s};

	if (!rest.p)
		return true;
	h->query.after = &h->after;
	for (int i = 0; i < 3; i++)
		if (!str_next(&rest, '.', &part) ||
		    !str_to_i64(part, i ? INT64_MIN : 1, INT64_MAX, to[i]))
			break;
		else if (i == 2 && !rest.p)
			return true;
	problem_set(&c->problem, ERR_INVALID, "\"cursor\" is not the `next` of an earlier page");
	problem_field(&c->problem, "cursor");
	call_problem(c);
	return false;
}

static void read_history(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct history *h = c->state;

	c->code = store_parts(r, &h->query, &c->arena, &h->page);
}

/* One more than was asked for is read: then there is a next page. */
static void history_done(struct call *c)
{
	struct history *h = c->state;
	struct buf *b = &c->out;
	const struct tick_row *rows = h->page.rows;
	size_t n = h->page.n, shown = n < h->query.limit ? n : h->query.limit - 1;
	struct schedule_view v = {0};

	if (call_read_failed(c))
		return;
	core_schedule(c->host->core, c->about, NULL, &v);
	jw_open(b, '{');
	jw_key(b, "items");
	jw_open(b, '[');
	for (size_t i = 0; i < shown; i++)
		show_tick(b, c->api, &rows[i], &v);
	jw_close(b, ']');
	jw_key(b, "next");
	if (n > shown && shown)
		buf_printf(b, "\"%lld.%lld.%lld\"", (long long)rows[shown - 1].time_ms,
		    (long long)rows[shown - 1].tick_s, (long long)rows[shown - 1].offset_s);
	else
		jw_null(b);
	jw_close(b, '}');
	call_json(c, 200);
}

void schedules_history(struct call *c)
{
	struct history *h = call_state(c, sizeof *h);
	struct schedule_view v;
	int64_t limit = 100;

	if (!path_schedule(c, &v) || !call_int(c, Q_LIMIT, 1, 1000, &limit) || !read_cursor(c, h))
		return;
	h->query.table = &tick_table;
	h->query.object = h->after.schedule = c->about;
	h->query.limit = (uint32_t)limit + 1;
	call_read_long(c, read_history, history_done);
}

/* By its pattern and dates, whether it is paused or not. */
static bool next_after(const struct schedule_view *v, int64_t from_s, int64_t *ret_s)
{
	const struct schedule_row *r = &v->row;
	int64_t start_s = up_to_second(r->start_ms);

	if (r->start_ms && from_s < start_s)
		from_s = start_s;
	return cron_items_next(v->items, v->zone, from_s, ret_s) &&
	       (!r->end_ms || *ret_s * 1000 <= r->end_ms);
}

void schedules_next(struct call *c)
{
	int64_t n = 5, now_s = c->host->wall_ms(c->host->arg) / 1000, at;
	struct buf *b = &c->out;
	struct schedule_view v;

	if (!path_schedule(c, &v) || !call_int(c, Q_N, 1, 100, &n))
		return;
	if (v.failed) {
		call_fail(c, ERR_CONFLICT, v.failed);
		return;
	}
	at = now_s;
	jw_open(b, '{');
	jw_mstr_null(b, "time_zone", v.row.zone);
	jw_key(b, "items");
	jw_open(b, '[');
	while (n-- > 0 && next_after(&v, at + 1, &at))
		jw_moment(b, v.zone, at);
	jw_close(b, ']');
	jw_close(b, '}');
	call_json(c, 200);
}
