/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a plan, each on the one before. Nodes are numbered by name. */
#ifndef GRAPH_PLAN_INTERNAL_H
#define GRAPH_PLAN_INTERNAL_H

#include "graph/plan/manifest.h"

#define NO_NODE UINT32_MAX

struct plan {
	const struct package_graph *g;
	const struct plan_request *request;
	struct manifest *m;
	struct problem *p;
	uint32_t rounds;

	/* view.c: the dependencies that count now, of each node ascending, each once */
	uint32_t *first, *on;
	uint8_t *kinds;
	uint32_t *user_first, *users; /* the same, turned round */
	uint8_t *touched;

	/* choose.c: what is built */
	uint8_t *chosen;

	/* components.c: by component, in the order in which they are built */
	uint32_t n_comps;
	uint32_t *comp;       /* of each node; NO_NODE: not built */
	uint32_t *comp_first; /* n_comps + 1 */
	uint32_t *members;    /* of each component by name; after order.c in a round's order */
};

void plan_release(struct plan *x);
void plan_view(struct plan *x);
void plan_choose(struct plan *x);
void plan_components(struct plan *x);
/* ERR_CONFLICT: runtime and strong edges of a component contradict each other. */
int plan_order(struct plan *x);
/* The same for each component, whatever the others say: tells of every contradiction. */
void plan_order_each(struct plan *x, void (*tell)(void *arg, const struct problem *p), void *arg);
int plan_unroll(struct plan *x);

#endif
