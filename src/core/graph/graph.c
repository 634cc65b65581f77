/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept graphs of packages, as objects: how much there is, and at which version. Their packages are
 * rows that pass through: whoever makes a change has read them, and says at which version; if the
 * graph is at another one by now, the change is refused. So all changes are in one order.
 */
#include "core/graph/view.h"

#include <stdlib.h>

#include "core/state.h"
#include "model/objects/graph.h"

struct graph {
	struct object object;
	struct graph_row row; /* the row's strings are owned, in `strings` */
	char *strings;
};

static struct graph *add(struct core *c, const struct graph_row *row)
{
	struct graph *g = xcalloc(1, sizeof *g);

	g->row = *row;
	row_own(&graph_table, &g->row, &g->strings);
	object_add(c, &g->object, KIND_GRAPH, g->row.id, g->row.name);
	return g;
}

static void load(struct core *c, const void *row)
{
	add(c, row);
}

static void forget(struct core *c, struct graph *g)
{
	object_del(c, &g->object);
	free(g->strings);
	free(g);
}

static void release(struct core *c)
{
	struct graph *g;

	while ((g = object_first(c, KIND_GRAPH)))
		forget(c, g);
}

const struct graph_row *core_graph(const struct core *c, rid id)
{
	const struct graph *g = object_find(c, KIND_GRAPH, id);

	return g ? &g->row : NULL;
}

static int64_t version(const struct object *o)
{
	return ((const struct graph *)o)->row.version;
}

/* The rows are given away: what they point to lives as long as the batch. */
static void put_parts(
    struct core *c, const struct graph *g, const struct event *ev, struct effects *out)
{
	const struct object_parts *parts = ev->object.parts;
	struct graph_package_row *rows = parts ? parts->rows : NULL;

	if (!parts)
		return;
	arena_adopt(&out->batch.arena, parts->arena);
	if (parts->all)
		batch_trim(&out->batch, &graph_package_table, g->row.id, INT64_MAX);
	for (size_t i = 0; i < parts->n; i++) {
		rows[i].graph = g->row.id;
		rows[i].time_ms = c->now_ms;
		batch_put(&out->batch, &graph_package_table, &rows[i]);
	}
}

static struct str words_of(const struct graph *g, struct effects *out)
{
	return arena_strf(&out->batch.arena,
	    "{\"packages\":%lld,\"dependencies\":%lld,\"unbuildable\":%lld,\"version\":%lld}",
	    (long long)g->row.n_packages, (long long)g->row.n_deps, (long long)g->row.n_unbuildable,
	    (long long)g->row.version);
}

static void save(struct core *c, struct graph *g, const struct event *ev, enum object_event what,
    struct effects *out)
{
	struct arena *a = &out->batch.arena;

	batch_put(&out->batch, &graph_table, row_new(a, &graph_table, &g->row));
	put_parts(c, g, ev, out);
	object_audit(c, &g->object, what, ev->actor, words_of(g, out), out);
}

static int create(
    struct core *c, const struct event *ev, rid id, struct reply *r, struct effects *out)
{
	struct graph_row row = *(const struct graph_row *)ev->object.row;

	row.id = id;
	row.ctime_ms = row.mtime_ms = c->now_ms;
	row.version = 1;
	row.actor = ev->actor;
	save(c, add(c, &row), ev, OBJECT_CREATED, out);
	return 0;
}

static int change(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	const struct graph_row *to = ev->object.row;
	struct graph *g = (struct graph *)o;

	MUST(ev->object.verb == GRAPH_CHANGE && ev->object.if_version);
	g->row.n_packages = to->n_packages;
	g->row.n_deps = to->n_deps;
	g->row.n_unbuildable = to->n_unbuildable;
	g->row.mtime_ms = c->now_ms;
	g->row.version++;
	g->row.actor = ev->actor;
	row_own(&graph_table, &g->row, &g->strings);
	g->object.name = g->row.name;
	save(c, g, ev, OBJECT_CHANGED, out);
	return 0;
}

static int remove_graph(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	batch_delete(&out->batch, &graph_table, o->id);
	object_audit(c, o, OBJECT_DELETED, ev->actor, STR_NULL, out);
	forget(c, (struct graph *)o);
	return 0;
}

const struct object_kind graph_kind = {
    .table = &graph_table,
    .events = {[OBJECT_CREATED] = "graph.created",
        [OBJECT_CHANGED] = "graph.changed",
        [OBJECT_DELETED] = "graph.deleted"},
    .max = GRAPHS_MAX,
    .full = "remove those that nobody uses",
    .taken = HINT_LIST,
    .gone = HINT_LIST,
    .load = load,
    .version = version,
    .create = create,
    .remove = remove_graph,
    .act = change,
    .release = release,
};
