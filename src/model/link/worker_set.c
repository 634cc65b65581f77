/* SPDX-License-Identifier: Apache-2.0 */
#include "model/link/worker_set.h"

#include "base/rng.h"

/* Instances are random already, but a worker chose them: mix, so that sums can't be steered. */
static uint64_t mix(uint64_t instance)
{
	struct rng r = {instance};

	return rng_next(&r);
}

void set_hash_add(struct set_hash *h, uint64_t instance)
{
	uint64_t x = mix(instance);

	h->sum += x;
	h->xor ^= x;
	h->count++;
}

void set_hash_del(struct set_hash *h, uint64_t instance)
{
	uint64_t x = mix(instance);

	h->sum -= x;
	h->xor ^= x;
	h->count--;
}

bool set_hash_eq(const struct set_hash *a, const struct set_hash *b)
{
	return a->sum == b->sum && a->xor == b->xor &&a->count == b->count;
}
