/* SPDX-License-Identifier: Apache-2.0 */
/* Stories about schedules: which ticks get a task, through restarts, set clocks and moved zones. */
#include "schedule_story.h"

STORY(every_tick_has_one_task)
{
	struct world *w = quiet_world();

	add(w, "s", (struct asked){0});
	world_advance(w, 5 * MINUTE);
	assert_int_equal(w->n_tasks, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(w->tasks[i].spec.owner.part, 1800000060 + 60 * (int64_t)i);
		assert_int_equal(w->tasks[i].ctime_ms, w->tasks[i].spec.owner.part * 1000);
		assert_int_equal(w->ticks[i].task, w->tasks[i].id);
	}
	assert_int_equal(count_ticks(w, TICK_FIRED), 5);
	world_free(w);
}

STORY(what_was_not_committed_happens_again_once)
{
	struct world *w = quiet_world();

	add(w, "s", (struct asked){0});
	w->hold = true;
	world_advance(w, MINUTE);
	assert_int_equal(w->n_tasks, 0);
	world_restart(w);
	world_advance(w, 0);
	assert_int_equal(w->n_tasks, 1);
	world_restart(w);
	world_advance(w, 0);
	assert_int_equal(w->n_tasks, 1);
	world_advance(w, MINUTE);
	assert_int_equal(w->n_tasks, 2);
	world_free(w);
}

STORY(missed_ticks_are_skipped_as_one_stretch)
{
	struct world *w = after_downtime((struct asked){.missed = MISSED_SKIP});

	assert_int_equal(w->n_ticks, 2);
	assert_int_equal(w->ticks[0].outcome, TICK_SKIPPED);
	assert_int_equal(w->ticks[0].tick_s, 1800000060);
	assert_non_null(strstr(w->ticks[0].reason.p, "the server was not running"));
	assert_int_equal(w->ticks[1].outcome, TICK_FIRED);
	assert_int_equal(w->ticks[0].until_s + 60, w->ticks[1].tick_s);
	assert_int_equal(w->n_tasks, 1);
	world_free(w);
}

STORY(of_missed_ticks_the_newest_runs_once)
{
	struct world *w = after_downtime((struct asked){.missed = MISSED_ONCE});

	assert_int_equal(w->n_tasks, 2);
	assert_int_equal(w->tasks[0].spec.owner.part + 60, w->tasks[1].spec.owner.part);
	assert_int_equal(w->ticks[0].outcome, TICK_SKIPPED);
	assert_int_equal(w->ticks[0].until_s + 60, w->tasks[0].spec.owner.part);
	world_free(w);
}

/* The newest of the missed ones does not run either: no row may say that one does in its place. */
STORY(what_stands_for_nothing_is_not_said_to_stand_for_others)
{
	static const int overlaps[] = {OVERLAP_SKIP, OVERLAP_QUEUE};

	for (size_t i = 0; i < 2; i++) {
		struct world *w = quiet_world();

		add(w, "s", (struct asked){.overlap = overlaps[i], .missed = MISSED_ONCE});
		world_advance(w, 2 * MINUTE); /* a task that nobody runs, and a tick after it */
		w->now_ms += 10 * MINUTE;
		world_restart(w);
		world_advance(w, 0);
		assert_int_equal(w->n_tasks, 1);
		assert_true(w->n_ticks >= 4);
		assert_non_null(strstr(w->ticks[2].reason.p, "missed, and only the newest counts"));
		assert_int_equal(w->ticks[3].outcome, TICK_SKIPPED);
		assert_int_equal(w->ticks[3].tick_s, w->ticks[2].until_s + 60);
		world_free(w);
	}
}

STORY(all_missed_ticks_run)
{
	struct world *w = after_downtime((struct asked){.missed = MISSED_ALL});

	assert_int_equal(w->n_tasks, 62);
	assert_int_equal(count_ticks(w, TICK_SKIPPED), 0);
	assert_non_null(strstr(w->ticks[0].reason.p, "late"));
	world_free(w);
}

STORY(what_is_older_than_the_limit_is_passed_over)
{
	struct world *w = after_downtime((struct asked){.missed = MISSED_ALL, .max_shift_s = 600});

	assert_int_equal(w->ticks[0].outcome, TICK_SKIPPED);
	assert_non_null(strstr(w->ticks[0].reason.p, "more than 600 s"));
	assert_int_equal(w->n_tasks, 10);
	assert_int_equal(w->n_ticks, 11);
	world_free(w);
}

