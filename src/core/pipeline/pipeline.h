/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durable, then visible. What steps want done gathers in a set; the set's rows become durable;
 * only then does everything else in it leave. This machine is pure: it says what its shell has
 * to do now, and its shell says what came of it. The server's engine and the simulator run this
 * very one.
 *
 *              has rows, nothing flies            durable              all has left
 *   GATHERING ------------------------> FLYING -----------> RELEASING -------------> FREE
 *       |                                ^  |                   ^
 *       |                    tried again +--+ refused whole     |
 *       |                                                       |
 *       +----- has no rows, nothing flies: nothing to wait for -+
 *
 * There are three sets, so that one can gather while one flies and one is released. A set without
 * rows still waits for the one before it: nobody sees a state that a crash could take back. The
 * table is in pipeline.c; set_move() makes every move.
 */
#ifndef CORE_PIPELINE_H
#define CORE_PIPELINE_H

#include "base/moves.h"
#include "core/core.h"

enum set_state { SET_FREE, SET_GATHERING, SET_FLYING, SET_RELEASING, N_SET_STATES };
extern const struct moves set_moves;

struct pipeline {
	struct pipeline_set {
		struct effects effects;
		enum set_state state;
	} sets[3];
	/* Which of them is in that state. NULL: none; gathering: not begun. */
	struct effects *gathering, *flying, *releasing;
	uint64_t seq;   /* of the last batch; only rises */
	bool is_midway; /* what gathers is not whole yet: see core_is_midway() */
	bool is_stuck;  /* the store has refused the flying set: it cannot take more now */
};

enum commit_outcome {
	COMMIT_DURABLE,
	COMMIT_REFUSED, /* nothing was written, and it may be tried again */
	COMMIT_UNKNOWN, /* the brain may be ahead of the store: only a fresh start is true */
};

/* What the shell has to do now, in this order. */
struct pipeline_work {
	struct batch *commit;    /* make it durable, then pipeline_committed(); NULL: nothing */
	struct effects *release; /* pipeline_release(); NULL: nothing */
	bool retry;              /* after a while: pipeline_retry() */
	bool tell_unknown;       /* whoever waits for an answer hears that nobody knows it yet */
	bool go_on;              /* another set gathers now: EV_GO_ON */
	bool end;                /* nothing may leave any more: the process ends */
};

/* Where the parts of a set go. Each may end the shell: false then, and nothing more is told. */
struct pipeline_outlets {
	bool (*read)(const struct read_ask *ask, void *arg);
	bool (*send)(const struct message *m, size_t n, void *arg);
	bool (*answer)(const struct reply *r, void *arg);
	bool (*tell)(const struct effects *fx, void *arg); /* the effects' notices */
	void *arg;
};

/* The one door; the set is one of the pipeline's. No state but free has two sets. */
void set_move(struct pipeline *p, struct effects *set, enum set_state to);
/* Begins to gather. Also after pipeline_drop(): numbers of batches go on. */
void pipeline_begin(struct pipeline *p);
/* What has not been told is forgotten: the shell is no more. */
void pipeline_drop(struct pipeline *p);
void pipeline_free(struct pipeline *p);

/* Whether the batch of that number is in the store; 0 is what was there before. */
bool pipeline_is_durable(const struct pipeline *p, uint64_t batch);

/* A step of the brain, into the set that gathers. */
void pipeline_step(struct pipeline *p, struct core *c, const struct event *ev);
/* Something has gathered: what of it may go? Asked too often it does no harm. */
struct pipeline_work pipeline_flush(struct pipeline *p);
struct pipeline_work pipeline_committed(struct pipeline *p, enum commit_outcome outcome);
struct pipeline_work pipeline_retry(struct pipeline *p);
/* An orderly end; nobody is told any more, and what flew has landed or was refused. What may still
 * be written, or NULL: nothing may that came after a refused batch. */
struct batch *pipeline_last(struct pipeline *p);
/* Everything that waited for this set to be durable leaves. Steps taken meanwhile gather
 * elsewhere. False: the shell has ended on the way. */
bool pipeline_release(
    struct pipeline *p, struct effects *fx, const struct pipeline_outlets *outlets);

#endif
