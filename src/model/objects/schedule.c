/* SPDX-License-Identifier: Apache-2.0 */
#include "model/objects/schedule.h"

#include <string.h>

#include "model/limits.h"
#include "model/rows/row.h"

const char *const schedule_state_names[N_SCHEDULE_STATES] = {"active", "paused", "finished"};
const struct moves schedule_moves = {
    "schedule",
    {[SCHEDULE_ACTIVE] = "active", [SCHEDULE_PAUSED] = "paused", [SCHEDULE_FINISHED] = "finished"},
    {
        {SCHEDULE_ACTIVE, SCHEDULE_PAUSED, "paused by an operator"},
        {SCHEDULE_PAUSED, SCHEDULE_ACTIVE, "resumed, or the time given to the pause is over"},
        {SCHEDULE_ACTIVE, SCHEDULE_FINISHED, "its last tick is past, or its end date"},
        {SCHEDULE_FINISHED, SCHEDULE_ACTIVE, "a change of its times begins it anew"},
    },
};

const char *const overlap_names[N_OVERLAPS] = {"allow", "skip", "queue", "replace"};
const char *const missed_names[N_MISSED] = {"skip", "once", "all"};
const char *const tick_outcome_names[N_TICK_OUTCOMES] = {
    "fired", "skipped", "waiting", "manual", "backfill"};

#define SET(kind, name, field) COLUMN_OF(schedule_row, kind, name, field, COLUMN_SETTABLE)
#define S(kind, name, field) COLUMN_OF(schedule_row, kind, name, field, 0)
#define P(kind, name, field) COLUMN_OF(schedule_row, kind, name, field, COLUMN_STATE)
/* The long ones last: a tick changes the row's front, and SQLite writes only pages that differ. */
static const struct column schedule_columns[] = {
    S(I64, "id", id),
    P(I32, "state", state),
    P(I32, "begun", progress.begun),
    P(I64, "done_until_s", progress.done_until_s),
    P(I64, "seen_until_s", progress.seen_until_s),
    P(I64, "system_s", progress.system_s),
    P(I64, "zone_offset_s", progress.zone_offset_s),
    P(I64, "moved_s", progress.moved_s),
    P(I64, "dealt0_from_s", progress.dealt[0].from_s),
    P(I64, "dealt0_to_s", progress.dealt[0].to_s),
    P(I64, "dealt0_moved_s", progress.dealt[0].moved_s),
    P(I64, "dealt1_from_s", progress.dealt[1].from_s),
    P(I64, "dealt1_to_s", progress.dealt[1].to_s),
    P(I64, "dealt1_moved_s", progress.dealt[1].moved_s),
    P(I64, "dealt2_from_s", progress.dealt[2].from_s),
    P(I64, "dealt2_to_s", progress.dealt[2].to_s),
    P(I64, "dealt2_moved_s", progress.dealt[2].moved_s),
    P(I64, "dealt3_from_s", progress.dealt[3].from_s),
    P(I64, "dealt3_to_s", progress.dealt[3].to_s),
    P(I64, "dealt3_moved_s", progress.dealt[3].moved_s),
    P(I64, "waiting_s", progress.waiting_s),
    P(I64, "waiting_offset_s", progress.waiting_offset_s),
    P(I64, "last_tick_s", progress.last_tick_s),
    P(I64, "last_task", progress.last_task),
    P(I64, "n_fired", progress.n_fired),
    P(I64, "n_skipped", progress.n_skipped),
    COLUMN_OF(schedule_row, TEXT, "name", name, COLUMN_NAME | COLUMN_SETTABLE),
    COLUMN_OF(schedule_row, TEXT, "zone", zone, COLUMN_TIME_ZONE | COLUMN_SETTABLE),
    SET(I64, "queue", queue),
    SET(I32, "priority", priority),
    SET(I32, "max_attempts", max_attempts),
    SET(I64, "timeout_ms", timeout_ms),
    SET(I64, "backoff_ms", backoff_ms),
    SET(I64, "backoff_max_ms", backoff_max_ms),
    SET(I32, "overlap", overlap),
    SET(I32, "missed", missed),
    SET(I64, "max_shift_s", max_shift_s),
    SET(I64, "jitter_ms", jitter_ms),
    SET(I64, "start_ms", start_ms),
    SET(I64, "end_ms", end_ms),
    S(TEXT, "pause_reason", pause.reason),
    S(I64, "paused_ms", paused_ms),
    S(I64, "paused_until_ms", pause.until_ms),
    S(I64, "ctime_ms", ctime_ms),
    S(I64, "mtime_ms", mtime_ms),
    S(I64, "version", version),
    SET(TEXT, "items", items),
    SET(TEXT, "source", source),
    SET(TEXT, "labels", labels),
    SET(TEXT, "need", need),
    SET(TEXT, "body", body),
    SET(TEXT, "group_text", group),
    COLUMN_SUM_OF("sum", 0),
    COLUMN_SUM_OF("state_sum", COLUMN_STATE),
};
_Static_assert(DEALT_SPANS == 4, "columns for each span");
_Static_assert(N_COLUMNS(schedule_columns) <= COLUMNS_MAX, "one of the widest");

