/* SPDX-License-Identifier: Apache-2.0 */
/* Stories of groups: what starts when, what a failure skips, how a group ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "group_story.h"
#include "words/words.h"

#define STORY(name) static void name(void **state)

static const char *reason_of(struct group_story *s)
{
	struct str r = world_group(s->w, s->group)->reason;

	return r.p ? r.p : "";
}

/* What was claimed together with what was released is in one batch: a job starts at once. */
STORY(a_job_starts_when_what_it_needs_is_built)
{
	struct group_story s = story_new(NULL);

	story_worker(&s, 10);
	assert_int_equal(story_submit(&s, "a b:a c:a d:b,c")->code, 0);
	assert_int_equal(story_group(&s), GROUP_DISPATCHING);
	assert_jobs(&s, "a=dispatched b=schedulable c=schedulable d=schedulable");
	story_end(&s, 'a', TASK_SUCCEEDED);
	assert_jobs(&s, "a=built b=dispatched c=dispatched d=schedulable");
	story_end(&s, 'b', TASK_SUCCEEDED);
	assert_jobs(&s, "d=schedulable");
	story_end(&s, 'c', TASK_SUCCEEDED);
	assert_jobs(&s, "d=dispatched");
	story_end(&s, 'd', TASK_SUCCEEDED);
	assert_int_equal(story_group(&s), GROUP_COMPLETE);
	assert_int_equal(world_group(s.w, s.group)->counts.built, 4);
	world_free(s.w);
}

/* What is due next has been read ahead. */
STORY(an_end_and_what_it_releases_are_one_batch)
{
	struct group_story s = story_new(NULL);

	story_worker(&s, 10);
	story_submit(&s, "a b:a c:b d:b,c");
	s.w->hold_reads = true;
	story_end(&s, 'a', TASK_SUCCEEDED);
	assert_jobs(&s, "a=built b=dispatched c=schedulable");
	world_answer_reads(s.w);
	story_end(&s, 'b', TASK_SUCCEEDED);
	assert_jobs(&s, "c=dispatched d=schedulable");
	world_answer_reads(s.w);
	story_end(&s, 'c', TASK_SUCCEEDED);
	assert_jobs(&s, "d=dispatched");
	world_free(s.w);
}

STORY(ids_follow_importance)
{
	struct group_story s = story_new(NULL);

	story_submit(&s, "a b c:b d:c");
	assert_int_equal(s.job['b' - 'a'], s.group + 1);
	assert_int_equal(s.job['c' - 'a'], s.group + 2);
	assert_int_equal(s.job['a' - 'a'], s.group + 3);
	assert_int_equal(s.job['d' - 'a'], s.group + 4);
	assert_int_equal(story_job(&s, 'd')->spec.owner.part, 3);
	world_free(s.w);
}

STORY(a_failure_skips_what_needs_success)
{
	struct group_story s = story_new(NULL);

	s.max_attempts = 1;
	story_worker(&s, 10);
	story_submit(&s, "a b:a c:b d e:d");
	story_end(&s, 'a', TASK_FAILED);
	assert_jobs(&s, "a=job-failed b=dependency c=dependency d=dispatched");
	assert_int_equal(story_group(&s), GROUP_DISPATCHING);
	story_end(&s, 'd', TASK_SUCCEEDED);
	story_end(&s, 'e', TASK_SUCCEEDED);
	assert_int_equal(story_group(&s), GROUP_FAILED);
	assert_non_null(strstr(reason_of(&s), "1 of 5 jobs failed, the first was a (task "));
	assert_int_equal(world_group(s.w, s.group)->counts.skipped, 2);
	world_free(s.w);
}

