/* SPDX-License-Identifier: Apache-2.0 */
/* The routes themselves, and how a path finds its own. */
#include "api/frame/route.h"

#include <string.h>

const char *const method_names[N_API_METHODS] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

const struct query_info query_infos[N_QUERY] = {
#define X(id, name, schema, about, many) [id] = {name, schema, about, many},
    QUERY_TABLE(X)
#undef X
};

#define FILTERS                                                                            \
	(Q(Q_QUEUE) | Q(Q_STATE) | Q(Q_LABEL) | Q(Q_BATCH) | Q(Q_WORKER) | Q(Q_SCHEDULE) | \
	    Q(Q_SINCE) | Q(Q_UNTIL))
#define PAGE (Q(Q_LIMIT) | Q(Q_CURSOR))
#define CHANGE ROUTE_IF_MATCH
#define SCOPED ROUTE_SCOPED

const struct route routes[] = {
    {API_POST, "/v1/tasks", tasks_submit, "submitTasks", "tasks",
        "Submit one task, or many as an array or as NDJSON", Q(Q_ATOMIC) | Q(Q_BATCH), "TaskSubmit",
        true, "Submitted", {200, 201}, ROUTE_BULK | SCOPED, RIGHT_SUBMIT},
    {API_GET, "/v1/tasks", tasks_list, "listTasks", "tasks", "List tasks, newest first",
        FILTERS | PAGE | Q(Q_ORDER) | Q(Q_FULL), NULL, false, "TaskList", {200}, SCOPED,
        RIGHT_READ},
    {API_GET, "/v1/tasks/summary", tasks_summary, "summarizeTasks", "tasks",
        "Count the tasks that match, by state", FILTERS, NULL, false, "TaskSummary", {200}, SCOPED,
        RIGHT_READ},
    {API_POST, "/v1/tasks/actions/cancel", bulk_cancel, "cancelTasks", "tasks",
        "Cancel every task that matches", 0, "BulkAction", true, "BulkResult", {200}, SCOPED,
        RIGHT_OPERATE},
    {API_POST, "/v1/tasks/actions/retry", bulk_retry, "retryTasks", "tasks",
        "Queue every ended task that matches again", 0, "BulkAction", true, "BulkResult", {200},
        SCOPED, RIGHT_OPERATE},
    {API_POST, "/v1/tasks/actions/release", bulk_release, "releaseTasks", "tasks",
        "Release every held task that matches", 0, "BulkAction", true, "BulkResult", {200}, SCOPED,
        RIGHT_OPERATE},
    {API_POST, "/v1/tasks/actions/hold", bulk_hold, "holdTasks", "tasks",
        "Hold every queued task that matches", 0, "BulkAction", true, "BulkResult", {200}, SCOPED,
        RIGHT_OPERATE},
    {API_GET, "/v1/tasks/{id}", task_get, "getTask", "tasks",
        "One task, whole; or wait until it has ended", Q(Q_WAIT), NULL, false, "Task", {200},
        SCOPED, RIGHT_READ},
    {API_PATCH, "/v1/tasks/{id}", task_patch, "changeTask", "tasks",
        "Change its priority, hold or release it", 0, "TaskChange", true, "Task", {200}, SCOPED,
        RIGHT_OPERATE},
    {API_POST, "/v1/tasks/{id}/cancel", task_cancel, "cancelTask", "tasks", "Cancel it", 0,
        "Reason", false, "Task", {200}, SCOPED, RIGHT_OPERATE},
    {API_POST, "/v1/tasks/{id}/retry", task_retry, "retryTask", "tasks",
        "Queue an ended task again, with all of its attempts", 0, "Reason", false, "Task", {200},
        SCOPED, RIGHT_OPERATE},
    {API_GET, "/v1/tasks/{id}/why", task_why, "explainTask", "tasks",
        "Everything it waits for, and what would lift each", 0, NULL, false, "Why", {200}, SCOPED,
        RIGHT_READ},
    {API_GET, "/v1/tasks/{id}/logs", task_logs, "getTaskLogs", "tasks", "What it wrote",
        Q(Q_STREAM) | Q(Q_OFFSET) | Q(Q_FOLLOW) | Q(Q_ATTEMPT), NULL, false, "text/plain", {200},
        SCOPED, RIGHT_LOGS},
    {API_GET, "/v1/queues", queues_list, "listQueues", "queues", "List queues", PAGE, NULL, false,
        "QueueList", {200}, SCOPED, RIGHT_READ},
    {API_POST, "/v1/queues", queue_create, "createQueue", "queues", "Make a queue", 0,
        "QueueCreate", true, "Queue", {201}, 0, RIGHT_ADMIN},
    {API_GET, "/v1/queues/{queue}", resource_get, "getQueue", "queues", "One queue", 0, NULL, false,
        "Queue", {200}, ROUTE_ETAG | SCOPED, RIGHT_READ},
    {API_PATCH, "/v1/queues/{queue}", queue_patch, "changeQueue", "queues", "Change its settings",
        0, "QueueChange", true, "Queue", {200}, CHANGE, RIGHT_ADMIN},
    {API_DELETE, "/v1/queues/{queue}", resource_delete, "deleteQueue", "queues",
        "Delete it, its ended tasks and their output", Q(Q_FORCE), NULL, false, NULL, {204}, CHANGE,
        RIGHT_ADMIN},
    {API_POST, "/v1/queues/{queue}/pause", resource_pause, "pauseQueue", "queues",
        "Start nothing more from it", 0, "Pause", false, "Queue", {200}, CHANGE | SCOPED,
        RIGHT_OPERATE},
    {API_POST, "/v1/queues/{queue}/resume", resource_resume, "resumeQueue", "queues",
        "Start its tasks again", 0, NULL, false, "Queue", {200}, CHANGE | SCOPED, RIGHT_OPERATE},
    {API_GET, "/v1/workers", workers_list, "listWorkers", "workers", "List workers",
        PAGE | Q(Q_STATE), NULL, false, "WorkerList", {200}, 0, RIGHT_READ},
    {API_GET, "/v1/workers/{worker}", resource_get, "getWorker", "workers", "One worker", 0, NULL,
        false, "Worker", {200}, ROUTE_ETAG, RIGHT_READ},
    {API_PATCH, "/v1/workers/{worker}", worker_patch, "changeWorker", "workers",
        "Set how many tasks it may run at once", 0, "WorkerChange", true, "Worker", {200}, CHANGE,
        RIGHT_OPERATE},
    {API_DELETE, "/v1/workers/{worker}", resource_delete, "forgetWorker", "workers",
        "Forget one that is not connected", Q(Q_LOST), NULL, false, NULL, {204}, CHANGE,
        RIGHT_ADMIN},
    {API_POST, "/v1/workers/{worker}/stop", worker_stop, "stopWorker", "workers",
        "Tell it to end its tasks and exit", 0, NULL, false, "Worker", {200}, CHANGE,
        RIGHT_OPERATE},
    {API_POST, "/v1/workers/{worker}/restart", worker_restart, "restartWorker", "workers",
        "Tell it to end its tasks and begin anew, as a new instance", 0, NULL, false, "Worker",
        {200}, CHANGE, RIGHT_OPERATE},
    {API_POST, "/v1/workers/{worker}/drain", worker_drain, "drainWorker", "workers",
        "Give it no more tasks; what it runs goes on", 0, "Drain", false, "Worker", {200}, CHANGE,
        RIGHT_OPERATE},
    {API_POST, "/v1/workers/{worker}/undrain", worker_undrain, "undrainWorker", "workers",
        "Give it tasks again", 0, NULL, false, "Worker", {200}, CHANGE, RIGHT_OPERATE},
    {API_GET, "/v1/schedules", schedules_list, "listSchedules", "schedules",
        "List schedules, by name", PAGE | Q(Q_STATE) | Q(Q_QUEUE) | Q(Q_NAME) | Q(Q_FULL), NULL,
        false, "ScheduleList", {200}, SCOPED, RIGHT_READ},
    {API_POST, "/v1/schedules", schedules_create, "createSchedule", "schedules",
        "Submit a task at these times, from now on", Q(Q_DRY_RUN), "ScheduleCreate", true,
        "ScheduleMade", {201, 200}, SCOPED, RIGHT_OPERATE},
    {API_POST, "/v1/schedules/preview", schedules_preview, "previewSchedule", "schedules",
        "What a pattern of times means: words, next times, daylight saving", 0, "PreviewAsk", true,
        "Preview", {200}, SCOPED, RIGHT_READ},
    {API_GET, "/v1/schedules/{schedule}", resource_get, "getSchedule", "schedules", "One schedule",
        0, NULL, false, "Schedule", {200}, ROUTE_ETAG | SCOPED, RIGHT_READ},
    {API_PATCH, "/v1/schedules/{schedule}", schedules_patch, "changeSchedule", "schedules",
        "Change it; other times count from now on", 0, "ScheduleChange", true, "Schedule", {200},
        CHANGE | SCOPED, RIGHT_OPERATE},
    {API_DELETE, "/v1/schedules/{schedule}", resource_delete, "deleteSchedule", "schedules",
        "Delete it and its history; its tasks stay", 0, NULL, false, NULL, {204}, CHANGE | SCOPED,
        RIGHT_OPERATE},
    {API_POST, "/v1/schedules/{schedule}/pause", resource_pause, "pauseSchedule", "schedules",
        "Submit nothing more; its ticks are recorded as skipped", 0, "Pause", false, "Schedule",
        {200}, CHANGE | SCOPED, RIGHT_OPERATE},
    {API_POST, "/v1/schedules/{schedule}/resume", resource_resume, "resumeSchedule", "schedules",
        "Go on with the next tick", 0, NULL, false, "Schedule", {200}, CHANGE | SCOPED,
        RIGHT_OPERATE},
    {API_POST, "/v1/schedules/{schedule}/run", schedules_run, "runSchedule", "schedules",
        "Submit its task now, beside its ticks", 0, NULL, false, "ScheduleTasks", {201},
        CHANGE | SCOPED, RIGHT_OPERATE},
    {API_POST, "/v1/schedules/{schedule}/backfill", schedules_backfill, "backfillSchedule",
        "schedules", "Submit the tasks of past ticks that have none", 0, "Backfill", true,
        "ScheduleTasks", {200}, CHANGE | SCOPED, RIGHT_OPERATE},
    {API_GET, "/v1/schedules/{schedule}/history", schedules_history, "getScheduleHistory",
        "schedules", "What became of its ticks, newest first", PAGE, NULL, false, "TickList", {200},
        SCOPED, RIGHT_READ},
    {API_GET, "/v1/schedules/{schedule}/next", schedules_next, "getScheduleNext", "schedules",
        "When it fires next", Q(Q_N), NULL, false, "MomentList", {200}, SCOPED, RIGHT_READ},
    {API_GET, "/v1/events", events_get, "getEvents", "events",
        "The durable events, or everything as it happens (text/event-stream)",
        Q(Q_AFTER) | Q(Q_LIMIT) | Q(Q_FOLLOW) | Q(Q_KIND) | Q(Q_QUEUE) | Q(Q_TASK) | Q(Q_BATCH) |
            Q(Q_WORKER) | Q(Q_SCHEDULE),
        NULL, false, "EventList", {200}, SCOPED, RIGHT_READ},
    {API_GET, "/v1/audit/verify", audit_verify, "verifyAudit", "events",
        "Is the audit trail as it was written?", Q(Q_EXPECT), NULL, false, "AuditCheck", {200}, 0,
        RIGHT_ADMIN},
    {API_GET, "/v1/tokens", tokens_list, "listTokens", "tokens", "List tokens", PAGE, NULL, false,
        "TokenList", {200}, 0, RIGHT_ADMIN},
    {API_POST, "/v1/tokens", tokens_create, "createToken", "tokens",
        "Make a token; its secret is shown this once", 0, "TokenCreate", true, "TokenMade", {201},
        0, RIGHT_ADMIN},
    {API_GET, "/v1/tokens/{token}", tokens_get, "getToken", "tokens", "One token", 0, NULL, false,
        "Token", {200}, 0, RIGHT_ADMIN},
    {API_DELETE, "/v1/tokens/{token}", tokens_revoke, "revokeToken", "tokens",
        "Revoke it: from now on it is not a good one", 0, NULL, false, NULL, {204}, 0, RIGHT_ADMIN},
    {API_GET, "/v1/status", status_get, "getStatus", "server", "How the server stands", 0, NULL,
        false, "Status", {200}, ROUTE_EARLY | SCOPED, RIGHT_READ},
    {API_GET, "/healthz", healthz_get, "getHealth", "server", "Is the process alive?", 0, NULL,
        false, "text/plain", {200}, ROUTE_EARLY, RIGHT_NONE},
    {API_GET, "/readyz", readyz_get, "getReadiness", "server", "Does it take requests?", 0, NULL,
        false, "text/plain", {200}, ROUTE_EARLY, RIGHT_NONE},
    {API_GET, "/metrics", metrics_get, "getMetrics", "server", "Figures for Prometheus", 0, NULL,
        false, "text/plain", {200}, ROUTE_EARLY, RIGHT_READ},
    {API_GET, "/openapi.json", openapi_get, "getOpenapi", "server", "This document", 0, NULL, false,
        "application/json", {200}, ROUTE_EARLY | SCOPED, RIGHT_READ},
};
const size_t n_routes = sizeof routes / sizeof routes[0];

