/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that the brain knows: each room's part is declared in the room's own header, and what only
 * one kind knows is in the kind's room. For whoever touches `struct core`; the others include what
 * they use.
 */
#ifndef CORE_STATE_H
#define CORE_STATE_H

#include "base/data/idmap.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "core/ask/audit.h"
#include "core/ask/lane.h"
#include "core/core.h"
#include "core/object.h"
#include "core/run/input.h"
#include "core/run/run.h"
#include "core/timer.h"
#include "core/workers/workers.h"
#include "core/zone.h"

/* The brain. Stored fields (rows) lie apart from what is rebuilt. */
struct core {
	struct core_options o;
	bool open;
	struct id_space ids;
	int64_t now_ms, mono_ms; /* of the present step */
	uint64_t seed;
	rid last_id;
	uint64_t last_event;
	uint64_t last_read;    /* reads are numbered from 1 */
	uint64_t *outstanding; /* numbers of reads under way, ascending */
	size_t n_outstanding, cap_outstanding;
	uint64_t hellos;
	struct gone gone[GONE_MAX];
	size_t n_gone;
	struct idmap tasks;      /* in memory, by id; ghosts too */
	struct task_list ghosts; /* oldest first */
	struct objects objects[N_KINDS];
	void *of_kind[N_KINDS]; /* what its objects share, which only its room knows; or NULL */
	struct idmap links;     /* link number -> worker */
	struct queue_list rotation, stalled;
	bool is_room_back;        /* what workers give back is dealt with, */
	struct queue *waited;     /* and of the queues that waited for that this was the last */
	struct worker_list roomy; /* workers that may have more room than before */
	struct idmap shapes;      /* by id */
	uint64_t last_shape, last_list;
	struct common *commons; /* what the whole cluster has */
	size_t n_commons;
	struct throttles throttles;
	uint64_t n_shaped_placed;           /* tasks that need something */
	struct shape_list hungry, starving; /* passed over; the longest first */
	struct shape *common_for;           /* all that the cluster has is kept for it */
	struct timers timers;
	int64_t hold_floor_ms; /* when every hold that we may not know of is over */
	struct consensus set;
	int64_t set_looked_ms;  /* monotonic: when it was last computed */
	struct timer set_timer; /* monotonic: it is to be computed again; not set: it is fresh */
	struct start start;
	struct lane lane;
	struct inputs inputs;
	struct known_zones zones;
	struct refusals refusals;
	struct timer retry_reads; /* monotonic; not set: no read has failed */
};

/* command.c, core.c */
int core_command(struct core *c, const struct event *ev, struct effects *out);
int command_run(struct core *c, const struct event *ev, struct pending *p, struct effects *out);

/* load.c */
void load_step(struct core *c, const struct event *ev, struct effects *out);

#endif
