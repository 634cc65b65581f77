/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The faults of a run, drawn before it begins: each has a number, a moment, and randomness of its
 * own, so that leaving one out changes neither the number nor the nature of the others.
 */
#ifndef SIM_PLAN_H
#define SIM_PLAN_H

#include "sim/world/world.h"

struct sim_plan;

struct fault {
	int class;
	int64_t at_us;
	int slot;
	struct rng rng;
	uint64_t away; /* CLASS_SPLIT: bits of the workers that are cut off first */
	int64_t end_us;
	uint64_t set_server, link; /* CLASS_HOSTILE: whose set he lies about, over which link */
};

/* How many are numbered; a run has those of its classes. */
size_t sim_plan_size(const struct sim_options *o);
struct sim_plan *sim_plan_new(struct world *w);
void sim_plan_free(struct sim_plan *p);
void sim_plan_event(struct world *w, struct sim_event *e);
/* The numbers of all faults that this run has, for shrinking. */
size_t sim_plan_numbers(const struct sim_plan *p, const unsigned **ret_numbers);

#endif
