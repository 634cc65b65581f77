/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes one process. It shares our memory until it executes (nothing is copied, however big we
 * are), leads a session of its own, and starts with nothing of ours but what is given. One that
 * becomes another user shares nothing: as soon as it is that user, others of his may stop it.
 */
#ifndef EXEC_SPAWN_H
#define EXEC_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "exec/rights.h"
#include "model/run/program.h"

#define SPAWN_FDS_MAX 9
#define SPAWN_JOINS_MAX 4
#define SPAWN_WAIT_MS 5000 /* for the child to execute; we do nothing else meanwhile */

struct spawn {
	struct program program;
	int fds[SPAWN_FDS_MAX]; /* become 0, 1, 2, 3, … */
	int n_fds;
	int open_files;             /* soft limit on descriptors; 0: ours */
	int cgroup_fd;              /* a cgroup v2 directory to be born in; -1: ours */
	int joins[SPAWN_JOINS_MAX]; /* files into which it writes "0": cgroups of version 1 */
	int n_joins;
	struct rights rights;
};

enum spawn_step {
	SPAWN_OK,
	SPAWN_CLONE,
	SPAWN_SETUP,
	SPAWN_JOIN,
	SPAWN_LIMIT,
	SPAWN_RIGHTS,
	SPAWN_CHDIR,
	SPAWN_EXEC,
	SPAWN_WAIT /* the child did not execute in time */
};

struct spawned {
	pid_t pid;
	int pidfd;            /* close-on-exec */
	enum spawn_step step; /* what failed */
	int error;            /* the failed step's errno */
};

/* 0, or ERR_IO: ret->step and ret->error say why; then nothing is left behind. */
int spawn_process(const struct spawn *s, struct spawned *ret);
/* No process came to be, so nothing of the program was tried: that is the machine's fault. */
#define SPAWN_NOT_MADE (-1)
/* 127 when there is no such program, 126 when it cannot be executed; SPAWN_NOT_MADE. */
int spawn_exit_code(const struct spawned *s);
/* "exec /nope: No such file or directory" */
void spawn_explain(const struct spawn *s, const struct spawned *failed, char *out, size_t size);

#endif
