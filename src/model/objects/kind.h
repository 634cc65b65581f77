/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of objects: what people make, change and look at by name. Each has a row in the brain's
 * table of kinds (core/kinds.c). A task may belong to an object that submits tasks: its owner.
 */
#ifndef MODEL_KIND_H
#define MODEL_KIND_H

#include "base/str.h"
#include "model/id.h"

/* Numbers of kinds that own tasks are stored: a further one is the last. */
#define KIND_TABLE(X)         \
	X(SCHEDULE, schedule) \
	X(QUEUE, queue)       \
	X(WORKER, worker)     \
	X(TOKEN, token)       \
	X(GROUP, group)       \
	X(GRAPH, graph)       \
	X(DOMAIN, domain)     \
	X(SERVICE, service)

enum kind {
#define X(id, name) KIND_##id,
	KIND_TABLE(X)
#undef X
	    N_KINDS
};

extern const char *const kind_names[N_KINDS];

/* What a task is part of, or what triggered a group: that object, and which part of it; of a
 * schedule, the tick; of a group, the job; of a service, the index. */
struct owner {
	int32_t kind; /* enum kind */
	rid id;       /* 0: it belongs to nobody */
	int64_t part;
};

/* What can trigger a group. Its rows say only which one, so there is one such kind. */
#define GROUP_OWNER KIND_SCHEDULE
#define GROUP_OWNER_NAME "schedule"

/* In the row of an object that can be paused. */
struct pause {
	struct str reason;
	int64_t until_ms; /* 0: until resumed */
};

static inline bool pause_is_over(const struct pause *p, int64_t now_ms)
{
	return p->until_ms && p->until_ms <= now_ms;
}

/* What only one kind can be told: EV_DO. */
enum verb {
	VERB_NONE,
	SCHEDULE_RUN,      /* a task now, whatever the time is */
	SCHEDULE_BACKFILL, /* the ticks of [from_s, to_s) that have none */
	WORKER_STOP,       /* the worker ends what it has, and goes */
	WORKER_RESTART,    /* and comes back as a new instance */
	WORKER_DRAIN,      /* no more tasks; what the worker has goes on */
	WORKER_UNDRAIN,
	TOKEN_USE,       /* a token for one use was used, by the worker of that name */
	GROUP_CANCEL,    /* what waits ends, what runs is told */
	GROUP_UNDRAFTED, /* what its owner asks for cannot be drafted: the reason says why */
	GRAPH_CHANGE,    /* packages of it, at once: see struct object_parts */
	DOMAIN_FRESH,    /* its owner says that the desired set is complete */
	DOMAIN_STALE,    /* it is not, or nobody knows */
	/* services; `number` is a revision or an index, see struct event */
	SERVICE_DEPLOY,   /* to that revision, which is there */
	SERVICE_PROMOTE,  /* the deploy goes on with all instances */
	SERVICE_ROLLBACK, /* to that revision, or 0: to the stable one */
	SERVICE_RESTART,  /* one instance, or all, one after the other */
	SERVICE_STOP,     /* one instance; convergence starts it anew if it is wanted */
};

#endif
