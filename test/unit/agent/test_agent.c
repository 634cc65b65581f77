/* SPDX-License-Identifier: Apache-2.0 */
/* Stories about the worker's brain: lines of what happens, and what it then wants done. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/agent.h"
#include "base/mem.h"
#include "model/limits.h"
#include "model/queue.h"

#define WALL 1000000 /* wall clock = monotonic + this */

static struct agent *agent;
static struct agent_effects effects;
static struct buf told; /* the last step's effects as text, separated by "; " */
static int64_t mono;

static void tell(const struct agent_effect *e)
{
	if (told.n)
		buf_add_cstr(&told, "; ");
	switch (e->kind) {
	case AF_HELLO:
		buf_add_cstr(&told, "hello");
		for (size_t i = 0; i < e->hello.n; i++)
			buf_printf(&told, " %d/%d%s%s", (int)e->hello.refs[i].task,
			    (int)e->hello.refs[i].token, e->hello.refs[i].ended ? " over" : "",
			    e->hello.refs[i].started_ms ? "" : " unstarted");
		break;
	case AF_BEAT:
		buf_printf(
		    &told, "beat %d%s", (int)e->beat.number, e->beat.leaving ? " leaving" : "");
		break;
	case AF_STARTED: buf_printf(&told, "started %d", (int)e->task); break;
	case AF_OUTPUT:
		buf_printf(&told, "output %d %d@%d+%d", (int)e->task, e->output.stream,
		    (int)e->output.offset, e->output.raw_bytes);
		break;
	case AF_ENDED:
		buf_printf(&told, "ended %d/%d %d", (int)e->task, (int)e->token, e->ended->status);
		if (e->ended->exit_code >= 0)
			buf_printf(&told, " code %d", e->ended->exit_code);
		buf_printf(&told, "%s%s%s", e->ended->killed ? " killed" : "",
		    e->ended->permanent ? " permanent" : "",
		    e->ended->started_ms ? "" : " unstarted");
		if (e->ended->output_where == OUTPUT_INLINE)
			buf_printf(&told, " <" STR_FMT "|" STR_FMT ">",
			    STR_ARG(e->ended->output[0]), STR_ARG(e->ended->output[1]));
		if (e->ended->output_where == OUTPUT_CHUNKS)
			buf_printf(&told, " %d bytes", (int)e->ended->output_bytes[0]);
		if (e->ended->output_dropped[0])
			buf_printf(&told, " dropped %d", (int)e->ended->output_dropped[0]);
		if (e->ended->reason.p)
			buf_printf(&told, " (" STR_FMT ")", STR_ARG(e->ended->reason));
		break;
	case AF_START: buf_printf(&told, "start %d/%d", (int)e->task, (int)e->token); break;
	case AF_STOP: buf_printf(&told, "%s %d", e->kill ? "KILL" : "TERM", (int)e->task); break;
	case AF_READ: buf_printf(&told, "%s %d", e->read ? "read" : "pause", (int)e->task); break;
	case AF_CLOSE: buf_add_cstr(&told, "close"); break;
	case AF_EXIT: buf_printf(&told, "exit %d", e->why.code); break;
	case AF_NOTE: buf_add_cstr(&told, "note"); break;
	}
}

static int step(struct agent_event in)
{
	int r;

	in.mono_ms = mono;
	in.now_ms = mono + WALL;
	agent_effects_reset(&effects);
	buf_reset(&told);
	r = agent_step(agent, &in, &effects);
	for (size_t i = 0; i < effects.n; i++)
		tell(&effects.items[i]);
	return r;
}

#define SAYS(text) assert_string_equal(told.n ? told.p : "", text)

static void up(void)
{
	step((struct agent_event){.kind = AE_LINK_UP});
}

static void down(void)
{
	step((struct agent_event){.kind = AE_LINK_DOWN});
}

static void welcome(void)
{
	step((struct agent_event){.kind = AE_WELCOME, .welcome = {10000, 100000, -1}});
}

static void tick_at(int64_t at)
{
	mono = at;
	step((struct agent_event){.kind = AE_TICK});
}

