/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits on memory, processor and number of processes for everything that comes of one task
 * together. By controllers of cgroup v2 where they are handed to us, by those of version 1 where
 * that is what the host has, else by rlimits, which are less: docs/LIMITS.md.
 *
 * Used by a small process without threads: nothing here but system calls and a little memory.
 */
#ifndef EXEC_LIMITS_H
#define EXEC_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/run/settings.h"
#include "model/run/usage.h"

enum limit_on { ON_MEMORY, ON_CPU, ON_PIDS, N_LIMITS };
enum limit_by { BY_NOTHING, BY_V2, BY_V1, BY_RLIMIT, N_LIMIT_BYS };

extern const char *const limit_on_names[N_LIMITS];    /* memory cpu pids */
extern const char *const limit_by_names[N_LIMIT_BYS]; /* for people: "cgroup v2" … */

#define LIMITS_LATE_MAX 32
#define LIMITS_POOL_MAX 64

struct limits_host {
	enum limit_by by[N_LIMITS];
	char why[N_LIMITS][200];        /* what stood in the way of version 2; for people */
	int v1_fd[N_LIMITS];            /* our directory in that controller's hierarchy; -1 */
	char *v1_path[N_LIMITS];        /* the same, to be removed at the end */
	bool tree_kill;                 /* there is a v2 tree: cgroup.kill ends a task */
	char kill_why[200];             /* why not; filled by limits_look() */
	unsigned made;                  /* numbers our directories */
	unsigned late[LIMITS_LATE_MAX]; /* directories that could not be removed in time */
	unsigned n_late;
	struct {
		unsigned number;
		bool v1[N_LIMITS];
	} pool[LIMITS_POOL_MAX]; /* empty directories of version 1, to be used again */
	unsigned n_pool;
};

/*
 * Once, before the first task. v2_dir_fd: struct cgroups' directory, below which the tasks' are
 * made; -1: there is none. What an earlier instance left in hierarchies of version 1 is ended and
 * removed. Never fails: what cannot be limited is BY_NOTHING.
 */
void limits_probe(struct limits_host *h, const char *lock, int v2_dir_fd);
/* What a process that died left in hierarchies of version 1; exec_end_cgroups() is for version 2.
 */
void limits_end(const char *lock);
/* Only to tell: changes nothing that stays, and asks for what a worker started here would get. */
void limits_look(struct limits_host *h);
void limits_release(struct limits_host *h); /* removes our directories */
/* One line for people: "memory: cgroup v1 (in /sys/fs/cgroup/memory)", with the reason if worse. */
void limits_describe(const struct limits_host *h, enum limit_on on, char *out, size_t size);

struct limits_task {
	/* given */
	int v2_dir_fd; /* the task's own directory of struct cgroup; -1 */
	bool as_root;  /* the processes are root's: RLIMIT_NPROC does not hold them */
	/* taken */
	int join_fds[N_LIMITS]; /* the new process writes "0" into each before it executes */
	int n_join;
	int64_t address_space; /* RLIMIT_AS to be set by the new process; 0: none */
	int64_t processes;     /* RLIMIT_NPROC; 0: none */
	bool spent;            /* the v2 directory keeps its counts: do not use it again */
	/* own */
	enum limit_by by[N_LIMITS];
	bool v1[N_LIMITS]; /* the limit has a directory there */
	unsigned number;
};

/*
 * 0, or an error that says what cannot be limited, why, and what to do; then nothing is held.
 * With 0 and a text in p->what, some limit is not held as asked for (policy "warn", or an rlimit in
 * place of a cgroup): tell the user. l NULL or without limits is fine.
 */
int limits_take(
    struct limits_host *h, const struct run_limits *l, struct limits_task *t, struct problem *p);
void limits_joined(struct limits_task *t); /* the process is there: the descriptors go */
/* After the end: peak memory and kills for lack of it, where they were measured. */
void limits_read(struct limits_host *h, const struct limits_task *t, struct usage *u);
void limits_put(struct limits_host *h, struct limits_task *t);

/*
 * Where there is no v2 tree, every task gets a directory of version 1 if there is any, and these
 * replace cgroup_kill() and cgroup_is_empty(). Kill again until it is empty. False: there is no
 * such directory.
 */
bool limits_kill(struct limits_host *h, const struct limits_task *t);
bool limits_is_empty(struct limits_host *h, const struct limits_task *t);

#endif
