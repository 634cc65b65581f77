/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's brain. core_step() is the only way to change it; everything else here only looks.
 * Pure: no clock, no randomness, no I/O, no threads.
 */
#ifndef CORE_CORE_H
#define CORE_CORE_H

#include "core/effects.h"
#include "core/event.h"
#include "core/say.h"
#include "model/task/need.h"
#include "service/place/auction.h"

struct core;

struct core_options {
	uint32_t window_tasks;     /* of each queue kept in memory (0: 2048) */
	size_t window_bytes;       /* and at most this much of bodies (0: 4 MiB) */
	struct timeouts timeouts;  /* heartbeat_ms 0: all defaults */
	int64_t lost_hold_ms;      /* a lost worker's task is not tried again before (0: 66 s) */
	int64_t run_wait_ms;       /* for the word that a run was started (0: 4 s) */
	uint64_t server;           /* of this process, random; not 0 */
	bool is_volatile;          /* nothing is written before a start: see decision 0011 */
	bool allow_bump_unhealthy; /* a stranger may take an unhealthy worker's name */
	int32_t maxthreads_max;    /* of what a worker says of itself (0: whatever it says) */
	int64_t workers_max;       /* known ones; a new name beyond is refused (0: no limit) */
	bool caution_startup_wait; /* startup_wait_ms replaces the safe wait: copies may start */
	int64_t startup_wait_ms;
	const struct amount *resources; /* of the whole cluster; copied */
	size_t n_resources;
	uint32_t submit_slice;     /* tasks of a long submit taken in by one step (0: 1024) */
	int64_t input_max;         /* bytes of one task's streamed input (0: 1 GiB) */
	int64_t input_silence_ms;  /* of whoever sends one, before it is given up (0: 60 s) */
	uint32_t groups_active;    /* groups that dispatch at once, unless workers idle (0: 2) */
	int64_t groups_delay_ms;   /* for so long they must, before one more does (0: 2 s) */
	struct place_config place; /* of services' instances; its zones are not looked at */
	int64_t services_pass_ms;  /* a look at all services, whatever events say (0: 30 s) */
	uint32_t
	    consensus_patience; /* newcomers without consensus before they are batched (0: 16) */
};

/* How long a volatile server must wait for unknown workers when they don't agree earlier. */
int64_t core_safe_wait_ms(const struct core_options *o);

struct core *core_new(const struct core_options *o);
void core_free(struct core *c);
/* Returns 0, or the enum err that a command was answered with (its reply says more). */
int core_step(struct core *c, const struct event *in, struct effects *out);
/* Whether workers may hold what no row tells of: then it matters what their hellos prove. */
bool core_heeds_receipts(const struct core *c);
/* When EV_WAKE is wanted next, monotonic; INT64_MAX: not at all. */
int64_t core_wake_ms(const struct core *c);
/*
 * A long submit has been taken in only in part: EV_GO_ON goes on with it. Until this is false again
 * the effects must not be committed, for all of them are one batch.
 */
bool core_is_midway(const struct core *c);
bool core_is_open(const struct core *c); /* everything is loaded */

/* Views; further ones of a kind are in its room. Returned rows and strings are valid until the next
 * step. */

/* Objects of one kind; 0: there is none. */
rid core_find(const struct core *c, enum kind kind, struct str name);
rid core_before(const struct core *c, enum kind kind, rid id);      /* 0: the last */
struct str core_name(const struct core *c, enum kind kind, rid id); /* NULL: there is none */
int64_t core_version(const struct core *c, enum kind kind, rid id); /* an ETag; 0: it has none */
rid core_next(const struct core *c, enum kind kind, rid after);     /* by id; 0: first */
rid core_next_name(const struct core *c, enum kind kind, struct str after); /* NULL: the first */
size_t core_count(const struct core *c, enum kind kind);
size_t core_count_in(const struct core *c, enum kind kind, int state); /* of the kind's states */

const struct queue_row *core_queue(const struct core *c, rid id);
struct queue_counts {
	int64_t queued, delayed, held, claimed, running; /* delayed is part of queued; just after a
	                                                    start it is what has been read so far */
	int64_t in_memory;
	int64_t oldest_ms; /* ctime of the oldest queued task in memory; 0: none */
	int32_t workers;   /* connected ones that would serve it */
};
void core_queue_counts(const struct core *c, rid id, struct queue_counts *ret_counts);

struct worker_view {
	const struct worker_row *row;
	enum worker_state state;
	int shown;          /* the same, or WORKER_LEFT */
	int32_t maxthreads; /* in force; -1: none */
	uint64_t link;      /* 0: not connected */
	bool connected;
	bool never_healthy;    /* as far as this server knows it could never be given anything */
	enum worker_state own; /* how it sees itself, by its last beat */
	enum health_lack lack; /* what keeps it from being healthy */
	struct str
	    check_failed;     /* what the last healthcheck said; NULL: it was fine, or none yet */
	int32_t running;      /* claimed and running tasks, unsure ones too */
	int32_t unsure;       /* ordered, and nobody knows whether they were started */
	int64_t silent_ms;    /* since it was last heard */
	int64_t check_age_ms; /* since the last good healthcheck was sent; -1: none yet */
	int64_t lost_in_ms;   /* until it is declared lost; -1: not running down */
	const struct holding *holdings; /* what it offers, and how much of that is held */
	size_t n_holdings;
	uint64_t notify_seq;
	/* worker set consensus: versions of this server's sets; 0: none */
	uint64_t set_version;      /* the set that the worker has repeated */
	uint64_t indirect_version; /* up to here it requires others, if only through others */
	uint64_t joined_version;   /* the first set that has it; 0: not in any (lost, or batched) */
	bool batched;              /* a newcomer that waits for the present set's consensus */
};
bool core_worker(const struct core *c, rid id, int64_t mono_ms, struct worker_view *ret_view);

/* The present worker set, and what the start is waiting for. */
struct set_view {
	struct set_id id;
	bool consensus; /* whoever is in it requires everybody in it */
	uint32_t batched;
	bool waiting;       /* nothing may be started yet */
	int64_t ends_in_ms; /* at the latest; -1: not waiting */
};
void core_set(const struct core *c, int64_t mono_ms, struct set_view *ret_view);

/* What the whole cluster has; NULL: there are not so many. */
const struct holding *core_resource(const struct core *c, size_t i);

/* Time zones that the brain was told of, or that objects are in. */
size_t core_zones(const struct core *c);
/* An object is in it, or will be by a command that waits: else it may be taken back. */
bool core_needs_zone(const struct core *c, struct str name);
/* The one that a command names, of which EV_ZONE must have told before; NULL: none. */
struct str core_zone_named(const struct event *ev);

const struct token_row *core_token(const struct core *c, rid id);

/* The state of a task that is in memory now (its stored row may lag by one batch). */
bool core_task_state(const struct core *c, rid id, struct task_state *ret_state);
/* Ordered, and nobody knows whether it was started. */
bool core_task_unsure(const struct core *c, rid id);

/* Why a task waits, and what the server waits for: core/say.h. */

#endif
