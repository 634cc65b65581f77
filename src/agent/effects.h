/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a step of the worker's brain wants done, in order. Strings point into the agent or the
 * event: carry the effects out before the next step.
 */
#ifndef AGENT_EFFECTS_H
#define AGENT_EFFECTS_H

#include "agent/event.h"
#include "base/arena.h"
#include "model/link/link.h"
#include "model/rows/batch.h"

enum agent_effect_kind {
	AF_HELLO, /* send it, with everything held */
	AF_BEAT,
	AF_STARTED,
	AF_HEALTH,    /* how an instance fares */
	AF_OUTPUT,    /* output: raw bytes; whoever sends may compress */
	AF_INPUT_ACK, /* what was given to the process; what follows is wanted */
	AF_ENDED,
	AF_CHECKED,  /* what became of a healthcheck */
	AF_NOTIFIED, /* which of the asked attempts are here, and which never will be */
	AF_CHECK,    /* start a tiny process, as for a task, and say whether that went well */
	AF_START,    /* run: make the process, or hand it to its plugin */
	AF_STOP,     /* kill: gently, or at once */
	AF_INPUT,    /* write that to the task's standard input, and close it if that is its end */
	AF_READ,     /* go on or pause reading a task's output */
	AF_FORGET, /* nothing more will be said about that attempt: whatever is kept of it can go */
	AF_CLOSE,  /* the link; dial a new one, unless the phase says otherwise */
	AF_EXIT,   /* leave the program; restart: begin again as a new instance */
	AF_NOTE,   /* a line for the log */
};

struct agent_effect {
	enum agent_effect_kind kind;
	rid task; /* what the hands do is done to that attempt; a message names its own */
	int64_t token;
	union {
		const struct link_hello *hello; /* without the facts, which the hands know */
		struct link_beat beat;
		uint64_t check; /* AF_CHECK: its number */
		struct link_checked checked;
		struct link_notified notified;
		struct link_started started;
		struct link_health health;
		struct output_row output;
		struct link_input_ack input_ack;
		struct link_input input; /* AF_INPUT */
		const struct link_ended *ended;
		const struct link_run *run;
		bool kill; /* AF_STOP */
		bool read; /* AF_READ */
		struct {
			int code;     /* AF_EXIT */
			bool restart; /* AF_EXIT */
			struct str text;
		} why; /* AF_CLOSE, AF_EXIT, AF_NOTE */
	};
};

struct agent_effects {
	struct agent_effect *items;
	size_t n, cap;
	struct arena arena;
};

void agent_effects_release(struct agent_effects *e);
void agent_effects_reset(struct agent_effects *e);
struct agent_effect *agent_effects_add(struct agent_effects *e, enum agent_effect_kind kind);

#endif
