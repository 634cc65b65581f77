/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schedule has got to `done_until`; the clock stands at `now`. Whatever happened in between
 * (time went by, the process slept, somebody set the clock or moved the zone) is in that distance
 * already, so nothing here asks for the cause. docs/TIME.md has the reasons.
 */
#include "cron/engine.h"

#define MS INT64_C(1000)

static const char *const label_names[] = {
    [CRON_ON_TIME] = "on-time",
    [CRON_LATE] = "late",
    [CRON_SKIPPED] = "skipped",
    [CRON_ALREADY_FIRED] = "already-fired",
};

const char *cron_label_name(enum cron_label label)
{
	return label_names[label];
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Beyond these there are no events; within them no sum below can overflow. */
static int64_t bounded(int64_t t)
{
	return most(-CRON_TIME_MAX, least(t, CRON_TIME_MAX));
}

/* Says in *ret_ms how much of the same boot's time went by; false: it cannot be known. */
static bool monotonic_passed(int64_t before_ms, int64_t now_ms, int64_t *ret_ms)
{
	if (before_ms == CRON_NO_MONOTONIC || now_ms == CRON_NO_MONOTONIC || now_ms < before_ms)
		return false;
	return !__builtin_sub_overflow(now_ms, before_ms, ret_ms) && *ret_ms <= CRON_TIME_MAX * MS;
}

/* For telling only: no decision rests on the monotonic clock, so a reboot loses nothing. */
static void tell_clocks(
    struct cron_change *c, const struct cron_state *before, int64_t now, int64_t now_ms)
{
	int64_t system = now - before->system, passed_ms, step_ms;

	if (!monotonic_passed(before->monotonic_ms, now_ms, &passed_ms)) {
		c->elapsed = most(system, 0);
		c->step = least(system, 0);
		return;
	}
	c->elapsed = (passed_ms + MS / 2) / MS;
	step_ms = system * MS - passed_ms;
	if (step_ms > MS || step_ms < -MS)
		c->step = (step_ms + (step_ms > 0 ? MS / 2 : -MS / 2)) / MS;
}

static void measure(struct cron_engine *e, const struct cron_reading *now)
{
	const struct cron_state *s = &e->state;
	struct cron_change *c = &e->change;

	/* What was local time then, by today's rules: daylight saving itself is no change. */
	if (cron_items_use_zone(e->items))
		c->zone_shift = cron_zone_offset(now->zone, s->system) - s->offset;
	c->distance = e->now - (s->done_until - c->zone_shift);
	tell_clocks(c, s, e->now, now->monotonic_ms);
}

/* Moves the position to where the new zone has the same local time, and holds or forgets. */
static void adjust(struct cron_engine *e)
{
	struct cron_state *s = &e->state;

	s->done_until = bounded(s->done_until - e->change.zone_shift);
	s->seen_until = least(bounded(s->seen_until - e->change.zone_shift), s->done_until);
	if (e->change.distance >= 0)
		return;
	e->change.repeats = -e->change.distance > e->policy.shift_limit;
	s->seen_until = least(s->seen_until, e->now);
	if (e->change.repeats) /* as at a first call: what is due this second is due */
		s->done_until = s->seen_until = e->now - 1;
}

void cron_engine_begin(struct cron_engine *e, const struct cron_items *items,
    const struct cron_policy *policy, const struct cron_reading *now,
    const struct cron_state *state)
{
	*e = (struct cron_engine){.items = items,
	    .zone = now->zone,
	    .policy = *policy,
	    .now = bounded(now->system),
	    .state = *state};
	e->policy.shift_limit = most(0, least(policy->shift_limit, CRON_TIME_MAX));
	e->state.done_until = bounded(state->done_until);
	e->state.seen_until = bounded(state->seen_until);
	e->state.system = bounded(state->system);
	if (state->begun) {
		measure(e, now);
		adjust(e);
	} else {
		e->state.done_until = e->state.seen_until = e->now - 1;
	}
	e->state.begun = true;
	e->state.system = e->now;
	e->state.monotonic_ms = now->monotonic_ms;
	e->state.offset = now->zone ? cron_zone_offset(now->zone, e->now) : 0;
}

/* The first event in (after, until]. */
static bool find(const struct cron_engine *e, int64_t after, int64_t until, int64_t *ret_time)
{
	return after < until && cron_items_next(e->items, e->zone, after + 1, ret_time) &&
	       *ret_time <= until;
}

static bool take_repeated(struct cron_engine *e, struct cron_event *ret_event)
{
	struct cron_state *s = &e->state;
	int64_t end = least(e->now, s->done_until), t;

	if (!find(e, s->seen_until, end, &t)) {
		s->seen_until = most(s->seen_until, end);
		return false;
	}
	s->seen_until = t;
	*ret_event = (struct cron_event){CRON_ALREADY_FIRED, t, t, e->now - t};
	return true;
}

/* One event for all that are too old, so that a year's step costs no more than a minute's. */
static bool take_due(struct cron_engine *e, struct cron_event *ret_event)
{
	struct cron_state *s = &e->state;
	int64_t too_old = e->now - e->policy.shift_limit - 1, t;

	if (s->done_until >= e->now)
		return false;
	if (!find(e, s->done_until, e->now, &t)) {
		s->done_until = s->seen_until = e->now;
		return false;
	}
	*ret_event = (struct cron_event){CRON_SKIPPED, t, t, e->now - t};
	if (t <= too_old)
		ret_event->until = too_old;
	else
		ret_event->label = e->now - t <= e->policy.on_time ? CRON_ON_TIME : CRON_LATE;
	s->done_until = s->seen_until = ret_event->until;
	return true;
}

bool cron_engine_next(struct cron_engine *e, struct cron_event *ret_event)
{
	return take_repeated(e, ret_event) || take_due(e, ret_event);
}

bool cron_engine_wake(const struct cron_engine *e, int64_t *ret_time)
{
	return cron_items_next(e->items, e->zone, e->state.seen_until + 1, ret_time);
}
