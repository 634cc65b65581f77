/* SPDX-License-Identifier: Apache-2.0 */
/* Streamed input on its way to a process: one part at a time, none twice, none left out. */
#include "story.h"

static void streamed(rid task, int64_t token)
{
	struct link_run r = plain_run;

	r.is_streamed = true;
	run_with(task, token, r);
}

static void comes(rid task, int64_t offset, const char *text, bool end)
{
	step((struct agent_event){.kind = AE_INPUT, .input = {task, 1, offset, str_of(text), end}});
}

static void taken(rid task, bool closed)
{
	step((struct agent_event){
	    .kind = AE_INPUT_TAKEN, .task = task, .token = 1, .input_is_closed = closed});
}

static void test_part_by_part(void **state)
{
	join();
	streamed(1, 1);
	SAYS("start 1/1");
	started(1, 1);
	SAYS("started 1; wants 1@0");
	comes(1, 0, "abc", false);
	SAYS("write 1@0+3");
	comes(1, 0, "abc", false); /* said twice */
	SAYS("");
	comes(1, 3, "def", false); /* the process has not the one before */
	SAYS("");
	taken(1, false);
	SAYS("wants 1@3");
	comes(1, 0, "abc", false); /* late */
	SAYS("");
	comes(1, 3, "d", true);
	SAYS("write 1@3+1 end");
	taken(1, false);
	SAYS(""); /* there is nothing more to want */
	comes(1, 4, "", true);
	SAYS("");
}

static void test_the_end_alone(void **state)
{
	join();
	streamed(1, 1);
	started(1, 1);
	comes(1, 0, "", true);
	SAYS("write 1@0+0 end");
	taken(1, false);
	SAYS("");
	comes(1, 0, "", true);
	SAYS("");
}

static void test_nobody_reads_it(void **state)
{
	join();
	streamed(1, 1);
	started(1, 1);
	comes(1, 0, "abc", false);
	taken(1, true);
	SAYS("");
	down();
	up();
	welcome();
	SAYS("beat 2");
}

static void test_asked_again(void **state)
{
	join();
	streamed(1, 1);
	started(1, 1);
	down();
	up();
	welcome();
	SAYS("beat 2; wants 1@0");
	comes(1, 0, "abc", false);
	down();
	taken(1, false);
	SAYS("");
	up();
	welcome();
	SAYS("beat 3; wants 1@3");
}

static void test_not_for_others(void **state)
{
	join();
	run(1, 1);
	started(1, 1);
	SAYS("started 1");
	comes(1, 0, "abc", true);
	SAYS("");
	comes(2, 0, "abc", true); /* nobody's */
	SAYS("");
	streamed(3, 1);
	comes(3, 0, "abc", false); /* it has no process yet */
	SAYS("");
	started(3, 1);
	exited(3, 1, 0);
	comes(3, 0, "abc", false);
	SAYS("");
	taken(3, false);
	SAYS("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {T(test_part_by_part), T(test_the_end_alone),
	    T(test_nobody_reads_it), T(test_asked_again), T(test_not_for_others)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
