/* SPDX-License-Identifier: Apache-2.0 */
/* What a group waits for, and what a job does: named up to what blocks, however long the row is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/group/group.h"
#include "core/state.h"
#include "group_story.h"
#include "words/words.h"

#define STORY(name) static void name(void **state)
#define LONG 100000

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

/* The letters of the jobs that could go on. */
static const char *live(struct group_story *s)
{
	static char letters[GROUP_LIVE_MAX + 1];
	rid jobs[GROUP_LIVE_MAX];
	size_t n = core_group_live(s->w->core, s->group, jobs);

	memset(letters, 0, sizeof letters);
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < LETTERS; k++)
			if (s->job[k] == jobs[i])
				letters[i] = (char)('a' + k);
	return letters;
}

STORY(what_waits_goes_before_what_runs)
{
	struct group_story s = story_new(NULL);

	assert_int_equal(core_group_live(s.w->core, 12345, (rid[GROUP_LIVE_MAX]){0}), 0);
	story_worker(&s, 1);
	story_submit(&s, "a b c d:a");
	assert_string_equal(live(&s), "bca");
	assert_int_equal(set_status(&s, 'c', -10), 0);
	assert_string_equal(live(&s), "bca");
	world_restart(s.w);
	assert_string_equal(live(&s), "bca");
	story_do(&s, EV_DO);
	assert_int_equal(story_group(&s), GROUP_CANCELING);
	assert_string_equal(live(&s), "a");
	world_free(s.w);
}

/* However many others wait before it in another queue. */
STORY(one_of_each_kind_of_wait_is_listed)
{
	struct group_story s = story_new(NULL);

	story_submit(&s, "a b c d e f g h i j k l m");
	assert_string_equal(live(&s), "abcdefgh");
	assert_int_equal(set_status(&s, 'm', -10), 0);
	assert_string_equal(live(&s), "ambcdefg");
	world_free(s.w);
}

#define assert_reason(s, job, text) assert_string_equal(story_job(s, job)->state.reason.p, text)

STORY(what_is_skipped_names_the_need_that_broke)
{
	struct group_story s = story_new(NULL);

	s.max_attempts = 1;
	story_submit(&s, "a b:a c:b d e:d! f g:f,a? h:b!");
	assert_int_equal(set_status(&s, 'f', -10), 0);
	story_worker(&s, 10);
	story_end(&s, 'a', TASK_FAILED);
	story_end(&s, 'd', TASK_SUCCEEDED);
	world_tasks(s.w, EV_CANCEL, &s.job['f' - 'a'], 1);
	assert_reason(&s, 'b', "it needs a, which failed");
	assert_reason(&s, 'c', "it needs b, which was skipped");
	assert_reason(&s, 'e', "it runs after a failure of d, which was built");
	assert_reason(&s, 'g', "it needs f, which was cancelled");
	assert_reason(&s, 'h', "it runs after a failure of b, which was skipped");
	world_free(s.w);
}

/* The rows are read again; what was doomed by them while they came is skipped all the same. */
STORY(a_skip_after_a_start_names_it_too)
{
	struct group_story s = story_new(NULL);

	s.max_attempts = 1;
	story_worker(&s, 10);
	story_submit(&s, "a b:a c:a d:c");
	s.w->hold_reads = true;
	story_end(&s, 'a', TASK_FAILED);
	assert_jobs(&s, "b=schedulable c=schedulable");
	world_restart(s.w); /* before the answer */
	s.w->hold_reads = false;
	world_answer_reads(s.w);
	world_advance(s.w, 1);
	assert_jobs(&s, "b=dependency c=dependency d=dependency");
	assert_reason(&s, 'b', "it needs a, which failed");
	assert_reason(&s, 'd', "it needs c, which was skipped");
	assert_int_equal(story_group(&s), GROUP_FAILED);
	world_free(s.w);
}

STORY(a_read_that_fails_does_not_keep_a_skip_off)
{
	struct group_story s = story_new(NULL);

	s.max_attempts = 1;
	story_worker(&s, 10);
	story_submit(&s, "a b:a c:b");
	s.w->reads_fail = true;
	story_end(&s, 'a', TASK_FAILED);
	assert_jobs(&s, "b=schedulable c=schedulable");
	s.w->reads_fail = false;
	world_advance(s.w, 2000);
	assert_reason(&s, 'b', "it needs a, which failed");
	assert_reason(&s, 'c', "it needs b, which was skipped");
	world_free(s.w);
}

STORY(a_need_whose_task_is_gone_is_said_to_be)
{
	struct group_story s = story_new(NULL);
	char id[ID_TEXT], text[100];

	story_submit(&s, "a b:a");
	world_task(s.w, s.job[0])->id = s.job[0] - 1000000; /* whoever did that */
	world_restart(s.w);
	assert_int_equal(story_group(&s), GROUP_FAILED);
	snprintf(text, sizeof text, "it needs task %s, which is gone",
	    id_format(&s.w->core->ids, s.job[0], id));
	assert_reason(&s, 'b', text);
	world_free(s.w);
}

