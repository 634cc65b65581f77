/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Needs in the brain. Every different need of a queue's tasks is a *shape*, made once and counted
 * by the tasks that have it. A shape knows its waiting tasks in their order, and the workers that
 * may have room for one of them: a worker that turns out not to fit leaves that list and remembers
 * that it did, and comes back when it has more to give. So a placement costs nothing for workers
 * that do not fit. Tasks that need nothing are the queue's `plain` shape, by the same rules.
 */
#ifndef CORE_SHAPE_H
#define CORE_SHAPE_H

#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

#include "model/task/need.h"

struct core;
struct queue;
struct task;
struct worker;

struct window_key { /* order inside a window; smaller first */
	int64_t a;
	uint64_t b;
};

struct holdings {
	struct holding *all;
	size_t n, cap;
};

/* A resource of the whole cluster, or a throttle, and who waits for some of it. */
struct common {
	struct holding held; /* a throttle has no total: whoever names it has a limit */
	RB_ENTRY(common) by_key;
	size_t n_shapes;   /* shapes that name a throttle: it goes with the last */
	uint64_t *waiting; /* ids of shapes */
	size_t n_waiting, cap_waiting;
};

struct shape_amount {
	struct str name;
	int64_t n;
	struct common *common; /* NULL: the worker has it */
	int64_t limit;         /* of a throttle: so many, with this one; 0: it is none */
};

struct eligible {
	struct worker *worker;
	uint64_t generation; /* the worker's, when it was entered; stale when it has moved on */
};

struct left { /* a list that a worker has left */
	uint64_t shape, list;
};

RB_HEAD(shape_tasks, task);
RB_HEAD(throttles, common);

struct shape {
	uint64_t id; /* never given again */
	struct queue *queue;
	struct str need; /* owned; NULL: nothing */
	struct shape_amount *amounts;
	size_t n_amounts;
	bool has_common;
	bool asks_worker; /* something of the worker, not only a throttle */
	bool is_too_much; /* the cluster never has so much */
	size_t refs;      /* tasks that wait with it, or are dispatched */
	RB_ENTRY(shape) by_need;
	TAILQ_ENTRY(shape) in_idle; /* nobody has it: kept for a while */
	bool is_idle;
	/* the shape's waiting tasks; none in the plain shape, whose tasks are those of the window
	 * that have no shape */
	struct shape_tasks waiting;
	size_t n_waiting;
	RB_ENTRY(shape) by_head; /* while it is open: it has waiting tasks and is not blocked */
	struct window_key head;
	bool is_open, is_blocked;
	/* workers that may fit: see fit.c */
	struct eligible *fits;
	size_t n_fits, cap_fits, cursor;
	size_t n_left;   /* workers that left the present list and are still connected */
	uint64_t list;   /* number of the present list; 0: it has none */
	bool is_counted; /* among the lists of its queue that some worker is in */
	TAILQ_ENTRY(shape) in_later;
	bool is_later;            /* the queue has too many lists: the shape waits for one */
	struct common *waits_for; /* what the shape is in line for; NULL: nothing */
	/* passed over: see reserve.c */
	uint64_t hungry_since;
	TAILQ_ENTRY(shape) in_hungry;
	bool is_hungry, is_starving;
	struct worker *reserved;
};

RB_HEAD(shapes_by_need, shape);
RB_HEAD(shapes_by_head, shape);
TAILQ_HEAD(shape_list, shape);

/* Of a queue: its tasks' needs. */
struct shapes {
	struct shape plain;
	struct shapes_by_need by_need;
	struct shapes_by_head open;
	struct shape_list idle, later;
	size_t n_idle, n_lists, n_shaped; /* waiting tasks that need something */
	struct window_key plain_from;     /* no task that needs nothing lies before it */
};

/* shape.c */
void shapes_init(struct core *c, struct queue *q);
void shapes_release(struct core *c, struct queue *q);
/* A task joins the waiting ones of its shape, or leaves them; both with its window. */
void shape_enter(struct core *c, struct task *t);
void shape_leave(struct core *c, struct task *t);
/* What the queue says has changed: its waiting tasks join the shapes that they have now. */
void shapes_anew(struct core *c, struct queue *q);
/* The shape with this need, which is not empty; the caller gives it back. */
struct shape *shape_get(struct core *c, struct queue *q, struct str need);
void shape_put(struct core *c, struct shape *s);
/* The next task in order that is not known to find no worker. */
struct task *shape_next_task(struct queue *q);
void shape_block(struct core *c, struct shape *s);
void shape_unblock(struct core *c, struct shape *s); /* the shape's queue is looked at again */

struct shape *shapes_first(const struct queue *q); /* the shapes that need something */
struct shape *shapes_next(struct shape *s);
#define SHAPES_EACH(var, q) for ((var) = shapes_first(q); (var); (var) = shapes_next(var))

/* fit.c */
/* A worker for one task of the shape; NULL: none now. */
struct worker *fit_pick(struct core *c, struct shape *s, const struct task_spec *spec);
void fit_joined(struct core *c, struct worker *w, struct queue *q);
void fit_later(struct core *c, struct queue *q);      /* one that waits for a list may have one */
void fit_lists_anew(struct core *c, struct queue *q); /* other workers serve it now */
void fit_list_drop(struct core *c, struct shape *s);
void fit_return(struct core *c, struct worker *w); /* back to the lists that w left */
void fit_unlinked(struct core *c, struct worker *w);
void fit_purge(struct core *c, const struct worker *w);
int32_t fit_connected(const struct shape *plain);

/* charge.c */
void commons_init(struct core *c);
void commons_release(struct core *c);
struct common *common_find(const struct core *c, struct str name);
void holdings_release(struct holdings *h);
/* What the worker offers, by its facts. */
void charge_offer(struct worker *w);
/* The task holds what it was dispatched with until it is detached. */
void charge_task(struct core *c, struct task *t, struct str need);
void charge_release(struct core *c, struct task *t);
bool charge_fits(const struct core *c, const struct worker *w, const struct shape *s);
bool charge_fits_ever(const struct worker *w, const struct shape *s);
bool charge_fits_common(const struct shape *s); /* what the cluster has, and throttles */
/* True: the cluster has too little, and the shape is in line for more. */
bool commons_short(struct core *c, struct shape *s);
/* What the shape wants of it; NULL: nothing. */
const struct shape_amount *commons_wanted(const struct shape *s, const struct common *of);
void commons_wake(struct core *c, const struct shape *s);
int64_t holding_free(const struct holdings *h, struct str name);

/* throttle.c */
void throttles_name(struct core *c, struct shape *s); /* a new shape names those of its need */
void throttles_unname(struct core *c, struct shape *s);
const struct common *throttle_find(const struct core *c, struct str key);
bool throttle_full(const struct shape *s); /* as many run as its tasks allow */

/* reserve.c */
void reserve_blocked(struct core *c, struct shape *s);
void reserve_placed(struct core *c, struct shape *s);
void reserve_forget(struct core *c, struct shape *s);
void reserve_consider(struct core *c, struct worker *w, struct shape *s);
void reserve_lost(struct core *c, struct worker *w);
void reserve_queue_rests(struct core *c, struct queue *q);
/* Whether what the shape needs is kept for another. */
/* The shape that keeps what the cluster has found no worker: others may have it meanwhile. */
void reserve_in_vain(struct core *c, struct shape *s);
bool reserve_bars(const struct worker *w, const struct shape *s);
bool reserve_bars_common(const struct core *c, const struct shape *s, const struct common *common);

#endif
