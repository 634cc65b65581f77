/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to ask about schedules, and the shapes of what is said then. */
#include "api/frame/shapes.h"
#include "api/objects/resource.h"
#include "api/schedules/schedule_in.h"
#include "api/schedules/show_schedule.h"

static const struct field schedule_tasks_shape[] = {ID("schedule", 0, "the schedule"),
    OTHER("tasks", 0, "that were submitted", ARRAY(REF("Id"))),
    OTHER("groups", RARE, "that were triggered", ARRAY(REF("Id"))), {NULL}};

static const struct field tick_shape[] = {TIME("tick", 0, "when it was due"),
    TEXT("local", 0, "the same on the wall clock of the schedule"),
    TIME("until", NONE, "of a skipped stretch: its last tick"),
    OTHER("outcome", 0, "what became of it",
        "{\"enum\":[\"fired\",\"skipped\",\"waiting\",\"manual\",\"backfill\"]}"),
    ID("task", NONE, "that was submitted for it"), ID("group", NONE, "that was triggered for it"),
    TIME("decided", 0, "when that was decided"), INT("late_by_ms", 0, "how long after its time"),
    TEXT("reason", NONE, "why; null: it was on time"), {NULL}};

static const struct field moment_shape[] = {TIME("utc", 0, "the moment"),
    TEXT("local", 0, "the same on the wall clock"),
    INT("offset_s", 0, "of the wall clock then, from UTC"),
    TEXT("abbreviation", 0, "of the zone then, as CEST"), {NULL}};

static const struct field moment_list_shape[] = {
    TEXT("time_zone", NONE, "of the wall clock; null: there is none"),
    OTHER("items", 0, "the next first", ARRAY(REF("Moment"))), {NULL}};

static const struct field preview_shape_daylight_saving[] = {TEXT("text", 0, "in words"),
    OTHER("trick", 0, "the clock goes forward: a gap; or back: an overlap",
        "{\"enum\":[\"gap\",\"overlap\"]}"),
    OTHER("at", 0, "when", REF("Moment")),
    INT("labels", 0, "times of the wall clock in it that the pattern names"),
    OTHER("runs", 0, "what runs then", ARRAY(REF("Moment"))), {NULL}};

static const struct field preview_shape[] = {TEXT("words", 0, "the pattern in words"),
    TEXT("source", NONE, "the pattern as it was written"),
    TEXT("time_zone", NONE, "of the wall clock; null: there is none"),
    OTHER("items", 0, "the pattern as items", ARRAY(TYPE("object"))),
    FIELD_FOUND("dst", FIELD_LINES, NONE, "what daylight saving does to it, in words"),
    TEXT("either_or", NONE, "day of the month and day of the week: either is enough"),
    OTHER("next", 0, "its next times", ARRAY(REF("Moment"))),
    FIELD_FOUND("daylight_saving", FIELD_OBJECTS, 0, "what happens when the clock is changed",
        .table = preview_shape_daylight_saving),
    {NULL}};

static const struct field named_shape[] = {TEXT("name", 0, "its name"), {NULL}};

static const struct schema schemas[] = {
    {"Schedule", .fields = schedule_fields},
    {"ScheduleList", .page_of = "Schedule"},
    {"ScheduleCreate", .fields = schedule_fields, .shape = SHAPE_CREATE},
    {"ScheduleChange", .fields = schedule_fields, .shape = SHAPE_CHANGE},
    {"ScheduleTasks", .fields = schedule_tasks_shape},
    {"Backfill", .fields = backfill_fields, .shape = SHAPE_CREATE},
    {"Tick", .fields = tick_shape},
    {"TickList", .page_of = "Tick"},
    {"Moment", .fields = moment_shape},
    {"MomentList", .fields = moment_list_shape},
    {"PreviewAsk", .fields = preview_fields, .shape = SHAPE_CHANGE},
    {"Preview", .fields = preview_shape},
    {"ScheduleSettings", .fields = schedule_settings},
    {"ScheduleName", .fields = named_shape},
    {"ScheduleDraft", "{\"description\":\"what a dry run answers\",\"allOf\":[" REF(
                          "ScheduleName") "," REF("ScheduleSettings") "," REF("Preview") "]}"},
    {"ScheduleMade", "{\"anyOf\":[" REF("Schedule") "," REF("ScheduleDraft") "]}"},
};

static const struct route routes[] = {
    {API_GET, "/v1/schedules", resource_list, "listSchedules", "schedules",
        "List schedules, by name", PAGE | Q(Q_STATE) | Q(Q_QUEUE) | Q(Q_NAME) | Q(Q_FULL), NULL,
        false, "ScheduleList", {200}, SCOPED, RIGHT_READ},
    {API_POST, "/v1/schedules", schedules_create, "createSchedule", "schedules",
        "Submit a task, or a group, at these times, from now on", Q(Q_DRY_RUN), "ScheduleCreate",
        true, "ScheduleMade", {201, 200}, SCOPED, RIGHT_OPERATE},
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
        "Submit its task or group now, beside its ticks", 0, NULL, false, "ScheduleTasks", {201},
        CHANGE | SCOPED, RIGHT_OPERATE},
    {API_POST, "/v1/schedules/{schedule}/backfill", schedules_backfill, "backfillSchedule",
        "schedules", "Submit the tasks or groups of past ticks that have none", 0, "Backfill", true,
        "ScheduleTasks", {200}, CHANGE | SCOPED, RIGHT_OPERATE},
    {API_GET, "/v1/schedules/{schedule}/history", schedules_history, "getScheduleHistory",
        "schedules", "What became of its ticks, newest first", PAGE, NULL, false, "TickList", {200},
        SCOPED, RIGHT_READ},
    {API_GET, "/v1/schedules/{schedule}/next", schedules_next, "getScheduleNext", "schedules",
        "When it fires next", Q(Q_N), NULL, false, "MomentList", {200}, SCOPED, RIGHT_READ},
};

const struct section schedule_section = {.tag = "schedules",
    SECTION_ROUTES(routes),
    SECTION_SCHEMAS(schemas),
    .resource = &schedule_resource};
