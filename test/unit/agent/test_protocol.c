/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol with the server: health, what is taken and refused, what is said again. */
#include "agent/beat_log.h"
#include "story.h"

#include <string.h>

/* Hello sent at 1000, check 1 counts from there: see `usual`. */
#define BEAT_LIMIT 40000
#define CHECK_LIMIT 45000
#define GIVE_UP (1000 + BEAT_LIMIT + 1 + 55000 + 1)

static const struct link_news healthy = {.state = WORKER_HEALTHY, .check = 1};

static void test_health(void **state)
{
	assert_int_equal(agent_health(agent), WORKER_NEW);
	assert_true(agent_give_up_ms(agent) == INT64_MAX);
	up();
	assert_true(agent_give_up_ms(agent) == INT64_MAX);
	welcome();
	assert_int_equal(agent_health(agent), WORKER_UNHEALTHY);
	check(1, 0);
	SAYS("check 1");
	mono = 2000;
	checked(1, true);
	SAYS("checked 1 ok");
	news((struct link_news){.state = WORKER_HEALTHY}); /* permitted, but no check counts */
	assert_int_equal(agent_health(agent), WORKER_UNHEALTHY);
	news((struct link_news){.state = WORKER_UNHEALTHY, .check = 1});
	assert_int_equal(agent_health(agent), WORKER_UNHEALTHY); /* the server has the last word */
	news((struct link_news){.state = WORKER_HEALTHY, .check = 1});
	assert_int_equal(agent_health(agent), WORKER_HEALTHY);
	assert_int_equal(agent_give_up_ms(agent), GIVE_UP);
}

/* The next check may be over before the server has said that it counts the one before. */
static void test_checks_overtake(void **state)
{
	up();
	welcome();
	check(1, 0);
	checked(1, true);
	check(2, 0);
	checked(2, true);
	news(healthy); /* counts the first */
	assert_int_equal(agent_health(agent), WORKER_HEALTHY);
}

/* Too old is strictly older, unhealthy comes before the end, and each at its own millisecond. */
static void test_silence(void **state)
{
	join();
	run(1, 1);
	started(1, 1);
	down();
	assert_int_equal(agent_wake_ms(agent), 1000 + BEAT_LIMIT + 1);
	tick_at(1000 + BEAT_LIMIT);
	SAYS("");
	assert_int_equal(agent_health(agent), WORKER_HEALTHY);
	tick_at(1000 + BEAT_LIMIT + 1);
	SAYS("note");
	assert_int_equal(agent_health(agent), WORKER_UNHEALTHY);
	assert_int_equal(agent_wake_ms(agent), GIVE_UP);
	tick_at(GIVE_UP - 1);
	SAYS("");
	tick_at(GIVE_UP);
	SAYS("TERM 1");
	assert_int_equal(agent_phase(agent), AGENT_DYING);
	assert_int_equal(agent_health(agent), WORKER_MUST_DIE);
	up();
	SAYS("close");
	run(2, 2);
	SAYS("");
	tick_at(GIVE_UP + 4999);
	SAYS("");
	tick_at(GIVE_UP + 5000);
	SAYS("KILL 1");
	signalled(1, 1, 9);
	SAYS("exit 1");
}

/* A mark is the sending of what was acknowledged, not the moment of the acknowledgement. */
static void test_marks(void **state)
{
	join();
	mono = 9000;
	beat_acked(1); /* sent at 1000 */
	assert_int_equal(agent_give_up_ms(agent), GIVE_UP);
	tick_at(11000);
	SAYS("beat 2");
	mono = 15000;
	beat_acked(2);
	assert_int_equal(agent_give_up_ms(agent), 1000 + CHECK_LIMIT + 1 + 55000 + 1);
	check(2, 2);
	mono = 19000;
	checked(2, true);
	assert_int_equal(agent_give_up_ms(agent), 1000 + CHECK_LIMIT + 1 + 55000 + 1);
	news((struct link_news){.state = WORKER_HEALTHY, .check = 2});
	assert_int_equal(agent_give_up_ms(agent), GIVE_UP + 10000);
	beat_acked(1); /* late */
	beat_acked(2); /* twice */
	assert_int_equal(agent_give_up_ms(agent), GIVE_UP + 10000);
	down();
	mono = 20000;
	up(); /* a hello that is not answered counts for nothing */
	assert_int_equal(agent_give_up_ms(agent), GIVE_UP + 10000);
	mono = 21000;
	welcome();
	assert_int_equal(agent_give_up_ms(agent), 11000 + CHECK_LIMIT + 1 + 55000 + 1);
	assert_int_equal(agent_health(agent), WORKER_HEALTHY);
}

