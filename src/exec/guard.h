/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small process beside the worker that outlives it, however it dies, to end what it leaves
 * running: the parent-death signal reaches only the leaders of its processes.
 */
#ifndef EXEC_GUARD_H
#define EXEC_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct guard {
	int fd; /* the only writing end: it closes with us; -1: there is no guard */
	pid_t pid;
};

/*
 * To be called early, while we are small and have one thread. held_fd stays open in the guard as
 * long as it works (a lock on it tells the next instance to wait); -1: none.
 */
int guard_start(struct guard *g, const char *lock, int held_fd, struct problem *ret_problem);
/* dismissed: nothing is left to end. Else the guard does its work, as if we had been killed. */
void guard_release(struct guard *g, bool dismissed);

#endif
