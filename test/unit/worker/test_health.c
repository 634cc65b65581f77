/* SPDX-License-Identifier: Apache-2.0 */
/* Healthchecks, questions after attempts, giving up and beginning again: a whole worker. */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "fake_server.h"

static struct fake f;

static int setup(void **state)
{
	fake_open(&f);
	return 0;
}

static int teardown(void **state)
{
	fake_close(&f);
	return 0;
}

static void start_with(struct worker_options o)
{
	o.term_wait_ms = 300;
	f.n_hellos = f.n_checked = 0;
	fake_worker(&f, o);
	fake_until(&f, has_hellos, 1);
	fake_until(&f, has_checked, 1);
}

static void start_worker(void)
{
	start_with((struct worker_options){0});
	fake_until(&f, is_in_state, WORKER_HEALTHY);
}

static void stop_worker(void)
{
	kill(f.worker, SIGTERM);
	fake_until(&f, is_leaving, 0);
	while (f.link)
		loop_run(f.loop);
	assert_int_equal(fake_wait_worker(&f), 0);
}

static void run_sh(rid task, const char *script)
{
	char *body = xasprintf("{\"command\":[\"sh\",\"-c\",\"%s\"]}", script);

	fake_run(&f, (struct link_run){.task = task, .body = str_of(body)});
	free(body);
}

/* A zombie is dead: its parent may be stopped. */
static bool is_dead(pid_t pid)
{
	char path[64], state = 'Z';
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	if (file)
		fclose(file);
	return state == 'Z' || state == 'X';
}

static void assert_has(struct str got, const char *want)
{
	char *text = xstrndup(got.p ? got.p : "", got.n);

	if (!strstr(text, want))
		fail_msg("\"%s\" is not in: %s", want, text);
	free(text);
}

static void test_check(void **state)
{
	start_worker();
	assert_true(f.checked.ok);
	assert_null(f.checked.reason.p);
	assert_true(f.beat.set.server == 99 && f.beat.set.version == 1);
	run_sh(1, "exit 0");
	fake_until(&f, has_ends, 1);
	assert_true(f.ends[0].started_ms > 0);
	stop_worker();
}

/* The worker answers, but cannot start anything: it gets no tasks, and says why. */
static void test_check_fails(void **state)
{
	static const struct {
		const char *program, *why;
	} all[] = {
	    {"/nowhere/true", "exec /nowhere/true: No such file or directory"},
	    {"/bin/false", "its process ended with code 1"},
	    {"/usr/bin/yes", "its process did not end in time"},
	};

	f.timeouts.check_grace_ms = 0; /* the least that it takes */
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		start_with((struct worker_options){.check_program = all[i].program});
		assert_false(f.checked.ok);
		assert_has(f.checked.reason, all[i].why);
		f.n_ends = 0;
		run_sh(1, "exit 0");
		fake_until(&f, has_ends, 1);
		assert_int_equal(f.ends[0].started_ms, 0);
		assert_has(f.ends[0].reason, "not healthy");
		f.leaving = false;
		stop_worker();
	}
}

static void test_notify(void **state)
{
	struct run_ref refs[] = {{1, 1}, {2, 1}, {1, 7}};

	start_worker();
	run_sh(1, "exec sleep 1000");
	fake_until(&f, has_starts, 1);
	fake_notify(&f, refs, 3);
	fake_until(&f, has_notified, 1);
	assert_int_equal(f.notified.seq, 1);
	assert_int_equal(f.notified.n_held, 1);
	assert_true(f.notified.held[0].task == 1 && f.notified.held[0].started_ms > 0);
	assert_int_equal(f.notified.n_absent, 2);
	assert_true(f.notified.absent[0].task == 2 && f.notified.absent[1].token == 7);
	/* what was sent before the question comes too late */
	f.notify_seq = 0;
	run_sh(2, "exit 0");
	fake_until(&f, has_ends, 1);
	assert_true(f.ends[0].task == 2 && f.ends[0].started_ms == 0);
	stop_worker();
}

/* Told to begin again: all is over, and the lock is free for the next, whose start is later. */
static void test_restart(void **state)
{
	uint64_t instance;
	int64_t started;
	pid_t task;

	start_with((struct worker_options){.restart_when_lost = true});
	instance = f.hello->facts.instance;
	started = f.hello->facts.start;
	run_sh(1, "trap '' TERM; sleep 1000 & wait; wait");
	fake_until(&f, has_starts, 1);
	task = f.starts[0].pid;
	fake_refuse(&f, true, true);
	while (f.link)
		loop_run(f.loop);
	assert_int_equal(fake_wait_worker(&f), WORKER_AGAIN);
	assert_true(is_dead(task));
	assert_int_equal(f.n_ends, 0); /* it is dying: nothing is reported */
	start_worker();
	assert_int_equal(f.hello->n_tasks, 0);
	assert_true(f.hello->facts.instance != instance);
	assert_true(f.hello->facts.start > started);
	fake_refuse(&f, true, false);
	while (f.link)
		loop_run(f.loop);
	assert_int_equal(fake_wait_worker(&f), 1);
}

static void write_started(const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof path, "%s/started", f.state_dir);
	assert_non_null(file = fopen(path, "we"));
	fputs(text, file);
	fclose(file);
}

/* Every start is one later than the last, whatever the clock says meanwhile. */
static void test_started_rises(void **state)
{
	int64_t last = clock_wall_ms() + 3600000;
	char text[32];

	snprintf(text, sizeof text, "%" PRId64 "\n", last);
	write_started(text);
	start_worker();
	assert_int_equal(f.hello->facts.start, last + 1);
	stop_worker();
	f.leaving = false;
	start_worker();
	assert_int_equal(f.hello->facts.start, last + 2);
	stop_worker();
	write_started("rubbish"); /* then the clock has to do */
	f.leaving = false;
	start_worker();
	assert_true(f.hello->facts.start <= clock_wall_ms());
	stop_worker();
}

/*
 * A worker stopped past its limits cannot end its tasks: its keeper does. Continued, it finds them
 * dead, reports nothing, and goes.
 */
static void test_stopped(void **state)
{
	pid_t task;

	f.timeouts = (struct timeouts){200, 1000, 200, 1000, 500, 50, 100};
	start_worker();
	run_sh(1, "trap '' TERM; setsid sleep 1000 & wait; wait");
	fake_until(&f, has_starts, 1);
	task = f.starts[0].pid;
	f.n_beats = 0;
	fake_until(&f, has_beats, 12); /* well over the whole limit, but … */
	assert_false(is_dead(task));   /* … it is not the passing of time that ends it */
	kill(f.worker, SIGSTOP);
	for (int i = 0; i < 20000 && !is_dead(task); i++)
		usleep(1000);
	assert_true(is_dead(task));
	assert_int_equal(kill(f.worker, 0), 0);
	kill(f.worker, SIGCONT);
	while (f.link)
		loop_run(f.loop);
	assert_int_equal(fake_wait_worker(&f), 1);
	assert_int_equal(f.n_ends, 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(test_check),
	    T(test_check_fails),
	    T(test_notify),
	    T(test_restart),
	    T(test_started_rises),
	    T(test_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
