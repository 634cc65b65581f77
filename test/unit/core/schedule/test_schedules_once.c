/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More stories about schedules: each tick runs once, and leaves a trace, whatever is done to the
 * schedule, its zone and its clock meanwhile. Most of them were found by the simulator.
 */
#include <stdio.h>

#include "schedule_story.h"

STORY(what_has_waited_runs_once_through_a_restart)
{
	struct world *w = quiet_world();
	rid id = add(w, "s", (struct asked){.overlap = OVERLAP_QUEUE});

	world_advance(w, 2 * MINUTE);
	end_task(w, w->tasks[0].id);
	world_advance(w, 0);
	assert_int_equal(w->n_tasks, 2);
	assert_int_equal(world_schedule(w, id)->progress.waiting_s, 0);
	assert_int_equal(world_schedule(w, id)->progress.n_fired, 2);
	end_task(w, w->tasks[1].id);
	world_restart(w);
	world_advance(w, 0);
	assert_int_equal(w->n_tasks, 2);
	world_free(w);
}

/* With "replace" the newest of several late ticks wins; no older one runs after it. */
STORY(of_late_ticks_the_newest_replaces)
{
	struct world *w = after_downtime(
	    (struct asked){.overlap = OVERLAP_REPLACE, .missed = MISSED_ALL, .max_shift_s = 300});

	for (size_t i = 1; i < w->n_tasks; i++)
		assert_true(w->tasks[i - 1].spec.owner.part < w->tasks[i].spec.owner.part);
	assert_int_equal(w->tasks[w->n_tasks - 1].spec.owner.part, last_tick(w)->tick_s);
	assert_int_equal(count_ticks(w, TICK_WAITING), 0);
	world_free(w);
}

STORY(the_oldest_that_is_not_too_old_runs)
{
	struct world *w = quiet_world();

	add(w, "s", (struct asked){.missed = MISSED_ALL, .max_shift_s = 600});
	w->now_ms = 1800003600000;
	world_restart(w);
	world_advance(w, 0);
	assert_int_equal(count_tasks_of(w, 1800003600 - 600), 1);
	assert_int_equal(w->n_tasks, 11);
	world_free(w);
}

/* More often than there are spans to remember it by. */
STORY(many_long_absences_and_a_clock_set_back)
{
	struct world *w = quiet_world();
	size_t before;

	add(w, "s", (struct asked){.max_shift_s = 60});
	for (int i = 0; i < 8; i++) {
		world_advance(w, 3 * MINUTE);
		set_clock(w, HOUR);
	}
	before = w->n_tasks;
	set_clock(w, -9 * HOUR);
	world_advance(w, 10 * HOUR);
	assert_true(w->n_tasks > before);
	assert_no_tick_ran_twice(w);
	world_free(w);
}

STORY(changed_behind_its_own_time_it_repeats_nothing)
{
	struct world *w = quiet_world();
	struct schedule_change ch = {.fields = SCHEDULE_BIT(start_ms)};
	rid id = add(w, "s", (struct asked){.max_shift_s = 600});

	world_advance(w, 5 * MINUTE);
	set_clock(w, -3 * MINUTE);
	command(w,
	    &(struct event){.kind = EV_SET,
	        .object = {.kind = KIND_SCHEDULE, .id = id, .row = &ch.row, .fields = ch.fields}});
	world_advance(w, 5 * MINUTE);
	assert_int_equal(w->n_tasks, 7);
	assert_no_tick_ran_twice(w);
	world_free(w);
}

STORY(what_was_due_before_a_change_is_not_lost)
{
	struct world *w = quiet_world();
	struct schedule_change ch = {
	    .fields = SCHEDULE_BIT(items) | SCHEDULE_BIT(source) | SCHEDULE_BIT(zone),
	    .row = {.items = STR("{\"epoch\":{\"period\":3600}}"), .source = STR("a test")}};
	rid id = add(w, "s", (struct asked){0});

	w->now_ms += MINUTE; /* and nobody has looked yet */
	w->mono_ms += MINUTE;
	command(w,
	    &(struct event){.kind = EV_SET,
	        .object = {.kind = KIND_SCHEDULE, .id = id, .row = &ch.row, .fields = ch.fields}});
	assert_int_equal(count_tasks_of(w, 1800000060), 1);
	world_free(w);
}

