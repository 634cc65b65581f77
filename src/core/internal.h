/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share. Stored fields (rows) lie apart from what is rebuilt.
 *
 * Memory holds the live tasks only, and of a deep queue only the head: see window.c for the rule
 * that keeps this exact. A task that leaves memory while a read of the store is under way stays
 * behind as a ghost until that read has come back, so an old picture never beats a newer one.
 */
#ifndef CORE_INTERNAL_H
#define CORE_INTERNAL_H

#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

#include "base/heap.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "core/consensus.h"
#include "core/core.h"
#include "core/idem.h"
#include "core/object.h"
#include "core/schedule.h"
#include "core/timer.h"
#include "model/history.h"
#include "model/limits.h"
#include "model/lines.h"

struct place_key { /* order inside a window; smaller first */
	int64_t a;
	uint64_t b;
};

struct task {
	struct task_row row; /* its strings are owned: see task_new() */
	struct queue *queue;
	struct worker *worker; /* that it is dispatched to */
	struct window *window; /* that it waits in */
	struct place_key key;  /* in that window */
	RB_ENTRY(task) in_window;
	TAILQ_ENTRY(task) on_worker;
	TAILQ_ENTRY(task) in_ghosts;
	uint64_t ghost_read; /* ghosts: the newest read when it left; 0: not a ghost */
	uint64_t batch_seq;  /* the batch that holds a row of it, */
	size_t batch_row;    /* and which one: further changes go into the same row */
	uint64_t seen;       /* number of the hello that named it */
	int64_t ordered_ms; /* monotonic: its run was sent, and no word has come since; 0: it has */
	int64_t output_max; /* that its run named; 0: not known to this process */
	bool unsure;        /* … for so long that nobody knows whether it was started */
	int64_t hold_until_ms;    /* monotonic: its lost worker may still be ending it; 0: no */
	int64_t hold_then_due_ms; /* and when it is due after that; 0: at once */
	bool hold_is_known;       /* it was lost since it came into memory */
	struct timer hold;        /* monotonic: while it waits for that, outside of any window */
	TAILQ_ENTRY(task) in_hold;
	char *strings; /* spec strings, one allocation */
	char *reason, *history;
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
	bool is_from_head; /* it begins at the very head, else after `from` */
	struct place_key from;
};

struct eligible {
	struct worker *worker;
	uint64_t generation; /* the worker's, when it was entered; stale when it has moved on */
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
	struct queue_row row; /* its strings are owned, in `strings` */
	char *strings;
	struct window ready, due;
	int64_t n_queued, n_delayed, n_held, n_claimed, n_running;
	int64_t n_on_hold;    /* of the delayed ones; in memory, but in no window: see hold.c */
	bool delayed_unknown; /* after a start, until the store's delayed tasks were read */
	struct eligible *eligible;
	size_t n_eligible, cap_eligible, cursor;
	TAILQ_ENTRY(queue) in_line;
	enum line line;
	struct task_list on_hold; /* in no order: see hold.c */
	struct timer wake;        /* wall clock: first due task, or end of a pause */
	uint64_t counts_seq;      /* batch that holds its counters */
	size_t counts_row;
};

TAILQ_HEAD(queue_list, queue);

#define CHECKS_KEPT 8

struct worker {
	struct object object;
	struct worker_row row; /* strings owned, in `strings` */
	char *strings;
	struct health health;   /* only watch.c changes its state */
	bool has_spoken;        /* after a welcome of this process: it knows us */
	bool is_unheard;        /* it is counted as one that goes by older timeouts */
	int64_t first_hello_ms; /* to this process; 0: none yet */
	struct member member;   /* of the worker set; only from its hello to this process on */
	uint64_t link;          /* 0: none */
	uint64_t dial;          /* of its newest hello: older ones come too late */
	bool leaving;           /* it drains: nothing more for it */
	bool drops_receipts;    /* it gets no orders that are not written down */
	uint64_t generation;    /* changes with the link and the facts: see struct eligible */
	struct timer watch;     /* monotonic: its health is looked at */
	struct task_list tasks;
	int32_t running;  /* length of tasks */
	int32_t n_wishes; /* of these are to be killed */
	/* runs without an answer: see unsure.c */
	int32_t n_unsure;
	uint64_t run_number; /* of the last run on this link */
	uint64_t notify_seq; /* of the last "notify if not running" */
	int64_t next_poll_ms, poll_wait_ms;
	struct timer poll;     /* monotonic */
	enum worker_state own; /* how it sees itself, by its last beat */
	/* healthchecks: numbers rise, some of the last may be unanswered */
	uint64_t beat; /* the newest heard on this link */
	uint64_t check_sent, check_counted;
	uint64_t check_beat;   /* that the last one names: it was the newest then */
	int64_t check_said_ms; /* the last one was said then: the first time, or again */
	bool check_open;       /* the last one is not answered */
	bool check_gone;       /* the last one went with its link */
	int64_t check_sent_ms[CHECKS_KEPT];
	bool is_untold;     /* unhealthy since its hello, which is nothing to tell before its first
	                       check */
	char *check_failed; /* what the last answer complained of; NULL: nothing */
};

