/* SPDX-License-Identifier: Apache-2.0 */
/* The user that a new process is, and what it may do. Applied in the child, by system calls alone.
 */
#ifndef EXEC_RIGHTS_H
#define EXEC_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct rights {
	bool change_user; /* uid, gid and groups count */
	uid_t uid;
	gid_t gid;
	const gid_t *groups;
	size_t n_groups;
	bool limit_capabilities;
	uint64_t capabilities; /* kept, one bit each; the others go for good */
	bool no_new_privs;
};

/* 0, or -1 with errno. For the child, before it executes: it cannot be undone. */
int rights_apply(const struct rights *r);
uint64_t rights_own(void); /* the capabilities that we have */
/* The number of a capability ("net_bind_service", with or without "cap_"), or -1. */
int capability_number(const char *name);

#endif