/* c cleans up after a; d goes by any end; e needs what was skipped; f goes on whatever b does. */
STORY(conditions_of_edges)
{
	struct group_story s = story_new(NULL);

	s.max_attempts = 1;
	story_worker(&s, 10);
	story_submit(&s, "a b:a c:a! d:a? e:b! f:b?");
	story_end(&s, 'a', TASK_FAILED);
	assert_jobs(&s, "b=dependency c=dispatched d=dispatched e=dependency f=dispatched");
	for (const char *p = "cdf"; *p; p++)
		story_end(&s, *p, TASK_SUCCEEDED);
	assert_int_equal(story_group(&s), GROUP_FAILED);

	story_submit(&s, "a b:a c:a! d:a? e:c!");
	story_end(&s, 'a', TASK_SUCCEEDED);
	assert_jobs(&s, "b=dispatched c=dependency d=dispatched e=dependency");
	story_end(&s, 'b', TASK_SUCCEEDED);
	story_end(&s, 'd', TASK_SUCCEEDED);
	assert_int_equal(story_group(&s), GROUP_COMPLETE); /* nothing was to be cleaned up */
	world_free(s.w);
}

STORY(a_retry_is_no_failure)
{
	struct group_story s = story_new(NULL);

	s.max_attempts = 2;
	story_worker(&s, 10);
	story_submit(&s, "a b:a");
	story_end(&s, 'a', TASK_FAILED);
	assert_jobs(&s, "a=eligible b=schedulable");
	world_advance(s.w, 3600000);
	assert_jobs(&s, "a=dispatched");
	story_end(&s, 'a', TASK_SUCCEEDED);
	story_end(&s, 'b', TASK_SUCCEEDED);
	assert_int_equal(story_group(&s), GROUP_COMPLETE);
	world_free(s.w);
}

STORY(a_report_that_comes_again_changes_nothing)
{
	struct group_story s = story_new(NULL);
	rid a;
	int64_t token;

	story_worker(&s, 10);
	story_submit(&s, "a b c:a,b");
	a = s.job[0];
	token = story_job(&s, 'a')->state.token;
	story_end(&s, 'a', TASK_SUCCEEDED);
	world_ended(s.w, (uint64_t)s.number, a, token, TASK_SUCCEEDED);
	world_ended(s.w, (uint64_t)s.number, a, token, TASK_FAILED);
	assert_jobs(&s, "a=built b=dispatched c=schedulable");
	assert_int_equal(world_group(s.w, s.group)->counts.built, 1);
	world_free(s.w);
}

STORY(fail_fast_ends_what_waits)
{
	struct group_story s = story_new(NULL);

	s.max_attempts = 1;
	s.policy = GROUP_FAIL_FAST;
	story_worker(&s, 2);
	story_submit(&s, "a b c d:b");
	story_end(&s, 'b', TASK_FAILED);
	assert_int_equal(story_group(&s), GROUP_FAILURE_CLEANUP);
	assert_jobs(&s, "a=dispatched b=job-failed c=cancel-complete d=cancel-complete");
	story_end(&s, 'a', TASK_SUCCEEDED);
	assert_int_equal(story_group(&s), GROUP_FAILED);
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 0);
	world_free(s.w);
}

STORY(fail_fast_tries_nothing_again)
{
	struct group_story s = story_new(NULL);

	s.max_attempts = 3;
	s.policy = GROUP_FAIL_FAST;
	story_worker(&s, 2);
	story_submit(&s, "a b");
	world_tasks(s.w, EV_CANCEL, &s.job[1], 1);
	world_ended(
	    s.w, (uint64_t)s.number, s.job[1], story_job(&s, 'b')->state.token, TASK_TERMINATED);
	assert_int_equal(story_group(&s), GROUP_FAILURE_CLEANUP);
	story_end(&s, 'a', TASK_FAILED);
	assert_jobs(&s, "a=cancel-complete");
	assert_int_equal(story_group(&s), GROUP_FAILED);
	world_free(s.w);
}

STORY(fail_now_ends_what_runs_too)
{
	struct group_story s = story_new(NULL);

	s.max_attempts = 1;
	s.policy = GROUP_FAIL_NOW;
	story_worker(&s, 2);
	story_submit(&s, "a b");
	story_end(&s, 'b', TASK_FAILED);
	assert_jobs(&s, "a=cancel-pending");
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 1);
	story_end(&s, 'a', TASK_TERMINATED);
	assert_int_equal(story_group(&s), GROUP_FAILED);
	world_free(s.w);
}

