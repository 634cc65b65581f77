/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a group's jobs: most important first, and each after all that it needs. Pure. */
#ifndef CORE_GROUP_ORDER_H
#define CORE_GROUP_ORDER_H

#include "base/arena.h"
#include "model/objects/group_graph.h"

struct order {
	const struct group_edge *edges;
	size_t n_edges;
	const uint32_t *weights; /* NULL: all alike */
	uint32_t n;
};
/* False: there is a cycle, through *ret_job. */
bool order_jobs(const struct order *o, struct arena *a, uint32_t **ret_order, uint32_t *ret_job);

#endif
