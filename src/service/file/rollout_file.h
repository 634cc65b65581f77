/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `reeve service rollout FILE`: a service, how its revisions behave, and what people say; then what
 * a deploy does, step by step. docs/SERVICES.md has the format of the file and of the answer.
 */
#ifndef SERVICE_FILE_ROLLOUT_FILE_H
#define SERVICE_FILE_ROLLOUT_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "service/deploy/deploy.h"

#define ROLLOUT_INSTANCES_MAX 1000 /* wanted; and so many more as surge */
#define ROLLOUT_REVISIONS_MAX 64
#define ROLLOUT_EVENTS_MAX 1000
#define ROLLOUT_STEPS_MAX 20000

/* How a revision behaves. */
struct rollout_revision {
	int64_t number;
	int64_t starts_ms; /* from a worker to running */
	int64_t ready_ms;  /* from running to ready */
	int64_t stops_ms;  /* from being told to the end */
	int64_t crash_ms;  /* from running to a crash; 0: it does not crash */
	bool is_sick;      /* never ready */
	uint32_t line;
};

#define ROLLOUT_EVENTS(X)                                                     \
	X(ROLLOUT_DEPLOY, "deploy")     /* of a revision */                   \
	X(ROLLOUT_ROLLBACK, "rollback") /* to one; default: the stable one */ \
	X(ROLLOUT_PROMOTE, "promote")                                         \
	X(ROLLOUT_SCALE, "scale")     /* so many instances */                 \
	X(ROLLOUT_CRASHED, "crashed") /* one of them */

enum rollout_event_kind {
#define X(kind, name) kind,
	ROLLOUT_EVENTS(X)
#undef X
	    N_ROLLOUT_EVENTS
};
extern const char *const rollout_event_names[N_ROLLOUT_EVENTS];

struct rollout_event {
	int64_t at_ms;
	uint32_t nth; /* in the file */
	enum rollout_event_kind kind;
	int64_t revision;
	uint32_t n; /* instances, or the index */
};

struct rollout_file {
	struct arena arena;
	int64_t now_ms, until_ms;
	bool has_now, has_service, has_until, has_records;
	struct str name;
	uint32_t wanted;
	bool is_singleton;
	struct deploy_strategy strategy;
	struct crash_policy policy;
	struct deploy deploy;
	struct rollout_revision revisions[ROLLOUT_REVISIONS_MAX];
	size_t n_revisions;
	struct instances records;
	struct rollout_event *events;
	size_t n_events, event_cap;
};

int rollout_file_read(struct str text, struct rollout_file *ret_file, struct problem *p);
void rollout_file_release(struct rollout_file *f);
/* Plays it, and writes what came of it. */
void rollout_file_play(struct rollout_file *f, struct buf *json);

#endif
