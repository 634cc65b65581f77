/* SPDX-License-Identifier: Apache-2.0 */
/* An environment for a new process: built from nothing, later settings win. */
#ifndef EXEC_ENV_H
#define EXEC_ENV_H

#include "base/arena.h"

struct env {
	struct arena *arena; /* everything lives there */
	const char **vars;   /* "KEY=value", NULL-terminated once env_list() was called */
	size_t n, cap;
};

/* PATH, HOME, USER and LANG as we have them; nothing else of ours gets through. */
void env_init_clean(struct env *e, struct arena *a);
/* False when the name is not one: empty, or with '=' or NUL in it; or NUL in the value. */
bool env_set(struct env *e, struct str name, struct str value);
const char *const *env_list(struct env *e);

#endif
