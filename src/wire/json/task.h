/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a request says of a task: the one table of its members, and their readers. The interface
 * reads and documents them by it, and the command line finds the words of its options in it.
 */
#ifndef WIRE_TASK_H
#define WIRE_TASK_H

#include <jansson.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/rows/field.h"
#include "model/task/task.h"

/* As it was read. Values and texts that are said to be borrowed are parts of the JSON object. */
struct task_given {
	struct task_spec spec;       /* in the arena; without queue, batch, owner, actor and body */
	int32_t status;              /* TASK_QUEUED, or a held status */
	struct str queue;            /* borrowed; NULL: not named */
	struct str cwd, cwd_machine; /* borrowed */
	const json_t *command, *action, *env, *params, *run; /* borrowed; NULL: not given */
	struct buf *text;                                    /* scratch */
};

/* The members of struct task_given, for fields_read(); ends with NULL. */
extern const struct field task_given_fields[];
/* What a task has that says nothing of itself. */
void task_given_default(struct task_given *ret, struct buf *scratch);

/* Any text of one line; people see it in lists. */
int task_name_check(struct str name, const char *field, struct problem *p);
/* An object of strings whose names may be those of variables. */
int strings_check(json_t *v, const char *field, struct problem *p);
/* Labels as sorted "key=value\n" lines, in the arena. */
int labels_in(json_t *v, const char *place, struct buf *scratch, struct arena *a,
    struct str *ret_lines, struct problem *p);
/* The object `run`. */
int run_check(const json_t *v, struct problem *p);

#endif
