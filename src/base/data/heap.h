/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A binary heap of timers, intrusive: the owner embeds a heap_node. Ties break by `tie`, which
 * the owner sets to something unique and stable, so the order never depends on addresses.
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_node {
	int64_t at;
	uint64_t tie;
	size_t index; /* place in the heap + 1; 0: not in a heap */
};

struct heap {
	struct heap_node **nodes;
	size_t n, cap;
};

void heap_release(struct heap *h);
void heap_put(struct heap *h, struct heap_node *node, int64_t at, uint64_t tie); /* or moves it */
void heap_del(struct heap *h, struct heap_node *node); /* no harm if it is not in */
struct heap_node *heap_min(const struct heap *h);
static inline bool heap_has(const struct heap_node *node)
{
	return node->index != 0;
}

#define CONTAINER_OF(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#endif
