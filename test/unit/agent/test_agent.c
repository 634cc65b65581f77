/* SPDX-License-Identifier: Apache-2.0 */
/* An attempt's life on the worker, and leaving in good order. */
#include "story.h"

#include <string.h>

#include "base/mem.h"
#include "model/run/settings.h"

static void test_a_task(void **state)
{
	up();
	SAYS("hello");
	welcome();
	SAYS("beat 1 unhealthy");
	check(1, 0);
	checked(1, true);
	news((struct link_news){.state = WORKER_HEALTHY, .check = 1});
	run(1, 5);
	SAYS("start 1/5");
	run(1, 5); /* said twice */
	SAYS("");
	started(1, 5);
	SAYS("started 1");
	run(1, 5);
	SAYS("");
	wrote(1, 5, 3);
	SAYS("");
	exited(1, 5, 0);
	SAYS("ended 1/5 1 code 0 <xxx|>");
	assert_int_equal(agent_live(agent), 0);
	assert_int_equal(agent_held(agent), 1);
	run(1, 5); /* and after its end */
	SAYS("");
	acked(1, 5);
	assert_int_equal(agent_held(agent), 0);
	acked(1, 5);
	SAYS("");
}

static void test_statuses(void **state)
{
	struct link_run coded = plain_run;

	coded.exit_codes = true;
	join();
	run(1, 1);
	exited(1, 1, 99);
	SAYS("ended 1/1 2 code 99 unstarted (exit code 99)");
	run_with(2, 1, coded);
	started(2, 1);
	exited(2, 1, 99);
	SAYS("ended 2/1 1 code 99 (skipped)");
	run_with(3, 1, coded);
	started(3, 1);
	exited(3, 1, 100);
	SAYS("ended 3/1 2 code 100 permanent (exit code 100: permanent failure)");
	run_with(4, 1, coded);
	started(4, 1);
	exited(4, 1, 111);
	SAYS("ended 4/1 2 code 111 (exit code 111: temporary failure)");
	run(5, 1);
	started(5, 1);
	signalled(5, 1, 11);
	SAYS("ended 5/1 2 (ended by signal 11 (SIGSEGV))");
	run(6, 1);
	step((struct agent_event){.kind = AE_EXITED,
	    .task = 6,
	    .token = 1,
	    .exit = {EXIT_ERROR, 0, 127, 0, STR("exec /nope: No such file or directory")}});
	SAYS("ended 6/1 2 code 127 (exec /nope: No such file or directory)");
	run(7, 1);
	started(7, 1);
	step((struct agent_event){.kind = AE_EXITED,
	    .task = 7,
	    .token = 1,
	    .exit = {EXIT_STATUS, 42, -1, 0, STR("odd")}});
	SAYS("ended 7/1 42 (odd)");
	run(8, 1); /* given up while it waited for its plugin: over, not to be sent again */
	step((struct agent_event){.kind = AE_EXITED,
	    .task = 8,
	    .token = 1,
	    .exit = {EXIT_STATUS, TASK_TERMINATED, -1, 0, STR("late")}});
	SAYS("ended 8/1 -3 (late)");
}

static void exited_with(rid task, size_t n, int code)
{
	AUTO(free_cstr) char *text = xcalloc(1, n + 1);

	memset(text, 'r', n);
	step((struct agent_event){.kind = AE_EXITED,
	    .task = task,
	    .token = 1,
	    .exit = {.kind = EXIT_CODE,
	        .exit_code = code,
	        .usage = {5, 6, 7, 1, true},
	        .result = {text, n}}});
}

static const struct link_ended *end_of(rid task)
{
	for (size_t i = 0; i < effects.n; i++)
		if (effects.items[i].kind == AF_ENDED && effects.items[i].ended->task == task)
			return effects.items[i].ended;
	fail();
	return NULL;
}

/* Usage and result come with the end, and again with the next link. */
static void test_results(void **state)
{
	join();
	for (rid task = 1; task <= 4; task++) {
		run(task, 1);
		started(task, 1);
	}
	exited_with(1, 3, 0);
	down();
	up();
	welcome();
	assert_int_equal(end_of(1)->usage.user_us, 5);
	assert_int_equal(end_of(1)->usage.oom_kills, 1);
	assert_true(end_of(1)->usage.known);
	assert_true(str_is(end_of(1)->result, "rrr"));
	exited_with(2, RESULT_FILE_MAX, 0);
	assert_int_equal(end_of(2)->result.n, RESULT_FILE_MAX);
	assert_int_equal(end_of(2)->status, TASK_SUCCEEDED);
	exited_with(3, RESULT_FILE_MAX + 1, 0);
	assert_int_equal(end_of(3)->result.n, 0);
	SAYS("ended 3/1 2 code 0 (its result file holds more than 51200 bytes)");
	exited_with(4, RESULT_FILE_MAX + 1, 9);
	SAYS("ended 4/1 2 code 9 (exit code 9 (out of memory))");
}

static void test_time_limit(void **state)
{
	struct link_run limited = plain_run;

	limited.timeout_ms = 3000;
	join();
	beat_acked(1);
	run_with(1, 1, limited);
	started(1, 1);
	assert_int_equal(agent_wake_ms(agent), 4000);
	tick_at(3999);
	SAYS("");
	tick_at(4000);
	SAYS("TERM 1");
	tick_at(8999);
	SAYS("");
	tick_at(9000);
	SAYS("KILL 1");
	tick_at(9500);
	SAYS("");
	signalled(1, 1, 9);
	SAYS("ended 1/1 -3 (time limit of 3.0s reached)");
}

