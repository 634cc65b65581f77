/* SPDX-License-Identifier: Apache-2.0 */
/* Random work: queues, submits, cancels and the like, by clients that repeat what got no answer. */
#ifndef SIM_LOAD_H
#define SIM_LOAD_H

#include "sim/world/world.h"

struct load;

void sim_load_begin(struct world *w);
void sim_load_free(struct load *l);
/* SE_LOAD, SE_COMMAND, SE_REPLY */
void sim_load_event(struct world *w, struct sim_event *e);
/* Everything may run. */
void sim_load_heal(struct world *w);
/* No client waits for an answer any more. */
bool sim_load_is_quiet(const struct world *w);

#endif
