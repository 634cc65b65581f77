/* SPDX-License-Identifier: Apache-2.0 */
/* What is left of a group: which jobs that is, and the group that is made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/group/retry.h"
#include "group_story.h"

static void test_choice(void **state)
{
	static const struct {
		const char *graph, *built;
		char from; /* 0: what is not built */
		const char *again, *taken;
	} cases[] = {
	    {"a b:a c:b", "ab", 0, "c", "b"},
	    {"a b:a c:b", "abc", 0, "", ""},
	    {"a b:a c:b", "", 0, "abc", ""},
	    {"a b:a c:b d:a", "ad", 0, "bc", "a"},
	    {"a b:a! c:b?", "bc", 0, "abc", ""}, /* what cleaned up after it is done again */
	    {"a b c:a,b d:c", "abcd", 'c', "cd", "ab"},
	    {"a b c:a,b d:c", "abcd", 'd', "d", "c"},
	    {"a b:a c:b d", "abcd", 'a', "abc", ""},
	    {"a b c:a,b d:a", "b", 'c', "acd", "b"}, /* what it needs, and what needs that */
	    {"a b:a c d:c e:b,d", "cd", 'e', "abe", "d"},
	    {"a b:a,a", "a", 0, "b", "a"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct group_edge edges[64];
		uint8_t built[LETTERS] = {0}, marks[LETTERS];
		size_t n, n_edges = story_parse(cases[i].graph, edges, &n);
		struct retry_graph g = {(uint32_t)n, edges, n_edges, built};

		for (const char *p = cases[i].built; *p; p++)
			built[*p - 'a'] = 1;
		n = retry_choose(&g, cases[i].from ? RETRY_FROM : RETRY_FAILED,
		    (uint32_t)(cases[i].from - 'a'), marks);
		assert_int_equal(n, strlen(cases[i].again));
		for (uint32_t job = 0; job < g.n; job++) {
			char letter = (char)('a' + job);
			int want = strchr(cases[i].again, letter)   ? RETRY_AGAIN
			           : strchr(cases[i].taken, letter) ? RETRY_TAKEN
			                                            : RETRY_NOT;

			if (marks[job] != want)
				fail_msg("case %zu: job %c is %d", i, letter, marks[job]);
		}
	}
}

static void test_edges(void **state)
{
	struct group_edge edges[64], *left;
	uint8_t built[LETTERS] = {1, 1, 1, 0, 0}, marks[LETTERS];
	struct arena a = {0};
	size_t n, n_jobs, n_edges = story_parse("a b:a c d:b?,c e:d", edges, &n);
	struct retry_graph g = {(uint32_t)n, edges, n_edges, built};

	retry_choose(&g, RETRY_FAILED, 0, marks);
	left = retry_edges(&g, marks, &a, &n_edges, &n_jobs);
	assert_int_equal(n_jobs, 4); /* b c d e */
	assert_int_equal(n_edges, 3);
	assert_true(left[0].job == 2 && left[0].need == 0 && left[0].condition == EDGE_END);
	assert_true(left[1].job == 2 && left[1].need == 1);
	assert_true(left[2].job == 3 && left[2].need == 2);
	arena_release(&a);
}

/* b needs a, which was built elsewhere. */
static const struct reply *submit_taken(struct group_story *s, rid retried_of, struct arena *a)
{
	struct task_row built = {.id = 7,
	    .state = {.status = TASK_SUCCEEDED,
	        .attempt = 2,
	        .token = 3,
	        .started_ms = 10,
	        .ended_ms = 20,
	        .result = STR("{\"x\":1}"),
	        .output_where = OUTPUT_INLINE,
	        .output = {STR("said"), STR("said")}}};
	struct group_edge edge = {1, 0};
	const struct task_state *taken[2] = {retry_taken(&built, STR("T"), STR("G"), a), NULL};
	struct submit_task tasks[2];
	struct submit_group g = {
	    .edges = &edge, .n_edges = 1, .taken = taken, .retried_of = retried_of};
	struct event ev = {.kind = EV_SUBMIT, .ticket = ++s->w->last_ticket, .actor = STR("me")};

	for (int i = 0; i < 2; i++)
		tasks[i] = (struct submit_task){.spec = {.queue = s->queue,
		                                    .backoff_ms = -1,
		                                    .backoff_max_ms = -1,
		                                    .body = i ? STR("{b}") : STR("{a}")}};
	ev.submit.tasks = tasks;
	ev.submit.n = 2;
	ev.submit.group = &g;
	world_step(s->w, &ev);
	if (world_reply(s->w)->code == 0) {
		s->group = world_reply(s->w)->id;
		story_find_jobs(s);
	}
	return world_reply(s->w);
}

