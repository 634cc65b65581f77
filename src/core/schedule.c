/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules: their index, their tasks, and what people ask of them. tick.c makes them fire. */
#include "core/internal.h"

#include <stdlib.h>

static int name_cmp(const struct schedule *a, const struct schedule *b)
{
	return str_cmp(a->name, b->name);
}

RB_PROTOTYPE(schedule_names, schedule, by_name, name_cmp)
RB_GENERATE(schedule_names, schedule, by_name, name_cmp)

struct schedule *schedule_find(const struct core *c, rid id)
{
	return idmap_get(&c->schedules.by_id, id);
}

struct schedule *schedule_find_name(const struct core *c, struct str name)
{
	struct schedule probe = {.name = name};

	return RB_FIND(schedule_names, &((struct core *)c)->schedules.names, &probe);
}

struct schedule *schedule_after(const struct core *c, struct str name)
{
	struct schedule_names *names = &((struct core *)c)->schedules.names;
	struct schedule probe = {.name = name}, *s;

	if (!name.p)
		return RB_MIN(schedule_names, names);
	s = RB_NFIND(schedule_names, names, &probe);
	return s && str_eq(s->name, name) ? RB_NEXT(schedule_names, names, s) : s;
}

static struct str own(struct str s)
{
	return (struct str){xstrndup(s.p, s.n), s.n};
}

static struct schedule *add(struct core *c, const struct schedule_row *row)
{
	struct schedule *s = xcalloc(1, sizeof *s);

	s->id = row->id;
	s->name = own(row->name);
	s->mono_ms = CRON_NO_MONOTONIC;
	idmap_put(&c->schedules.by_id, s->id, s);
	MUST(!RB_INSERT(schedule_names, &c->schedules.names, s));
	c->schedules.n++;
	c->schedules.n_in[s->state]++;
	return s;
}

static void forget(struct core *c, struct schedule *s)
{
	heap_del(&c->schedules.timers, &s->timer);
	idmap_del(&c->schedules.by_id, s->id);
	RB_REMOVE(schedule_names, &c->schedules.names, s);
	c->schedules.n--;
	c->schedules.n_in[s->state]--;
	zone_use(c, s, STR_NULL);
	cron_items_release(&s->items);
	free((char *)s->name.p);
	free(s->packed);
	free(s->live);
	free(s);
}

void schedules_release(struct core *c)
{
	struct schedule *s;

	while ((s = RB_MIN(schedule_names, &c->schedules.names)))
		forget(c, s);
	zones_forget(c);
	idmap_release(&c->schedules.by_id);
	heap_release(&c->schedules.timers);
}

static void count_state(struct core *c, struct schedule *s, const struct schedule_row *row)
{
	c->schedules.n_in[s->state]--;
	s->state = (uint8_t)row->state;
	c->schedules.n_in[s->state]++;
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
	zone_use(c, s, row->zone);
	return 0;
}

void schedule_load(struct core *c, const struct schedule_row *row)
{
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
		copy = schedule_row_copy(a, row);
		cron_items_write(&s->items, &items);
		copy->items = arena_str(a, buf_str(&items));
		buf_release(&items);
		batch_add(&out->batch, ROW_SCHEDULE_PUT)->schedule = copy;
	} else {
		copy = arena_memdup(a, row, sizeof *row);
		copy->name = copy->items = copy->source = copy->zone = STR_NULL;
		copy->labels = copy->body = copy->pause_reason = STR_NULL;
		batch_add(&out->batch, ROW_SCHEDULE_PROGRESS)->schedule = copy;
	}
	schedule_pack(s, row);
}

static int not_there(struct reply *r)
{
	problem_set(r->problem, ERR_NOT_FOUND, "there is no such schedule");
	return reply_hint(r, HINT_SCHEDULES, STR_NULL);
}

static int name_taken(struct core *c, struct str name, const struct schedule *self, struct reply *r)
{
	struct schedule *other = schedule_find_name(c, name);

	if (!other || other == self)
		return 0;
	r->id = other->id;
	problem_set(
	    r->problem, ERR_CONFLICT, "there is a schedule \"" STR_FMT "\" already", STR_ARG(name));
	return reply_hint(r, HINT_SCHEDULE_CHANGE, name);
}

#define GIVEN(ch, f) ((ch)->fields & (1u << (f)))

static void apply_task(struct schedule_row *row, const struct schedule_row *n)
{
	row->queue = n->queue;
	row->priority = n->priority;
	row->max_attempts = n->max_attempts;
	row->timeout_ms = n->timeout_ms;
	row->backoff_ms = n->backoff_ms;
	row->backoff_max_ms = n->backoff_max_ms;
	row->labels = n->labels;
	row->body = n->body;
}

