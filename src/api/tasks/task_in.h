/* SPDX-License-Identifier: Apache-2.0 */
/* A submitted task: JSON in, struct submit_task out. */
#ifndef API_TASK_IN_H
#define API_TASK_IN_H

#include <jansson.h>

#include "base/arena.h"
#include "base/err.h"
#include "core/event.h"
#include "model/limits.h"
#include "model/objects/queue.h"

/* No legal task is longer, even with every character of its body escaped. */
#define TASK_TEXT_MAX ((size_t)TASK_BODY_MAX * 6)

/* What is shared by all tasks of a request. */
struct task_in {
	struct arena *arena; /* strings of the tasks go here */
	int64_t now_ms;
	struct buf text; /* scratch; the caller releases it */
	/* per task: */
	struct str queue; /* as named, in the arena or as last time; NULL: not named */
	bool has_command, has_action, has_params;
	struct str run; /* the task's `run` as text, in the arena; NULL: none */
};

/* Fills everything but spec.queue and spec.batch. */
int task_in_value(struct task_in *in, json_t *v, struct submit_task *ret_task, struct problem *p);
/* Whether a task's text may be as long as this one. */
int task_in_size(struct str text, struct problem *p);
int task_in_text(
    struct task_in *in, struct str text, struct submit_task *ret_task, struct problem *p);
/* Whether what was given fits the queue: its plugin, and its own settings of processes. */
int task_in_fits(const struct task_in *in, const struct queue_row *q, struct problem *p);
/* A JSON object of strings as compact text (environments of queues). */
int env_in(json_t *v, const char *field, struct buf *out, struct problem *p);
/* The object `run`, checked, as compact text; nothing for an empty one. */
int run_in(json_t *v, const char *field, struct buf *out, struct problem *p);

#endif
