/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tasks of a schedule have not ended: what its overlap policy goes by. All of them are in the
 * schedule's queue, which nobody can delete while it is that.
 */
#include "core/state.h"

#include <stdlib.h>

#include "core/schedule/schedule.h"

static bool is_live(const struct schedule *s, rid task)
{
	for (uint32_t i = 0; i < s->n_live; i++)
		if (s->live[i] == task)
			return true;
	return false;
}

void schedule_task_live(struct core *c, struct object *o, rid task, rid queue)
{
	struct schedule *s = (struct schedule *)o;
	struct schedule_row row;

	if (is_live(s, task))
		return;
	schedule_unpack(s, NULL, &row);
	if (row.queue != queue)
		return;
	/* powers of two: most have none or one */
	if ((s->n_live & (s->n_live - 1)) == 0)
		s->live = xrealloc(s->live, (s->n_live ? s->n_live * 2 : 1) * sizeof *s->live);
	s->live[s->n_live++] = task;
}

struct str schedule_triggers(const struct object *o, struct arena *a)
{
	struct schedule_row row;

	schedule_unpack((const struct schedule *)o, NULL, &row);
	return arena_str(a, row.group);
}

void schedule_task_ended(struct core *c, struct object *o, rid task)
{
	struct schedule *s = (struct schedule *)o;

	for (uint32_t i = 0; i < s->n_live; i++)
		if (s->live[i] == task) {
			s->live[i] = s->live[--s->n_live];
			break;
		}
	if (s->n_live)
		return;
	free(s->live);
	s->live = NULL;
	if (s->waits) /* the waiting tick's turn has come: fire at once */
		schedule_wake(c, s, c->now_ms);
}

const struct object *schedule_user_of(const struct core *c, rid queue)
{
	struct schedule_row row;
	struct schedule *s;

	EACH_OBJECT(s, c, KIND_SCHEDULE)
	{
		schedule_unpack(s, NULL, &row);
		if (row.queue == queue)
			return &s->object;
	}
	return NULL;
}
