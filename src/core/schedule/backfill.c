/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that somebody asks a schedule for: one now, or those of ticks that have gone by. */
#include "core/group/group.h"
#include "core/state.h"

#include "core/schedule/schedule.h"

/*
 * Rows beside those of ticks, and not to be confused with them. Not a tick at all: (second, this
 * and the task's counter). Filled in: (tick, this and the zone's offset), so that the skip which
 * stands for it, and may stand for others that still have no task, is kept.
 */
#define MANUAL_OFFSET_S (INT64_C(1) << 32)
#define BACKFILL_OFFSET_S (INT64_C(1) << 33)

static void record(
    struct core *c, struct schedule *s, int64_t tick_s, int outcome, rid task, struct effects *out)
{
	struct tick_row row = {.schedule = s->object.id,
	    .tick_s = tick_s,
	    .offset_s = outcome == TICK_MANUAL ? MANUAL_OFFSET_S + (int64_t)(task & 0xffffff)
	                                       : BACKFILL_OFFSET_S + schedule_offset_s(s, tick_s),
	    .until_s = tick_s,
	    .outcome = outcome,
	    .task = task,
	    .time_ms = c->now_ms,
	    .shift_s = c->now_ms / 1000 - tick_s};

	tick_save(&row, out);
}

static struct outcome submitted(rid task)
{
	return (struct outcome){.id = task, .status = TASK_QUEUED};
}

static int no_room(struct reply *r)
{
	problem_set(r->problem, ERR_CONFLICT, "there may be %d groups, and these would be more",
	    GROUPS_MAX);
	return problem_hint(r->problem, "remove some that have ended");
}

int schedule_run_now(struct core *c, const struct event *ev, struct schedule *s, struct reply *r,
    struct effects *out)
{
	struct outcome *o = arena_zalloc(&out->batch.arena, sizeof *o);
	struct schedule_row row;
	rid task;

	schedule_unpack(s, &out->batch.arena, &row);
	if (row.group.p && !group_room(c))
		return no_room(r);
	task = schedule_submit(c, &row, 0, 0, ev->actor, out);
	record(c, s, c->now_ms / 1000, TICK_MANUAL, task, out);
	row.progress.last_task = task;
	schedule_save(c, s, &row, false, out);
	audit_object(c, "schedule.ran", &s->object, ev->actor, STR_NULL, out);
	*o = submitted(task);
	r->outcomes = o;
	r->n = 1;
	return 0;
}

/*
 * Before the ticks are read: what is not dealt with by then is no gap but about to fire, and what
 * fires while the read is under way is not in it.
 */
static void bound(const struct core *c, struct event *ev)
{
	const struct schedule *s = object_find(c, KIND_SCHEDULE, ev->object.id);
	struct schedule_row row;

	if (!s || ev->object.to_s - 1 > c->now_ms / 1000)
		return;
	schedule_unpack(s, NULL, &row);
	if (row.state != SCHEDULE_PAUSED && ev->object.to_s > row.progress.done_until_s + 1)
		ev->object.to_s = row.progress.done_until_s + 1;
}

static bool goes_by_past(const struct event *ev)
{
	return ev->object.verb == SCHEDULE_BACKFILL;
}

static struct part_query ask_past(struct core *c, struct event *ev)
{
	bound(c, ev);
	return (struct part_query){.table = &tick_table,
	    .object = ev->object.id,
	    .from = ev->object.from_s,
	    .to = ev->object.to_s,
	    .oldest_first = true,
	    .reaching = true,
	    .limit = BACKFILL_ROWS};
}

const struct object_past schedule_past = {goes_by_past, ask_past};

/* The history of the range, tick by tick. */
struct past {
	const struct lane *had;
	size_t at;
	int64_t reach_s; /* what lies before is recorded up to here */
};

/* The tick has its task, or will get it when its turn has come. */
static bool is_taken(struct past *p, int64_t tick_s, bool *ret_recorded)
{
	const struct tick_row *rows = p->had->past;
	size_t n = p->had->n_past;
	bool taken = false;

	for (; p->at < n && rows[p->at].tick_s < tick_s; p->at++)
		if (rows[p->at].until_s > p->reach_s)
			p->reach_s = rows[p->at].until_s;
	*ret_recorded = p->reach_s >= tick_s;
	for (size_t i = p->at; i < n && rows[i].tick_s == tick_s; i++) {
		bool is_tick = rows[i].outcome != TICK_MANUAL;

		*ret_recorded |= is_tick;
		taken |= is_tick && (rows[i].task || rows[i].outcome == TICK_WAITING);
	}
	return taken && !MUTANT(BACKFILL_FILLS_TWICE);
}

