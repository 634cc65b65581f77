/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to ask about events and the server, and the shapes of what is said then. */
#include "api/frame/shapes.h"

static const struct route event_routes[] = {
    {API_GET, "/v1/events", events_get, "getEvents", "events",
        "The durable events, or everything as it happens (text/event-stream)",
        Q(Q_AFTER) | Q(Q_LIMIT) | Q(Q_FOLLOW) | Q(Q_KIND) | Q(Q_QUEUE) | Q(Q_TASK) | Q(Q_BATCH) |
            Q(Q_WORKER) | Q_OWNERS,
        NULL, false, "EventList", {200}, SCOPED, RIGHT_READ},
    {API_GET, "/v1/audit/verify", audit_verify, "verifyAudit", "events",
        "Is the audit trail as it was written?", Q(Q_EXPECT), NULL, false, "AuditCheck", {200}, 0,
        RIGHT_ADMIN},
};

static const struct route server_routes[] = {
    {API_GET, "/v1/status", status_get, "getStatus", "server", "How the server stands", 0, NULL,
        false, "Status", {200}, ROUTE_EARLY | SCOPED, RIGHT_READ},
    {API_GET, "/", root_get, "getRoot", "server", "What is here, for people", 0, NULL, false,
        "text/plain", {200}, ROUTE_EARLY, RIGHT_NONE},
    {API_GET, "/healthz", healthz_get, "getHealth", "server", "Is the process alive?", 0, NULL,
        false, "text/plain", {200}, ROUTE_EARLY, RIGHT_NONE},
    {API_GET, "/readyz", readyz_get, "getReadiness", "server", "Does it take requests?", 0, NULL,
        false, "text/plain", {200}, ROUTE_EARLY, RIGHT_NONE},
    {API_GET, "/metrics", metrics_get, "getMetrics", "server", "Figures for Prometheus", 0, NULL,
        false, "text/plain", {200}, ROUTE_EARLY, RIGHT_READ},
    {API_GET, "/openapi.json", openapi_get, "getOpenapi", "server", "This document", 0, NULL, false,
        "application/json", {200}, ROUTE_EARLY | SCOPED, RIGHT_READ},
};

static const struct field event_shape[] = {INT("seq", 0), TIME("time", 0), TEXT("kind", 0),
    ID("task", RARE), TEXT("queue", RARE), ID("batch", RARE), TEXT("worker", RARE),
    OWNERS_OF_EVENTS, INT("status", RARE), INT("attempt", RARE), INT("exit_code", RARE),
    TEXT("subject", RARE), TEXT("actor", RARE), OTHER("detail", RARE, TYPE("object")), {NULL}};

static const struct field audit_check_shape_fault[] = {
    OTHER("kind", 0, "{\"enum\":[\"changed\",\"missing\",\"added\",\"rewritten\",\"expired\"]}"),
    INT("event", 0), TEXT("detail", 0), {NULL}};

static const struct field audit_check_shape[] = {BOOL("fits", 0),
    FIELD_FOUND("checked", FIELD_I64, 0, "events that fit"),
    FIELD_FOUND("first", FIELD_I64, NONE, "the first of these"),
    FIELD_FOUND("unchained", FIELD_I64, 0, "events from before there was a chain"),
    FIELD_FOUND("head", FIELD_TEXT, NONE, "number and hash of the last event: SEQ:HASH"),
    FIELD_FOUND("expired", FIELD_TEXT, NONE, "the same of the last one that has expired"),
    FIELD_FOUND("fault", FIELD_OBJECT, NONE, NULL, .table = audit_check_shape_fault), {NULL}};

static const struct schema event_schemas[] = {
    {"Event", .fields = event_shape},
    {"EventList", .page_of = "Event"},
    {"AuditCheck", .fields = audit_check_shape},
};

static const struct field status_shape_store[] = {TEXT("backend", 0), INT("schema", 0), {NULL}};

static const struct field status_shape_workers[] = {INT("new", 0), INT("unhealthy", 0),
    INT("healthy", 0), INT("must_die", 0), INT("left", 0), INT("connected", 0), {NULL}};

static const struct field status_shape_tasks[] = {INT("queued", 0), INT("delayed", NONE),
    INT("held", 0), INT("claimed", 0), INT("running", 0), INT("unsure", NONE), {NULL}};

static const struct field status_shape_threads[] = {INT("used", 0), INT("max", NONE), {NULL}};

static const struct field status_shape_resources[] = {
    TEXT("name", 0), INT("total", 0), INT("held", 0), {NULL}};

static const struct field status_shape_rates[] = {
    OTHER("submitted_per_s", 0, TYPE("number")), OTHER("ended_per_s", 0, TYPE("number")), {NULL}};

static const struct field status_shape[] = {TEXT("version", 0), TIME("started", RARE),
    INT("uptime_ms", RARE), TEXT("installation", RARE),
    FIELD_FOUND("store", FIELD_OBJECT, RARE, NULL, .table = status_shape_store),
    OTHER("dispatch", 0, "{\"enum\":[\"durable\",\"volatile\"]}"), BOOL("ready", 0),
    TEXT("not_ready", NONE), TEXT("search_trouble", NONE | RARE), INT("search_lag_ms", RARE),
    FIELD_FOUND("listen", FIELD_LINES, RARE, NULL), TEXT("link", NONE | RARE),
    TEXT("url", NONE | RARE), INT("queues", RARE),
    FIELD_FOUND("workers", FIELD_OBJECT, 0, NULL, .table = status_shape_workers),
    FIELD_FOUND("tasks", FIELD_OBJECT, 0, NULL, .table = status_shape_tasks),
    FIELD_FOUND("threads", FIELD_OBJECT, 0, NULL, .table = status_shape_threads),
    FIELD_FOUND(
        "resources", FIELD_OBJECTS, RARE, "of the whole cluster", .table = status_shape_resources),
    FIELD_FOUND("rates", FIELD_OBJECT, NONE | RARE, NULL, .table = status_shape_rates),
    OTHER("worker_set", 0, REF("WorkerSet")), OTHER("waiting", 0, ARRAY(REF("Wait"))), {NULL}};

static const struct field worker_set_shape[] = {
    OTHER("server", 0, "{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{16}$\"}"), INT("version", 0),
    OTHER("hash", 0, "{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{32}$\"}"), INT("workers", 0),
    BOOL("consensus", 0), INT("batched", 0), BOOL("waiting", 0), INT("ends_in_ms", NONE), {NULL}};

static const struct field wait_shape[] = {TEXT("code", 0), TEXT("worker", NONE), INT("tasks", 0),
    INT("in_ms", NONE), TIME("until", NONE), TEXT("text", 0), {NULL}};

static const struct schema server_schemas[] = {
    {"Status", .fields = status_shape},
    {"WorkerSet", .fields = worker_set_shape},
    {"Wait", .fields = wait_shape},
};

const struct section event_section = {
    .tag = "events", SECTION_ROUTES(event_routes), SECTION_SCHEMAS(event_schemas)};
const struct section server_section = {
    .tag = "server", SECTION_ROUTES(server_routes), SECTION_SCHEMAS(server_schemas)};
