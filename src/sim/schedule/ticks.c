/* SPDX-License-Identifier: Apache-2.0 */
/* What became of a tick, as it is stored: one task at most, for a reason, by the schedule's rules.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "sim/group/group.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/zones.h"

/* What is filled in has a row beside the tick's own, that far off. */
#define BACKFILL_OFFSET_S (INT64_C(1) << 33)

static int64_t zone_offset(const struct tick_row *row)
{
	return row->offset_s - (row->outcome == TICK_BACKFILL ? BACKFILL_OFFSET_S : 0);
}

static uint64_t key_of(int64_t tick_s, int64_t offset_s)
{
	return ((uint64_t)tick_s << 20) + (uint64_t)(offset_s + (1 << 18));
}

void judge_schedule_task(struct world *w, struct truth_task *t)
{
	struct truth_schedule *s = truth_schedule_of(w, t->owner.id);

	GROW(s->tasks, s->cap_tasks, s->n_tasks + 1);
	s->tasks[s->n_tasks++] = t;
	s->touched = true;
}

rid truth_some_task(const struct world *w, uint64_t random)
{
	const struct sim_schedules *all = schedules_of(w);
	const struct truth_schedule *s;
	size_t recent;

	if (!all->n)
		return 0;
	s = all->all[random % all->n];
	recent = s->n_tasks < 4 ? s->n_tasks : 4;
	return recent ? s->tasks[s->n_tasks - 1 - (random >> 32) % recent]->id : 0;
}

/* A task of it that has not ended; of its own ticks, or of any. */
static struct truth_task *live_task(
    const struct truth_schedule *s, const struct truth_task *but, bool ticks_only)
{
	for (size_t i = s->n_tasks; i-- > (ticks_only ? s->first_task : 0);) {
		struct truth_task *t = s->tasks[i];

		if (t == but || truth_is_gone(t) || task_is_ended(t->stored_status))
			continue;
		if (!ticks_only || (t->marks & MARK_OF_TICK && !t->was_retried))
			return t;
	}
	return NULL;
}

bool truth_is_live(struct world *w, const struct truth_schedule *s)
{
	return s->of_groups ? groups_live_of(w, s->id, 0, false) != NULL
	                    : live_task(s, NULL, false) != NULL;
}

/* For the story. */
static unsigned number_of(struct world *w, const struct truth_schedule *s, rid made)
{
	if (!made)
		return 0;
	return s->of_groups ? groups_truth(w, made)->number : judge_number(w, made);
}

static struct truth_tick *tick_of(struct truth_schedule *s, const struct tick_row *row)
{
	uint64_t key = key_of(row->tick_s, zone_offset(row));
	struct truth_tick *k = idmap_get(&s->ticks, key);

	if (k)
		return k;
	k = xcalloc(1, sizeof *k);
	*k =
	    (struct truth_tick){.tick_s = row->tick_s, .offset_s = zone_offset(row), .outcome = -1};
	GROW(s->all, s->cap, s->n + 1);
	s->all[s->n++] = k;
	idmap_put(&s->ticks, key, k);
	return k;
}

/* The tick's task is there already, and says the same. */
static void check_task(struct world *w, struct truth_schedule *s, const struct tick_row *row)
{
	struct truth_task *t = truth_of(w, row->task);
	int64_t tick_s = row->outcome == TICK_MANUAL ? 0 : row->tick_s;

	if (!t->stored || t->owner.id != s->id || t->owner.part != tick_s ||
	    t->marks & MARK_HAS_TICK)
		world_fail(w, 40, "tick %lld names task %u, which is %s", (long long)row->tick_s,
		    t->number,
		    !t->stored                 ? "not stored"
		    : t->marks & MARK_HAS_TICK ? "another one's"
		    : !t->owner.id             ? "of no schedule"
		                               : "of another tick");
	t->marks = MARK_HAS_TICK | (row->outcome == TICK_FIRED ? MARK_OF_TICK : 0);
}