static void apply(struct schedule_row *row, const struct schedule_change *ch)
{
	const struct schedule_row *n = &ch->row;

	if (GIVEN(ch, SF_ITEMS)) {
		row->source = n->source;
		row->zone = n->zone;
	}
	if (GIVEN(ch, SF_TASK))
		apply_task(row, n);
	if (GIVEN(ch, SF_OVERLAP))
		row->overlap = n->overlap;
	if (GIVEN(ch, SF_MISSED))
		row->missed = n->missed;
	if (GIVEN(ch, SF_MAX_SHIFT))
		row->max_shift_s = n->max_shift_s;
	if (GIVEN(ch, SF_JITTER))
		row->jitter_ms = n->jitter_ms;
	if (GIVEN(ch, SF_START))
		row->start_ms = n->start_ms;
	if (GIVEN(ch, SF_END))
		row->end_ms = n->end_ms;
}

/* Whatever it was before: from now on. What has run stays remembered. */
static void begin_anew(struct core *c, struct schedule *s, struct schedule_row *row,
    bool other_pattern, struct effects *out)
{
	struct look l = {.c = c, .s = s, .row = row, .out = out};
	struct schedule_progress *p = &row->progress;

	if (other_pattern) {
		look_keep(&l, c->now_ms / 1000 + 1);
		p->zone_offset_s = schedule_offset_s(s, p->system_s);
	}
	look_begin(&l, c->now_ms / 1000);
	if (row->state == SCHEDULE_FINISHED)
		row->state = SCHEDULE_ACTIVE;
}

/* After any change: saved, announced, and its next tick is known again. */
static void changed(struct core *c, struct schedule *s, struct schedule_row *row,
    const struct event *ev, const char *what, struct str detail, struct effects *out)
{
	row->version++;
	row->mtime_ms = c->now_ms;
	schedule_set_timer(c, s, row);
	if (row->state == SCHEDULE_ACTIVE && schedule_is_over(s, row))
		row->state = SCHEDULE_FINISHED;
	if (MUTANT(PAUSE_NOT_SAVED) && row->state == SCHEDULE_PAUSED)
		schedule_pack(s, row);
	else
		schedule_save(c, s, row, true, out);
	audit_schedule(c, what, s, ev->actor, detail, out);
}

static int create(struct core *c, const struct event *ev, struct reply *r, struct effects *out)
{
	const struct schedule_change *ch = ev->schedule.change;
	struct schedule_row row = {
	    .name = ch->row.name, .backoff_ms = -1, .backoff_max_ms = -1, .ctime_ms = c->now_ms};
	struct schedule *s;
	int e = name_taken(c, ch->row.name, NULL, r);

	if (!e && c->schedules.n >= SCHEDULES_MAX)
		e = problem_set(r->problem, ERR_CONFLICT,
		    "there are %d schedules already, which is the limit", SCHEDULES_MAX);
	if (e)
		return e;
	row.id = c->last_id = id_next(c->last_id, c->now_ms);
	s = add(c, &row);
	e = set_pattern(c, s, &ch->row, r->problem);
	if (e) {
		forget(c, s);
		return e;
	}
	apply(&row, ch);
	dealt_init(&row.progress, c->now_ms / 1000 + 1);
	begin_anew(c, s, &row, false, out);
	changed(c, s, &row, ev, "schedule.created", STR_NULL, out);
	r->id = row.id;
	return 0;
}

static void rename_to(struct core *c, struct schedule *s, struct str name)
{
	RB_REMOVE(schedule_names, &c->schedules.names, s);
	free((char *)s->name.p);
	s->name = own(name);
	RB_INSERT(schedule_names, &c->schedules.names, s);
}

static struct str paused_reason(const struct schedule_row *row, struct arena *a)
{
	return row->pause_reason.p ? arena_strf(a, "paused: " STR_FMT, STR_ARG(row->pause_reason))
	                           : STR("paused");
}

/* What is due by now is the present pattern's; once that is another one nobody looks any more. */
static void settle_past(struct core *c, struct schedule *s, bool begins, struct effects *out)
{
	struct arena *a = &out->batch.arena;
	struct schedule_row row;
	struct look l = {.c = c, .s = s, .row = &row, .out = out};

	schedule_look(c, s, out);
	schedule_unpack(s, a, &row);
	if (!begins || row.state == SCHEDULE_FINISHED || schedule_failed(s))
		return;
	look_skip_past(&l, c->now_ms / 1000,
	    row.state == SCHEDULE_PAUSED ? paused_reason(&row, a)
	                                 : STR("the schedule was changed"));
	schedule_save(c, s, &row, false, out);
}

static int set(struct core *c, const struct event *ev, struct schedule *s, struct reply *r,
    struct effects *out)
{
	const struct schedule_change *ch = ev->schedule.change;
	bool begins = GIVEN(ch, SF_ITEMS) || GIVEN(ch, SF_START) || GIVEN(ch, SF_END);
	struct schedule_row row;
	int e = GIVEN(ch, SF_NAME) ? name_taken(c, ch->row.name, s, r) : 0;

