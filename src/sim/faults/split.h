/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The adversary of worker set consensus. Some workers are cut off (perhaps only from what they are
 * told), the others come back as new instances and get work; then the server dies, once or often,
 * and the first ones return while the others are away. Whoever agrees on too small a set now
 * lets copies of running tasks start.
 */
#ifndef SIM_SPLIT_H
#define SIM_SPLIT_H

#include "sim/faults/plan.h"

void sim_split_begin(struct world *w, struct fault *f, unsigned number);
/* A later step of the fault with that number. */
void sim_split_step(struct world *w, struct fault *f, unsigned number, int step);

#endif
