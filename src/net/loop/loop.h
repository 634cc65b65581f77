/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop: timers, signals, descriptors, posts from other threads, and deferred work that
 * runs after everything else of the present turn (group commit hangs on that).
 * Everything but loop_post() belongs to the loop's own thread.
 */
#ifndef NET_LOOP_H
#define NET_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct loop_timer;
struct loop_deferred;
struct loop_watch;
struct loop_signal;

typedef void loop_fn(void *arg);
typedef void loop_fd_fn(int fd, bool readable, bool writable, void *arg);
typedef void loop_signal_fn(int signo, void *arg);

struct loop *loop_new(void);
/* Changes reach the kernel at once: for descriptors whose open file others may hold, too. */
struct loop *loop_new_at_once(void);
void loop_free(struct loop *l);
void loop_run(struct loop *l); /* until loop_stop() */
void loop_stop(struct loop *l);

/*
 * How long the loop was busy before it polled again, in processor time: whoever else has something
 * to say waits for so long. A machine that is busy with other work changes nothing about it. Polls
 * that follow each other within a share of LOOP_SHARE_US count as one.
 */
struct loop_pace {
	uint64_t turns;
	uint64_t long_turns; /* of more than LOOP_LONG_US */
	int64_t longest_us;
};
#define LOOP_LONG_US 10000
const struct loop_pace *loop_pace(const struct loop *l);

/*
 * What is ready at once is handled for so long; then the loop polls, and the rest goes on in its
 * order, before what that poll finds. To be asked by whoever handles one of many: the loop itself
 * knows only of its own timers, watches and posts. True: the share is used up, begin nothing more
 * that can wait.
 */
#define LOOP_SHARE_US 4000
bool loop_share_is_used(struct loop *l);

/* From any thread: run fn(arg) on the loop's thread, soon, in the order posted. */
void loop_post(struct loop *l, loop_fn *fn, void *arg);

/* One-shot timers; set again to repeat. Setting a set timer moves it. Negative ms: disarm. */
struct loop_timer *loop_timer_new(struct loop *l, loop_fn *fn, void *arg);
void loop_timer_set(struct loop_timer *t, int64_t ms);
void loop_timer_free(struct loop_timer *t);

/* Runs once each time that it is armed, after all I/O that was ready in this turn has been handled.
 */
struct loop_deferred *loop_deferred_new(struct loop *l, loop_fn *fn, void *arg);
void loop_deferred_arm(struct loop_deferred *d);
void loop_deferred_free(struct loop_deferred *d);

struct loop_signal *loop_signal_new(struct loop *l, int signo, loop_signal_fn *fn, void *arg);
void loop_signal_free(struct loop_signal *s);

/* Level-triggered. The descriptor stays the caller's. */
struct loop_watch *loop_watch_new(struct loop *l, int fd, loop_fd_fn *fn, void *arg);
void loop_watch_set(struct loop_watch *w, bool read, bool write);
void loop_watch_free(struct loop_watch *w);

#endif
