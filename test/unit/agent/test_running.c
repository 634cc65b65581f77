/* SPDX-License-Identifier: Apache-2.0 */
/* Stories about how tasks are ended by their own wish, checks that fail, and tasks taken over. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/run/settings.h"
#include "story.h"

static void run_to_kill(rid task, enum kill_method method, int64_t wait_ms)
{
	struct link_run r = plain_run;

	r.kill_method = method;
	r.kill_wait_given = wait_ms >= 0;
	r.kill_wait_ms = wait_ms;
	run_with(task, 1, r);
	started(task, 1);
}

static void test_kill_methods(void **state)
{
	int64_t now;

	join();
	run_to_kill(1, KILL_KILL, -1);
	kill_task(1, 1, false);
	SAYS("KILL 1");
	run_to_kill(2, KILL_TERM, -1);
	kill_task(2, 1, false);
	SAYS("TERM 2");
	run_to_kill(3, KILL_TERM_WAIT_KILL, 250);
	now = mono;
	kill_task(3, 1, false);
	SAYS("TERM 3");
	tick_at(now + 249);
	SAYS("");
	tick_at(now + 250);
	SAYS("KILL 3");
	tick_at(now + 30000); /* nothing more for the one that wants only to be asked */
	assert_null(strstr(told.n ? told.p : "", "KILL"));
}

/* A wait shorter than any look at the clock must KILL all the same. */
static void test_no_wait_at_all(void **state)
{
	join();
	run_to_kill(1, KILL_TERM_WAIT_KILL, 0);
	kill_task(1, 1, false);
	SAYS("TERM 1; KILL 1");
}

/* A worker that leaves takes all along, also those who want only to be asked. */
static void test_leaving_kills_the_unwilling(void **state)
{
	join();
	run_to_kill(1, KILL_TERM, 500);
	leave();
	assert_non_null(strstr(told.p, "TERM 1"));
	tick_at(mono + 500);
	assert_non_null(strstr(told.p, "KILL 1"));
}

/* A kill that only asked is followed by a leaving that does not only ask. */
static void test_leaving_hurries(void **state)
{
	join();
	run_to_kill(1, KILL_TERM, 500);
	kill_task(1, 1, false);
	SAYS("TERM 1");
	leave();
	tick_at(mono + 500);
	assert_non_null(strstr(told.p, "KILL 1"));
}

static void unwell(rid task, const char *why)
{
	step((struct agent_event){
	    .kind = AE_UNWELL, .task = task, .token = 1, .unwell = str_of(why)});
}

static void test_unwell(void **state)
{
	join();
	run(1, 1);
	started(1, 1);
	unwell(1, "became unhealthy: HTTP status 503");
	SAYS("TERM 1");
	unwell(1, "twice");
	SAYS("");
	signalled(1, 1, SIGTERM);
	SAYS("ended 1/1 2 (became unhealthy: HTTP status 503)");
	unwell(1, "too late");
	SAYS("");
}

static void adopt(rid task, int64_t started_mono_ms, int64_t timeout_ms)
{
	struct link_run r = plain_run;

	r.task = task;
	r.token = 7;
	r.timeout_ms = timeout_ms;
	step((struct agent_event){.kind = AE_ADOPT,
	    .adopt = {.run = &r, .started_ms = 123456, .started_mono_ms = started_mono_ms}});
}

/* The attempt is in the hello as if we had started it, and its end is told as ours. */
static void test_adopted(void **state)
{
	adopt(1, mono - 5000, 0);
	up();
	SAYS("hello 1/7");
	welcome();
	exited(1, 7, 3);
	SAYS("ended 1/7 2 code 3 (exit code 3)");
	assert_int_equal(effects.items[0].ended->started_ms, 123456);
	acked(1, 7);
	assert_int_equal(agent_held(agent), 0);
}

static const struct receipt *said_receipt(size_t i)
{
	assert_int_equal(effects.items[0].kind, AF_HELLO);
	assert_true(i < effects.items[0].hello->n_tasks);
	return &effects.items[0].hello->tasks[i].receipt;
}

/* Of what runs, of what waits for an older attempt to end, and of what is over. */
static void test_receipts_are_said_with_each_hello(void **state)
{
	struct link_run r = plain_run;

	join();
	for (uint8_t i = 1; i <= 3; i++) {
		r.receipt.bytes[0] = i;
		run_with(i, 7, r);
		started(i, 7);
	}
	exited(1, 7, 0);
	r.receipt.bytes[0] = 4;
	run_with(3, 8, r);
	for (int round = 0; round < 2; round++) {
		down();
		up();
		assert_int_equal(effects.items[0].hello->n_tasks, 4);
		for (uint8_t i = 0; i < 4; i++)
			assert_int_equal(said_receipt(i)->bytes[0], i + 1);
	}
}

