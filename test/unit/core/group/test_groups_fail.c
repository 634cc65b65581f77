/* SPDX-License-Identifier: Apache-2.0 */
/* Stories of jobs that somebody fails, because they cannot be built any more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "group_story.h"
#include "model/task/deeds.h"

#define WHY "plan disconnected"

static const struct outcome *fail_task(struct group_story *s, rid task)
{
	struct event ev = {.kind = EV_CANCEL, .ticket = ++s->w->last_ticket, .actor = STR("ann")};

	ev.tasks.ids = &task;
	ev.tasks.n = 1;
	ev.tasks.fails = true;
	ev.tasks.reason = STR(WHY);
	world_step(s->w, &ev);
	assert_int_equal(world_reply(s->w)->n, 1);
	return &world_reply(s->w)->outcomes[0];
}

static const struct outcome *fail_job(struct group_story *s, char letter)
{
	return fail_task(s, s->job[letter - 'a']);
}

static struct group_story begin(const char *jobs)
{
	struct group_story s = story_new(NULL);

	story_worker(&s, 1);
	story_submit(&s, jobs);
	return s;
}

static void assert_why(struct group_story *s, char letter)
{
	const struct task_state *t = &story_job(s, letter)->state;

	assert_int_equal(t->status, TASK_FAILED);
	assert_true(str_is(t->reason, WHY));
}

static bool was_told(const struct group_story *s, const char *kind)
{
	for (size_t i = 0; i < s->w->n_told; i++)
		if (strcmp(s->w->told[i], kind) == 0)
			return true;
	return false;
}

/* b waits for a worker, c for what it needs: both are over at once, and the rest goes on. */
static void test_what_waits_fails_at_once(void **state)
{
	struct group_story s = begin("a b c:a d:b e:c? f:a");
	struct deed d;
	struct str deeds;

	assert_int_equal(fail_job(&s, 'b')->status, TASK_FAILED);
	assert_int_equal(fail_job(&s, 'c')->status, TASK_FAILED);
	assert_jobs(&s, "a=dispatched b=job-failed c=job-failed d=dependency f=schedulable");
	assert_why(&s, 'b');
	assert_why(&s, 'c');
	deeds = story_job(&s, 'b')->state.deeds;
	assert_true(deeds_next(&deeds, &d) && d.verb == DEED_FAIL && str_is(d.actor, "ann"));
	assert_true(was_told(&s, "group.job_failed"));
	assert_int_equal(fail_job(&s, 'b')->code, ERR_CONFLICT); /* it has ended */
	story_end(&s, 'a', TASK_SUCCEEDED);
	for (const char *p = "ef"; *p; p++)
		story_end(&s, *p, TASK_SUCCEEDED);
	assert_int_equal(story_group(&s), GROUP_FAILED);
	assert_int_equal(world_group(s.w, s.group)->counts.failed, 2);
	assert_int_equal(world_group(s.w, s.group)->counts.cancelled, 0);
	world_free(s.w);
}

static void killed(struct group_story *s, char letter)
{
	struct task_row *t = story_job(s, letter);
	struct event ev = {.kind = EV_ENDED, .link = (uint64_t)s->number};

	ev.ended.task = t->id;
	ev.ended.token = t->state.token;
	ev.ended.status = TASK_TERMINATED;
	ev.ended.exit_code = -1;
	ev.ended.killed = true;
	ev.ended.reason = STR("cancelled");
	ev.ended.started_ms = s->w->now_ms;
	ev.ended.ended_ms = s->w->now_ms;
	world_step(s->w, &ev);
}

/* The job's worker is told, and may say that it had started after that: the reason stays. */
static void test_what_runs_fails_when_its_worker_says_so(void **state)
{
	struct group_story s = begin("a b:a c:a!");

	assert_int_equal(fail_job(&s, 'a')->code, 0);
	assert_jobs(&s, "a=cancel-pending b=schedulable");
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 1);
	world_started(s.w, (uint64_t)s.number, s.job[0], story_job(&s, 'a')->state.token);
	assert_jobs(&s, "a=cancel-pending");
	killed(&s, 'a');
	assert_jobs(&s, "a=job-failed b=dependency c=dispatched");
	assert_why(&s, 'a');
	story_end(&s, 'c', TASK_SUCCEEDED);
	assert_int_equal(story_group(&s), GROUP_FAILED);
	world_free(s.w);
}

