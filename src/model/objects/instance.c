/* SPDX-License-Identifier: Apache-2.0 */
#include "model/objects/instance.h"

#include "model/limits.h"
#include "model/objects/service.h"
#include "model/rows/row.h"

const char *const instance_row_states[INSTANCE_STATES] = {
    "UNCLAIMED", "CLAIMED", "RUNNING", "CRASHED"};
const char *const instance_row_presences[INSTANCE_PRESENCES] = {
    "ordinary", "evacuating", "suspect"};

#define I(kind, name, field) COLUMN_OF(instance_row, kind, name, field, 0)
static const struct column instance_columns[] = {
    I(I64, "service", service),
    I(I64, "idx", index),
    I(I64, "presence", presence),
    I(I32, "state", state),
    I(I32, "crash_count", crash_count),
    I(I64, "task", task),
    I(I64, "token", token),
    I(I64, "last_task", last_task),
    I(I64, "worker", worker),
    I(I64, "revision", revision),
    I(I64, "tag", tag),
    I(I64, "since_ms", since_ms),
    I(I64, "asked_ms", asked_ms),
    I(I64, "crashed_at_ms", crashed_at_ms),
    I(I64, "ready_ms", ready_ms),
    I(I32, "is_up", is_up),
    I(I32, "is_stopping", is_stopping),
    I(I32, "is_surge", is_surge),
    I(TEXT, "address", address),
    I(TEXT, "ports", ports),
    I(TEXT, "crash_reason", crash_reason),
    I(TEXT, "place_error", place_error),
    COLUMN_SUM_OF("sum", 0),
};

#define F(name, kind, member, bits, text, ...)                   \
	FIELD(name, kind, instance_row, member, .flags = (bits), \
	    .about = text __VA_OPT__(, ) __VA_ARGS__)
#define NONE FIELD_NULL_SHOWN
const struct field instance_fields[] = {
    FIELD_FOUND("instance", FIELD_TEXT, 0, "web/0: the service and the index"),
    F("index", FIELD_I64, index, FIELD_SHOWN, "from 0"),
    FIELD_FOUND("state", FIELD_CHOICE, 0, "UNCLAIMED, CLAIMED, RUNNING or CRASHED",
        .names = instance_row_states, .n_names = INSTANCE_STATES),
    FIELD_FOUND("presence", FIELD_CHOICE, 0, "ordinary, evacuating or suspect",
        .names = instance_row_presences, .n_names = INSTANCE_PRESENCES),
    F("revision", FIELD_I64, revision, FIELD_SHOWN, "what is started, or will be"),
    F("task", FIELD_ID, task, FIELD_SHOWN | NONE, "the present start"),
    F("last_task", FIELD_ID, last_task, FIELD_SHOWN | NONE,
        "the start before, which has ended: retention leaves it alone"),
    FIELD_FOUND("worker", FIELD_TEXT, NONE, "where it is"),
    FIELD_FOUND("zone", FIELD_TEXT, NONE, "of that worker"),
    F("address", FIELD_TEXT, address, FIELD_SHOWN | NONE, "where it can be reached"),
    FIELD_FOUND("ports", FIELD_OTHER, 0, "in the order of the service's",
        .schema = "{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}"),
    F("since", FIELD_TIME, since_ms, FIELD_SHOWN, "in this state"),
    F("up", FIELD_BOOL, is_up, FIELD_SHOWN, "its startup check has passed"),
    FIELD_FOUND("ready", FIELD_BOOL, 0, "for traffic"),
    F("ready_since", FIELD_TIME, ready_ms, FIELD_SHOWN | NONE, "since when"),
    FIELD_FOUND("routed", FIELD_BOOL, 0, "traffic goes to it"),
    F("stopping", FIELD_BOOL, is_stopping, FIELD_SHOWN, "its worker was told to stop it"),
    F("surge", FIELD_BOOL, is_surge, FIELD_SHOWN, "a deploy made it for its time"),
    F("crashes", FIELD_I32, crash_count, FIELD_SHOWN, "in a row"),
    F("crashed", FIELD_TIME, crashed_at_ms, FIELD_SHOWN | NONE, "the last time"),
    F("crash_reason", FIELD_TEXT, crash_reason, FIELD_SHOWN | NONE, "of that crash"),
    FIELD_FOUND(
        "restarts", FIELD_TIME, NONE, "when a crashed one starts again; null: not by itself"),
    F("place_error", FIELD_TEXT, place_error, FIELD_SHOWN | NONE, "why it has no worker"),
    FIELD_FOUND("waits_for", FIELD_TEXT, NONE, "a service that must be ready before it starts"),
    F("tag", FIELD_I64, tag, FIELD_SHOWN, "rises over the whole server with every change"),
    {NULL},
};

/* What may run has a record: it is one of which nobody knows where it is, until its worker says. */
static void quarantine(void *row, const struct quarantine_facts *f)
{
	struct instance_row *i = row, kept = *i;
	bool may_run = kept.state == 1 || kept.state == 2;

	*i = (struct instance_row){.service = kept.service,
	    .index = kept.index,
	    .presence =
	        kept.presence >= 0 && kept.presence < INSTANCE_PRESENCES ? kept.presence : 0,
	    .state = may_run ? kept.state : 0,
	    .task = may_run ? kept.task : 0,
	    .token = may_run ? kept.token : 0,
	    .worker = may_run ? kept.worker : 0,
	    .revision = kept.revision,
	    .since_ms = f->now_ms,
	    .crash_reason = STR(ROW_DAMAGED)};
}

const struct row_table instance_table = {
    ROW_TABLE(TABLE_INSTANCE, "instance", instance_row, instance_columns),
    .n_key = 3,
    .is_loaded = true,
    .belongs_to = &service_table,
    .quarantine = quarantine,
    .quarantined = "is asked for again",
};
