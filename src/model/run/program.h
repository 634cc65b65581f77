/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program to be executed: what the worker describes, what its keeper is told and what the new
 * process becomes. Around it each of them has its own: a message has an id and whose rights are
 * wanted by name, a process has descriptors, a cgroup and the rights themselves.
 */
#ifndef MODEL_PROGRAM_H
#define MODEL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct program_limit { /* an rlimit, soft and hard */
	int32_t resource;
	uint64_t value;
};

struct program {
	const char *const
	    *argv; /* argv[0] is looked for in the PATH of env, unless it has a slash */
	const char *const *env; /* NULL-terminated, as is argv */
	const char *cwd;        /* NULL: "/" */
	uint32_t umask;
	bool set_nice; /* else its parent's */
	int32_t nice;
	const struct program_limit *limits;
	size_t n_limits;
	bool same_group;      /* stays in its parent's session and process group */
	int32_t death_signal; /* what the program gets when its parent dies; 0: none */
};

#endif