STORY(a_cancel_ends_what_waits_and_tells_what_runs)
{
	struct group_story s = story_new(NULL);

	story_worker(&s, 1);
	story_submit(&s, "a b c:a d:c");
	assert_int_equal(story_do(&s, EV_DO)->code, 0);
	assert_int_equal(story_group(&s), GROUP_CANCELING);
	assert_jobs(&s, "a=cancel-pending b=cancel-complete c=cancel-complete d=cancel-complete");
	assert_int_equal(story_do(&s, EV_DO)->code, 0); /* again: it is */
	assert_int_equal(story_do(&s, EV_DELETE)->code, ERR_CONFLICT);
	story_end(&s, 'a', TASK_TERMINATED);
	assert_int_equal(story_group(&s), GROUP_CANCELED);
	assert_int_equal(story_do(&s, EV_DO)->code, ERR_CONFLICT);
	assert_int_equal(story_do(&s, EV_DELETE)->code, 0);
	assert_int_equal(s.w->n_groups, 0);
	assert_int_equal(s.w->n_chunks, 0);
	world_free(s.w);
}

STORY(a_group_without_jobs_is_complete)
{
	struct group_story s = story_new(NULL);

	assert_int_equal(story_submit(&s, "")->code, 0);
	assert_int_equal(story_group(&s), GROUP_COMPLETE);
	world_free(s.w);
}

STORY(what_cannot_be_is_refused_whole)
{
	static const char *const bad[] = {"a b:c c:b", "a:a", "a b:f", "a b:a,a!", NULL};
	struct group_story s = story_new(NULL);

	for (const char *const *p = bad; *p; p++) {
		assert_int_equal(story_submit(&s, *p)->code, ERR_INVALID);
		assert_true(world_reply(s.w)->problem->what[0]);
		assert_int_equal(s.w->n_tasks + s.w->n_groups + s.w->n_chunks, 0);
		assert_int_equal(core_count(s.w->core, KIND_GROUP), 0);
	}
	assert_int_equal(story_submit(&s, "a b:a,a,a")->code, 0); /* twice is once */
	assert_int_equal(world_group(s.w, s.group)->n_edges, 1);
	world_free(s.w);
}

static void restart(struct group_story *s, struct link_held *held, size_t n)
{
	world_restart(s->w);
	s->number++;
	world_hello(s->w, (uint64_t)s->number, "w1", 1, 10, held, n);
}

/* The window is full: those that are released leave memory at once, and are still noted by name. */
STORY(more_is_released_than_a_window_holds)
{
	struct core_options o = {.window_tasks = 2};
	struct group_story s = story_new(&o);

	story_worker(&s, 1);
	story_submit(&s, "a b:a c:a d:a e:a f:a");
	story_end(&s, 'a', TASK_SUCCEEDED);
	for (char job = 'b'; job <= 'f'; job++)
		story_end(&s, job, TASK_SUCCEEDED);
	assert_int_equal(story_group(&s), GROUP_COMPLETE);
	assert_int_equal(world_group(s.w, s.group)->counts.built, 6);
	world_free(s.w);
}

STORY(a_start_reads_everything_again)
{
	struct group_story s = story_new(NULL);
	struct link_held held;

	s.max_attempts = 1;
	story_worker(&s, 10);
	story_submit(&s, "a b:a c:b d:a e");
	story_end(&s, 'a', TASK_SUCCEEDED);
	story_end(&s, 'd', TASK_SUCCEEDED);
	story_end(&s, 'e', TASK_FAILED);
	held = (struct link_held){
	    .task = s.job[1], .token = story_job(&s, 'b')->state.token, .started_ms = 1};
	restart(&s, &held, 1);
	assert_jobs(&s, "a=built b=dispatched c=schedulable d=built e=job-failed");
	story_end(&s, 'b', TASK_SUCCEEDED);
	assert_jobs(&s, "c=dispatched");
	story_end(&s, 'c', TASK_SUCCEEDED);
	assert_int_equal(story_group(&s), GROUP_FAILED);
	assert_int_equal(world_group(s.w, s.group)->counts.built, 4);
	assert_int_equal(world_group(s.w, s.group)->counts.failed, 1);
	world_free(s.w);
}