static void check_jitter(
    struct world *w, const struct truth_schedule *s, const struct truth_task *t)
{
	int64_t by = t->run_after_ms - t->owner.part * 1000;

	if (s->row.jitter_ms ? by < 0 || by > s->row.jitter_ms : t->run_after_ms != 0)
		world_fail(w, 40, "task %u of tick %lld is put off by %lld of %lld ms", t->number,
		    (long long)t->owner.part, (long long)by, (long long)s->row.jitter_ms);
}

/* By the pattern and the dates. What has waited is of the pattern that was. */
static void check_due(struct world *w, const struct truth_schedule *s, const struct tick_row *row)
{
	int64_t ms = row->tick_s * 1000, next;

	if (ms > row->time_ms)
		world_fail(w, 40, "tick %lld fires %lld ms before its time", (long long)row->tick_s,
		    (long long)(ms - row->time_ms));
	if ((s->row.start_ms && ms < s->row.start_ms) || (s->row.end_ms && ms > s->row.end_ms))
		world_fail(
		    w, 40, "tick %lld is outside of the schedule's dates", (long long)row->tick_s);
	if (s->zone == ZONE_MOVING)
		return; /* as it was then: it may have moved since */
	if (!cron_items_next(
	        &s->items, s->zone < 0 ? NULL : sim_zone(w, s->zone), row->tick_s, &next) ||
	    next != row->tick_s)
		world_fail(w, 40, "tick %lld is not one of its pattern's", (long long)row->tick_s);
}

static void check_group_alone(
    struct world *w, const struct truth_schedule *s, const struct tick_row *row)
{
	const struct truth_group *other = groups_live_of(w, s->id, row->task, true);

	if (s->row.overlap != OVERLAP_ALLOW && other)
		world_fail(w, 40, "tick %lld gets a group while group %u of tick %lld is %s (%s)",
		    (long long)row->tick_s, other->number, (long long)other->row.owner_part,
		    group_state_names[other->row.state], overlap_names[s->row.overlap]);
}

static void check_alone(struct world *w, const struct truth_schedule *s, const struct tick_row *row)
{
	const struct truth_task *t = truth_of(w, row->task), *other = live_task(s, t, true);

	check_jitter(w, s, t);
	if (s->row.overlap != OVERLAP_ALLOW && other)
		world_fail(w, 40, "tick %lld gets task %u while task %u of tick %lld is %s (%s)",
		    (long long)row->tick_s, t->number, other->number, (long long)other->owner.part,
		    task_state_name(other->stored_status), overlap_names[s->row.overlap]);
}

static void fired(
    struct world *w, struct truth_schedule *s, const struct tick_row *row, bool waited)
{
	s->n_fired++;
	if (s->row.state != SCHEDULE_ACTIVE)
		world_fail(w, 40, "tick %lld fires while its schedule is %s",
		    (long long)row->tick_s, schedule_state_names[s->row.state]);
	if (!waited)
		check_due(w, s, row);
	if (s->of_groups)
		check_group_alone(w, s, row);
	else
		check_alone(w, s, row);
}

static void skipped(struct world *w, struct truth_schedule *s, const struct tick_row *row)
{
	s->n_skipped++;
	if (!row->reason.n || row->until_s < row->tick_s)
		world_fail(w, 19, "tick %lld is skipped up to %lld: %.*s", (long long)row->tick_s,
		    (long long)row->until_s, (int)row->reason.n,
		    row->reason.p ? row->reason.p : "");
	GROW(s->stretches, s->cap_stretches, s->n_stretches + 1);
	s->stretches[s->n_stretches++] =
	    (struct truth_stretch){truth_place(s, row->tick_s, row->offset_s),
	        truth_place(s, row->until_s, row->offset_s)};
}

