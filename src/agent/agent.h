/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's brain: what it holds, what it must still report, and when it has to give up.
 * agent_step() is the only way to change it. Pure: no clock, no randomness, no I/O, no threads.
 *
 *   serving --leave--> leaving --all over, and acknowledged or waited long enough--> gone
 *      |                  |
 *      +---silent too long, or told to die---> dying --all processes gone--> gone
 *
 * Nothing is started in any phase but serving. The table is in agent.c; agent_move() makes every
 * move.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "agent/effects.h"
#include "agent/event.h"
#include "agent/output.h"

enum agent_phase { AGENT_SERVING, AGENT_LEAVING, AGENT_DYING, AGENT_GONE };

struct agent_options {
	int64_t term_wait_ms;   /* between TERM and KILL (0: 10 s) */
	int64_t leave_wait_ms;  /* for the last acknowledgements when leaving (0: 3 s) */
	int64_t hello_wait_ms;  /* for the answer to hello (0: 30 s) */
	size_t task_window;     /* unacknowledged output of one task (0: 1 MiB) */
	size_t link_window;     /* of all together (0: 4 MiB) */
	bool restart_when_lost; /* instead of leaving for good: come back as a new instance */
	uint64_t dials_before;  /* of earlier processes that were this very instance */
};

struct agent;

struct agent *agent_new(const struct agent_options *o);
void agent_free(struct agent *a);
/* 0, or ERR_PROTOCOL when the server or a hand said what makes no sense (it is noted, not done). */
int agent_step(struct agent *a, const struct agent_event *in, struct agent_effects *out);
/* When AE_WAKE is wanted next, monotonic; INT64_MAX: not at all. */
int64_t agent_wake_ms(const struct agent *a);

enum agent_phase agent_phase(const struct agent *a);
bool agent_will_return(const struct agent *a); /* leaves only to begin again as a new instance */
bool agent_is_welcome(const struct agent *a);
size_t agent_live(const struct agent *a); /* not over yet */
size_t agent_held(const struct agent *a); /* with those that wait to be acknowledged */
/* What the hands have to keep of what the task has written and we have taken. */
struct output_need agent_output_need(const struct agent *a, rid task, int64_t token, int stream);
int64_t agent_give_up_ms(const struct agent *a);       /* monotonic; INT64_MAX: no lease yet */
enum worker_state agent_health(const struct agent *a); /* as of the last step */
const struct set_id *agent_set(const struct agent *a);

#endif