static void test_taken_jobs_are_built(void **state)
{
	struct group_story s = story_new(NULL);
	struct arena a = {0};
	const struct link_run *run = NULL;

	story_worker(&s, 10);
	story_submit(&s, "a");
	story_end(&s, 'a', TASK_FAILED);
	assert_int_equal(submit_taken(&s, s.group, &a)->code, 0);
	assert_jobs(&s, "a=built b=dispatched");
	assert_true(str_is(story_job(&s, 'a')->state.reason, "taken from group G, task T"));
	assert_int_equal(story_job(&s, 'a')->state.output_where, OUTPUT_NONE);
	assert_true(world_group(s.w, s.group)->retried_of != 0);
	assert_int_equal(world_group(s.w, s.group)->counts.built, 1);
	for (size_t i = 0; i < s.w->n_sent; i++)
		if (s.w->sent[i].kind == MSG_RUN) {
			assert_int_not_equal(s.w->sent[i].run.task, s.job[0]);
			run = &s.w->sent[i].run;
		}
	assert_non_null(run);
	assert_int_equal(run->n_needs, 1);
	assert_true(str_is(run->needs[0].result, "{\"x\":1}"));
	assert_int_equal(run->needs[0].attempt, 2);
	story_end(&s, 'b', TASK_SUCCEEDED);
	assert_int_equal(story_group(&s), GROUP_COMPLETE);
	assert_int_equal(world_group(s.w, s.group)->counts.built, 2);
	arena_release(&a);
	world_free(s.w);
}

static void test_taken_jobs_stay_through_a_start(void **state)
{
	struct group_story s = story_new(NULL);
	struct arena a = {0};

	submit_taken(&s, 0, &a);
	world_restart(s.w);
	story_worker(&s, 10);
	assert_jobs(&s, "a=built b=dispatched");
	story_end(&s, 'b', TASK_SUCCEEDED);
	assert_int_equal(story_group(&s), GROUP_COMPLETE);
	arena_release(&a);
	world_free(s.w);
}

static void test_only_what_has_ended_leaves_something(void **state)
{
	struct group_story s = story_new(NULL);
	struct arena a = {0};

	story_submit(&s, "a b:a");
	assert_int_equal(submit_taken(&s, s.group, &a)->code, ERR_CONFLICT);
	story_do(&s, EV_DO);
	assert_int_equal(story_group(&s), GROUP_CANCELED);
	assert_int_equal(submit_taken(&s, s.group, &a)->code, 0);
	arena_release(&a);
	world_free(s.w);
}

/* Jobs of a series are written down with their end; those of no series, and what failed, are not.
 */
