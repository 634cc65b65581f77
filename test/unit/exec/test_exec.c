/* SPDX-License-Identifier: Apache-2.0 */
/* Processes, with cgroups where the host has them and with process groups: nothing may be left. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/world/clock.h"
#include "exec/env.h"
#include "exec/process.h"

static struct hand hand;
static struct arena arena;
static char lock[64];
static int usual_files; /* the limit before the hand took more for itself */

static int setup_hand(bool cgroups)
{
	struct problem p = {0};

	snprintf(lock, sizeof lock, "test-%d-%d", (int)getpid(), cgroups);
	if (hand_init(&hand, lock, cgroups, &p) < 0)
		hand.cgroups.dir_fd = -1; /* then both rounds use groups */
	return 0;
}

static int with_cgroups(void **state)
{
	return setup_hand(true);
}

static int with_groups(void **state)
{
	return setup_hand(false);
}

static int teardown(void **state)
{
	hand_release(&hand);
	arena_release(&arena);
	return 0;
}

static int start(struct process *p, const char *const *argv, const char *cwd, char why[256])
{
	struct spawn s = {
	    .program = {.argv = argv, .cwd = cwd, .umask = 022, .death_signal = SIGKILL},
	    .fds = {PROCESS_NULL}};
	AUTO(free_cstr) char *mark = exec_lock_mark(lock);
	struct spawned failed;
	struct env e;
	int r;

	env_init_clean(&e, &arena);
	env_set(&e, STR("PATH"), STR("/nowhere:/usr/bin:/bin"));
	env_set(&e, STR("GREETING"), STR("hello"));
	env_set(&e, STR(EXEC_LOCK_VARIABLE), str_of(mark));
	s.program.env = env_list(&e);
	r = process_start(&hand, &s, NULL, p, &failed, why, 256);
	return r < 0 ? spawn_exit_code(&failed) : 0;
}

static void start_sh(struct process *p, const char *script)
{
	const char *argv[] = {"sh", "-c", script, NULL};
	char why[256];

	assert_int_equal(start(p, argv, NULL, why), 0);
}

static bool wait_fd(int fd, int ms)
{
	struct pollfd pf = {fd, POLLIN, 0};

	return poll(&pf, 1, ms) == 1;
}

static void wait_end(struct process *p)
{
	assert_true(wait_fd(p->pidfd, 20000));
	assert_true(process_reap(p));
	for (int i = 0; i < 5000 && !process_is_gone(p); i++)
		usleep(1000);
	assert_true(process_is_gone(p));
}

/* Reads a stream to its end. */
static void drain(int fd, struct buf *b)
{
	char bytes[65536];
	ssize_t n;

	for (;;) {
		assert_true(wait_fd(fd, 20000));
		n = read(fd, bytes, sizeof bytes);
		if (n == 0)
			return;
		if (n > 0)
			buf_add(b, bytes, (size_t)n);
		else
			assert_int_equal(errno, EAGAIN);
	}
}

static void test_codes(void **state)
{
	struct process p;
	struct buf out = {0}, err = {0};
	char want[64];

	start_sh(&p, "echo $GREETING; pwd; umask; ulimit -n; echo oops >&2; exit 7");
	drain(p.out[0], &out);
	drain(p.out[1], &err);
	wait_end(&p);
	assert_int_equal(p.exit_code, 7);
	assert_int_equal(p.signal, 0);
	snprintf(want, sizeof want, "hello\n/\n0022\n%d\n", usual_files);
	assert_string_equal(out.p, want);
	assert_string_equal(err.p, "oops\n");
	process_release(&hand, &p);
	start_sh(&p, "kill -9 $$");
	wait_end(&p);
	assert_int_equal(p.exit_code, -1);
	assert_int_equal(p.signal, 9);
	process_release(&hand, &p);
	buf_release(&out);
	buf_release(&err);
}

static void test_errors(void **state)
{
	static const struct {
		const char *argv0, *cwd;
		int code;
		const char *why;
	} cases[] = {
	    {"/nope", NULL, 127, "exec /nope: No such file or directory"},
	    {"no-such-program", NULL, 127, "exec no-such-program: not found in PATH"},
	    {"", NULL, 127, "exec : not found in PATH"},
	    {"/etc", NULL, 126, "exec /etc: Permission denied"},
	    {"/etc/passwd", NULL, 126, "exec /etc/passwd: Permission denied"},
	    {"/bin/true", "/no/such/dir", 126,
	        "working directory /no/such/dir: No such file or directory"},
	    {"/bin/true/x", NULL, 126, "exec /bin/true/x: Not a directory"},
	};
	struct process p;
	char why[256];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *argv[] = {cases[i].argv0, NULL};

		assert_int_equal(start(&p, argv, cases[i].cwd, why), cases[i].code);
		assert_string_equal(why, cases[i].why);
		assert_int_equal(p.pidfd, -1);
	}
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no zombie */
	assert_int_equal(errno, ECHILD);
}

static void test_text_file(void **state)
{
	char path[] = "/tmp/reeve-test-XXXXXX", why[256];
	const char *argv[] = {path, NULL};
	struct process p;
	int fd = mkstemp(path);

	assert_int_equal(write(fd, "echo no shebang\n", 16), 16);
	fchmod(fd, 0755);
	close(fd);
	assert_int_equal(start(&p, argv, NULL, why), 126);
	assert_non_null(strstr(why, "Exec format error"));
	unlink(path);
}

/* The child sees a plain world: nothing blocked, nothing ignored, a session of its own, four fds.
 */
