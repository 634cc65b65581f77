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
	rid batch;
	struct str last_name; /* the queue of the line before */
	const struct queue_row *last_queue;
	void *timer;
	int64_t ctime_ms;
};

void submit_error(struct submit *s, size_t line, const struct problem *p);
/* All is parsed: to the core, and then the answer. */
void submit_send(struct call *c);

#endif
