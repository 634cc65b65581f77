/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An operator who is right and in a hurry: a worker that is cut off and holds nothing is removed as
 * lost. The others get work, of which the server does not hear that it was started; then the
 * server dies, and the removed one, whose process is still there, is the first that comes back.
 */
#ifndef SIM_REMOVE_H
#define SIM_REMOVE_H

#include "sim/faults/plan.h"

/* The first one happens while one worker is all there is: it knows of nobody else. */
#define REMOVE_ALONE_US (10 * SECOND_US)
void sim_remove_first(struct fault *f);
void sim_remove_begin(struct world *w, struct fault *f, unsigned number);
/* A later step of the fault with that number. */
void sim_remove_step(struct world *w, struct fault *f, unsigned number, int step);

#endif
