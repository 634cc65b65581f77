/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runs tasks, for its neighbours: tasks in memory, their queues and windows, holds and doubts.
 *
 * Memory holds the live tasks only, and of a deep queue only the head: see window.c for the rule
 * that keeps this exact. A task that leaves memory while a read of the store is under way stays
 * behind as a ghost until that read has come back, so an old picture never beats a newer one.
 */
#ifndef CORE_RUN_H
#define CORE_RUN_H

#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

#include "core/effects.h"
#include "core/event.h"
#include "core/object.h"
#include "core/run/shape.h"
#include "core/timer.h"
#include "model/task/deeds.h"

struct core;
struct pending;
struct worker;

struct task {
	/* what nearly every move touches comes first, up to the first members of the row */
	struct queue *queue;
	struct worker *worker; /* the one that the task is dispatched to */
	struct window *window; /* the one that the task waits in */
	struct shape *shape;   /* while it is in the ready window; NULL: it needs nothing */
	struct shape *charged; /* while it is dispatched: what it holds; NULL: nothing */
	uint64_t ghost_read;   /* ghosts: the newest read when it left; 0: not a ghost */
	uint64_t batch_seq;    /* the batch that holds a row of it, */
	size_t batch_row;      /* and which one: further changes go into the same row */
	struct window_key key; /* in that window */
	RB_ENTRY(task) in_window;
	TAILQ_ENTRY(task) on_worker;
	struct task_row row; /* the row's strings are owned: see task_new() */
	RB_ENTRY(task) in_shape;
	TAILQ_ENTRY(task) in_ghosts;
	uint64_t seen;      /* number of the hello that named it */
	int64_t ordered_ms; /* monotonic: its run was sent, and no word has come since; 0: it has */
	int64_t output_max; /* what the run named; 0: not known to this process */
	bool unsure;        /* … for so long that nobody knows whether it was started */
	int64_t hold_until_ms;    /* monotonic: its lost worker may still be ending it; 0: no */
	int64_t hold_then_due_ms; /* and when it is due after that; 0: at once */
	bool hold_is_known;       /* the task was lost since it came into memory */
	struct timer hold;        /* monotonic: while it waits for that, outside of any window */
	TAILQ_ENTRY(task) in_hold;
	bool has_result; /* the row came with a result, which is not kept */
	char *strings;   /* spec strings, one allocation */
	char *reason, *history, *deeds;
};

RB_HEAD(task_tree, task);
TAILQ_HEAD(task_list, task);

/* The head of a queue, in order; what lies beyond is in the store only. */
struct window {
	struct task_tree tree;
	struct queue *queue;
	bool is_due; /* ordered by due time, else by the queue's order */
	size_t n, bytes;
	bool complete;     /* nothing lies beyond */
	uint64_t reading;  /* number of the read under way; 0: none */
	uint32_t limit;    /* of that read */
	bool is_from_head; /* the read begins at the very head, else after `from` */
	struct window_key from;
};

/*
 *   none --something may have changed--> rotation --nothing to start, at its limit--> none
 *                                         ^    |
 *                        a worker has room|    |no worker has room
 *                                         |    v
 *                                         stalled
 *
 * The table is in queue.c; queue_line() makes every move.
 */
enum line { LINE_NONE, LINE_ROTATION, LINE_STALLED };

struct queue {
	struct object object;
	struct queue_row row; /* the row's strings are owned, in `strings` */
	char *strings;
	struct window ready, due;
	int64_t n_queued, n_delayed, n_held, n_claimed, n_running;
	int64_t n_on_hold;    /* of the delayed ones; in memory, but in no window: see hold.c */
	bool delayed_unknown; /* after a start, until the store's delayed tasks were read */
	struct shapes shapes; /* what its tasks need, and the workers that may have that */
	TAILQ_ENTRY(queue) in_line;
	enum line line;
	struct task_list on_hold; /* in no order: see hold.c */
	struct timer wake;        /* wall clock: first due task, or end of a pause */
	uint64_t counts_seq;      /* batch that holds its counters */
	size_t counts_row;
};

TAILQ_HEAD(queue_list, queue);