/* The end is durable, the release is not: the start finds that it is due. */
STORY(a_release_that_was_not_made_is_made_by_the_start)
{
	struct group_story s = story_new(NULL);
	struct task_row *a;

	story_worker(&s, 10);
	story_submit(&s, "a b:a c:b!");
	a = story_job(&s, 'a');
	a->state.status = TASK_SUCCEEDED; /* as if only this had been written */
	restart(&s, NULL, 0);
	assert_jobs(&s, "a=built b=dispatched");
	assert_int_equal(world_group(s.w, s.group)->counts.built, 1);
	story_end(&s, 'b', TASK_SUCCEEDED);
	assert_jobs(&s, "c=dependency");
	assert_int_equal(story_group(&s), GROUP_COMPLETE);
	world_free(s.w);
}

STORY(a_cancel_goes_on_after_a_start)
{
	struct group_story s = story_new(NULL);
	struct link_held held;

	story_worker(&s, 1);
	story_submit(&s, "a b c:a");
	s.w->hold_reads = true;
	story_do(&s, EV_DO);
	held = (struct link_held){
	    .task = s.job[0], .token = story_job(&s, 'a')->state.token, .started_ms = 1};
	s.w->hold_reads = false;
	restart(&s, &held, 1);
	assert_jobs(&s, "a=cancel-pending b=cancel-complete c=cancel-complete");
	story_end(&s, 'a', TASK_TERMINATED);
	assert_int_equal(story_group(&s), GROUP_CANCELED);
	assert_int_equal(world_group(s.w, s.group)->counts.cancelled, 2);
	assert_int_equal(world_group(s.w, s.group)->counts.failed, 1); /* as its worker said */
	world_free(s.w);
}

STORY(a_read_that_fails_is_made_again)
{
	struct group_story s = story_new(NULL);

	story_worker(&s, 10);
	s.w->reads_fail = true;
	story_submit(&s, "a b:a c:b");
	assert_jobs(&s, "a=schedulable");
	world_advance(s.w, 5000);
	assert_jobs(&s, "a=schedulable");
	s.w->reads_fail = false;
	world_advance(s.w, 5000);
	assert_jobs(&s, "a=dispatched");
	s.w->reads_fail = true;
	story_end(&s, 'a', TASK_SUCCEEDED);
	assert_jobs(&s, "b=dispatched"); /* it was read ahead */
	story_end(&s, 'b', TASK_SUCCEEDED);
	assert_jobs(&s, "c=schedulable");
	s.w->reads_fail = false;
	world_advance(s.w, 2000);
	assert_jobs(&s, "c=dispatched");
	world_free(s.w);
}

STORY(a_damaged_graph_fails_the_group)
{
	struct group_story s = story_new(NULL);

	story_submit(&s, "a b:a");
	s.w->chunks[0].data = STR("\x05\x01");
	world_restart(s.w);
	assert_int_equal(story_group(&s), GROUP_FAILED);
	assert_non_null(strstr(reason_of(&s), "damaged"));
	assert_jobs(&s, "a=cancel-complete b=cancel-complete");
	world_free(s.w);
}

/* Rows that are gone, by whatever: the group says so, and does not wait for them. */
STORY(nothing_is_stuck)
{
	struct group_story s = story_new(NULL);

	story_submit(&s, "a b:a");
	world_task(s.w, s.job[0])->id = s.job[0] - 1000000; /* whoever did that */
	world_restart(s.w);
	assert_int_equal(story_group(&s), GROUP_FAILED);
	assert_jobs(&s, "b=dependency");
	world_free(s.w);
}

