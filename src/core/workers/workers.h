/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workers, for the neighbours: their identity and health, the set of them, and what is
 * waited for before anything may be started.
 */
#ifndef CORE_WORKERS_H
#define CORE_WORKERS_H

#include "core/effects.h"
#include "core/event.h"
#include "core/object.h"
#include "core/run/run.h"
#include "core/timer.h"
#include "core/workers/consensus.h"

struct core;
struct site;

#define CHECKS_KEPT 8

TAILQ_HEAD(worker_list, worker);

struct worker {
	struct object object;
	struct worker_row row; /* strings owned, in `strings` */
	char *strings;
	char *drained_by;       /* its actor; NULL: nobody of whom this process heard */
	struct health health;   /* only watch.c changes its state */
	bool has_spoken;        /* after a welcome of this process: it knows us */
	bool is_unheard;        /* counted as one that goes by older timeouts */
	int64_t first_hello_ms; /* to this process; 0: none yet */
	struct member member;   /* of the worker set; only from its hello to this process on */
	uint64_t link;          /* 0: none */
	uint64_t dial;          /* of its newest hello: older ones come too late */
	bool leaving;           /* the worker drains: nothing more for it */
	bool drops_receipts;    /* no orders for the worker that are not written down */
	bool takes_input;       /* the worker takes streamed input */
	bool takes_needs;       /* the worker can show a job what it needs */
	bool takes_services;    /* the worker can have instances of services */
	struct site *site;      /* the worker as services see it; NULL: not yet */
	struct timer drain;     /* wall clock: its drain's time is over */
	uint64_t generation;    /* changes with the link and the facts: see struct eligible */
	struct timer watch;     /* monotonic: its health is looked at */
	struct task_list tasks;
	struct holdings holdings; /* what it offers, and how much of that its tasks hold */
	struct left *left;        /* lists of shapes that it did not fit: see fit.c */
	size_t n_left, cap_left;
	bool is_roomy; /* perhaps more room: looked at when the step is over */
	TAILQ_ENTRY(worker) in_roomy;
	struct shape *reserved_for; /* starving; NULL: nobody */
	int32_t running;            /* length of tasks */
	int32_t n_instances;        /* of these are services': they take no threads */
	int32_t n_wishes;           /* of these are to be killed */
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
	uint64_t check_beat;   /* the newest beat then, which the last check names */
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
	int64_t receipts_from;  /* the dispatcher's boot, as found; 0: it had no receipts */
	struct timeouts before; /* the longest that a worker goes by who has not spoken yet */
	size_t n_unheard;       /* workers that have not */
	int64_t token_floor;  /* tokens of this process lie above all that were not written down */
	rid last_id;          /* tasks up to here may have been dispatched before */
	size_t parked_hellos; /* hellos that wait for the store */
};

/* An instance that was given up before it must have given up itself: see gone.c. */
struct gone {
	uint64_t instance;
	int64_t for_ms, until_ms; /* monotonic */
	bool owes;                /* the worker may have started what nobody knows of */
	int64_t start;            /* the last under its lock */
	struct str lock, key;     /* owned; empty: an older server wrote it */
};
#define GONE_MAX 256

/* worker.c */
struct worker *worker_find(const struct core *c, rid id);
struct worker *worker_find_name(const struct core *c, struct str shard);
struct worker *worker_by_link(const struct core *c, uint64_t link);
struct worker *worker_add(struct core *c, const struct worker_row *row);
void worker_adopt_facts(struct core *c, struct worker *w, const struct worker_facts *f);
void worker_unlink(struct core *c, struct worker *w);
int32_t worker_maxthreads(const struct core *c, const struct worker *w);
/* What it goes by: the present ones once it has spoken, else perhaps longer ones. */
const struct timeouts *worker_timeouts(const struct core *c, const struct worker *w);
/* The worker has spoken, or is gone: it does not go by older timeouts any more. */
void worker_heard_of(struct core *c, struct worker *w, struct effects *out);
bool worker_may_start(const struct core *c, const struct worker *w); /* anything, now */
bool worker_has_room(const struct core *c, const struct worker *w);
/* The worker's program can run the task. */
bool worker_takes(const struct core *c, const struct worker *w, const struct task_spec *s);
/* To whoever is on that link: go away, for good (die), and perhaps come back as somebody new. */
struct message *worker_refuse(
    uint64_t link, bool die, bool restart, struct str reason, struct effects *out);
/* The worker's processes are certainly gone, or as good as: nobody can say how they ended. */
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

/* gone.c */
bool gone_has(const struct core *c, const struct worker_facts *f);
bool gone_has_room(struct core *c);
/* The worker is given up now, whatever it thinks itself; there is room. */
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

#endif