STORY(exactly_the_limit_is_still_within_it)
{
	for (int64_t late_s = 600; late_s <= 601; late_s++) {
		struct world *w = quiet_world();

		add(w, "s",
		    (struct asked){.items = "{\"epoch\":1800000060}",
		        .missed = MISSED_ALL,
		        .max_shift_s = 600});
		set_clock(w, (1800000060 + late_s) * 1000 - w->now_ms);
		assert_int_equal(w->n_tasks, late_s == 600);
		assert_int_equal(last_tick(w)->outcome, late_s == 600 ? TICK_FIRED : TICK_SKIPPED);
		world_free(w);
	}
}

STORY(many_missed_ticks_come_in_several_batches)
{
	struct world *w = quiet_world();

	add(w, "s", (struct asked){.items = "{\"epoch\":{\"period\":1}}", .missed = MISSED_ALL});
	w->now_ms += 5000 * 1000;
	world_restart(w);
	world_advance(w, 0);
	assert_int_equal(w->n_tasks, 5000);
	assert_true(w->seq > 10);
	world_free(w);
}

STORY(overlap_skip)
{
	struct world *w = quiet_world();

	add(w, "s", (struct asked){.overlap = OVERLAP_SKIP});
	world_advance(w, 3 * MINUTE);
	assert_int_equal(w->n_tasks, 1);
	assert_int_equal(count_ticks(w, TICK_SKIPPED), 2);
	assert_non_null(strstr(last_tick(w)->reason.p, "has not ended"));
	end_task(w, w->tasks[0].id);
	world_advance(w, MINUTE);
	assert_int_equal(w->n_tasks, 2);
	world_free(w);
}

STORY(overlap_queue_keeps_one_waiting)
{
	struct world *w = quiet_world();

	add(w, "s", (struct asked){.overlap = OVERLAP_QUEUE});
	world_advance(w, 3 * MINUTE);
	assert_int_equal(w->n_tasks, 1);
	assert_int_equal(w->ticks[1].outcome, TICK_WAITING);
	assert_int_equal(w->ticks[2].outcome, TICK_SKIPPED);
	world_restart(w);
	end_task(w, w->tasks[0].id);
	world_advance(w, 0);
	assert_int_equal(w->n_tasks, 2);
	assert_int_equal(w->tasks[1].spec.owner.part, w->ticks[1].tick_s);
	assert_int_equal(w->ticks[1].outcome, TICK_FIRED);
	world_free(w);
}

STORY(overlap_replace_cancels_what_runs)
{
	struct world *w = quiet_world();

	add(w, "s", (struct asked){.overlap = OVERLAP_REPLACE});
	world_advance(w, 2 * MINUTE);
	assert_int_equal(w->tasks[0].state.status, TASK_CANCELLED);
	assert_int_equal(w->n_tasks, 2);
	assert_int_equal(w->tasks[1].state.status, TASK_QUEUED);
	assert_int_equal(count_ticks(w, TICK_FIRED), 2);
	world_free(w);
}

/* The worker takes a while to end the task: two more ticks come by, the newest wins. */
STORY(overlap_replace_waits_for_the_end)
{
	struct world *w = quiet_world();
	const struct message *run;

	world_hello(w, 1, "w1", 1, 4, NULL, 0);
	add(w, "s", (struct asked){.overlap = OVERLAP_REPLACE});
	world_advance(w, MINUTE);
	run = world_sent(w, MSG_RUN, 0);
	world_started(w, 1, run->run.task, run->run.token);
	world_advance(w, 2 * MINUTE);
	assert_int_equal(w->n_tasks, 1);
	assert_true(world_count_sent(w, MSG_KILL) >= 1);
	assert_int_equal(w->ticks[1].outcome, TICK_SKIPPED);
	assert_int_equal(w->ticks[2].outcome, TICK_WAITING);
	world_ended(w, 1, w->tasks[0].id, run->run.token, TASK_CANCELLED);
	assert_true(core_wake_ms(w->core) <= w->mono_ms);
	world_advance(w, 0);
	assert_int_equal(w->n_tasks, 2);
	assert_int_equal(w->tasks[1].spec.owner.part, w->ticks[2].tick_s);
	world_free(w);
}

