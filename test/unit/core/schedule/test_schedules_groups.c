/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules that trigger groups: one per tick, whose jobs come to be known a little later. */
#include "core/group/view.h"
#include "model/limits.h"
#include "schedule_story.h"

static const char night[] = "{\"jobs\":[]}";

static rid add_groups(struct world *w, const char *name, int overlap)
{
	struct schedule_change ch = {.fields = row_settable(&schedule_table),
	    .row = {.name = str_of(name),
	        .items = str_of(every_minute),
	        .backoff_ms = -1,
	        .backoff_max_ms = -1,
	        .group = str_of(night),
	        .overlap = overlap,
	        .missed = MISSED_ALL,
	        .max_shift_s = 7200}};
	const struct reply *r =
	    command(w, &(struct event){.kind = EV_CREATE,
	                   .object = {.kind = KIND_SCHEDULE, .row = &ch.row, .fields = ch.fields}});

	assert_int_equal(r->code, 0);
	return r->id;
}

static rid owed_after(struct world *w, rid after)
{
	struct arena a = {0};
	struct str text;
	rid id = core_owed(w->core, after, &a, &text);

	if (id && text.p)
		assert_true(str_is(text, night));
	arena_release(&a);
	return id;
}

static rid owed(struct world *w)
{
	return owed_after(w, 0);
}

/* As many jobs as that, each of which needs the one before it. */
static const struct reply *draft(struct world *w, rid group, size_t n)
{
	struct group_edge edges[16] = {{0}};
	struct submit_task tasks[16];
	struct submit_group g = {.edges = edges, .n_edges = n ? n - 1 : 0, .owed = group};

	for (size_t i = 0; i < n; i++) {
		edges[i] = (struct group_edge){(uint32_t)i + 1, (uint32_t)i, EDGE_SUCCESS, 0};
		tasks[i] = (struct submit_task){.spec = {.queue = w->queues[0].id,
		                                    .backoff_ms = -1,
		                                    .backoff_max_ms = -1,
		                                    .body = STR("{}")}};
	}
	return command(
	    w, &(struct event){.kind = EV_SUBMIT, .submit = {.tasks = tasks, .n = n, .group = &g}});
}

static const struct reply *tell(struct world *w, rid group, enum verb verb, const char *reason)
{
	return command(
	    w, &(struct event){.kind = EV_DO,
	           .object = {
	               .kind = KIND_GROUP, .id = group, .verb = verb, .reason = str_of(reason)}});
}

static size_t jobs_of(const struct world *w, rid group)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_tasks; i++)
		n +=
		    w->tasks[i].spec.owner.kind == KIND_GROUP && w->tasks[i].spec.owner.id == group;
	return n;
}

static void assert_waits_for_its_jobs(const struct world *w, rid group)
{
	struct arena a = {0};
	struct why *whys;

	assert_int_equal(core_group_why(w->core, group, w->mono_ms, &a, &whys), 1);
	assert_int_equal(whys[0].code, WHY_GROUP_OWED);
	assert_true(str_is(whys[0].facts.other, "schedule"));
	arena_release(&a);
}

STORY(a_tick_triggers_a_group_and_names_it)
{
	struct world *w = quiet_world();
	rid id = add_groups(w, "night", OVERLAP_ALLOW), group;

	world_advance(w, MINUTE);
	assert_int_equal(w->n_groups, 1);
	group = w->groups[0].id;
	assert_int_equal(w->groups[0].state, GROUP_TRIGGERED);
	assert_int_equal(w->groups[0].owner, id);
	assert_int_equal(w->groups[0].owner_part, last_tick(w)->tick_s);
	assert_int_equal(last_tick(w)->outcome, TICK_FIRED);
	assert_int_equal(last_tick(w)->task, group);
	assert_int_equal(world_schedule(w, id)->progress.last_task, group);
	assert_int_equal(w->n_tasks, 0);
	assert_int_equal(owed(w), group);
	assert_waits_for_its_jobs(w, group);
	assert_int_equal(draft(w, group, 3)->code, 0);
	assert_int_equal(world_reply(w)->id, group);
	assert_int_equal(owed(w), 0);
	assert_int_equal(jobs_of(w, group), 3);
	assert_int_equal(world_group(w, group)->n_jobs, 3);
	assert_int_equal(world_group(w, group)->owner, id);
	assert_true(str_is(world_group(w, group)->reason, "triggered by the schedule night") ||
	            world_group(w, group)->state == GROUP_DISPATCHING);
	world_free(w);
}