/* Between start and the moment when everything that may be running is known: see start.c. */
struct start {
	bool waiting;
	struct timer timer; /* monotonic: the wait is over, whatever is missing */
	int64_t until_ms;
	int64_t boot;           /* of volatile servers on this store, counted; 0: never any */
	bool was_volatile;      /* rows of dispatched tasks may still say that they are queued */
	uint64_t dispatcher;    /* the last volatile server that could start anything */
	int64_t receipts_from;  /* its number, as we found it; 0: there was none with receipts */
	struct timeouts before; /* the longest that a worker goes by who has not spoken yet */
	size_t n_unheard;       /* workers that have not */
	int64_t token_floor;  /* tokens of this process lie above all that were not written down */
	rid last_id;          /* tasks up to here may have been dispatched before */
	size_t parked_hellos; /* that wait for the store */
};

/* A command that needs something from the store first. */
struct pending {
	TAILQ_ENTRY(pending) in_lane;
	struct arena arena; /* owns the copied event */
	struct event event;
	const struct idem_row *idem; /* what was found, while its group is being run */
	size_t first_key;            /* its keys' place in the group's list */
	/* of a submit that is taken in slice by slice: */
	struct outcome *outcomes;
	size_t n_taken;
	rid batch;
};

TAILQ_HEAD(pending_list, pending);

struct fresh_key { /* a unique key's holder, as read or as taken by this group */
	RB_ENTRY(fresh_key) entry;
	rid queue, id;
	struct str key;
};
RB_HEAD(fresh_keys, fresh_key);

struct token {
	struct object object;
	struct token_row row; /* its strings are owned, in `strings` */
	char *strings;
};

/* One group of commands waits for one round of reads; the next gathers meanwhile. */
struct lane {
	struct pending_list waiting, group;
	uint64_t keys_read, tasks_read, past_read; /* numbers of the reads under way; 0: none */
	struct arena arena;                        /* answers of the group */
	struct key_ask *keys;
	rid *key_holders; /* answers, parallel to keys; 0: free */
	size_t n_keys, cap_keys;
	rid *ids;
	struct task_row *rows; /* answers, parallel to ids */
	rid *holders;
	struct idmap row_of; /* id -> its row */
	size_t n_ids, cap_ids;
	struct pending *past_wanted;  /* the group's only one that goes by the past; NULL: none */
	struct tick_query past_asked; /* for it; schedule 0: none */
	bool past_is_stale;           /* one of those was fired, or waits, since */
	struct tick_row *ticks;       /* its answer: what is recorded of its range */
	size_t n_ticks;
	bool failed;
	struct fresh_keys fresh;
	size_t n_entered;     /* of the keys that were read, are in `fresh` */
	uint64_t answered[3]; /* reads of this group: over when it has been run */
	size_t n_answered;
	bool has_long;       /* a long submit, the group's only one */
	bool midway;         /* it is being run, slice by slice, */
	uint64_t midway_seq; /* all of it into this batch */
};

/* An instance that was given up before it must have given up itself: see gone.c. */
struct gone {
	uint64_t instance;
	int64_t for_ms, until_ms; /* monotonic */
	bool owes;                /* it may have started what nobody knows of */
	int64_t start;            /* the last under its lock */
	struct str lock, key;     /* owned; empty: an older server wrote it */
};
#define GONE_MAX 256

