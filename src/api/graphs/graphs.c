/* SPDX-License-Identifier: Apache-2.0 */
/* Kept graphs: their section of the interface. */
#include "api/graphs/graphs.h"
#include "api/frame/shapes.h"

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

#define NAMES(name, bits, text) FIELD_FOUND(name, FIELD_LINES, bits, text)
static const struct field dependent_shape[] = {
    TEXT("package", 0, "origin and name"), NAMES("why", 0, "how it is needed"), {NULL}};

static const struct field package_shape[] = {TEXT("package", 0, "origin and name"),
    TEXT("ident", 0, "origin, name, version and release"),
    NAMES("runtime", 0, "packages that it needs when it runs"),
    NAMES("build", 0, "packages that it needs to be built"),
    NAMES("strong", 0, "what it needs to be built, of the same round"),
    NAMES("targets", 0, "platforms that it is for"),
    BOOL("buildable", 0, "whether it can be built"), TEXT("reason", NONE, "why it cannot be built"),
    INT("duration_ms", NONE, "how long its build takes"),
    FIELD_FOUND(
        "dependents", FIELD_OBJECTS, RARE, "packages that need it", .table = dependent_shape),
    INT("n_dependents", RARE, "how many in all"), {NULL}};

static const struct field finding_counts[] = {INT("loops", 0, "packages that need themselves"),
    INT("contradictions", 0, "cycles that have no order"),
    INT("unknown", 0, "packages that are needed and are not there"),
    INT("unbuildable", 0, "packages that cannot be built"), {NULL}};

static const struct field unknown_shape[] = {TEXT("package", 0, "origin and name"),
    INT("n_needed_by", 0, "how many need it"),
    NAMES("needed_by", 0, "the first of those that need it"), {NULL}};

static const struct field unbuildable_shape[] = {TEXT("package", 0, "origin and name"),
    OTHER("how", 0, "it was said of itself, or of what it needs",
        "{\"enum\":[\"direct\",\"indirect\"]}"),
    TEXT("through", RARE, "what it needs, on the way to the root"),
    TEXT("root", RARE, "the package of which it was said"),
    TEXT("reason", 0, "why that one cannot be built"), {NULL}};

static const struct field findings_shape[] = {BOOL("ok", 0, "it has no loop and no contradiction"),
    INT("packages", 0, "how many it has"), INT("dependencies", 0, "of all packages together"),
    FIELD_FOUND(
        "counts", FIELD_OBJECT, 0, "how many findings of each kind", .table = finding_counts),
    NAMES("loops", 0, "packages that need themselves, and through which"),
    NAMES("contradictions", 0, "cycles that have no order"),
    FIELD_FOUND("unknown", FIELD_OBJECTS, 0, "packages that are needed and are not there",
        .table = unknown_shape),
    FIELD_FOUND("unbuildable", FIELD_OBJECTS, 0, "packages that cannot be built",
        .table = unbuildable_shape),
    {NULL}};

static const struct schema schemas[] = {
    {"Graph", .fields = graph_fields},
    {"GraphList", .page_of = "Graph"},
    {"PackagesChange", .fields = graph_patch_fields, .shape = SHAPE_CHANGE},
    {"PackageList", .page_of = "Package"},
    {"Package", .fields = package_shape},
    {"PackageFile",
        "{\"type\":\"object\",\"required\":[\"packages\"],\"properties\":{\"packages\":{"
        "\"description\":\"the "
        "packages\",\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"ident\"],"
        "\"properties\":{\"ident\":{\"description\":\"origin, name, version and "
        "release\",\"type\":\"string\"},\"runtime\":{\"description\":\"packages that it needs when "
        "it "
        "runs\",\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"build\":{\"description\":"
        "\"packages that it needs to be "
        "built\",\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"strong\":{\"description\":"
        "\"what it needs to be built, of the same "
        "round\",\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"targets\":{\"description\":"
        "\"platforms that it is "
        "for\",\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"buildable\":{\"description\":"
        "\"whether it can be built\",\"type\":\"boolean\"},\"reason\":{\"description\":\"why it "
        "cannot be built\",\"type\":\"string\"},\"duration\":{\"description\":\"how long its build "
        "takes\",\"type\":[\"string\",\"number\"]}}}},\"unbuildable\":{\"description\":\"packages "
        "that cannot be built, and "
        "why\",\"type\":\"array\",\"items\":{\"type\":[\"string\",\"object\"]}}}}"},
    {"GraphFindings", .fields = findings_shape},
};

static const struct resource resource = {
    .kind = KIND_GRAPH,
    .show = graph_show,
    .gone = "deleted",
};

const struct section graph_section = {
    .tag = "graphs", SECTION_ROUTES(routes), SECTION_SCHEMAS(schemas), .resource = &resource};
