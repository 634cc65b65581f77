/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of routes. Dispatch, 404, 405 with Allow, the check of query parameters, the names in
 * the metrics and /openapi.json all come from them. Each part of the interface has its own table,
 * with the shapes of what it takes and gives, in its own folder; here they are one list.
 */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include "api/frame/api.h"
#include "api/frame/fields_out.h"
#include "model/objects/token.h"

/* name, JSON schema, what it is, may be given more than once */
#define QUERY_TABLE(X)                                                                            \
	X(Q_LIMIT, "limit",                                                                       \
	    "{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000,\"default\":100}",              \
	    "how many at most", false)                                                            \
	X(Q_CURSOR, "cursor", "{\"type\":\"string\"}",                                            \
	    "where to go on: `next` of the page before", false)                                   \
	X(Q_QUEUE, "queue", "{\"type\":\"string\"}", "name or id of a queue", false)              \
	X(Q_STATE, "state", "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",               \
	    "states by name or number; several, or separated by commas", true)                    \
	X(Q_LABEL, "label", "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",               \
	    "key=value; all that are given must be there", true)                                  \
	X(Q_BATCH, "batch", "{\"$ref\":\"#/components/schemas/Id\"}", "id of a batch", false)     \
	X(Q_BATCH_NAME, "batch_name", "{\"type\":\"string\",\"maxLength\":128}",                  \
	    "makes a batch of this name, also of one task", false)                                \
	X(Q_WORKER, "worker", "{\"type\":\"string\"}", "name or id of a worker", false)           \
	X(Q_SINCE, "since", "{\"type\":\"string\"}", "a time, or a duration ago", false)          \
	X(Q_UNTIL, "until", "{\"type\":\"string\"}", "a time, or a duration ago", false)          \
	X(Q_ORDER, "order", "{\"enum\":[\"asc\",\"desc\"],\"default\":\"desc\"}",                 \
	    "oldest or newest first", false)                                                      \
	X(Q_FULL, "full", "{\"type\":\"boolean\",\"default\":false}",                             \
	    "with command, params, env, attempts and inline output", false)                       \
	X(Q_WAIT, "wait", "{\"type\":\"string\"}",                                                \
	    "answer when it has ended, or after this duration as it then is", false)              \
	X(Q_STREAM, "stream", "{\"enum\":[\"stdout\",\"stderr\",\"both\"],\"default\":\"both\"}", \
	    "which output", false)                                                                \
	X(Q_OFFSET, "offset", "{\"type\":\"integer\",\"minimum\":0}",                             \
	    "skip this many bytes (of one stream)", false)                                        \
	X(Q_TAIL, "tail", "{\"type\":\"integer\",\"minimum\":0,\"maximum\":100000}",              \
	    "only the last lines of each stream, and what comes after them", false)               \
	X(Q_END, "end", "{\"type\":\"boolean\",\"default\":false}", "nothing follows it", false)  \
	X(Q_FOLLOW, "follow", "{\"type\":\"boolean\",\"default\":false}",                         \
	    "go on with what is still to come", false)                                            \
	X(Q_ATTEMPT, "attempt", "{\"type\":\"integer\",\"minimum\":1}",                           \
	    "an earlier attempt's output", false)                                                 \
	X(Q_ATOMIC, "atomic", "{\"type\":\"boolean\",\"default\":false}",                         \
	    "any bad line refuses all", false)                                                    \
	X(Q_FORCE, "force", "{\"type\":\"boolean\",\"default\":false}",                           \
	    "cancel and delete its tasks too", false)                                             \
	X(Q_LOST, "lost", "{\"type\":\"boolean\",\"default\":false}",                             \
	    "its machine is certainly off: its tasks are over", false)                            \
	X(Q_AFTER, "after", "{\"type\":\"integer\",\"minimum\":0}",                               \
	    "only events after this number", false)                                               \
	X(Q_EXPECT, "expect", "{\"type\":\"string\",\"pattern\":\"^[0-9]+:[0-9a-fA-F]{64}$\"}",   \
	    "a head that was kept: the trail must still hold it", false)                          \
	X(Q_KIND, "kind", "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",                 \
	    "kinds of events, or their beginnings: task, task.failed, queue", true)               \
	X(Q_TASK, "task", "{\"$ref\":\"#/components/schemas/Id\"}", "id of a task", false)        \
	X(Q_SCHEDULE, "schedule", "{\"type\":\"string\"}", "name or id of a schedule", false)     \
	X(Q_GROUP, "group", "{\"type\":\"string\"}", "name or id of a group", false)              \
	X(Q_NAME, "name", "{\"type\":\"string\"}",                                                \
	    "how the name begins; of tasks: the whole name", false)                               \
	X(Q_SEARCH, "search", "{\"type\":\"string\",\"maxLength\":1024}",                         \
	    "words of name, labels, command and params; all must be there", false)                \
	X(Q_N, "n", "{\"type\":\"integer\",\"minimum\":1,\"maximum\":100,\"default\":5}",         \
	    "how many", false)                                                                    \
	X(Q_DRY_RUN, "dry_run", "{\"type\":\"boolean\",\"default\":false}",                       \
	    "check everything and answer 200 with what it would be, but make nothing", false)     \
	X(Q_SERVICE, "service", "{\"type\":\"string\"}", "name or id of a service", false)        \
	X(Q_DOMAIN, "domain", "{\"type\":\"string\"}", "name of a domain", false)                 \
	X(Q_INDEX, "index", "{\"type\":\"integer\",\"minimum\":0}", "of an instance", false)      \
	X(Q_FROM, "from", "{\"type\":\"integer\",\"minimum\":1}",                                 \
	    "a revision; not given: the last that was healthy, or the one before", false)         \
	X(Q_TO, "to", "{\"type\":\"integer\",\"minimum\":1}",                                     \
	    "a revision; not given: the one that is wanted", false)

