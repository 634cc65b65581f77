/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cgroups, version 2, without controllers: each task's processes live in a directory of their own,
 * so that all of them can be ended together, whatever they forked and wherever they hid.
 * Directories are used again once empty and as they were when they were new, because making and
 * removing them costs as much as a small process.
 */
#ifndef EXEC_CGROUP_H
#define EXEC_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define CGROUP_VALUES 5

struct cgroup {
	struct cgroup *next; /* free, or waiting to become empty */
	int dir_fd;
	int events_fd;
	int value_fds[CGROUP_VALUES]; /* of the files that a look at it reads; 0: not opened yet */
	unsigned number;
	bool killed; /* not to be used again */
};

struct cgroups {
	char *path;
	char *inside; /* the same as /proc/PID/cgroup names it */
	int dir_fd;   /* -1: not available */
	struct cgroup *free;
	unsigned n_free, made;
	int controllers_fd; /* which ones are handed down to ours; 0: not opened yet */
};

/*
 * Under our own cgroup, a directory whose name comes from `lock`. What an earlier instance left in
 * it is killed. ERR_IO with a problem when the host does not let us: then use process groups.
 */
int cgroups_open(struct cgroups *g, const char *lock, struct problem *ret_problem);
void cgroups_close(struct cgroups *g);         /* removes what is empty */
struct cgroup *cgroup_take(struct cgroups *g); /* NULL with errno */
bool cgroup_is_empty(const struct cgroup *c);
void cgroup_kill(struct cgroup *c);                     /* everything in it, at once */
void cgroup_signal(const struct cgroup *c, int signal); /* each that is in it now */
bool cgroups_freeze(const struct cgroups *g, bool on);  /* all of them stand still, or go on */
void cgroup_put(struct cgroups *g, struct cgroup *c);   /* must be empty */

/* In which of them a process lives, by its number; 0: in none of them. */
unsigned cgroup_number_of(const struct cgroups *g, pid_t pid);

/* Ends whatever lives in the directory of that lock, and removes it. False: we may not, and
 * somebody lives in there. */
bool exec_end_cgroups(const char *lock);

/*
 * Where we move to, below the cgroup we were started in, to be able to hand its controllers down
 * (see limits_v2.c). Whoever is there counts as being one above.
 */
#define CGROUP_SELF "reeve-self"

/* A short name derived from any text, for directories. */
uint64_t exec_hash(const char *text);

#endif
