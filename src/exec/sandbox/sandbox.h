/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command inside bubblewrap: its own processes, mounts, network and /tmp, a root that cannot be
 * written, and a filter on system calls. docs/SANDBOX.md says what that is good for.
 *
 *   keeper ── bwrap, outside: waits and hands on the exit code (128 + N for signal N)
 *               └─ bwrap, process 1 inside: reaps whoever is left
 *                    └─ the command, leader of a session of its own
 *
 * A signal that ends the outer one ends everything inside at once, without a warning to the
 * command. To ask it to stop, use sandbox_signal().
 */
#ifndef EXEC_SANDBOX_H
#define EXEC_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/run/settings.h"

#define SANDBOX_FDS_MAX 3

struct sandbox_spec {
	const struct run_sandbox *sandbox;
	const char *const *argv, *const *envp; /* the command's */
	const char *cwd;                       /* as seen inside; NULL: "/" */
	const char *const *hidden; /* files and directories that are empty inside; absolute */
	size_t n_hidden;
	const char *const *own; /* the worker's, for this task: writable, even within hidden ones */
	size_t n_own;
	const struct str *capabilities; /* kept: as in struct run_settings */
	size_t n_capabilities;
	bool keep_capabilities;
	bool privileged; /* starts as root with all capabilities: no user namespace is needed */
	int first_fd;    /* the numbers below this are taken by others; usually 3 */
	int filter_fd;   /* of sandbox_filter_make(); -1: none */
};

#define SANDBOX_STATUS_AT 1 /* among the descriptors that it adds */

struct sandboxed { /* what to start in its place; lives in the arena, the descriptors do not */
	const char *const *argv, *const *envp;
	int fds[SANDBOX_FDS_MAX]; /* become first_fd, first_fd + 1 … */
	int n_fds;
	int status_fd; /* one of them; kept until the end, for sandbox_ran() */
};

/* ERR_INVALID: a path that cannot be had inside, or there is no bubblewrap. */
int sandbox_prepare(const struct sandbox_spec *s, struct arena *a, struct sandboxed *ret,
    struct problem *ret_problem);
void sandbox_started(struct sandboxed *b); /* the process is there: only the status stays open */
void sandbox_release(struct sandboxed *b);
/*
 * After the end: did the command come to be? If not, bubblewrap failed (exit code 1), or could not
 * execute it; what it wrote to standard error, "bwrap: …", says why.
 */
bool sandbox_ran(int status_fd);

/*
 * Is that path outside the very file that it is inside? So it is with what was given to be written,
 * unless it is hidden, and with no link in the path.
 */
bool sandbox_is_shared(
    const struct run_sandbox *b, const char *const *hidden, size_t n_hidden, const char *path);

/* To the command and its process group, by what the outer process has for children. */
bool sandbox_signal(pid_t outer, int signal);

/* Where bubblewrap is, or NULL. Never looked for in the task's PATH. */
const char *sandbox_program(void);
/* Tries it. False: `why` says what is missing, and what to do. */
bool sandbox_available(char *why, size_t size);

/* The filter on system calls as BPF in a sealed memfd, made once; ERR_INTERNAL when it cannot. */
int sandbox_filter_make(int *ret_fd, struct problem *ret_problem);

#endif
