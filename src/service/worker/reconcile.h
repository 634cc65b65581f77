/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's table: what it has of an instance, what the record says, and what is to be done.
 * The same for polling and for events. A decision is made from copies that may be old, so it is
 * made again when it is carried out, and holds only if it is still the same: reconcile_stands().
 *
 * docs/SERVICES.md has the whole table, made from reconcile_table by tools/reconcile.
 */
#ifndef SERVICE_WORKER_RECONCILE_H
#define SERVICE_WORKER_RECONCILE_H

#include "service/life/container.h"
#include "service/life/instance.h"

/* What the worker has. */
#define RECONCILE_CONTAINERS(X)               \
	X(HAS_NONE, "none")                   \
	X(HAS_RESERVED, "RESERVED")           \
	X(HAS_INITIALIZING, "INITIALIZING")   \
	X(HAS_CREATED, "CREATED")             \
	X(HAS_RUNNING, "RUNNING")             \
	X(HAS_CRASHED, "COMPLETED (crashed)") \
	X(HAS_SHUT_DOWN, "COMPLETED (shutdown)")

enum reconcile_container {
#define X(code, name) code,
	RECONCILE_CONTAINERS(X)
#undef X
	    N_RECONCILE_CONTAINERS
};
extern const char *const reconcile_container_names[N_RECONCILE_CONTAINERS];

/* What the ordinary record of the index says. Another start on this worker is another, too. */
#define RECONCILE_RECORDS(X)                        \
	X(SAYS_NONE, "none")                        \
	X(SAYS_UNCLAIMED, "UNCLAIMED")              \
	X(SAYS_CLAIMED_SELF, "CLAIMED by this one") \
	X(SAYS_CLAIMED_OTHER, "CLAIMED by another") \
	X(SAYS_RUNNING_SELF, "RUNNING as this one") \
	X(SAYS_RUNNING_OTHER, "RUNNING as another") \
	X(SAYS_CRASHED, "CRASHED")

enum reconcile_record {
#define X(code, name) code,
	RECONCILE_RECORDS(X)
#undef X
	    N_RECONCILE_RECORDS
};
extern const char *const reconcile_record_names[N_RECONCILE_RECORDS];

#define RECONCILE_DECISIONS(X)                                                                     \
	X(DO_NOTHING, "nothing", "nothing")                                                        \
	X(DO_CLAIM, "claim", "set the record to CLAIMED by this one")                              \
	X(DO_CLAIM_AND_RUN, "claim-and-run", "set the record to CLAIMED by this one, then run it") \
	X(DO_RUN, "run", "run it")                                                                 \
	X(DO_CREATE_RUNNING, "create-running", "create a record: RUNNING as this one")             \
	X(DO_SET_RUNNING, "set-running", "set the record to RUNNING as this one")                  \
	X(DO_DELETE, "delete", "delete the container")                                             \
	X(DO_STOP, "stop", "stop it as its stop settings say, then delete the container")          \
	X(DO_CRASH, "crash", "note the crash, then delete the container")                          \
	X(DO_REMOVE, "remove", "remove the record, then delete the container")                     \
	X(DO_UNCLAIM, "unclaim", "set the record to UNCLAIMED and ask for a start")                \
	X(DO_UNCLAIM_AND_DELETE, "unclaim-and-delete",                                             \
	    "set the record to UNCLAIMED and ask for a start, then delete the container")          \
	X(DO_EVACUATE, "evacuate",                                                                 \
	    "create an evacuating record, set the ordinary one to UNCLAIMED and ask for a start")  \
	X(DO_END_EVACUATION, "end-evacuation",                                                     \
	    "stop it, delete the container and the evacuating record")                             \
	X(DO_FORGET, "forget",                                                                     \
	    "delete the evacuating or suspect record, and the container if there is one")

enum reconcile_decision {
#define X(code, name, words) code,
	RECONCILE_DECISIONS(X)
#undef X
	    N_RECONCILE_DECISIONS
};
extern const char *const reconcile_decision_names[N_RECONCILE_DECISIONS];
extern const char *const reconcile_decision_words[N_RECONCILE_DECISIONS];

/* When a row holds. */
enum reconcile_when {
	WHEN_ALONE,      /* there is no other record of this one */
	WHEN_ORDINARY,   /* the same, and the worker is not being drained */
	WHEN_DRAINED,    /* the same, and it is */
	WHEN_EVACUATING, /* there is an evacuating record of this one */
	WHEN_SUSPECT,    /* there is a suspect record of this one */
	N_RECONCILE_WHENS
};
extern const char *const reconcile_when_names[N_RECONCILE_WHENS];

struct reconcile_row {
	enum reconcile_when when;
	unsigned containers, records; /* a bit for each */
	enum reconcile_decision decision;
	const char *reason;
	const char *design; /* what Diego's design says instead; NULL: the same, or nothing */
};
extern const struct reconcile_row reconcile_table[];
extern const unsigned reconcile_rows;

struct reconcile_view {
	enum reconcile_container container;
	enum reconcile_record record;
	bool is_drained;
	bool has_evacuating, has_suspect; /* such a record of this one */
};

/* The worker's eyes: `self` and `id` are this worker and this start. */
struct reconcile_self {
	uint32_t worker;
	uint64_t id;
	bool is_drained;
};
/* The records of the index, by presence; each of them, and the container, may be NULL. */
struct reconcile_view reconcile_look(const struct reconcile_self *self, const struct container *c,
    const struct instance *const records[N_PRESENCES]);
/* The one row that holds. */
const struct reconcile_row *reconcile_row_of(const struct reconcile_view *v);
enum reconcile_decision reconcile_decide(const struct reconcile_view *v);
/* Carried out now, is it still what is to be done? */
bool reconcile_stands(enum reconcile_decision decided, const struct reconcile_view *now);

#endif
