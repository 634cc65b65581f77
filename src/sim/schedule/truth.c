/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules: what is stored of them, and whether everything that their clock has passed is
 * accounted for.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/zones.h"

#define UNNOTICED_S 2 /* the server does not mind when its clock is set by less */

struct truth_schedule *truth_schedule_of(struct world *w, rid id)
{
	struct sim_schedules *all = schedules_of(w);
	struct truth_schedule *s;

	for (size_t i = 0; i < all->n; i++)
		if (all->all[i]->id == id)
			return all->all[i];
	s = xcalloc(1, sizeof *s);
	s->id = id;
	s->zone = -1;
	s->looked_ms = s->checked_s = s->seen_s = s->shown_s = s->next_s = INT64_MIN;
	GROW(all->all, all->cap, all->n + 1);
	all->all[all->n++] = s;
	s->number = (unsigned)all->n;
	return s;
}

void truth_schedules_free(struct sim_schedules *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct truth_schedule *s = all->all[i];

		for (size_t k = 0; k < s->n; k++)
			free(s->all[k]);
		free(s->all);
		free(s->tasks);
		free(s->stretches);
		free(s->looks);
		idmap_release(&s->ticks);
		idmap_release(&s->decided);
		cron_items_release(&s->items);
		free(s);
	}
	free(all->all);
}

int64_t truth_place(const struct truth_schedule *s, int64_t tick_s, int64_t offset_s)
{
	return s->zone == ZONE_MOVING ? tick_s + offset_s : tick_s;
}

/*
 * A clock that was set back by less than the limit makes nothing due, also before the schedule was
 * made. And a pattern that is changed while the clock stands behind, or a zone that comes back,
 * leaves alone what was done before.
 */
static int64_t excused_s(const struct truth_schedule *s, int64_t t)
{
	const struct schedule_progress *p = &s->row.progress;
	const struct dealt_span *d = p->dealt;

	if (t <= s->begun_s && s->begun_s - t < UNNOTICED_S)
		return s->begun_s;
	if (t <= s->held_s && t <= s->begun_s)
		return s->held_s < s->begun_s ? s->held_s : s->begun_s;
	for (int i = 0; (s->was_set || s->zone == ZONE_MOVING) && i < DEALT_SPANS; i++)
		if ((d[i].moved_s == p->moved_s || d[i].moved_s == DEALT_ANYWHERE) &&
		    t >= d[i].from_s && t <= d[i].to_s)
			return d[i].to_s;
	return t - 1;
}

/* Up to where is accounted for what lies there; t - 1: it is not. */
static int64_t accounted_s(const struct truth_schedule *s, int64_t t, int64_t offset_s)
{
	int64_t at = truth_place(s, t, offset_s), end = excused_s(s, t);

	if (s->zone == ZONE_MOVING && at <= s->shown_s)
		return t + s->shown_s - at;
	for (size_t i = 0; end < t && i < s->n_stretches; i++)
		if (at >= s->stretches[i].from_s && at <= s->stretches[i].to_s)
			end = t + s->stretches[i].to_s - at;
	return end < t && idmap_get(&s->decided, (uint64_t)at) ? t : end;
}

static void check_passed(struct world *w, struct truth_schedule *s, int64_t until_s)
{
	const struct cron_zone *z = s->zone < 0 ? NULL : sim_zone_at(w, s->zone, s->zone_offset_s);
	int64_t t = s->checked_s, offset, end;

	if (s->row.start_ms && t < s->row.start_ms / 1000 - 1)
		t = s->row.start_ms / 1000 - 1;
	if (s->row.end_ms && until_s > s->row.end_ms / 1000)
		until_s = s->row.end_ms / 1000;
	while (cron_items_next(&s->items, z, t + 1, &t) && t <= until_s) {
		if (s->row.start_ms && t * 1000 < s->row.start_ms)
			continue;
		offset = z ? cron_zone_offset(z, t) : 0;
		end = accounted_s(s, t, offset);
		if (end < t) {
			world_fail(w, 19, "nothing is said of tick %lld (%+lld) of schedule %u",
			    (long long)t, (long long)offset, s->number);
			return;
		}
		t = end;
	}
	s->next_s = t > until_s ? t : INT64_MAX;
}

/* Local times that were there already: whether they fire again is the limit's business. */
static void remember_shown(struct truth_schedule *s)
{
	int64_t shown = (s->seen_s > s->checked_s ? s->seen_s : s->checked_s) + s->zone_offset_s;

	if (s->checked_s != INT64_MIN && shown > s->shown_s)
		s->shown_s = shown;
}

void truth_pass(struct world *w, struct truth_schedule *s, int64_t to_s)
{
	if (to_s < s->checked_s) {
		remember_shown(s);
		s->next_s = INT64_MIN;
	}
	if (s->checked_s != INT64_MIN && to_s > s->checked_s && to_s >= s->next_s)
		check_passed(w, s, to_s);
	s->checked_s = to_s;
}

/*
 * The zone's local time has jumped: what lies in between was passed, or comes again. A look before
 * that left something for the next step: how far it came nobody can say, so that much is excused.
 */
