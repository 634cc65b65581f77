/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules: their index, their tasks, and what people ask of them. tick.c makes them fire. */
#include "core/schedule/schedule.h"

#include <stdlib.h>

#include "core/state.h"

static struct str own(struct str s)
{
	return (struct str){xstrndup(s.p, s.n), s.n};
}

/* How many are in each state. */
static size_t *n_in(struct core *c)
{
	return c->objects[KIND_SCHEDULE].n_in;
}

static struct schedule *add(struct core *c, const struct schedule_row *row)
{
	struct schedule *s = xcalloc(1, sizeof *s);

	s->mono_ms = CRON_NO_MONOTONIC;
	object_add(c, &s->object, KIND_SCHEDULE, row->id, own(row->name));
	n_in(c)[s->state]++;
	return s;
}

static void forget(struct core *c, struct schedule *s)
{
	timer_clear(c, TIMER_WALL, &s->timer);
	object_del(c, &s->object);
	n_in(c)[s->state]--;
	zone_use(c, s->zone, STR_NULL);
	cron_items_release(&s->items);
	free((char *)s->object.name.p);
	free(s->packed);
	free(s->live);
	free(s);
}

static void release(struct core *c)
{
	struct schedule *s;

	while ((s = object_first(c, KIND_SCHEDULE)))
		forget(c, s);
}

void schedule_move(struct schedule_row *row, enum schedule_state_kind to)
{
	row->state = (int32_t)moves_make(&schedule_moves, (unsigned)row->state, to);
}

static void count_state(struct core *c, struct schedule *s, const struct schedule_row *row)
{
	n_in(c)[s->state]--;
	s->state = (uint8_t)row->state;
	n_in(c)[s->state]++;
}

/* The pattern and its zone; what is stored was good when it was stored. */
static int set_pattern(
    struct core *c, struct schedule *s, const struct schedule_row *row, struct problem *p)
{
	struct cron_items items;
	int code = cron_items_json(row->items, &items, p);

	if (code)
		return code;
	cron_items_release(&s->items);
	s->items = items;
	s->zone = zone_use(c, s->zone, row->zone);
	return 0;
}

static void load(struct core *c, const void *stored)
{
	const struct schedule_row *row = stored;
	struct schedule_row loaded = *row;
	struct schedule *s = add(c, row);
	struct problem ignored = {0};

	if (MUTANT(WAITING_LOST_AT_START))
		loaded.progress.waiting_s = 0;
	set_pattern(c, s, row, &ignored); /* if not: schedule_failed() says so */
	s->waits = loaded.progress.waiting_s != 0;
	count_state(c, s, &loaded);
	schedule_pack(s, &loaded);
}

void schedule_save(struct core *c, struct schedule *s, const struct schedule_row *row, bool whole,
    struct effects *out)
{
	struct arena *a = &out->batch.arena;
	struct buf items = {0};
	struct schedule_row *copy;

	s->waits = row->progress.waiting_s != 0;
	count_state(c, s, row);
	if (whole) {
		copy = row_new(a, &schedule_table, row);
		cron_items_write(&s->items, &items);
		copy->items = arena_str(a, buf_str(&items));
		buf_release(&items);
		batch_put(&out->batch, &schedule_table, copy);
	} else {
		copy = arena_zalloc(a, sizeof *row);
		copy->id = row->id;
		row_take_state(&schedule_table, copy, row);
		batch_state(&out->batch, &schedule_table, copy);
	}
	schedule_pack(s, row);
}

/* From now on, whatever the schedule was before. What has run stays remembered. */
static void begin_anew(struct core *c, struct schedule *s, struct schedule_row *row,
    bool other_pattern, struct effects *out)
{
	struct visit v = {.c = c, .s = s, .row = row, .out = out};
	struct schedule_progress *p = &row->progress;

	if (other_pattern) {
		visit_keep(&v, c->now_ms / 1000 + 1);
		p->zone_offset_s = schedule_offset_s(s, p->system_s);
	}
	visit_begin(&v, c->now_ms / 1000);
	if (row->state == SCHEDULE_FINISHED)
		schedule_move(row, SCHEDULE_ACTIVE);
}

