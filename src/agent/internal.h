/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the worker's brain: one record per attempt that the server counts on us for. */
#ifndef AGENT_INTERNAL_H
#define AGENT_INTERNAL_H

#include <bsd/sys/queue.h>

#include "agent/agent.h"
#include "agent/beat_log.h"
#include "agent/output.h"
#include "base/data/heap.h"
#include "base/data/idmap.h"
#include "base/err.h"
#include "base/moves.h"
#include "service/life/container.h"

/*
 *   waiting --no older attempt--> starting --started--> running --exited--> ended --acked--> (gone)
 *      |  |                          |                     ^                  ^
 *      |  |                          '--not startable------|------------------+
 *      |  '--adopted---------------------------------------'                  |
 *      '--never started: refused, killed--------------------------------------'
 *
 * The table is in tasks.c; held_move() makes every move.
 */
enum held_state { HELD_WAITING, HELD_STARTING, HELD_RUNNING, HELD_ENDED };

/* Why we ended it; the first cause stays. */
enum stop_cause { CAUSE_NONE, CAUSE_KILL, CAUSE_TIMEOUT, CAUSE_UNWELL, CAUSE_LEAVE, CAUSE_SILENCE };

/* What is on its way to an attempt's process: one part at a time. */
struct input_flow {
	bool is_streamed; /* the attempt has streamed input */
	bool is_over;     /* the process has all of it, or reads no more */
	int64_t given;    /* so much the process has */
	int64_t writing;  /* and so much is being written to it; 0: nothing */
	bool is_last;     /* what is being written is the end of it */
	int64_t asked_ms; /* monotonic: when the rest was last asked for */
};

struct held;

/* An attempt that is the start of a service's instance. */
struct held_instance {
	TAILQ_ENTRY(held_instance) turn; /* to be said again */
	struct held *held;
	struct link_instance is;
	struct str queue;
	struct container container;
	struct link_fares fares;
	bool is_unsaid; /* it changed while nobody listened */
};

TAILQ_HEAD(held_instances, held_instance);

struct held {
	TAILQ_ENTRY(held) all;
	TAILQ_ENTRY(held) paused_entry;
	struct held *older; /* an earlier attempt of the same task that is still here */
	rid task;
	int64_t token;
	struct receipt receipt; /* for the server, which knows what it is */
	uint64_t serial;
	enum held_state state;
	enum stop_cause cause;
	bool stopping, forget, exit_codes, paused;
	int32_t kill_method; /* enum kill_method */
	int64_t kill_wait_ms;
	int64_t timeout_ms;
	int64_t started_ms;
	int64_t ended_sent_ms; /* monotonic; on the present link or an earlier one */
	char *kill_reason;
	struct link_run *waiting_run; /* while waiting; NULL: it was started at once */
	struct arena waiting;         /* of that run */
	struct heap_node deadline;    /* the time limit, then the kill */
	struct heap_node flush;
	struct heap_node follow; /* somebody reads along until then */
	struct output output;
	struct input_flow input;
	struct held_instance *instance; /* NULL: it is none */
	struct link_ended end;
	char *end_reason, *end_result;
};

TAILQ_HEAD(held_list, held);

/*
 *   down --connected--> hello --welcome--> welcome
 *    ^  ^                |  |                |  |
 *    |  '----broken------+--|----------------'  |
 *    '--broken-- closing <--+--given up by us---'
 *
 * CLOSING: we have given it up; nothing is said or obeyed until it is down. The table is in link.c;
 * link_move() makes every move.
 */
enum link_state { LINK_DOWN, LINK_HELLO, LINK_WELCOME, LINK_CLOSING };

#define CHECKS_KEPT 4
#define BEATS_OPEN_MAX 64      /* unanswered ones; the next waits */
#define NOTIFY_REFS_MAX 100000 /* answered at once; about the rest we are asked again */
#define RUN_WINDOW 64          /* so many numbers back a replay is told from a late one */

struct check {
	uint64_t number;
	int64_t mark_ms; /* when the beat was sent that the server had heard before it asked */
	uint32_t link;   /* the link that the server asked on */
	bool running;
};

struct agent {
	struct agent_options o;
	enum agent_phase phase;
	enum link_state link;
	struct idmap by_task; /* the newest attempt of each task */
	struct held_list all; /* in the order accepted */
	struct held_list paused;
	struct held_instances instances; /* whose turn it is to be said again, first */
	size_t n_held, n_live;
	uint64_t serial;
	struct heap deadlines, flushes, followed;
	size_t unacked; /* output bytes, of all tasks */
	/* the link */
	uint32_t n_links;
	int64_t hello_sent_ms;
	uint64_t beat; /* number of the last one sent; they run on from link to link */
	uint64_t beat_acked, beat_before; /* before: the last one of earlier links */
	struct beat_log beats;
	int64_t next_beat_ms;
	uint64_t run_top, run_bits; /* the numbers of runs that were seen on this link */
	/* the server, and how we stand with it */
	uint64_t server;
	uint64_t notify_seq;
	struct set_id set;
	bool set_is_new;      /* not repeated yet */
	bool beat_is_extra;   /* the last one only repeated a set */
	struct health health; /* known: we were welcomed once */
	struct timeouts own;
	int64_t health_ms; /* health was stepped up to here */
	struct check check;
	struct check passed[CHECKS_KEPT]; /* by number: the server may count an older one */
	/* leaving */
	uint64_t leaving_beat; /* 0: not sent on a link yet */
	int64_t leave_by_ms;   /* once all is over; INT64_MAX: not yet */
	int exit_code;
	bool restart;
	char *exit_reason;
	int32_t maxthreads;
};

