/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that can happen to the server's brain. Time, randomness and what others said arrive
 * inside the event; strings are borrowed for the length of the step.
 */
#ifndef CORE_EVENT_H
#define CORE_EVENT_H

#include "cron/zone/zone.h"
#include "model/link/link.h"
#include "model/objects/group_graph.h"
#include "model/objects/kind.h"
#include "model/rows/batch.h"
#include "model/rows/query.h"

enum event_kind {
	/* at start, in the order of row_loader; the last one opens for business */
	EV_LOAD_ROW,
	EV_LOAD_COUNT,
	EV_LOAD_OWNED,
	EV_LOAD_DONE,
	/* commands: each is answered by exactly one reply to its ticket */
	EV_SUBMIT,
	EV_CANCEL,
	EV_RETRY,
	EV_TASK_SET,
	EV_INPUT,
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
	EV_HEALTH,
	EV_ENDED,
	EV_OUTPUT,
	EV_INPUT_ACK,
	/* from the store's readers: what an earlier step asked for */
	EV_HEAD_READ,
	EV_DUE_READ,
	EV_KEYS_READ,
	EV_TASKS_READ,
	EV_PARTS_READ,
	EV_INPUT_READ,
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

/* The tasks of a submit are the jobs of a group. They begin blocked, and have no unique keys. */
struct submit_group {
	struct str name;                /* NULL: its id */
	int32_t policy;                 /* enum group_policy */
	const struct group_edge *edges; /* jobs by their places in the submit */
	size_t n_edges;
	const struct str *names; /* of each job; NULL: they have none */
	const uint32_t *weights; /* of each job: how long it may take; NULL: all alike */
	/* of each job: how it stands, since it was built elsewhere (retry.h); NULL: it was not */
	const struct task_state *const *taken; /* NULL: none was */
	rid retried_of;                        /* the group that this one is left of; 0: none */
	struct str reason; /* what triggered it, for people; NULL: somebody submitted it */
	struct str series; /* the series of which the group is part; NULL: none */
	const struct input_digest *digests; /* of each job; NULL: nobody knows any */
	struct str
	    left_out; /* what cannot be built, as a text that is kept with it; NULL: nothing */
	struct str left_out_why; /* the same in a few words */
	/* The group that was triggered, and of which these are the jobs; 0: a new one.
	 * Its name and why it is there are known already. */
	rid owed;
};

/*
 * Parts of an object that are written with it. All of it lies in the arena, which is given away if
 * the command is carried out; the object's own room fills in what only it can know.
 */
struct object_parts {
	bool all; /* the rows take the place of all that there are */
	void *rows;
	size_t n;
	struct arena *arena;
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
			rid batch;        /* join this one, which must be there; 0: a new one, */
			bool makes_batch; /* also for one task: several always are one */
			struct str name;  /* of a new one; NULL: none */
			/* Not NULL: a long one. All of it lies in this arena and is given away;
			 * it is taken in slice by slice: see core_is_midway(). */
			struct arena *arena;
			const struct submit_group *group; /* NULL: they are nobody's */
		} submit;
		struct {
			const rid *ids; /* EV_CANCEL, EV_RETRY, EV_TASK_SET */
			size_t n;
			struct str reason;
			bool fails; /* EV_CANCEL, of jobs: their end is that of one that failed */
			bool has_status, has_priority; /* EV_TASK_SET */
			int32_t status;                /* TASK_QUEUED (release) or a held one */
			int32_t priority;
		} tasks;
		struct { /* EV_INPUT */
			rid task;
			int64_t offset; /* where the data begins; -1: there is none, only asked */
			struct str data;
			bool end; /* nothing follows it */
		} input;
		struct { /* EV_CREATE to EV_DO */
			enum kind kind;
			rid id;             /* not for create */
			const void *row;    /* create, set: the kind's row, */
			uint64_t fields;    /* of which the caller gave these: see ROW_BIT() */
			int64_t if_version; /* 0: whatever it is */
			struct str reason;
			int64_t until_ms; /* pause, drain; 0: until resumed, or all has ended */
			bool force; /* delete: a queue with its live tasks; a worker whose tasks are
			               certainly over */
			enum verb verb;       /* do */
			int64_t from_s, to_s; /* of a verb about a stretch of time */
			int64_t number; /* of a verb about a service: a revision, or an index */
			struct object_parts *parts; /* NULL: none */
		} object;
		struct {
			struct str subject; /* what was asked for */
			struct str why;
			struct str token;  /* whose name was claimed, not proven; NULL: nobody's */
			struct str worker; /* who wanted to join; NULL: nobody did */
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
		struct { /* EV_PARTS_READ, EV_INPUT_READ */
			uint64_t read;
			rid object;       /* whose parts they are */
			const void *rows; /* of the table that was asked */
			size_t n;
			bool failed;
		} parts;
		struct link_hello hello;
		struct link_beat beat;
		struct link_checked checked;
		struct link_notified notified;
		struct link_started started;
		struct link_health health;
		struct link_ended ended;
		struct output_row output;
		struct link_input_ack input_ack;
		struct {               /* EV_HEAD_READ, EV_DUE_READ, EV_TASKS_READ */
			uint64_t read; /* the number of the request */
			rid queue;
			const struct task_row
			    *rows;          /* for EV_TASKS_READ: one per id asked, id 0: none */
			const rid *holders; /* EV_TASKS_READ: per row, the live task with its unique
			                       key; 0: none */
			size_t n;
			/* EV_TASKS_READ: one per batch asked, id 0: none */
			const struct task_batch_row *batches;
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
