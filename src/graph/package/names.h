/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts as small numbers: 0, 1, 2 … in the order in which they are first seen. The table can be
 * looked into but not walked, so no order comes from a hash; a name is never forgotten.
 */
#ifndef GRAPH_PACKAGE_NAMES_H
#define GRAPH_PACKAGE_NAMES_H

#include "base/arena.h"
#include "base/str.h"

#define NO_NAME UINT32_MAX

struct names {
	uint64_t
	    seed; /* of the hash: set it before the first name, where names come from strangers */
	struct arena arena; /* the texts */
	struct str *texts;  /* by number */
	uint32_t *slots;    /* number + 1; 0: free */
	size_t n, cap, n_slots;
};

void names_release(struct names *n);
size_t names_bytes(const struct names *n);                   /* of memory, about */
uint32_t names_put(struct names *n, struct str text);        /* copies one that is new */
uint32_t names_find(const struct names *n, struct str text); /* NO_NAME: never seen */

/* The beginning of a name, of at most `max` bytes, that cuts no character in two. */
struct str name_head(struct str name, size_t max);

#endif
