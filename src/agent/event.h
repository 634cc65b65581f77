/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that can happen to a worker's brain. Strings are borrowed for the length of the step.
 */
#ifndef AGENT_EVENT_H
#define AGENT_EVENT_H

#include "model/link/link.h"

enum agent_event_kind {
	/* the link: dialled; broken or closed */
	AE_LINK_UP,
	AE_LINK_DOWN,
	/* what the server said, in the order in which one frame's parts are handled */
	AE_WELCOME,
	AE_REFUSED,
	AE_SETTINGS,
	AE_BEAT_ACK,
	AE_ENDED_ACK,
	AE_OUTPUT_ACK,
	AE_INPUT,
	AE_RUN,
	AE_KILL,
	AE_FOLLOW,
	AE_NOTIFY,
	AE_CHECK,
	/* from the hands: for each AF_START one AE_EXITED, last, and before it at most one
	   AE_STARTED */
	AE_STARTED,
	AE_OUTPUT,
	AE_INPUT_TAKEN, /* for each AF_INPUT at most one: the process has all of it, or wants none
	                 */
	AE_EXITED,
	AE_CHECKED, /* for each AF_CHECK one */
	AE_UNWELL,  /* a long runner's check failed for good: end it */
	AE_FARES,   /* how an instance fares now; its container is for the brain to say */
	AE_ADOPT, /* before the first link: it runs since the life of an earlier process of ours */
	/* the operator wants it to go; said twice: at once */
	AE_LEAVE,
	AE_WAKE,
};

enum agent_exit_kind {
	EXIT_CODE,   /* the process ended by itself; status > 0: what a plugin said beside it */
	EXIT_SIGNAL, /* a signal ended it */
	EXIT_ERROR,  /* the program could not be executed: 126 or 127 */
	EXIT_STATUS, /* a persistent plugin's answer */
	EXIT_NEVER,  /* nothing was started, and nothing will be */
};

struct agent_exit {
	enum agent_exit_kind kind;
	int32_t status, exit_code, signal;
	struct str reason; /* NULL: none */
	bool permanent;    /* no further attempt */
	struct usage usage;
	struct str
	    result; /* of the result file; NULL: none; more than RESULT_FILE_MAX: a failure */
};

struct agent_event {
	enum agent_event_kind kind;
	int64_t now_ms;  /* wall clock */
	int64_t mono_ms; /* never goes back, and runs on while the machine sleeps */
	rid task;        /* from the hands: of which attempt; a message names its own */
	int64_t token;
	union {
		struct link_welcome welcome;
		struct link_refused refused;
		struct link_settings settings;
		struct link_beat_ack beat_ack;
		struct run_ref ended_ack;
		struct link_output_ack output_ack;
		struct link_input input;
		bool input_is_closed; /* AE_INPUT_TAKEN: nobody reads it any more */
		const struct link_run *run;
		struct link_kill kill;
		struct link_follow follow;
		struct link_notify notify;
		struct link_check check;
		struct link_checked checked; /* AE_CHECKED */
		struct {
			const struct link_run *run;
			int64_t started_ms, started_mono_ms;
			/* so much of each stream is not here any more: the server has it */
			int64_t output_from[N_STREAMS];
		} adopt;
		int32_t pid; /* AE_STARTED; 0: none of its own */
		struct {
			int32_t stream;
			struct str data;
		} output;
		struct agent_exit exit;
		struct str unwell; /* AE_UNWELL: why */
		struct link_fares fares;
	};
};

#endif
