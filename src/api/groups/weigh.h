/* SPDX-License-Identifier: Apache-2.0 */
/* What earlier groups of its series say of the jobs of a group: how long each may take, and which
 * was built from the same before. */
#ifndef API_WEIGH_H
#define API_WEIGH_H

#include "core/event.h"
#include "model/objects/group_graph.h"
#include "store/store.h"

/* The build of a job that was built from the same; task 0: there is none. */
struct same_build {
	rid group, task;
};

/* Of a group of n jobs, on a reader's thread: its weights are in the arena. ret_same: of each job;
 * NULL: nobody wants to know. */
void weigh_group(struct submit_group *g, size_t n, struct store_reader *r, struct arena *a,
    struct same_build *ret_same);

#endif
