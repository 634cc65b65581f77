/* SPDX-License-Identifier: Apache-2.0 */
/* What the brain must know at start, as a store tells it. */
#ifndef MODEL_LOADER_H
#define MODEL_LOADER_H

#include "model/id.h"
#include "model/objects/kind.h"
#include "model/rows/row.h"

/* Rows live for the call; a non-zero return stops the load. */
struct row_loader {
	void *arg;
	/*
	 * In the order of row_tables, every row of those that are loaded. Behind the last of them
	 * every task that is claimed or running, in order of id.
	 */
	int (*row)(void *arg, const struct row_table *t, const void *row);
	/* behind the queues: how many tasks of a live status (queued, held, claimed, running) each
	 * of them holds */
	int (*count)(void *arg, rid queue, int32_t status, int64_t n);
	/* every live task (queued, held, claimed, running) that has an owner, except of groups that
	 * have ended; in order of id, and jobs of groups behind all others */
	int (*owned)(void *arg, const struct owner *of, rid task, rid queue);
	/* last of all: the highest id and event number ever written */
	int (*done)(void *arg, rid last_id, uint64_t last_event);
};

#endif
