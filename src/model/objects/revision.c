/* SPDX-License-Identifier: Apache-2.0 */
#include "model/objects/revision.h"

#include "model/objects/service.h"
#include "model/rows/row.h"

const char *const revision_outcome_names[N_REVISION_OUTCOMES] = {
    "new", "stable", "failed", "replaced"};

/* NULL and nothing are the same to whoever runs it. */
bool spec_is_same(const struct service_spec *x, const struct service_spec *y)
{
	return x->queue == y->queue && x->n_ports == y->n_ports && str_eq(x->need, y->need) &&
	       str_eq(x->needs, y->needs) && str_eq(x->body, y->body);
}

#define R(kind, name, field) COLUMN_OF(revision_row, kind, name, field, 0)
static const struct column revision_columns[] = {
    R(I64, "service", service),
    R(I64, "number", number),
    R(I64, "time_ms", time_ms),
    R(I32, "outcome", outcome),
    R(I64, "outcome_ms", outcome_ms),
    R(TEXT, "actor", actor),
    R(TEXT, "reason", reason),
    R(I64, "queue", spec.queue),
    R(I32, "n_ports", spec.n_ports),
    R(TEXT, "need", spec.need),
    R(TEXT, "needs", spec.needs),
    R(TEXT, "body", spec.body),
    COLUMN_SUM_OF("sum", 0),
};

#define F(name, kind, member, bits, text, ...)                   \
	FIELD(name, kind, revision_row, member, .flags = (bits), \
	    .about = text __VA_OPT__(, ) __VA_ARGS__)
#define NONE FIELD_NULL_SHOWN
const struct field revision_fields[] = {
    F("revision", FIELD_I64, number, FIELD_SHOWN, "its number, from 1"),
    F("time", FIELD_TIME, time_ms, FIELD_SHOWN, "when it was asked for"),
    F("outcome", FIELD_CHOICE, outcome, FIELD_SHOWN,
        "new, stable (all instances were healthy), failed (not in time), or replaced before that",
        .names = revision_outcome_names, .n_names = N_REVISION_OUTCOMES),
    F("outcome_time", FIELD_TIME, outcome_ms, FIELD_SHOWN | NONE, "since when"),
    F("actor", FIELD_TEXT, actor, FIELD_SHOWN | NONE, "who asked for it"),
    F("reason", FIELD_TEXT, reason, FIELD_SHOWN | NONE, "why"),
    F("ports", FIELD_I32, spec.n_ports, FIELD_SHOWN, "how many ports it is given"),
    F("need", FIELD_NEED, spec.need, FIELD_SHOWN | NONE, "what it needs of its worker"),
    F("needs", FIELD_LINES, spec.needs, FIELD_SHOWN, "services that must be ready before it starts",
        .max = SERVICE_NEEDS_MAX),
    FIELD_FOUND(
        "task", FIELD_OTHER, 0, "what it runs", .schema = "{\"type\":[\"object\",\"null\"]}"),
    FIELD_FOUND("queue", FIELD_TEXT, NONE, "whose settings hold"),
    FIELD_FOUND("target", FIELD_BOOL, 0, "the deploy brings instances to it"),
    FIELD_FOUND("stable", FIELD_BOOL, 0, "what a rollback goes back to"),
    FIELD_FOUND("instances", FIELD_I64, 0, "so many are of it now"),
    {NULL},
};

/* What it runs is not known: the brain starts nothing of a revision without a body. */
static void quarantine(void *row, const struct quarantine_facts *f)
{
	struct revision_row *r = row;

	*r = (struct revision_row){.service = r->service,
	    .number = r->number,
	    .time_ms = quarantine_time_ms(f, r->time_ms),
	    .outcome = REVISION_FAILED,
	    .outcome_ms = f->now_ms,
	    .reason = STR(ROW_DAMAGED)};
}

const struct row_table revision_table = {
    ROW_TABLE(TABLE_REVISION, "revision", revision_row, revision_columns),
    .n_key = 2,
    .is_loaded = true,
    .belongs_to = &service_table,
    .quarantine = quarantine,
    .quarantined = "starts nothing more",
};
