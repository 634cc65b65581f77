/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks a machine's table through its door: every state to every state. What the table allows must
 * lead there, everything else must end the process.
 * Needs cmocka.h before it.
 */
#ifndef TEST_WALK_H
#define TEST_WALK_H

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/moves.h"

/* Puts a machine into `from`, moves it, and says where it is then. */
typedef unsigned walk_fn(unsigned from, unsigned to);

/* In a process of its own, which may end at that; true: it did. */
static inline bool walk_aborts(walk_fn *move, unsigned from, unsigned to)
{
	struct rlimit none = {0, 0};
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &none);
		if (!freopen("/dev/null", "w", stderr))
			_exit(3);
		_exit(move(from, to) == to ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static inline void walk(const struct moves *m, walk_fn *move)
{
	unsigned n = moves_count(m);

	assert_true(n >= 2);
	for (unsigned from = 0; from < n; from++)
		for (unsigned to = 0; to < n; to++)
			if (walk_aborts(move, from, to) == moves_allowed(m, from, to))
				fail_msg("%s: from %s to %u is %s", m->machine, m->states[from], to,
				    moves_allowed(m, from, to) ? "refused" : "made");
}

#endif
