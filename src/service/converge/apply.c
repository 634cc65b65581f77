/* SPDX-License-Identifier: Apache-2.0 */
/* The actions of a pass, carried out on a list of records. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/converge/converge.h"

int instance_by_key(const void *a, const void *b)
{
	const struct instance *x = a, *y = b;

	if (x->service != y->service)
		return x->service < y->service ? -1 : 1;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return x->presence < y->presence ? -1 : x->presence > y->presence;
}

/* Only what was there before the pass is looked for: what it creates comes behind. */
static struct instance *find(
    const struct instances *r, size_t n, const struct converge_action *a, enum presence presence)
{
	struct instance key = {.service = a->service, .index = a->index};
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (instance_by_key(&r->v[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	/* Presences of one index may have changed since they were sorted. */
	for (; low < n && r->v[low].service == a->service && r->v[low].index == a->index; low++)
		if (r->v[low].presence == presence)
			return &r->v[low];
	return NULL;
}

/* A deleted record stays until the end, as one that nobody can mean. */
#define GONE N_PRESENCES

static void promote(struct instances *r, size_t n, const struct converge_action *a)
{
	struct instance *suspect = find(r, n, a, PRESENCE_SUSPECT);
	struct instance *ordinary = find(r, n, a, PRESENCE_ORDINARY);

	MUST(suspect);
	suspect->presence = PRESENCE_ORDINARY;
	suspect->tag++;
	if (!ordinary)
		return;
	ordinary->tag++;
	ordinary->presence =
	    ordinary->state == INSTANCE_CLAIMED ? PRESENCE_SUSPECT : (enum presence)GONE;
}

/* What replaces a suspect is of its revision. */
static void create(struct instances *r, size_t n, const struct converge_action *a, int64_t now_ms)
{
	const struct instance *suspect = find(r, n, a, PRESENCE_SUSPECT);
	int64_t revision = suspect ? suspect->revision : 0;

	GROW(r->v, r->cap, r->n + 1);
	r->v[r->n++] = (struct instance){.service = a->service,
	    .index = a->index,
	    .worker = NO_WORKER,
	    .revision = revision,
	    .tag = 1,
	    .since_ms = now_ms,
	    .asked_ms = now_ms};
}

static void change(struct instance *i, enum converge_action_kind kind, int64_t now_ms)
{
	MUST(i);
	switch (kind) {
	case ACT_RESTART:
	case ACT_UNCLAIM: instance_move(i, INSTANCE_UNCLAIMED, now_ms); return;
	case ACT_SUSPECT: i->presence = PRESENCE_SUSPECT; break;
	case ACT_DELETE: i->presence = (enum presence)GONE; break;
	case ACT_STOP: i->is_stopping = true; /* fall through */
	case ACT_START: i->asked_ms = now_ms; break;
	default: return;
	}
	i->tag++;
}

static void sweep(struct instances *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].presence != (enum presence)GONE)
			r->v[kept++] = r->v[i];
	r->n = kept;
	if (kept)
		qsort(r->v, kept, sizeof *r->v, instance_by_key);
}

void converge_apply(
    struct instances *records, const struct converge_actions *actions, int64_t now_ms)
{
	size_t n = records->n;

	for (size_t i = 0; i < actions->n; i++) {
		const struct converge_action *a = &actions->v[i];

		if (a->kind == ACT_CREATE)
			create(records, n, a, now_ms);
		else if (a->kind == ACT_PROMOTE)
			promote(records, n, a);
		else
			change(find(records, n, a, a->presence), a->kind, now_ms);
	}
	sweep(records);
}