static struct agent_run plain_run = {
    1, 1, {"q", 1}, {"command", 7}, {"{}", 2}, {0}, 0, 0, OUTPUT_MODE_AUTO, false};

static void run_with(rid task, int64_t token, struct agent_run r)
{
	step((struct agent_event){.kind = AE_RUN, .task = task, .token = token, .run = &r});
}

static void run(rid task, int64_t token)
{
	run_with(task, token, plain_run);
}

static void started(rid task, int64_t token)
{
	step((struct agent_event){.kind = AE_STARTED, .task = task, .token = token, .pid = 99});
}

static void exited(rid task, int64_t token, int code)
{
	step((struct agent_event){.kind = AE_EXITED,
	    .task = task,
	    .token = token,
	    .exit = {EXIT_CODE, 0, code, 0, STR_NULL}});
}

static void signalled(rid task, int64_t token, int signal)
{
	step((struct agent_event){.kind = AE_EXITED,
	    .task = task,
	    .token = token,
	    .exit = {EXIT_SIGNAL, 0, -1, signal, STR_NULL}});
}

static void wrote(rid task, int64_t token, size_t n)
{
	char *bytes = memset(xmalloc(n), 'x', n);

	step((struct agent_event){
	    .kind = AE_OUTPUT, .task = task, .token = token, .output = {STDOUT, {bytes, n}}});
	free(bytes);
}

static void acked(rid task, int64_t token)
{
	step((struct agent_event){.kind = AE_ENDED_ACK, .task = task, .token = token});
}

static void output_acked(rid task, int64_t token, int64_t end)
{
	step((struct agent_event){
	    .kind = AE_OUTPUT_ACK, .task = task, .token = token, .ack = {STDOUT, end, false}});
}

static void beat_acked(uint64_t number)
{
	step((struct agent_event){.kind = AE_BEAT_ACK, .beat = number});
}

static void kill_task(rid task, int64_t token, bool forget)
{
	step((struct agent_event){.kind = AE_KILL,
	    .task = task,
	    .token = token,
	    .why = {STR("cancelled by root"), false, forget}});
}

static void leave(void)
{
	step((struct agent_event){.kind = AE_LEAVE});
}

static int setup(void **state)
{
	struct agent_options o = {.term_wait_ms = 5000};

	agent = agent_new(&o);
	mono = 1000;
	return 0;
}

static int teardown(void **state)
{
	agent_free(agent);
	agent_effects_release(&effects);
	buf_release(&told);
	return 0;
}

static void connect(void)
{
	up();
	welcome();
}

