/* SPDX-License-Identifier: Apache-2.0 */
/* A task's body: the JSON object that says what to run, and what a plugin gets to read of it. */
#ifndef WORKER_BODY_H
#define WORKER_BODY_H

#include <jansson.h>

#include "base/arena.h"
#include "exec/env.h"
#include "model/link/link.h"

/* The text of one member's value, found without parsing the rest; NULL when it is not there. */
struct str json_member(struct str object, const char *key);
void json_quote(struct buf *b, struct str text); /* bytes that are not UTF-8 become '?' */

/* What a plugin is told: {"id":…,"token":…,"attempt":…,"queue":…,"params":…,"env":…} */
void run_write(const struct link_run *r, const struct id_space *ids, struct buf *b);

struct command {
	const char **argv; /* NULL-terminated */
	const char *cwd;   /* NULL: none given */
};

/* 0, or -1 with a reason for people in ret_why. `machine`: the mark of this one. */
int command_parse(struct str body, const char *machine, struct arena *a, struct command *ret,
    const char **ret_why);
/* The clean environment, the plugin's, the queue's, the task's, then ours. r NULL: no task's. */
int run_env(const struct link_run *r, const struct id_space *ids, const char *const *plugin_env,
    const char *worker, const char *lock, struct env *ret_env, const char **ret_why);

#endif
