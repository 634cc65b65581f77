/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to ask about services, and the shapes of what is said then. */
#include "api/frame/shapes.h"
#include "api/services/services.h"

static const struct field change_shape[] = {
    TEXT("member", 0, "its path, as crash.wait_ms or task.run.limits"),
    OTHER("from", 0, "what it is; null: nothing", "{}"),
    OTHER("to", 0, "what it would be; null: nothing", "{}"), {NULL}};

static const struct field plan_shape[] = {TEXT("name", 0, "of the service"),
    BOOL("exists", 0, "it is there already"),
    BOOL("revision", 0, "another revision begins: instances are replaced"),
    FIELD_FOUND(
        "changes", FIELD_OBJECTS, 0, "one for each member that differs", .table = change_shape),
    OTHER("service", 0, "as it would be, without what the server finds out", TYPE("object")),
    {NULL}};

static const struct field diff_shape[] = {
    INT("from", NONE, "a revision; null: there is none before the other"),
    INT("to", 0, "a revision"),
    FIELD_FOUND(
        "changes", FIELD_OBJECTS, 0, "one for each member that differs", .table = change_shape),
    {NULL}};

static const struct field reason_shape[] = {TEXT("code", 0, "for programs"),
    TEXT("text", 0, "in words"), TEXT("lift", NONE, "what would lift it; null: nothing need be"),
    {NULL}};

static const struct field why_shape[] = {TEXT("service", 0, "its name"),
    INT("index", 0, "of the instance"),
    FIELD_FOUND("reasons", FIELD_OBJECTS, 0, "all of them", .table = reason_shape), {NULL}};

static const struct schema schemas[] = {
    {"Service", .fields = service_fields},
    {"ServiceList", .page_of = "Service"},
    {"ServiceCreate", .fields = service_fields, .shape = SHAPE_CREATE},
    {"ServiceChange", .fields = service_fields, .shape = SHAPE_CHANGE},
    {"ServicePlan", .fields = plan_shape},
    {"ServiceMade", "{\"anyOf\":[" REF("Service") "," REF("ServicePlan") "]}"},
    {"Revision", .fields = revision_fields},
    {"RevisionList", .page_of = "Revision"},
    {"Instance", .fields = instance_fields},
    {"InstanceList", .page_of = "Instance"},
    {"InstanceWhy", .fields = why_shape},
    {"RevisionDiff", .fields = diff_shape},
    {"RevisionAsk", .fields = revision_ask_fields, .shape = SHAPE_CREATE},
    {"RollbackAsk", .fields = rollback_ask_fields, .shape = SHAPE_CHANGE},
    {"IndexAsk", .fields = index_ask_fields, .shape = SHAPE_CHANGE},
    {"IndexNeeded", .fields = index_needed_fields, .shape = SHAPE_CREATE},
};