STORY(a_change_during_a_pause_leaves_its_skip)
{
	struct world *w = quiet_world();
	struct schedule_change ch = {.fields = SCHEDULE_BIT(end_ms)};
	rid id = add(w, "s", (struct asked){0});

	assert_int_equal(act(w, EV_PAUSE, id)->code, 0);
	world_advance(w, 3 * MINUTE);
	command(w,
	    &(struct event){.kind = EV_SET,
	        .object = {.kind = KIND_SCHEDULE, .id = id, .row = &ch.row, .fields = ch.fields}});
	assert_int_equal(w->n_ticks, 1);
	assert_int_equal(w->ticks[0].tick_s, 1800000060);
	assert_int_equal(w->ticks[0].outcome, TICK_SKIPPED);
	assert_int_equal(world_schedule(w, id)->state, SCHEDULE_PAUSED);
	world_free(w);
}

STORY(a_pause_ends_by_itself_through_restarts_and_set_clocks)
{
	struct world *w = quiet_world();
	rid id = add(w, "s", (struct asked){0});

	command(w,
	    &(struct event){.kind = EV_PAUSE,
	        .object = {.kind = KIND_SCHEDULE, .id = id, .until_ms = w->now_ms + 5 * MINUTE}});
	world_restart(w);
	world_advance(w, MINUTE);
	set_clock(w, MINUTE);
	world_advance(w, 3 * MINUTE);
	assert_int_equal(world_schedule(w, id)->state, SCHEDULE_ACTIVE);
	world_free(w);
}

STORY(a_resume_behind_its_own_time_takes_no_task_away)
{
	struct world *w = quiet_world();
	rid id = add(w, "s", (struct asked){.max_shift_s = 60});

	world_advance(w, 5 * MINUTE);
	set_clock(w, -4 * MINUTE);
	assert_int_equal(act(w, EV_PAUSE, id)->code, 0);
	world_advance(w, 2 * MINUTE);
	assert_int_equal(act(w, EV_RESUME, id)->code, 0);
	assert_int_equal(count_ticks(w, TICK_FIRED), 5);
	world_advance(w, 4 * MINUTE);
	assert_int_equal(w->n_tasks, 7);
	assert_no_tick_ran_twice(w);
	world_free(w);
}

/* Further than the limit, and back again: the same times by the same zone. */
STORY(a_zone_that_moves_there_and_back_repeats_nothing)
{
	struct world *w = quiet_world();
	struct cron_zone *utc = posix("UTC0"), *west = posix("WST3");

	tell_zone(w, utc);
	add(w, "s",
	    (struct asked){
	        .items = daily, .zone = w->zone_name, .missed = MISSED_ALL, .max_shift_s = 3600});
	world_advance(w, HOUR);
	tell_zone(w, west);
	world_advance(w, MINUTE);
	tell_zone(w, utc);
	world_advance(w, MINUTE);
	assert_int_equal(w->n_tasks, 1);
	world_free(w);
	cron_zone_free(utc);
	cron_zone_free(west);
}

/* Nobody looks at a paused schedule, so nobody has noticed that its zone was moved. */
STORY(what_is_filled_in_amid_a_pause_belongs_to_the_zone_of_then)
{
	struct world *w = quiet_world();
	struct cron_zone *utc = posix("UTC0"), *west = posix("WST3");
	static const char often[] =
	    "{\"minute\":{\"period\":1},\"dst_fixes\":[\"skip\",\"repeat_use_both\"]}";
	rid id;

	tell_zone(w, utc);
	id =
	    add(w, "s", (struct asked){.items = often, .zone = w->zone_name, .missed = MISSED_ALL});
	act(w, EV_PAUSE, id);
	tell_zone(w, west);
	assert_int_equal(backfill(w, id, 1799999940, 1800000001)->n, 2);
	act(w, EV_RESUME, id);
	set_clock(w, -4 * HOUR);
	set_clock(w, 4 * HOUR);
	assert_no_tick_ran_twice(w);
	world_free(w);
	cron_zone_free(utc);
	cron_zone_free(west);
}

