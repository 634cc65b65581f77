/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of a set of workers: who issued it, which in a row, and a hash of its members. A worker
 * keeps the last one that it was told and repeats it in every hello and beat.
 */
#ifndef MODEL_WORKER_SET_H
#define MODEL_WORKER_SET_H

#include <stdbool.h>
#include <stdint.h>

struct set_hash { /* order does not matter; adding and removing are inverse */
	uint64_t sum, xor;
	uint32_t count;
};

struct set_id {
	uint64_t server; /* the process that issued it; 0: none was ever told */
	uint64_t version;
	struct set_hash hash;
};

void set_hash_add(struct set_hash *h, uint64_t instance);
void set_hash_del(struct set_hash *h, uint64_t instance);
bool set_hash_eq(const struct set_hash *a, const struct set_hash *b);

#endif