/* The schedule's next tick is known again. */
static void save(struct core *c, struct object *o, void *changed, struct effects *out)
{
	struct schedule *s = (struct schedule *)o;
	struct schedule_row *row = changed;

	schedule_set_timer(c, s, row);
	if (row->state == SCHEDULE_ACTIVE && schedule_is_over(s, row))
		schedule_move(row, SCHEDULE_FINISHED);
	if (MUTANT(PAUSE_NOT_SAVED) && row->state == SCHEDULE_PAUSED)
		schedule_pack(s, row);
	else
		schedule_save(c, s, row, true, out);
}

static int create(
    struct core *c, const struct event *ev, rid id, struct reply *r, struct effects *out)
{
	const struct schedule_row *given = ev->object.row;
	struct schedule_row row = {.id = id,
	    .name = given->name,
	    .backoff_ms = -1,
	    .backoff_max_ms = -1,
	    .ctime_ms = c->now_ms};
	struct schedule *s = add(c, &row);
	int e = set_pattern(c, s, given, r->problem);

	if (e) {
		forget(c, s);
		return e;
	}
	row_take(&schedule_table, &row, given, ev->object.fields);
	dealt_init(&row.progress, c->now_ms / 1000 + 1);
	begin_anew(c, s, &row, false, out);
	object_changed(c, &s->object, &row, OBJECT_CREATED, ev->actor, STR_NULL, out);
	return 0;
}

static void rename_to(struct core *c, struct schedule *s, struct str name)
{
	char *old = (char *)s->object.name.p;

	object_rename(c, &s->object, own(name));
	free(old);
}

static struct str paused_reason(const struct schedule_row *row, struct arena *a)
{
	return row->pause.reason.p ? arena_strf(a, "paused: " STR_FMT, STR_ARG(row->pause.reason))
	                           : STR("paused");
}

/* What is due by now is the present pattern's; once that is another one nobody looks any more. */
static void settle_past(struct core *c, struct schedule *s, bool begins, struct effects *out)
{
	struct arena *a = &out->batch.arena;
	struct schedule_row row;
	struct visit v = {.c = c, .s = s, .row = &row, .out = out};

	schedule_look(c, s, out);
	schedule_unpack(s, a, &row);
	if (!begins || row.state == SCHEDULE_FINISHED || schedule_failed(s))
		return;
	visit_skip_past(&v, c->now_ms / 1000,
	    row.state == SCHEDULE_PAUSED ? paused_reason(&row, a)
	                                 : STR("the schedule was changed"));
	schedule_save(c, s, &row, false, out);
}

/* A schedule's history names tasks or groups, and so does what is live of it. */
static int keeps_its_kind(const struct schedule *s, const struct event *ev,
    const struct schedule_row *given, struct problem *p)
{
	const uint64_t task = ROW_BIT(schedule_table, schedule_row, body);
	const uint64_t group = ROW_BIT(schedule_table, schedule_row, group);
	struct schedule_row row;

	schedule_unpack(s, NULL, &row);
	if (!(ev->object.fields & (row.group.p ? task : group)))
		return 0;
	problem_set(p, ERR_CONFLICT, "it is a schedule of %s, and stays one",
	    row.group.p ? "groups" : "tasks");
	problem_field(p, row.group.p ? "task" : "group");
	return problem_hint(p, "make another schedule, and remove this one");
}

