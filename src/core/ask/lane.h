/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lane, where commands wait that need something from the store first: what they wait for, and
 * what was read for them. See lane.c for the rules.
 */
#ifndef CORE_LANE_H
#define CORE_LANE_H

#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

#include "base/data/idmap.h"
#include "core/effects.h"
#include "core/event.h"

struct core;
struct group_plan;
struct task;

/* A command that needs something from the store first. */
struct pending {
	TAILQ_ENTRY(pending) in_lane;
	struct arena arena; /* owns the copied event */
	struct event event;
	const struct idem_row *idem; /* what was found, while its round is being run */
	size_t first_key;            /* where the command's keys begin in the round's list */
	/* of a submit that is taken in slice by slice: */
	struct outcome *outcomes;
	size_t n_taken;
	rid batch;
	struct group_plan *plan;       /* of a group; in the batch */
	const struct problem *refused; /* why the submit is not to be taken in; NULL: it is */
};

TAILQ_HEAD(pending_list, pending);

struct fresh_key { /* a unique key's holder, as read or as taken by this round */
	RB_ENTRY(fresh_key) entry;
	rid queue, id;
	struct str key;
};
RB_HEAD(fresh_keys, fresh_key);

/* One round of commands waits for its reads; the next gathers meanwhile. */
struct lane {
	struct pending_list waiting, round;
	uint64_t keys_read, tasks_read, past_read; /* numbers of the reads under way; 0: none */
	struct arena arena;                        /* answers of the round */
	struct key_ask *keys;
	rid *key_holders; /* answers, parallel to keys; 0: free */
	size_t n_keys, cap_keys;
	rid *ids;
	struct task_row *rows; /* answers, parallel to ids */
	rid *holders;
	struct idmap row_of; /* id -> its row */
	size_t n_ids, cap_ids;
	rid *batch_ids;                 /* batches of tasks that submits join */
	struct task_batch_row *batches; /* answers, parallel to them; as joined by this round */
	size_t n_batches, cap_batches;
	struct pending *past_wanted;  /* the round's only one that goes by the past; NULL: none */
	struct part_query past_asked; /* for it; object 0: none */
	bool past_is_stale;           /* one of those was added since */
	void *past;                   /* the answer: rows of the asked table */
	size_t n_past;
	bool failed;
	struct fresh_keys fresh;
	size_t n_entered;     /* of the keys that were read, are in `fresh` */
	uint64_t answered[3]; /* reads of this round: over when it has been run */
	size_t n_answered;
	bool has_long;         /* a long submit, the round's only one */
	uint64_t begins_after; /* the round begins when this batch no longer gathers; 0: else */
	bool midway;           /* the round is being run, slice by slice, */
	uint64_t midway_seq;   /* all of it into this batch */
};

bool lane_needs(const struct core *c, const struct event *ev);
/* A batch of tasks that a submit of this round joins; NULL: there is none of that id. */
struct task_batch_row *lane_batch(const struct core *c, rid id);
const struct task_row *lane_row(const struct core *c, rid task);
/* A part of it is added there: what was read of its past is no longer all of it. */
void lane_past_grows(struct core *c, rid object, int64_t at);
void lane_push(struct core *c, const struct event *ev, struct effects *out);
struct event *lane_find_hello(struct core *c, uint64_t link);
void lane_read(struct core *c, const struct event *ev, struct effects *out);
void lane_go_on(struct core *c, struct effects *out); /* with what is midway */
rid lane_key_holder(struct core *c, rid queue, struct str key);
void lane_take_key(struct core *c, rid queue, struct str key, rid id);
rid lane_holder_of(struct core *c, const struct task *t);
/* event_copy.c */
void event_copy(struct pending *p, const struct event *ev);

#endif
