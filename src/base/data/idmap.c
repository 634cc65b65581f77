/* SPDX-License-Identifier: Apache-2.0 */
/* Linear probing with backward-shift deletion, so there are no tombstones to collect. */
#include "base/data/idmap.h"

#include <stdlib.h>

#include "base/mem.h"

struct idmap_slot {
	uint64_t id;
	void *value; /* NULL: free */
};

static size_t home(const struct idmap *m, uint64_t id)
{
	return (size_t)((id * 0x9e3779b97f4a7c15ull) >> 20) & (m->cap - 1);
}

void idmap_release(struct idmap *m)
{
	free(m->slots);
	*m = (struct idmap){0};
}

static size_t find(const struct idmap *m, uint64_t id)
{
	size_t i = home(m, id);

	while (m->slots[i].value && m->slots[i].id != id)
		i = (i + 1) & (m->cap - 1);
	return i;
}

void *idmap_get(const struct idmap *m, uint64_t id)
{
	return m->cap ? m->slots[find(m, id)].value : NULL;
}

static void resize(struct idmap *m, size_t cap)
{
	struct idmap old = *m;

	m->slots = xcalloc(cap, sizeof *m->slots);
	m->cap = cap;
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].value)
			m->slots[find(m, old.slots[i].id)] = old.slots[i];
	free(old.slots);
}

void idmap_put(struct idmap *m, uint64_t id, void *value)
{
	size_t i;

	MUST(value && id);
	if ((m->n + 1) * 4 > m->cap * 3)
		resize(m, m->cap ? m->cap * 2 : 64);
	i = find(m, id);
	if (!m->slots[i].value)
		m->n++;
	m->slots[i] = (struct idmap_slot){id, value};
}

void *idmap_del(struct idmap *m, uint64_t id)
{
	size_t hole, i;
	void *value;

	if (!m->cap)
		return NULL;
	hole = find(m, id);
	value = m->slots[hole].value;
	if (!value)
		return NULL;
	for (i = (hole + 1) & (m->cap - 1); m->slots[i].value; i = (i + 1) & (m->cap - 1)) {
		size_t want = home(m, m->slots[i].id);

		if (((i - want) & (m->cap - 1)) >= ((i - hole) & (m->cap - 1))) {
			m->slots[hole] = m->slots[i];
			hole = i;
		}
	}
	m->slots[hole] = (struct idmap_slot){0};
	m->n--;
	if (m->cap > 1024 && m->n * 8 < m->cap)
		resize(m, m->cap / 2);
	return value;
}
