/* SPDX-License-Identifier: Apache-2.0 */
/* The revisions of a service: packed in memory, a row each in the store, the oldest forgotten. */
#include <stdlib.h>
#include <string.h>

#include "core/service/place/want.h"
#include "core/state.h"
#include "model/rows/pack.h"

static uint64_t kept_elsewhere(void)
{
	return ROW_BIT(revision_table, revision_row, service) |
	       ROW_BIT(revision_table, revision_row, number);
}

struct revision *revision_find(const struct service *s, int64_t number)
{
	size_t low = 0, high = s->n_revisions;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->revisions[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return low < s->n_revisions && s->revisions[low].number == number ? &s->revisions[low]
	                                                                  : NULL;
}

void revision_row(const struct service *s, const struct revision *r, struct arena *a,
    struct revision_row *ret_row)
{
	*ret_row = (struct revision_row){.service = s->object.id, .number = r->number};
	row_unpack(&revision_table, kept_elsewhere(), r->packed, a, ret_row);
}

static void pack(struct revision *r, const struct revision_row *row)
{
	row_pack(&revision_table, kept_elsewhere(), row, &r->packed, &r->n_packed);
}

/* Numbers rise, but for those that come back with workers. */
static struct revision *enter(struct service *s, const struct revision_row *row)
{
	size_t at = s->n_revisions;

	GROW(s->revisions, s->cap_revisions, s->n_revisions + 1);
	for (; at && s->revisions[at - 1].number > row->number; at--)
		s->revisions[at] = s->revisions[at - 1];
	s->n_revisions++;
	s->revisions[at] = (struct revision){.number = row->number};
	pack(&s->revisions[at], row);
	s->needs_others |= row->spec.needs.n > 0;
	return &s->revisions[at];
}

static void save(const struct revision_row *row, struct effects *out)
{
	batch_put(&out->batch, &revision_table, row_new(&out->batch.arena, &revision_table, row));
}

struct revision *revision_add(
    struct core *c, struct service *s, const struct revision_row *row, struct effects *out)
{
	struct revision *r = enter(s, row);

	if (row->number > s->last_revision)
		s->last_revision = row->number;
	save(row, out);
	return r;
}

void revision_load(struct core *c, const struct revision_row *row)
{
	struct service *s = service_find(c, row->service);

	if (!s || revision_find(s, row->number))
		return;
	enter(s, row);
	if (row->number > s->last_revision) /* adopted, behind the service's own row */
		s->last_revision = row->number;
}

void revision_set_outcome(struct core *c, struct service *s, int64_t number,
    enum revision_outcome outcome, struct effects *out)
{
	struct revision *r = revision_find(s, number);
	struct revision_row row;

	if (!r)
		return;
	revision_row(s, r, &out->batch.arena, &row);
	if (row.outcome == (int32_t)outcome)
		return;
	row.outcome = (int32_t)outcome;
	row.outcome_ms = c->now_ms;
	pack(r, &row);
	save(&row, out);
}

static bool is_in_use(const struct service *s, const struct revision *r)
{
	return r->n_units || r->number == s->deploy.target || r->number == s->deploy.stable ||
	       r->number == s->deploy.failed;
}

static void drop(struct core *c, struct service *s, size_t at, struct effects *out)
{
	struct revision_row *key = arena_zalloc(&out->batch.arena, sizeof *key);
	struct revision *r = &s->revisions[at];

	key->service = s->object.id;
	key->number = r->number;
	batch_drop(&out->batch, &revision_table, key);
	want_put(c, r->want);
	free(r->packed);
	memmove(r, r + 1, (--s->n_revisions - at) * sizeof *r);
}

void revisions_prune(struct core *c, struct service *s, struct effects *out)
{
	for (size_t i = 0; s->n_revisions > REVISIONS_KEPT && i < s->n_revisions;)
		if (is_in_use(s, &s->revisions[i]))
			i++;
		else
			drop(c, s, i, out);
}

void revisions_release(struct core *c, struct service *s)
{
	for (size_t i = 0; i < s->n_revisions; i++) {
		want_put(c, s->revisions[i].want);
		free(s->revisions[i].packed);
	}
	free(s->revisions);
}
