/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories of version 1 that are used again: to make and remove one costs more than a small
 * process. Whoever takes one sets all its values. Those with memory are not kept: what the last
 * task left in the cache would count for the next one.
 */
#include <string.h>
#include <unistd.h>

#include "exec/confine/limits_internal.h"

unsigned limits_pool_take(struct limits_host *h, const bool v1[N_LIMITS])
{
	for (unsigned i = 0; i < h->n_pool; i++)
		if (memcmp(h->pool[i].v1, v1, sizeof h->pool[i].v1) == 0) {
			unsigned number = h->pool[i].number;

			h->pool[i] = h->pool[--h->n_pool];
			return number;
		}
	return ++h->made;
}

bool limits_pool_put(struct limits_host *h, const struct limits_task *t)
{
	if (t->v1[ON_MEMORY] || h->n_pool == LIMITS_POOL_MAX || !limits_is_empty(h, t))
		return false;
	h->pool[h->n_pool].number = t->number;
	memcpy(h->pool[h->n_pool++].v1, t->v1, sizeof t->v1);
	return true;
}
