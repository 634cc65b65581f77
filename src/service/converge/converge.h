/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass of convergence: from what is desired, who is there and what is recorded to what is to
 * be done. A service at a time, so that an event looks at one and a full pass at all of them. When
 * its actions are carried out, a second pass at the same time does nothing.
 */
#ifndef SERVICE_CONVERGE_CONVERGE_H
#define SERVICE_CONVERGE_CONVERGE_H

#include "service/life/crash.h"

enum seen_worker {
	SEEN_PRESENT,
	SEEN_SILENT, /* what it has may run, or not */
	SEEN_LOST,   /* what it had is certainly over */
	N_SEEN_WORKERS
};
extern const char *const seen_worker_names[N_SEEN_WORKERS];

struct converge_env {
	int64_t now_ms;
	int64_t ask_again_ms;   /* a start or a stop that was asked for so long ago got lost */
	const uint8_t *workers; /* enum seen_worker, by number */
};
#define CONVERGE_ASK_AGAIN_MS 30000

struct converge_service {
	uint32_t service;
	uint32_t wanted; /* instances; 0 of one that nobody desires */
	bool is_singleton;
	bool domain_is_fresh;
	const struct crash_policy *policy;
};

#define CONVERGE_ACTIONS(X)                                                                  \
	X(ACT_CREATE, "create")   /* a record, UNCLAIMED, and ask for a start */             \
	X(ACT_START, "start")     /* ask for a start again */                                \
	X(ACT_RESTART, "restart") /* CRASHED to UNCLAIMED, and ask for a start */            \
	X(ACT_UNCLAIM, "unclaim") /* CLAIMED or RUNNING to UNCLAIMED, and ask for a start */ \
	X(ACT_SUSPECT, "suspect") /* the ordinary record becomes suspect */                  \
	X(ACT_PROMOTE, "promote") /* the suspect becomes ordinary; what was so gives way */  \
	X(ACT_STOP, "stop")       /* tell its worker to stop it */                           \
	X(ACT_DELETE, "delete")   /* the record */

enum converge_action_kind {
#define X(kind, name) kind,
	CONVERGE_ACTIONS(X)
#undef X
	    N_CONVERGE_ACTIONS
};
extern const char *const converge_action_names[N_CONVERGE_ACTIONS];

struct converge_action {
	enum converge_action_kind kind;
	uint32_t service, index;
	enum presence presence; /* of the record, as it is then */
	uint32_t worker;        /* NO_WORKER: none is concerned */
	const char *reason;
};

struct converge_actions {
	struct converge_action *v;
	size_t n, cap;
};
void converge_actions_release(struct converge_actions *a);

/* The records are of this service, by index and presence, each key once. Actions are added. */
void converge_service(const struct converge_env *env, const struct converge_service *s,
    const struct instance *records, size_t n, struct converge_actions *actions);

/* A growing list of records, by service, index and presence. */
struct instances {
	struct instance *v;
	size_t n, cap;
};
/* Carries the actions out as if everybody obeyed at once, but for those who are told to stop. */
void converge_apply(
    struct instances *records, const struct converge_actions *actions, int64_t now_ms);
int instance_by_key(const void *a, const void *b); /* for qsort() */

#endif