/* Ticks were dealt with there, and nothing says any more how: they may have had their tasks. */
static bool is_forgotten(
    struct core *c, const struct event *ev, struct schedule *s, const struct schedule_row *row)
{
	struct past p = {.had = &c->lane, .reach_s = INT64_MIN};
	int64_t t = ev->object.from_s - 1;
	bool recorded;

	while ((t = schedule_next_s(s, row, t + 1)) && t < ev->object.to_s)
		if (!is_taken(&p, t, &recorded) && !recorded && dealt_has(&row->progress, t))
			return true;
	return false;
}

static int64_t count(struct schedule *s, const struct event *ev, const struct schedule_row *row)
{
	int64_t t = ev->object.from_s - 1, n = 0;

	while (n <= BACKFILL_MAX && (t = schedule_next_s(s, row, t + 1)) && t < ev->object.to_s)
		n++;
	return n;
}

static int refuse(struct core *c, struct schedule *s, const struct event *ev,
    const struct schedule_row *row, struct reply *r)
{
	if (schedule_failed(s))
		return problem_set(r->problem, ERR_CONFLICT, "%s", schedule_failed(s));
	if (c->lane.past_is_stale && !MUTANT(BACKFILL_OF_A_STALE_PAST)) {
		problem_set(r->problem, ERR_CONFLICT, "a tick of that range was fired meanwhile");
		return problem_hint(r->problem, "nothing was changed; try again");
	}
	if (row->state == SCHEDULE_PAUSED && ev->object.to_s - 1 > row->progress.done_until_s) {
		problem_set(r->problem, ERR_CONFLICT,
		    "it is paused: what becomes of the pause's ticks is settled by its end");
		return problem_hint(r->problem, "resume it first, or end the range at its begin");
	}
	if (ev->object.to_s - 1 > c->now_ms / 1000) {
		problem_set(
		    r->problem, ERR_INVALID, "only ticks that have gone by can be filled in");
		return problem_hint(r->problem, "end the range at now, or earlier");
	}
	if (c->lane.n_past >= BACKFILL_ROWS || count(s, ev, row) > BACKFILL_MAX) {
		problem_set(r->problem, ERR_TOO_LARGE,
		    "there are more than %d ticks in that range, or too much history",
		    BACKFILL_MAX);
		return problem_hint(r->problem, "fill it in by several smaller ranges");
	}
	if (row->group.p && (size_t)count(s, ev, row) > group_room(c))
		return no_room(r);
	if (is_forgotten(c, ev, s, row)) {
		problem_set(r->problem, ERR_CONFLICT,
		    "what became of some ticks there is not known any more: they may have run");
		return problem_hint(r->problem,
		    "the history is kept as long as server.retention.events says; take a later "
		    "range, or one from before the schedule was made");
	}
	return 0;
}

int schedule_backfill(struct core *c, const struct event *ev, struct schedule *s, struct reply *r,
    struct effects *out)
{
	struct past p = {.had = &c->lane, .reach_s = INT64_MIN};
	struct schedule_row row;
	struct visit v = {.c = c, .s = s, .row = &row, .out = out};
	struct outcome *o;
	int64_t t = ev->object.from_s - 1;
	bool recorded;
	int e;

	schedule_unpack(s, &out->batch.arena, &row);
	e = refuse(c, s, ev, &row, r);
	if (e)
		return e;
	o = arena_alloc(&out->batch.arena, (size_t)(count(s, ev, &row) + 1) * sizeof *o);
	while ((t = schedule_next_s(s, &row, t + 1)) && t < ev->object.to_s) {
		rid task;

		if (is_taken(&p, t, &recorded))
			continue;
		task = schedule_submit(c, &row, t, 0, ev->actor, out);
		record(c, s, t, TICK_BACKFILL, task, out);
		o[r->n++] = submitted(task);
	}
	/* should the clock come back there, they are done */
	if (!MUTANT(BACKFILL_NOT_DEALT))
		visit_fill(&v, ev->object.from_s, ev->object.to_s - 1);
	schedule_save(c, s, &row, false, out);
	r->outcomes = o;
	audit_object(c, "schedule.backfilled", &s->object, ev->actor, STR_NULL, out);
	return 0;
}
