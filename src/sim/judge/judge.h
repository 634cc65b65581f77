/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge: knows what is true, because it sees every process start and end, every row that
 * becomes durable and every answer that is given; and says when an invariant does not hold.
 * Each of its hooks looks only at what has just changed.
 */
#ifndef SIM_JUDGE_H
#define SIM_JUDGE_H

#include "sim/world/server.h"
#include "sim/world/worker.h"

struct judge;

struct invariant {
	int number; /* as in docs/TESTING.md; 0 ends a list of them */
	const char *name, *text;
};
/* NULL: there is none of that number. */
const struct invariant *invariant_find(int number);
/* Says which does not hold: number, name and text. */
void verdict_set(struct verdict *v, int number);

struct judge *judge_new(void);
void judge_free(struct judge *j);
/* A short number for a task, in order of first sight: for the story. */
unsigned judge_number(struct world *w, rid task);

/* Around every step of the core. */
void judge_before(struct world *w, const struct event *ev);
void judge_after(struct world *w, const struct event *ev);
/* A batch is durable from now on. */
void judge_applied(struct world *w, const struct batch *b);
/* The watchers are told. */
void judge_notices(struct world *w, const struct effects *fx);
/* A client is answered, durably. */
void judge_answered(struct world *w, const struct event *command, const struct reply *r);
/* A submit is: to this batch of tasks; 0: to a new one, or none. */
void judge_batch_answered(struct world *w, rid joined, const struct reply *r);
/* A client asks for another run of an ended task, or for anything else: from now on it may be. */
void judge_asked(struct world *w, const struct event *command);
/* The server has loaded its store and is open. */
void judge_loaded(struct world *w);
/* The server's wall clock is about to be set; back: to an earlier time. */
void judge_clock(struct world *w, bool back);
/* A worker's word on its way. */
void judge_said(struct world *w, int slot, const struct event *ev);
/* A process starts (this is what "start" means), has written, and is over. */
void judge_started(struct world *w, const struct sim_process *p);
void judge_wrote(struct world *w, const struct sim_process *p);
void judge_ended(struct world *w, const struct sim_process *p);
/* The machine sleeps past the moment by which a process had to be over: that is nobody's now. */
void judge_overslept(struct world *w, struct sim_process *p);
/* An attempt that could not be executed: 126, 127. */
void judge_shown(struct world *w, const struct link_run *run); /* the run is about to be started */
void judge_unexecutable(struct world *w, const struct sim_process *p);

/* Workers that the server has lost by this step; and a step of a worker. */
void judge_health(struct world *w, const struct event *ev);
void judge_worker(struct world *w, int slot, const struct agent_event *in);

/* After healing. */
int64_t judge_ends(const struct world *w);        /* tasks that have ended so far */
int64_t judge_patience_us(const struct world *w); /* until the next one must have */
bool judge_settled(struct world *w);
void judge_unsettled(struct world *w); /* says what is left */
bool judge_end(struct world *w);

#endif