#define ONE "/v1/services/{service}"
static const struct route routes[] = {
    {API_GET, "/v1/services", resource_list, "listServices", "services", "List services, by name",
        PAGE | Q(Q_STATE) | Q(Q_QUEUE) | Q(Q_DOMAIN) | Q(Q_NAME) | Q(Q_FULL), NULL, false,
        "ServiceList", {200}, 0, RIGHT_READ},
    {API_POST, "/v1/services", services_create, "createService", "services",
        "Keep so many instances of this running, from now on", Q(Q_DRY_RUN), "ServiceCreate", true,
        "ServiceMade", {201, 200}, 0, RIGHT_OPERATE},
    {API_GET, ONE, resource_get, "getService", "services", "One service", 0, NULL, false, "Service",
        {200}, ROUTE_ETAG, RIGHT_READ},
    {API_PUT, ONE, services_put, "putService", "services",
        "Make it, or replace all that can be said of it; what is the same changes nothing",
        Q(Q_DRY_RUN), "ServiceChange", true, "ServiceMade", {200, 201}, CHANGE, RIGHT_OPERATE},
    {API_PATCH, ONE, services_patch, "changeService", "services",
        "Change it; what it runs, or needs for that, becomes a new revision", Q(Q_DRY_RUN),
        "ServiceChange", true, "ServiceMade", {200}, CHANGE, RIGHT_OPERATE},
    {API_DELETE, ONE, resource_delete, "deleteService", "services",
        "Stop its instances; it goes with the last of them", 0, NULL, false, NULL, {204}, CHANGE,
        RIGHT_OPERATE},
    {API_GET, ONE "/revisions", services_revisions, "listRevisions", "services",
        "Its revisions that are kept, newest first", PAGE, NULL, false, "RevisionList", {200}, 0,
        RIGHT_READ},
    {API_GET, ONE "/instances", services_instances, "listInstances", "services",
        "Its instances, one row for each index", PAGE, NULL, false, "InstanceList", {200}, 0,
        RIGHT_READ},
    {API_GET, ONE "/instances/{index}", services_instance, "getInstance", "services",
        "One instance", 0, NULL, false, "Instance", {200}, 0, RIGHT_READ},
    {API_GET, ONE "/why", services_why, "whyInstance", "services",
        "Why an instance is as it is, and what would lift that", Q(Q_INDEX), NULL, false,
        "InstanceWhy", {200}, 0, RIGHT_READ},
    {API_GET, ONE "/diff", services_diff, "diffRevisions", "services",
        "How two of its revisions differ", Q(Q_FROM) | Q(Q_TO), NULL, false, "RevisionDiff", {200},
        0, RIGHT_LOGS},
    {API_POST, ONE "/deploy", services_deploy, "deployService", "services",
        "Bring its instances to a revision that is kept", 0, "RevisionAsk", true, "Service", {200},
        CHANGE, RIGHT_OPERATE},
    {API_POST, ONE "/promote", services_promote, "promoteService", "services",
        "Let the deploy go on after its canary", 0, NULL, false, "Service", {200}, CHANGE,
        RIGHT_OPERATE},
    {API_POST, ONE "/rollback", services_rollback, "rollbackService", "services",
        "Go back to the last revision that was healthy, or to the one that is named", 0,
        "RollbackAsk", false, "Service", {200}, CHANGE, RIGHT_OPERATE},
    {API_POST, ONE "/restart", services_restart, "restartService", "services",
        "Start an instance anew, now; or all, one after the other", 0, "IndexAsk", false, "Service",
        {200}, CHANGE, RIGHT_OPERATE},
    {API_POST, ONE "/stop", services_stop, "stopInstance", "services",
        "Stop an instance; if it is wanted it is started again", 0, "IndexNeeded", true, "Service",
        {200}, CHANGE, RIGHT_OPERATE},
};

static bool view_of(const struct call *c, rid id, struct service_view *ret_view)
{
	AUTO(arena_release) struct arena a = {0};

	return core_service(c->host->core, id, &a, ret_view);
}

static int service_state(const struct call *c, rid id)
{
	struct service_view v;

	return view_of(c, id, &v) ? v.row.deploy.state : 0;
}

static rid service_queue(const struct call *c, rid id)
{
	struct service_view v;

	return view_of(c, id, &v) ? v.row.spec.queue : 0;
}

/* The text is looked at before its arena goes. */
static bool service_fits(const struct call *c, rid id)
{
	AUTO(arena_release) struct arena a = {0};
	struct service_view v;

	if (!c->query[Q_DOMAIN].p)
		return true;
	return core_service(c->host->core, id, &a, &v) && str_eq(v.row.domain, c->query[Q_DOMAIN]);
}

/* A token with limits is not for services: to its bearer there are none. */
static bool service_covers(const struct call *c, rid id)
{
	return !c->who.limit;
}

static const struct owner_names in_tasks = {
    Q_SERVICE, "service", "service_id", "index", .part_is_number = true, .cause = "service"};

static const struct resource resource = {.kind = KIND_SERVICE,
    .covers = service_covers,
    .owner = &in_tasks,
    .show = service_show,
    .show_listed = service_show_listed,
    .gone = "deleted",
    .states = service_deploy_names,
    .n_states = SERVICE_DEPLOY_STATES,
    .state = service_state,
    .queue = service_queue,
    .fits = service_fits,
    .figures = service_figures,
    .by_name = true};

const struct section service_section = {
    .tag = "services", SECTION_ROUTES(routes), SECTION_SCHEMAS(schemas), .resource = &resource};