static void test_clean(void **state)
{
	struct process p;
	struct buf out = {0};
	sigset_t set, before;
	char sid[64];

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &before);
	start_sh(&p, "exec grep -E '^(SigBlk|SigIgn|NSsid)' /proc/self/status");
	snprintf(sid, sizeof sid, "NSsid:\t%d", (int)p.pid);
	drain(p.out[0], &out);
	assert_non_null(strstr(out.p, "SigBlk:\t0000000000000000"));
	assert_non_null(strstr(out.p, "SigIgn:\t0000000000000000"));
	assert_non_null(strstr(out.p, sid));
	wait_end(&p);
	process_release(&hand, &p);
	sigprocmask(SIG_SETMASK, &before, NULL);
	signal(SIGPIPE, SIG_DFL);
	buf_reset(&out);
	start_sh(&p, "exec ls /proc/self/fd"); /* ls itself opens 3 */
	drain(p.out[0], &out);
	assert_string_equal(out.p, "0\n1\n2\n3\n");
	wait_end(&p);
	process_release(&hand, &p);
	buf_release(&out);
}

static void test_huge_output(void **state)
{
	struct process p;
	struct buf out = {0};

	start_sh(&p, "head -c 20000000 /dev/zero");
	drain(p.out[0], &out);
	assert_int_equal(out.n, 20000000);
	wait_end(&p);
	assert_int_equal(p.exit_code, 0);
	process_release(&hand, &p);
	buf_release(&out);
}

static bool is_alive(pid_t pid)
{
	char path[64], text[256] = {0};
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (!(f = fopen(path, "re")))
		return false;
	if (!fgets(text, sizeof text, f))
		text[0] = 0;
	fclose(f);
	return !strstr(text, ") Z ") && !strstr(text, ") X ");
}

static void wait_dead(pid_t pid)
{
	for (int i = 0; i < 5000 && is_alive(pid); i++)
		usleep(1000);
	assert_false(is_alive(pid));
}

/* A grandchild that left its parent and, with a cgroup, even the session: it ends all the same. */
static void test_double_fork(void **state)
{
	const char *script = hand.cgroups.dir_fd >= 0
	                         ? "(setsid sleep 1000 >/dev/null 2>&1 & echo $!); exit 0"
	                         : "(sleep 1000 >/dev/null 2>&1 & echo $!); exit 0";
	struct process p;
	struct buf out = {0};
	pid_t pid;

	start_sh(&p, script);
	drain(p.out[0], &out);
	pid = (pid_t)atoi(out.p);
	assert_true(pid > 0);
	wait_end(&p);
	assert_int_equal(p.exit_code, 0);
	wait_dead(pid);
	process_release(&hand, &p);
	buf_release(&out);
}

static void test_ignores_term(void **state)
{
	struct process p;
	char byte;

	start_sh(&p, "trap '' TERM; echo r; while :; do sleep 1000; done");
	assert_true(wait_fd(p.out[0], 20000));
	assert_int_equal(read(p.out[0], &byte, 1), 1);
	process_signal(&p, SIGTERM, KILL_TO_GROUP);
	assert_false(wait_fd(p.pidfd, 200));
	process_kill(&p);
	wait_end(&p);
	assert_int_equal(p.signal, SIGKILL);
	process_release(&hand, &p);
}

static int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void test_many(void **state)
{
	const char *argv[] = {"/bin/true", NULL};
	struct process p;
	char why[256];
	int fds;

	assert_int_equal(start(&p, argv, NULL, why), 0);
	wait_end(&p);
	process_release(&hand, &p); /* warmed up: one free cgroup is kept */
	fds = count_fds();
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(start(&p, argv, NULL, why), 0);
		wait_end(&p);
		assert_int_equal(p.exit_code, 0);
		process_release(&hand, &p);
		arena_reset(&arena);
	}
	assert_int_equal(count_fds(), fds);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* Abandoned processes bear the lock: the next instance ends them. */
static void test_leftovers(void **state)
{
	struct process p;
	struct hand other;
	struct problem problem = {0};

	start_sh(&p, "exec sleep 1000");
	if (hand.cgroups.dir_fd >= 0)
		assert_int_equal(hand_init(&other, lock, true, &problem), 0);
	else
		assert_true(exec_end_leftovers(lock) >= 1);
	wait_end(&p);
	assert_int_equal(p.signal, SIGKILL);
	process_release(&hand, &p);
	if (hand.cgroups.dir_fd >= 0)
		hand_release(&other);
	assert_int_equal(exec_end_leftovers(lock), 0);
}

static void test_env(void **state)
{
	struct env e;

	env_init_clean(&e, &arena);
	assert_true(env_set(&e, STR("A"), STR("1")));
	assert_true(env_set(&e, STR("AB"), STR("2")));
	assert_true(env_set(&e, STR("A"), STR("")));
	assert_false(env_set(&e, STR(""), STR("1")));
	assert_false(env_set(&e, STR("A=B"), STR("1")));
	assert_false(env_set(&e, STR("A"), (struct str){"x\0y", 3}));
	assert_string_equal(env_list(&e)[e.n - 2], "A=");
	assert_string_equal(env_list(&e)[e.n - 1], "AB=2");
	assert_null(env_list(&e)[e.n]);
}

int main(void)
{
	struct rlimit r;

#define T(f)                                                        \
	cmocka_unit_test_setup_teardown(f, with_cgroups, teardown), \
	    cmocka_unit_test_setup_teardown(f, with_groups, teardown)
	const struct CMUnitTest tests[] = {
	    T(test_codes),
	    T(test_errors),
	    T(test_text_file),
	    T(test_clean),
	    T(test_huge_output),
	    T(test_double_fork),
	    T(test_ignores_term),
	    T(test_many),
	    T(test_leftovers),
	    T(test_env),
	};

	getrlimit(RLIMIT_NOFILE, &r);
	r.rlim_cur = usual_files = 512;
	setrlimit(RLIMIT_NOFILE, &r);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
