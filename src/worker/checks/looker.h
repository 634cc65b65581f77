/* SPDX-License-Identifier: Apache-2.0 */
/* One look at a long runner: by a probe over the network, or by a command of its own. */
#ifndef WORKER_LOOKER_H
#define WORKER_LOOKER_H

#include "worker/checks/probe.h"
#include "worker/internal.h"

struct looker {
	struct job *job;
	/* For each look at most one, which may come from inside looker_look(). */
	void (*done)(struct looker *l, bool ok, struct str why);
	uint64_t number; /* of the look */
	struct probe *probe;
	struct kept command;
	bool running; /* the command */
};

/* An earlier look that has not ended is dropped. */
void looker_look(struct looker *l, const struct run_check *c, uint64_t number);
void looker_drop(struct looker *l);

#endif
