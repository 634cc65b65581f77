/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the brain has to say to people, as data: a code, and the facts that belong to it. src/words
 * makes sentences of both; no sentence that names a command is spelled in the brain.
 */
#ifndef CORE_SAY_H
#define CORE_SAY_H

#include "base/arena.h"
#include "model/limits.h"
#include "model/objects/kind.h"
#include "model/objects/queue.h"
#include "model/task/task.h"

struct core;

/* Why a connected worker gets nothing of a queue. */
enum unserved { UNSERVED_NO, UNSERVED_PLUGIN, UNSERVED_ACTIVE, UNSERVED_IGNORED, N_UNSERVED };

/* The code says which of these it has; the others are 0. */
struct facts {
	struct str name;   /* of the object that it is about */
	struct str other;  /* a second name: the worker in the way, the plugin */
	struct str reason; /* what somebody said of it; may be empty */
	struct str task;   /* the id of the task that waits, as people write it */
	rid at;            /* `other` is this job, by its task's id; */
	struct str job;    /* and this is its name, which only the store knows */
	int64_t n, of;     /* so many, of so many */
	int64_t needs, freest,
	    total;     /* of `other`: what it needs, what one has free, what there is */
	int64_t in_ms; /* when it is over by itself, from now */
	int64_t at_ms; /* the same on the wall clock */
	enum queue_order order;
	struct {
		enum unserved why;
		int32_t n;
	} unserved[N_UNSERVED - 1]; /* how many workers for each reason; n 0: no more of them */
};

/* What holds a task, and its stable name: one name may have several codes, which read differently.
 */
#define WHY_TABLE(X)                                      \
	X(WHY_INITIAL_WAIT, "initial-wait")               \
	X(WHY_LOST_HOLD, "lost-hold")                     \
	X(WHY_BACKOFF, "backoff")                         \
	X(WHY_RUN_AFTER, "run-after")                     \
	X(WHY_QUEUE_PAUSED, "queue-paused")               \
	X(WHY_QUEUE_PAUSED_UNTIL, "queue-paused")         \
	X(WHY_QUEUE_CLOSED, "queue-closed")               \
	X(WHY_QUEUE_FULL, "queue-full")                   \
	X(WHY_NO_WORKERS, "no-workers")                   \
	X(WHY_NO_WORKERS_AWAY, "no-workers")              \
	X(WHY_PLUGIN_NOT_ALLOWED, "plugin-not-allowed")   \
	X(WHY_NO_WORKER_SERVES, "no-worker-serves-queue") \
	X(WHY_WORKERS_FULL, "workers-full")               \
	X(WHY_WORKERS_CLOSED, "workers-full")             \
	X(WHY_WORKERS_UNHEALTHY, "workers-unhealthy")     \
	X(WHY_WORKERS_LEAVING, "workers-leaving")         \
	X(WHY_WORKERS_TOO_OLD, "workers-too-old")         \
	X(WHY_WORKERS_DRAINED, "workers-drained")         \
	X(WHY_NEED_PLACE, "need-place")                   \
	X(WHY_NEED_TOO_MUCH, "need-too-much")             \
	X(WHY_NEED_SHORT, "need-short")                   \
	X(WHY_NEED_TOGETHER, "need-short")                \
	X(WHY_NEED_KEPT, "need-kept")                     \
	X(WHY_NEED_NO_OFFERS, "need-no-offers")           \
	X(WHY_RESOURCE_SHORT, "resource-short")           \
	X(WHY_RESOURCE_TOO_MUCH, "resource-too-much")     \
	X(WHY_THROTTLED, "throttled")                     \
	X(WHY_THROTTLED_ARRAY, "throttled")               \
	X(WHY_BEHIND_OTHERS, "behind-others")             \
	X(WHY_BEHIND_OTHERS_BY_PRIORITY, "behind-others") \
	X(WHY_STARTING, "starting")                       \
	X(WHY_STARTING_ONCE_READ, "starting")             \
	X(WHY_WORKER_AWAY, "unsure")                      \
	X(WHY_NO_ANSWER, "unsure")                        \
	X(WHY_CANCELLING, "cancelling")                   \
	X(WHY_ON_ITS_WAY, "running")                      \
	X(WHY_ON_ITS_WAY_TO_UNHEALTHY, "running")         \
	X(WHY_RUNNING, "running")                         \
	X(WHY_RUNNING_ON_UNHEALTHY, "running")            \
	X(WHY_BLOCKED, "blocked")                         \
	X(WHY_HELD, "held")                               \
	X(WHY_GROUP_WAITS, "group-waits")                 \
	X(WHY_GROUP_NO_MEMORY, "group-waits")             \
	X(WHY_GROUPS_STAND, "groups-stand")               \
	X(WHY_GROUPS_BEFORE, "groups-before")             \
	X(WHY_GROUP_READS, "group-reads")                 \
	X(WHY_GROUP_OWED, "group-owed")                   \
	X(WHY_GROUP_RUNS, "group-runs")                   \
	X(WHY_GROUP_ENDS, "group-ends")                   \
	X(WHY_JOB_NEEDS, "needs")                         \
	X(WHY_JOB_NEEDS_FIRST, "needs-first")             \
	X(WHY_JOB_DUE, "needs-met")                       \
	X(WHY_INSTANCE_NEEDS, "needs-service")            \
	X(WHY_INSTANCE_HELD, "deploy-holds")              \
	X(WHY_INSTANCE_NO_PLACE, "no-place")              \
	X(WHY_INSTANCE_DUE, "unclaimed")                  \
	X(WHY_INSTANCE_CRASHED, "crashed")                \
	X(WHY_INSTANCE_GAVE_UP, "gave-up")                \
	X(WHY_INSTANCE_SILENT, "worker-silent")           \
	X(WHY_INSTANCE_EVACUATING, "evacuating")          \
	X(WHY_INSTANCE_BLOCKED, "evacuation-blocked")     \
	X(WHY_INSTANCE_STOPPING, "stopping")              \
	X(WHY_INSTANCE_STARTING, "starting")              \
	X(WHY_INSTANCE_NOT_READY, "not-ready")            \
	X(WHY_INSTANCE_READY, "ready")                    \
	X(WHY_INSTANCE_SURPLUS, "surplus")                \
	X(WHY_INSTANCE_NONE, "not-made-yet")

