/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that can happen to the server's brain. Time, randomness and what others said arrive
 * inside the event; strings are borrowed for the length of the step.
 */
#ifndef CORE_EVENT_H
#define CORE_EVENT_H

#include "cron/zone/zone.h"
#include "model/batch.h"
#include "model/kind.h"
#include "model/link.h"
#include "model/query.h"

enum event_kind {
	/* at start, in the order of store_loader; the last one opens for business */
	EV_LOAD_ROW,
	EV_LOAD_COUNT,
	EV_LOAD_OWNED,
	EV_LOAD_DONE,
	/* commands: each is answered by exactly one reply to its ticket */
	EV_SUBMIT,
	EV_CANCEL,
	EV_RETRY,
	EV_TASK_SET,
	/* about an object: what all kinds have, and what only its own has */
	EV_CREATE,
	EV_SET,
	EV_PAUSE,
	EV_RESUME,
	EV_DELETE,
	EV_DO,
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
	EV_PARTS_READ,
	/* what a time zone is, for the first time or from now on; also before the load */
	EV_ZONE,
	/* time has passed */
	EV_WAKE,
	/* a long submit's turn has come again: see core_is_midway() */
	EV_GO_ON,
	N_EVENTS,
};

/* A submitted task as parsed and validated by its surface. */
struct submit_task {
	struct task_spec spec; /* queue is found by name or id beforehand */
	int32_t status;        /* TASK_QUEUED, or a held status */
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
	uint64_t link;     /* from workers: number of the connection, never reused */
	struct str let_in; /* EV_HELLO: by which token; NULL: it was here before */
	union {
		struct {
			const struct row_table *table;
			const void *row;
		} load; /* EV_LOAD_ROW */
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
		struct { /* EV_CREATE to EV_DO */
			enum kind kind;
			rid id;             /* not for create */
			const void *row;    /* create, set: the kind's row, */
			uint64_t fields;    /* of which the caller gave these: see ROW_BIT() */
			int64_t if_version; /* 0: whatever it is */
			struct str reason;
			int64_t until_ms; /* pause: 0: until resumed */
			bool force; /* delete: a queue with its live tasks; a worker whose tasks are
			               certainly over */
			enum verb verb;       /* do */
			int64_t from_s, to_s; /* of a verb about a stretch of time */
		} object;
		struct {
			struct str subject; /* what was asked for */
			struct str why;
			struct str token;  /* whose name was claimed, not proven; NULL: nobody's */
			struct str worker; /* that wanted to join; NULL: none did */
		} refused;
		struct { /* a live task of an object */
			struct owner owner;
			rid task, queue;
		} owned;
		struct { /* lives until another one of that name was given, or NULL: it is
			    taken back, for nobody needs it */
			struct str name;
			const struct cron_zone *zone;
		} zone;
		struct { /* EV_PARTS_READ */
			uint64_t read;
			const void *rows; /* of the table that was asked */
			size_t n;
			bool failed;
		} parts;
		struct link_hello hello;
		struct link_beat beat;
		struct link_checked checked;
		struct link_notified notified;
		struct link_started started;
		struct link_ended ended;
		struct output_row output;
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
