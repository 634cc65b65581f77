/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of many jobs: whole or not at all, in short steps, and in little memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "group_story.h"

#define STORY(name) static void name(void **state)
#define MANY 6000

static const struct core_options small_slices = {.submit_slice = 500};

enum shape { CHAIN, WIDE };

/* Everything is given away, as a surface does it with what is long. */
static void give(struct group_story *s, size_t n, enum shape shape, struct str idem)
{
	struct event ev = {.kind = EV_SUBMIT,
	    .ticket = ++s->w->last_ticket,
	    .idem_key = idem,
	    .idem_fingerprint = 3,
	    .actor = STR("me")};
	struct arena a = {0};
	struct submit_task *tasks = arena_zalloc(&a, n * sizeof *tasks);
	struct group_edge *edges = arena_zalloc(&a, n * sizeof *edges);
	struct str *names = arena_zalloc(&a, n * sizeof *names);
	struct submit_group *g = arena_zalloc(&a, sizeof *g);

	for (size_t i = 0; i < n; i++) {
		tasks[i].spec = (struct task_spec){.queue = s->queue,
		    .max_attempts = 1,
		    .backoff_ms = -1,
		    .backoff_max_ms = -1,
		    .body = STR("{}")};
		names[i] = arena_strf(&a, "job number %zu", i);
		if (i)
			edges[i - 1] = (struct group_edge){
			    (uint32_t)i, shape == CHAIN ? (uint32_t)i - 1 : 0, EDGE_SUCCESS, 1};
	}
	*g = (struct submit_group){
	    .policy = s->policy, .edges = edges, .n_edges = n ? n - 1 : 0, .names = names};
	ev.submit.tasks = tasks;
	ev.submit.n = n;
	ev.submit.arena = &a;
	ev.submit.group = g;
	world_step(s->w, &ev);
	arena_release(&a);
}

static void take_in(struct group_story *s)
{
	while (core_is_midway(s->w->core))
		world_step(s->w, &(struct event){.kind = EV_GO_ON});
	assert_int_equal(world_reply(s->w)->code, 0);
	s->group = world_reply(s->w)->id;
}

static size_t count_status(struct group_story *s, int status)
{
	size_t n = 0;

	for (size_t i = 0; i < s->w->n_tasks; i++)
		n += s->w->tasks[i].spec.owner.id == s->group &&
		     s->w->tasks[i].state.status == status;
	return n;
}

static void end_job(struct group_story *s, int64_t job, int status)
{
	struct task_row *t = world_task(s->w, s->group + 1 + (rid)job);

	world_ended(s->w, (uint64_t)s->number, t->id, t->state.token, status);
}

STORY(a_long_group_appears_at_once)
{
	struct group_story s = story_new(&small_slices);
	rid other;

	give(&s, MANY, WIDE, STR_NULL);
	assert_true(core_is_midway(s.w->core));
	world_step(s.w, &(struct event){.kind = EV_GO_ON});
	assert_int_equal(s.w->n_tasks + s.w->n_groups + s.w->n_chunks, 0);
	s.w->hold = true;
	other = world_submit_one(s.w, s.queue); /* in between: its id is nobody's else */
	s.w->hold = false;
	assert_int_equal(other, 0); /* it is answered with the batch */
	while (core_is_midway(s.w->core))
		world_step(s.w, &(struct event){.kind = EV_GO_ON});
	s.group = core_next(s.w->core, KIND_GROUP, 0);
	assert_int_equal(s.w->n_tasks, MANY + 1);
	assert_int_equal(count_status(&s, TASK_BLOCKED) + count_status(&s, TASK_QUEUED), MANY);
	for (int64_t i = 0; i < MANY; i++) {
		assert_non_null(world_task(s.w, s.group + 1 + (rid)i));
		assert_int_equal(world_task(s.w, s.group + 1 + (rid)i)->spec.owner.part, i);
	}
	world_free(s.w);
}

STORY(what_was_begun_before_a_crash_never_was)
{
	struct group_story s = story_new(&small_slices);

	give(&s, MANY, CHAIN, STR("key"));
	assert_true(core_is_midway(s.w->core));
	world_restart(s.w);
	assert_int_equal(s.w->n_tasks + s.w->n_groups + s.w->n_chunks, 0);
	assert_int_equal(core_count(s.w->core, KIND_GROUP), 0);
	give(&s, MANY, CHAIN, STR("key"));
	take_in(&s);
	give(&s, MANY, CHAIN, STR("key")); /* again: the same answer */
	assert_true(world_reply(s.w)->replayed);
	assert_int_equal(world_reply(s.w)->id, s.group);
	assert_int_equal(s.w->n_groups, 1);
	assert_int_equal(s.w->n_tasks, MANY);
	world_free(s.w);
}

