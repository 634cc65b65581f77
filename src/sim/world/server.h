/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server: its brain, the pipeline (gather, commit, release) that server/engine/engine.c runs,
 * too, and the store, which outlives it.
 */
#ifndef SIM_SERVER_H
#define SIM_SERVER_H

#include "core/pipeline/pipeline.h"
#include "core/pipeline/tickets.h"
#include "sim/world/world.h"
#include "store/store.h"

/* Where a crash can be placed: the n-th time from now that the server comes here it dies. */
enum sim_boundary {
	AT_NOWHERE,
	AT_STEP,    /* before an event is handled */
	AT_FLY,     /* a batch has gathered, nothing is written */
	AT_APPLY,   /* just before it becomes durable */
	AT_APPLIED, /* the batch is durable, nobody was told */
	AT_RELEASE, /* in the middle of telling */
	N_BOUNDARIES,
};

struct sim_server {
	struct sim_node node;
	struct store *store;
	struct store_reader *reader;
	struct core *core; /* NULL: it is down */
	struct core_options core_options;
	uint64_t incarnation; /* rises with every start */
	bool was_volatile;    /* some server of this run, so far */
	struct pipeline pipe;
	uint64_t seen_set;   /* the number of the set that gathered when the judge last looked, */
	size_t seen_notices; /* and how many of its notices it has seen */
	bool flush_planned, go_on_planned, applied;
	struct sim_event *wake;
	int64_t read_us;        /* the reader is busy until then: reads keep their order */
	struct tickets tickets; /* commands that wait for their answer */
	/* faults */
	enum sim_boundary crash_at;
	int crash_after;
	int64_t down_us;                /* after a crash it stays down that long */
	int64_t slow_until_us, slow_us; /* commits take that long */
	int64_t busy_until_us;          /* commits are refused */
	int64_t reads_fail_until_us;
	int64_t reads_slow_until_us, read_slow_us;
	int64_t ticks_slow_us; /* the next answer about ticks comes so long after they were read */
	bool lose_next_commit; /* the outcome of the next commit is unknown: it ends itself */
	bool lost_is_applied;
};

void sim_server_init(struct world *w);
void sim_server_release(struct world *w);
/* Starts it (no harm if it is up): what is stored is loaded by core/pipeline/loading.h. */
void sim_server_start(struct world *w);
/* kill -9: what is not durable is gone; its links break. It is started again after down_us (<0:
 * only by sim_server_start()). */
void sim_server_crash(struct world *w, int64_t down_us);
/* SIGTERM: what has gathered is still written, but nobody is told. */
void sim_server_stop(struct world *w, int64_t down_us);
/* An event into the brain, now, with the times of the server's clocks. No harm while it is down. */
void sim_server_step(struct world *w, struct event *ev);
/* A command, now. ev is copied by the brain where it must last. False: it is down. */
bool sim_server_command(struct world *w, struct event *ev, ticket_fn *fn, void *arg);
/* The alarm of the brain is set anew (its clock has changed). */
void sim_server_wake(struct world *w);
/* No more faults; it is started if it is down. */
void sim_server_heal(struct world *w);
/* The brain, to be looked at; NULL while it is down. */
const struct core *sim_core(const struct world *w);
int64_t sim_server_mono_ms(const struct world *w);
int64_t sim_server_wall_ms(const struct world *w);
/* SE_SERVER_*, SE_FLUSH, SE_GO_ON, SE_COMMIT_*, SE_READ*: called by the world. */
void sim_server_event(struct world *w, struct sim_event *e);

/* server_load.c, server_read.c */
void sim_server_load(struct world *w);
void sim_read_begin(struct world *w, const struct read_ask *ask);
void sim_read_event(struct world *w, struct sim_event *e);
void sim_read_free(void *reading);

#endif
