/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the keeper: the processes it owns, the worker it talks to, and the time. */
#ifndef KEEPER_INTERNAL_H
#define KEEPER_INTERNAL_H

#include <bsd/sys/queue.h>

#include "base/arena.h"
#include "base/data/idmap.h"
#include "base/moves.h"
#include "exec/confine/limits.h"
#include "exec/process.h"
#include "keeper/talk.h"

/*
 *   running --leader reaped--> emptying --nothing left--> over --released--> (forgotten)
 *   held (runs in another process) -----its worker is gone---> over
 *
 * The table is in ward.c; ward_move() makes every move.
 */
enum ward_state { WARD_RUNNING, WARD_EMPTYING, WARD_OVER, WARD_HELD, N_WARD_STATES };

/*
 *   serving --worker gone, keep--> alone --worker calls--> serving
 *   serving --worker gone, no keep; leave; bad message--> ending --nothing left--> (exit)
 *   alone --nothing left to run or to tell--> (exit)
 *
 * The table is in end.c; keeper_move() makes every move.
 */
enum phase { PHASE_SERVING, PHASE_ALONE, PHASE_ENDING };

/* What epoll gives back. */
enum watch_kind { WATCH_WORKER, WATCH_CALLS, WATCH_TIME, WATCH_CHILDREN, WATCH_LEADER, WATCH_TREE };

struct watch {
	enum watch_kind kind;
};

/* What is in the keeper's care: a process tree, or a task that runs in another one's process. */
struct ward {
	TAILQ_ENTRY(ward) entry;
	struct watch leader, tree; /* CONTAINER_OF gives the ward */
	uint64_t id;
	enum ward_state state;
	struct process process;
	bool limited; /* limits counts */
	struct limits_task limits;
	bool sandboxed;
	char *result_path; /* opened when it is over, with these rights */
	struct rights rights;
	int result_fd;
	int extra[KEEPER_EXTRA_MAX]; /* kept for the next worker; -1 */
	int n_extra;
	bool kept, tree_watched;
	int clean_looks;  /* emptying without a cgroup: so often nothing was found */
	int escape_looks; /* emptying with one: so often it was empty, but somebody had left it */
	enum kill_to term_to;
	int64_t started_ms, started_mono_ms;
	struct str note;
	uint64_t mark; /* what the worker said last; 0: nothing */
};

TAILQ_HEAD(ward_list, ward);

struct identities {
	struct keeper_identity *users, *groups;
	size_t n_users, n_groups;
};

struct keeper {
	enum phase phase;
	int epoll_fd, timer_fd, signal_fd, calls_fd;
	struct watch worker_watch, calls_watch, time_watch, children_watch;
	bool worker_writable_wanted;
	bool greeted; /* the worker has said open: it is told nothing before */
	struct talk worker;
	struct hand hand;
	struct limits_host limits;
	struct ward_list wards,
	    dead; /* dead: freed at the end of the turn, which may still name them */
	struct idmap by_id;
	size_t n_live;              /* running or emptying */
	struct arena arena, memory; /* of one message; of what open said */
	struct buf out;
	struct keeper_open o;
	struct identities ids;
	bool opened;
	uint32_t adoptions;
	int64_t deadline_ms; /* all must be over then; INT64_MAX */
	int64_t kill_ms;     /* ending: TERM becomes KILL; INT64_MAX: it has */
	int64_t give_up_ms;  /* ending: what does not die by then is left behind */
	int64_t alarm_ms;    /* for which the timer is set */
	bool deaf;           /* for the ends of children, until the next look */
	int64_t look_ms;     /* orphans are looked for, and buried; INT64_MAX: not needed */
};

/* main.c */
int64_t keeper_now_ms(void); /* CLOCK_BOOTTIME */
void keeper_watch(struct keeper *k, int fd, struct watch *w, uint32_t events);
void keeper_unwatch(struct keeper *k, int fd);
void keeper_listen(struct keeper *k); /* to the ends of children, again */
/* worker.c: what the worker says, and what it is told */
void worker_attach(struct keeper *k, int fd);
void worker_detach(struct keeper *k);
void worker_readable(struct keeper *k);
void worker_tell(struct keeper *k, const struct from_keeper *m, const int *fds, int n_fds);
void worker_flush(struct keeper *k);
/* open.c */
void keeper_open(struct keeper *k, const struct keeper_open *o);
void calls_listen(struct keeper *k);
void calls_accept(struct keeper *k);
/* ward.c */
extern const struct moves ward_moves;
void ward_move(struct keeper *k, struct ward *w, enum ward_state to);
void ward_start(struct keeper *k, const struct keeper_start *s, const int *fds, int n_fds);
void ward_hold(struct keeper *k, uint64_t id, struct str note);
void ward_signal(struct keeper *k, const struct keeper_signal *s);
void ward_release(struct keeper *k, struct ward *w);
void ward_leader_over(struct keeper *k, struct ward *w);
void ward_look(struct keeper *k, struct ward *w); /* is its tree gone? */
void ward_lost(struct keeper *k, struct ward *w);
struct ward *ward_find(const struct keeper *k, uint64_t id);
/* end.c */
extern const struct moves keeper_moves;
void keeper_move(struct keeper *k, enum phase to);
void end_begin(struct keeper *k, bool at_once);
void end_alone(struct keeper *k); /* the worker is gone, the tasks go on */
void end_time(struct keeper *k);
int64_t end_wake_ms(const struct keeper *k);
bool end_reached(const struct keeper *k);
void freeze_all(struct keeper *k, bool on);
/* files.c */
int open_as_task(const struct rights *r, const char *path, bool sandboxed);
/* users.c */
int identity_find(
    const struct keeper *k, const struct keeper_start *s, struct rights *ret, char *why, size_t n);
void identities_keep(struct keeper *k, const struct keeper_open *o);
/* orphans.c */
void orphans_bury(struct keeper *k);
bool orphans_end(struct keeper *k, const struct ward *w); /* true: found and signalled some */

#define KEEPER_TAG "REEVE_KEEPER_JOB" /* in the environment, to know one's orphans by */

#endif