enum query {
#define X(id, name, schema, about, many) id,
	QUERY_TABLE(X)
#undef X
	    N_QUERY,
};

#define Q(q) (UINT64_C(1) << (q))
#define PAGE (Q(Q_LIMIT) | Q(Q_CURSOR))
/* Kinds to which tasks belong: the query for each, and what tasks, events and filters say of it. */
#define Q_OWNERS (Q(Q_SCHEDULE) | Q(Q_GROUP) | Q(Q_SERVICE))
#define Q_OWNERS_OF_GROUPS Q(Q_SCHEDULE)
#define OWNERS_OF_TASKS                                                                    \
	FIELD_FOUND("schedule", FIELD_TEXT, FIELD_NULL_SHOWN, "that submitted it"),        \
	    FIELD_FOUND("schedule_id", FIELD_ID, FIELD_NULL_SHOWN, "its id"),              \
	    FIELD_FOUND("tick", FIELD_TIME, FIELD_NULL_SHOWN, "of the schedule"),          \
	    FIELD_FOUND("group", FIELD_TEXT, FIELD_NULL_SHOWN, "that it is a job of"),     \
	    FIELD_FOUND("group_id", FIELD_ID, FIELD_NULL_SHOWN, "its id"),                 \
	    FIELD_FOUND("job", FIELD_TEXT, FIELD_NULL_SHOWN, "its name in the group"),     \
	    FIELD_FOUND("service", FIELD_TEXT, FIELD_NULL_SHOWN, "that it is a start of"), \
	    FIELD_FOUND("service_id", FIELD_ID, FIELD_NULL_SHOWN, "its id"),               \
	    FIELD_FOUND("index", FIELD_I64, FIELD_NULL_SHOWN, "of the service's instance")
#define OWNERS_AS_CAUSES "schedule, service" /* of a task: struct owner_names */
#define OWNERS_OF_EVENTS                                                        \
	FIELD_FOUND("schedule", FIELD_TEXT, FIELD_RARE, "that it is about"),    \
	    FIELD_FOUND("tick", FIELD_TIME, FIELD_RARE, "of the schedule"),     \
	    FIELD_FOUND("group", FIELD_TEXT, FIELD_RARE, "that it is about"),   \
	    FIELD_FOUND("service", FIELD_TEXT, FIELD_RARE, "that it is about"), \
	    FIELD_FOUND("index", FIELD_I64, FIELD_RARE, "of the service's instance")
