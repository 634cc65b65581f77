/* SPDX-License-Identifier: Apache-2.0 */
/* What a task does to its own cgroup must not reach the next one, nor stop us. */
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "exec/process.h"

static struct hand hand;
static char lock[64];

static int setup(void **state)
{
	struct problem p = {0};

	snprintf(lock, sizeof lock, "test-cgroup-%d", (int)getpid());
	hand_init(&hand, lock, true, &p);
	return 0;
}

static int teardown(void **state)
{
	AUTO(free_cstr) char *path = hand.cgroups.path ? xstrdup(hand.cgroups.path) : NULL;

	hand_release(&hand);
	if (path)
		assert_int_equal(access(path, F_OK), -1);
	return 0;
}

#define NEEDS_CGROUPS()                      \
	do {                                 \
		if (hand.cgroups.dir_fd < 0) \
			skip();              \
	} while (0)

static int start(struct process *p, const char *program, char why[256])
{
	const char *argv[] = {program, "1000", NULL}, *envp[] = {"PATH=/usr/bin:/bin", NULL};
	struct spawn s = {
	    .program = {.argv = argv, .env = envp, .umask = 022, .death_signal = SIGKILL},
	    .fds = {PROCESS_NULL}};
	struct spawned failed;

	return process_start(&hand, &s, NULL, p, &failed, why, 256) < 0 ? spawn_exit_code(&failed)
	                                                                : 0;
}

static void wait_end(struct process *p)
{
	struct pollfd pf = {p->pidfd, POLLIN, 0};

	assert_int_equal(poll(&pf, 1, 20000), 1);
	assert_true(process_reap(p));
	for (int i = 0; i < 5000 && !process_is_gone(p); i++)
		usleep(1000);
	assert_true(process_is_gone(p));
}

static void put_text(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void assert_reads(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	char got[64] = "";

	assert_true(fd >= 0);
	assert_true(read(fd, got, sizeof got - 1) >= 0);
	close(fd);
	got[strcspn(got, "\n")] = 0;
	assert_string_equal(got, text);
}

static void assert_runs(void)
{
	struct process p;
	char why[256] = "";

	if (start(&p, "/bin/sleep", why) != 0)
		fail_msg("%s", why);
	process_kill(&p);
	wait_end(&p);
	process_release(&hand, &p);
}

static void test_frozen_and_killed(void **state)
{
	struct process p;
	char why[256];

	NEEDS_CGROUPS();
	assert_int_equal(start(&p, "sleep", why), 0);
	put_text(p.cgroup->dir_fd, "cgroup.freeze", "1");
	process_signal(&p, SIGKILL, KILL_TO_CHILD);
	wait_end(&p);
	process_release(&hand, &p);
	assert_runs();
}

/* A process that has frozen itself is thawed to hear that it should end. */
static void test_frozen_and_asked(void **state)
{
	struct process p;
	char why[256];

	NEEDS_CGROUPS();
	assert_int_equal(start(&p, "sleep", why), 0);
	put_text(p.cgroup->dir_fd, "cgroup.freeze", "1");
	process_signal(&p, SIGTERM, KILL_TO_CGROUP);
	wait_end(&p);
	assert_int_equal(p.signal, SIGTERM);
	process_release(&hand, &p);
	assert_runs();
}

static void test_changed_values(void **state)
{
	static const char *const changed[][2] = {
	    {"cgroup.freeze", "1"}, {"cgroup.max.depth", "0"}, {"cgroup.max.descendants", "3"}};

	NEEDS_CGROUPS();
	for (size_t i = 0; i < sizeof changed / sizeof changed[0]; i++) {
		struct cgroup *c = cgroup_take(&hand.cgroups);

		assert_non_null(c);
		put_text(c->dir_fd, changed[i][0], changed[i][1]);
		cgroup_put(&hand.cgroups, c);
		c = cgroup_take(&hand.cgroups);
		assert_non_null(c);
		assert_reads(c->dir_fd, changed[i][0], i == 0 ? "0" : "max");
		cgroup_put(&hand.cgroups, c);
	}
}

static void test_untouched_is_used_again(void **state)
{
	struct cgroup *c;
	unsigned number;

	NEEDS_CGROUPS();
	c = cgroup_take(&hand.cgroups);
	number = c->number;
	cgroup_put(&hand.cgroups, c);
	c = cgroup_take(&hand.cgroups);
	assert_int_equal(c->number, number);
	cgroup_put(&hand.cgroups, c);
}

/* Two branches, one of them deep: all of it goes. */
static void make_nested(int dir)
{
	int at = dup(dir), next;

	assert_int_equal(mkdirat(dir, "other", 0755), 0);
	assert_int_equal(mkdirat(dir, "other/leaf", 0755), 0);
	for (int i = 0; i < 40; i++) {
		assert_int_equal(mkdirat(at, "x", 0755), 0);
		assert_int_equal(mkdirat(at, "y", 0755), 0);
		next = openat(at, "x", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		close(at);
		at = next;
	}
	close(at);
}

static void test_nested(void **state)
{
	struct cgroup *c;
	char name[16];

	NEEDS_CGROUPS();
	c = cgroup_take(&hand.cgroups);
	snprintf(name, sizeof name, "t%u", c->number);
	make_nested(c->dir_fd);
	cgroup_put(&hand.cgroups, c);
	assert_int_equal(faccessat(hand.cgroups.dir_fd, name, F_OK, 0), -1);
}

static void test_leftovers_stand_still(void **state)
{
	struct process p;
	struct hand next, old;
	struct problem problem = {0};
	char why[256];

	NEEDS_CGROUPS();
	assert_int_equal(start(&p, "sleep", why), 0);
	make_nested(p.cgroup->dir_fd);
	put_text(p.cgroup->dir_fd, "cgroup.freeze", "1");
	put_text(hand.cgroups.dir_fd, "cgroup.freeze", "1");
	assert_int_equal(hand_init(&next, lock, true, &problem), 0);
	wait_end(&p);
	process_release(&hand, &p);
	old = hand; /* it is dead, so to speak: released last, when it can take nothing along */
	hand = next;
	assert_runs();
	hand_release(&hand);
	hand = old;
}

/* A child that never executes costs a bounded wait, and an error that says so. */
static void test_never_executes(void **state)
{
	struct process p;
	char why[256] = "";

	NEEDS_CGROUPS();
	put_text(hand.cgroups.dir_fd, "cgroup.freeze", "1");
	assert_int_equal(start(&p, "sleep", why), 126);
	assert_non_null(strstr(why, "sleep could not be started"));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	put_text(hand.cgroups.dir_fd, "cgroup.freeze", "0");
	assert_runs();
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(test_frozen_and_killed),
	    T(test_frozen_and_asked),
	    T(test_changed_values),
	    T(test_untouched_is_used_again),
	    T(test_nested),
	    T(test_leftovers_stand_still),
	    T(test_never_executes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
