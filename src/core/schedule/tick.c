/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules on the clock: each has one timer, for its next tick. When the clock or a zone was
 * changed all of them are looked at, since their ticks may have come, gone, or come again.
 */
#include "core/state.h"

#include "core/schedule/schedule.h"

#define ON_TIME_S 60    /* a short restart is no reason to call anything missed, */
#define ON_TIME_SHARE 2 /* unless the next tick is nearer than that: half way is the limit */
#define TICKS_PER_LOOK 200
#define GATHERED_PER_LOOK 20000 /* missed ones that one row stands for cost next to nothing */

int64_t schedule_offset_s(const struct schedule *s, int64_t at_s)
{
	return s->zone && s->zone->zone ? cron_zone_offset(s->zone->zone, at_s) : 0;
}

const char *schedule_failed(const struct schedule *s)
{
	if (!s->items.n)
		return "its stored pattern cannot be read: set it anew";
	if (cron_items_use_zone(&s->items) && !(s->zone && s->zone->zone))
		return "this server does not know its time zone: install tzdata, or set another "
		       "zone";
	return NULL;
}

int64_t schedule_next_s(const struct schedule *s, const struct schedule_row *row, int64_t from_s)
{
	int64_t start_s = row->start_ms / 1000 + (row->start_ms % 1000 > 0), next;

	if (schedule_failed(s))
		return 0;
	if (row->start_ms && from_s < start_s)
		from_s = start_s;
	if (!cron_items_next(&s->items, s->zone ? s->zone->zone : NULL, from_s, &next))
		return 0;
	return row->end_ms && next * 1000 > row->end_ms && !MUTANT(DATES_IGNORED) ? 0 : next;
}

int64_t schedule_undealt_s(const struct schedule *s, const struct schedule_row *row, int64_t from_s)
{
	int64_t next = schedule_next_s(s, row, from_s);

	while (next && dealt_has(&row->progress, next))
		next = schedule_next_s(s, row, dealt_end(&row->progress, next) + 1);
	return next;
}

int64_t schedule_due_s(const struct schedule *s, const struct schedule_row *row)
{
	return schedule_undealt_s(s, row, row->progress.seen_until_s + 1);
}

static int64_t wake_ms(struct core *c, struct schedule *s, const struct schedule_row *row)
{
	int64_t next;

	if (row->state == SCHEDULE_PAUSED)
		return row->pause.until_ms ? row->pause.until_ms : INT64_MAX;
	if (row->progress.waiting_s && !s->n_live)
		return c->now_ms;
	next = schedule_due_s(s, row);
	return next ? next * 1000 : INT64_MAX;
}

static void visit_due(struct core *c, struct timer *t, struct effects *out)
{
	schedule_look(c, CONTAINER_OF(t, struct schedule, timer), out);
}

void schedule_wake(struct core *c, struct schedule *s, int64_t at_ms)
{
	timer_set(c, TIMER_WALL, &s->timer, at_ms, s->object.id, visit_due);
}

void schedule_set_timer(struct core *c, struct schedule *s, const struct schedule_row *row)
{
	int64_t at = wake_ms(c, s, row);

	if (at == INT64_MAX)
		timer_clear(c, TIMER_WALL, &s->timer);
	else
		schedule_wake(c, s, at);
}

bool schedule_is_over(const struct schedule *s, const struct schedule_row *row)
{
	return !timer_is_set(&s->timer) && !row->progress.waiting_s && !schedule_failed(s);
}

static struct cron_state state_of(const struct schedule *s, const struct schedule_row *row)
{
	const struct schedule_progress *p = &row->progress;

	return (struct cron_state){.begun = p->begun,
	    .done_until = p->done_until_s,
	    .seen_until = p->seen_until_s,
	    .system = p->system_s,
	    .monotonic_ms = s->mono_ms,
	    .offset = (int32_t)p->zone_offset_s};
}

static void keep_state(struct schedule *s, struct schedule_row *row, const struct cron_state *st)
{
	struct schedule_progress *p = &row->progress;

	p->begun = st->begun;
	p->done_until_s = st->done_until;
	p->seen_until_s = st->seen_until;
	p->system_s = st->system;
	p->zone_offset_s = st->offset;
	s->mono_ms = st->monotonic_ms;
	dealt_grow(p, st->done_until);
}

/* Why nobody looked when it was due. */
static struct str cause_of(
    const struct core *c, const struct schedule *s, const struct cron_change *ch, struct arena *a)
{
	if (ch->zone_shift)
		return arena_strf(
		    a, "its time zone was changed by %+lld s", (long long)ch->zone_shift);
	if (ch->step > 1 || ch->step < -1)
		return arena_strf(
		    a, "the clock was moved by %+lld s, or the machine slept", (long long)ch->step);
	if (s->mono_ms == CRON_NO_MONOTONIC)
		return STR("the server was not running");
	return STR("the server was busy or suspended");
}

static bool is_in_dates(const struct schedule_row *row, int64_t tick_s)
{
	if (MUTANT(DATES_IGNORED))
		return true;
	return (!row->start_ms || tick_s * 1000 >= row->start_ms) &&
	       (!row->end_ms || tick_s * 1000 <= row->end_ms);
}