	if (!e)
		settle_past(c, s, begins, out);
	if (!e && GIVEN(ch, SF_ITEMS))
		e = set_pattern(c, s, &ch->row, r->problem);
	if (e)
		return e;
	if (GIVEN(ch, SF_NAME))
		rename_to(c, s, ch->row.name);
	schedule_unpack(s, &out->batch.arena, &row);
	if (GIVEN(ch, SF_TASK) && ch->row.queue != row.queue)
		s->n_live = 0; /* a new place: what is left in the old one overlaps with nothing */
	apply(&row, ch);
	if (begins)
		begin_anew(c, s, &row, GIVEN(ch, SF_ITEMS), out);
	changed(c, s, &row, ev, "schedule.changed", STR_NULL, out);
	return 0;
}

static int pause(struct core *c, const struct event *ev, struct schedule *s, struct reply *r,
    struct effects *out)
{
	struct schedule_row row;

	schedule_look(c, s, out); /* what is due by now was due before */
	schedule_unpack(s, &out->batch.arena, &row);
	if (row.state == SCHEDULE_FINISHED)
		return problem_set(r->problem, ERR_CONFLICT, "it has no ticks left to pause");
	if (row.state != SCHEDULE_PAUSED)
		row.paused_ms = c->now_ms;
	row.state = SCHEDULE_PAUSED;
	row.pause_reason = ev->schedule.reason;
	row.paused_until_ms = ev->schedule.until_ms;
	changed(c, s, &row, ev, "schedule.paused",
	    ev->schedule.reason.p ? detail_of(&out->batch.arena, "reason", ev->schedule.reason)
	                          : STR_NULL,
	    out);
	return 0;
}

/* The last second that it covered: nobody may have been there when its time was over. */
static int64_t pause_end_s(const struct core *c, const struct schedule_row *row)
{
	if (!row->paused_until_ms || row->paused_until_ms > c->now_ms)
		return c->now_ms / 1000;
	return (row->paused_until_ms - 1) / 1000;
}

void schedule_resume(struct core *c, struct schedule *s, struct str actor, struct effects *out)
{
	struct event by = {.actor = actor};
	struct schedule_row row;
	struct look l = {.c = c, .s = s, .row = &row, .out = out};

	schedule_unpack(s, &out->batch.arena, &row);
	look_skip_past(&l, pause_end_s(c, &row), paused_reason(&row, &out->batch.arena));
	row.state = SCHEDULE_ACTIVE;
	row.pause_reason = STR_NULL;
	row.paused_ms = row.paused_until_ms = 0;
	changed(c, s, &row, &by, "schedule.resumed", STR_NULL, out);
}

static int resume(struct core *c, const struct event *ev, struct schedule *s, struct reply *r,
    struct effects *out)
{
	struct schedule_row row;

	schedule_unpack(s, NULL, &row);
	if (row.state != SCHEDULE_PAUSED)
		return problem_set(r->problem, ERR_CONFLICT, "it is not paused");
	schedule_resume(c, s, ev->actor, out);
	return 0;
}

static int delete (struct core *c, const struct event *ev, struct schedule *s, struct effects *out)
{
	batch_add(&out->batch, ROW_SCHEDULE_DELETE)->id = s->id;
	audit_schedule(c, "schedule.deleted", s, ev->actor, STR_NULL, out);
	forget(c, s);
	return 0;
}

static int check_version(const struct schedule *s, const struct event *ev, struct reply *r)
{
	struct schedule_row row;

	schedule_unpack(s, NULL, &row);
	if (!ev->schedule.if_version || ev->schedule.if_version == row.version)
		return 0;
	problem_set(r->problem, ERR_PRECONDITION, "the schedule was changed in the meantime");
	return problem_hint(r->problem, "read it again, then repeat the change with its new ETag");
}

int run_schedule_command(
    struct core *c, const struct event *ev, struct reply *r, struct effects *out)
{
	struct schedule *s;
	int e;

	if (ev->kind == EV_SCHEDULE_CREATE)
		return create(c, ev, r, out);
	s = schedule_find(c, ev->schedule.id);
	if (!s)
		return not_there(r);
	r->id = s->id;
	e = check_version(s, ev, r);
	if (e)
		return e;
	switch (ev->kind) {
	case EV_SCHEDULE_SET: return set(c, ev, s, r, out);
	case EV_SCHEDULE_PAUSE: return pause(c, ev, s, r, out);
	case EV_SCHEDULE_RESUME: return resume(c, ev, s, r, out);
	case EV_SCHEDULE_DELETE: return delete (c, ev, s, out);
	case EV_SCHEDULE_RUN: return schedule_run_now(c, ev, s, r, out);
	default: return schedule_backfill(c, ev, s, r, out);
	}
}