STORY(a_clock_set_back_repeats_nothing)
{
	struct world *w = quiet_world();

	add(w, "s", (struct asked){.max_shift_s = 600});
	world_advance(w, 10 * MINUTE);
	set_clock(w, -5 * MINUTE); /* within the limit */
	world_advance(w, 5 * MINUTE);
	assert_int_equal(w->n_tasks, 10);
	world_advance(w, MINUTE);
	assert_int_equal(w->n_tasks, 11);
	set_clock(w, -60 * MINUTE); /* and beyond: to before it was made */
	world_advance(w, 49 * MINUTE);
	assert_int_equal(w->n_tasks, 11 + 49);
	world_advance(w, 11 * MINUTE);
	assert_int_equal(w->n_tasks, 11 + 49);
	world_advance(w, MINUTE);
	assert_int_equal(w->n_tasks, 11 + 50);
	world_free(w);
}

STORY(a_year_ahead_and_back)
{
	struct world *w = quiet_world();
	int64_t year = 365 * 24 * HOUR;
	size_t before;

	add(w, "s", (struct asked){.max_shift_s = 600, .missed = MISSED_ALL});
	world_advance(w, 3 * MINUTE);
	set_clock(w, year);
	assert_int_equal(w->n_tasks, 3 + 10);
	world_advance(w, 2 * MINUTE);
	assert_int_equal(w->n_tasks, 3 + 12);
	set_clock(w, -year);
	before = w->n_tasks;
	world_advance(w, 5 * MINUTE);
	assert_int_equal(w->n_tasks, before + 5);
	world_free(w);
}

STORY(seconds_of_ntp_are_nothing)
{
	struct world *w = quiet_world();

	add(w, "s", (struct asked){0});
	for (int i = 0; i < 20; i++) {
		world_advance(w, MINUTE);
		set_clock(w, i % 2 ? 2000 : -2000);
	}
	assert_int_equal(w->n_tasks, 20);
	assert_int_equal(count_ticks(w, TICK_SKIPPED), 0);
	world_free(w);
}

/* 1800000000 is a Friday, 08:00 UTC. */
STORY(a_zone_that_moves_west_does_not_repeat)
{
	struct world *w = quiet_world();
	struct cron_zone *utc = posix("UTC0"), *west = posix("WST3");

	tell_zone(w, utc);
	add(w, "s", (struct asked){.items = daily, .zone = w->zone_name, .max_shift_s = 4 * 3600});
	world_advance(w, HOUR);
	assert_int_equal(w->n_tasks, 1);
	tell_zone(w, west); /* it is 06:00 again */
	world_advance(w, 12 * HOUR);
	assert_int_equal(w->n_tasks, 1);
	world_advance(w, 24 * HOUR);
	assert_int_equal(w->n_tasks, 2);
	world_free(w);
	cron_zone_free(utc);
	cron_zone_free(west);
}

STORY(a_zone_that_moves_east_makes_up_for_what_it_jumped)
{
	struct world *w = quiet_world();
	struct cron_zone *utc = posix("UTC0"), *east = posix("EST-3");

	tell_zone(w, utc);
	add(w, "s",
	    (struct asked){.items = daily,
	        .zone = w->zone_name,
	        .missed = MISSED_ALL,
	        .max_shift_s = 4 * 3600});
	tell_zone(w, east); /* 11:00 at once: 08:30 was jumped over */
	assert_int_equal(w->n_tasks, 1);
	assert_non_null(strstr(w->ticks[0].reason.p, "time zone"));
	world_advance(w, 24 * HOUR);
	assert_int_equal(w->n_tasks, 2);
	world_free(w);
	cron_zone_free(utc);
	cron_zone_free(east);
}

STORY(without_its_zone_it_waits)
{
	struct world *w = quiet_world();
	struct cron_zone *utc = posix("UTC0");
	struct schedule_view v;
	struct arena a = {0};
	rid id = add(w, "s", (struct asked){.items = daily, .zone = "Some/Where"});

	world_advance(w, HOUR);
	assert_int_equal(w->n_tasks, 0);
	assert_true(core_schedule(w->core, id, &a, &v));
	assert_non_null(strstr(v.failed, "time zone"));
	tell_zone(w, utc);
	assert_true(core_schedule(w->core, id, &a, &v));
	assert_null(v.failed);
	assert_true(v.next_s > 0);
	arena_release(&a);
	world_free(w);
	cron_zone_free(utc);
}