static void test_receipts_of_adopted_ones(void **state)
{
	struct link_run r = plain_run;

	r.task = 1;
	r.token = 7;
	r.receipt.bytes[15] = 9;
	step((struct agent_event){.kind = AE_ADOPT, .adopt = {.run = &r, .started_ms = 1}});
	up();
	assert_int_equal(said_receipt(0)->bytes[15], 9);
}

/* What the server has is not sent again; what it may have in part comes again, from the border of a
 * chunk. */
static void test_adopted_output_goes_on(void **state)
{
	struct link_run r = plain_run;

	r.task = r.token = 1;
	step((struct agent_event){.kind = AE_ADOPT,
	    .adopt = {.run = &r, .started_ms = 1, .output_from = {2 * OUTPUT_CHUNK_BYTES, 0}}});
	join();
	wrote(1, 1, OUTPUT_CHUNK_BYTES + 10);
	SAYS("output 1 0@131072+65536");
	assert_int_equal(agent_output_need(agent, 1, 1, STDOUT).from, 2 * OUTPUT_CHUNK_BYTES);
	output_acked(1, 1, 3 * OUTPUT_CHUNK_BYTES);
	assert_int_equal(agent_output_need(agent, 1, 1, STDOUT).from, 3 * OUTPUT_CHUNK_BYTES);
	exited(1, 1, 0);
	SAYS("output 1 0@196608+10; ended 1/1 1 code 0 196618 bytes");
}

/* Small as it is, some of it may have been sent in chunks: never inside the end. */
static void test_adopted_output_is_in_chunks(void **state)
{
	adopt(1, mono, 0);
	join();
	wrote(1, 7, 10);
	exited(1, 7, 0);
	SAYS("output 1 0@0+10; ended 1/7 1 code 0 10 bytes");
}

/* Beyond its limit only the count is needed. */
static void test_adopted_beyond_its_limit(void **state)
{
	struct link_run r = plain_run;

	r.task = r.token = 1;
	r.output_max = 100;
	step((struct agent_event){
	    .kind = AE_ADOPT, .adopt = {.run = &r, .started_ms = 1, .output_from = {1000, 0}}});
	join();
	wrote(1, 1, 10);
	assert_int_equal(agent_output_need(agent, 1, 1, STDOUT).from, 1010);
	exited(1, 1, 0);
	SAYS("ended 1/1 1 code 0 100 bytes dropped 910");
}

static void test_adopted_keeps_its_time_limit(void **state)
{
	adopt(1, mono - 5000, 6000);
	assert_int_equal(agent_wake_ms(agent), mono + 1000);
	tick_at(mono + 1000);
	SAYS("TERM 1");
}

static void test_adopted_only_before_the_first_link(void **state)
{
	struct link_run r = plain_run;

	r.task = 9;
	r.token = 1;
	join();
	assert_int_equal(
	    step((struct agent_event){.kind = AE_ADOPT, .adopt = {&r, 1, 1}}), ERR_PROTOCOL);
	assert_int_equal(agent_held(agent), 0);
}

static void test_forgotten_when_acknowledged(void **state)
{
	join();
	run(1, 1);
	started(1, 1);
	exited(1, 1, 0);
	for (size_t i = 0; i < effects.n; i++)
		assert_int_not_equal(effects.items[i].kind, AF_FORGET);
	acked(1, 1);
	assert_int_equal(effects.items[0].kind, AF_FORGET);
	assert_int_equal(effects.items[0].task, 1);
}

static void test_permanent_and_out_of_memory(void **state)
{
	join();
	run(1, 1);
	started(1, 1);
	step((struct agent_event){.kind = AE_EXITED,
	    .task = 1,
	    .token = 1,
	    .exit = {.kind = EXIT_CODE, .status = TASK_FAILED, .permanent = true}});
	assert_true(effects.items[0].ended->permanent);
	run(2, 1);
	started(2, 1);
	step((struct agent_event){.kind = AE_EXITED,
	    .task = 2,
	    .token = 1,
	    .exit = {.kind = EXIT_SIGNAL, .signal = 9, .usage = {.oom_kills = 1}}});
	SAYS("ended 2/1 2 (out of memory: ended by signal 9)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(test_kill_methods),
	    T(test_no_wait_at_all),
	    T(test_leaving_kills_the_unwilling),
	    T(test_leaving_hurries),
	    T(test_unwell),
	    T(test_receipts_are_said_with_each_hello),
	    T(test_receipts_of_adopted_ones),
	    T(test_adopted),
	    T(test_adopted_output_goes_on),
	    T(test_adopted_output_is_in_chunks),
	    T(test_adopted_beyond_its_limit),
	    T(test_adopted_keeps_its_time_limit),
	    T(test_adopted_only_before_the_first_link),
	    T(test_forgotten_when_acknowledged),
	    T(test_permanent_and_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
