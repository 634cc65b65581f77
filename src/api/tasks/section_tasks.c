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

static const struct field attempt_shape[] = {INT("attempt", 0, "its number; the first is 1"),
    INT("token", 0, "rises with every dispatch of the task"),
    ID("worker_id", NONE, "the worker that had it"),
    TIME("claimed", NONE, "when the worker got it"),
    TIME("started", NONE, "when its process began"), TIME("ended", NONE, "when it ended"),
    BOOL("times_doubtful", 0, "started and ended were moved to what is possible"),
    INT("status", 0, "how it stands, as a number"),
    OTHER("state", 0, "how it stands", REF("State")),
    INT("exit_code", NONE, "with which its process ended by itself"),
    INT("signal", NONE, "that ended its process"), TEXT("reason", NONE, "why it ended so"), {NULL}};

static const struct field input_shape[] = {ID("id", 0, "the task"),
    FIELD_FOUND("size", FIELD_I64, 0, "bytes that are kept: where the next ones belong"),
    FIELD_FOUND("taken", FIELD_I64, 0, "bytes that the present attempt has been given"),
    BOOL("ended", 0, "nothing more will be appended"),
    FIELD_FOUND("silence_ms", FIELD_I64, 0, "the task is cancelled when nothing is heard so long"),
    {NULL}};

static const struct field usage_shape[] = {INT("user_ms", 0, "processor time of its processes"),
    INT("system_ms", 0, "processor time of the system for them"),
    INT("peak_memory", 0, "most bytes that they held together"),
    INT("oom_kills", 0, "processes that were killed because memory ran out"), {NULL}};

static const struct field task_shape[] = {ID("id", 0, "its id"),
    TEXT("name", NONE, "for people; it need not be the only one of that name"),
    FIELD_FOUND("summary", FIELD_TEXT, NONE, "the beginning of its command, action or params"),
    TEXT("queue", NONE, "the queue that it is in"), ID("queue_id", 0, "its id"),
    OTHER("state", 0, "how it stands", REF("State")),
    INT("status", 0, "the same as a number: see docs/API.md"),
    INT("priority", 0, "higher first, in queues ordered by priority"),
    FIELD_FOUND("command", FIELD_LINES, RARE, "the program, and its arguments"),
    OTHER("params", RARE, "parameters for the queue's plugin", TYPE("object")),
    FIELD_FOUND("env", FIELD_STRINGS, RARE, "variables of its environment"),
    TEXT("cwd", RARE, "the directory that it begins in"),
    TEXT("cwd_machine", RARE, "where cwd holds; elsewhere it begins in /"),
    OTHER("stdin", RARE, "its standard input comes by appendTaskInput", "{\"enum\":[\"stream\"]}"),
    OTHER("action", RARE, "steps in place of a command", TYPE("object")),
    OTHER("run", RARE, "how its processes are run", REF("RunSettings")),
    OTHER("usage", 0, "what the last attempt used; null: nobody knows", OR_NULL(REF("Usage"))),
    TEXT("result", NONE | RARE, "what the last attempt wrote to its result file"),
    FIELD_FOUND("labels", FIELD_STRINGS, 0, "its labels"),
    OTHER("need", 0, "what it needs of its worker", OR_NULL(REF("Need"))),
    OTHER("holds", 0, "what it holds of its worker now", OR_NULL(REF("Need"))),
    TEXT("key", NONE, "no other unfinished task of the queue has it"),
    ID("batch", NONE, "the batch that it was submitted in"),
    FIELD_FOUND("actor", FIELD_TEXT, NONE, "who submitted it"), OWNERS_OF_TASKS,
    TIME("run_after", NONE, "not before this time"), TIME("due", NONE, "it waits until then"),
    INT("timeout_ms", NONE, "it is terminated when it runs longer"),
    INT("max_attempts", 0, "how often it may be tried"),
    INT("backoff_ms", 0, "pause before the second attempt; it doubles"),
    INT("backoff_max_ms", 0, "the longest such pause"), INT("attempt", 0, "attempts begun so far"),
    FIELD_FOUND(
        "attempts_before", FIELD_I64, 0, "the last retry; they do not count towards max_attempts"),
    INT("token", 0, "rises with every dispatch"),
    TEXT("worker", NONE, "that has it, or had it last"), ID("worker_id", NONE, "its id"),
    BOOL("cancelling", 0, "its worker is to end it"),
    BOOL("unsure", 0, "nobody knows whether it runs: its worker is silent"),
    TIME("ctime", 0, "when it was submitted"), TIME("mtime", 0, "when its state changed last"),
    TIME("claimed", NONE, "when a worker got it"),
    TIME("started", NONE, "when its process began, by the clock of the worker"),
    TIME("ended", NONE, "when it ended"),
    BOOL("times_doubtful", 0, "started and ended were moved to what is possible"),
    INT("exit_code", NONE, "of the last attempt"),
    INT("signal", NONE, "that ended the last attempt"),
    TEXT("reason", NONE, "why it ended, or waits, as it does"),
    OTHER("attempts", RARE, "all attempts that are kept, oldest first", ARRAY(REF("Attempt"))),
    TEXT("stdout", NONE | RARE, "its standard output, where that is short"),
    TEXT("stderr", NONE | RARE, "its standard error, where that is short"),
    INT("stdout_bytes", 0, "bytes of it that are kept"),
    INT("stderr_bytes", 0, "bytes of it that are kept"),
    INT("stdout_dropped", 0, "bytes beyond what is kept"),
    INT("stderr_dropped", 0, "bytes beyond what is kept"),
    OTHER("output", 0, "where its output is kept", "{\"enum\":[\"none\",\"inline\",\"chunks\"]}"),
    BOOL("damaged", 0, "a part of it did not fit its checksum"),
    BOOL("duplicate", RARE, "it was there already: its key was taken"), {NULL}};

