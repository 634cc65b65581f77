/* SPDX-License-Identifier: Apache-2.0 */
/* Output on its way to the server. */
#include "story.h"

#include <string.h>

static void test_output_chunks(void **state)
{
	join();
	run(1, 1);
	started(1, 1);
	wrote(1, 1, OUTPUT_CHUNK_BYTES + 10);
	SAYS("output 1 0@0+65536");
	tick_at(1250);
	SAYS("output 1 0@65536+10");
	wrote(1, 1, 5);
	SAYS("");
	assert_int_equal(agent_wake_ms(agent), 1750); /* slower: it is sent again, whole */
	tick_at(1750);
	SAYS("output 1 0@65536+15");
	output_acked(1, 1, 65536);
	output_acked(1, 1, 65546);
	down();
	up();
	welcome();
	SAYS("beat 2; output 1 0@65536+15"); /* what is durable is not sent again */
	exited(1, 1, 0);
	SAYS("ended 1/1 1 code 0 65551 bytes");
	down();
	up();
	welcome();
	SAYS("beat 3; output 1 0@65536+15; ended 1/1 1 code 0 65551 bytes");
}

static void follow(rid task, int64_t token, int64_t for_ms)
{
	step((struct agent_event){.kind = AE_FOLLOW, .follow = {task, token, for_ms}});
}

/* Somebody reads along: soon, for as long as he does. */
static void test_followed(void **state)
{
	join();
	run(1, 1);
	started(1, 1);
	wrote(1, 1, 100);
	tick_at(1250);
	SAYS("output 1 0@0+100");
	wrote(1, 1, 100);
	assert_int_equal(agent_wake_ms(agent), 1750);
	follow(1, 1, 10000);
	assert_int_equal(agent_wake_ms(agent), 1270); /* what was held back, too */
	tick_at(1270);
	SAYS("output 1 0@0+200");
	for (int i = 1; i <= 50; i++) { /* never slower */
		wrote(1, 1, 1);
		tick_at(1270 + 20 * i);
		assert_non_null(strstr(told.p, "output 1 0@0+2"));
	}
	wrote(1, 1, 1);
	tick_at(2290);
	follow(1, 1, 0);
	wrote(1, 1, 1);
	assert_int_equal(agent_wake_ms(agent), 2790); /* as it was before him */
	tick_at(2790);
	follow(1, 1, 1000);
	tick_at(3800); /* not said again: forgotten */
	wrote(1, 1, 1);
	assert_int_equal(agent_wake_ms(agent), 4800);
	follow(7, 1, 1000); /* not here */
	follow(1, 2, 1000); /* another attempt */
	SAYS("");
}

/* What is sent again because of readers is bounded for all of them together. */
static void test_followed_many(void **state)
{
	join();
	for (rid t = 1; t <= 3; t++) {
		run(t, 1);
		started(t, 1);
		follow(t, 1, 600000);
	}
	wrote(1, 1, 60 << 10);
	tick_at(1020);
	SAYS("output 1 0@0+61440");
	wrote(1, 1, 1);
	assert_int_equal(agent_wake_ms(agent), 1020 + 60 * 3);
	wrote(1, 1, OUTPUT_CHUNK_BYTES); /* a full chunk waits for nobody */
	SAYS("output 1 0@0+65536");
	exited(2, 1, 0);
	follow(2, 1, 1000); /* over */
	exited(3, 1, 0);
	tick_at(1300);
	SAYS("output 1 0@65536+61441");
	wrote(1, 1, 1);
	assert_int_equal(agent_wake_ms(agent), 1300 + 60); /* the only one now */
}

static void test_output_small(void **state)
{
	join();
	run(1, 1);
	started(1, 1);
	wrote(1, 1, 100);
	down();
	tick_at(5000);
	up();
	welcome();
	SAYS("beat 2; output 1 0@0+100"); /* due long ago */
	run(2, 1);
	started(2, 1);
	wrote(2, 1, OUTPUT_INLINE_BYTES + 1);
	exited(2, 1, 0);
	SAYS("output 2 0@0+8193; ended 2/1 1 code 0 8193 bytes");
}

