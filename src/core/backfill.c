/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that somebody asks a schedule for: one now, or those of ticks that have gone by. */
#include "core/internal.h"

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
	struct tick_row row = {.schedule = s->id,
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

int schedule_run_now(struct core *c, const struct event *ev, struct schedule *s, struct reply *r,
    struct effects *out)
{
	struct outcome *o = arena_zalloc(&out->batch.arena, sizeof *o);
	struct schedule_row row;
	rid task;

	schedule_unpack(s, &out->batch.arena, &row);
	task = schedule_submit(c, &row, 0, 0, out);
	record(c, s, c->now_ms / 1000, TICK_MANUAL, task, out);
	row.progress.last_task = task;
	schedule_save(c, s, &row, false, out);
	audit_schedule(c, "schedule.ran", s, ev->actor, STR_NULL, out);
	*o = submitted(task);
	r->outcomes = o;
	r->n = 1;
	return 0;
}

/*
 * Before the ticks are read: what is not dealt with by then is no gap but about to fire, and what
 * fires while the read is under way is not in it.
 */
void schedule_backfill_bound(const struct core *c, struct event *ev)
{
	const struct schedule *s = schedule_find(c, ev->schedule.id);
	struct schedule_row row;

	if (!s || ev->schedule.to_s - 1 > c->now_ms / 1000)
		return;
	schedule_unpack(s, NULL, &row);
	if (row.state != SCHEDULE_PAUSED && ev->schedule.to_s > row.progress.done_until_s + 1)
		ev->schedule.to_s = row.progress.done_until_s + 1;
}

/* It has its task, or will get it when its turn has come. */
static bool is_taken(const struct lane *had, size_t *at, int64_t tick_s)
{
	bool taken = false;

	while (*at < had->n_ticks && had->ticks[*at].tick_s < tick_s)
		(*at)++;
	for (size_t i = *at; i < had->n_ticks && had->ticks[i].tick_s == tick_s; i++)
		taken |= had->ticks[i].outcome != TICK_MANUAL &&
		         (had->ticks[i].task || had->ticks[i].outcome == TICK_WAITING);
	return taken && !MUTANT(BACKFILL_FILLS_TWICE);
}

static int64_t count(struct schedule *s, const struct event *ev, const struct schedule_row *row)
{
	int64_t t = ev->schedule.from_s - 1, n = 0;

	while (n <= BACKFILL_MAX && (t = schedule_next_s(s, row, t + 1)) && t < ev->schedule.to_s)
		n++;
	return n;
}

static int refuse(const struct core *c, struct schedule *s, const struct event *ev,
    const struct schedule_row *row, struct reply *r)
{
	if (schedule_failed(s))
		return problem_set(r->problem, ERR_CONFLICT, "%s", schedule_failed(s));
	if (c->lane.ticks_stale) {
		problem_set(r->problem, ERR_CONFLICT, "a tick of that range was fired meanwhile");
		return problem_hint(r->problem, "nothing was changed; try again");
	}
	if (row->state == SCHEDULE_PAUSED && ev->schedule.to_s - 1 > row->progress.done_until_s) {
		problem_set(r->problem, ERR_CONFLICT,
		    "it is paused: what becomes of the pause's ticks is settled by its end");
		return problem_hint(r->problem, "resume it first, or end the range at its begin");
	}
	if (ev->schedule.to_s - 1 > c->now_ms / 1000) {
		problem_set(
		    r->problem, ERR_INVALID, "only ticks that have gone by can be filled in");
		return problem_hint(r->problem, "end the range at now, or earlier");
	}
	if (c->lane.n_ticks >= BACKFILL_ROWS || count(s, ev, row) > BACKFILL_MAX) {
		problem_set(r->problem, ERR_TOO_LARGE,
		    "there are more than %d ticks in that range, or too much history",
		    BACKFILL_MAX);
		return problem_hint(r->problem, "fill it in by several smaller ranges");
	}
	return 0;
}

int schedule_backfill(struct core *c, const struct event *ev, struct schedule *s, struct reply *r,
    struct effects *out)
{
	const struct lane *had = &c->lane;
	struct schedule_row row;
	struct look l = {.c = c, .s = s, .row = &row, .out = out};
	struct outcome *o;
	int64_t t = ev->schedule.from_s - 1;
	size_t at = 0;
	int e;

	schedule_unpack(s, &out->batch.arena, &row);
	e = refuse(c, s, ev, &row, r);
	if (e)
		return e;
	o = arena_alloc(&out->batch.arena, (size_t)(count(s, ev, &row) + 1) * sizeof *o);
	while ((t = schedule_next_s(s, &row, t + 1)) && t < ev->schedule.to_s) {
		rid task;

		if (is_taken(had, &at, t))
			continue;
		task = schedule_submit(c, &row, t, 0, out);
		record(c, s, t, TICK_BACKFILL, task, out);
		o[r->n++] = submitted(task);
	}
	/* should the clock come back there, they are done */
	if (!MUTANT(BACKFILL_NOT_DEALT))
		look_fill(&l, ev->schedule.from_s, ev->schedule.to_s - 1);
	schedule_save(c, s, &row, false, out);
	r->outcomes = o;
	audit_schedule(c, "schedule.backfilled", s, ev->actor, STR_NULL, out);
	return 0;
}
