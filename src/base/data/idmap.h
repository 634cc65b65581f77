/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map from 64-bit ids to pointers, open addressing. It can be looked into but not walked:
 * nothing in a brain may depend on hash order.
 */
#ifndef BASE_IDMAP_H
#define BASE_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct idmap {
	struct idmap_slot *slots;
	size_t n, cap; /* cap is zero or a power of two */
};

void idmap_release(struct idmap *m);
void *idmap_get(const struct idmap *m, uint64_t id);
void idmap_put(struct idmap *m, uint64_t id, void *value); /* value is not NULL; id not 0 */
void *idmap_del(struct idmap *m, uint64_t id);             /* the value it held, or NULL */

#endif
