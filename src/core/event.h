/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that can happen to the server's brain. Time, randomness and what others said arrive
 * inside the event; strings are borrowed for the length of the step.
 */
#ifndef CORE_EVENT_H
#define CORE_EVENT_H

#include "cron/zone/zone.h"
#include "model/batch.h"
#include "model/query.h"

enum event_kind {
	/* at start, in this order; the last one opens for business */
	EV_LOAD_META,
	EV_LOAD_QUEUE,
	EV_LOAD_COUNT,
	EV_LOAD_WORKER,
	EV_LOAD_SCHEDULE,
	EV_LOAD_SCHEDULE_TASK,
	EV_LOAD_TASK,
	EV_LOAD_TOKEN,
	EV_LOAD_DONE,
	/* commands: each is answered by exactly one reply to its ticket */
	EV_SUBMIT,
	EV_CANCEL,
	EV_RETRY,
	EV_TASK_SET,
	EV_QUEUE_CREATE,
	EV_QUEUE_SET,
	EV_QUEUE_PAUSE,
	EV_QUEUE_RESUME,
	EV_QUEUE_DELETE,
	EV_WORKER_SET,
	EV_WORKER_REMOVE,
	EV_WORKER_STOP,
	EV_SCHEDULE_CREATE,
	EV_SCHEDULE_SET,
	EV_SCHEDULE_PAUSE,
	EV_SCHEDULE_RESUME,
	EV_SCHEDULE_DELETE,
	EV_SCHEDULE_RUN,
	EV_SCHEDULE_BACKFILL,
	EV_TOKEN_CREATE,
	EV_TOKEN_REVOKE,
	EV_REFUSED, /* somebody was not allowed: only to be written down */
	/* from workers */
	EV_HELLO,
	EV_LINK_LOST,
	EV_BEAT,
	EV_CHECKED,
	EV_NOTIFIED,
	EV_STARTED,
	EV_ENDED,
	EV_OUTPUT,
	/* from the store's readers: what an earlier step asked for */
	EV_HEAD_READ,
	EV_DUE_READ,
	EV_KEYS_READ,
	EV_TASKS_READ,
	EV_TICKS_READ,
	/* what a time zone is, for the first time or from now on; also before the load */
	EV_ZONE,
	/* time has passed */
	EV_TICK,
	/* it is a long submit's turn again: see core_is_midway() */
	EV_GO_ON,
	N_EVENTS,
};

/* A submitted task as parsed and validated by its surface. */
struct submit_task {
	struct task_spec spec; /* queue is found by name or id beforehand */
	int32_t status;        /* TASK_QUEUED, or a held status */
};

struct queue_change {
	/* which members of `row` the caller gave */
	unsigned fields; /* 1u << enum queue_field */
	struct queue_row row;
};
enum queue_field {
	QF_NAME,
	QF_PLUGIN,
	QF_THREADS,
	QF_ORDER,
	QF_TIMEOUT,
	QF_ATTEMPTS,
	QF_BACKOFF,
	QF_BACKOFF_MAX,
	QF_EXIT_CODES,
	QF_ENV,
	QF_RUN,
	QF_OUTPUT_MODE,
	QF_OUTPUT_MAX,
	N_QUEUE_FIELDS,
};

struct schedule_change {
	unsigned fields; /* 1u << enum schedule_field: which members of `row` the caller gave */
	struct schedule_row row;
};
enum schedule_field {
	SF_NAME,
	SF_ITEMS, /* items, source and zone belong together */
	SF_TASK,  /* queue to body, all of them */
	SF_OVERLAP,
	SF_MISSED,
	SF_MAX_SHIFT,
	SF_JITTER,
	SF_START,
	SF_END,
	N_SCHEDULE_FIELDS,
};

struct held_task { /* what a worker says in its hello */
	rid task;
	int64_t token;
	bool ended;
	int64_t started_ms;
	bool proven; /* it showed the receipt that this attempt was given to it */
};