#define F(name, kind, member, bits, text, ...)                   \
	FIELD(name, kind, schedule_row, member, .flags = (bits), \
	    .about = text __VA_OPT__(, ) __VA_ARGS__)
#define NONE FIELD_NULL_SHOWN
#define SETTINGS                                                                                  \
	FIELD_FOUND("task", FIELD_OTHER, 0, "what it submits, as POST /v1/tasks takes it",        \
	    .schema = "{\"type\":[\"object\",\"null\"]}"),                                        \
	    FIELD_FOUND("group", FIELD_OTHER, 0, "or a group, as POST /v1/groups takes it",       \
	        .schema = "{\"type\":[\"object\",\"string\",\"null\"]}"),                         \
	    F("overlap", FIELD_CHOICE, overlap, FIELD_BOTH,                                       \
	        "what a tick does while a task of an earlier one has not ended",                  \
	        .names = overlap_names, .n_names = N_OVERLAPS, .usual = "skip"),                  \
	    F("missed", FIELD_CHOICE, missed, FIELD_BOTH,                                         \
	        "which ticks still run that were due while nobody looked", .names = missed_names, \
	        .n_names = N_MISSED, .usual = "once"),                                            \
	    F("max_shift", FIELD_SECONDS, max_shift_s, FIELD_BOTH,                                \
	        "how late a tick may still run, and how far the clock may go back without "       \
	        "running things again",                                                           \
	        .max = MAX_SHIFT_MAX_S),                                                          \
	    F("jitter", FIELD_DURATION, jitter_ms, FIELD_BOTH | FIELD_NULL_GIVEN,                 \
	        "tasks begin up to so much later, each by chance"),                               \
	    F("start", FIELD_TIME, start_ms, FIELD_BOTH | FIELD_NULL,                             \
	        "nothing before this: a time, or a duration from now"),                           \
	    F("end", FIELD_TIME, end_ms, FIELD_BOTH | FIELD_NULL,                                 \
	        "nothing after this: a time, or a duration from now")

static const struct field pause_fields[] = {
    FIELD_FOUND("reason", FIELD_TEXT, NONE, "why"),
    FIELD_FOUND("since", FIELD_TIME, NONE, "when it was paused"),
    FIELD_FOUND("until", FIELD_TIME, NONE, "when it resumes by itself"),
    {NULL},
};
static const struct field last_fields[] = {
    FIELD_FOUND("tick", FIELD_TIME, NONE, "when it was due"),
    FIELD_FOUND("task", FIELD_ID, NONE, "that was submitted for it"),
    FIELD_FOUND("group", FIELD_ID, NONE, "that was triggered for it"),
    {NULL},
};