static void test_a_series_remembers_what_was_built(void **state)
{
	static const struct str names[] = {STR("x"), STR("y")};
	struct group_story s = story_new(NULL);
	struct submit_task tasks[2];
	struct submit_group g = {.names = names, .series = STR("night")};
	struct event ev = {.kind = EV_SUBMIT, .ticket = ++s.w->last_ticket, .actor = STR("me")};

	story_worker(&s, 10);
	for (int i = 0; i < 2; i++)
		tasks[i] = (struct submit_task){.spec = {.queue = s.queue,
		                                    .max_attempts = 1,
		                                    .backoff_ms = -1,
		                                    .backoff_max_ms = -1,
		                                    .body = i ? STR("{b}") : STR("{a}")}};
	ev.submit.tasks = tasks;
	ev.submit.n = 2;
	ev.submit.group = &g;
	world_step(s.w, &ev);
	s.group = world_reply(s.w)->id;
	story_find_jobs(&s);
	world_started(s.w, (uint64_t)s.number, s.job[0], story_job(&s, 'a')->state.token);
	story_end(&s, 'b', TASK_FAILED);
	assert_int_equal(s.w->n_built, 0);
	world_advance(s.w, 5000);
	story_end(&s, 'a', TASK_SUCCEEDED);
	assert_int_equal(s.w->n_built, 1);
	assert_true(str_is(s.w->built[0].series_name, "night"));
	assert_true(str_is(s.w->built[0].job_name, "x"));
	assert_int_equal(s.w->built[0].series, built_number(STR("night")));
	assert_int_equal(s.w->built[0].job, built_number(STR("x")));
	assert_int_equal(s.w->built[0].task, s.job[0]);
	assert_int_equal(s.w->built[0].group, s.group);
	assert_true(str_is(world_group(s.w, s.group)->series, "night"));
	story_submit(&s, "a");
	story_end(&s, 'a', TASK_SUCCEEDED);
	assert_int_equal(s.w->n_built, 1);
	world_free(s.w);
}

/* After the start a worker says that it is over before the graph has been read: the digest is
 * written as soon as it is known. The last job's is, too, though the group is over with it. */
static void test_a_series_remembers_what_it_was_built_from(void **state)
{
	static const struct str names[] = {STR("x"), STR("y")};
	static const struct input_digest digests[] = {{{0x0a}}, {{0xff, 0x01}}};
	struct group_story s = story_new(NULL);
	struct submit_task tasks[2];
	struct group_edge edge = {1, 0};
	struct submit_group g = {.names = names,
	    .series = STR("night"),
	    .digests = digests,
	    .edges = &edge,
	    .n_edges = 1};
	struct event ev = {.kind = EV_SUBMIT, .ticket = ++s.w->last_ticket, .actor = STR("me")};
	struct link_held held;

	story_worker(&s, 10);
	for (int i = 0; i < 2; i++)
		tasks[i] = (struct submit_task){.spec = {.queue = s.queue,
		                                    .backoff_ms = -1,
		                                    .backoff_max_ms = -1,
		                                    .body = i ? STR("{b}") : STR("{a}")}};
	ev.submit.tasks = tasks;
	ev.submit.n = 2;
	ev.submit.group = &g;
	world_step(s.w, &ev);
	s.group = world_reply(s.w)->id;
	story_find_jobs(&s);
	assert_int_equal(s.w->n_chunks, 2); /* its graph, and its digests */
	world_started(s.w, (uint64_t)s.number, s.job[0], story_job(&s, 'a')->state.token);
	held = (struct link_held){
	    s.job[0], .token = story_job(&s, 'a')->state.token, .started_ms = s.w->now_ms};
	s.w->hold_reads = true;
	world_restart(s.w);
	world_hello(s.w, (uint64_t)s.number, "w1", (uint64_t)s.number, 10, &held, 1);
	story_end(&s, 'a', TASK_SUCCEEDED);
	s.w->hold_reads = false;
	world_answer_reads(s.w);
	assert_true(s.w->n_built > 0);
	assert_true(
	    str_is(s.w->built[s.w->n_built - 1].digest, "0a000000000000000000000000000000"));
	assert_jobs(&s, "a=built b=dispatched");
	world_started(s.w, (uint64_t)s.number, s.job[1], story_job(&s, 'b')->state.token);
	story_end(&s, 'b', TASK_SUCCEEDED);
	assert_int_equal(story_group(&s), GROUP_COMPLETE);
	assert_true(
	    str_is(s.w->built[s.w->n_built - 1].digest, "ff010000000000000000000000000000"));
	assert_true(str_is(s.w->built[s.w->n_built - 1].job_name, "y"));
	world_free(s.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_choice),
	    cmocka_unit_test(test_edges),
	    cmocka_unit_test(test_taken_jobs_are_built),
	    cmocka_unit_test(test_taken_jobs_stay_through_a_start),
	    cmocka_unit_test(test_only_what_has_ended_leaves_something),
	    cmocka_unit_test(test_a_series_remembers_what_was_built),
	    cmocka_unit_test(test_a_series_remembers_what_it_was_built_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