/* "{…}" stands for one segment that is not empty. */
static bool pattern_fits(const char *pattern, struct str path, struct str *ret_arg)
{
	const char *open = strchr(pattern, '{'), *close, *slash;
	size_t before = open ? (size_t)(open - pattern) : 0;
	struct str arg;

	if (!open)
		return str_is(path, pattern);
	if (path.n <= before || memcmp(path.p, pattern, before) != 0)
		return false;
	close = strchr(open, '}') + 1;
	arg = (struct str){path.p + before, path.n - before};
	slash = memchr(arg.p, '/', arg.n);
	if (slash)
		arg.n = (size_t)(slash - arg.p);
	path = (struct str){arg.p + arg.n, path.n - before - arg.n};
	if (arg.n == 0 || !str_is(path, close))
		return false;
	*ret_arg = arg;
	return true;
}

const struct route *route_find(
    enum api_method m, struct str path, struct str *ret_arg, unsigned *ret_allowed)
{
	*ret_allowed = 0;
	*ret_arg = STR_NULL;
	if (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	for (size_t i = 0; i < n_routes; i++) {
		/* fixed paths stand before those with an argument, and win for every method */
		if (*ret_allowed && strchr(routes[i].pattern, '{') && !ret_arg->p)
			break;
		if (!pattern_fits(routes[i].pattern, path, ret_arg))
			continue;
		if (routes[i].method == m)
			return &routes[i];
		*ret_allowed |= 1u << routes[i].method;
	}
	return NULL;
}