static int set(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	const uint64_t pattern = ROW_BIT(schedule_table, schedule_row, items);
	const uint64_t dates = ROW_BIT(schedule_table, schedule_row, start_ms) |
	                       ROW_BIT(schedule_table, schedule_row, end_ms);
	const struct schedule_row *given = ev->object.row;
	uint64_t fields = ev->object.fields;
	struct schedule *s = (struct schedule *)o;
	bool begins = fields & (pattern | dates);
	struct schedule_row row;
	rid queue;
	int e = 0;

	e = keeps_its_kind(s, ev, given, r->problem);
	if (e)
		return e;
	settle_past(c, s, begins, out);
	if (fields & pattern)
		e = set_pattern(c, s, given, r->problem);
	if (e)
		return e;
	schedule_unpack(s, &out->batch.arena, &row);
	queue = row.queue;
	row_take(&schedule_table, &row, given, fields);
	if (!str_eq(row.name, o->name))
		rename_to(c, s, row.name);
	if (queue != row.queue)
		s->n_live = 0; /* a new place: what is left in the old one overlaps with nothing */
	if (begins)
		begin_anew(c, s, &row, fields & pattern, out);
	object_changed(c, o, &row, OBJECT_CHANGED, ev->actor, STR_NULL, out);
	return 0;
}

static int pause(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	struct schedule *s = (struct schedule *)o;
	struct schedule_row row;

	schedule_look(c, s, out); /* what is due by now was due before */
	schedule_unpack(s, &out->batch.arena, &row);
	if (row.state == SCHEDULE_FINISHED)
		return problem_set(r->problem, ERR_CONFLICT, "it has no ticks left to pause");
	if (row.state != SCHEDULE_PAUSED) {
		row.paused_ms = c->now_ms;
		schedule_move(&row, SCHEDULE_PAUSED);
	}
	object_paused(c, o, &row, &row.pause, ev, out);
	return 0;
}

/* The last second that it covered: nobody may have been there when its time was over. */
static int64_t pause_end_s(const struct core *c, const struct schedule_row *row)
{
	if (!row->pause.until_ms || row->pause.until_ms > c->now_ms)
		return c->now_ms / 1000;
	return (row->pause.until_ms - 1) / 1000;
}

void schedule_resume(struct core *c, struct schedule *s, struct str actor, struct effects *out)
{
	struct schedule_row row;
	struct visit v = {.c = c, .s = s, .row = &row, .out = out};

	schedule_unpack(s, &out->batch.arena, &row);
	visit_skip_past(&v, pause_end_s(c, &row), paused_reason(&row, &out->batch.arena));
	schedule_move(&row, SCHEDULE_ACTIVE);
	row.paused_ms = 0;
	object_resumed(c, &s->object, &row, &row.pause, actor, out);
}

static int resume(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	struct schedule *s = (struct schedule *)o;
	struct schedule_row row;

	schedule_unpack(s, NULL, &row);
	if (row.state != SCHEDULE_PAUSED)
		return problem_set(r->problem, ERR_CONFLICT, "it is not paused");
	schedule_resume(c, s, ev->actor, out);
	return 0;
}

static int remove_schedule(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	batch_delete(&out->batch, &schedule_table, o->id);
	object_audit(c, o, OBJECT_DELETED, ev->actor, STR_NULL, out);
	forget(c, (struct schedule *)o);
	return 0;
}

static int act(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	struct schedule *s = (struct schedule *)o;

	return ev->object.verb == SCHEDULE_RUN ? schedule_run_now(c, ev, s, r, out)
	                                       : schedule_backfill(c, ev, s, r, out);
}

static int64_t version(const struct object *o)
{
	struct schedule_row row;

	schedule_unpack((const struct schedule *)o, NULL, &row);
	return row.version;
}

const struct object_kind schedule_kind = {
    .table = &schedule_table,
    .events = OBJECT_EVENTS("schedule"),
    .taken = HINT_CHANGE,
    .gone = HINT_LIST,
    .max = SCHEDULES_MAX,
    .load = load,
    .version = version,
    .save = save,
    .create = create,
    .set = set,
    .pause = pause,
    .resume = resume,
    .remove = remove_schedule,
    .act = act,
    .past = &schedule_past,
    .tasks = {.live = schedule_task_live,
        .ended = schedule_task_ended,
        .triggers = schedule_triggers},
    .user_of = schedule_user_of,
    .time_changed = schedules_look_all,
    .release = release,
};