#define OWNERS_IN_FILTERS                                                                 \
	FIELD_TOLD("schedule", 0, "submitted by this schedule", "{\"type\":\"string\"}"), \
	    FIELD_TOLD("group", 0, "jobs of this group", "{\"type\":\"string\"}"),        \
	    FIELD_TOLD("service", 0, "starts of this service", "{\"type\":\"string\"}")
#define FILTERS                                                                                    \
	(Q(Q_QUEUE) | Q(Q_STATE) | Q(Q_LABEL) | Q(Q_BATCH) | Q(Q_WORKER) | Q_OWNERS | Q(Q_SINCE) | \
	    Q(Q_UNTIL) | Q(Q_NAME) | Q(Q_SEARCH))

struct query_info {
	const char *name, *schema, *about;
	bool many;
};
extern const struct query_info query_infos[N_QUERY];

enum route_flags {
	ROUTE_SCOPED = 1,   /* for limited tokens too: only what they cover is seen or done */
	ROUTE_EARLY = 2,    /* answers while the store is still being loaded */
	ROUTE_IF_MATCH = 4, /* honours If-Match */
	ROUTE_ETAG = 8,     /* sends ETag, honours If-None-Match */
	ROUTE_BULK = 16,    /* takes NDJSON as well */
	ROUTE_YAML = 32,    /* takes YAML as well: its handler reads the body by itself */
};
#define SCOPED ROUTE_SCOPED
#define CHANGE ROUTE_IF_MATCH

struct call;
typedef void call_fn(struct call *c);

struct route {
	enum api_method method;
	/* "/v1/tasks/{id}/logs": each {…} stands for a segment, a second one for all that is left
	 */
	const char *pattern;
	call_fn *fn;
	const char *name; /* operationId */
	const char *tag;
	const char *summary;
	uint64_t query;      /* Q(…) */
	const char *request; /* schema of the body, or a media type; NULL: none */
	bool request_needed;
	const char *response; /* schema of the answer, or a media type; NULL: 204 */
	int success[2];       /* statuses of success; 0: no second one */
	unsigned flags;
	enum right right; /* the right that the route needs */
};

extern const char *const method_names[N_API_METHODS];

/* NULL when none fits; *ret_allowed then has a bit for each method the path knows. */
#define ROUTE_ARGS 2
const struct route *route_find(
    enum api_method m, struct str path, struct str ret_args[ROUTE_ARGS], unsigned *ret_allowed);

/* A component schema: JSON text, a page of others, or the shape that a table of members gives. */
struct schema {
	const char *name, *json;
	const char *page_of;
	const struct field *fields;
	enum shape shape;
	const char *about; /* of such a shape; NULL: its name says it */
};

struct section {
	const char *tag; /* of its routes; NULL: it has none */
	const struct route *routes;
	size_t n_routes;
	const struct schema *schemas;
	size_t n_schemas;
	const struct resource *resource; /* the kind of object that it is about; NULL: none */
};
#define SECTION_ROUTES(list) .routes = (list), .n_routes = sizeof(list) / sizeof(list)[0]
#define SECTION_SCHEMAS(list) .schemas = (list), .n_schemas = sizeof(list) / sizeof(list)[0]

#define SECTION_TABLE(X) \
	X(frame)         \
	X(task)          \
	X(batch)         \
	X(queue)         \
	X(worker)        \
	X(schedule) X(group) X(graph) X(domain) X(service) X(routes) X(event) X(token) X(server)
#define X(name) extern const struct section name##_section;
SECTION_TABLE(X)
#undef X

/* By number; NULL: there are no more. */
const struct section *section_at(size_t i);
const struct route *route_at(size_t i);
size_t route_number(const struct route *r); /* of NULL: how many there are */

/* Handlers that lie in several files. Those of every kind of object: the routes' section says
 * which.
 */
call_fn resource_list, resource_get, resource_pause, resource_resume, resource_delete;
call_fn tasks_submit, tasks_list, tasks_summary, task_get, task_patch, task_cancel, task_retry,
    task_input, task_why, task_history, task_logs, bulk_cancel, bulk_retry, bulk_release, bulk_hold;
call_fn audit_verify, events_get, status_get, root_get, healthz_get, readyz_get, metrics_get,
    openapi_get;

#endif