enum why_code {
#define X(code, name) code,
	WHY_TABLE(X)
#undef X
	    N_WHYS
};

struct why {
	enum why_code code;
	struct facts facts;
};
extern const char *const why_names[N_WHYS];
/* Every reason that the task waits. */
size_t core_why(const struct core *c, const struct task_row *row, int64_t now_ms, int64_t mono_ms,
    struct arena *a, struct why **ret_whys);

/* What the server waits for, and its stable name. */
#define WAIT_TABLE(X)                                \
	X(WAIT_START, "initial-wait")                \
	X(WAIT_START_UNSAFE, "initial-wait")         \
	X(WAIT_START_LOST, "initial-wait-worker")    \
	X(WAIT_START_SILENT, "initial-wait-worker")  \
	X(WAIT_START_NEW, "initial-wait-worker")     \
	X(WAIT_START_UNTOLD, "initial-wait-worker")  \
	X(WAIT_START_AGREES, "initial-wait-worker")  \
	X(WAIT_START_DIFFERS, "initial-wait-worker") \
	X(WAIT_WORD, "worker-word")                  \
	X(WAIT_UNSURE, "unsure")                     \
	X(WAIT_BATCHED, "consensus")                 \
	X(WAIT_BATCHED_BEAT, "consensus")            \
	X(WAIT_BATCHED_LOSS, "consensus")            \
	X(WAIT_SET_OWN, "consensus")                 \
	X(WAIT_SET_BEAT, "consensus")                \
	X(WAIT_SET_UNHEALTHY, "consensus")           \
	X(WAIT_SET_AWAY, "consensus")                \
	X(WAIT_HELLO, "worker-health")               \
	X(WAIT_BEAT, "worker-health")                \
	X(WAIT_CHECK, "worker-health")               \
	X(WAIT_LIFE, "worker-health")

enum wait_code {
#define X(code, name) code,
	WAIT_TABLE(X)
#undef X
	    N_WAITS
};

struct wait {
	enum wait_code code;
	rid worker;    /* 0: none in particular */
	int32_t tasks; /* how many tasks wait for the same */
	int64_t in_ms; /* at the latest; -1: nobody can say */
	struct facts facts;
};
extern const char *const wait_names[N_WAITS];
/* Everything that the server waits for now; the most important first. */
size_t core_waits(const struct core *c, int64_t mono_ms, struct arena *a, struct wait **ret_waits);

/* What a person who was refused something could do, where that is a command. */
enum hint_code {
	HINT_NONE,
	HINT_LIST,         /* see which ones of the kind there are */
	HINT_CHANGE,       /* change the one of that name */
	HINT_REVOKE,       /* revoke the one of that name */
	HINT_QUEUE_CANCEL, /* cancel its tasks and try again */
	HINT_START_WAIT,   /* try again when the initial wait is over */
	HINT_WORKER_LOSS,  /* wait until that worker is lost, or declare it so */
	HINT_WORKER_LOST,  /* declare it lost */
	HINT_WORKER_TELL,  /* see whether it is connected */
	/* and what is said after a sentence, rather than beside it */
	HINT_HOW_LONG,       /* see how long the initial wait may take */
	HINT_WHEN_LOST,      /* see when a worker is lost */
	HINT_WORKERS_REMOVE, /* remove lost workers, or raise the limit */
	N_HINTS
};

struct hint {
	enum hint_code code;
	char name[NAME_MAX_BYTES + 1]; /* of what it is about; "": nothing in particular */
	enum kind kind;                /* and its kind: HINT_LIST, HINT_CHANGE */
};

#endif
