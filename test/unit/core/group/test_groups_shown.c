/* SPDX-License-Identifier: Apache-2.0 */
/* Stories of what jobs are shown of those that they need, and when their orders leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "group_story.h"
#include "model/limits.h"

#define STORY(name) static void name(void **state)

static void story_leave(struct group_story *s, char letter, const char *result)
{
	struct task_row *t = story_job(s, letter);

	assert_int_equal(t->state.status, TASK_CLAIMED);
	world_left(
	    s->w, (uint64_t)s->number, t->id, t->state.token, TASK_SUCCEEDED, str_of(result));
}

/* The newest order of the job; NULL: none was sent. */
static const struct link_run *story_order(struct group_story *s, char letter)
{
	const struct link_run *r = NULL;

	for (size_t i = 0; i < s->w->n_sent; i++)
		if (s->w->sent[i].kind == MSG_RUN && s->w->sent[i].run.task == s->job[letter - 'a'])
			r = &s->w->sent[i].run;
	return r;
}

/* "a=built:x c=job-failed": what the job is shown, in this order. */
#define assert_shown(s, letter, text) assert_shown_at(s, letter, text, __LINE__)
static void assert_shown_at(struct group_story *s, char letter, const char *text, int line)
{
	const struct link_run *r = story_order(s, letter);
	struct buf b = {0};

	assert_non_null(r);
	for (size_t i = 0; i < r->n_needs; i++) {
		char job = '?';

		for (int k = 0; k < LETTERS; k++)
			if (s->job[k] == r->needs[i].task)
				job = (char)('a' + k);
		buf_printf(&b, "%s%c=" STR_FMT, i ? " " : "", job, STR_ARG(r->needs[i].state));
		if (r->needs[i].result.n)
			buf_printf(&b, ":" STR_FMT, STR_ARG(r->needs[i].result));
		if (r->needs[i].is_cut)
			buf_add_cstr(&b, ":cut");
	}
	buf_add_char(&b, 0);
	if (strcmp(b.p, text))
		fail_msg("line %d: job %c is shown %s, not %s", line, letter, b.p, text);
	buf_release(&b);
}

STORY(a_job_sees_what_its_needs_left)
{
	struct group_story s = story_new(NULL);
	const struct link_run *r;

	story_worker(&s, 10);
	story_submit(&s, "a b c d:a,b,c e:d f:a");
	story_leave(&s, 'a', "{\"x\":1}");
	assert_shown(&s, 'f', "a=built:{\"x\":1}");
	story_end(&s, 'b', TASK_SUCCEEDED); /* it has nothing to say */
	story_leave(&s, 'c', "3");
	assert_shown(&s, 'd', "a=built:{\"x\":1} c=built:3");
	r = story_order(&s, 'd');
	assert_string_equal(r->needs[0].worker.p, "w1");
	assert_int_equal(r->needs[0].exit_code, 0);
	assert_int_equal(r->needs[0].attempt, 1);
	assert_true(r->needs[0].started_ms > 0 && r->needs[0].ended_ms > 0);
	story_end(&s, 'd', TASK_SUCCEEDED);
	assert_shown(&s, 'e', ""); /* of what is behind its needs it is shown nothing */
	story_end(&s, 'e', TASK_SUCCEEDED);
	story_end(&s, 'f', TASK_SUCCEEDED);
	assert_int_equal(story_group(&s), GROUP_COMPLETE);
	world_free(s.w);
}

STORY(a_job_sees_what_failed)
{
	struct group_story s = story_new(NULL);

	s.max_attempts = 1;
	story_worker(&s, 10);
	story_submit(&s, "a b:a c:a! d:b?,c?");
	story_end(&s, 'a', TASK_FAILED);
	assert_shown(&s, 'c', "a=job-failed");
	assert_int_equal(story_order(&s, 'c')->needs[0].exit_code, 1);
	story_leave(&s, 'c', "clean");
	assert_shown(&s, 'd', "b=dependency-failed c=built:clean");
	world_free(s.w);
}

