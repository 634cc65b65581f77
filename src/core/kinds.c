/* SPDX-License-Identifier: Apache-2.0 */
/* The table of kinds: a further one is a row here, and a folder of its own. */
#include "core/state.h"

const struct object_kind *const object_kinds[N_KINDS] = {
    [KIND_SCHEDULE] = &schedule_kind,
    [KIND_QUEUE] = &queue_kind,
    [KIND_WORKER] = &worker_kind,
    [KIND_TOKEN] = &token_kind,
};

void kinds_load(struct core *c, const struct row_table *t, const void *row)
{
	for (int i = 0; i < N_KINDS; i++)
		if (object_kinds[i]->table == t)
			object_kinds[i]->load(c, row);
}

void kinds_clock_was_set(struct core *c)
{
	for (int i = 0; i < N_KINDS; i++)
		if (object_kinds[i]->clock_was_set)
			object_kinds[i]->clock_was_set(c);
}

/* Workers hold tasks, and queues have them: what is held goes first. */
void kinds_release(struct core *c)
{
	static const enum kind order[N_KINDS] = {
	    KIND_WORKER, KIND_QUEUE, KIND_SCHEDULE, KIND_TOKEN};

	for (int i = 0; i < N_KINDS; i++)
		object_kinds[order[i]]->release(c);
}