/* What is drafted a second time, by whomever, is refused and changes nothing. */
STORY(a_group_takes_its_jobs_once)
{
	struct world *w = quiet_world();
	rid group;

	add_groups(w, "night", OVERLAP_ALLOW);
	world_advance(w, MINUTE);
	group = owed(w);
	draft(w, group, 2);
	assert_int_equal(draft(w, group, 2)->code, ERR_CONFLICT);
	assert_int_equal(jobs_of(w, group), 2);
	assert_int_equal(tell(w, group, GROUP_UNDRAFTED, "late")->code, ERR_CONFLICT);
	assert_int_equal(draft(w, 4711, 2)->code, ERR_CONFLICT);
	world_free(w);
}

/* A group that was owed is owed after a start, too, and its jobs' ids are still its own. */
STORY(what_is_owed_outlives_the_server)
{
	struct world *w = quiet_world();
	rid group, task;

	add_groups(w, "night", OVERLAP_ALLOW);
	world_advance(w, MINUTE);
	group = owed(w);
	world_restart(w);
	world_advance(w, 0);
	assert_int_equal(owed(w), group);
	task = world_submit_one(w, w->queues[0].id);
	assert_true(task > group + GROUP_JOBS_MAX);
	assert_int_equal(draft(w, group, 5)->code, 0);
	assert_int_equal(jobs_of(w, group), 5);
	assert_int_equal(w->n_groups, 1);
	world_free(w);
}

STORY(what_cannot_be_drafted_has_failed_with_its_reason)
{
	struct world *w = quiet_world();
	rid group;

	add_groups(w, "night", OVERLAP_SKIP);
	world_advance(w, MINUTE);
	group = owed(w);
	assert_int_equal(tell(w, group, GROUP_UNDRAFTED, "there is no graph \"core\"")->code, 0);
	assert_int_equal(world_group(w, group)->state, GROUP_FAILED);
	assert_true(str_is(world_group(w, group)->reason, "there is no graph \"core\""));
	assert_int_equal(owed(w), 0);
	world_advance(w, MINUTE); /* it has ended: nothing is in the way */
	assert_int_equal(count_ticks(w, TICK_FIRED), 2);
	world_free(w);
}

/* A draft that is refused by the brain leaves the group as it was. */
STORY(a_refused_draft_changes_nothing)
{
	struct world *w = quiet_world();
	struct submit_task t = {.spec = {.queue = 4711, .body = STR("{}")}};
	struct submit_group g = {0};
	rid group;

	add_groups(w, "night", OVERLAP_SKIP);
	world_advance(w, MINUTE);
	g.owed = group = owed(w);
	assert_int_equal(command(w, &(struct event){.kind = EV_SUBMIT,
	                                .submit = {.tasks = &t, .n = 1, .group = &g}})
	                     ->code,
	    ERR_NOT_FOUND);
	assert_int_equal(owed(w), group);
	assert_int_equal(draft(w, group, 1)->code, 0);
	assert_int_equal(jobs_of(w, group), 1);
	world_free(w);
}

STORY(a_group_that_has_not_ended_is_in_the_way)
{
	struct world *w = quiet_world();
	rid group;

	add_groups(w, "night", OVERLAP_SKIP);
	world_advance(w, MINUTE);
	group = owed(w);
	world_advance(w, MINUTE); /* not even drafted */
	assert_int_equal(count_ticks(w, TICK_SKIPPED), 1);
	assert_non_null(strstr(last_tick(w)->reason.p, "group "));
	draft(w, group, 2);
	world_restart(w);
	world_advance(w, MINUTE);
	assert_int_equal(count_ticks(w, TICK_SKIPPED), 2);
	tell(w, group, GROUP_CANCEL, "");
	world_advance(w, MINUTE);
	assert_int_equal(world_group(w, group)->state, GROUP_CANCELED);
	assert_int_equal(count_ticks(w, TICK_FIRED), 2);
	world_free(w);
}