/* No read stands between the end of a job and the order of the next if there is nothing to show. */
STORY(who_is_shown_nothing_does_not_wait)
{
	struct group_story s = story_new(NULL);

	story_worker(&s, 10);
	story_submit(&s, "a b:a");
	s.w->hold_reads = true;
	story_end(&s, 'a', TASK_SUCCEEDED);
	assert_shown(&s, 'b', "");
	world_free(s.w);
}

STORY(every_attempt_sees_the_same)
{
	struct group_story s = story_new(NULL);
	const struct link_run *first;

	s.max_attempts = 3;
	story_worker(&s, 10);
	story_submit(&s, "a b:a");
	story_leave(&s, 'a', "1");
	first = story_order(&s, 'b');
	assert_shown(&s, 'b', "a=built:1");
	story_end(&s, 'b', TASK_FAILED);
	world_advance(s.w, 3600000);
	assert_ptr_not_equal(story_order(&s, 'b'), first);
	assert_int_equal(story_order(&s, 'b')->attempt, 2);
	assert_shown(&s, 'b', "a=built:1");
	world_free(s.w);
}

/* What was claimed is given back by the worker's hello, and its group is read first. */
STORY(a_start_shows_the_same)
{
	struct group_story s = story_new(NULL);

	story_worker(&s, 1);
	story_submit(&s, "a b:a c:a");
	story_leave(&s, 'a', "1");
	assert_shown(&s, 'b', "a=built:1");
	world_restart(s.w);
	world_forget_sent(s.w);
	s.number++;
	world_hello(s.w, (uint64_t)s.number, "w1", 1, 10, NULL, 0);
	assert_shown(&s, 'b', "a=built:1");
	assert_shown(&s, 'c', "a=built:1");
	world_free(s.w);
}

static struct group_story late_story(void)
{
	struct group_story s = story_new(NULL);

	story_worker(&s, 10);
	story_submit(&s, "a b:a");
	s.w->hold_reads = true;
	story_leave(&s, 'a', "1");
	assert_jobs(&s, "b=dispatched");
	assert_null(story_order(&s, 'b'));
	return s;
}

STORY(an_order_waits_for_what_it_shows)
{
	struct group_story s = late_story();

	assert_true(core_order_is_late(s.w->core, s.job[1], story_job(&s, 'b')->state.token));
	world_answer_reads(s.w);
	assert_shown(&s, 'b', "a=built:1");
	assert_false(core_order_is_late(s.w->core, s.job[1], story_job(&s, 'b')->state.token));
	world_free(s.w);
}

STORY(a_read_that_fails_delays_the_order)
{
	struct group_story s = late_story();

	s.w->reads_fail = true;
	world_answer_reads(s.w);
	assert_null(story_order(&s, 'b'));
	s.w->reads_fail = s.w->hold_reads = false;
	world_advance(s.w, 5000);
	assert_shown(&s, 'b', "a=built:1");
	world_free(s.w);
}

STORY(a_cancel_comes_before_the_order)
{
	struct group_story s = late_story();

	world_tasks(s.w, EV_CANCEL, &s.job[1], 1);
	s.w->hold_reads = false;
	world_answer_reads(s.w);
	world_advance(s.w, 1);
	assert_jobs(&s, "b=cancel-complete");
	assert_null(story_order(&s, 'b'));
	assert_int_equal(story_group(&s), GROUP_FAILED);
	world_free(s.w);
}

STORY(a_group_that_is_cancelled_orders_nothing)
{
	struct group_story s = late_story();

	story_do(&s, EV_DO);
	s.w->hold_reads = false;
	world_answer_reads(s.w);
	assert_jobs(&s, "b=cancel-complete");
	assert_null(story_order(&s, 'b'));
	assert_int_equal(story_group(&s), GROUP_CANCELED);
	world_free(s.w);
}

STORY(a_link_that_is_lost_gives_it_back)
{
	struct group_story s = late_story();

	world_link_lost(s.w, (uint64_t)s.number);
	s.w->hold_reads = false;
	world_answer_reads(s.w);
	assert_jobs(&s, "b=eligible");
	assert_int_equal(story_job(&s, 'b')->state.attempt, 0); /* it was never begun */
	s.number++;
	world_hello(s.w, (uint64_t)s.number, "w1", 1, 10, NULL, 0);
	assert_shown(&s, 'b', "a=built:1");
	world_free(s.w);
}

