/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's side: a keeper is made, or one that an earlier worker left is taken over; processes
 * are started in its care. Only making, adopting, closing and freezing wait. The caller
 * watches keeper_fd() for reading, and for writing while keeper_is_waiting().
 */
#ifndef KEEPER_CLIENT_H
#define KEEPER_CLIENT_H

#include <bsd/sys/queue.h>
#include <sys/types.h>

#include "base/data/idmap.h"
#include "keeper/talk.h"

struct keeper_options {
	const char *lock;   /* what marks this worker's processes */
	const char *socket; /* keep: where the next worker finds the keeper; NULL: not kept */
	int held_fd;        /* stays open in the keeper as long as it works; -1 */
	bool use_cgroups;
	int64_t term_wait_ms;
	uid_t worker_uid; /* the worker's, once it has given up its rights */
	const struct keeper_identity *users, *groups;
	size_t n_users, n_groups;
	uint64_t capabilities; /* what tasks of users other than root may keep */
	uint64_t instance;
	int64_t start; /* as the worker counts them: see model/objects/worker.h */
};

struct kept;

struct kept_fns {
	void (*started)(struct kept *k); /* pid, in, out[] are set */
	/* code: 126, 127; -1: nothing was made. It is forgotten already. */
	void (*not_started)(struct kept *k, int code, struct str why);
	void (*over)(struct kept *k); /* nothing is left of it; exit_code, signal, usage are set */
};

/* One process tree in the keeper's care; the owner embeds it. */
struct kept {
	TAILQ_ENTRY(kept) entry;
	struct keeper_client *client; /* NULL: there is none */
	uint64_t id;
	const struct kept_fns *fns;
	pid_t pid; /* 0: not yet */
	int in;    /* the owner's, as are out[]; -1 */
	int out[2];
	bool is_over;
	bool lost; /* over, because its keeper died: how it ended nobody saw */
	int exit_code, signal;
	struct usage usage;
	int result_fd;       /* once over; -1: none */
	const char *warning; /* while started() runs; NULL */
};

TAILQ_HEAD(kept_list, kept);

/* Left by an earlier worker. */
struct kept_adopted {
	uint64_t id;
	struct str note;
	uint64_t mark;
	int32_t pid; /* 0: it ran in another process */
	int64_t started_ms, started_mono_ms;
	bool is_over;
	struct keeper_over over;
	int fds[KEEPER_FDS_MAX]; /* out, err, 3, 4, … */
	int n_fds;
	int result_fd; /* -1: none */
};

struct keeper_client {
	struct talk talk;
	pid_t pid; /* of a keeper that we made; 0: we took it over */
	struct idmap by_id;
	struct kept_list all;
	uint64_t last_id;
	struct arena arena, memory;
	struct buf out;
	int64_t told_deadline_ms;
	bool keeps;
	bool frozen; /* the keeper said that it is frozen */
	uint64_t pinged, ponged;
	/* what the keeper said */
	struct keeper_opened opened;
	struct kept_adopted *adopted;
	size_t n_adopted, cap_adopted;
};

/* False: there is none to take over; then make one. */
bool keeper_adopt(struct keeper_client *c, const struct keeper_options *o);
int keeper_make(
    struct keeper_client *c, const struct keeper_options *o, struct problem *ret_problem);
/* The keeper died, and what it had in its care is ended: each owner is told so, at last. */
void keeper_lost(struct keeper_client *c);
/* leave: everything that is left is ended, and the keeper goes; waits for that up to wait_ms.
 * Else the keeper thinks that we died. */
void keeper_close(struct keeper_client *c, bool leave, int64_t wait_ms);
int keeper_fd(const struct keeper_client *c);
bool keeper_is_waiting(const struct keeper_client *c);
bool keeper_writable(struct keeper_client *c); /* false: it is gone */
bool keeper_readable(struct keeper_client *c); /* calls the owners back; false: it is gone */

/* The id in s is filled in. False: the keeper is gone (keeper_readable will say so). */
bool keeper_start(struct keeper_client *c, struct keeper_start *s, const int *fds, int n_fds,
    struct kept *k, const struct kept_fns *fns);
/* Takes over what an earlier worker left: k is filled as if it had been started, without a call. */
void kept_adopt(
    struct keeper_client *c, struct kept *k, struct kept_adopted *a, const struct kept_fns *fns);
uint64_t keeper_hold(struct keeper_client *c, struct str note);
void keeper_release(struct keeper_client *c, uint64_t id);
void kept_signal(struct kept *k, int signal, enum kill_to to);
/* What the next worker shall know of it; an older keeper does not remember it. */
void kept_mark(struct kept *k, uint64_t mark);
/* No more calls about it, its pipes are closed. What still lives is killed. Its record stays with
 * the keeper until keeper_release() where such records are kept. */
void kept_drop(struct kept *k);
/* The same, but it lives on: we leave, and it does not. */
void kept_leave(struct kept *k);
/* All must be over at that moment (CLOCK_BOOTTIME, ms). Cheap to call often. */
void keeper_deadline(struct keeper_client *c, int64_t by_ms);
/* How many of these in a row it has not answered. */
uint64_t keeper_ping(struct keeper_client *c);
pid_t keeper_pid(const struct keeper_client *c); /* 0: not known */
void keeper_freeze(struct keeper_client *c, bool on, int64_t wait_ms);

/* client_launch.c: a descriptor for talking to it, or -1 with a problem. */
int keeper_launch(int held_fd, pid_t *ret_pid, struct problem *ret_problem);

#endif