/* What should have happened while the machine slept happens first, and at its own time. */
static void test_suspension(void **state)
{
	static const char *const late = "note; ended 2/2 2 unstarted (the worker is not healthy "
	                                "now: its last heartbeat that was answered is too old); "
	                                "beat 2 unhealthy";
	const struct {
		int64_t sleep_until;
		const char *says;
	} cases[] = {
	    {1000 + BEAT_LIMIT, "start 2/2; beat 2"},
	    {1000 + BEAT_LIMIT + 1, late},
	    {GIVE_UP - 1, late},
	    {GIVE_UP, "note; close; TERM 1"},
	    {GIVE_UP + 4999, "note; close; TERM 1"},
	    {GIVE_UP + 5000, "note; close; TERM 1; KILL 1"}, /* that wait is over, too */
	    {GIVE_UP + 86400000, "note; close; TERM 1; KILL 1"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin(&(struct agent_options){.term_wait_ms = 5000});
		join();
		run(1, 1);
		started(1, 1);
		mono = cases[i].sleep_until;
		run(2, 2);
		SAYS(cases[i].says);
	}
}

/* Asleep while unhealthy: a good answer that waited in the socket comes too late. */
static void test_too_late(void **state)
{
	join();
	tick_at(11000);
	mono = GIVE_UP;
	beat_acked(2);
	SAYS("note; close; exit 1");
}

static void test_short_patience(void **state)
{
	struct timeouts t = {500, 500, 500, 500, 2000, 500, 200};

	up();
	welcome_by(1, t, (struct link_news){0}, 0);
	check(1, 0);
	checked(1, true);
	news(healthy);
	run(1, 1);
	started(1, 1);
	down();
	tick_at(1000 + 1000 + 1 + 1500 + 1);
	SAYS("note; TERM 1");
	tick_at(mono + 199);
	SAYS("");
	tick_at(mono + 1); /* the server's kill_wait, which is shorter than our own */
	SAYS("KILL 1");
}

/* Beats are answered, but nothing can be started any more. */
static void test_failed_checks(void **state)
{
	join();
	for (int i = 1; i <= 10; i++) {
		beat_acked((uint64_t)i);
		check((uint64_t)i + 1, (uint64_t)i);
		checked((uint64_t)i + 1, false);
		news((struct link_news){.state = WORKER_UNHEALTHY, .check = 1});
		assert_int_equal(agent_health(agent),
		    mono > 1000 + CHECK_LIMIT ? WORKER_UNHEALTHY : WORKER_HEALTHY);
		tick_at(mono + 10000);
	}
	assert_int_equal(mono, 101000);
	assert_int_equal(agent_give_up_ms(agent), 1000 + CHECK_LIMIT + 1 + 55000 + 1);
	tick_at(101001);
	SAYS("");
	tick_at(101002);
	SAYS("close; exit 1");
}

static void test_no_consensus(void **state)
{
	up();
	welcome();
	check(1, 0);
	checked(1, true);
	for (int i = 1; i <= 100; i++) { /* nobody dies for lack of consensus alone */
		news((struct link_news){.state = WORKER_UNHEALTHY, .check = (uint64_t)i});
		tick_at(mono + 10000);
		beat_acked((uint64_t)i + 1);
		check((uint64_t)i + 1, (uint64_t)i + 1);
		checked((uint64_t)i + 1, true);
	}
	assert_int_equal(agent_phase(agent), AGENT_SERVING);
	assert_int_equal(agent_health(agent), WORKER_UNHEALTHY);
	run(1, 1);
	SAYS("ended 1/1 2 unstarted (the worker is not healthy now: the server has not called it "
	     "healthy yet)");
	news((struct link_news){.state = WORKER_HEALTHY});
	assert_int_equal(agent_health(agent), WORKER_HEALTHY);
}

static void test_other_server(void **state)
{
	static const struct {
		uint64_t first, then;
		enum worker_state after;
	} cases[] = {
	    {1, 1, WORKER_HEALTHY},
	    {1, 2, WORKER_UNHEALTHY},
	    {1, 0, WORKER_UNHEALTHY},
	    {0, 0, WORKER_UNHEALTHY},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin(&(struct agent_options){0});
		up();
		welcome_by(cases[i].first, usual, (struct link_news){0}, 0);
		check(1, 0);
		checked(1, true);
		news(healthy);
		down();
		mono = 30000;
		up();
		mono = 31000;
		/* the check was another's: its number means nothing here */
		welcome_by(cases[i].then, usual, healthy, 0);
		assert_int_equal(agent_health(agent), cases[i].after);
		if (cases[i].after ==
		    WORKER_UNHEALTHY) /* it counts from the hello, as if that was a mark */
			assert_int_equal(agent_give_up_ms(agent), 30000 + 40000 + 55000 + 1);
	}
}

/* Before a server has heard of it, a worker may wait for ever. */
static void test_unknown_waits(void **state)
{
	for (int i = 0; i < 100; i++) {
		up();
		tick_at(mono + 30000);
		SAYS("close");
		tick_at(mono + 1);
		SAYS("");
		assert_true(agent_wake_ms(agent) == INT64_MAX);
		down();
	}
	assert_int_equal(agent_phase(agent), AGENT_SERVING);
}

static void test_silent_server(void **state)
{
	join();
	tick_at(11000);
	tick_at(21000);
	SAYS("beat 3");
	tick_at(31000);
	SAYS("close");
	tick_at(32000);
	SAYS(""); /* nothing more is said on it */
	down();
	up();
	SAYS("hello");
	tick_at(62000);
	SAYS("note; close"); /* nor does it answer the hello */
}

static void test_refused(void **state)
{
	up();
	refused(false, false);
	SAYS("note; close");
	down();
	join();
	run(1, 1);
	started(1, 1);
	refused(true, false); /* also long after the welcome */
	SAYS("note; close; TERM 1");
	refused(true, true);
	SAYS("");
	signalled(1, 1, 15);
	SAYS("exit 1");
}

static void test_restart(void **state)
{
	struct agent_options back = {.restart_when_lost = true};

	join();
	refused(true, true); /* it might, but it shall not */
	SAYS("note; close; exit 1");
	begin(&back);
	join();
	refused(true, true);
	SAYS("note; close; exit 1 restart");
	begin(&back);
	join();
	refused(true, false); /* the server knows best */
	SAYS("note; close; exit 1");
	begin(&back);
	join();
	news((struct link_news){.state = WORKER_MUST_DIE});
	SAYS("close; exit 1 restart");
	begin(&back);
	join();
	tick_at(GIVE_UP);
	SAYS("note; close; exit 1 restart");
	begin(&back);
	join();
	run(1, 1);
	leave(); /* who is told to go does not come back */
	refused(true, true);
	step((struct agent_event){.kind = AE_EXITED,
	    .task = 1,
	    .token = 1,
	    .exit = {.kind = EXIT_NEVER, .exit_code = -1}});
	SAYS("exit 1");
	begin(&back);
	join();
	run(1, 1);
	refused(true, true);
	leave();
	SAYS("KILL 1");
	signalled(1, 1, 9);
	SAYS("exit 1");
}

static void run_numbered(rid task, uint64_t number, uint64_t seq)
{
	struct link_run r = plain_run;

	r.number = number;
	r.notify_seq = seq;
	run_with(task, 1, r);
}

static void test_refused_runs(void **state)
{
	up();
	run_numbered(1, 1, 9);
	SAYS("");
	welcome_by(1, usual, (struct link_news){0}, 9);
	SAYS("beat 1 unhealthy; ended 1/1 2 unstarted (it came before the worker was welcomed)");
	acked(1, 1);
	run_numbered(1, 1, 9); /* the same, again: what was said of it stays true */
	SAYS("note");
	run_numbered(2, 2, 9);
	SAYS("ended 2/1 2 unstarted (the worker is not healthy now: no healthcheck has succeeded "
	     "lately)");
	check(1, 0);
	checked(1, true);
	news(healthy);
	run_numbered(3, 3, 8);
	SAYS("ended 3/1 2 unstarted (it came too late: the server was told that it is not here)");
	run_numbered(4, 4, 9);
	SAYS("start 4/1");
	run_numbered(5, 5, 10); /* the question is still on its way */
	SAYS("start 5/1");
	leave();
	run_numbered(6, 6, 10);
	SAYS("ended 6/1 2 unstarted (the worker is leaving)");
	assert_int_equal(step((struct agent_event){.kind = AE_RUN, .run = &plain_run}), -15);
}

/* A refused attempt fences older ones off as a taken one does. */
static void test_refused_later_attempt(void **state)
{
	struct link_run r = plain_run;

	join();
	run(1, 1);
	started(1, 1);
	run(1, 2);
	SAYS("note; TERM 1");
	tick_at(1000 + BEAT_LIMIT + 1);
	r.notify_seq = 1;
	run_with(1, 3, r);
	assert_non_null(strstr(told.p, "ended 1/2 2 unstarted (a later attempt took its place); "
	                               "ended 1/3 2 unstarted (the worker is not healthy now"));
	signalled(1, 1, 15);
	SAYS("ended 1/1 -3 killed (killed)");
	acked(1, 3);
	SAYS("");
}

static void test_replay_window(void **state)
{
	static const struct {
		uint64_t number;
		bool taken;
	} cases[] = {
	    {1, true},
	    {1, false},
	    {3, true},
	    {2, true},
	    {2, false},
	    {3, false},
	    {1, false},
	    {100, true},
	    {37, true},
	    {37, false},
	    {36, false},
	    {99, true},
	    {100, false},
	    {0, false},
	    {164, true},
	    {100, false},
	    {101, true},
	    {UINT64_MAX, true},
	    {UINT64_MAX, false},
	    {UINT64_MAX - 63, true},
	    {UINT64_MAX - 64, false},
	    {164, false},
	};

	join();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct agent_event in = {.kind = AE_RUN};
		struct link_run r = plain_run;

		r.task = i + 1;
		r.token = 1;
		r.number = cases[i].number;
		in.run = &r;
		step(in);
		assert_string_equal(told.n >= 5 ? (told.p[5] = 0, told.p) : told.p,
		    cases[i].taken ? "start" : "note");
	}
	down();
	up();
	welcome();
	run_numbered(1000, 1, 0); /* another link counts from 1 again */
	SAYS("start 1000/1");
}