STORY(a_pause_leaves_one_recorded_skip)
{
	struct world *w = quiet_world();
	rid id = add(w, "s", (struct asked){0});

	world_advance(w, MINUTE);
	command(
	    w, &(struct event){.kind = EV_PAUSE,
	           .object = {.kind = KIND_SCHEDULE, .id = id, .reason = STR("the disk is full")}});
	world_advance(w, 10 * MINUTE);
	assert_int_equal(w->n_tasks, 1);
	world_restart(w);
	assert_int_equal(act(w, EV_RESUME, id)->code, 0);
	assert_int_equal(w->n_ticks, 2);
	assert_int_equal(w->ticks[1].outcome, TICK_SKIPPED);
	assert_int_equal(w->ticks[1].tick_s, w->ticks[0].tick_s + 60);
	assert_string_equal(w->ticks[1].reason.p, "paused: the disk is full");
	world_advance(w, MINUTE);
	assert_int_equal(w->n_tasks, 2);
	world_free(w);
}

STORY(a_pause_ends_by_itself)
{
	struct world *w = quiet_world();
	rid id = add(w, "s", (struct asked){0});

	command(w,
	    &(struct event){.kind = EV_PAUSE,
	        .object = {.kind = KIND_SCHEDULE, .id = id, .until_ms = w->now_ms + 5 * MINUTE}});
	world_advance(w, 5 * MINUTE);
	assert_int_equal(world_schedule(w, id)->state, SCHEDULE_ACTIVE);
	world_advance(w, MINUTE);
	assert_int_equal(w->n_tasks, 1);
	world_free(w);
}

/* Nobody is there when it ends: what was due after it was missed, not paused. */
STORY(a_pause_that_ends_in_a_downtime_covers_no_more_than_it_was)
{
	struct world *w = quiet_world();
	rid id = add(w, "s", (struct asked){.missed = MISSED_ALL});

	command(
	    w, &(struct event){.kind = EV_PAUSE,
	           .object = {
	               .kind = KIND_SCHEDULE, .id = id, .until_ms = 1800000000000 + 5 * MINUTE}});
	w->now_ms += 10 * MINUTE;
	world_restart(w);
	world_advance(w, 0);
	assert_int_equal(w->ticks[0].outcome, TICK_SKIPPED);
	assert_int_equal(w->ticks[0].until_s, 1800000000 + 5 * 60 - 1);
	assert_int_equal(w->n_tasks, 6);
	assert_int_equal(w->tasks[0].spec.owner.part, 1800000000 + 5 * 60);
	world_free(w);
}

STORY(what_has_nothing_to_do_is_finished_at_once)
{
	struct world *w = quiet_world();
	rid id = add(w, "s", (struct asked){.items = "{\"epoch\":5}"});

	assert_int_equal(world_schedule(w, id)->state, SCHEDULE_FINISHED);
	world_free(w);
}

/* Six seconds late are nothing for a nightly run, and very late for one that runs every ten. */
STORY(how_late_is_late_goes_by_the_next_tick)
{
	struct world *w = quiet_world();

	add(w, "s", (struct asked){.items = "{\"epoch\":{\"period\":10}}", .missed = MISSED_SKIP});
	w->now_ms += 136000;
	world_restart(w);
	world_advance(w, 0);
	assert_int_equal(w->n_ticks, 1); /* 1800000166: the last one was 6 s ago */
	assert_int_equal(w->ticks[0].outcome, TICK_SKIPPED);
	assert_int_equal(w->ticks[0].until_s, 1800000160);
	assert_int_equal(w->n_tasks, 0);
	world_advance(w, 4000);
	assert_int_equal(w->n_tasks, 1);
	world_free(w);
}

STORY(dates_bound_it)
{
	struct world *w = quiet_world();
	rid id = add(w, "s",
	    (struct asked){.start_ms = w->now_ms + 10 * MINUTE, .end_ms = w->now_ms + 13 * MINUTE});

	world_advance(w, 10 * MINUTE);
	assert_int_equal(w->n_tasks, 0);
	world_advance(w, 30 * MINUTE);
	assert_int_equal(w->n_tasks, 3);
	assert_int_equal(world_schedule(w, id)->state, SCHEDULE_FINISHED);
	assert_int_equal(w->n_ticks, 3);
	world_free(w);
}

STORY(jitter_delays_each_task_by_its_own)
{
	struct world *w = quiet_world();
	bool differ = false;

	add(w, "s", (struct asked){.jitter_ms = 30000});
	world_advance(w, 5 * MINUTE);
	assert_int_equal(w->n_tasks, 5);
	for (size_t i = 0; i < 5; i++) {
		int64_t by = w->tasks[i].spec.run_after_ms - w->tasks[i].spec.owner.part * 1000;

		assert_in_range(by, 0, 30000);
		differ = differ ||
		         by != w->tasks[0].spec.run_after_ms - w->tasks[0].spec.owner.part * 1000;
	}
	assert_true(differ);
	world_free(w);
}