/* tasks.c */
extern const struct moves held_moves;
void held_move(struct held *h, enum held_state to);
struct held *held_find(const struct agent *a, rid task, int64_t token);
void held_drop(
    struct agent *a, struct held *h, const struct agent_event *in, struct agent_effects *out);
void held_free_all(struct agent *a);
struct held *held_add(struct agent *a, const struct link_run *run);
bool held_older_is_live(const struct held *h);
struct link_held held_ref(const struct held *h);
void held_start(struct held *h, const struct link_run *run, struct agent_effects *out);
void held_wait(struct held *h, const struct link_run *run);
void held_never(struct agent *a, struct held *h, const char *reason, const struct agent_event *in,
    struct agent_effects *out);
int on_kill(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_ended_ack(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_started(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_unwell(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_adopt(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_exited(struct agent *a, const struct agent_event *in, struct agent_effects *out);
void send_ended(const struct agent *a, struct held *h, int64_t mono_ms, struct agent_effects *out);
/* stop.c */
void stop_held(struct agent *a, struct held *h, enum stop_cause cause, int64_t mono_ms,
    struct agent_effects *out);
void on_deadlines(struct agent *a, const struct agent_event *in, struct agent_effects *out);
/* since_ms: when it became necessary, which may be earlier than now */
void start_dying(
    struct agent *a, int64_t since_ms, struct agent_effects *out, const char *why, bool restart);
/* flow.c */
int on_output(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_output_ack(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_follow(struct agent *a, const struct agent_event *in);
void on_flushes(struct agent *a, int64_t mono_ms, struct agent_effects *out);
void send_output(struct agent *a, struct held *h, bool partial, struct agent_effects *out);
void output_give_up(struct agent *a, struct held *h, struct agent_effects *out);
void output_forget(struct agent *a, struct held *h);
/* input.c */
int on_input(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_input_taken(struct agent *a, const struct agent_event *in, struct agent_effects *out);
/* Asks for what follows, if anything can. */
void send_input_ack(
    const struct agent *a, struct held *h, int64_t mono_ms, struct agent_effects *out);
/* fares.c: nothing happens for attempts that are no instances */
void fares_add(struct agent *a, struct held *h, const struct link_run *run);
void fares_drop(struct agent *a, struct held *h);
void fares_follow(struct held *h); /* its state has changed */
void fares_stopping(struct agent *a, struct held *h, struct agent_effects *out);
void fares_in_hello(const struct held *h, struct link_held *ret);
void fares_welcomed(struct agent *a, struct agent_effects *out);
void fares_with_beat(struct agent *a, struct agent_effects *out);
int on_fares(struct agent *a, const struct agent_event *in, struct agent_effects *out);
/* accept.c */
int on_run(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_notify(struct agent *a, const struct agent_event *in, struct agent_effects *out);
/* link.c */
extern const struct moves link_moves;
void link_move(struct agent *a, enum link_state to);
int on_link_up(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_link_down(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_welcome(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_refused(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_beat_ack(struct agent *a, const struct agent_event *in, struct agent_effects *out);
void on_link_time(struct agent *a, int64_t mono_ms, struct agent_effects *out);
void send_beat(struct agent *a, int64_t mono_ms, struct agent_effects *out);
int64_t link_wake_ms(const struct agent *a);
void close_link(struct agent *a, struct agent_effects *out, const char *why);
/* health.c */
void health_welcomed(struct agent *a, const struct agent_event *in);
void health_heard(struct agent *a, int64_t sent_ms);
void health_news(
    struct agent *a, const struct link_news *n, int64_t mono_ms, struct agent_effects *out);
void on_health_time(struct agent *a, int64_t mono_ms, struct agent_effects *out);
int64_t health_wake_ms(const struct agent *a);
const char *health_text(const struct agent *a); /* what it lacks */
int on_check(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_checked(struct agent *a, const struct agent_event *in, struct agent_effects *out);
/* outcome.c */
void outcome_of(struct held *h, const struct agent_exit *x, int64_t now_ms);
/* agent.c */
extern const struct moves agent_moves;
void agent_move(struct agent *a, enum agent_phase to);
bool is_ending(const struct agent *a); /* dying or gone */
void note(struct agent_effects *out, const char *text);
void note_of(struct agent_effects *out, rid task, int64_t token, const char *text);

#endif
