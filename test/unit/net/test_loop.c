/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: order of deferred work, posts from threads, timers, watches, signals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "net/loop/loop.h"

struct world {
	struct loop *loop;
	char trace[64];
	struct loop_deferred *deferred;
	struct loop_timer *timer;
	int64_t due;
	int n, turns;
};

static void mark(struct world *w, const char *what)
{
	strcat(w->trace, what);
}

static void on_pipe(int fd, bool readable, bool writable, void *arg)
{
	struct world *w = arg;
	char c;

	assert_true(readable);
	assert_int_equal(read(fd, &c, 1), 1);
	mark(w, (char[]){c, 0});
	loop_deferred_arm(w->deferred);
}

static void on_deferred(void *arg)
{
	struct world *w = arg;

	mark(w, "D");
	loop_stop(w->loop);
}

/* Three descriptors are ready at once; the deferred work asked for by each runs once, last. */
static void test_deferred_runs_after_ready_io(void **state)
{
	struct world w = {.loop = loop_new()};
	struct loop_watch *watches[3];
	int fds[3][2];

	w.deferred = loop_deferred_new(w.loop, on_deferred, &w);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pipe(fds[i]), 0);
		watches[i] = loop_watch_new(w.loop, fds[i][0], on_pipe, &w);
		loop_watch_set(watches[i], true, false);
		assert_int_equal(write(fds[i][1], "x", 1), 1);
	}
	loop_run(w.loop);
	assert_string_equal(w.trace, "xxxD");
	for (int i = 0; i < 3; i++) {
		loop_watch_free(watches[i]);
		close(fds[i][0]);
		close(fds[i][1]);
	}
	loop_deferred_free(w.deferred);
	loop_free(w.loop);
}

static void again(void *arg)
{
	struct world *w = arg;

	w->turns++;
	loop_deferred_arm(w->deferred);
}

static void on_io_gets_its_share(int fd, bool readable, bool writable, void *arg)
{
	struct world *w = arg;

	loop_stop(w->loop);
}

/* Deferred work that always asks to run again must not keep I/O from happening. */
static void test_deferred_does_not_starve_io(void **state)
{
	struct world w = {.loop = loop_new()};
	struct loop_watch *watch;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	w.deferred = loop_deferred_new(w.loop, again, &w);
	watch = loop_watch_new(w.loop, fds[0], on_io_gets_its_share, &w);
	loop_watch_set(watch, true, false);
	loop_deferred_arm(w.deferred);
	assert_int_equal(write(fds[1], "x", 1), 1);
	loop_run(w.loop);
	assert_in_range(w.turns, 1, 100);
	loop_watch_free(watch);
	loop_deferred_free(w.deferred);
	loop_free(w.loop);
	close(fds[0]);
	close(fds[1]);
}

static void free_other(void *arg)
{
	struct world *w = arg;

	w->n++;
	loop_deferred_free(w->deferred);
	w->deferred = NULL;
	loop_stop(w->loop);
}

static void test_deferred_freed_while_armed(void **state)
{
	struct world w = {.loop = loop_new()};
	struct loop_deferred *first = loop_deferred_new(w.loop, free_other, &w);

	w.deferred = loop_deferred_new(w.loop, on_deferred, &w);
	loop_deferred_arm(first);
	loop_deferred_arm(w.deferred);
	loop_run(w.loop);
	assert_int_equal(w.n, 1);
	assert_string_equal(w.trace, "");
	loop_deferred_free(first);
	loop_free(w.loop);
}

#define POSTS 20000

static void count(void *arg)
{
	struct world *w = arg;

	if (++w->n == 2 * POSTS)
		loop_stop(w->loop);
}

static void *poster(void *arg)
{
	struct world *w = arg;

	for (int i = 0; i < POSTS; i++)
		loop_post(w->loop, count, w);
	return NULL;
}

static void test_posts_from_threads(void **state)
{
	struct world w = {.loop = loop_new()};
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&t[i], NULL, poster, &w), 0);
	loop_run(w.loop);
	assert_int_equal(w.n, 2 * POSTS);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	loop_free(w.loop);
}

static void post_a(void *arg)
{
	mark(arg, "a");
}

static void post_b(void *arg)
{
	struct world *w = arg;

	mark(w, "b");
	loop_stop(w->loop);
}

static void test_posts_keep_their_order(void **state)
{
	struct world w = {.loop = loop_new()};

	loop_post(w.loop, post_a, &w);
	loop_post(w.loop, post_a, &w);
	loop_post(w.loop, post_b, &w);
	loop_run(w.loop);
	assert_string_equal(w.trace, "aab");
	loop_free(w.loop);
}

static void on_timer(void *arg)
{
	struct world *w = arg;

	assert_true(clock_mono_us() >= w->due);
	if (++w->n == 3) {
		loop_stop(w->loop);
		return;
	}
	w->due = clock_mono_us() + 7000;
	loop_timer_set(w->timer, 7);
}

static void never(void *arg)
{
	fail_msg("a disarmed timer fired");
}

