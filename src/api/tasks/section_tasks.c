/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to ask about tasks, and the shapes of what is said then. */
#include "api/frame/shapes.h"
#include "api/groups/job_why.h"
#include "api/tasks/task_shapes.h"
#include "wire/json/task.h"

static const struct route routes[] = {
    {API_POST, "/v1/tasks", tasks_submit, "submitTasks", "tasks",
        "Submit one task, or many as an array or as NDJSON",
        Q(Q_ATOMIC) | Q(Q_BATCH) | Q(Q_BATCH_NAME), "TaskSubmit", true, "Submitted", {200, 201},
        ROUTE_BULK | SCOPED, RIGHT_SUBMIT},
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
    {API_POST, "/v1/tasks/{id}/input", task_input, "appendTaskInput", "tasks",
        "Append to its standard input, if that is streamed; without an offset, only ask",
        Q(Q_OFFSET) | Q(Q_END), "application/octet-stream", false, "Input", {200}, SCOPED,
        RIGHT_SUBMIT},
    {API_GET, "/v1/tasks/{id}/why", task_why, "explainTask", "tasks",
        "Everything it waits for, and what would lift each", 0, NULL, false, "Why", {200}, SCOPED,
        RIGHT_READ},
    {API_GET, "/v1/tasks/{id}/history", task_history, "getTaskHistory", "tasks",
        "Every state it has been in, when, why, and by whom", 0, NULL, false, "TaskHistory", {200},
        SCOPED, RIGHT_READ},
    {API_GET, "/v1/tasks/{id}/logs", task_logs, "getTaskLogs", "tasks", "What it wrote",
        Q(Q_STREAM) | Q(Q_OFFSET) | Q(Q_TAIL) | Q(Q_FOLLOW) | Q(Q_ATTEMPT), NULL, false,
        "text/plain", {200}, SCOPED, RIGHT_LOGS},
};

static const struct field attempt_shape[] = {INT("attempt", 0), INT("token", 0),
    ID("worker_id", NONE), TIME("claimed", NONE), TIME("started", NONE), TIME("ended", NONE),
    BOOL("times_doubtful", 0), INT("status", 0), OTHER("state", 0, REF("State")),
    INT("exit_code", NONE), INT("signal", NONE), TEXT("reason", NONE), {NULL}};

static const struct field input_shape[] = {ID("id", 0),
    FIELD_FOUND("size", FIELD_I64, 0, "bytes that are kept: where the next ones belong"),
    FIELD_FOUND("taken", FIELD_I64, 0, "bytes that the present attempt has been given"),
    BOOL("ended", 0),
    FIELD_FOUND("silence_ms", FIELD_I64, 0, "the task is cancelled when nothing is heard so long"),
    {NULL}};

static const struct field usage_shape[] = {
    INT("user_ms", 0), INT("system_ms", 0), INT("peak_memory", 0), INT("oom_kills", 0), {NULL}};

static const struct field task_shape[] = {ID("id", 0), TEXT("name", NONE),
    FIELD_FOUND("summary", FIELD_TEXT, NONE, "the beginning of its command, action or params"),
    TEXT("queue", NONE), ID("queue_id", 0), OTHER("state", 0, REF("State")), INT("status", 0),
    INT("priority", 0), FIELD_FOUND("command", FIELD_LINES, RARE, NULL),
    OTHER("params", RARE, TYPE("object")), FIELD_FOUND("env", FIELD_STRINGS, RARE, NULL),
    TEXT("cwd", RARE), TEXT("cwd_machine", RARE), OTHER("stdin", RARE, "{\"enum\":[\"stream\"]}"),
    OTHER("action", RARE, TYPE("object")), OTHER("run", RARE, REF("RunSettings")),
    OTHER("usage", 0, OR_NULL(REF("Usage"))), TEXT("result", NONE | RARE),
    FIELD_FOUND("labels", FIELD_STRINGS, 0, NULL), OTHER("need", 0, OR_NULL(REF("Need"))),
    OTHER("holds", 0, OR_NULL(REF("Need"))), TEXT("key", NONE), ID("batch", NONE),
    FIELD_FOUND("actor", FIELD_TEXT, NONE, "who submitted it"), OWNERS_OF_TASKS,
    TIME("run_after", NONE), TIME("due", NONE), INT("timeout_ms", NONE), INT("max_attempts", 0),
    INT("backoff_ms", 0), INT("backoff_max_ms", 0), INT("attempt", 0),
    FIELD_FOUND(
        "attempts_before", FIELD_I64, 0, "the last retry; they do not count towards max_attempts"),
    INT("token", 0), TEXT("worker", NONE), ID("worker_id", NONE), BOOL("cancelling", 0),
    BOOL("unsure", 0), TIME("ctime", 0), TIME("mtime", 0), TIME("claimed", NONE),
    TIME("started", NONE), TIME("ended", NONE), BOOL("times_doubtful", 0), INT("exit_code", NONE),
    INT("signal", NONE), TEXT("reason", NONE), OTHER("attempts", RARE, ARRAY(REF("Attempt"))),
    TEXT("stdout", NONE | RARE), TEXT("stderr", NONE | RARE), INT("stdout_bytes", 0),
    INT("stderr_bytes", 0), INT("stdout_dropped", 0), INT("stderr_dropped", 0),
    OTHER("output", 0, "{\"enum\":[\"none\",\"inline\",\"chunks\"]}"), BOOL("damaged", 0),
    BOOL("duplicate", RARE), {NULL}};