STORY(a_tick_waits_for_the_group_before_it)
{
	struct world *w = quiet_world();
	rid group;

	add_groups(w, "night", OVERLAP_QUEUE);
	world_advance(w, MINUTE);
	group = owed(w);
	draft(w, group, 1);
	world_advance(w, MINUTE);
	assert_int_equal(count_ticks(w, TICK_WAITING), 1);
	world_restart(w);
	world_advance(w, 0);
	assert_int_equal(w->n_groups, 1);
	tell(w, group, GROUP_CANCEL, "");
	world_advance(w, 1000);
	assert_int_equal(w->n_groups, 2);
	assert_int_equal(count_ticks(w, TICK_WAITING), 0);
	assert_int_equal(count_ticks(w, TICK_FIRED), 2);
	world_free(w);
}

/* One that is not drafted yet ends at once, and is never drafted. */
STORY(a_tick_replaces_the_group_before_it)
{
	struct world *w = quiet_world();
	rid first, second;

	add_groups(w, "night", OVERLAP_REPLACE);
	world_advance(w, MINUTE);
	first = owed(w);
	world_advance(w, MINUTE + 1000);
	assert_int_equal(world_group(w, first)->state, GROUP_CANCELED);
	assert_int_equal(w->n_groups, 2);
	second = owed(w);
	assert_true(second > first);
	draft(w, second, 2);
	world_advance(w, MINUTE + 1000);
	assert_int_equal(world_group(w, second)->state, GROUP_CANCELED);
	assert_int_equal(w->n_groups, 3);
	assert_int_equal(draft(w, first, 1)->code, ERR_CONFLICT);
	world_free(w);
}

/* A group that is taken in slice by slice, and cancelled meanwhile. */
static rid cancelled_while_it_comes_in(struct world *w, const struct group_edge *edges, size_t n)
{
	struct submit_task *tasks;
	struct submit_group *g;
	struct arena a = {0};
	struct event ev = {.kind = EV_SUBMIT, .submit = {.n = 9, .arena = &a}};
	struct event cancel = {.kind = EV_DO};

	w->now_ms = 1800000000000 + MINUTE / 2;
	world_queue(w, "q", 100, ORDER_FIFO);
	add_groups(w, "night", OVERLAP_REPLACE);
	world_advance(w, MINUTE);
	ev.submit.group = g = arena_zalloc(&a, sizeof *g);
	ev.submit.tasks = tasks = arena_zalloc(&a, ev.submit.n * sizeof *tasks);
	g->owed = cancel.object.id = owed(w);
	g->edges = arena_memdup(&a, edges, n * sizeof *edges);
	g->n_edges = n;
	for (size_t i = 0; i < ev.submit.n; i++)
		tasks[i].spec = (struct task_spec){.queue = w->queues[0].id, .body = STR("{}")};
	ev.ticket = ++w->last_ticket;
	world_step(w, &ev);
	assert_true(core_is_midway(w->core));
	cancel.object.kind = KIND_GROUP;
	cancel.object.verb = GROUP_CANCEL;
	world_step(w, &cancel);
	while (core_is_midway(w->core))
		world_step(w, &(struct event){.kind = EV_GO_ON});
	world_advance(w, 1000);
	return cancel.object.id;
}

static const struct core_options slices = {.submit_slice = 2};

/* A person who cancels the group does not have to ask again. */
STORY(what_is_cancelled_while_it_comes_in_ends)
{
	struct world *w = world_new(&slices);
	rid group = cancelled_while_it_comes_in(w, NULL, 0);

	assert_int_equal(world_group(w, group)->state, GROUP_CANCELED);
	assert_int_equal(jobs_of(w, group), 9);
	world_free(w);
}

/* The group's jobs were refused after all, so there will be none: it was cancelled, and has not
 * failed. */
STORY(what_is_cancelled_before_its_draft_is_refused_is_cancelled)
{
	static const struct group_edge twice[] = {{1, 0, EDGE_SUCCESS, 0}, {1, 0, EDGE_END, 0}};
	struct world *w = world_new(&slices);
	rid group = cancelled_while_it_comes_in(w, twice, 2);

	assert_int_equal(owed(w), group);
	assert_int_equal(tell(w, group, GROUP_UNDRAFTED, "two conditions")->code, 0);
	assert_int_equal(world_group(w, group)->state, GROUP_CANCELED);
	assert_int_equal(jobs_of(w, group), 0);
	world_free(w);
}

