/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start: what the store loads becomes the brain's first events. The shell has the clocks; it may
 * look at each row before the brain does, and add to the last event. The server's engine and the
 * simulator run this very one.
 */
#ifndef CORE_LOADING_H
#define CORE_LOADING_H

#include "core/core.h"
#include "model/rows/loader.h"

struct loading {
	struct core *core;
	struct effects *out;   /* what the load writes */
	uint64_t installation; /* drawn by the shell: the middle of all ids, if the store is new */
	struct problem *problem; /* why the load was stopped */
	/* Fills in the clocks and a seed. */
	void (*stamp)(struct loading *l, struct event *ev);
	void (*see)(
	    struct loading *l, const struct row_table *t, const void *row); /* may be NULL */
	void (*finish)(struct loading *l, struct event *done);              /* may be NULL */
	struct id_space ids; /* of the installation, once it is loaded */
	bool has_installation;
};

struct row_loader loading_loader(struct loading *l);
/* One event to the brain. */
int loading_feed(struct loading *l, struct event *ev);
/* A fact about the installation that the store does not have yet. */
struct meta_row *loading_save(struct loading *l, const char *name, struct str value);

#endif
