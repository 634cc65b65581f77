/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of objects in a simulated world: what their clients ask for, what the world has because
 * of them, and what the judge must know of them. A further kind of work is a folder of its own, and
 * a row in kinds.c.
 */
#ifndef SIM_KIND_H
#define SIM_KIND_H

#include "sim/judge/judge.h"
#include "sim/load/load.h"

struct command_parts;
struct event;
struct fault;
struct loading;
struct reply;
struct request;
struct sim_process;
struct sim_worker;
struct truth_task;

/* Hooks; each may be NULL. */
struct sim_kind {
	enum kind kind;
	const struct invariant *invariants; /* the kind's own; the one without a name ends them */
	/* Options: whether this seed has it (sim_options.kinds), and the faults that go with it. */
	void (*draw)(struct sim_options *o);
	/* The world: what it has of this kind (world.of_kind), before the server and the load. */
	void (*begin)(struct world *w);
	void (*free)(struct world *w);
	/* What the brain must be told before the store is loaded. */
	void (*starting)(struct world *w, struct loading *l);
	/* A fault of CLASS_TIME. */
	void (*time_fault)(struct world *w, struct fault *f);
	/* The load: the first requests; one more, by SE_LOAD with its number; all may run now. */
	void (*load)(struct world *w);
	void (*draw_request)(struct world *w);
	void (*heal)(struct world *w);
	/* The command of a request, for that queue, if it is there; false: it names nothing. */
	bool (*command)(struct world *w, const struct request *r, rid queue, struct event *ev,
	    struct command_parts *parts);
	/* The group, or the like, that a submit makes (request.makes) of its tasks. */
	void (*submit)(struct world *w, const struct request *r, struct event *ev, struct arena *a);
	/* A worker's new process offers that, too: lines, for its offer. */
	void (*offer)(struct world *w, struct sim_worker *k);
	/* A process of any task: what it will do is drawn; it runs. */
	void (*process_new)(struct world *w, struct sim_process *p, const struct link_run *run);
	void (*process_started)(struct world *w, struct sim_process *p);
	/* What the server's surface does of its own, after every step. */
	void (*stepped)(struct world *w);
	/* The judge: EV_DO was carried out, and that is durable. */
	void (*done)(struct world *w, const struct event *command, const struct reply *r);
	/* The judge: around every step; a start; a task that it owns is stored. */
	void (*before)(struct world *w);
	void (*after)(struct world *w, const struct event *ev);
	void (*loaded)(struct world *w);
	void (*task_stored)(struct world *w, struct truth_task *t);
	/* The judge: a row of such a task is written; a process of it starts. */
	void (*task_moved)(struct world *w, struct truth_task *t, const struct task_row *row);
	void (*task_started)(struct world *w, struct truth_task *t);
	/* The judge: a worker is about to start it, by this order. */
	void (*task_shown)(struct world *w, struct truth_task *t, const struct link_run *run);
	/* The judge, after healing: nothing is left to wait for; and what is. */
	bool (*settled)(struct world *w);
	void (*unsettled)(struct world *w);
	/* The judge: any row but a task's is written or gone; a batch is whole. */
	void (*stored)(struct world *w, const struct row_op *op);
	void (*applied)(struct world *w);
};

/* All of them, in the order in which they act; NULL ends them. */
extern const struct sim_kind *const sim_kinds[];

const struct sim_kind *sim_kind_of(enum kind kind);

/* Calls a hook of every kind that has it. */
#define SIM_KINDS_DO(hook, ...)                                               \
	for (const struct sim_kind *const *k_ = sim_kinds; *k_ != NULL; k_++) \
		if ((*k_)->hook)                                              \
	(*k_)->hook(__VA_ARGS__)

#endif
