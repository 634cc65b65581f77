/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: the one place where both directions meet. Events go into the brain; its effects
 * gather in a batch; the writer makes the batch durable; only then do its messages, replies,
 * notices and reads leave.
 */
#ifndef SERVER_ENGINE_H
#define SERVER_ENGINE_H

#include "core/core.h"
#include "core/pipeline/tickets.h"
#include "net/loop/loop.h"
#include "server/engine/hub.h"
#include "server/workers/receipts.h"
#include "store/store.h"
#include "zones/zones.h"

struct engine;

typedef ticket_fn engine_reply_fn;

struct engine_options {
	struct core_options core;
	const char *zoneinfo_dir;    /* NULL: the system's */
	int64_t zoneinfo_refresh_ms; /* 0: a minute */
	/* Messages of one batch, in order; the engine's caller knows the links. */
	void (*send)(const struct message *m, size_t n, void *arg);
	void (*on_commit)(double seconds, size_t rows, void *arg);
	/* The store failed in a way that leaves the outcome unknown: the process must end. */
	void (*on_fatal)(const struct problem *p, void *arg);
	void *arg;
};

/* Loads the store (blocking) and opens for business. */
struct engine *engine_new(
    struct loop *l, struct store *s, const struct engine_options *o, struct problem *ret_problem);
/* Commits what has gathered, then frees. The loop must not run any more. */
void engine_free(struct engine *e);

const struct core *engine_core(const struct engine *e);
const struct id_space *engine_ids(const struct engine *e);
/* For orders, which of a durable server need none, and for hellos. NULL: not needed. */
struct receipts *engine_gives_receipts(const struct engine *e);
struct receipts *engine_heeds_receipts(const struct engine *e);
struct hub *engine_hub(struct engine *e);
/* The store can't be written at the moment: commands are refused. */
bool engine_is_stuck(const struct engine *e);
/* Why searches have no index, in words; NULL: they have. */
struct search_index engine_search_index(const struct engine *e);

/* Fills in times and seed, and steps. */
void engine_step(struct engine *e, struct event *ev);
/* The same for commands: fn is called on the loop when the outcome is durable. */
void engine_command(struct engine *e, struct event *ev, engine_reply_fn *fn, void *arg);
/* Calls fn like that once this batch is durable. False: it is already, and fn is not called. */
bool engine_when_durable(struct engine *e, uint64_t batch, engine_reply_fn *fn, void *arg);
/* A time zone to look at; the brain hears of it only by commands that name it. */
int engine_zone(struct engine *e, struct str name, struct zone_ref **ret_ref, struct problem *p);
/* Ended tasks to be deleted; those that are not ended any more stay. */
void engine_prune(struct engine *e, const rid *ids, size_t n);
void engine_expire(struct engine *e, int64_t idem_before_ms, int64_t events_before_ms);
/* Commits everything gathered so far and waits for it (at shutdown). */
void engine_settle(struct engine *e);

#endif