static void test_output_modes(void **state)
{
	struct link_run r = plain_run;

	join();
	r.output_mode = OUTPUT_MODE_CHUNKS;
	run_with(1, 1, r);
	started(1, 1);
	wrote(1, 1, 3);
	exited(1, 1, 0);
	SAYS("output 1 0@0+3; ended 1/1 1 code 0 3 bytes");
	r.output_mode = OUTPUT_MODE_INLINE;
	run_with(2, 1, r);
	started(2, 1);
	wrote(2, 1, 1 << 20);
	SAYS("");
	exited(2, 1, 0);
	assert_int_equal(effects.items[0].ended->output[0].n, 1 << 20);
	r.output_mode = OUTPUT_MODE_AUTO;
	r.output_max = 10;
	run_with(3, 1, r);
	started(3, 1);
	wrote(3, 1, 25);
	exited(3, 1, 0);
	SAYS("ended 3/1 1 code 0 <xxxxxxxxxx|> dropped 15");
}

/* More than fits into an end is on its way in chunks; the limit is that of mode inline. */
static void test_inline_that_is_large(void **state)
{
	struct link_run r = plain_run;
	const size_t inside = 1 << 20, all = OUTPUT_INLINE_MAX;

	join();
	r.output_mode = OUTPUT_MODE_INLINE;
	run_with(1, 1, r);
	started(1, 1);
	wrote(1, 1, inside);
	SAYS("");
	wrote(1, 1, 1);
	assert_non_null(strstr(told.p, "output 1 0@0+65536; "));
	assert_non_null(strstr(told.p, "pause 1")); /* it has a window now */
	output_acked(1, 1, (int64_t)inside);
	for (size_t n = inside + 1; n < all; n += OUTPUT_CHUNK_BYTES) {
		wrote(1, 1, n + OUTPUT_CHUNK_BYTES < all ? OUTPUT_CHUNK_BYTES : all - n);
		output_acked(1, 1, (int64_t)n);
	}
	wrote(1, 1, 1);
	exited(1, 1, 0);
	assert_non_null(strstr(told.p, "16777216 bytes dropped 1"));
}

static void test_output_window(void **state)
{
	join();
	run(1, 1);
	started(1, 1);
	for (int i = 0; i < 15; i++)
		wrote(1, 1, OUTPUT_CHUNK_BYTES);
	SAYS("output 1 0@917504+65536");
	wrote(1, 1, OUTPUT_CHUNK_BYTES);
	SAYS("output 1 0@983040+65536; pause 1");
	output_acked(1, 1, 65536);
	SAYS("read 1");
	wrote(1, 1, OUTPUT_CHUNK_BYTES);
	SAYS("output 1 0@1048576+65536; pause 1");
	step((struct agent_event){.kind = AE_OUTPUT_ACK, .output_ack = {1, 1, STDOUT, 0, true}});
	SAYS("read 1"); /* refused: nobody wants it */
	wrote(1, 1, OUTPUT_CHUNK_BYTES);
	SAYS("");
}

static void test_output_link_window(void **state)
{
	join();
	for (rid t = 1; t <= 5; t++) {
		run(t, 1);
		started(t, 1);
		if (t <= 4)
			for (int i = 0; i < 16; i++)
				wrote(t, 1, OUTPUT_CHUNK_BYTES);
	}
	wrote(5, 1, 1);
	SAYS("pause 5"); /* the link is full: so must everybody be */
	output_acked(2, 1, 65536 * 3);
	SAYS("read 2; read 5");
	down();
	kill_task(1, 1, false);
	tick_at(7000);
	SAYS("read 1; KILL 1"); /* its pipes must be emptied, listened to or not */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(test_output_chunks),
	    T(test_followed),
	    T(test_followed_many),
	    T(test_output_small),
	    T(test_output_modes),
	    T(test_inline_that_is_large),
	    T(test_output_window),
	    T(test_output_link_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