STORY(an_older_worker_gets_only_who_is_shown_nothing)
{
	struct group_story s = story_new(NULL);

	s.w->takes_no_needs = true;
	story_worker(&s, 10);
	story_submit(&s, "a b:a c d:c");
	story_end(&s, 'c', TASK_SUCCEEDED);
	assert_jobs(&s, "d=dispatched");
	story_leave(&s, 'a', "1");
	assert_jobs(&s, "b=eligible");
	s.w->takes_no_needs = false;
	world_hello(s.w, (uint64_t)s.number + 1, "w2", 7, 10, NULL, 0);
	assert_jobs(&s, "b=dispatched");
	assert_shown(&s, 'b', "a=built:1");
	world_free(s.w);
}

STORY(too_much_is_left_out)
{
	struct group_story s = story_new(NULL);
	char text[51200], graph[200] = "a b c d e f g:a,b,c,d,e,f";

	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = 0;
	story_worker(&s, 10);
	story_submit(&s, graph);
	for (char job = 'a'; job < 'g'; job++)
		story_leave(&s, job, text);
	assert_shown(
	    &s, 'g', "a=built:cut b=built:cut c=built:cut d=built:cut e=built:cut f=built:cut");
	world_free(s.w);
}

static void submit_fan(struct group_story *s, size_t n)
{
	struct group_edge *edges = xcalloc(n, sizeof *edges);
	struct submit_task *tasks = xcalloc(n + 1, sizeof *tasks);
	struct submit_group g = {.edges = edges, .n_edges = n};
	struct event ev = {.kind = EV_SUBMIT, .ticket = ++s->w->last_ticket, .actor = STR("me")};

	for (size_t i = 0; i <= n; i++)
		tasks[i].spec = (struct task_spec){
		    .queue = s->queue, .backoff_ms = -1, .backoff_max_ms = -1, .body = STR("{a}")};
	for (size_t i = 0; i < n; i++)
		edges[i] = (struct group_edge){(uint32_t)n, (uint32_t)i};
	ev.submit.tasks = tasks;
	ev.submit.n = n + 1;
	ev.submit.group = &g;
	world_step(s->w, &ev);
	s->group = world_reply(s->w)->id;
	free(edges);
	free(tasks);
}

STORY(too_many_are_left_out)
{
	size_t n = NEEDS_SHOWN_MAX + 3;
	struct group_story s = story_new(NULL);
	rid last;

	story_worker(&s, -1);
	submit_fan(&s, n);
	for (size_t i = 0; i < n; i++) {
		const struct task_row *t = world_task(s.w, s.group + 1 + i);

		world_left(s.w, 1, t->id, t->state.token, TASK_SUCCEEDED, STR("1"));
	}
	s.job[0] = last = s.group + 1 + n;
	assert_int_equal(world_task(s.w, last)->state.status, TASK_CLAIMED);
	assert_int_equal(story_order(&s, 'a')->n_needs, NEEDS_SHOWN_MAX);
	assert_int_equal(story_order(&s, 'a')->needs_left_out, 3);
	world_free(s.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_job_sees_what_its_needs_left),
	    cmocka_unit_test(a_job_sees_what_failed),
	    cmocka_unit_test(who_is_shown_nothing_does_not_wait),
	    cmocka_unit_test(every_attempt_sees_the_same),
	    cmocka_unit_test(a_start_shows_the_same),
	    cmocka_unit_test(an_order_waits_for_what_it_shows),
	    cmocka_unit_test(a_read_that_fails_delays_the_order),
	    cmocka_unit_test(a_cancel_comes_before_the_order),
	    cmocka_unit_test(a_group_that_is_cancelled_orders_nothing),
	    cmocka_unit_test(a_link_that_is_lost_gives_it_back),
	    cmocka_unit_test(an_older_worker_gets_only_who_is_shown_nothing),
	    cmocka_unit_test(too_much_is_left_out),
	    cmocka_unit_test(too_many_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