/* Asserts what the watchdog says when a's end starts nothing. */
static void assert_stuck(struct group_story *s, const char *text)
{
	story_end(s, 'a', TASK_SUCCEEDED);
	assert_int_equal(story_group(s), GROUP_FAILED);
	assert_jobs(s, "a=built b=cancel-complete c=cancel-complete");
	assert_string_equal(world_group(s->w, s->group)->reason.p, text);
	assert_reason(s, 'b', "its group has failed");
	assert_reason(s, 'c', "its group has failed");
	world_free(s->w);
}

/* Nothing that a correct count could lead to: one need more than it has. */
STORY(a_job_that_is_never_released_fails_the_group)
{
	struct group_story s = story_new(NULL);
	char id[ID_TEXT], text[200];

	story_worker(&s, 10);
	story_submit(&s, "a b:a c:b");
	group_find(s.w->core, s.group)->active->open[s.job[1] - s.group - 1]++;
	snprintf(text, sizeof text,
	    "stuck: all that task %s needs has ended, and it was not started",
	    id_format(&s.w->core->ids, s.job[1], id));
	assert_stuck(&s, text);
}

/* Nor is a job due of which nobody takes notice. */
STORY(a_job_whose_need_never_runs_fails_the_group)
{
	struct group_story s = story_new(NULL);
	char b[ID_TEXT], c[ID_TEXT], text[200];

	story_worker(&s, 10);
	story_submit(&s, "a b:a c:b");
	group_find(s.w->core, s.group)->active->marks[s.job[1] - s.group - 1] = MARK_DUE;
	snprintf(text, sizeof text, "stuck: task %s waits for task %s, which does not run",
	    id_format(&s.w->core->ids, s.job[2], c), id_format(&s.w->core->ids, s.job[1], b));
	assert_stuck(&s, text);
}

/* A group as it is in memory: nothing of it has ended. */
static void long_group(struct group *g, struct active *a, uint32_t n, uint32_t n_edges)
{
	*a = (struct active){.stage = STAGE_RUN, .n_edges = n_edges};
	*g = (struct group){.row.n_jobs = n, .active = a};
	a->marks = xcalloc(n, 1);
	a->first = xcalloc(n + 1, sizeof *a->first);
	a->needed_by = xcalloc(n_edges + 1, sizeof *a->needed_by);
}

static void drop(struct active *a)
{
	free(a->marks);
	free(a->first);
	free(a->needed_by);
}

STORY(a_chain_is_followed_to_its_end)
{
	struct group g;
	struct active a;
	uint32_t need, last;

	long_group(&g, &a, LONG, LONG - 1);
	for (uint32_t i = 0; i + 1 < LONG; i++) {
		a.first[i] = i;
		a.needed_by[i] = (i + 1) << 2;
	}
	a.first[LONG - 1] = LONG - 1;
	assert_int_equal(graph_blockers(&g, LONG - 1, &need, &last), LONG - 1);
	assert_int_equal(need, LONG - 2);
	assert_int_equal(last, 0);
	memset(a.marks, MARK_BUILT, 70000);
	assert_int_equal(graph_blockers(&g, LONG - 1, &need, &last), LONG - 1 - 70000);
	assert_int_equal(last, 70000);
	assert_int_equal(graph_blockers(&g, 70000, &need, &last), 0);
	drop(&a);
}

/* Each needs the ten before it: the chain is still gone down once. */
STORY(a_ladder_is_followed_to_its_end)
{
	struct group g;
	struct active a;
	uint32_t need, last, n = 0;

	long_group(&g, &a, LONG, LONG * 10);
	for (uint32_t i = 0; i < LONG; i++) {
		a.first[i] = n;
		for (uint32_t k = i + 1; k <= i + 10 && k < LONG; k++)
			a.needed_by[n++] = k << 2;
	}
	a.n_edges = n;
	assert_int_equal(graph_blockers(&g, LONG - 1, &need, &last), LONG - 1);
	assert_int_equal(last, 0);
	drop(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_waits_goes_before_what_runs),
	    cmocka_unit_test(one_of_each_kind_of_wait_is_listed),
	    cmocka_unit_test(what_is_skipped_names_the_need_that_broke),
	    cmocka_unit_test(a_skip_after_a_start_names_it_too),
	    cmocka_unit_test(a_read_that_fails_does_not_keep_a_skip_off),
	    cmocka_unit_test(a_need_whose_task_is_gone_is_said_to_be),
	    cmocka_unit_test(a_job_that_is_never_released_fails_the_group),
	    cmocka_unit_test(a_job_whose_need_never_runs_fails_the_group),
	    cmocka_unit_test(a_chain_is_followed_to_its_end),
	    cmocka_unit_test(a_ladder_is_followed_to_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