struct event {
	enum event_kind kind;
	int64_t now_ms; /* wall clock */
	int64_t mono_ms;
	uint64_t seed;       /* fresh randomness, for jitter */
	uint64_t ticket;     /* commands: whom to answer; 0: nobody */
	struct str actor;    /* commands: who asks, for the audit trail */
	struct str idem_key; /* commands: Idempotency-Key; NULL: none */
	uint64_t idem_fingerprint;
	union {
		const struct meta_row *meta;
		const struct queue_row *queue_row;
		const struct worker_row *worker_row;
		const struct task_row *task_row;
		const struct token_row *token_row;
		struct {
			rid queue;
			int32_t status;
			int64_t n;
		} count;
		struct {
			rid last_id;
			uint64_t last_event;
			bool key_is_new; /* receipts of servers before this one prove nothing */
		} loaded;
		struct {
			const struct submit_task *tasks;
			size_t n;
			rid batch; /* join an earlier batch; 0: n > 1 makes a new one */
			/* Not NULL: a long one. All of it lies in this arena and is given away;
			 * it is taken in slice by slice: see core_is_midway(). */
			struct arena *arena;
		} submit;
		struct {
			const rid *ids; /* EV_CANCEL, EV_RETRY, EV_TASK_SET */
			size_t n;
			struct str reason;
			bool has_status, has_priority; /* EV_TASK_SET */
			int32_t status;                /* TASK_QUEUED (release) or a held one */
			int32_t priority;
		} tasks;
		struct {
			rid id; /* not for create */
			const struct queue_change *change;
			int64_t if_version; /* 0: whatever it is */
			struct str reason;
			int64_t until_ms; /* pause: 0: until resumed */
			bool force;       /* delete: with its live tasks */
		} queue;
		struct {
			rid id;
			bool set_maxthreads; /* EV_WORKER_SET; with -2: back to the worker's own */
			int32_t maxthreads;
			int64_t if_version;
			bool lost;    /* EV_WORKER_REMOVE: its tasks are certainly over */
			bool restart; /* EV_WORKER_STOP: it comes back as a new instance */
		} worker;
		struct {
			rid id;                      /* EV_TOKEN_REVOKE */
			const struct token_row *row; /* EV_TOKEN_CREATE: without its id */
			bool used;                   /* EV_TOKEN_REVOKE: it was good for one use */
			struct str worker;           /* and this one has used it */
		} token;
		struct {
			struct str subject; /* what was asked for */
			struct str why;
			struct str token;  /* whose name was claimed, not proven; NULL: nobody's */
			struct str worker; /* that wanted to join; NULL: none did */
		} refused;
		const struct schedule_row *schedule_row;
		struct {
			rid schedule, task, queue;
		} schedule_task;
		struct { /* lives until another one of that name was given, or NULL: it is
			    taken back, for nobody needs it */
			struct str name;
			const struct cron_zone *zone;
		} zone;
		struct {
			rid id; /* not for create */
			const struct schedule_change *change;
			int64_t if_version; /* 0: whatever it is */
			struct str reason;
			int64_t until_ms;     /* pause: 0: until resumed */
			int64_t from_s, to_s; /* backfill: [from, to) */
		} schedule;
		struct { /* EV_TICKS_READ: what the asked stretch of one schedule holds */
			uint64_t read;
			const struct tick_row *rows; /* oldest first */
			size_t n;
			bool failed;
		} ticks;
		struct {
			uint64_t link; /* number of the connection: never reused */
			const struct worker_facts *facts;
			const struct held_task *tasks; /* answers the running-tasks query ahead */
			size_t n;
			struct set_id set; /* the last one it was told, by whomever */
			uint64_t dial; /* which of this instance's connections, from 1; 0: it does
			                  not say */
			bool drops_receipts; /* it can not prove what no row tells of */
			struct str token;    /* that let it in; NULL: it was here before */
		} hello;
		struct {
			uint64_t link;
			uint64_t number;
			bool leaving;          /* it takes no more tasks */
			enum worker_state own; /* how it sees itself */
			struct set_id set;     /* the last one it was told */
		} beat;                        /* EV_BEAT, EV_LINK_LOST */
		struct {
			uint64_t link;
			uint64_t number; /* of the healthcheck */
			bool ok;
			struct str reason; /* when not ok */
		} checked;
		struct { /* the answer to "notify if not running" */
			uint64_t link;
			uint64_t seq;
			const struct held_task *held;   /* of those asked, these are here */
			const struct held_task *absent; /* and these are not, and never will be */
			size_t n_held, n_absent;
		} notified;
		struct {
			uint64_t link;
			rid task;
			int64_t token;
			int64_t started_ms;
		} started;
		struct {
			uint64_t link;
			rid task;
			int64_t token;
			int32_t status, exit_code, signal;
			bool killed, permanent;
			int64_t started_ms, ended_ms;
			struct str reason;
			int32_t output_where;
			struct str output[N_STREAMS];
			int64_t output_bytes[N_STREAMS], output_dropped[N_STREAMS];
			struct usage usage;
			struct str result;
		} ended;
		struct {
			uint64_t link;
			struct output_row row;
		} output;
		struct {               /* EV_HEAD_READ, EV_DUE_READ, EV_TASKS_READ */
			uint64_t read; /* the number of the request */
			rid queue;
			const struct task_row
			    *rows;          /* for EV_TASKS_READ: one per id asked, id 0: none */
			const rid *holders; /* EV_TASKS_READ: per row, the live task with its unique
			                       key; 0: none */
			size_t n;
			bool failed;
		} rows;
		struct { /* EV_KEYS_READ: answers in the order asked */
			uint64_t read;
			const rid *ids;              /* for unique keys; 0: free */
			const struct idem_row *idem; /* for idempotency keys; key NULL: unknown */
			bool failed;
		} keys;
	};
};

#endif
