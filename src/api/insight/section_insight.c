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

static const struct field event_shape[] = {INT("seq", 0, "its number; later ones are higher"),
    TIME("time", 0, "when it happened"), TEXT("kind", 0, "what happened: task.failed and the like"),
    ID("task", RARE, "that it is about"),
    TEXT("queue", RARE, "that it is about, or its task is in"),
    ID("batch", RARE, "that it is about"), TEXT("worker", RARE, "that it is about"),
    OWNERS_OF_EVENTS, INT("status", RARE, "of the task then, as a number"),
    INT("attempt", RARE, "of the task"), INT("exit_code", RARE, "of the attempt"),
    TEXT("subject", RARE, "what it is about, where that has a name of its own"),
    TEXT("actor", RARE, "who did it"), OTHER("detail", RARE, "more, by kind", TYPE("object")),
    {NULL}};

static const struct field audit_check_shape_fault[] = {
    OTHER("kind", 0, "what is wrong",
        "{\"enum\":[\"changed\",\"missing\",\"added\",\"rewritten\",\"expired\"]}"),
    INT("event", 0, "the number of the first event that is wrong"), TEXT("detail", 0, "in words"),
    {NULL}};

static const struct field audit_check_shape[] = {BOOL("fits", 0, "the trail is as it was written"),
    FIELD_FOUND("checked", FIELD_I64, 0, "events that fit"),
    FIELD_FOUND("first", FIELD_I64, NONE, "the first of these"),
    FIELD_FOUND("unchained", FIELD_I64, 0, "events from before there was a chain"),
    FIELD_FOUND("head", FIELD_TEXT, NONE, "number and hash of the last event: SEQ:HASH"),
    FIELD_FOUND("expired", FIELD_TEXT, NONE, "the same of the last one that has expired"),
    FIELD_FOUND(
        "fault", FIELD_OBJECT, NONE, "null: there is none", .table = audit_check_shape_fault),
    {NULL}};

static const struct schema event_schemas[] = {
    {"Event", .fields = event_shape},
    {"EventList", .page_of = "Event"},
    {"AuditCheck", .fields = audit_check_shape},
};

static const struct field status_shape_store[] = {
    TEXT("backend", 0, "sqlite or memory"), INT("schema", 0, "version of its schema"), {NULL}};

static const struct field status_shape_workers[] = {
    INT("new", 0, "not yet healthy, for they have just come"),
    INT("unhealthy", 0, "they get no tasks"), INT("healthy", 0, "they get tasks"),
    INT("must_die", 0, "lost"), INT("left", 0, "gone"), INT("connected", 0, "connected now"),
    {NULL}};

static const struct field status_shape_tasks[] = {INT("queued", 0, "waiting to be started"),
    INT("delayed", NONE, "of the queued ones, waiting for a time"), INT("held", 0, "held back"),
    INT("claimed", 0, "given to a worker"), INT("running", 0, "running"),
    INT("unsure", NONE, "of these, nobody knows whether they run"), {NULL}};

static const struct field status_shape_threads[] = {INT("used", 0, "tasks that workers have"),
    INT("max", NONE, "tasks that they may have; null: no limit"), {NULL}};

static const struct field status_shape_resources[] = {TEXT("name", 0, "what it is"),
    INT("total", 0, "how much there is"), INT("held", 0, "how much of it tasks hold"), {NULL}};

static const struct field status_shape_rates[] = {
    OTHER("submitted_per_s", 0, "tasks submitted a second", TYPE("number")),
    OTHER("ended_per_s", 0, "tasks ended a second", TYPE("number")), {NULL}};

static const struct field status_shape_services[] = {INT("total", 0, "how many there are"),
    INT("unclaimed", 0, "instances that wait for a worker"),
    INT("claimed", 0, "instances that a worker starts"), INT("running", 0, "instances that run"),
    INT("crashed", 0, "instances that wait after a crash, or are given up"),
    INT("evacuating", 0, "instances on drained workers, until their replacement serves"),
    INT("suspect", 0, "instances on silent workers, which have a replacement"),
    INT("ready", 0, "instances that are ready for traffic"),
    INT("unplaced", 0, "instances that found no place"), {NULL}};

static const struct field status_shape[] = {TEXT("version", 0, "of the server"),
    TIME("started", RARE, "when it started"), INT("uptime_ms", RARE, "since then"),
    TEXT("installation", RARE, "which installation it is: others have other ids"),
    FIELD_FOUND(
        "store", FIELD_OBJECT, RARE, "where it keeps everything", .table = status_shape_store),
    OTHER("dispatch", 0, "volatile: a start may forget what was just given to workers",
        "{\"enum\":[\"durable\",\"volatile\"]}"),
    BOOL("ready", 0, "it takes requests and gives out tasks"),
    TEXT("not_ready", NONE, "why it is not"),
    TEXT("search_trouble", NONE | RARE, "why searches have no index"),
    INT("search_lag_ms", RARE, "age of the oldest task that the index of words lacks"),
    FIELD_FOUND("listen", FIELD_LINES, RARE, "addresses for requests"),
    TEXT("link", NONE | RARE, "address for workers"),
    TEXT("url", NONE | RARE, "where it is reached, as it was told"),
    INT("queues", RARE, "how many"),
    FIELD_FOUND(
        "workers", FIELD_OBJECT, 0, "how many are in each state", .table = status_shape_workers),
    FIELD_FOUND(
        "tasks", FIELD_OBJECT, 0, "how many are in each state", .table = status_shape_tasks),
    FIELD_FOUND("services", FIELD_OBJECT, NONE, "services and their instances",
        .table = status_shape_services),
    FIELD_FOUND("threads", FIELD_OBJECT, 0, "of all connected workers together",
        .table = status_shape_threads),
    FIELD_FOUND(
        "resources", FIELD_OBJECTS, RARE, "of the whole cluster", .table = status_shape_resources),
    FIELD_FOUND(
        "rates", FIELD_OBJECT, NONE | RARE, "in the last minute", .table = status_shape_rates),
    OTHER("worker_set", 0, "the workers that require each other", REF("WorkerSet")),
    OTHER("waiting", 0, "what the server waits for", ARRAY(REF("Wait"))), {NULL}};

static const struct field worker_set_shape[] = {
    OTHER("server", 0, "this run of the server",
        "{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{16}$\"}"),
    INT("version", 0, "of the set"),
    OTHER("hash", 0, "of its members", "{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{32}$\"}"),
    INT("workers", 0, "in the set"), BOOL("consensus", 0, "each of them requires all of them"),
    INT("batched", 0, "newcomers that wait until the others agree"),
    BOOL("waiting", 0, "nothing may be started yet"),
    INT("ends_in_ms", NONE, "until that is over at the latest"), {NULL}};

static const struct field wait_shape[] = {TEXT("code", 0, "for programs"),
    TEXT("worker", NONE, "that is waited for"), INT("tasks", 0, "that wait for it"),
    INT("in_ms", NONE, "until it is over at the latest"), TIME("until", NONE, "the same as a time"),
    TEXT("text", 0, "for people"), {NULL}};

static const struct schema server_schemas[] = {
    {"Status", .fields = status_shape},
    {"WorkerSet", .fields = worker_set_shape},
    {"Wait", .fields = wait_shape},
};

const struct section event_section = {
    .tag = "events", SECTION_ROUTES(event_routes), SECTION_SCHEMAS(event_schemas)};
const struct section server_section = {
    .tag = "server", SECTION_ROUTES(server_routes), SECTION_SCHEMAS(server_schemas)};