static void test_timers_are_never_early(void **state)
{
	struct world w = {.loop = loop_new()};
	struct loop_timer *off = loop_timer_new(w.loop, never, NULL);

	w.timer = loop_timer_new(w.loop, on_timer, &w);
	loop_timer_set(w.timer, 60000);
	w.due = clock_mono_us() + 5000;
	loop_timer_set(w.timer, 5); /* moves it */
	loop_timer_set(off, 1);
	loop_timer_set(off, -1);
	loop_run(w.loop);
	assert_int_equal(w.n, 3);
	loop_timer_free(w.timer);
	loop_timer_free(off);
	loop_free(w.loop);
}

static void on_signal(int signo, void *arg)
{
	struct world *w = arg;

	assert_int_equal(signo, SIGUSR1);
	w->n++;
	loop_stop(w->loop);
}

#define MANY 30

static void burn_a_millisecond(void)
{
	int64_t until = clock_thread_us() + 1000;

	while (clock_thread_us() < until)
		;
}

static void one_done(struct world *w)
{
	burn_a_millisecond();
	if (++w->n == MANY)
		loop_stop(w->loop);
}

static void on_busy(int fd, bool readable, bool writable, void *arg)
{
	char c;

	assert_int_equal(read(fd, &c, 1), 1);
	one_done(arg);
}

static void on_busy_post(void *arg)
{
	one_done(arg);
}

static void assert_shares(const struct loop *l)
{
	assert_in_range(loop_pace(l)->longest_us, 1, LOOP_LONG_US - 1);
	assert_in_range(loop_pace(l)->turns, MANY / 10, MANY + 10);
}

/* Thirty milliseconds of work are ready at once: others are looked at in between. */
static void test_ready_io_is_handled_in_shares(void **state)
{
	struct world w = {.loop = loop_new()};
	struct loop_watch *watches[MANY];
	int fds[MANY][2];

	for (int i = 0; i < MANY; i++) {
		assert_int_equal(pipe(fds[i]), 0);
		watches[i] = loop_watch_new(w.loop, fds[i][0], on_busy, &w);
		loop_watch_set(watches[i], true, false);
		assert_int_equal(write(fds[i][1], "x", 1), 1);
	}
	loop_run(w.loop);
	assert_int_equal(w.n, MANY);
	assert_shares(w.loop);
	for (int i = 0; i < MANY; i++) {
		loop_watch_free(watches[i]);
		close(fds[i][0]);
		close(fds[i][1]);
	}
	loop_free(w.loop);
}

static void test_posts_are_handled_in_shares(void **state)
{
	struct world w = {.loop = loop_new()};

	for (int i = 0; i < MANY; i++)
		loop_post(w.loop, on_busy_post, &w);
	loop_run(w.loop);
	assert_int_equal(w.n, MANY);
	assert_shares(w.loop);
	loop_free(w.loop);
}

static void test_signals(void **state)
{
	struct world w = {.loop = loop_new()};
	struct loop_signal *s = loop_signal_new(w.loop, SIGUSR1, on_signal, &w);

	kill(getpid(), SIGUSR1);
	loop_run(w.loop);
	assert_int_equal(w.n, 1);
	loop_signal_free(s);
	loop_free(w.loop);
}

/* Whether any epoll instance of this process has `fd` registered. */
static bool is_registered(int fd)
{
	DIR *dir = opendir("/proc/self/fdinfo");
	bool found = false;
	char path[300], line[256];
	FILE *f;
	int tfd;

	assert_non_null(dir);
	for (struct dirent *e = readdir(dir); e && !found; e = readdir(dir)) {
		snprintf(path, sizeof path, "/proc/self/fdinfo/%s", e->d_name);
		f = e->d_name[0] == '.' ? NULL : fopen(path, "r");
		while (f && fgets(line, sizeof line, f))
			found = found || (sscanf(line, "tfd: %d", &tfd) == 1 && tfd == fd);
		if (f)
			fclose(f);
	}
	closedir(dir);
	return found;
}

/* Another holder of the open file keeps it alive: the kernel would not forget it by itself. */
static void test_a_freed_watch_leaves_nothing_behind(void **state)
{
	struct world w = {.loop = loop_new_at_once()};
	struct loop_watch *watch;
	int fds[2], other;

	assert_int_equal(pipe(fds), 0);
	other = dup(fds[0]);
	watch = loop_watch_new(w.loop, fds[0], on_pipe, &w);
	loop_watch_set(watch, true, false);
	assert_true(is_registered(fds[0]));
	loop_watch_free(watch);
	assert_false(is_registered(fds[0]));
	close(fds[0]);
	close(fds[1]);
	close(other);
	loop_free(w.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_deferred_runs_after_ready_io),
	    cmocka_unit_test(test_deferred_does_not_starve_io),
	    cmocka_unit_test(test_deferred_freed_while_armed),
	    cmocka_unit_test(test_posts_from_threads),
	    cmocka_unit_test(test_posts_keep_their_order),
	    cmocka_unit_test(test_timers_are_never_early),
	    cmocka_unit_test(test_ready_io_is_handled_in_shares),
	    cmocka_unit_test(test_posts_are_handled_in_shares),
	    cmocka_unit_test(test_signals),
	    cmocka_unit_test(test_a_freed_watch_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
