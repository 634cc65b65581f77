/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The liar lies about the set of workers. The words of all others are held up, so that starts are
 * known to nobody but them, and the server dies. The liar is the first who comes to the next
 * server, says that he is all there is and that he runs what others run, and goes. Then all come
 * back but one. Or one of the workers turns liar: it comes back before the others, and claims their
 * attempts beside its own.
 */
#ifndef SIM_LIAR_H
#define SIM_LIAR_H

#include "sim/faults/plan.h"
#include "sim/world/worker.h"

#define LIAR_CLAIMS 3

/* False: there are no sets to lie about. */
bool sim_liar_begin(struct world *w, struct fault *f, unsigned number);
/* What its hello says to hold, and, if it lies, some of others' attempts; returns how many. */
size_t sim_liar_claims(struct world *w, struct sim_worker *k, struct link_held *held, size_t n);
/* A later step of the fault with that number. */
void sim_liar_step(struct world *w, struct fault *f, unsigned number, int step);

#endif