/* Who was refused something within the last minute: see refusal.c. */
struct refusals {
	struct refuser *of;
	size_t n, cap;
	struct timer timer; /* monotonic: something is to be told */
};

struct core {
	struct core_options o;
	bool open;
	struct id_space ids;
	int64_t now_ms, mono_ms; /* of the present step */
	uint64_t seed;
	rid last_id;
	uint64_t last_event;
	uint64_t last_read;    /* reads are numbered from 1 */
	uint64_t *outstanding; /* numbers of reads under way, ascending */
	size_t n_outstanding, cap_outstanding;
	uint64_t hellos;
	struct gone gone[GONE_MAX];
	size_t n_gone;
	struct idmap tasks;      /* in memory, by id; ghosts too */
	struct task_list ghosts; /* oldest first */
	struct objects objects[N_KINDS];
	struct idmap links; /* link number -> worker */
	struct queue_list rotation, stalled;
	struct timers timers;
	int64_t hold_floor_ms; /* when every hold that we may not know of is over */
	struct consensus set;
	int64_t set_looked_ms;  /* monotonic: when it was last computed */
	struct timer set_timer; /* monotonic: it is to be computed again; not set: it is fresh */
	struct start start;
	struct lane lane;
	struct schedules schedules;
	struct refusals refusals;
	struct timer retry_reads; /* monotonic; not set: no read has failed */
};

/* task.c: the one door */
struct task *task_new(struct core *c, const struct task_row *row);
struct task *task_find(const struct core *c, rid id);
void task_insert(struct core *c, struct task *t, struct task_row *row, struct effects *out);
void task_move(struct core *c, struct task *t, int to, struct str reason, struct effects *out);
void task_save(struct core *c, struct task *t, struct effects *out);
void task_set_reason(struct task *t, struct str reason);
void task_set_history(struct task *t, struct str history);
/* Ordered, but certainly never started. May free it. */
void task_give_back(
    struct core *c, struct task *t, struct str reason, int64_t delay_ms, struct effects *out);
/* An ended task, with the output that its row holds, begins anew. May free it. */
void task_begin_anew(
    struct core *c, struct task *t, const struct task_row *stored, struct effects *out);
void task_notice(struct core *c, const struct task *t, const char *kind, struct effects *out);
/* Out of memory: it is ended, or the store knows all about it. May free it. */
void task_forget(struct core *c, struct task *t);
void task_unghost(struct core *c, struct task *t);
void ghosts_reap(struct core *c);
void task_free(struct core *c, struct task *t);
/* A queued task goes where it belongs: a window, or the store only. May free it. */
void task_enqueue(struct core *c, struct task *t, struct effects *out);
void task_attach(struct task *t, struct worker *w);
void task_detach(struct task *t);
int32_t task_max_attempts(const struct task *t);
int64_t task_timeout_ms(const struct task *t);
/* The attempt failed in some way: another one with backoff, or the given end. May free it. */
void task_end_attempt(struct core *c, struct task *t, int status, struct str reason, bool may_retry,
    struct effects *out);
/* The same for a lost worker's: another attempt only after the hold. */
void task_end_lost(
    struct core *c, struct task *t, struct str reason, int64_t hold_ms, struct effects *out);
void task_wish_cancel(struct task *t);
/* The order of a run is not written before it is sent. */
bool task_is_volatile(const struct core *c, const struct task *t);

/* window.c */
void window_init(struct window *w, struct queue *q, bool is_due);
bool window_wants(const struct window *w, const struct task_row *row);
void window_put(struct window *w, struct task *t);
void window_del(struct task *t);
struct task *window_first(struct window *w);
struct task *window_last(struct window *w);
struct task *window_next(struct task *t);
void window_trim(struct core *c, struct window *w);
void window_refill(struct core *c, struct window *w, struct effects *out);
void window_clear(struct core *c, struct window *w);
void window_read(struct core *c, const struct event *ev, struct effects *out);
uint64_t read_begin(struct core *c);
void read_end(struct core *c, uint64_t number);
/* One has failed: all are tried again in a while. */
void reads_retry(struct core *c);