static void test_a_task(void **state)
{
	up();
	SAYS("hello");
	welcome();
	SAYS("beat 1");
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
	struct agent_run coded = plain_run;

	coded.exit_codes = true;
	connect();
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

static void test_time_limit(void **state)
{
	struct agent_run limited = plain_run;

	limited.timeout_ms = 3000;
	connect();
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
	connect();
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
	connect();
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
	connect();
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

static void test_lease(void **state)
{
	connect(); /* hello sent at 1000: the server may lose us at 101000 at the earliest */
	run(1, 1);
	started(1, 1);
	assert_int_equal(agent_give_up_ms(agent), 1000 + 100000 - 25000);
	mono = 9000;
	beat_acked(1); /* beat 1 was sent at 1000 */
	assert_int_equal(agent_give_up_ms(agent), 76000);
	tick_at(11000);
	SAYS("beat 2");
	mono = 15000;
	beat_acked(2);
	assert_int_equal(agent_give_up_ms(agent), 86000);
	down();
	tick_at(85999);
	SAYS("");
	tick_at(86000);
	SAYS("TERM 1");
	assert_int_equal(agent_phase(agent), AGENT_DYING);
	up();
	SAYS("close");
	run(2, 2);
	SAYS("");
	tick_at(91000); /* term_wait: sooner than half the margin */
	SAYS("KILL 1");
	signalled(1, 1, 9);
	SAYS("exit 1");
}

/* The lease may have run out unnoticed (a sleeping machine): the event that comes first is not
 * obeyed. */
static void test_lease_first(void **state)
{
	connect();
	mono = 1000 + 80000;
	run(1, 1);
	SAYS("close; exit 1");
}

static void test_short_lease(void **state)
{
	up();
	step((struct agent_event){.kind = AE_WELCOME, .welcome = {500, 2000, -1}});
	run(1, 1);
	started(1, 1);
	down();
	tick_at(1000 + 1500);
	SAYS("TERM 1");
	tick_at(1000 + 1750);
	SAYS("KILL 1"); /* long before 2000 */
}

static void test_silent_server(void **state)
{
	connect();
	tick_at(11000);
	tick_at(21000);
	SAYS("beat 3");
	tick_at(31000);
	SAYS("close; beat 4");
	down();
	up();
	SAYS("hello");
	tick_at(61000);
	SAYS("close"); /* nor does it answer the hello */
}

static void test_refused(void **state)
{
	up();
	step((struct agent_event){.kind = AE_REFUSED, .why = {STR("full"), false, false}});
	SAYS("note; close");
	down();
	connect();
	run(1, 1);
	started(1, 1);
	down();
	up();
	step((struct agent_event){
	    .kind = AE_REFUSED, .why = {STR("another bears this name"), true, false}});
	SAYS("note; close; TERM 1");
	signalled(1, 1, 15);
	SAYS("exit 1");
}

static void test_leave(void **state)
{
	connect();
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
	connect();
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
	connect();
	run(1, 1);
	started(1, 1);
	leave();
	leave();
	SAYS("KILL 1");
	signalled(1, 1, 9);
	SAYS("ended 1/1 2 (the worker was stopped); exit 0");
}

static void test_output_chunks(void **state)
{
	connect();
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

static void test_output_small(void **state)
{
	connect();
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
	struct agent_run r = plain_run;

	connect();
	r.output_mode = OUTPUT_MODE_CHUNKS;
	run_with(1, 1, r);
	started(1, 1);
	wrote(1, 1, 3);
	exited(1, 1, 0);
	SAYS("output 1 0@0+3; ended 1/1 1 code 0 3 bytes");
	r.output_mode = OUTPUT_MODE_INLINE;
	run_with(2, 1, r);
	started(2, 1);
	wrote(2, 1, (3 << 20) / 2);
	SAYS("");
	exited(2, 1, 0);
	assert_non_null(strstr(told.p, "dropped 524288"));
	assert_int_equal(effects.items[0].ended->output[0].n, 1 << 20);
	r.output_mode = OUTPUT_MODE_AUTO;
	r.output_max = 10;
	run_with(3, 1, r);
	started(3, 1);
	wrote(3, 1, 25);
	exited(3, 1, 0);
	SAYS("ended 3/1 1 code 0 <xxxxxxxxxx|> dropped 15");
}

static void test_output_window(void **state)
{
	connect();
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
	step((struct agent_event){
	    .kind = AE_OUTPUT_ACK, .task = 1, .token = 1, .ack = {STDOUT, 0, true}});
	SAYS("read 1"); /* refused: nobody wants it */
	wrote(1, 1, OUTPUT_CHUNK_BYTES);
	SAYS("");
}

static void test_output_link_window(void **state)
{
	connect();
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

static void test_nonsense(void **state)
{
	connect();
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
	assert_int_equal(agent_give_up_ms(agent), 76000);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(test_a_task),
	    T(test_statuses),
	    T(test_time_limit),
	    T(test_kill),
	    T(test_reconnect),
	    T(test_later_attempt),
	    T(test_lease),
	    T(test_lease_first),
	    T(test_short_lease),
	    T(test_silent_server),
	    T(test_refused),
	    T(test_leave),
	    T(test_leave_idle),
	    T(test_leave_unheard),
	    T(test_leave_at_once),
	    T(test_output_chunks),
	    T(test_output_small),
	    T(test_output_modes),
	    T(test_output_window),
	    T(test_output_link_window),
	    T(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
