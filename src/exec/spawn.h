/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes one process. It shares our memory until it executes (nothing is copied, however big we
 * are), leads a session of its own, dies with us, and starts with nothing of ours but what is
 * given.
 */
#ifndef EXEC_SPAWN_H
#define EXEC_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SPAWN_FDS_MAX 4

struct spawn {
	const char *const
	    *argv; /* argv[0] is looked for in the PATH of envp, unless it has a slash */
	const char *const *envp;
	const char *cwd;        /* NULL: "/" */
	int fds[SPAWN_FDS_MAX]; /* become 0, 1, 2, 3 */
	int n_fds;
	mode_t umask;
	int open_files; /* soft limit on descriptors; 0: ours */
	int cgroup_fd;  /* a cgroup v2 directory to be born in; -1: ours */
};

enum spawn_step { SPAWN_OK, SPAWN_CLONE, SPAWN_SETUP, SPAWN_CHDIR, SPAWN_EXEC };

struct spawned {
	pid_t pid;
	int pidfd;            /* close-on-exec */
	enum spawn_step step; /* what failed */
	int error;            /* its errno */
};

/* 0, or ERR_IO: ret->step and ret->error say why; then nothing is left behind. */
int spawn_process(const struct spawn *s, struct spawned *ret);
/* No process came to be, so nothing of the program was tried: that is the machine's fault. */
#define SPAWN_NOT_MADE (-1)
/* 127 when there is no such program, 126 when it can not be executed; SPAWN_NOT_MADE. */
int spawn_exit_code(const struct spawned *s);
/* "exec /nope: No such file or directory" */
void spawn_explain(const struct spawn *s, const struct spawned *failed, char *out, size_t size);

#endif
