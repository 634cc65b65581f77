/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series: groups that build the same again and again. Of each job that was built it is remembered
 * how long that took, so that the next group of the series knows what is worth being begun first.
 * It is written in the batch that ends the job. A group of no series pays nothing.
 */
#include <stdlib.h>

#include "core/group/group.h"
#include "core/state.h"
#include "model/objects/built.h"

void series_note(struct group *g, const struct task_row *t)
{
	const struct task_state *s = &t->state;

	if (!g->row.series.n || s->status != TASK_SUCCEEDED || !s->started_ms || !t->spec.name.n)
		return;
	GROW(g->built, g->cap_built, g->n_built + 1);
	g->built[g->n_built++] = (struct built_note){t->id, s->ended_ms - s->started_ms,
	    xstrndup(t->spec.name.p, t->spec.name.n), t->spec.name.n};
}

void series_save(struct core *c, struct group *g, struct effects *out)
{
	struct arena *a = &out->batch.arena;

	for (size_t i = 0; i < g->n_built; i++) {
		const struct built_note *n = &g->built[i];
		struct str name = {n->name, n->name_n};
		struct built_row *row = arena_zalloc(a, sizeof *row);

		*row = (struct built_row){.series = built_number(g->row.series),
		    .job = built_number(name),
		    .series_name = arena_str(a, g->row.series),
		    .job_name = arena_str(a, name),
		    .duration_ms = n->duration_ms > 0 ? n->duration_ms : 0,
		    .group = g->row.id,
		    .task = n->task,
		    .time_ms = c->now_ms};
		batch_put(&out->batch, &built_table, row);
		free(n->name);
	}
	g->n_built = 0;
}

void series_drop(struct group *g)
{
	for (size_t i = 0; i < g->n_built; i++)
		free(g->built[i].name);
	free(g->built);
}
