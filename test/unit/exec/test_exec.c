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

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "exec/env.h"
#include "exec/guard.h"
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
	struct process_spec s = {
	    .argv = argv, .cwd = cwd, .stdin_fd = -1, .extra_fd = -1, .umask = 022};
	struct spawned failed;
	struct env e;
	int r;

	env_init_clean(&e, &arena);
	env_set(&e, STR("PATH"), STR("/nowhere:/usr/bin:/bin"));
	env_set(&e, STR("GREETING"), STR("hello"));
	env_set(&e, STR(EXEC_LOCK_VARIABLE), str_of(lock));
	s.envp = env_list(&e);
	r = process_start(&hand, &s, p, &failed, why, 256);
	return r < 0 ? spawn_exit_code(&failed) : 0;
}

static void start_sh(struct process *p, const char *script)
{
	const char *argv[] = {"sh", "-c", script, NULL};
	char why[256];

	assert_int_equal(start(p, argv, NULL, why), 0);
}

static int64_t boot_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
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
	process_signal(&p, SIGTERM);
	assert_false(wait_fd(p.pidfd, 200));
	process_signal(&p, SIGKILL);
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

/* In a process that will be killed: a guard, and a task with a descendant in another session. */
static void guarded_main(int held, int tell)
{
	struct guard g;
	struct problem problem = {0};
	struct process p;
	char text[32] = "";

	if (guard_start(&g, lock, held, &problem) < 0)
		_exit(1);
	close(held);
	start_sh(&p, "trap '' TERM; setsid sleep 1000 >/dev/null 2>&1 & echo $!; wait");
	if (!wait_fd(p.out[0], 20000) || read(p.out[0], text, sizeof text - 1) <= 0)
		_exit(1);
	dprintf(tell, "%d %s", (int)g.pid, text);
	pause();
	_exit(1);
}

static void test_guard(void **state)
{
	int held[2], tell[2], guard, descendant;
	char text[64] = "", name[32] = "", path[64];
	pid_t worker;
	FILE *f;

	assert_int_equal(pipe2(held, O_CLOEXEC), 0);
	assert_int_equal(pipe2(tell, O_CLOEXEC), 0);
	if ((worker = fork()) == 0)
		guarded_main(held[1], tell[1]);
	close(held[1]);
	assert_true(wait_fd(tell[0], 20000));
	assert_true(read(tell[0], text, sizeof text - 1) > 0);
	assert_int_equal(sscanf(text, "%d %d", &guard, &descendant), 2);
	snprintf(path, sizeof path, "/proc/%d/comm", guard);
	for (int i = 0; i < 20000 && strcmp(name, "reeve-guard\n") != 0; i++) {
		usleep(1000); /* it names itself soon after it was made */
		assert_non_null(f = fopen(path, "re"));
		assert_non_null(fgets(name, sizeof name, f));
		fclose(f);
	}
	assert_string_equal(name, "reeve-guard\n");
	kill(guard, SIGTERM); /* it is not so easily ended */
	kill(worker, SIGKILL);
	assert_int_equal(waitpid(worker, NULL, 0), worker);
	assert_true(wait_fd(held[0], 20000)); /* closed: its work is done, hence … */
	assert_int_equal(read(held[0], text, 1), 0);
	assert_false(is_alive((pid_t)descendant));
	close(held[0]);
	close(tell[0]);
	close(tell[1]);
}

/* Told to leave, it ends nothing; and it holds no descriptors that it was not given. */
static void test_guard_dismissed(void **state)
{
	struct guard g;
	struct problem problem = {0};
	struct process p;
	int other[2];

	assert_int_equal(pipe2(other, O_CLOEXEC), 0);
	assert_int_equal(guard_start(&g, lock, -1, &problem), 0);
	close(other[1]);
	assert_true(wait_fd(other[0], 20000));
	start_sh(&p, "exec sleep 1000");
	guard_release(&g, true, 0);
	assert_int_equal(waitpid(g.pid, NULL, 0), -1); /* gone, and not a zombie */
	assert_false(wait_fd(p.pidfd, 0));
	process_signal(&p, SIGKILL);
	wait_end(&p);
	process_release(&hand, &p);
	close(other[0]);
}

/* A worker that says nothing past its deadline: all is ended, and the guard goes on guarding. */
static void test_guard_deadline(void **state)
{
	struct guard g;
	struct problem problem = {0};
	struct process p;
	int64_t now;

	assert_int_equal(guard_start(&g, lock, -1, &problem), 0);
	start_sh(&p, "trap '' TERM; exec sleep 1000");
	now = boot_ms();
	guard_deadline(&g, now + 300);
	guard_deadline(&g, now + 900); /* it moved, if only a little */
	assert_false(wait_fd(p.pidfd, 600));
	guard_deadline(&g, now + 3600000);
	assert_false(wait_fd(p.pidfd, 600));
	guard_deadline(&g, INT64_MAX);
	guard_deadline(&g, boot_ms() + 200);
	assert_true(wait_fd(p.pidfd, 20000));
	assert_true(boot_ms() >= now + 1400);
	wait_end(&p);
	assert_int_equal(p.signal, SIGKILL);
	process_release(&hand, &p);
	assert_int_equal(waitpid(g.pid, NULL, WNOHANG), 0); /* it is still there */
	guard_release(&g, false, 20000);
	assert_int_equal(waitpid(g.pid, NULL, 0), -1); /* gone, and not a zombie */
}

/* Small moves to the later are not told, any to the earlier is; a full pipe stops nobody. */
static void test_guard_words(void **state)
{
	struct guard g;
	struct problem problem = {0};
	int64_t far = boot_ms() + 3600000, last;

	assert_int_equal(guard_start(&g, lock, -1, &problem), 0);
	guard_deadline(&g, far);
	guard_deadline(&g, far + 999);
	assert_int_equal(g.told_ms, far);
	guard_deadline(&g, far + 1000);
	assert_int_equal(g.told_ms, far + 1000);
	guard_deadline(&g, far + 999);
	assert_int_equal(g.told_ms, far + 999);
	kill(g.pid, SIGSTOP);
	for (int i = 1; i <= 100000; i++)
		guard_deadline(&g, far + 1000 * (int64_t)i);
	last = g.told_ms;
	assert_true(last < far + 1000 * INT64_C(100000)); /* not told: to be said again later */
	kill(g.pid, SIGCONT);
	for (int i = 0; i < 5000 && g.told_ms == last; i++) {
		guard_deadline(&g, far + 1000 * INT64_C(100000));
		usleep(1000);
	}
	assert_int_equal(g.told_ms, far + 1000 * INT64_C(100000));
	guard_release(&g, true, 20000);
	assert_int_equal(waitpid(g.pid, NULL, 0), -1);
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
	    T(test_guard),
	    T(test_guard_dismissed),
	    T(test_guard_deadline),
	    T(test_guard_words),
	    T(test_env),
	};

	getrlimit(RLIMIT_NOFILE, &r);
	r.rlim_cur = usual_files = 512;
	setrlimit(RLIMIT_NOFILE, &r);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