static const struct field submit_result_shape[] = {ID("batch", NONE),
    OTHER("ids", 0, ARRAY(OR_NULL(REF("Id")))), INT("accepted", 0), INT("duplicates", 0),
    INT("rejected", 0), OTHER("errors", 0, ARRAY(REF("LineError"))), {NULL}};

static const struct field task_summary_shape[] = {INT("total", 0),
    OTHER("states", 0, "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}"),
    INT("done", 0), INT("live", 0), {NULL}};

static const struct field why_shape[] = {ID("id", 0), OTHER("state", 0, REF("State")),
    BOOL("unsure", 0), TEXT("summary", 0),
    FIELD_FOUND("reasons", FIELD_OBJECTS, 0, NULL, .table = why_shape_reasons),
    FIELD_FOUND("jobs", FIELD_OBJECTS, 0,
        "of a group's job: the one that blocks it, and what that waits for",
        .table = why_shape_jobs),
    {NULL}};

static const struct field history_shape_items[] = {TIME("time", NONE), BOOL("times_doubtful", 0),
    OTHER("state", 0, REF("State")), INT("status", 0),
    FIELD_FOUND("cause", FIELD_TEXT, 0,
        "submit, " OWNERS_AS_CAUSES
        ", claim, start, end, again (tried again by itself), cancel, retry, hold, "
        "release, priority, or state: nobody knows"),
    FIELD_FOUND("actor", FIELD_TEXT, NONE, "reeve is the server itself; null: nobody knows"),
    TEXT("reason", NONE), INT("attempt", NONE), TEXT("worker", NONE), ID("worker_id", NONE),
    INT("exit_code", NONE), INT("signal", NONE), {NULL}};

static const struct field history_shape[] = {ID("id", 0), TEXT("name", NONE),
    FIELD_FOUND("complete", FIELD_BOOL, 0, "false: the oldest are not kept any more"),
    FIELD_FOUND("items", FIELD_OBJECTS, 0, NULL, .table = history_shape_items), {NULL}};

static const struct field task_filter_shape[] = {FIELD_TOLD("queue", 0, NULL, TYPE("string")),
    FIELD_TOLD("state", 0, NULL,
        "{\"oneOf\":[{\"type\":[\"string\",\"integer\"]},{\"type\":\"array\",\"items\":{\"type\":["
        "\"string\",\"integer\"]}}]}"),
    FIELD_TOLD("label", 0, NULL,
        "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":\"string\"}}]}"),
    FIELD_TOLD("batch", 0, NULL, REF("Id")), FIELD_TOLD("worker", 0, NULL, TYPE("string")),
    OWNERS_IN_FILTERS, FIELD_TOLD("name", 0, NULL, TYPE("string")),
    FIELD_TOLD("search", 0, NULL, TYPE("string")), FIELD_TOLD("since", 0, NULL, TYPE("string")),
    FIELD_TOLD("until", 0, NULL, TYPE("string")), {NULL}};

static const struct field bulk_result_shape_errors[] = {
    ID("id", 0), TEXT("type", 0), TEXT("detail", 0), {NULL}};

static const struct field bulk_result_shape[] = {INT("matched", 0), INT("changed", 0),
    INT("refused", 0), BOOL("dry_run", RARE),
    FIELD_FOUND("errors", FIELD_OBJECTS, 0, NULL, .table = bulk_result_shape_errors), {NULL}};

static const struct schema schemas[] = {
    {"State",
        "{\"enum\":[\"held\",\"orphaned\",\"cancelled\",\"blocked\",\"terminated\",\"queued\","
        "\"claimed\",\"running\",\"succeeded\",\"failed\",\"finished\"]}"},
    {"Attempt", .fields = attempt_shape},
    {"Input", .fields = input_shape, .about = "how a streamed standard input stands"},
    {"Usage", .fields = usage_shape, .about = "of the last attempt"},
    {"Task", .fields = task_shape},
    {"TaskList", .page_of = "Task"},
    {"TaskSubmit", .fields = task_given_fields, .shape = SHAPE_CREATE},
    {"Submitted",
        "{\"description\":\"the twin of a single task, or what became of many\",\"oneOf\":[" REF(
            "Task") "," REF("SubmitResult") "]}"},
    {"SubmitResult", .fields = submit_result_shape},
    {"TaskSummary", .fields = task_summary_shape},
    {"TaskChange", .fields = task_change_fields, .shape = SHAPE_CHANGE},
    {"Reason", .fields = reason_fields, .shape = SHAPE_CHANGE},
    {"Why", .fields = why_shape},
    {"TaskHistory", .fields = history_shape},
    {"BulkAction", .fields = bulk_fields, .shape = SHAPE_CHANGE},
    {"TaskFilter", .fields = task_filter_shape, .shape = SHAPE_CHANGE},
    {"BulkResult", .fields = bulk_result_shape},
};

const struct section task_section = {
    .tag = "tasks", SECTION_ROUTES(routes), SECTION_SCHEMAS(schemas)};
