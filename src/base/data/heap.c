/* SPDX-License-Identifier: Apache-2.0 */
#include "base/data/heap.h"

#include <stdlib.h>

#include "base/mem.h"

void heap_release(struct heap *h)
{
	free(h->nodes);
	*h = (struct heap){0};
}

static bool before(const struct heap_node *a, const struct heap_node *b)
{
	return a->at != b->at ? a->at < b->at : a->tie < b->tie;
}

static void set(struct heap *h, size_t i, struct heap_node *node)
{
	h->nodes[i] = node;
	node->index = i + 1;
}

static void up(struct heap *h, size_t i)
{
	struct heap_node *node = h->nodes[i];

	while (i > 0 && before(node, h->nodes[(i - 1) / 2])) {
		set(h, i, h->nodes[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	set(h, i, node);
}

static void down(struct heap *h, size_t i)
{
	struct heap_node *node = h->nodes[i];
	size_t child;

	while ((child = 2 * i + 1) < h->n) {
		if (child + 1 < h->n && before(h->nodes[child + 1], h->nodes[child]))
			child++;
		if (!before(h->nodes[child], node))
			break;
		set(h, i, h->nodes[child]);
		i = child;
	}
	set(h, i, node);
}

void heap_put(struct heap *h, struct heap_node *node, int64_t at, uint64_t tie)
{
	heap_del(h, node);
	GROW(h->nodes, h->cap, h->n + 1);
	node->at = at;
	node->tie = tie;
	set(h, h->n, node);
	h->n++;
	up(h, h->n - 1);
}

void heap_del(struct heap *h, struct heap_node *node)
{
	size_t i;

	if (!node->index)
		return;
	i = node->index - 1;
	MUST(i < h->n && h->nodes[i] == node);
	node->index = 0;
	h->n--;
	if (i == h->n)
		return;
	set(h, i, h->nodes[h->n]);
	up(h, i);
	down(h, h->nodes[i]->index - 1);
}

struct heap_node *heap_min(const struct heap *h)
{
	return h->n ? h->nodes[0] : NULL;
}
