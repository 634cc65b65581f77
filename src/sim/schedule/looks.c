/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the server looks at its schedules, and when that counts. A look is over long before what it
 * decided is durable: the store may refuse writes for a while, and the clock and the zone go on
 * meanwhile. So each look waits with what the clock and the zone said then, and is held against the
 * rows once all that it wrote is there, in the order in which things happened.
 */
#include "base/mem.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/zones.h"

/* False: rows of it, or of what came before it, are still to come. */
static bool is_written(const struct judge *j, const struct truth_look *k)
{
	return k->batch < j->batch || (k->batch == j->batch && k->rows <= j->row);
}

static void take(struct world *w, struct truth_schedule *s, const struct truth_look *k)
{
	if (s->row.state != SCHEDULE_ACTIVE)
		return;
	truth_follow_zone(s, k->offset_s);
	if (k->is_whole)
		truth_pass(w, s, k->time_s);
	if (k->time_s > s->seen_s)
		s->seen_s = k->time_s;
}

void truth_take_looks(struct world *w, struct truth_schedule *s)
{
	size_t n = 0;

	while (n < s->n_looks && is_written(w->judge, &s->looks[n]) && !w->verdict.invariant)
		take(w, s, &s->looks[n++]);
	for (size_t i = n; i < s->n_looks; i++)
		s->looks[i - n] = s->looks[i];
	s->n_looks -= n;
}

static void check_waits(struct world *w, const struct truth_schedule *s)
{
	if (s->row.state == SCHEDULE_ACTIVE && s->waiting && !truth_is_live(w, s))
		world_fail(w, 40, "tick %lld waits for nothing", (long long)s->waiting->tick_s);
	if (s->row.state == SCHEDULE_PAUSED && pause_is_over(&s->row.pause, s->looked_ms))
		world_fail(w, 40, "its pause should have ended %lld ms ago",
		    (long long)(s->looked_ms - s->row.pause.until_ms));
}

/* Everything that the last step has decided is durable, and it left nothing for the next. */
void judge_schedules_before(struct world *w)
{
	struct judge *j = w->judge;
	struct sim_schedules *all = schedules_of(w);
	const struct sim_server *v = w->server;

	if (!all || !all->n || !v->core || !core_is_open(v->core) || v->pipe.flying ||
	    v->pipe.gathering->batch.n || all->is_unsettled)
		return;
	j->batch = v->pipe.gathering->batch.seq;
	j->row = 0;
	for (size_t i = 0; i < all->n; i++) {
		struct truth_schedule *s = all->all[i];

		if (s->deleted || !s->row.id || s->looked_ms == INT64_MIN)
			continue;
		check_waits(w, s);
		truth_take_looks(w, s);
	}
}

static void remember(struct truth_schedule *s, const struct truth_look *k)
{
	struct truth_look *last = s->n_looks ? &s->looks[s->n_looks - 1] : NULL;

	if (last && last->offset_s == k->offset_s && last->time_s <= k->time_s && k->is_whole &&
	    last->batch == k->batch && last->rows == k->rows) {
		*last = *k;
		return;
	}
	GROW(s->looks, s->cap_looks, s->n_looks + 1);
	s->looks[s->n_looks++] = *k;
}

/* A look of this very moment, and all that it has written. */
static struct truth_look look_now(struct world *w)
{
	const struct batch *b = &w->server->pipe.gathering->batch;

	return (struct truth_look){.time_s = sim_server_wall_ms(w) / 1000,
	    .offset_s = cron_zone_offset(sim_zone(w, ZONE_MOVING), 0),
	    .batch = b->seq,
	    .rows = b->n,
	    .is_whole = core_wake_ms(sim_core(w)) > sim_server_mono_ms(w)};
}

void judge_schedules_after(struct world *w, const struct event *ev)
{
	struct sim_schedules *all = schedules_of(w);
	struct truth_look k;

	if (!all || !all->n)
		return;
	k = look_now(w);
	all->is_unsettled = !k.is_whole;
	for (size_t i = 0; i < all->n; i++) {
		struct truth_schedule *s = all->all[i];

		if (s->deleted || !s->row.id)
			continue;
		s->looked_ms = ev->now_ms;
		remember(s, &k);
	}
}

/*
 * What was not written has not happened; what was, the server that starts remembers: it may have
 * died before anybody looked again. And it looks at once.
 */
void judge_schedules_loaded(struct world *w)
{
	struct sim_schedules *all = schedules_of(w);
	struct truth_look k;

	if (!all || !all->n)
		return;
	k = look_now(w);
	for (size_t i = 0; i < all->n; i++) {
		struct truth_schedule *s = all->all[i];

		if (!s->deleted && s->row.id)
			truth_take_looks(w, s);
		s->looked_ms = s->seen_s = INT64_MIN;
		s->n_looks = 0;
		remember(s, &k);
	}
}