/* What is wished is in its row: the worker is told again, and the end is the same. */
static void test_stays_through_a_start(void **state)
{
	struct group_story s = begin("a b:a");
	struct link_held held;

	world_started(s.w, (uint64_t)s.number, s.job[0], story_job(&s, 'a')->state.token);
	fail_job(&s, 'a');
	held = (struct link_held){
	    .task = s.job[0], .token = story_job(&s, 'a')->state.token, .started_ms = s.w->now_ms};
	world_restart(s.w);
	world_forget_sent(s.w);
	world_hello(s.w, (uint64_t)s.number, "w1", (uint64_t)s.number, 1, &held, 1);
	assert_jobs(&s, "a=cancel-pending");
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 1);
	killed(&s, 'a');
	assert_jobs(&s, "a=job-failed b=dependency");
	assert_why(&s, 'a');
	assert_int_equal(story_group(&s), GROUP_FAILED);
	world_free(s.w);
}

/* The order never arrived: nothing runs, and nothing is tried again. */
static void test_what_was_never_started_fails(void **state)
{
	struct group_story s = begin("a b:a");

	fail_job(&s, 'a');
	s.number++;
	world_hello(s.w, (uint64_t)s.number, "w1", (uint64_t)s.number - 1, 1, NULL, 0);
	assert_jobs(&s, "a=job-failed b=dependency");
	assert_why(&s, 'a');
	world_free(s.w);
}

/* The job had ended by itself before its worker was told. */
static void test_what_is_built_stays_built(void **state)
{
	struct group_story s = begin("a b:a");

	fail_job(&s, 'a');
	story_end(&s, 'a', TASK_SUCCEEDED);
	assert_jobs(&s, "a=built b=dispatched");
	world_free(s.w);
}

/* The job's group is cancelled meanwhile: that is over with the job, which has failed all the same.
 */
static void test_beside_a_cancel(void **state)
{
	struct group_story s = begin("a b:a");

	fail_job(&s, 'a');
	assert_int_equal(story_do(&s, EV_DO)->code, 0);
	assert_jobs(&s, "a=cancel-pending b=cancel-complete");
	killed(&s, 'a');
	assert_jobs(&s, "a=job-failed");
	assert_int_equal(story_group(&s), GROUP_CANCELED);
	world_free(s.w);
}

static void test_only_jobs_of_groups(void **state)
{
	struct group_story s = story_new(NULL);
	rid task = world_submit_one(s.w, s.queue);

	assert_int_equal(fail_task(&s, task)->code, ERR_CONFLICT);
	assert_int_equal(world_task(s.w, task)->state.status, TASK_QUEUED);
	world_free(s.w);
}

static void test_by_policy(void **state)
{
	struct group_story s = story_new(NULL);

	s.policy = GROUP_FAIL_FAST;
	story_worker(&s, 1);
	story_submit(&s, "a b c");
	fail_job(&s, 'c');
	assert_int_equal(story_group(&s), GROUP_FAILURE_CLEANUP);
	assert_jobs(&s, "a=dispatched b=cancel-complete c=job-failed");
	story_end(&s, 'a', TASK_SUCCEEDED);
	assert_int_equal(story_group(&s), GROUP_FAILED);
	world_free(s.w);
}

/* A canceled group holds no job that failed because somebody said so afterwards. */
static void test_what_is_being_cancelled_is_not_failed(void **state)
{
	struct group_story s = begin("a b");
	struct event ev = {.kind = EV_CANCEL, .actor = STR("me")};

	story_do(&s, EV_DO);
	assert_jobs(&s, "a=cancel-pending b=cancel-complete");
	assert_int_equal(fail_job(&s, 'a')->code, ERR_CONFLICT);
	assert_non_null(strstr(world_reply(s.w)->outcomes[0].why, "its group is being cancelled"));
	killed(&s, 'a');
	assert_jobs(&s, "a=cancel-complete b=cancel-complete");
	assert_int_equal(story_group(&s), GROUP_CANCELED);
	story_submit(&s, "a b");
	ev.tasks.ids = &s.job[0];
	ev.tasks.n = 1;
	world_step(s.w, &ev);
	assert_jobs(&s, "a=cancel-pending");
	assert_int_equal(fail_job(&s, 'a')->code, ERR_CONFLICT);
	assert_false(was_told(&s, "group.job_failed"));
	world_free(s.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_what_waits_fails_at_once),
	    cmocka_unit_test(test_what_runs_fails_when_its_worker_says_so),
	    cmocka_unit_test(test_stays_through_a_start),
	    cmocka_unit_test(test_what_was_never_started_fails),
	    cmocka_unit_test(test_what_is_built_stays_built),
	    cmocka_unit_test(test_beside_a_cancel),
	    cmocka_unit_test(test_only_jobs_of_groups),
	    cmocka_unit_test(test_by_policy),
	    cmocka_unit_test(test_what_is_being_cancelled_is_not_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
