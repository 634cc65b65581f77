/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tasks, queues and workers of a simulated world need and offer. All of it is drawn from a
 * stream of its own, so that seeds keep their meaning. The first worker offers enough for any need:
 * whatever waits must start in the end.
 */
#ifndef SIM_NEEDS_H
#define SIM_NEEDS_H

#include "model/task/need.h"
#include "sim/world/world.h"

struct sim_worker;

enum { HELD_CPU, HELD_GPU, HELD_LICENCE, HELD_ONE, HELD_TWO, N_HELD };
extern const char *const held_names[N_HELD];

#define SIM_LICENCES 3
extern const struct amount sim_resources[];
extern const size_t n_sim_resources;

void sim_needs_draw(struct sim_options *o);
struct str needs_of_task(struct world *w);  /* static; NULL: none */
struct str needs_of_queue(struct world *w); /* the same */
/* The same text as one of those, which lives as long as the world. */
struct str needs_known(struct str need);
/* What a new process of the worker offers, and its labels. */
void needs_offer(struct world *w, struct sim_worker *k);

#endif