/* submit.c, command.c, lane.c, idem.c */
/* A task that the server itself submits; the queue is there. */
rid submit_alone(struct core *c, const struct submit_task *t, struct effects *out);
int core_command(struct core *c, const struct event *ev, struct effects *out);
/* A long submit's next slice. True: it was the last, or it is not to be taken in. */
bool submit_slice(struct core *c, struct pending *p, struct effects *out);
void submit_run(struct core *c, const struct event *ev, const struct pending *p, struct reply *r,
    struct effects *out);
void tasks_run(struct core *c, const struct event *ev, struct reply *r, struct effects *out);
int command_run(struct core *c, const struct event *ev, struct pending *p, struct effects *out);
bool lane_needs(const struct core *c, const struct event *ev);
const struct task_row *lane_row(const struct core *c, rid task);
/* A tick of it got a task: what was read of its past is no longer all of it. */
void lane_past_grows(struct core *c, rid object, int64_t tick_s);
void lane_push(struct core *c, const struct event *ev, struct effects *out);
struct event *lane_find_hello(struct core *c, uint64_t link);
void lane_read(struct core *c, const struct event *ev, struct effects *out);
void lane_go_on(struct core *c, struct effects *out); /* with what is midway */
rid lane_key_holder(struct core *c, rid queue, struct str key);
void lane_take_key(struct core *c, rid queue, struct str key, rid id);
rid lane_holder_of(struct core *c, const struct task *t);
void event_copy(struct pending *p, const struct event *ev);

/* queue.c */
extern const struct object_kind queue_kind;
struct queue *queue_find(const struct core *c, rid id);
struct queue *queue_add(struct core *c, const struct queue_row *row);
void queue_consider(struct core *c, struct queue *q, struct worker *w);
void queue_count(struct queue *q, const struct task *t, int status, int delta);
void queue_count_end(struct core *c, struct queue *q, int status, struct effects *out);
int64_t queue_rank(const struct queue *q, int32_t priority);
extern const struct moves line_moves;
void queue_line(struct core *c, struct queue *q, enum line to);
void queue_ready(struct core *c, struct queue *q); /* something may start */
void queue_set_wake(struct core *c, struct queue *q);

/* worker.c */
extern const struct object_kind worker_kind;
struct worker *worker_find(const struct core *c, rid id);
struct worker *worker_find_name(const struct core *c, struct str shard);
struct worker *worker_by_link(const struct core *c, uint64_t link);
struct worker *worker_add(struct core *c, const struct worker_row *row);
void worker_free(struct core *c, struct worker *w);
void worker_adopt_facts(struct core *c, struct worker *w, const struct worker_facts *f);
void worker_unlink(struct core *c, struct worker *w);
int32_t worker_maxthreads(const struct core *c, const struct worker *w);
/* What it goes by: the present ones once it has spoken, else perhaps longer ones. */
const struct timeouts *worker_timeouts(const struct core *c, const struct worker *w);
/* It has spoken, or is gone: it does not go by older timeouts any more. */
void worker_heard_of(struct core *c, struct worker *w, struct effects *out);
bool worker_has_room(const struct core *c, const struct worker *w);
/* To whoever is on that link: go away, for good (die), and perhaps come back as somebody new. */
struct message *worker_refuse(
    uint64_t link, bool die, bool restart, struct str reason, struct effects *out);
/* Its processes are certainly gone, or as good as: nobody can say how they ended. */
void worker_lose_tasks(
    struct core *c, struct worker *w, struct str reason, int64_t hold_ms, struct effects *out);
enum unserved worker_unserved(const struct core *c, const struct worker *w, const struct queue *q);

/* hello.c */
void hello(struct core *c, const struct event *ev, struct effects *out);
bool lock_is_same(struct str lock, struct str key, const struct worker_facts *f);
void link_lost(struct core *c, const struct event *ev, struct effects *out);

/* watch.c */
void watch_heard(struct core *c, struct worker *w, struct effects *out);
void watch_look(struct core *c, struct worker *w, struct effects *out);
void watch_lose(struct core *c, struct worker *w, struct str reason, struct effects *out);
void watch_beat(struct core *c, const struct event *ev, struct effects *out);
void watch_checked(struct core *c, const struct event *ev, struct effects *out);
void watch_check(struct core *c, struct worker *w, struct effects *out); /* if one is due */
struct link_news watch_news(struct core *c, struct worker *w);
void watch_tell_all(struct core *c, struct effects *out);
void watch_set(struct core *c, struct effects *out); /* consensus, not more often than needed */