STORY(what_waits_keeps_its_row_when_its_zone_moves)
{
	struct world *w = quiet_world();
	struct cron_zone *utc = posix("UTC0"), *west = posix("WST3");
	static const char often[] =
	    "{\"minute\":{\"period\":1},\"dst_fixes\":[\"skip\",\"repeat_use_both\"]}";

	tell_zone(w, utc);
	add(w, "s",
	    (struct asked){.items = often,
	        .zone = w->zone_name,
	        .overlap = OVERLAP_QUEUE,
	        .max_shift_s = 4 * 3600});
	world_advance(w, 2 * MINUTE);
	assert_int_equal(count_ticks(w, TICK_WAITING), 1);
	tell_zone(w, west);
	end_task(w, w->tasks[0].id);
	world_advance(w, 0);
	assert_int_equal(count_ticks(w, TICK_WAITING), 0);
	assert_int_equal(count_ticks(w, TICK_FIRED), 2);
	world_free(w);
	cron_zone_free(utc);
	cron_zone_free(west);
}

STORY(what_was_filled_in_is_done_when_the_clock_comes_back)
{
	struct world *w = quiet_world();
	rid id = add(w, "s", (struct asked){.max_shift_s = 60});

	world_advance(w, MINUTE);
	set_clock(w, HOUR);
	assert_int_equal(backfill(w, id, 1800000600, 1800001200)->n, 10);
	set_clock(w, -HOUR);
	world_advance(w, HOUR);
	assert_no_tick_ran_twice(w);
	world_free(w);
}

STORY(what_waits_is_not_filled_in)
{
	struct world *w = quiet_world();
	rid id = add(w, "s", (struct asked){.overlap = OVERLAP_QUEUE});

	world_advance(w, 2 * MINUTE);
	assert_int_equal(backfill(w, id, 1800000060, 1800000121)->n, 0);
	end_task(w, w->tasks[0].id);
	world_advance(w, 0);
	assert_int_equal(w->n_tasks, 2);
	world_free(w);
}

STORY(what_fires_while_the_past_is_read_is_not_filled_in)
{
	struct world *w = quiet_world();
	rid id = add(w, "s", (struct asked){0});

	w->hold_reads = true;
	world_step(w, &(struct event){.kind = EV_DO,
	                  .ticket = ++w->last_ticket,
	                  .actor = STR("test"),
	                  .object = {.kind = KIND_SCHEDULE,
	                      .verb = SCHEDULE_BACKFILL,
	                      .id = id,
	                      .from_s = 1800000030,
	                      .to_s = 1800000061}});
	world_advance(w, MINUTE);
	assert_int_equal(w->n_tasks, 1);
	world_answer_reads(w);
	assert_int_equal(world_reply(w)->code, ERR_CONFLICT);
	assert_no_tick_ran_twice(w);
	world_free(w);
}

/* The schedule's task waits in the store, and nobody has read it yet. */
STORY(a_queue_that_goes_takes_no_other_queues_tasks_along)
{
	struct world *w = quiet_world();
	rid other = world_queue(w, "other", 1, ORDER_FIFO);

	add(w, "s", (struct asked){.overlap = OVERLAP_SKIP});
	world_advance(w, MINUTE);
	w->hold_reads = true;
	world_restart(w);
	command(w, &(struct event){.kind = EV_DELETE, .object = {.kind = KIND_QUEUE, .id = other}});
	assert_int_equal(world_reply(w)->code, 0);
	world_advance(w, MINUTE);
	assert_int_equal(w->n_tasks, 1);
	assert_int_equal(count_ticks(w, TICK_SKIPPED), 1);
	world_free(w);
}

