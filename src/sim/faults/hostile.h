/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Somebody at the worker port who was let in, and lies. He knows every name, instance, lock, task
 * and token; what he cannot do is prove another's key. He takes no tasks of his own, so whatever
 * he says must change nothing: invariant 41, and all others as ever.
 */
#ifndef SIM_HOSTILE_H
#define SIM_HOSTILE_H

#include "sim/faults/plan.h"

struct sim_hostile;

/* One attack: a connection, a hello that is some kind of lie, and words about others' tasks. */
void sim_hostile_begin(struct world *w, struct fault *f, unsigned number);
/* Under his own name, with this set, he says that he runs what others run. 0: nobody listens. */
uint64_t sim_hostile_lie(
    struct world *w, struct rng *r, uint64_t instance, const struct set_id *set);
/* Some attempt that runs, as a hello names it. False: there is none. */
bool sim_hostile_lies_of(struct world *w, struct rng *r, struct link_held *ret_lie);
/* A real worker of that instance says to hold what another has. */
void sim_hostile_claims(struct world *w, uint64_t instance, const struct link_held *lie);
/* And then, once he was heard, that some of it has ended. */
void sim_hostile_end(struct world *w, struct rng *r, uint64_t link);
void sim_hostile_heal(struct world *w); /* the stranger hangs up */
void sim_hostile_free(struct sim_hostile *h);

/* judge_hostile.c: around every step of the core, and for every message that it sends. */
void judge_hostile_before(struct world *w, const struct event *ev);
void judge_hostile_message(struct world *w, const struct message *m);
void judge_hostile_after(struct world *w, const struct event *ev);
void judge_hostile_row(struct world *w, const struct task_row *row);

#define HOSTILE_LINKS 128
#define HOSTILE_HELD 3
#define HOSTILE_CLAIMS 64

struct hostile_link {
	uint64_t number;
	int victim; /* whose name his hello is in; -1: his own */
	bool is_absurd;
	rid held[HOSTILE_HELD]; /* what his hello says that he holds */
	size_t n_held;
};

struct sim_hostile {
	struct hostile_link links[HOSTILE_LINKS];
	size_t n_links;
	/* before a step: by worker, whether its name may be taken by a stranger */
	bool is_free[SIM_WORKERS_MAX];
	/* and the tasks that a hostile word names */
	struct {
		rid id;
		bool found;
		struct task_state state;
	} tasks[HOSTILE_HELD];
	size_t n_tasks;
	bool watches;
	/* what real workers said to hold, of others'; the newest */
	struct {
		rid task;
		int64_t token;
		uint64_t instance;
	} claims[HOSTILE_CLAIMS];
	size_t n_claims;
};

const struct hostile_link *hostile_link(const struct world *w, uint64_t number);

#endif
