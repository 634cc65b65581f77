/* SPDX-License-Identifier: Apache-2.0 */
/* Bare loops that make processes as Reeve does, and nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/internal.h"
#include "exec/spawn.h"

#define LOOPS_MAX 64

struct loop {
	enum loop_kind kind;
	int parent; /* where cgroups are made; -1: none */
	int cgroup; /* with LOOP_SAME_CGROUP */
	int null;
	char name[32]; /* of its cgroup */
};

static char *const true_argv[] = {"/bin/true", NULL}, *const no_env[] = {NULL};

int limit_loops(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus < 1 ? 1 : cpus > LOOPS_MAX ? LOOPS_MAX : (int)cpus;
}

static void read_to_end(int fd)
{
	char sink[4096];

	while (read(fd, sink, sizeof sink) > 0)
		;
	close(fd);
}

/* A fresh cgroup with this process in it; it may have ended before it got there. */
static void into_cgroup(int parent, const char *name, pid_t pid)
{
	char path[80], text[16];
	int fd, n;

	mkdirat(parent, name, 0755);
	snprintf(path, sizeof path, "%s/cgroup.procs", name);
	fd = openat(parent, path, O_WRONLY | O_CLOEXEC);
	n = snprintf(text, sizeof text, "%d", (int)pid);
	if (fd >= 0 && write(fd, text, (size_t)n) != n)
		errno = 0;
	close(fd);
}

static pid_t start_plain(int out, int err)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_adddup2(&actions, err, 2);
	rc = posix_spawn(&pid, true_argv[0], &actions, NULL, true_argv, no_env);
	posix_spawn_file_actions_destroy(&actions);
	return rc ? -1 : pid;
}

/* Born in the cgroup, as Reeve's tasks are: the same call. */
static pid_t start_inside(const struct loop *l, int out, int err)
{
	struct spawn s = {.program = {.argv = (const char *const *)true_argv,
	                      .env = (const char *const *)no_env,
	                      .umask = 022},
	    .fds = {l->null, out, err},
	    .n_fds = 3,
	    .cgroup_fd = l->cgroup};
	struct spawned made;

	if (spawn_process(&s, &made) < 0)
		return -1;
	close(made.pidfd);
	return made.pid;
}

static int turn_without(void)
{
	pid_t pid;

	if (posix_spawn(&pid, true_argv[0], NULL, NULL, true_argv, no_env) != 0)
		return -1;
	waitpid(pid, NULL, 0);
	return 0;
}

static int loop_turn(const struct loop *l)
{
	int out[2], err[2];
	pid_t pid;

	if (l->kind == LOOP_NOTHING)
		return turn_without();
	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
		return -1;
	pid = l->kind == LOOP_SAME_CGROUP ? start_inside(l, out[1], err[1])
	                                  : start_plain(out[1], err[1]);
	close(out[1]);
	close(err[1]);
	if (pid > 0 && l->kind == LOOP_FRESH_CGROUP)
		into_cgroup(l->parent, l->name, pid);
	read_to_end(out[0]);
	read_to_end(err[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (l->kind == LOOP_FRESH_CGROUP)
		unlinkat(l->parent, l->name, AT_REMOVEDIR);
	return pid > 0 ? 0 : -1;
}

static int loop_run(struct loop *l, int64_t n)
{
	int r = 0;

	l->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (l->kind == LOOP_SAME_CGROUP) {
		mkdirat(l->parent, l->name, 0755);
		l->cgroup = openat(l->parent, l->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	for (int64_t i = 0; i < n && r == 0; i++)
		r = loop_turn(l);
	if (l->kind == LOOP_SAME_CGROUP)
		unlinkat(l->parent, l->name, AT_REMOVEDIR);
	return r;
}

double limit_spawn_seconds(int64_t n, enum loop_kind kind, int cgroup_parent, int loops)
{
	double start = bench_seconds();
	pid_t pids[LOOPS_MAX];

	for (int i = 0; i < loops; i++) {
		struct loop l = {.kind = kind, .parent = cgroup_parent, .cgroup = -1};

		snprintf(l.name, sizeof l.name, "loop-%d", i);
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(loop_run(&l, n / loops + (i < n % loops)) ? 1 : 0);
	}
	for (int i = 0; i < loops; i++)
		waitpid(pids[i], NULL, 0);
	return bench_seconds() - start;
}
