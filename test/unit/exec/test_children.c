/* SPDX-License-Identifier: Apache-2.0 */
/* Ending one's children, some of whom have more rights than we have. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "exec/children.h"

#define NOBODY 65534

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* Root: ends by itself a little later, or never. Below it stands one that is nobody's. */
static void start_root_with_child(bool stays)
{
	if (fork() > 0)
		return;
	if (fork() == 0) {
		if (setuid(NOBODY) == 0)
			pause();
		_exit(1);
	}
	if (stays)
		pause();
	sleep_ms(50);
	_exit(0);
}

/* In a process of its own, which gives up its rights: 0, children are left; 1, none is. */
static int end_as_nobody(bool stays)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		start_root_with_child(stays);
		_exit(setuid(NOBODY) < 0 ? 99 : exec_end_children(20000));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_one_that_ends_by_itself_is_waited_for(void **state)
{
	if (geteuid() != 0)
		skip();
	assert_int_equal(end_as_nobody(false), 1);
}

static void test_one_with_more_rights_that_stays_is_left(void **state)
{
	siginfo_t info;

	if (geteuid() != 0)
		skip();
	assert_int_equal(end_as_nobody(true), 0);
	assert_true(exec_end_children(20000)); /* they are ours now, and we have the rights */
	assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOHANG), -1);
}

/* What a test leaves becomes ours. */
static int reap(void **state)
{
	return exec_end_children(20000) ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_teardown(test_one_that_ends_by_itself_is_waited_for, reap),
	    cmocka_unit_test_teardown(test_one_with_more_rights_that_stays_is_left, reap),
	};

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
