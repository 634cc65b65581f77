/* SPDX-License-Identifier: Apache-2.0 */
/* Between sandbox.c and sandbox_paths.c. */
#ifndef EXEC_SANDBOX_INTERNAL_H
#define EXEC_SANDBOX_INTERNAL_H

#include "exec/sandbox/sandbox.h"

struct making {
	const struct sandbox_spec *s;
	struct arena *arena;
	struct problem *problem;
	struct buf options; /* parted by NULs */
	size_t n;
	const char **hidden; /* hidden paths that exist, by their real names */
	size_t n_hidden;
	const char **bound; /* where something of the host was bound: what it really is */
	size_t n_bound;
};

void sandbox_option2(struct making *m, const char *word, const char *a);
void sandbox_option3(struct making *m, const char *word, const char *a, const char *b);
/* What of the file system is there inside, and how. */
int sandbox_add_paths(struct making *m);

#endif
