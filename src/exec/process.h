/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process of a task or plugin and all that came of it: one leader, its group or cgroup, its
 * pipes.
 *
 *   running --process_reap() true--> its leader is over, the rest is being killed
 *           --process_is_gone() true--> nothing is left; process_release()
 *
 * The caller watches pidfd and out[] for reading; this folder knows no event loop.
 */
#ifndef EXEC_PROCESS_H
#define EXEC_PROCESS_H

#include "exec/confine/cgroup.h"
#include "exec/spawn.h"
#include "model/run/settings.h"
#include "model/run/usage.h"

struct hand {                   /* shared by all processes of one worker */
	struct cgroups cgroups; /* dir_fd -1: process groups instead */
	int null_fd;
	int open_files; /* soft limit for the children; we take more for ourselves */
};

int hand_init(struct hand *h, const char *lock, bool want_cgroups, struct problem *ret_problem);
void hand_release(struct hand *h);

struct process {
	pid_t pid;
	int pidfd;
	int in;     /* writing end, when asked for; -1 */
	int out[2]; /* reading ends of stdout and stderr, non-blocking; -1 once closed */
	struct cgroup *cgroup;
	bool leads_group; /* false: it is in our own group, which must not be signalled */
	bool reaped;
	struct usage usage; /* once reaped */
	int exit_code;      /* -1: a signal ended it */
	int signal;
};

/* In place of a first descriptor. */
#define PROCESS_NULL (-1) /* /dev/null */
#define PROCESS_PIPE (-2) /* a pipe, whose other end is `in` */

/*
 * s: with its first descriptor (or one of the above) and those from 3 on; the rest is filled in.
 * cgroup: taken already, for its limits; NULL: one is taken.
 * 0, or ERR_IO: ret_failed and `why` (for people) tell; nothing is left behind then.
 */
int process_start(struct hand *h, struct spawn *s, struct cgroup *cgroup, struct process *ret,
    struct spawned *ret_failed, char *why, size_t why_size);
/*
 * To the leader, its group, or all there is. KILL to the cgroup ends it at once and for good; other
 * signals reach each process that is in it at the moment.
 */
void process_signal(struct process *p, int signal, enum kill_to to);
void process_kill(struct process *p); /* everything there is, by every means */
/* Is the leader over? Then its status is taken and what it left behind is killed. */
bool process_reap(struct process *p);
bool process_is_gone(const struct process *p); /* after process_reap(): is the cgroup empty too? */
void process_close(int *fd);
void process_release(struct hand *h, struct process *p);

/* Kills what an earlier instance with this lock left running, found by its environment. */
int exec_end_leftovers(const char *lock);

#define EXEC_LOCK_VARIABLE "REEVE_WORKER_LOCK"
/* What processes see of a lock: a hash. Free it. */
char *exec_lock_mark(const char *lock);

#endif
