/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small process beside the worker that outlives it, however it dies, to end what it leaves
 * running: the parent-death signal reaches only the leaders of its processes. It also ends all of
 * them when the worker, though alive, does not: one that is stopped can not watch its limits.
 */
#ifndef EXEC_GUARD_H
#define EXEC_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define GUARD_WORK_MS 10000 /* how long the guard tries to end what does not end */

struct guard {
	int fd; /* the only writing end: it closes with us; -1: there is no guard */
	pid_t pid;
	int64_t told_ms; /* the last deadline that it knows */
};

/*
 * To be called early, while we are small and have one thread. held_fd stays open in the guard as
 * long as it works (a lock on it tells the next instance to wait); -1: none.
 */
int guard_start(struct guard *g, const char *lock, int held_fd, struct problem *ret_problem);
/*
 * All processes must be over at that moment (CLOCK_BOOTTIME, ms) unless another is told before;
 * INT64_MAX: none. Never waits. Cheap to call often: while the moment is far away, changes of less
 * than a second to the later are not passed on.
 */
void guard_deadline(struct guard *g, int64_t by_ms);
/*
 * dismissed: nothing is left to end. Else the guard does its work, as if we had been killed.
 * wait_ms: how long to wait for that.
 */
void guard_release(struct guard *g, bool dismissed, int64_t wait_ms);

#endif