/* A task is for ever: its tick has no other, and does not lose it. */
static bool keeps_task(struct world *w, const struct truth_schedule *s, const struct truth_tick *k,
    const struct tick_row *row)
{
	if (!k->task || k->task == row->task)
		return true;
	if (k->outcome == TICK_BACKFILL && !row->task)
		return true; /* another row: the filled in one stays */
	world_fail(w, k->steps_back < w->judge->steps_back ? 20 : 19,
	    "tick %lld (%+lld) had %s %u, now it has %u: %s", (long long)k->tick_s,
	    (long long)k->offset_s, s->of_groups ? "group" : "task", number_of(w, s, k->task),
	    number_of(w, s, row->task), tick_outcome_names[row->outcome]);
	return false;
}

static void wait_in_line(struct world *w, struct truth_schedule *s, struct truth_tick *k)
{
	if (s->waiting && s->waiting != k)
		world_fail(w, 40, "tick %lld waits beside tick %lld", (long long)k->tick_s,
		    (long long)s->waiting->tick_s);
	if (s->row.overlap != OVERLAP_QUEUE && s->row.overlap != OVERLAP_REPLACE)
		world_fail(w, 40, "tick %lld waits, with overlap %s", (long long)k->tick_s,
		    overlap_names[s->row.overlap]);
	s->waiting = k;
	if (s->of_groups && s->row.overlap == OVERLAP_REPLACE)
		groups_replaced(w, s->id);
}

static void check_group(struct world *w, const struct tick_row *row)
{
	const struct truth_group *known = groups_find(w, row->task);
	int64_t tick_s = row->outcome == TICK_MANUAL ? 0 : row->tick_s;
	struct truth_group *g;

	if (!known || known->row.owner != row->schedule || known->row.owner_part != tick_s ||
	    known->has_tick) {
		world_fail(w, 49, "tick %lld names group %u, which is %s", (long long)row->tick_s,
		    known ? known->number : 0,
		    !known            ? "not stored"
		    : known->has_tick ? "another one's"
		                      : "of another tick");
		return;
	}
	g = groups_truth(w, row->task);
	g->has_tick = true;
	g->is_of_tick = row->outcome == TICK_FIRED;
}

void judge_tick_row(struct world *w, const struct tick_row *row)
{
	struct truth_schedule *s = truth_schedule_of(w, row->schedule);
	struct truth_tick *k;
	bool waited;

	s->touched = true;
	world_tell(w, "store: schedule %u: tick %lld (%+lld) up to %lld is %s: %.*s", s->number,
	    (long long)row->tick_s, (long long)row->offset_s, (long long)row->until_s,
	    tick_outcome_names[row->outcome], (int)row->reason.n,
	    row->reason.p ? row->reason.p : "");
	if (row->task && s->of_groups)
		check_group(w, row);
	else if (row->task)
		check_task(w, s, row);
	if (row->outcome == TICK_MANUAL)
		return;
	k = tick_of(s, row);
	if (!keeps_task(w, s, k, row))
		return;
	waited = s->waiting == k;
	if (waited)
		s->waiting = NULL;
	if (row->task && !k->task)
		k->steps_back = w->judge->steps_back;
	if (row->task || !k->task) {
		k->task = row->task;
		k->outcome = row->outcome;
	}
	idmap_put(&s->decided, (uint64_t)truth_place(s, row->tick_s, zone_offset(row)), k);
	if (row->outcome == TICK_FIRED)
		fired(w, s, row, waited);
	else if (row->outcome == TICK_SKIPPED)
		skipped(w, s, row);
	else if (row->outcome == TICK_WAITING)
		wait_in_line(w, s, k);
}

/* Asked for by hand, or filled in: what was answered is there. */
void judge_schedule_done(struct world *w, const struct event *command, const struct reply *r)
{
	if (!r->n || !groups_of(w) || !groups_find(w, r->outcomes[0].id)) {
		judge_submitted(w, r);
		return;
	}
	for (size_t i = 0; i < r->n; i++)
		if (!r->outcomes[i].code && !groups_find(w, r->outcomes[i].id))
			world_fail(w, 1, "a group was acknowledged but is not durable");
}
