/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of routes. Dispatch, 404, 405 with Allow, the check of query parameters, the names in
 * the metrics and /openapi.json all come from it.
 */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include "api/frame/api.h"
#include "model/token.h"

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
	X(Q_NAME, "name", "{\"type\":\"string\"}", "how the name begins", false)                  \
	X(Q_N, "n", "{\"type\":\"integer\",\"minimum\":1,\"maximum\":100,\"default\":5}",         \
	    "how many", false)                                                                    \
	X(Q_DRY_RUN, "dry_run", "{\"type\":\"boolean\",\"default\":false}",                       \
	    "check everything and answer 200 with what it would be, but make nothing", false)

enum query {
#define X(id, name, schema, about, many) id,
	QUERY_TABLE(X)
#undef X
	    N_QUERY,
};

#define Q(q) (1u << (q))

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
};

struct call;
typedef void call_fn(struct call *c);

struct route {
	enum api_method method;
	const char *pattern; /* "/v1/tasks/{id}/logs": one {…} at most */
	call_fn *fn;
	const char *name; /* operationId */
	const char *tag;
	const char *summary;
	unsigned query;      /* Q(…) */
	const char *request; /* schema of the body; NULL: none */
	bool request_needed;
	const char *response; /* schema of the answer, or a media type; NULL: 204 */
	int success[2];       /* statuses of success; 0: no second one */
	unsigned flags;
	enum right right; /* that it needs */
};

extern const struct route routes[];
extern const size_t n_routes;
extern const char *const method_names[N_API_METHODS];

/* NULL when none fits; *ret_allowed then has a bit for each method the path knows. */
const struct route *route_find(
    enum api_method m, struct str path, struct str *ret_arg, unsigned *ret_allowed);

/* Names and JSON texts of the component schemas. */
struct schema {
	const char *name, *json;
};
extern const struct schema schemas[];
extern const size_t n_schemas;
extern const struct schema token_schemas[];
extern const size_t n_token_schemas;
extern const struct schema schedule_schemas[];
extern const size_t n_schedule_schemas;

/* The handlers. */
call_fn tasks_submit, tasks_list, tasks_summary, task_get, task_patch, task_cancel, task_retry,
    task_why, task_logs, bulk_cancel, bulk_retry, bulk_release, bulk_hold;
call_fn resource_get, resource_pause, resource_resume, resource_delete; /* by their tag */
call_fn queues_list, queue_create, queue_patch;
call_fn workers_list, worker_patch, worker_stop, worker_restart, worker_drain, worker_undrain;
call_fn schedules_list, schedules_create, schedules_patch, schedules_run, schedules_backfill,
    schedules_history, schedules_next, schedules_preview;
call_fn tokens_list, tokens_get, tokens_create, tokens_revoke;
call_fn audit_verify, events_get, status_get, healthz_get, readyz_get, metrics_get, openapi_get;

#endif