STORY(an_operator_cancels_one_job)
{
	struct group_story s = story_new(NULL);

	story_worker(&s, 1);
	story_submit(&s, "a b:a c d:c");
	assert_int_equal(world_tasks(s.w, EV_CANCEL, &s.job[2], 1)->outcomes[0].code, 0);
	assert_jobs(&s, "a=dispatched c=cancel-complete d=dependency");
	story_end(&s, 'a', TASK_SUCCEEDED);
	story_end(&s, 'b', TASK_SUCCEEDED);
	assert_int_equal(story_group(&s), GROUP_FAILED);
	world_free(s.w);
}

static int set_status(struct group_story *s, char job, int status)
{
	struct event ev = {.kind = EV_TASK_SET, .ticket = ++s->w->last_ticket};

	ev.tasks.ids = &s->job[job - 'a'];
	ev.tasks.n = 1;
	ev.tasks.has_status = true;
	ev.tasks.status = status;
	world_step(s->w, &ev);
	return world_reply(s->w)->outcomes[0].code;
}

STORY(an_operator_holds_and_releases_jobs)
{
	struct group_story s = story_new(NULL);

	story_worker(&s, 1);
	story_submit(&s, "a b:a c");
	assert_int_equal(set_status(&s, 'b', -10), 0); /* before it is due */
	assert_int_equal(set_status(&s, 'c', TASK_BLOCKED), ERR_CONFLICT);
	assert_int_equal(set_status(&s, 'c', -10), 0);
	story_end(&s, 'a', TASK_SUCCEEDED);
	assert_int_equal(story_job(&s, 'b')->state.status, -10);
	assert_int_equal(story_group(&s), GROUP_DISPATCHING); /* for as long as it takes */
	assert_int_equal(set_status(&s, 'b', TASK_QUEUED), 0);
	assert_jobs(&s, "b=dispatched");
	story_end(&s, 'b', TASK_SUCCEEDED);
	world_restart(s.w);
	assert_int_equal(story_group(&s), GROUP_DISPATCHING);
	assert_int_equal(set_status(&s, 'c', TASK_QUEUED), 0);
	assert_jobs(&s, "c=eligible");
	world_free(s.w);
}

STORY(a_release_does_not_start_what_is_not_due)
{
	struct group_story s = story_new(NULL);

	story_worker(&s, 10);
	story_submit(&s, "a b:a");
	assert_int_equal(set_status(&s, 'b', TASK_QUEUED), ERR_CONFLICT); /* nobody holds it */
	assert_jobs(&s, "b=schedulable");
	assert_int_equal(set_status(&s, 'b', -10), 0);
	assert_int_equal(set_status(&s, 'b', TASK_QUEUED), 0);
	assert_int_equal(story_job(&s, 'b')->state.status, TASK_BLOCKED);
	story_end(&s, 'a', TASK_SUCCEEDED);
	assert_jobs(&s, "b=dispatched");
	world_free(s.w);
}

STORY(a_job_is_not_retried_by_itself)
{
	struct group_story s = story_new(NULL);

	s.max_attempts = 1;
	story_worker(&s, 10);
	story_submit(&s, "a b:a");
	story_end(&s, 'a', TASK_FAILED);
	assert_int_equal(story_group(&s), GROUP_FAILED);
	assert_int_equal(world_tasks(s.w, EV_RETRY, &s.job[0], 1)->outcomes[0].code, ERR_CONFLICT);
	story_do(&s, EV_DELETE);
	assert_int_equal(world_tasks(s.w, EV_RETRY, &s.job[0], 1)->outcomes[0].code, 0);
	world_free(s.w);
}

STORY(its_queue_stays)
{
	struct group_story s = story_new(NULL);
	struct event ev = {.kind = EV_DELETE, .ticket = ++s.w->last_ticket};

	story_submit(&s, "a b:a");
	ev.ticket = ++s.w->last_ticket;
	ev.object.kind = KIND_QUEUE;
	ev.object.id = s.queue;
	ev.object.force = true;
	world_step(s.w, &ev);
	assert_int_equal(world_reply(s.w)->code, ERR_CONFLICT);
	story_do(&s, EV_DO);
	assert_int_equal(story_group(&s), GROUP_CANCELED);
	ev.ticket = ++s.w->last_ticket;
	world_step(s.w, &ev);
	assert_int_equal(world_reply(s.w)->code, 0);
	world_free(s.w);
}