STORY(a_past_range_is_filled_in_once)
{
	struct world *w = quiet_world();
	rid id = add(w, "s", (struct asked){0});

	world_advance(w, 3 * MINUTE);
	assert_int_equal(backfill(w, id, 1800000000 - 600, 1800000130)->n, 11);
	assert_int_equal(w->n_tasks, 3 + 11);
	assert_int_equal(count_ticks(w, TICK_BACKFILL), 11);
	assert_int_equal(backfill(w, id, 1800000000 - 660, 1800000130)->n, 1);
	assert_int_equal(backfill(w, id, 1800000000, 1800000900)->code, ERR_INVALID);
	assert_int_equal(backfill(w, id, 60, 1800000000)->code, ERR_TOO_LARGE);
	world_free(w);
}

STORY(filling_in_a_part_of_a_pause_leaves_its_skip)
{
	struct world *w = quiet_world();
	rid id = add(w, "s", (struct asked){0});

	act(w, EV_PAUSE, id);
	world_advance(w, 10 * MINUTE);
	act(w, EV_RESUME, id);
	assert_int_equal(w->n_ticks, 1);
	assert_int_equal(backfill(w, id, 1800000060, 1800000180)->n, 2);
	assert_int_equal(count_ticks(w, TICK_BACKFILL), 2);
	assert_int_equal(w->ticks[0].outcome, TICK_SKIPPED);
	assert_int_equal(w->ticks[0].tick_s, 1800000060);
	assert_int_equal(w->ticks[0].until_s, w->now_ms / 1000);
	world_free(w);
}

/* Retention has taken the rows: nobody can tell any more what ran. */
STORY(what_is_not_recorded_any_more_is_not_filled_in)
{
	struct world *w = quiet_world();
	rid id = add(w, "s", (struct asked){0});

	world_advance(w, 3 * MINUTE);
	w->n_ticks = 0;
	assert_int_equal(backfill(w, id, 1800000060, 1800000130)->code, ERR_CONFLICT);
	assert_int_equal(backfill(w, id, 1799999000, 1800000030)->code, 0);
	assert_int_equal(backfill(w, id, 1799999000, 1800000030)->n, 0);
	world_free(w);
}

STORY(what_waits_for_its_turn_is_not_filled_in)
{
	struct world *w = quiet_world();
	rid id = add(w, "s", (struct asked){.overlap = OVERLAP_QUEUE});

	world_advance(w, 2 * MINUTE);
	assert_int_equal(w->ticks[1].outcome, TICK_WAITING);
	assert_int_equal(backfill(w, id, 1800000060, 1800000130)->n, 0);
	end_task(w, w->tasks[0].id);
	world_advance(w, 0);
	assert_int_equal(w->n_tasks, 2);
	world_free(w);
}

/* Too old to be made up for, filled in by hand; then the clock is set back to before it. */
STORY(what_was_filled_in_does_not_fire_when_the_clock_comes_back)
{
	struct world *w = quiet_world();
	rid id = add(w, "s", (struct asked){.max_shift_s = 60, .missed = MISSED_SKIP});

	set_clock(w, HOUR);
	assert_int_equal(backfill(w, id, 1800000060, 1800000360)->n, 5);
	assert_int_equal(w->n_tasks, 6);
	set_clock(w, -HOUR);
	world_advance(w, 5 * MINUTE);
	assert_int_equal(w->n_tasks, 6);
	world_advance(w, MINUTE);
	assert_int_equal(w->n_tasks, 7);
	world_free(w);
}

STORY(somebody_runs_it_now)
{
	struct world *w = quiet_world();
	rid id = add(w, "s", (struct asked){.overlap = OVERLAP_SKIP});

	assert_int_equal(run(w, id)->n, 1);
	assert_int_equal(run(w, id)->n, 1);
	assert_int_equal(w->n_tasks, 2);
	assert_int_equal(count_ticks(w, TICK_MANUAL), 2);
	assert_int_equal(w->tasks[0].spec.owner.part, 0);
	world_advance(w, MINUTE);
	assert_int_equal(count_ticks(w, TICK_SKIPPED), 1);
	world_free(w);
}

