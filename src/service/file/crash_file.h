/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `reeve service crash FILE`: records, and what happens to them; then what becomes of each, and
 * when it starts again. docs/SERVICES.md has the format of the file and of the answer.
 */
#ifndef SERVICE_FILE_CRASH_FILE_H
#define SERVICE_FILE_CRASH_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "graph/package/names.h"
#include "service/life/crash.h"

#define CRASH_EVENTS(X)                                             \
	X(CRASH_CLAIMED, "claimed") /* a worker starts it */        \
	X(CRASH_RUNNING, "running")                                 \
	X(CRASH_CRASHED, "crashed")                                 \
	X(CRASH_RESTART, "restart") /* an operator ends its wait */ \
	X(CRASH_DUE, "due")         /* the wait is over; comes by itself */

enum crash_event_kind {
#define X(kind, name) kind,
	CRASH_EVENTS(X)
#undef X
	    N_CRASH_EVENTS
};
extern const char *const crash_event_names[N_CRASH_EVENTS];

struct crash_event {
	int64_t at_ms;
	uint32_t instance; /* in the file's list */
	uint32_t nth;      /* in the file */
	enum crash_event_kind kind;
};

struct crash_file {
	struct arena arena;
	struct crash_policy policy; /* of services without their own */
	struct names services;
	struct crash_policy *policies; /* by service */
	bool *has_policy;
	size_t policy_cap, has_cap;
	struct names keys; /* "web/3": their numbers are those of the instances */
	struct instance *instances;
	uint32_t *lines; /* where the record stands; 0: only in events */
	size_t instance_cap, line_cap;
	struct crash_event *events;
	size_t n_events, event_cap;
	int64_t until_ms;
	bool has_until;
};

int crash_file_read(struct str text, struct crash_file *ret_file, struct problem *p);
void crash_file_release(struct crash_file *f);
/* Plays the events, and writes what came of them. */
void crash_file_play(struct crash_file *f, struct buf *json);

#endif
