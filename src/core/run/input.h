/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streamed standard input: how much of each there is, who waits for more of it, and when nobody
 * sends any more. The bytes are in the store from the moment that they are acknowledged until the
 * task has ended; here passes one part at a time of a few of them.
 */
#ifndef CORE_INPUT_H
#define CORE_INPUT_H

#include <bsd/sys/queue.h>

#include "base/data/idmap.h"
#include "core/effects.h"
#include "core/event.h"
#include "core/timer.h"

struct core;
struct task;

struct input {
	struct input_row row;
	int64_t token;      /* of the attempt that reads it; 0: none has asked yet */
	int64_t taken;      /* so much that attempt has; of a gone one: so much is deleted */
	bool is_asked;      /* and it waits for what follows */
	bool is_in_line;    /* for a read */
	uint64_t reading;   /* number of the read under way; 0: none */
	struct timer timer; /* monotonic: its sender is silent too long, or another slice goes */
	TAILQ_ENTRY(input) all, line;
};

TAILQ_HEAD(input_list, input);

struct inputs {
	struct idmap by_task;
	struct input_list all, line;
	size_t n_reading;
};

void inputs_init(struct inputs *all);
void inputs_release(struct core *c);
void input_load(struct core *c, const struct input_row *row);
void inputs_started(struct core *c); /* everything is loaded */
/* A task that reads one was submitted. */
void input_begin(struct core *c, const struct task_row *task, struct effects *out);
/* The task has ended: nobody can read it again. */
void input_drop(struct core *c, rid task, struct effects *out);
void inputs_drop_queue(struct core *c, rid queue, struct effects *out);

/* EV_INPUT: the command. Returns 0, or an enum err with the reply's problem set. */
int input_append(struct core *c, const struct event *ev, struct reply *r, struct effects *out);
/* The task's attempt has the input up to `from`, and wants what follows. */
void input_ask(struct core *c, const struct task *t, int64_t from, struct effects *out);
/* EV_INPUT_READ */
void input_was_read(struct core *c, const struct event *ev, struct effects *out);

#endif