STORY(deleted_it_does_nothing_more)
{
	struct world *w = quiet_world();
	rid id = add(w, "s", (struct asked){0});

	world_advance(w, MINUTE);
	assert_int_equal(act(w, EV_DELETE, id)->code, 0);
	world_advance(w, 5 * MINUTE);
	assert_int_equal(w->n_tasks, 1);
	assert_int_equal(w->n_ticks, 0);
	end_task(w, w->tasks[0].id);
	assert_int_equal(run(w, id)->code, ERR_NOT_FOUND);
	world_free(w);
}

STORY(a_queue_in_use_stays)
{
	struct world *w = quiet_world();
	const struct reply *r;

	add(w, "nightly", (struct asked){0});
	r = command(w, &(struct event){.kind = EV_DELETE,
	                   .object = {.kind = KIND_QUEUE, .id = w->queues[0].id, .force = true}});
	assert_int_equal(r->code, ERR_CONFLICT);
	assert_non_null(strstr(r->problem->what, "nightly"));
	world_free(w);
}

STORY(names_are_unique)
{
	struct world *w = quiet_world();
	struct schedule_change ch = {
	    .fields = SCHEDULE_BIT(name), .row = {.name = STR("a"), .items = str_of(every_minute)}};
	rid a = add(w, "a", (struct asked){0}), b = add(w, "b", (struct asked){0});
	const struct reply *r = command(w,
	    &(struct event){.kind = EV_SET,
	        .object = {.kind = KIND_SCHEDULE, .id = b, .row = &ch.row, .fields = ch.fields}});

	assert_int_equal(r->code, ERR_CONFLICT);
	assert_int_equal(core_find(w->core, KIND_SCHEDULE, STR("a")), a);
	assert_int_equal(core_next_name(w->core, KIND_SCHEDULE, STR("a")), b);
	assert_int_equal(core_next_name(w->core, KIND_SCHEDULE, STR("b")), 0);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_tick_has_one_task),
	    cmocka_unit_test(what_was_not_committed_happens_again_once),
	    cmocka_unit_test(missed_ticks_are_skipped_as_one_stretch),
	    cmocka_unit_test(of_missed_ticks_the_newest_runs_once),
	    cmocka_unit_test(what_stands_for_nothing_is_not_said_to_stand_for_others),
	    cmocka_unit_test(all_missed_ticks_run),
	    cmocka_unit_test(what_is_older_than_the_limit_is_passed_over),
	    cmocka_unit_test(exactly_the_limit_is_still_within_it),
	    cmocka_unit_test(many_missed_ticks_come_in_several_batches),
	    cmocka_unit_test(overlap_skip),
	    cmocka_unit_test(overlap_queue_keeps_one_waiting),
	    cmocka_unit_test(overlap_replace_cancels_what_runs),
	    cmocka_unit_test(overlap_replace_waits_for_the_end),
	    cmocka_unit_test(a_clock_set_back_repeats_nothing),
	    cmocka_unit_test(a_year_ahead_and_back),
	    cmocka_unit_test(seconds_of_ntp_are_nothing),
	    cmocka_unit_test(a_zone_that_moves_west_does_not_repeat),
	    cmocka_unit_test(a_zone_that_moves_east_makes_up_for_what_it_jumped),
	    cmocka_unit_test(without_its_zone_it_waits),
	    cmocka_unit_test(a_pause_leaves_one_recorded_skip),
	    cmocka_unit_test(a_pause_ends_by_itself),
	    cmocka_unit_test(a_pause_that_ends_in_a_downtime_covers_no_more_than_it_was),
	    cmocka_unit_test(what_has_nothing_to_do_is_finished_at_once),
	    cmocka_unit_test(how_late_is_late_goes_by_the_next_tick),
	    cmocka_unit_test(dates_bound_it),
	    cmocka_unit_test(jitter_delays_each_task_by_its_own),
	    cmocka_unit_test(a_past_range_is_filled_in_once),
	    cmocka_unit_test(filling_in_a_part_of_a_pause_leaves_its_skip),
	    cmocka_unit_test(what_is_not_recorded_any_more_is_not_filled_in),
	    cmocka_unit_test(what_waits_for_its_turn_is_not_filled_in),
	    cmocka_unit_test(what_was_filled_in_does_not_fire_when_the_clock_comes_back),
	    cmocka_unit_test(somebody_runs_it_now),
	    cmocka_unit_test(deleted_it_does_nothing_more),
	    cmocka_unit_test(a_queue_in_use_stays),
	    cmocka_unit_test(names_are_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