/* Started, over, acknowledged, forgotten: and then the run comes once more. */
static void test_replay_after_the_end(void **state)
{
	join();
	run_numbered(1, 1, 0);
	started(1, 1);
	exited(1, 1, 0);
	acked(1, 1);
	assert_int_equal(agent_held(agent), 0);
	run_numbered(1, 1, 0);
	SAYS("note");
}

static void test_notify(void **state)
{
	static const struct run_ref refs[] = {
	    {1, 1}, {2, 1}, {2, 2}, {3, 1}, {4, 1}, {5, 1}, {5, 2}, {0, 0}};

	join();
	run(1, 1);
	run(2, 2);
	started(2, 2);
	run(3, 1);
	started(3, 1);
	exited(3, 1, 0);
	run(5, 1);
	started(5, 1);
	run(5, 2); /* waits for the first */
	notify(7, refs, 8);
	SAYS("notified 7 1/1 unstarted 2/2 3/1 over 5/1 5/2 unstarted | 2/1 4/1 0/0");
	notify(7, refs, 8);
	SAYS("note");
	notify(6, refs, 8);
	SAYS("note");
	run_numbered(4, 20, 6); /* it was called absent */
	SAYS("ended 4/1 2 unstarted (it came too late: the server was told that it is not here)");
	run_numbered(6, 21, 7);
	SAYS("start 6/1");
	notify(9, NULL, 0);
	SAYS("notified 9 |");
	down();
	notify(10, refs, 1);
	SAYS("");
	up();
	notify(10, refs, 1);
	SAYS("");
	welcome_by(1, usual, (struct link_news){0}, 12);
	notify(12, refs, 1);
	SAYS("note");
	notify(13, refs, 1);
	SAYS("notified 13 1/1 unstarted |");
}

