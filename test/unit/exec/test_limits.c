/* SPDX-License-Identifier: Apache-2.0 */
/* Limits on the host as it is: what each test expects depends on what the probe found. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "exec/confine/cgroup.h"
#include "exec/confine/limits_internal.h"

#define MIB (1ll << 20)

static struct cgroups tree;
static struct limits_host host;
static char lock[64];

static int setup(void **state)
{
	struct problem p = {0};

	snprintf(lock, sizeof lock, "limits test %d", (int)getpid());
	cgroups_open(&tree, lock, &p);
	limits_probe(&host, lock, tree.dir_fd);
	return 0;
}

static int teardown(void **state)
{
	limits_release(&host);
	cgroups_close(&tree);
	return 0;
}

struct run {
	struct limits_task t;
	struct cgroup *cgroup;
	pid_t pid;
	struct usage usage;
	struct rusage rusage;
	int status;
};

static const char *program(const char *name)
{
	static char path[512];

	snprintf(path, sizeof path, "%s/%s", getenv("REEVE_TEST_PROGRAMS"), name);
	return path;
}

static void set_rlimit(int resource, int64_t value)
{
	struct rlimit r = {(rlim_t)value, (rlim_t)value};

	if (value > 0 && setrlimit(resource, &r) < 0)
		_exit(99);
}

static void become(struct run *r, const char *name, const char *arg, const char *arg2)
{
	if (r->cgroup && limits_write(r->cgroup->dir_fd, "cgroup.procs", "0") < 0)
		_exit(97);
	for (int i = 0; i < r->t.n_join; i++)
		if (write(r->t.join_fds[i], "0", 1) != 1)
			_exit(98);
	set_rlimit(RLIMIT_AS, r->t.address_space);
	set_rlimit(RLIMIT_NPROC, r->t.processes);
	execl(program(name), name, arg, arg2, NULL);
	_exit(96);
}

static int start(
    struct run *r, const struct run_limits *l, const char *name, const char *arg, const char *arg2)
{
	struct problem p;
	int got;

	*r = (struct run){.t = {.v2_dir_fd = -1, .as_root = geteuid() == 0}};
	if (tree.dir_fd >= 0) {
		r->cgroup = cgroup_take(&tree);
		assert_non_null(r->cgroup);
		r->t.v2_dir_fd = r->cgroup->dir_fd;
	}
	got = limits_take(&host, l, &r->t, &p);
	if (got < 0) {
		assert_string_not_equal(p.what, "");
		assert_string_not_equal(p.hint, "");
		if (r->cgroup)
			cgroup_put(&tree, r->cgroup);
		return got;
	}
	r->pid = fork();
	if (r->pid == 0)
		become(r, name, arg, arg2);
	limits_joined(&r->t);
	return 0;
}

static void finish(struct run *r)
{
	struct timespec pause = {0, 1000000};

	assert_int_equal(wait4(r->pid, &r->status, 0, &r->rusage), r->pid);
	limits_read(&host, &r->t, &r->usage);
	if (r->cgroup) {
		r->cgroup->killed = r->cgroup->killed || r->t.spent;
		while (!cgroup_is_empty(r->cgroup))
			nanosleep(&pause, NULL);
	}
	limits_put(&host, &r->t);
	if (r->cgroup)
		cgroup_put(&tree, r->cgroup);
}

static bool by_cgroup(enum limit_on on)
{
	return host.by[on] == BY_V1 || host.by[on] == BY_V2;
}

static void the_one_that_eats_is_killed(void **state)
{
	struct run_limits l = {.memory = 24 * MIB};
	struct run r;

	assert_int_equal(start(&r, &l, "eat_memory", "96", NULL), 0);
	finish(&r);
	if (by_cgroup(ON_MEMORY)) {
		assert_true(WIFSIGNALED(r.status));
		assert_int_equal(WTERMSIG(r.status), SIGKILL);
		assert_true(r.usage.known);
		assert_true(r.usage.oom_kills >= 1);
		assert_true(r.usage.peak_memory > 20 * MIB && r.usage.peak_memory <= 24 * MIB);
	} else {
		assert_true(WIFEXITED(r.status));
		assert_int_equal(WEXITSTATUS(r.status), 3);
		assert_false(r.usage.known);
	}
}

static void the_one_that_eats_little_is_not(void **state)
{
	struct run_limits l = {.memory = 96 * MIB};
	struct run r;

	assert_int_equal(start(&r, &l, "eat_memory", "16", NULL), 0);
	finish(&r);
	assert_true(WIFEXITED(r.status));
	assert_int_equal(WEXITSTATUS(r.status), 0);
	assert_int_equal(r.usage.oom_kills, 0);
	if (by_cgroup(ON_MEMORY))
		assert_true(r.usage.peak_memory > 16 * MIB && r.usage.peak_memory < 96 * MIB);
}

static void forks_are_counted(void **state)
{
	struct run_limits l = {.pids = 5};
	struct run r;
	int got = start(&r, &l, "fork_many", "50", NULL);

	if (host.by[ON_PIDS] == BY_RLIMIT && geteuid() == 0) {
		assert_int_equal(got, ERR_INVALID);
		return;
	}
	assert_int_equal(got, 0);
	finish(&r);
	assert_true(WIFEXITED(r.status));
	if (by_cgroup(ON_PIDS))
		assert_int_equal(WEXITSTATUS(r.status), 4); /* it counts itself */
	else
		assert_true(WEXITSTATUS(r.status) <= 5);
}