/* A place in line is as good as a task: it gets one when its turn has come. */
STORY(what_begins_to_wait_while_the_past_is_read_is_not_filled_in)
{
	struct world *w = quiet_world();
	rid id = add(w, "s", (struct asked){.overlap = OVERLAP_QUEUE});

	world_advance(w, MINUTE);
	assert_int_equal(w->n_tasks, 1);
	w->hold_reads = true;
	world_step(w, &(struct event){.kind = EV_DO,
	                  .ticket = ++w->last_ticket,
	                  .actor = STR("test"),
	                  .object = {.kind = KIND_SCHEDULE,
	                      .verb = SCHEDULE_BACKFILL,
	                      .id = id,
	                      .from_s = 1800000090,
	                      .to_s = 1800000121}});
	world_advance(w, MINUTE);
	assert_int_equal(world_schedule(w, id)->progress.waiting_s, 1800000120);
	world_answer_reads(w);
	assert_int_equal(world_reply(w)->code, ERR_CONFLICT);
	end_task(w, w->tasks[0].id);
	world_advance(w, 0);
	assert_no_tick_ran_twice(w);
	world_free(w);
}

static void told_of(struct world *w, const char *name, const struct cron_zone *z)
{
	world_step(w, &(struct event){.kind = EV_ZONE, .zone = {.name = str_of(name), .zone = z}});
}

/* As the server does, every minute. */
static void take_back_unneeded(struct world *w, size_t n)
{
	char name[32];

	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof name, "Zone/%zu", i);
		if (!core_needs_zone(w->core, str_of(name)))
			told_of(w, name, NULL);
	}
}

STORY(zones_that_no_schedule_is_in_are_forgotten)
{
	enum { MANY = 60 };
	struct world *w = quiet_world();
	struct schedule_change none = {
	    .fields = SCHEDULE_BIT(items) | SCHEDULE_BIT(source) | SCHEDULE_BIT(zone),
	    .row = {.items = str_of(every_minute), .source = STR("a test")}};
	struct cron_zone *z = posix("UTC0");
	rid ids[MANY];
	char name[32];

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "Zone/%d", i);
		told_of(w, name, z);
		ids[i] = add(w, name, (struct asked){.items = daily, .zone = name});
	}
	take_back_unneeded(w, MANY);
	assert_int_equal(core_zones(w->core), MANY);
	for (int i = 0; i < MANY - 2; i++)
		assert_int_equal(act(w, EV_DELETE, ids[i])->code, 0);
	/* the last but one stays, and goes by no zone any more */
	command(w, &(struct event){.kind = EV_SET,
	               .object = {.kind = KIND_SCHEDULE,
	                   .id = ids[MANY - 2],
	                   .row = &none.row,
	                   .fields = none.fields}});
	take_back_unneeded(w, MANY);
	assert_int_equal(core_zones(w->core), 1);
	world_advance(w, 26 * HOUR); /* the last one goes on */
	assert_true(count_ticks(w, TICK_FIRED) > 0);
	/* whose schedule goes and comes back is told of anew */
	assert_int_equal(act(w, EV_DELETE, ids[MANY - 1])->code, 0);
	take_back_unneeded(w, MANY);
	assert_int_equal(core_zones(w->core), 0);
	told_of(w, "Zone/1", z);
	add(w, "again", (struct asked){.items = daily, .zone = "Zone/1"});
	take_back_unneeded(w, MANY);
	assert_int_equal(core_zones(w->core), 1);
	world_free(w);
	cron_zone_free(z);
}

