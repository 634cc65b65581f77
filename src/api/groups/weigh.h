/* SPDX-License-Identifier: Apache-2.0 */
/* How long the jobs of a group may take, by what earlier groups of its series took. */
#ifndef API_WEIGH_H
#define API_WEIGH_H

#include "core/event.h"
#include "store/store.h"

/* Of a group of n jobs, on a reader's thread: its weights are in the arena. */
void weigh_group(struct submit_group *g, size_t n, struct store_reader *r, struct arena *a);

#endif
