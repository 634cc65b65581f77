/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a submit between its parsing and its answer. */
#ifndef API_SUBMIT_H
#define API_SUBMIT_H

#include "api/frame/call.h"
#include "api/tasks/task_in.h"

struct submit_entry {
	uint32_t line;
	bool bad;
	rid queue;
	int64_t due_ms;
};

struct submit {
	struct task_in in;
	struct arena arena;        /* the tasks' strings, until the core has them */
	struct submit_task *tasks; /* the good ones */
	size_t n_tasks, cap_tasks;
	struct submit_entry *entries; /* every one, in the order of the ids answered */
	size_t n_entries, cap_entries;
	struct buf errors; /* JSON array, not yet closed */
	size_t n_errors;
	struct problem problem; /* of the task at hand */
	struct str rest;
	size_t line; /* of the task at hand, from 1 */
	bool many, array, atomic, made_default;
	rid batch;             /* the batch that the tasks join; 0: a new one */
	struct str batch_name; /* of a new one; NULL: none */
	struct str last_name;  /* the queue of the line before */
	const struct queue_row *last_queue;
	void *timer;
	int64_t ctime_ms;
	struct reply reply;       /* submit_hide_twins: the core's answer, as it may be told */
	struct outcome *outcomes; /* of it */
	size_t checked;           /* so many of them */
	struct task_row *seen;    /* the twins among the next ones */
	call_fn *on_hidden;
};

void submit_error(struct submit *s, size_t line, const struct problem *p);
/*
 * For a caller with limits: a unique key may be held by a task that he must not see. Makes a
 * conflict of every such outcome in a copy of the core's answer, s->reply, then calls fn.
 */
void submit_hide_twins(struct call *c, const struct reply *r, call_fn *fn);
extern const char hidden_twin[]; /* why, in such an outcome */

/* All is parsed: to the core, and then the answer. */
void submit_send(struct call *c);

#endif
