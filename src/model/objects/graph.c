/* SPDX-License-Identifier: Apache-2.0 */
/* Columns and members of kept graphs, and columns of their packages. */
#include "model/objects/graph.h"

#include "model/rows/row.h"

#define G(kind, name, field, flags) COLUMN_OF(graph_row, kind, name, field, flags)
static const struct column graph_columns[] = {
    G(I64, "id", id, 0),
    G(TEXT, "name", name, COLUMN_NAME),
    G(I64, "n_packages", n_packages, 0),
    G(I64, "n_deps", n_deps, 0),
    G(I64, "n_unbuildable", n_unbuildable, 0),
    G(I64, "ctime_ms", ctime_ms, 0),
    G(I64, "mtime_ms", mtime_ms, 0),
    G(I64, "version", version, 0),
    G(TEXT, "actor", actor, 0),
    COLUMN_SUM_OF("sum", 0),
};

#define F(name, kind, member, bits, text, ...)                \
	FIELD(name, kind, graph_row, member, .flags = (bits), \
	    .about = text __VA_OPT__(, ) __VA_ARGS__)
static const struct field change_fields[] = {
    FIELD_FOUND("added", FIELD_I64, 0, "packages that were not there"),
    FIELD_FOUND("replaced", FIELD_I64, 0, "by a newer upload, or by the same with other needs"),
    FIELD_FOUND("same", FIELD_I64, 0, "uploads that changed nothing"),
    FIELD_FOUND("older", FIELD_I64, 0, "uploads that are older than what is there"),
    FIELD_FOUND("marked", FIELD_I64, 0, "packages that can be built now, or no more"),
    FIELD_FOUND("removed", FIELD_I64, 0, "packages that are gone"),
    {NULL},
};

const struct field graph_fields[] = {
    F("id", FIELD_ID, id, FIELD_SHOWN, "its id"),
    F("name", FIELD_OBJECT_NAME, name, FIELD_SHOWN, "its name, which no other graph has"),
    F("packages", FIELD_I64, n_packages, FIELD_SHOWN, "so many were uploaded"),
    F("dependencies", FIELD_I64, n_deps, FIELD_SHOWN, "of all packages together"),
    F("unbuildable", FIELD_I64, n_unbuildable, FIELD_SHOWN, "packages that cannot be built"),
    F("ctime", FIELD_TIME, ctime_ms, FIELD_SHOWN, "when it was made"),
    F("mtime", FIELD_TIME, mtime_ms, FIELD_SHOWN, "when it was changed last"),
    F("actor", FIELD_TEXT, actor, FIELD_SHOWN | FIELD_NULL_SHOWN, "who changed it last"),
    F("version", FIELD_I64, version, FIELD_SHOWN, "rises with every change: the ETag"),
    FIELD_FOUND("change", FIELD_OBJECT, FIELD_NULL_SHOWN,
        "what the request changed; null: it only looked", .table = change_fields),
    {NULL},
};

/* A damaged graph's size is not known: a reader of its packages finds another number of them. */
static void quarantine(void *row, const struct quarantine_facts *f)
{
	struct graph_row *g = row;

	*g = (struct graph_row){.id = g->id,
	    .name = f->name,
	    .n_packages = -1,
	    .version = g->version > 0 ? g->version : 1,
	    .ctime_ms = quarantine_time_ms(f, g->ctime_ms),
	    .mtime_ms = f->now_ms};
}

const struct row_table graph_table = {
    ROW_TABLE(TABLE_GRAPH, "graph", graph_row, graph_columns),
    .n_key = 1,
    .has_id = true,
    .is_loaded = true,
    .quarantine = quarantine,
    .quarantined = "plans nothing until it is loaded again",
};

#define P(kind, name, field) COLUMN_OF(graph_package_row, kind, name, field, 0)
static const struct column package_columns[] = {
    P(I64, "graph", graph),
    P(I64, "number", number),
    P(TEXT, "ident", ident),
    P(TEXT, "needs", needs),
    P(TEXT, "targets", targets),
    P(TEXT, "reason", reason),
    P(I64, "duration_ms", duration_ms),
    P(I64, "time_ms", time_ms),
    COLUMN_SUM_OF("sum", 0),
};

/* As if the place were free: the graph then has fewer packages than it says. */
static void quarantine_package(void *row, const struct quarantine_facts *f)
{
	struct graph_package_row *k = row;

	*k = (struct graph_package_row){.graph = k->graph, .number = k->number};
}

const struct row_table graph_package_table = {
    ROW_TABLE(TABLE_GRAPH_PACKAGE, "graph_package", graph_package_row, package_columns),
    .n_key = 2,
    .belongs_to = &graph_table,
    .quarantine = quarantine_package,
};
