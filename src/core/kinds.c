/* SPDX-License-Identifier: Apache-2.0 */
/* The table of kinds: a further one is a row of KIND_TABLE, and a room of its own. */
#include "core/object.h"

const struct object_kind *const object_kinds[N_KINDS] = {
#define X(id, name) [KIND_##id] = &name##_kind,
    KIND_TABLE(X)
#undef X
};

static const struct object_kind *kind_of(const struct row_table *t)
{
	for (int i = 0; i < N_KINDS; i++)
		if (object_kinds[i]->table == t)
			return object_kinds[i];
	return NULL;
}

void kinds_init(struct core *c)
{
	for (int i = 0; i < N_KINDS; i++)
		if (object_kinds[i]->init)
			object_kinds[i]->init(c);
}

void kinds_load(struct core *c, const struct row_table *t, const void *row)
{
	const struct object_kind *k = kind_of(t->belongs_to ? t->belongs_to : t);

	if (k && !t->belongs_to)
		k->load(c, row);
	else if (k && k->load_part)
		k->load_part(c, t, row);
}

const struct object *kinds_user_of(const struct core *c, rid queue)
{
	const struct object *user = NULL;

	for (int i = 0; i < N_KINDS && !user; i++)
		if (object_kinds[i]->user_of)
			user = object_kinds[i]->user_of(c, queue);
	return user;
}

void kinds_time_changed(struct core *c, const struct zone *z)
{
	for (int i = 0; i < N_KINDS; i++)
		if (object_kinds[i]->time_changed)
			object_kinds[i]->time_changed(c, z);
}

void kinds_work(struct core *c, struct effects *out)
{
	for (int i = 0; i < N_KINDS; i++)
		if (object_kinds[i]->work)
			object_kinds[i]->work(c, out);
}

void kinds_placed(struct core *c, struct effects *out)
{
	for (int i = 0; i < N_KINDS; i++)
		if (object_kinds[i]->placed)
			object_kinds[i]->placed(c, out);
}

/* The kind that asked may be gone by now. */
void kinds_were_read(struct core *c, const struct event *ev, struct effects *out)
{
	for (int i = 0; i < N_KINDS; i++)
		if (object_kinds[i]->was_read && object_kinds[i]->was_read(c, ev, out))
			return;
}

/* What was loaded last goes first: workers hold tasks of queues. */
void kinds_release(struct core *c)
{
	for (int i = N_TABLES; i-- > 0;) {
		const struct object_kind *k = kind_of(row_tables[i]);

		if (k)
			k->release(c);
	}
}