/* hold.c */
/* In a task's history: its worker was surely gone. */
#define PROVEN_LOSS "the worker was restarted"
void hold_started(struct core *c);
/* Something was just lost: whoever had it may still be ending it for so long. */
void hold_lost(struct core *c, int64_t hold_ms);
/* It was that, and is tried again then; its row's due time is then_due_ms afterwards. */
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

/* gone.c */
bool gone_has(const struct core *c, const struct worker_facts *f);
bool gone_has_room(struct core *c);
/* It is given up now, whatever it thinks itself; there is room. */
void gone_add(struct core *c, const struct worker *w, struct effects *out);
void gone_load(struct core *c, struct str text);
bool gone_owe(const struct core *c); /* does any of them? */
void gone_settle(struct core *c, struct effects *out);
void gone_started(struct core *c);
void gone_release(struct core *c);

/* start.c */
int64_t start_number(struct str text, size_t *ret_at, int base); /* *ret_at moves behind it */
/* We wait, and it has not spoken: it may have started what no row tells of. */
bool start_owes(const struct core *c, const struct worker *w);
void start_load_meta(struct core *c, const struct meta_row *m);
void start_begin(struct core *c, bool key_is_new, struct effects *out);
int64_t start_token_floor(int64_t boot);              /* of what that server gave out */
void start_look(struct core *c, struct effects *out); /* is the wait over? */
void start_all_heard(struct core *c, struct effects *out);
/* A queued task that a worker may be running all the same. */
bool start_may_run(const struct core *c, const struct task_row *row);

/* wait.c */
int64_t wait_lost_in_ms(const struct core *c, const struct worker *w, int64_t mono_ms);

/* report.c */
struct task *report_current(const struct core *c, const struct worker *w, rid task, int64_t token);
/* Its worker says that it is not there and never was; which is not so if it called it running.
 * May free it. */
void report_absent(
    struct core *c, struct task *t, struct str reason, int64_t delay_ms, struct effects *out);
/* times.c: what a worker says of time, made possible; the attempt's claimed_ms must be set. */
void times_started(const struct core *c, struct task_state *s, int64_t said_ms);
/* started_ms 0: it is not said */
void times_ended(const struct core *c, struct task_state *s, int64_t started_ms, int64_t ended_ms);
/* Sets claimed_ms of an attempt that only its worker knows of. */
void times_adopted(const struct core *c, struct task_row *t, int64_t said_ms);
void times_forget(struct task_state *s);

void report_started(struct core *c, const struct event *ev, struct effects *out);
void report_ended(struct core *c, const struct event *ev, struct effects *out);
void report_output(struct core *c, const struct event *ev, struct effects *out);

/* place.c */
void place(struct core *c, struct effects *out);
void place_worker_joined(struct core *c, struct worker *w);
void place_room(struct core *c); /* a worker has room again */

/* load.c */
void load_step(struct core *c, const struct event *ev, struct effects *out);

/* token.c */
extern const struct object_kind token_kind;

/* refusal.c */
void refusal(struct core *c, const struct event *ev, struct effects *out);
void refusals_release(struct core *c);

/* audit.c */
void audit(struct core *c, const char *kind, struct str subject, rid queue, rid worker,
    struct str actor, struct str detail, struct effects *out);
/* About an object that is there. */
void audit_object(struct core *c, const char *kind, const struct object *o, struct str actor,
    struct str detail, struct effects *out);
void notice_tick(
    struct core *c, const char *kind, const struct tick_row *tick, struct effects *out);
void save_queue(struct core *c, struct queue *q, struct effects *out);
void save_worker(struct core *c, struct worker *w, struct effects *out);
/* "name":"value" pairs as a JSON object; strings are escaped */
struct str detail_of(struct arena *a, const char *name, struct str value);
struct detail {
	const char *name;
	struct str value; /* NULL: it is left out */
};
struct str details_of(struct arena *a, const struct detail *d, size_t n);
void detail_add_str(struct buf *b, struct str s); /* as JSON has strings */

#endif
