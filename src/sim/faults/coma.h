/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine that has processes sleeps past the moment at which its worker must have given up. Its
 * processes are another worker's by then, and nobody can end them before they wake. What is
 * promised for them: nothing of them counts any more, and as soon as they wake they are ended.
 */
#ifndef SIM_COMA_H
#define SIM_COMA_H

#include "sim/faults/plan.h"

void sim_coma_begin(struct world *w, struct fault *f);
/* A machine has just fallen asleep: should the moment pass before it wakes, the judge hears of it.
 */
void sim_coma_watch(struct world *w, int slot);

#endif