const struct field schedule_settings[] = {SETTINGS, {NULL}};
const struct field schedule_fields[] = {
    F("id", FIELD_ID, id, FIELD_SHOWN, "its id"),
    F("name", FIELD_OBJECT_NAME, name, FIELD_BOTH | FIELD_NEEDED,
        "its name, which no other schedule has"),
    F("state", FIELD_CHOICE, state, FIELD_SHOWN, "active, paused, or finished: no tick will come",
        .names = schedule_state_names, .n_names = N_SCHEDULE_STATES),
    FIELD_FOUND("problem", FIELD_TEXT, NONE, "why it cannot run at all"),
    FIELD_FOUND("items", FIELD_OTHER, 0, "its pattern of times",
        .schema = "{\"type\":\"array\",\"items\":{\"type\":\"object\"}}"),
    F("source", FIELD_TEXT, source, FIELD_SHOWN | NONE, "the pattern as it was written"),
    F("time_zone", FIELD_TEXT, zone, FIELD_SHOWN | NONE, "null: no wall clock is in it"),
    FIELD_FOUND("words", FIELD_TEXT, 0, "the pattern in words"),
    FIELD_FOUND("dst", FIELD_OTHER, 0, "what daylight saving does to it, in words",
        .schema = "{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"string\"}}"),
    SETTINGS,
    FIELD_FOUND("pause", FIELD_OBJECT, NONE, "null: it is not paused", .table = pause_fields),
    FIELD_FOUND("next", FIELD_TIME, NONE, "its next tick"),
    FIELD_FOUND("next_local", FIELD_TEXT, NONE, "the same on its own wall clock"),
    FIELD_FOUND("last", FIELD_OBJECT, NONE, "its last tick that got a task", .table = last_fields),
    FIELD_FOUND("live", FIELD_I64, 0, "tasks, or groups, of it that have not ended"),
    F("fired", FIELD_I64, progress.n_fired, FIELD_SHOWN, "ticks that got a task, or a group"),
    F("skipped", FIELD_I64, progress.n_skipped, FIELD_SHOWN,
        "ticks that got none; a stretch of them counts as one"),
    F("ctime", FIELD_TIME, ctime_ms, FIELD_SHOWN, "when it was made"),
    F("mtime", FIELD_TIME, mtime_ms, FIELD_SHOWN, "when it was changed last"),
    F("version", FIELD_I64, version, FIELD_SHOWN, "rises with every change: the ETag"),
    FIELD_TOLD("task", 0, "this, or a group", "{\"$ref\":\"#/components/schemas/TaskSubmit\"}"),
    FIELD_TOLD("group", 0, "in place of a task: a group, or its file as a text",
        "{\"oneOf\":[{\"$ref\":\"#/components/schemas/GroupSubmit\"},{\"type\":\"string\"}]}"),
    PATTERN_FIELDS,
    {NULL},
};

static void quarantine(void *row, const struct quarantine_facts *f)
{
	struct schedule_row *s = row, kept = *s;

	if (quarantine_is_whole(f)) /* without items it cannot fire, whoever resumes it */
		*s = (struct schedule_row){.id = kept.id,
		    .name = f->name,
		    .queue = kept.queue,
		    .body = STR("{}"),
		    .version = 1,
		    .ctime_ms = quarantine_time_ms(f, kept.ctime_ms)};
	memset(&s->progress, 0, sizeof s->progress); /* anew, and not with some past */
	s->state = SCHEDULE_PAUSED;
	s->paused_ms = f->now_ms;
	s->pause = (struct pause){quarantine_reason(f), 0};
}

const struct row_table schedule_table = {
    ROW_TABLE(TABLE_SCHEDULE, "schedule", schedule_row, schedule_columns),
    .n_key = 1,
    .has_id = true,
    .is_loaded = true,
    .quarantine = quarantine,
    .quarantined = "is paused",
};

#define K(kind, name, field) COLUMN_OF(tick_row, kind, name, field, 0)
static const struct column tick_columns[] = {
    K(I64, "schedule", schedule),
    K(I64, "tick_s", tick_s),
    K(I64, "offset_s", offset_s),
    COLUMN_OF(tick_row, I64, "until_s", until_s, COLUMN_REACH),
    K(I32, "outcome", outcome),
    K(I64, "task", task),
    K(I64, "time_ms", time_ms),
    K(I64, "shift_s", shift_s),
    K(TEXT, "reason", reason),
    COLUMN_SUM_OF("sum", 0),
};

static void quarantine_tick(void *row, const struct quarantine_facts *f)
{
	((struct tick_row *)row)->reason = STR(ROW_DAMAGED);
}

const struct row_table tick_table = {
    ROW_TABLE(TABLE_TICK, "tick", tick_row, tick_columns),
    .n_key = 3,
    .expires = EXPIRES_WITH_EVENTS,
    .belongs_to = &schedule_table,
    .quarantine = quarantine_tick,
};
