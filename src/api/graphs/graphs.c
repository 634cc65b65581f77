/* SPDX-License-Identifier: Apache-2.0 */
/* Kept graphs: their section of the interface. */
#include "api/graphs/graphs.h"

#include "core/graph/view.h"

static void write_change(struct buf *b, const void *arg)
{
	const struct graph_counts *n = arg;

	if (!n) {
		jw_null(b);
		return;
	}
	jw_open(b, '{');
	jw_mi64(b, "added", (int64_t)n->added);
	jw_mi64(b, "replaced", (int64_t)n->replaced);
	jw_mi64(b, "same", (int64_t)n->same);
	jw_mi64(b, "older", (int64_t)n->older);
	jw_mi64(b, "marked", (int64_t)n->marked);
	jw_mi64(b, "removed", (int64_t)n->removed);
	jw_close(b, '}');
}

static void graph_show(struct call *c, rid id)
{
	static const struct field_out own[] = {{"change", write_change}, {NULL}};
	const struct showing s = {.ids = c->host->ids,
	    .row = core_graph(c->host->core, id),
	    .own = own,
	    .arg = upload_counts(c)};

	jw_open(&c->out, '{');
	fields_write(&c->out, &s, graph_fields);
	jw_close(&c->out, '}');
}

static const struct route routes[] = {
    {API_GET, "/v1/graphs", resource_list, "listGraphs", "graphs", "List graphs of packages", PAGE,
        NULL, false, "GraphList", {200}, 0, RIGHT_READ},
    {API_GET, "/v1/graphs/{graph}", resource_get, "getGraph", "graphs", "One graph", 0, NULL, false,
        "Graph", {200}, ROUTE_ETAG, RIGHT_READ},
    {API_DELETE, "/v1/graphs/{graph}", resource_delete, "deleteGraph", "graphs",
        "Delete it and its packages", 0, NULL, false, NULL, {204}, CHANGE, RIGHT_OPERATE},
    {API_GET, "/v1/graphs/{graph}/packages", graph_packages, "listPackages", "graphs",
        "Its packages, by name", PAGE | Q(Q_NAME), NULL, false, "PackageList", {200}, 0,
        RIGHT_READ},
    {API_PUT, "/v1/graphs/{graph}/packages", graph_replace, "replacePackages", "graphs",
        "Make it, or replace all of its packages", 0, "PackageFile", true, "Graph", {200, 201},
        CHANGE | ROUTE_YAML, RIGHT_OPERATE},
    {API_POST, "/v1/graphs/{graph}/packages", graph_add, "addPackages", "graphs",
        "Upload packages: all of them, or none", 0, "PackageFile", true, "Graph", {200},
        CHANGE | ROUTE_YAML, RIGHT_OPERATE},
    {API_PATCH, "/v1/graphs/{graph}/packages", graph_patch, "changePackages", "graphs",
        "Remove packages, say which cannot be built", 0, "PackagesChange", true, "Graph", {200},
        CHANGE, RIGHT_OPERATE},
    {API_GET, "/v1/graphs/{graph}/package", graph_package, "getPackage", "graphs",
        "The package of that name, with those that need it", Q(Q_NAME), NULL, false, "Package",
        {200}, 0, RIGHT_READ},
    {API_GET, "/v1/graphs/{graph}/check", graph_check, "checkGraph", "graphs",
        "What is wrong with it", 0, NULL, false, "GraphFindings", {200}, 0, RIGHT_READ},
};

#define NAMES "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"
#define COUNT "{\"type\":\"integer\"}"
#define TEXT "{\"type\":\"string\"}"
static const struct schema schemas[] = {
    {"Graph", .fields = graph_fields},
    {"GraphList", .page_of = "Graph"},
    {"PackagesChange", .fields = graph_patch_fields, .shape = SHAPE_CHANGE},
    {"PackageList", .page_of = "Package"},
    {"Package",
        "{\"type\":\"object\",\"required\":[\"package\",\"ident\",\"runtime\",\"build\","
        "\"strong\",\"targets\",\"buildable\",\"reason\",\"duration_ms\"],\"properties\":{"
        "\"package\":" TEXT ",\"ident\":" TEXT ",\"runtime\":" NAMES ",\"build\":" NAMES
        ",\"strong\":" NAMES ",\"targets\":" NAMES ",\"buildable\":{\"type\":\"boolean\"},"
        "\"reason\":{\"type\":[\"string\",\"null\"]},\"duration_ms\":{\"type\":[\"integer\","
        "\"null\"]},\"dependents\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
        "\"required\":[\"package\",\"why\"],\"properties\":{\"package\":" TEXT ",\"why\":" NAMES
        "}}},\"n_dependents\":" COUNT "}}"},
    {"PackageFile",
        "{\"type\":\"object\",\"required\":[\"packages\"],\"properties\":{\"packages\":{\"type\":"
        "\"array\",\"items\":{\"type\":\"object\",\"required\":[\"ident\"],\"properties\":{"
        "\"ident\":" TEXT ",\"runtime\":" NAMES ",\"build\":" NAMES ",\"strong\":" NAMES
        ",\"targets\":" NAMES ",\"buildable\":{\"type\":\"boolean\"},\"reason\":" TEXT
        ",\"duration\":{\"type\":[\"string\",\"number\"]}}}},\"unbuildable\":{\"type\":"
        "\"array\",\"items\":{\"type\":[\"string\",\"object\"]}}}}"},
    {"GraphFindings",
        "{\"type\":\"object\",\"required\":[\"ok\",\"packages\",\"dependencies\",\"counts\","
        "\"loops\",\"contradictions\",\"unknown\",\"unbuildable\"],\"properties\":{\"ok\":{"
        "\"type\":\"boolean\"},\"packages\":" COUNT ",\"dependencies\":" COUNT
        ",\"counts\":{\"type\":\"object\",\"properties\":{\"loops\":" COUNT
        ",\"contradictions\":" COUNT ",\"unknown\":" COUNT ",\"unbuildable\":" COUNT
        "}},\"loops\":" NAMES ",\"contradictions\":" NAMES
        ",\"unknown\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
        "\"package\":" TEXT ",\"n_needed_by\":" COUNT ",\"needed_by\":" NAMES
        "}}},\"unbuildable\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
        "\"package\":" TEXT ",\"how\":{\"enum\":[\"direct\",\"indirect\"]},\"through\":" TEXT
        ",\"root\":" TEXT ",\"reason\":" TEXT "}}}}}"},
};

static const struct resource resource = {
    .kind = KIND_GRAPH,
    .show = graph_show,
    .gone = "deleted",
};

const struct section graph_section = {
    .tag = "graphs", SECTION_ROUTES(routes), SECTION_SCHEMAS(schemas), .resource = &resource};