void truth_follow_zone(struct truth_schedule *s, int64_t offset_s)
{
	if (s->zone != ZONE_MOVING || offset_s == s->zone_offset_s)
		return;
	if (offset_s < s->zone_offset_s)
		remember_shown(s);
	s->next_s = INT64_MIN;
	if (s->checked_s != INT64_MIN && s->seen_s > s->checked_s)
		s->checked_s = s->seen_s;
	if (s->checked_s != INT64_MIN)
		s->checked_s -= offset_s - s->zone_offset_s;
	s->seen_s = INT64_MIN;
	s->zone_offset_s = offset_s;
}

static int zone_kind(struct str name)
{
	for (int i = 0; name.p && i < N_SIM_ZONES; i++)
		if (str_is(name, sim_zone_names[i]))
			return i;
	return -1;
}

static void set_pattern(struct truth_schedule *s, const struct schedule_row *row)
{
	struct problem p = {0};
	int zone = zone_kind(row->zone);

	cron_items_release(&s->items);
	MUST(cron_items_json(row->items, &s->items, &p) == 0);
	if (zone == s->zone)
		return;
	/* places mean something else from now on */
	s->zone = zone;
	idmap_release(&s->decided);
	s->n_stretches = 0;
}

/* What was due before is the old pattern's, or the pause's. */
static void put(struct world *w, struct truth_schedule *s, const struct schedule_row *row)
{
	bool is_new = !s->row.id, pauses = row->state == SCHEDULE_PAUSED;
	bool was_paused = s->row.state == SCHEDULE_PAUSED;
	int64_t now_s = row->mtime_ms / 1000;
	/* one look deals with so many ticks only: the rest goes on after the change. And a pause
	 * whose time was over before covers no more than that time */
	bool behind = !is_new && !pauses && row->progress.done_until_s < now_s;
	int64_t to_s = behind ? row->progress.done_until_s : now_s;
	bool begins = (behind && was_paused) || row->progress.done_until_s == now_s;

	if (zone_kind(row->zone) == ZONE_MOVING)
		truth_follow_zone(s, row->progress.zone_offset_s);
	if (is_new || s->row.state == SCHEDULE_FINISHED || (was_paused && s->zone == ZONE_MOVING))
		s->checked_s = to_s;
	else if (!pauses || (was_paused && begins))
		truth_pass(w, s, to_s);
	if (!is_new && row->queue != s->row.queue)
		s->first_task = s->n_tasks;
	if (is_new || begins)
		s->begun_s = to_s;
	s->was_set |= !is_new && pauses == was_paused;
	s->zone_offset_s = row->progress.zone_offset_s;
	s->next_s = INT64_MIN;
	s->of_groups = row->group.p != NULL;
	set_pattern(s, row);
}

static void schedule_row(struct world *w, const struct schedule_row *row, bool whole)
{
	struct truth_schedule *s = truth_schedule_of(w, row->id);
	struct schedule_row was = s->row;

	truth_take_looks(w, s);
	if (s->deleted)
		world_fail(w, 40, "a deleted schedule is written");
	s->touched = true;
	if (whole) {
		put(w, s, row);
		s->row = *row;
	} else {
		s->row.state = row->state;
		s->row.progress = row->progress;
	}
	if (row->progress.seen_until_s < row->progress.done_until_s)
		s->held_s = row->progress.done_until_s;
	if (was.id && was.state != s->row.state)
		world_tell(
		    w, "store: schedule %u is %s", s->number, schedule_state_names[s->row.state]);
}

void judge_schedule_stored(struct world *w, const struct row_op *op)
{
	if (op->table == &tick_table && op->verb != ROW_DELETE)
		judge_tick_row(w, op->row);
	if (op->table != &schedule_table)
		return;
	if (op->verb == ROW_DELETE)
		truth_schedule_of(w, op->id)->deleted = true;
	else
		schedule_row(w, op->row, op->verb == ROW_PUT);
}

static void check_counts(struct world *w, const struct truth_schedule *s)
{
	const struct schedule_progress *p = &s->row.progress;
	int64_t waiting = s->waiting ? s->waiting->tick_s : 0;

	if (p->n_fired != s->n_fired || p->n_skipped != s->n_skipped)
		world_fail(w, 40, "it counts %lld fired and %lld skipped, rows are %lld and %lld",
		    (long long)p->n_fired, (long long)p->n_skipped, (long long)s->n_fired,
		    (long long)s->n_skipped);
	if (p->waiting_s != waiting)
		world_fail(w, 40, "it says that tick %lld waits, the row is tick %lld's",
		    (long long)p->waiting_s, (long long)waiting);
	for (size_t i = s->n_tasks; i-- > 0 && !(s->tasks[i]->marks & MARK_HAS_TICK);)
		world_fail(w, 19, "task %u of tick %lld has no row of a tick", s->tasks[i]->number,
		    (long long)s->tasks[i]->owner.part);
}

/* A batch is whole: its rows agree. */
void judge_schedules_applied(struct world *w)
{
	struct sim_schedules *all = schedules_of(w);

	for (size_t i = 0; all && i < all->n; i++) {
		struct truth_schedule *s = all->all[i];

		if (s->touched && !s->deleted)
			check_counts(w, s);
		s->touched = false;
	}
}