/* A fifth of a core leaves at most that much of the wall's time, with much room for error. */
static void spinning_is_slowed(void **state)
{
	struct run_limits l = {.cpu_milli = 200};
	struct run r;
	int64_t begin = clock_mono_us(), wall, cpu;
	int got = start(&r, &l, "spin", "1000", NULL);

	if (!by_cgroup(ON_CPU)) {
		assert_int_equal(got, ERR_INVALID);
		return;
	}
	assert_int_equal(got, 0);
	finish(&r);
	wall = clock_mono_us() - begin;
	cpu = r.rusage.ru_utime.tv_sec * 1000000ll + r.rusage.ru_utime.tv_usec +
	      r.rusage.ru_stime.tv_sec * 1000000ll + r.rusage.ru_stime.tv_usec;
	assert_true(cpu < wall / 2);
}

static void no_limit_is_no_limit(void **state)
{
	struct run_limits none = {0};
	struct run r;

	assert_int_equal(start(&r, &none, "fork_many", "50", NULL), 0);
	finish(&r);
	assert_int_equal(WEXITSTATUS(r.status), 50);
	assert_int_equal(start(&r, NULL, "eat_memory", "64", NULL), 0);
	finish(&r);
	assert_int_equal(r.status, 0);
}

/* What one task was held to must not hold the next one, also where directories are used again. */
static void a_limit_does_not_stay(void **state)
{
	struct run_limits few = {.pids = 3, .policy = LIMIT_WARN};
	struct run r;

	for (int i = 0; i < 3; i++) {
		assert_int_equal(start(&r, &few, "fork_many", "1", NULL), 0);
		finish(&r);
		assert_int_equal(start(&r, NULL, "fork_many", "40", NULL), 0);
		finish(&r);
		assert_int_equal(WEXITSTATUS(r.status), 40);
	}
}