static void test_ended_again(void **state)
{
	join();
	run(1, 1);
	started(1, 1);
	mono = 5000;
	exited(1, 1, 0);
	SAYS("ended 1/1 1 code 0");
	tick_at(11000);
	SAYS("beat 2"); /* not yet a heartbeat ago */
	beat_acked(2);
	tick_at(21000);
	SAYS("beat 3; ended 1/1 1 code 0");
	beat_acked(3);
	tick_at(31000);
	SAYS("beat 4; ended 1/1 1 code 0");
	mono = 41000; /* the answer and the next beat at once */
	acked(1, 1);
	SAYS("beat 5");
	assert_int_equal(agent_held(agent), 0);
}

static void test_checks(void **state)
{
	join();
	check(2, 1);
	SAYS("check 2");
	check(3, 1);
	SAYS("note"); /* one at a time */
	assert_int_equal(checked(3, true), -15);
	checked(2, false);
	SAYS("checked 2 fork: no memory");
	assert_int_equal(checked(2, true), -15);
	assert_int_equal(check(4, 2), -15); /* that beat was never sent */
	check(4, 1);
	down();
	up();
	check(5, 0);
	SAYS(""); /* not welcomed */
	welcome();
	SAYS("beat 2");
	check(5, 0);
	SAYS("note"); /* the old link's is still running */
	checked(4, true);
	SAYS("");                           /* whoever asked for that is gone */
	assert_int_equal(check(5, 1), -15); /* a beat of the old link */
	check(5, 2);
	SAYS("check 5");
	leave();
	checked(5, true);
	SAYS("checked 5 ok");
	check(6, 2);
	SAYS("");
}