STORY(missed_ticks_and_backfills_have_a_group_each)
{
	struct world *w = quiet_world();
	rid id = add_groups(w, "night", OVERLAP_ALLOW);
	int64_t from_s = w->now_ms / 1000 - 600;

	w->now_ms += 3 * MINUTE;
	world_restart(w);
	world_advance(w, 0);
	assert_int_equal(count_ticks(w, TICK_FIRED), 3);
	assert_int_equal(w->n_groups, 3);
	assert_int_equal(backfill(w, id, from_s, w->now_ms / 1000)->n, 10);
	assert_int_equal(w->n_groups, 13);
	assert_int_equal(backfill(w, id, from_s, w->now_ms / 1000)->n, 0);
	assert_int_equal(run(w, id)->n, 1);
	assert_int_equal(w->n_groups, 14);
	assert_int_equal(w->groups[13].owner_part, 0);
	assert_true(str_is(w->groups[13].actor, "test"));
	for (rid group = 0; (group = owed(w));)
		assert_int_equal(draft(w, group, 2)->code, 0);
	assert_int_equal(w->n_tasks, 28);
	world_free(w);
}

STORY(a_schedule_keeps_to_what_it_makes)
{
	struct world *w = quiet_world();
	rid groups = add_groups(w, "groups", OVERLAP_ALLOW);
	rid tasks = add(w, "tasks", (struct asked){0});
	struct schedule_change task = {
	    .fields = SCHEDULE_BIT(body), .row = {.body = STR("{\"command\":[\"true\"]}")}};
	struct schedule_change group = {.fields = SCHEDULE_BIT(group), .row = {.group = STR("{}")}};

	assert_int_equal(command(w, &(struct event){.kind = EV_SET,
	                                .object = {.kind = KIND_SCHEDULE,
	                                    .id = groups,
	                                    .row = &task.row,
	                                    .fields = task.fields}})
	                     ->code,
	    ERR_CONFLICT);
	assert_int_equal(command(w, &(struct event){.kind = EV_SET,
	                                .object = {.kind = KIND_SCHEDULE,
	                                    .id = tasks,
	                                    .row = &group.row,
	                                    .fields = group.fields}})
	                     ->code,
	    ERR_CONFLICT);
	assert_int_equal(command(w, &(struct event){.kind = EV_SET,
	                                .object = {.kind = KIND_SCHEDULE,
	                                    .id = groups,
	                                    .row = &group.row,
	                                    .fields = group.fields}})
	                     ->code,
	    0);
	assert_true(str_is(world_schedule(w, groups)->group, "{}"));
	world_free(w);
}

/* The schedule's groups stay; what nobody can draft any more has no text. */
STORY(what_a_deleted_schedule_owes_has_no_text)
{
	struct world *w = quiet_world();
	rid id = add_groups(w, "night", OVERLAP_ALLOW);
	struct arena a = {0};
	struct str text = STR("x");

	world_advance(w, MINUTE);
	assert_int_equal(act(w, EV_DELETE, id)->code, 0);
	assert_int_equal(core_owed(w->core, 0, &a, &text), w->groups[0].id);
	assert_null(text.p);
	assert_int_equal(tell(w, w->groups[0].id, GROUP_UNDRAFTED, "gone")->code, 0);
	world_restart(w);
	assert_int_equal(owed(w), 0);
	arena_release(&a);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_tick_triggers_a_group_and_names_it),
	    cmocka_unit_test(a_group_takes_its_jobs_once),
	    cmocka_unit_test(what_is_owed_outlives_the_server),
	    cmocka_unit_test(what_cannot_be_drafted_has_failed_with_its_reason),
	    cmocka_unit_test(a_refused_draft_changes_nothing),
	    cmocka_unit_test(a_group_that_has_not_ended_is_in_the_way),
	    cmocka_unit_test(a_tick_waits_for_the_group_before_it),
	    cmocka_unit_test(a_tick_replaces_the_group_before_it),
	    cmocka_unit_test(what_is_cancelled_while_it_comes_in_ends),
	    cmocka_unit_test(what_is_cancelled_before_its_draft_is_refused_is_cancelled),
	    cmocka_unit_test(missed_ticks_and_backfills_have_a_group_each),
	    cmocka_unit_test(a_schedule_keeps_to_what_it_makes),
	    cmocka_unit_test(what_a_deleted_schedule_owes_has_no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