static int entries_in(int dir)
{
	char path[64], command[128];
	int fds[2], n = 0;
	char c;
	pid_t pid;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), dir);
	snprintf(command, sizeof command, "find -H %s -mindepth 1 -type d", path);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], 1);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	close(fds[1]);
	while (read(fds[0], &c, 1) == 1)
		n += c == '\n';
	close(fds[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return n;
}

static int kept_in(enum limit_on on)
{
	int n = 0;

	for (unsigned i = 0; i < host.n_pool; i++)
		n += host.pool[i].v1[on];
	return n;
}

static void nothing_is_left_in_version_1(void **state)
{
	struct run_limits l = {
	    .memory = 64 * MIB, .cpu_milli = 2000, .pids = 50, .policy = LIMIT_WARN};
	struct run r;

	for (int i = 0; i < 20; i++) {
		assert_int_equal(start(&r, &l, "fork_many", "3", NULL), 0);
		finish(&r);
		assert_int_equal(WEXITSTATUS(r.status), 3);
	}
	for (int on = 0; on < N_LIMITS; on++)
		if (host.v1_fd[on] >= 0) /* but for what is kept to be used again */
			assert_int_equal(entries_in(host.v1_fd[on]), kept_in((enum limit_on)on));
}

/* A host without version 2: each task is in a directory, with the limits of nobody else. */
static void directories_are_used_again(void **state)
{
	struct run_limits few = {.pids = 3};
	struct run r;
	unsigned made = host.made;

	if (host.v1_fd[ON_PIDS] < 0)
		return; /* there is nothing to be used again, and the others test the rest */
	host.tree_kill = false;
	for (int i = 0; i < 5; i++) {
		assert_int_equal(start(&r, &few, "fork_many", "40", NULL), 0);
		finish(&r);
		assert_int_equal(WEXITSTATUS(r.status), 2);
		assert_int_equal(start(&r, NULL, "fork_many", "40", NULL), 0);
		finish(&r);
		assert_int_equal(WEXITSTATUS(r.status), 40);
	}
	host.tree_kill = tree.dir_fd >= 0;
	assert_true(host.made <= made + 1);
}

static void wait_until_many(struct run *r)
{
	struct timespec pause = {0, 1000000};
	int dir = limits_v1_open(&host, &r->t, ON_PIDS);
	siginfo_t over = {0};

	while (limits_read_number(dir, "pids.current") < 6) {
		waitid(P_PID, (id_t)r->pid, &over, WEXITED | WNOHANG | WNOWAIT);
		assert_int_equal(over.si_pid, 0); /* it stays until it is killed */
		nanosleep(&pause, NULL);
	}
	close(dir);
}

/* As on a host without any version 2: the v1 directory is what the task is ended by. */
static void version_1_can_end_a_task(void **state)
{
	struct timespec pause = {0, 1000000};
	struct run r;

	host.tree_kill = false;
	assert_int_equal(start(&r, NULL, "fork_many", "5", "stay"), 0);
	host.tree_kill = tree.dir_fd >= 0;
	if (host.v1_fd[ON_PIDS] < 0) { /* then there may be another one, or none */
		if (!limits_kill(&host, &r.t))
			kill(r.pid, SIGKILL);
		finish(&r);
		return;
	}
	wait_until_many(&r);
	assert_false(limits_is_empty(&host, &r.t));
	while (!limits_is_empty(&host, &r.t)) {
		assert_true(limits_kill(&host, &r.t));
		nanosleep(&pause, NULL);
	}
	finish(&r);
	assert_true(WIFSIGNALED(r.status));
}

static void the_next_instance_ends_what_is_left(void **state)
{
	struct run_limits l = {.pids = 50, .policy = LIMIT_WARN};
	struct limits_host next;
	struct run r;

	assert_int_equal(start(&r, &l, "fork_many", "5", "stay"), 0);
	if (r.t.by[ON_PIDS] != BY_V1) {
		kill(r.pid, SIGKILL);
		finish(&r);
		return;
	}
	wait_until_many(&r);
	limits_probe(&next, lock, tree.dir_fd);
	assert_int_equal(entries_in(next.v1_fd[ON_PIDS]), 0);
	limits_release(&next);
	finish(&r);
	assert_true(WIFSIGNALED(r.status));
	limits_release(&host);
	limits_probe(&host, lock, tree.dir_fd);
}

/* For a worker whose keeper was killed. */
static void what_is_left_can_be_ended(void **state)
{
	struct run_limits l = {.pids = 50, .policy = LIMIT_WARN};
	struct run r;

	assert_int_equal(start(&r, &l, "fork_many", "5", "stay"), 0);
	if (r.t.by[ON_PIDS] == BY_V1)
		wait_until_many(&r);
	else
		kill(r.pid, SIGKILL);
	limits_end(lock);
	finish(&r);
	assert_true(WIFSIGNALED(r.status));
	limits_release(&host);
	limits_probe(&host, lock, tree.dir_fd);
}

static void a_look_changes_nothing(void **state)
{
	struct limits_host seen;
	char text[512];

	limits_look(&seen);
	for (int on = 0; on < N_LIMITS; on++) {
		limits_describe(&seen, (enum limit_on)on, text, sizeof text);
		assert_int_equal(strncmp(text, limit_on_names[on], strlen(limit_on_names[on])), 0);
		assert_non_null(strstr(text, limit_by_names[seen.by[on]]));
	}
	if (!seen.tree_kill)
		assert_string_not_equal(seen.kill_why, "");
	assert_int_equal(seen.tree_kill, tree.dir_fd >= 0);
	limits_release(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_one_that_eats_is_killed),
	    cmocka_unit_test(the_one_that_eats_little_is_not),
	    cmocka_unit_test(forks_are_counted),
	    cmocka_unit_test(spinning_is_slowed),
	    cmocka_unit_test(no_limit_is_no_limit),
	    cmocka_unit_test(a_limit_does_not_stay),
	    cmocka_unit_test(nothing_is_left_in_version_1),
	    cmocka_unit_test(directories_are_used_again),
	    cmocka_unit_test(version_1_can_end_a_task),
	    cmocka_unit_test(the_next_instance_ends_what_is_left),
	    cmocka_unit_test(what_is_left_can_be_ended),
	    cmocka_unit_test(a_look_changes_nothing),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