STORY(its_tasks_are_not_pruned_before_it_ends)
{
	struct group_story s = story_new(NULL);

	story_worker(&s, 10);
	story_submit(&s, "a b:a");
	story_end(&s, 'a', TASK_SUCCEEDED);
	assert_false(core_may_prune(s.w->core, s.job[0]));
	assert_false(core_may_prune(s.w->core, s.job[1]));
	assert_true(core_may_prune(s.w->core, s.job[1] + 1));
	assert_true(core_may_prune(s.w->core, s.group - 1));
	story_end(&s, 'b', TASK_SUCCEEDED);
	assert_true(core_may_prune(s.w->core, s.job[0]));
	world_free(s.w);
}

static const char *why(struct group_story *s, struct arena *a, char job, size_t i)
{
	struct why *whys;
	size_t n = core_why(s->w->core, story_job(s, job), s->w->now_ms, s->w->mono_ms, a, &whys);

	assert_true(i < n);
	return words_why(a, &whys[i]).p;
}

STORY(why_a_job_waits_up_to_what_blocks)
{
	struct core_options o = {.groups_active = 1};
	struct group_story s = story_new(&o), second;
	struct arena a = {0};
	struct why *whys;

	story_worker(&s, 10);
	story_submit(&s, "a b:a c:b");
	assert_non_null(strstr(why(&s, &a, 'c', 0), "it needs task"));
	assert_non_null(strstr(why(&s, &a, 'c', 1), "the first of 2 in a row"));
	second = s;
	story_submit(&second, "a");
	assert_non_null(
	    strstr(why(&second, &a, 'a', 0), "waits for its turn: 1 of at most 1 groups go on"));
	assert_int_equal(core_group_why(s.w->core, s.group, s.w->mono_ms, &a, &whys), 1);
	assert_int_equal(whys[0].code, WHY_GROUP_RUNS);
	arena_release(&a);
	world_free(s.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_job_starts_when_what_it_needs_is_built),
	    cmocka_unit_test(an_end_and_what_it_releases_are_one_batch),
	    cmocka_unit_test(ids_follow_importance),
	    cmocka_unit_test(a_failure_skips_what_needs_success),
	    cmocka_unit_test(conditions_of_edges),
	    cmocka_unit_test(a_retry_is_no_failure),
	    cmocka_unit_test(a_report_that_comes_again_changes_nothing),
	    cmocka_unit_test(fail_fast_ends_what_waits),
	    cmocka_unit_test(fail_fast_tries_nothing_again),
	    cmocka_unit_test(fail_now_ends_what_runs_too),
	    cmocka_unit_test(a_cancel_ends_what_waits_and_tells_what_runs),
	    cmocka_unit_test(a_group_without_jobs_is_complete),
	    cmocka_unit_test(what_cannot_be_is_refused_whole),
	    cmocka_unit_test(more_is_released_than_a_window_holds),
	    cmocka_unit_test(a_start_reads_everything_again),
	    cmocka_unit_test(a_release_that_was_not_made_is_made_by_the_start),
	    cmocka_unit_test(a_cancel_goes_on_after_a_start),
	    cmocka_unit_test(a_read_that_fails_is_made_again),
	    cmocka_unit_test(a_damaged_graph_fails_the_group),
	    cmocka_unit_test(nothing_is_stuck),
	    cmocka_unit_test(an_operator_cancels_one_job),
	    cmocka_unit_test(an_operator_holds_and_releases_jobs),
	    cmocka_unit_test(a_release_does_not_start_what_is_not_due),
	    cmocka_unit_test(a_job_is_not_retried_by_itself),
	    cmocka_unit_test(its_queue_stays),
	    cmocka_unit_test(its_tasks_are_not_pruned_before_it_ends),
	    cmocka_unit_test(why_a_job_waits_up_to_what_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