static void test_kill(void **state)
{
	join();
	run(1, 1);
	started(1, 1);
	kill_task(1, 1, false);
	SAYS("TERM 1");
	kill_task(1, 1, false);
	SAYS("");
	exited(1, 1, 0);
	SAYS("ended 1/1 -3 code 0 killed (cancelled by root)");
	kill_task(1, 1, false); /* crossed */
	SAYS("");
	kill_task(1, 1, true);
	assert_int_equal(agent_held(agent), 0);
	run(2, 1); /* before it was started */
	kill_task(2, 1, false);
	SAYS("TERM 2");
	step((struct agent_event){.kind = AE_EXITED,
	    .task = 2,
	    .token = 1,
	    .exit = {.kind = EXIT_NEVER, .exit_code = -1}});
	SAYS("ended 2/1 -3 killed unstarted (cancelled by root)");
	run(3, 1); /* nobody wants to hear of it */
	started(3, 1);
	kill_task(3, 1, true);
	SAYS("TERM 3");
	signalled(3, 1, 15);
	SAYS("");
	assert_int_equal(agent_held(agent), 1);
	kill_task(77, 1, true);
	SAYS("");
}

static void test_reconnect(void **state)
{
	join();
	run(1, 1);
	started(1, 1);
	run(2, 2);
	run(3, 3);
	started(3, 3);
	exited(3, 3, 0);
	down();
	started(2, 2);
	SAYS("");
	exited(1, 1, 1);
	SAYS(""); /* kept */
	up();
	SAYS("hello 1/1 over 2/2 3/3 over");
	welcome();
	SAYS("beat 2; ended 1/1 2 code 1 (exit code 1); ended 3/3 1 code 0");
	acked(3, 3);
	down();
	up();
	SAYS("hello 1/1 over 2/2");
	run(4, 4); /* before the welcome nothing is taken */
	SAYS("");
	welcome();
	acked(1, 1);
	exited(2, 2, 0);
	SAYS("ended 2/2 1 code 0");
}

static void test_later_attempt(void **state)
{
	join();
	run(1, 5);
	started(1, 5);
	run(1, 3);
	SAYS("note"); /* an old one */
	run(1, 7);
	SAYS("note; TERM 1");
	signalled(1, 5, 15);
	SAYS("ended 1/5 -3 killed (killed); start 1/7");
	started(1, 7);
	acked(1, 5);
	exited(1, 7, 0);
	SAYS("ended 1/7 1 code 0");
	run(1, 9); /* the end of 7 is not acknowledged yet: that is no reason to wait */
	SAYS("start 1/9");
	down();
	up();
	SAYS("hello 1/7 over 1/9 unstarted");
}

static void test_leave(void **state)
{
	join();
	beat_acked(1);
	run(1, 1);
	started(1, 1);
	run(2, 2);
	started(2, 2);
	leave();
	SAYS("beat 2 leaving; TERM 1; TERM 2");
	run(3, 3); /* was on its way */
	SAYS("ended 3/3 2 unstarted (the worker is leaving)");
	acked(3, 3);
	signalled(1, 1, 15);
	SAYS("ended 1/1 2 (the worker was stopped)");
	acked(1, 1);
	tick_at(6000);
	SAYS("KILL 2");
	signalled(2, 2, 9);
	SAYS("ended 2/2 2 (the worker was stopped)");
	acked(2, 2);
	SAYS(""); /* runs may still be on their way */
	beat_acked(2);
	SAYS("exit 0");
}

static void test_leave_idle(void **state)
{
	leave();
	SAYS("exit 0"); /* never connected */
}

static void test_leave_unheard(void **state)
{
	join();
	run(1, 1);
	started(1, 1);
	down();
	leave();
	SAYS("TERM 1");
	exited(1, 1, 0);
	SAYS("");
	assert_int_equal(agent_wake_ms(agent), 4000);
	tick_at(4000);
	SAYS("exit 0");
}

static void test_leave_at_once(void **state)
{
	join();
	run(1, 1);
	started(1, 1);
	leave();
	leave();
	SAYS("KILL 1");
	signalled(1, 1, 9);
	SAYS("ended 1/1 2 (the worker was stopped); exit 0");
}

static void test_nonsense(void **state)
{
	join();
	exited(9, 9, 0);
	SAYS("");
	started(9, 9);
	wrote(9, 9, 1);
	output_acked(9, 9, 5);
	run(1, 1);
	acked(1, 1); /* not over */
	SAYS("note");
	assert_int_equal(agent_held(agent), 1);
	welcome();
	SAYS("");
	beat_acked(1000);
	assert_int_equal(agent_give_up_ms(agent), 96002);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(test_a_task),
	    T(test_statuses),
	    T(test_results),
	    T(test_time_limit),
	    T(test_kill),
	    T(test_reconnect),
	    T(test_later_attempt),
	    T(test_leave),
	    T(test_leave_idle),
	    T(test_leave_unheard),
	    T(test_leave_at_once),
	    T(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