/* A beat so old that its time is forgotten came at least after the hello. */
static void test_check_of_an_old_beat(void **state)
{
	join();
	for (int i = 2; i <= 12; i++) {
		beat_acked((uint64_t)i - 1);
		tick_at(mono + 1000 + 9000);
		check((uint64_t)i, (uint64_t)i);
		checked((uint64_t)i, true);
		news((struct link_news){.state = WORKER_HEALTHY, .check = (uint64_t)i});
	}
	assert_int_equal(agent_health(agent), WORKER_HEALTHY);
	check(50, 1);
	SAYS("check 50");
	checked(50, true);
	news((struct link_news){.state = WORKER_HEALTHY, .check = 50});
	assert_int_equal(agent_health(agent), WORKER_HEALTHY); /* a mark never goes back */
}

/* Asked again: it runs once, and what has passed is said again without another process. */
static void test_check_again(void **state)
{
	join();
	check(2, 1);
	SAYS("check 2");
	check(2, 1);
	SAYS("");
	checked(2, true);
	SAYS("checked 2 ok");
	check(2, 1);
	SAYS("checked 2 ok");
	check(3, 1);
	SAYS("check 3");
	checked(3, false);
	check(3, 1);
	SAYS("check 3");
}

static const struct timeouts hasty = {1, 60000, 60000, 60000, 500000, 5000, 5000};

/* A server that takes a second for everything: no link is closed, and its answers count. */
static void test_hasty_beats(void **state)
{
	uint64_t n = 0;

	up();
	welcome_by(7, hasty, (struct link_news){WORKER_UNHEALTHY, {0}, 0}, 0);
	check(1, 0);
	checked(1, true);
	for (uint64_t i = 1; i <= 200; i++) {
		for (int64_t end = mono + 1000; mono < end;) {
			int64_t at = agent_wake_ms(agent);

			tick_at(at > end ? end : at > mono ? at : mono + 1);
			for (size_t k = 0; k < effects.n; k++) {
				assert_int_not_equal(effects.items[k].kind, AF_CLOSE);
				if (effects.items[k].kind == AF_BEAT)
					n = effects.items[k].beat.number;
			}
		}
		beat_acked(n);
		news((struct link_news){WORKER_HEALTHY, {0}, i});
		assert_int_equal(agent_health(agent), WORKER_HEALTHY);
		check(i + 1, n);
		checked(i + 1, true);
	}
	assert_in_range(n, 200, 200 * 64); /* beats wait for answers */
}