static const struct field submit_result_shape[] = {
    ID("batch", NONE, "the batch that the tasks are in"),
    OTHER("ids", 0, "of the tasks, in the order of the request; null: refused",
        ARRAY(OR_NULL(REF("Id")))),
    INT("accepted", 0, "tasks that were submitted"),
    INT("duplicates", 0, "tasks whose key was taken: the id is that of the other"),
    INT("rejected", 0, "tasks that were refused"),
    OTHER("errors", 0, "what was wrong with which line", ARRAY(REF("LineError"))), {NULL}};

static const struct field task_summary_shape[] = {INT("total", 0, "tasks that match"),
    OTHER("states", 0, "how many are in each state",
        "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}"),
    INT("done", 0, "those that have ended"), INT("live", 0, "those that have not"), {NULL}};

static const struct field why_shape[] = {ID("id", 0, "the task"),
    OTHER("state", 0, "how it stands", REF("State")),
    BOOL("unsure", 0, "nobody knows whether it runs"),
    TEXT("summary", 0, "all of it in one sentence"),
    FIELD_FOUND("reasons", FIELD_OBJECTS, 0, "what it waits for, each for itself",
        .table = why_shape_reasons),
    FIELD_FOUND("jobs", FIELD_OBJECTS, 0,
        "of a group's job: the one that blocks it, and what that waits for",
        .table = why_shape_jobs),
    {NULL}};

static const struct field history_shape_items[] = {TIME("time", NONE, "when; null: nobody knows"),
    BOOL("times_doubtful", 0, "the time was moved to what is possible"),
    OTHER("state", 0, "it came into this state", REF("State")),
    INT("status", 0, "the same as a number"),
    FIELD_FOUND("cause", FIELD_TEXT, 0,
        "submit, " OWNERS_AS_CAUSES
        ", claim, start, end, again (tried again by itself), cancel, retry, hold, "
        "release, priority, or state: nobody knows"),
    FIELD_FOUND("actor", FIELD_TEXT, NONE, "reeve is the server itself; null: nobody knows"),
    TEXT("reason", NONE, "why"), INT("attempt", NONE, "which attempt"),
    TEXT("worker", NONE, "on which worker"), ID("worker_id", NONE, "its id"),
    INT("exit_code", NONE, "with which its process ended by itself"),
    INT("signal", NONE, "that ended its process"), {NULL}};

static const struct field history_shape[] = {ID("id", 0, "the task"),
    TEXT("name", NONE, "its name"),
    FIELD_FOUND("complete", FIELD_BOOL, 0, "false: the oldest are not kept any more"),
    FIELD_FOUND("items", FIELD_OBJECTS, 0, "oldest first", .table = history_shape_items), {NULL}};

static const struct field task_filter_shape[] = {
    FIELD_TOLD("queue", 0, "in this queue, by name or id", TYPE("string")),
    FIELD_TOLD("state", 0, "in this state, or one of these",
        "{\"oneOf\":[{\"type\":[\"string\",\"integer\"]},{\"type\":\"array\",\"items\":{\"type\":["
        "\"string\",\"integer\"]}}]}"),
    FIELD_TOLD("label", 0, "with this label, or all of these: KEY=VALUE",
        "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":\"string\"}}]}"),
    FIELD_TOLD("batch", 0, "of this batch", REF("Id")),
    FIELD_TOLD("worker", 0, "on this worker", TYPE("string")), OWNERS_IN_FILTERS,
    FIELD_TOLD("name", 0, "of this name", TYPE("string")),
    FIELD_TOLD(
        "search", 0, "with these words in name, labels, command or parameters", TYPE("string")),
    FIELD_TOLD("since", 0, "submitted after this time, or this long ago", TYPE("string")),
    FIELD_TOLD("until", 0, "submitted before this time, or this long ago", TYPE("string")), {NULL}};

static const struct field bulk_result_shape_errors[] = {ID("id", 0, "the task"),
    TEXT("type", 0, "which kind of problem"), TEXT("detail", 0, "what was wrong"), {NULL}};

static const struct field bulk_result_shape[] = {INT("matched", 0, "tasks that match"),
    INT("changed", 0, "tasks that were changed"),
    INT("refused", 0, "tasks that could not be changed"),
    BOOL("dry_run", RARE, "nothing was changed: it was only asked"),
    FIELD_FOUND("errors", FIELD_OBJECTS, 0, "why, of the first that were refused",
        .table = bulk_result_shape_errors),
    {NULL}};

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