/* task.c: the one door */
struct task *task_new(struct core *c, const struct task_row *row);
struct task *task_find(const struct core *c, rid id);
void task_insert(struct core *c, struct task *t, struct task_row *row, struct effects *out);
void task_move(struct core *c, struct task *t, int to, struct str reason, struct effects *out);
void task_save(struct core *c, struct task *t, struct effects *out);
void task_set_reason(struct task *t, struct str reason);
void task_set_history(struct task *t, struct str history);
/* What an operator does to it: who, and why, before it is saved. */
void task_note_deed(struct core *c, struct task *t, enum deed_verb verb, int32_t status,
    const struct event *ev, struct effects *out);
/* Ordered, but certainly never started. May free it. */
void task_give_back(
    struct core *c, struct task *t, struct str reason, int64_t delay_ms, struct effects *out);
/* An ended task, with the output that its row holds, begins anew. May free it. */
void task_begin_anew(
    struct core *c, struct task *t, const struct task_row *stored, struct effects *out);
/* The dispatched task is never ordered again: what it runs need not stay in memory. */
void task_drop_body(struct task *t);
/* Out of memory: it is ended, or the store knows all about it. May free it. */
void task_forget(struct core *c, struct task *t);
void task_unghost(struct core *c, struct task *t);
void ghosts_reap(struct core *c);
void task_free(struct core *c, struct task *t);
/* A queued task goes where it belongs: a window, or the store only. May free it. */
void task_enqueue(struct core *c, struct task *t, struct effects *out);
/* The task is the worker's, and holds there what it was charged with. */
void task_attach(struct core *c, struct task *t, struct worker *w, struct str charged);
/* A further attempt, on that worker: what is known of the one before it goes. */
void task_begin_attempt(
    struct core *c, struct task *t, struct worker *w, int64_t token, struct str charged);
void task_detach(struct core *c, struct task *t);
int32_t task_max_attempts(const struct task *t);
int64_t task_timeout_ms(const struct task *t);
/* The attempt failed in some way: another one with backoff, or the given end. May free it. */
void task_end_attempt(struct core *c, struct task *t, int status, struct str reason, bool may_retry,
    struct effects *out);
/* The same for a lost worker's: another attempt only after the hold. */
void task_end_lost(
    struct core *c, struct task *t, struct str reason, int64_t hold_ms, struct effects *out);
/* WISH_CANCEL or WISH_FAIL. */
void task_wish(struct task *t, enum task_wish wish);
/* The dispatched task is to end: its worker is told, again with each of its beats. */
void task_tell_end(
    struct core *c, struct task *t, enum task_wish wish, struct str reason, struct effects *out);
/* Why it was asked for: a task that is told keeps that until it has ended. */
struct str task_told_why(const struct task *t);
/* How it ends then. Who failed a job said why: that goes before what `reason` says. */
int task_told_end(const struct task *t, struct str *reason);
/* command.c: as an operator does it: what waits has ended then, what runs is told. May free it. */
struct outcome task_call_off(
    struct core *c, struct task *t, const struct event *ev, struct effects *out);
/* A task that was only loaded to be looked at goes back. May free it. */
void task_put_back(struct core *c, rid id, struct effects *out);
/* The order of a run is not written before it is sent. */
bool task_is_volatile(const struct core *c, const struct task *t);

/* window.c */
void window_init(struct window *w, struct queue *q, bool is_due);
bool window_wants(const struct window *w, const struct task_row *row);
void window_put(struct core *c, struct window *w, struct task *t);
void window_del(struct core *c, struct task *t);
struct task *window_first(struct window *w);
struct task *window_last(struct window *w);
struct task *window_next(struct task *t);
struct task *window_from(struct window *w, struct window_key key); /* at or after it */
void window_trim(struct core *c, struct window *w);
void window_refill(struct core *c, struct window *w, struct effects *out);
void window_clear(struct core *c, struct window *w);
void window_read(struct core *c, const struct event *ev, struct effects *out);
uint64_t read_begin(struct core *c);
void read_end(struct core *c, uint64_t number);

/* queue.c */
struct queue *queue_find(const struct core *c, rid id);
void queue_count(struct queue *q, const struct task_state *s, int status, int delta);
void queue_count_end(struct core *c, struct queue *q, int status, struct effects *out);
int64_t queue_rank(const struct queue *q, int32_t priority);
extern const struct moves line_moves;
void queue_line(struct core *c, struct queue *q, enum line to);
void queue_ready(struct core *c, struct queue *q); /* something may start */
/* The queue has waited for room, which is there: it goes before the others, behind those that
 * waited longer. */