STORY(a_zone_that_a_waiting_command_names_is_needed)
{
	struct world *w = quiet_world();
	struct cron_zone *z = posix("UTC0");
	struct schedule_change ch = {.fields = row_settable(&schedule_table),
	    .row = {.name = STR("s"),
	        .items = str_of(daily),
	        .source = STR("a test"),
	        .zone = STR("Zone/0"),
	        .queue = w->queues[0].id,
	        .body = STR("{}"),
	        .max_shift_s = 7200}};

	told_of(w, "Zone/0", z);
	assert_false(core_needs_zone(w->core, STR("Zone/0")));
	w->hold_reads = true; /* whether it was asked for before: that must be read first */
	world_step(w, &(struct event){.kind = EV_CREATE,
	                  .ticket = ++w->last_ticket,
	                  .actor = STR("test"),
	                  .idem_key = STR("once"),
	                  .object = {.kind = KIND_SCHEDULE, .row = &ch.row, .fields = ch.fields}});
	take_back_unneeded(w, 1);
	assert_int_equal(core_zones(w->core), 1);
	w->hold_reads = false;
	world_answer_reads(w);
	assert_int_equal(world_reply(w)->code, 0);
	assert_true(core_needs_zone(w->core, STR("Zone/0")));
	world_free(w);
	cron_zone_free(z);
}

/* Daylight saving began at nine: what ran before that has UTC's own offset. */
STORY(in_another_zone_it_repeats_nothing)
{
	struct world *w = quiet_world();
	struct cron_zone *summer = posix("AAA0BBB-1,J15/9,J300"), *utc = posix("UTC0");
	struct event ev = {.kind = EV_ZONE, .zone = {.name = STR("Else/Where"), .zone = utc}};
	static const char often[] =
	    "{\"minute\":{\"period\":1},\"dst_fixes\":[\"skip\",\"repeat_use_both\"]}";
	struct schedule_change ch = {
	    .fields = SCHEDULE_BIT(items) | SCHEDULE_BIT(source) | SCHEDULE_BIT(zone),
	    .row = {.items = str_of(often), .source = STR("a test"), .zone = STR("Else/Where")}};
	rid id;

	world_step(w, &ev);
	tell_zone(w, summer);
	id = add(w, "s", (struct asked){.items = often, .zone = w->zone_name, .max_shift_s = 60});
	world_advance(w, 90 * MINUTE);
	command(w,
	    &(struct event){.kind = EV_SET,
	        .object = {.kind = KIND_SCHEDULE, .id = id, .row = &ch.row, .fields = ch.fields}});
	set_clock(w, -2 * HOUR);
	world_advance(w, 3 * HOUR);
	assert_no_tick_ran_twice(w);
	world_free(w);
	cron_zone_free(summer);
	cron_zone_free(utc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_has_waited_runs_once_through_a_restart),
	    cmocka_unit_test(of_late_ticks_the_newest_replaces),
	    cmocka_unit_test(the_oldest_that_is_not_too_old_runs),
	    cmocka_unit_test(many_long_absences_and_a_clock_set_back),
	    cmocka_unit_test(changed_behind_its_own_time_it_repeats_nothing),
	    cmocka_unit_test(what_was_due_before_a_change_is_not_lost),
	    cmocka_unit_test(a_change_during_a_pause_leaves_its_skip),
	    cmocka_unit_test(a_pause_ends_by_itself_through_restarts_and_set_clocks),
	    cmocka_unit_test(a_resume_behind_its_own_time_takes_no_task_away),
	    cmocka_unit_test(a_zone_that_moves_there_and_back_repeats_nothing),
	    cmocka_unit_test(what_is_filled_in_amid_a_pause_belongs_to_the_zone_of_then),
	    cmocka_unit_test(what_waits_keeps_its_row_when_its_zone_moves),
	    cmocka_unit_test(what_was_filled_in_is_done_when_the_clock_comes_back),
	    cmocka_unit_test(what_waits_is_not_filled_in),
	    cmocka_unit_test(what_fires_while_the_past_is_read_is_not_filled_in),
	    cmocka_unit_test(what_begins_to_wait_while_the_past_is_read_is_not_filled_in),
	    cmocka_unit_test(in_another_zone_it_repeats_nothing),
	    cmocka_unit_test(zones_that_no_schedule_is_in_are_forgotten),
	    cmocka_unit_test(a_zone_that_a_waiting_command_names_is_needed),
	    cmocka_unit_test(a_queue_that_goes_takes_no_other_queues_tasks_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
