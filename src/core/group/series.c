/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series: groups that build the same again and again. Of each job that was built it is remembered
 * how long that took, so that the next group of the series knows what is worth being begun first;
 * and what it was built from, so that one may be taken as it is whose input is the same. That is
 * written in the batch that ends the job. A group of no series pays nothing.
 */
#include <stdlib.h>

#include "base/hex.h"
#include "core/group/group.h"
#include "core/state.h"
#include "model/objects/built.h"

void series_note(struct group *g, uint32_t job, const struct task_row *t)
{
	const struct task_state *s = &t->state;

	if (!g->row.series.n || s->status != TASK_SUCCEEDED || !s->started_ms || !t->spec.name.n)
		return;
	GROW(g->built, g->cap_built, g->n_built + 1);
	g->built[g->n_built++] = (struct built_note){.task = t->id,
	    .job = job,
	    .duration_ms = s->ended_ms - s->started_ms,
	    .name = xstrndup(t->spec.name.p, t->spec.name.n),
	    .name_n = t->spec.name.n};
}

/* After a start jobs may end before their digests are there: they are written once more then. */
static bool is_to_come(const struct group *g)
{
	return g->active && g->active->stage == STAGE_GRAPH;
}

void series_graph_is_read(struct group *g)
{
	g->is_changed |= g->n_built > 0;
}

static struct str digest_of(const struct group *g, uint32_t job, struct arena *a)
{
	const struct input_digest *d = g->active ? g->active->digests : NULL;
	char *text;

	if (!d || is_to_come(g) || !input_digest_is_known(&d[job]))
		return STR_NULL;
	text = arena_alloc(a, 2 * sizeof *d + 1);
	hex_put(text, d[job].bytes, sizeof *d);
	return str_of(text);
}

static void save(
    struct core *c, const struct group *g, const struct built_note *n, struct effects *out)
{
	struct arena *a = &out->batch.arena;
	struct str name = {n->name, n->name_n};
	struct built_row *row = arena_zalloc(a, sizeof *row);

	*row = (struct built_row){.series = built_number(g->row.series),
	    .job = built_number(name),
	    .series_name = arena_str(a, g->row.series),
	    .job_name = arena_str(a, name),
	    .duration_ms = n->duration_ms > 0 ? n->duration_ms : 0,
	    .group = g->row.id,
	    .task = n->task,
	    .time_ms = c->now_ms,
	    .digest = digest_of(g, n->job, a)};
	batch_put(&out->batch, &built_table, row);
}

void series_save(struct core *c, struct group *g, struct effects *out)
{
	for (size_t i = 0; i < g->n_built; i++) {
		save(c, g, &g->built[i], out);
		if (!is_to_come(g))
			free(g->built[i].name);
	}
	if (!is_to_come(g))
		g->n_built = 0;
}

void series_drop(struct group *g)
{
	for (size_t i = 0; i < g->n_built; i++)
		free(g->built[i].name);
	free(g->built);
}
