/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to ask about groups, and the shapes of what is said then. */
#include "api/frame/shapes.h"
#include "api/groups/groups.h"
#include "api/groups/job_why.h"
#include "model/objects/group_graph.h"

static const struct field why_shape[] = {ID("id", 0, "the group"),
    FIELD_FOUND("state", FIELD_CHOICE, 0, "how it stands", .names = group_state_names,
        .n_names = N_GROUP_STATES),
    TEXT("summary", 0, "the first reason, and that of the first of the jobs"),
    FIELD_FOUND("reasons", FIELD_OBJECTS, 0, "what it waits for, each for itself",
        .table = why_shape_reasons),
    FIELD_FOUND("jobs", FIELD_OBJECTS, 0, "some of those that it waits for, and what they wait for",
        .table = why_shape_jobs),
    {NULL}};

static const struct field left_shape[] = {TEXT("package", 0, "its name"),
    FIELD_FOUND("how", FIELD_TEXT, 0, "direct, or indirect: for the sake of another"),
    TEXT("through", NONE, "what it needs that leads there"),
    TEXT("root", NONE, "which at the end cannot be built"), TEXT("reason", 0, "why"),
    FIELD_FOUND("touched", FIELD_BOOL, RARE, "true: the request named it"), {NULL}};

static const struct field left_out_shape[] = {INT("n_left_out", 0, "how many in all"),
    INT("n_touched", 0, "how many of them the request named"),
    FIELD_FOUND("left_out", FIELD_OBJECTS, 0, "at most 1,000; those that were named first",
        .table = left_shape),
    {NULL}};

static const struct field need_shape[] = {TEXT("job", 0, "the other job"),
    FIELD_FOUND("after", FIELD_CHOICE, 0, "what of it is needed: that it succeeds, ends, or fails",
        .names = edge_condition_names, .n_names = N_EDGE_CONDITIONS),
    FIELD_FOUND("why", FIELD_LINES, 0, "runtime, build, strong; empty where a person wrote it"),
    {NULL}};

static const struct field job_shape[] = {INT("number", 0, "its place in the group, from 0"),
    TEXT("name", 0, "its name in the group"),
    FIELD_FOUND("state", FIELD_TEXT, 0, "as in GROUPS.md; gone: its task was pruned"),
    ID("task", NONE, "its task; null: it was pruned"),
    TEXT("queue", NONE, "the queue that its task is in"),
    TEXT("worker", NONE, "that has it, or had it last"),
    TIME("started", NONE, "when its process began"), TIME("ended", NONE, "when it ended"),
    INT("attempts", 0, "attempts begun so far"),
    TEXT("reason", NONE, "why it ended, or waits, as it does"),
    INT("exit_code", NONE, "of the last attempt"),
    INT("signal", NONE, "that ended the last attempt"),
    FIELD_FOUND("n_needs", FIELD_I64, 0, "how many in all"),
    FIELD_FOUND("needs", FIELD_OBJECTS, 0, "in lists the first 100", .table = need_shape),
    FIELD_FOUND("dependents", FIELD_OBJECTS, RARE, "jobs that need it", .table = need_shape),
    {NULL}};

#define INTS ARRAY(TYPE("integer"))
static const struct field compact_shape[] = {OTHER("group", 0, "the group itself", REF("Group")),
    FIELD_FOUND("first_task", FIELD_ID, NONE, "of the first job: the others' follow"),
    FIELD_FOUND("states", FIELD_TEXT, 0, "a letter for each job; ?: its task was pruned"),
    OTHER("started", 0, "of each job, in ms since 1970; 0: not yet", INTS),
    OTHER("ended", 0, "of each job, in ms since 1970; 0: not yet", INTS),
    OTHER("names", 0, "of each job", ARRAY(TYPE("string"))),
    OTHER("took", RARE, "ms, of each job in an earlier group of the series; 0: not known", INTS),
    FIELD_FOUND(
        "needs", FIELD_OTHER, 0, "each: job, need, condition, reasons", .schema = ARRAY(INTS)),
    TEXT("problem", RARE, "what could not be read of it"), {NULL}};