/* However many beats ago it was: the mark is never later than the truth, and not much earlier. */
static void test_beat_log(void **state)
{
	struct beat_log l = {0};

	assert_int_equal(beat_log_sent_ms(&l, 5, -1), -1);
	for (uint64_t i = 1; i <= 100000; i++) {
		beat_log_add(&l, i, (int64_t)i * 10);
		for (uint64_t k = i; k > 0; k = k * 3 / 4) {
			int64_t late = (int64_t)(i - k), s = beat_log_sent_ms(&l, k, 0);

			assert_true(s <= (int64_t)k * 10);
			assert_true((int64_t)k * 10 - s <= 10 * (late / 2));
		}
	}
}

static void test_sets(void **state)
{
	struct link_news n = {.set = {.server = 1, .version = 5}};

	up();
	SAYS("hello");
	welcome_by(1, usual, n, 0);
	SAYS("beat 1 unhealthy set 1.5");
	n.set.version = 4;
	news(n);
	assert_int_equal(agent_set(agent)->version, 5); /* overtaken on its way */
	n.set.version = 6;
	news(n);
	SAYS("beat 2 unhealthy set 1.6"); /* others may wait for us to know them */
	n.set.version = 7;
	news(n);
	SAYS(""); /* but not without end */
	down();
	up();
	SAYS("hello set 1.7");
	welcome_by(2, usual, (struct link_news){0}, 0);
	SAYS("beat 3 unhealthy set 1.7"); /* nothing new was told: the old one is worth keeping */
	n.set = (struct set_id){.server = 2, .version = 1};
	news(n);
	assert_int_equal(agent_set(agent)->server, 2);
	assert_int_equal(agent_set(agent)->version, 1);
}

static void test_welcomed_twice(void **state)
{
	join();
	run(1, 1);
	notify(3, NULL, 0);
	assert_int_equal(welcome_by(1, usual, (struct link_news){0}, 0), 0);
	SAYS("");
	run_numbered(2, 9, 2); /* the first welcome's number does not come back */
	SAYS("ended 2/1 2 unstarted (it came too late: the server was told that it is not here)");
	down();
	assert_int_equal(welcome_by(1, usual, (struct link_news){0}, 0), 0);
	assert_false(agent_is_welcome(agent));
}

/* Absurd timeouts must neither overflow nor spin. */
static void test_absurd_timeouts(void **state)
{
	static const struct timeouts cases[] = {
	    {0},
	    {-1, -1, -1, -1, -1, -1, -1},
	    {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX},
	    {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN},
	    {1000, INT64_MAX, 0, INT64_MAX, 0, INT64_MAX, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin(&(struct agent_options){0});
		up();
		welcome_by(1, cases[i], (struct link_news){0}, 0);
		check(1, 0);
		checked(1, true);
		news((struct link_news){.check = 1});
		assert_true(agent_wake_ms(agent) > mono || agent_phase(agent) == AGENT_GONE);
		assert_true(agent_give_up_ms(agent) >= mono);
	}
}

/* Output that goes out in the step in which a KILL gives it up. */
static void test_output_at_the_kill(void **state)
{
	join();
	run(1, 1);
	started(1, 1);
	for (int i = 0; i < 16; i++)
		wrote(1, 1, OUTPUT_CHUNK_BYTES);
	kill_task(1, 1, false);
	down();
	up();
	mono = 6000;
	welcome();
	SAYS("read 1; KILL 1; beat 2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(test_health),
	    T(test_checks_overtake),
	    T(test_silence),
	    T(test_marks),
	    T(test_suspension),
	    T(test_too_late),
	    T(test_short_patience),
	    T(test_failed_checks),
	    T(test_no_consensus),
	    T(test_other_server),
	    T(test_unknown_waits),
	    T(test_silent_server),
	    T(test_refused),
	    T(test_restart),
	    T(test_refused_runs),
	    T(test_refused_later_attempt),
	    T(test_replay_window),
	    T(test_replay_after_the_end),
	    T(test_notify),
	    T(test_ended_again),
	    T(test_checks),
	    T(test_check_of_an_old_beat),
	    T(test_check_again),
	    T(test_hasty_beats),
	    cmocka_unit_test(test_beat_log),
	    T(test_sets),
	    T(test_welcomed_twice),
	    T(test_absurd_timeouts),
	    T(test_output_at_the_kill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