/* Nobody may take its queue or the group away while it comes in. */
STORY(while_it_comes_in)
{
	struct group_story s = story_new(&small_slices);
	struct event ev = {.kind = EV_DELETE};
	rid group;

	give(&s, MANY, CHAIN, STR_NULL);
	group = core_next(s.w->core, KIND_GROUP, 0);
	assert_int_not_equal(group, 0);
	ev.object.kind = KIND_QUEUE;
	ev.object.id = s.queue;
	ev.object.force = true;
	ev.now_ms = s.w->now_ms;
	ev.mono_ms = s.w->mono_ms;
	assert_int_equal(core_step(s.w->core, &ev, &s.w->fx), ERR_CONFLICT);
	ev.kind = EV_DO;
	ev.object.kind = KIND_GROUP;
	ev.object.id = group;
	ev.object.verb = GROUP_CANCEL;
	assert_int_equal(core_step(s.w->core, &ev, &s.w->fx), ERR_BUSY);
	take_in(&s);
	assert_int_equal(s.group, group);
	world_free(s.w);
}

STORY(one_end_releases_many)
{
	struct group_story s = story_new(&small_slices);

	story_worker(&s, 1);
	give(&s, MANY, WIDE, STR_NULL);
	take_in(&s);
	end_job(&s, 0, TASK_SUCCEEDED);
	world_advance(s.w, 1); /* what one step does not do the next ones do */
	assert_int_equal(count_status(&s, TASK_BLOCKED), 0);
	assert_int_equal(count_status(&s, TASK_QUEUED), MANY - 2);
	assert_int_equal(count_status(&s, TASK_CLAIMED), 1);
	world_free(s.w);
}

/* A chain of failures is as long as it is: each is one of many steps. */
STORY(a_failure_skips_a_long_chain)
{
	struct group_story s = story_new(&small_slices);

	story_worker(&s, 1);
	give(&s, 500, CHAIN, STR_NULL);
	take_in(&s);
	end_job(&s, 0, TASK_FAILED);
	world_advance(s.w, 1);
	assert_int_equal(story_group(&s), GROUP_FAILED);
	assert_int_equal(world_group(s.w, s.group)->counts.skipped, 499);
	world_free(s.w);
}

STORY(a_cancel_ends_them_all)
{
	struct group_story s = story_new(&small_slices);

	give(&s, MANY, CHAIN, STR_NULL);
	take_in(&s);
	story_do(&s, EV_DO);
	world_advance(s.w, 1);
	assert_int_equal(story_group(&s), GROUP_CANCELED);
	assert_int_equal(count_status(&s, TASK_CANCELLED), MANY);
	assert_int_equal(world_group(s.w, s.group)->counts.cancelled, MANY);
	world_free(s.w);
}

/* About 9 bytes a job and 4 an edge, and only while it dispatches. */
STORY(little_memory)
{
	struct core_options one = {.groups_active = 1, .groups_delay_ms = INT32_MAX};
	struct group_story s = story_new(&one);
	struct group_view v;
	rid first;

	give(&s, MANY, CHAIN, STR_NULL);
	take_in(&s);
	first = s.group;
	give(&s, MANY, CHAIN, STR_NULL);
	take_in(&s);
	assert_true(core_group(s.w->core, first, &v));
	assert_in_range(v.bytes, MANY, MANY * 14 + 8192);
	assert_true(core_group(s.w->core, s.group, &v));
	assert_int_equal(v.bytes, 0);
	assert_int_equal(v.row->state, GROUP_QUEUED);
	assert_true(s.w->n_chunks > 4); /* names and all */
	world_free(s.w);
}

/* That all wait is known; who is due is read, and who may be next. */
STORY(of_a_new_group_few_rows_are_read)
{
	struct group_story s = story_new(&small_slices);

	give(&s, MANY, CHAIN, STR_NULL);
	take_in(&s);
	assert_int_equal(story_group(&s), GROUP_DISPATCHING);
	assert_int_equal(count_status(&s, TASK_QUEUED), 1);
	assert_int_equal(s.w->n_rows_asked, 2);
	world_free(s.w);
}

/* Unless something has ended while it waited, or was built elsewhere. */
STORY(what_ended_before_it_began_is_known)
{
	struct core_options one = {.groups_active = 1, .groups_delay_ms = INT32_MAX};
	struct group_story first = story_new(&one), s;

	story_worker(&first, 1);
	story_submit(&first, "a");
	s = first;
	story_submit(&s, "a b:a c d:c?");
	assert_int_equal(world_tasks(s.w, EV_CANCEL, &s.job[0], 1)->outcomes[0].code, 0);
	story_end(&first, 'a', TASK_SUCCEEDED);
	assert_jobs(&s, "a=cancel-complete b=dependency c=dispatched d=schedulable");
	story_end(&s, 'c', TASK_SUCCEEDED);
	story_end(&s, 'd', TASK_SUCCEEDED);
	assert_int_equal(story_group(&s), GROUP_FAILED);
	assert_int_equal(world_group(s.w, s.group)->counts.cancelled, 1);
	world_free(s.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_long_group_appears_at_once),
	    cmocka_unit_test(what_was_begun_before_a_crash_never_was),
	    cmocka_unit_test(while_it_comes_in),
	    cmocka_unit_test(one_end_releases_many),
	    cmocka_unit_test(a_failure_skips_a_long_chain),
	    cmocka_unit_test(a_cancel_ends_them_all),
	    cmocka_unit_test(little_memory),
	    cmocka_unit_test(of_a_new_group_few_rows_are_read),
	    cmocka_unit_test(what_ended_before_it_began_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