static const struct schema schemas[] = {
    {"Job", .fields = job_shape},
    {"JobList", .page_of = "Job"},
    {"GroupGraph", .fields = compact_shape},
    {"Group", .fields = group_fields},
    {"GroupList", .page_of = "Group"},
    {"GroupSubmit",
        "{\"type\":\"object\",\"description\":\"a file of jobs, as `reeve group plan` takes it, or "
        "packages, or the name of a kept "
        "graph\",\"properties\":{\"packages\":{\"description\":\"packages to be "
        "built\",\"type\":\"array\",\"items\":{\"type\":\"object\"}},\"graph\":{\"description\":"
        "\"a kept graph, by its "
        "name\",\"type\":\"string\"},\"touched\":{\"description\":\"packages that have changed: "
        "what needs them is built, "
        "too\",\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"rounds\":{\"description\":"
        "\"how often cycles are "
        "built\",\"type\":\"integer\",\"minimum\":1,\"maximum\":100},\"unbuildable\":{"
        "\"description\":\"packages that cannot be "
        "built\",\"type\":\"array\",\"items\":{\"type\":[\"string\",\"object\"]}},\"job\":{"
        "\"type\":\"object\",\"description\":\"the pattern of the tasks of "
        "packages\"},\"name\":{\"description\":\"of the group; its id, if none is "
        "given\",\"type\":\"string\"},\"policy\":{\"description\":\"what becomes of the rest when "
        "a job has "
        "failed\",\"enum\":[\"best-effort\",\"fail-fast\",\"fail-now\"],\"default\":\"best-"
        "effort\"},\"queue\":{\"type\":\"string\",\"default\":\"default\",\"description\":\"of "
        "jobs that name none\"},\"series\":{\"type\":\"string\",\"description\":\"what groups that "
        "build the same again and again have in "
        "common\"},\"reuse\":{\"type\":\"boolean\",\"default\":false,\"description\":\"what was "
        "built from the same in the series before is taken as it "
        "is\"},\"jobs\":{\"description\":\"the "
        "jobs\",\"type\":\"array\",\"items\":" REF("GroupJob") "}}}"},
    {"GroupJob",
        "{\"type\":\"object\",\"description\":\"its own members, and those of its "
        "task\",\"required\":[\"name\"],\"properties\":{\"name\":{\"description\":\"its name in "
        "the group\",\"type\":\"string\"},\"needs\":{\"description\":\"jobs that must have ended "
        "before\",\"type\":\"array\",\"items\":{\"oneOf\":[{\"type\":\"string\"},{\"type\":"
        "\"object\",\"required\":[\"job\"],\"properties\":{\"job\":{\"description\":\"the other "
        "job\",\"type\":\"string\"},\"after\":{\"description\":\"what of it is "
        "needed\",\"enum\":[\"success\",\"end\",\"failure\"],\"default\":\"success\"}}}]}},"
        "\"matrix\":{\"description\":\"a job for each combination of these "
        "values\",\"type\":\"object\",\"additionalProperties\":{\"type\":\"array\",\"items\":{"
        "\"type\":[\"string\",\"number\"]}}},\"throttle\":{\"description\":\"so many jobs of the "
        "matrix at "
        "once\",\"type\":\"integer\",\"minimum\":1},\"duration\":{\"description\":\"seconds, or a "
        "duration\"}}}"},
    {"GroupRetry", .fields = group_retry_fields, .shape = SHAPE_CHANGE},
    {"GroupFail", .fields = group_fail_fields, .shape = SHAPE_CHANGE},
    {"GroupWhy", .fields = why_shape},
    {"GroupLeftOut", .fields = left_out_shape},
};

static const struct route routes[] = {
    {API_GET, "/v1/groups", groups_list, "listGroups", "groups", "List groups, newest first",
        PAGE | Q(Q_STATE) | Q(Q_NAME) | Q_OWNERS_OF_GROUPS, NULL, false, "GroupList", {200}, SCOPED,
        RIGHT_READ},
    {API_POST, "/v1/groups", groups_submit, "submitGroup", "groups",
        "Submit jobs that need each other, whole or not at all", 0, "GroupSubmit", true, "Group",
        {201}, ROUTE_YAML | SCOPED, RIGHT_SUBMIT},
    {API_GET, "/v1/groups/{group}", group_get, "getGroup", "groups", "One group", 0, NULL, false,
        "Group", {200}, ROUTE_ETAG | SCOPED, RIGHT_READ},
    {API_DELETE, "/v1/groups/{group}", resource_delete, "deleteGroup", "groups",
        "Delete it when it has ended; its tasks stay", 0, NULL, false, NULL, {204}, SCOPED,
        RIGHT_OPERATE},
    {API_POST, "/v1/groups/{group}/cancel", group_cancel, "cancelGroup", "groups",
        "End what waits, and tell what runs", 0, "Reason", false, "Group", {200}, SCOPED,
        RIGHT_OPERATE},
    {API_POST, "/v1/groups/{group}/retry", group_retry, "retryGroup", "groups",
        "A new group of what is left of one that has ended", 0, "GroupRetry", false, "Group", {201},
        0, RIGHT_SUBMIT},
    {API_POST, "/v1/groups/{group}/fail", group_fail, "failJob", "groups",
        "One of its jobs has failed, for a reason: it ends at once, or its worker is told", 0,
        "GroupFail", true, "Job", {200}, SCOPED, RIGHT_OPERATE},
    {API_GET, "/v1/groups/{group}/why", group_why, "explainGroup", "groups", "What it waits for", 0,
        NULL, false, "GroupWhy", {200}, SCOPED, RIGHT_READ},
    {API_GET, "/v1/groups/{group}/left-out", group_left_out, "listLeftOut", "groups",
        "What of the packages that it was to build cannot be, each with its reason", 0, NULL, false,
        "GroupLeftOut", {200}, SCOPED, RIGHT_READ},
    {API_GET, "/v1/groups/{group}/jobs", group_jobs, "listJobs", "groups",
        "List its jobs in order of importance, with what each needs", PAGE | Q(Q_STATE) | Q(Q_NAME),
        NULL, false, "JobList", {200}, SCOPED, RIGHT_READ},
    {API_GET, "/v1/groups/{group}/jobs/{job}", group_job, "getJob", "groups",
        "One job by its name, its number or its task's id, with all that it needs and all that "
        "need it",
        0, NULL, false, "Job", {200}, SCOPED, RIGHT_READ},
    {API_GET, "/v1/groups/{group}/graph", group_compact, "getGroupGraph", "groups",
        "All jobs, their states and needs in one compact answer", 0, NULL, false, "GroupGraph",
        {200}, SCOPED, RIGHT_READ},
    {API_GET, "/v1/groups/{group}/stream", group_stream, "followGroup", "groups",
        "What happens to it and its jobs, until it has ended", Q(Q_AFTER), NULL, false,
        "text/event-stream", {200}, SCOPED, RIGHT_READ},
};

const struct section group_section = {
    .tag = "groups", SECTION_ROUTES(routes), SECTION_SCHEMAS(schemas), .resource = &group_resource};