void queue_waited(struct core *c, struct queue *q);
bool queue_may_start(const struct queue *q); /* the queue is not paused, nor at its limit */
void queue_set_wake(struct core *c, struct queue *q);

/* submit.c */
/* A task that the server itself submits; the queue is there. */
rid submit_alone(struct core *c, const struct submit_task *t, struct effects *out);
/* The same, on that worker at once, charged with that need; no order is sent yet. */
struct task *submit_to(struct core *c, const struct submit_task *t, struct worker *w,
    struct str need, struct effects *out);
/* A long submit's next slice. True: it was the last, or it is not to be taken in. */
bool submit_slice(struct core *c, struct pending *p, struct effects *out);
int submit_run(struct core *c, const struct event *ev, const struct pending *p, struct reply *r,
    struct effects *out);

/* place.c */
struct shown_needs { /* of a job: in the batch's arena */
	const struct link_need *needs;
	size_t n, n_left_out;
};
/* The task is the worker's, by a token that was never given. */
void place_claim(
    struct core *c, struct task *t, struct worker *w, struct str need, struct effects *out);
/* Sends the order of a task that its worker was just given. NULL: it is shown nothing. */
void place_order(
    struct core *c, struct task *t, const struct shown_needs *needs, struct effects *out);
void place(struct core *c, struct effects *out);
void place_worker_joined(struct core *c, struct worker *w);
void place_room(struct core *c, struct worker *w); /* the worker may have more room than before */

/* hold.c */
/* In a task's history: its worker was surely gone. */
#define PROVEN_LOSS "the worker was restarted"
void hold_started(struct core *c);
/* Something was just lost: whoever had it may still be ending it for so long. */
void hold_lost(struct core *c, int64_t hold_ms);
/* The task was lost, and is tried again after the hold, or at then_due_ms if that is later: its
 * row has that due time when the hold is over. */
void hold_begin(struct core *c, struct task *t, int64_t hold_ms, int64_t then_due_ms);
/* True: its hold is not over, and it waits here for that. */
bool hold_take(struct core *c, struct task *t);
/* True: it was lost at a time that we do not know, and the hold may not be over. */
bool hold_to_floor(struct core *c, struct task *t);
void hold_del(struct core *c, struct task *t);

/* unsure.c */
void unsure_ordered(struct core *c, struct task *t);
void unsure_settle(struct task *t); /* there was word of it */
void unsure_link_lost(struct core *c, struct worker *w);
void unsure_forget(struct core *c, struct worker *w); /* a new link: nothing is asked on it yet */
void unsure_answer(struct core *c, const struct event *ev, struct effects *out);

/* why.c, why_need.c */
struct why_answer {
	struct arena *a;
	struct why *whys;
	size_t n, cap;
	bool lacks;    /* something that the task needs, */
	bool hopeless; /* which no worker has that is connected: no end of another task helps */
	int64_t mono_ms;
};
struct facts *why_add(struct why_answer *an, enum why_code code);
void why_need(
    struct why_answer *an, const struct core *c, const struct queue *q, const struct task_row *row);

/* report.c */
struct task *report_current(const struct core *c, const struct worker *w, rid task, int64_t token);
/* The task's worker says that it does not have it and never had; which is not so if the worker has
 * called it running. May free it. */
void report_absent(
    struct core *c, struct task *t, struct str reason, int64_t delay_ms, struct effects *out);

/* times.c: what a worker says of time, made possible; the attempt's claimed_ms must be set. */
void times_started(const struct core *c, struct task_state *s, int64_t said_ms);
/* started_ms 0: it is not said */
void times_ended(const struct core *c, struct task_state *s, int64_t started_ms, int64_t ended_ms);
/* Sets claimed_ms of an attempt that only its worker knows of. */
void times_adopted(const struct core *c, struct task_row *t, int64_t said_ms);
void times_forget(struct task_state *s);

void report_health(struct core *c, const struct event *ev, struct effects *out);
void report_started(struct core *c, const struct event *ev, struct effects *out);
void report_ended(struct core *c, const struct event *ev, struct effects *out);
void report_output(struct core *c, const struct event *ev, struct effects *out);
void report_input_ack(struct core *c, const struct event *ev, struct effects *out);

#endif