/* Too old: passed over as a whole. Its first tick that nothing was done about stands for it. */
static void pass_over(struct visit *v, struct cron_event *e)
{
	int64_t first = schedule_undealt_s(v->s, v->row, e->time);

	if (!first || first > e->until)
		return;
	dealt_grow(&v->row->progress, first - 1);
	e->time = first;
	visit_skip(v, e,
	    arena_strf(&v->out->batch.arena, "missed by more than %lld s: " STR_FMT,
	        (long long)v->row->max_shift_s, STR_ARG(v->cause)));
	visit_break(v, e->until + 1);
}

static void deal(struct visit *v, struct cron_event *e)
{
	if (e->label == CRON_SKIPPED) {
		visit_flush(v);
		pass_over(v, e);
	} else if (e->label == CRON_ALREADY_FIRED || !is_in_dates(v->row, e->time) ||
	           dealt_has(&v->row->progress, e->time)) {
		return;
	} else if (e->label == CRON_LATE && v->row->missed != MISSED_ALL) {
		visit_miss(v, e);
	} else {
		visit_flush(v);
		visit_fire(v, e);
	}
}

/* How far the clock went while nobody looked, as the schedule's own memory has it. */
static void take_change(struct visit *v, const struct cron_engine *e)
{
	struct schedule_progress *p = &v->row->progress;

	v->cause = cause_of(v->c, v->s, &e->change, &v->out->batch.arena);
	p->moved_s += e->change.zone_shift;
	if (e->change.zone_shift || e->change.repeats)
		visit_break(v, e->state.done_until + 1);
	if (MUTANT(WAITED_WITHOUT_PROGRESS))
		v->changed = false;
	v->changed |= e->change.zone_shift || e->change.repeats || e->change.distance < 0;
}

/* How late is still on time: up to a minute, and up to half of the way to the tick after it. */
static int64_t on_time_s(const struct visit *v)
{
	int64_t first = schedule_next_s(v->s, v->row, v->row->progress.done_until_s + 1), second;

	if (!first || v->c->now_ms / 1000 - first <= 1)
		return ON_TIME_S;
	second = schedule_next_s(v->s, v->row, first + 1);
	if (!second || second - first >= ON_TIME_S * ON_TIME_SHARE)
		return ON_TIME_S;
	return (second - first) / ON_TIME_SHARE;
}

static bool run_engine(struct visit *v)
{
	struct core *c = v->c;
	struct schedule *s = v->s;
	struct cron_state state = state_of(s, v->row);
	struct cron_policy policy = {.shift_limit = v->row->max_shift_s, .on_time = on_time_s(v)};
	struct cron_reading now = {.system = c->now_ms / 1000,
	    .monotonic_ms = c->mono_ms,
	    .zone = s->zone ? s->zone->zone : NULL};
	struct cron_engine e;
	struct cron_event event;
	size_t n_dealt = 0, n_gathered = 0;
	bool more = false;

	cron_engine_begin(&e, &s->items, &policy, &now, &state);
	take_change(v, &e);
	while (!more && cron_engine_next(&e, &event)) {
		deal(v, &event);
		*(v->is_gathering ? &n_gathered : &n_dealt) += 1;
		c->timers.budget -= c->timers.budget > 0 && !v->is_gathering;
		more = n_dealt >= TICKS_PER_LOOK || n_gathered >= GATHERED_PER_LOOK;
	}
	if (more && v->is_gathering)
		e.state.done_until = e.state.seen_until = visit_hand_on(v) - 1;
	visit_flush(v);
	keep_state(s, v->row, &e.state);
	return more;
}

void schedule_look(struct core *c, struct schedule *s, struct effects *out)
{
	struct schedule_row row;
	struct visit v = {.c = c, .s = s, .row = &row, .out = out};
	bool more, finished;

	schedule_unpack(s, NULL, &row);
	if (row.state == SCHEDULE_PAUSED && pause_is_over(&row.pause, c->now_ms)) {
		schedule_resume(c, s, STR("reeve"), out);
		schedule_look(c, s, out); /* an active schedule, whose pause may be long over */
		return;
	}
	if (row.state == SCHEDULE_PAUSED && !MUTANT(PAUSE_END_FORGOTTEN)) {
		schedule_set_timer(c, s, &row); /* perhaps something else has woken it */
		return;
	}
	if (row.state != SCHEDULE_ACTIVE || schedule_failed(s)) {
		timer_clear(c, TIMER_WALL, &s->timer);
		return;
	}
	if (row.progress.waiting_s && !s->n_live)
		visit_fire_waiting(&v);
	more = run_engine(&v);
	if (more)
		schedule_wake(c, s, c->now_ms);
	else
		schedule_set_timer(c, s, &row);
	finished = schedule_is_over(s, &row);
	if (finished)
		schedule_move(&row, SCHEDULE_FINISHED);
	if ((v.changed || finished) && !MUTANT(TICK_WITHOUT_PROGRESS))
		schedule_save(c, s, &row, false, out); /* the row's strings are gone after it */
	else
		schedule_pack(s, &row);
	if (finished)
		audit_object(c, "schedule.finished", &s->object, STR("reeve"), STR_NULL, out);
}

/* The schedules' timers come at once, and are served in turn, as many as a step may. */
void schedules_look_all(struct core *c, const struct zone *z)
{
	struct schedule *s;

	EACH_OBJECT(s, c, KIND_SCHEDULE)
	if (!z || s->zone == z)
		schedule_wake(c, s, INT64_MIN);
}
