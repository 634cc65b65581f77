/* SPDX-License-Identifier: Apache-2.0 */
/* Names, allowed moves and columns of groups. */
#include "model/objects/group.h"

#include <string.h>

#include "model/rows/row.h"

const char *const group_state_names[N_GROUP_STATES] = {"triggered", "created", "queued",
    "dispatching", "complete", "failure-cleanup", "failed", "canceling", "canceled"};
const char *const group_policy_names[N_GROUP_POLICIES] = {"best-effort", "fail-fast", "fail-now"};
const char *const job_state_names[N_JOB_STATES] = {"pending", "schedulable", "eligible",
    "dispatched", "built", "job-failed", "dependency-failed", "job-lost", "cancel-pending",
    "cancel-complete"};

const char job_letters[N_JOB_STATES + 1] = "psedbfxlwc";

const struct moves group_moves = {
    "group",
    {[GROUP_TRIGGERED] = "triggered",
        [GROUP_CREATED] = "created",
        [GROUP_QUEUED] = "queued",
        [GROUP_DISPATCHING] = "dispatching",
        [GROUP_COMPLETE] = "complete",
        [GROUP_FAILURE_CLEANUP] = "cleanup",
        [GROUP_FAILED] = "failed",
        [GROUP_CANCELING] = "canceling",
        [GROUP_CANCELED] = "canceled"},
    {
        {GROUP_TRIGGERED, GROUP_CREATED, "its graph is known, and has no cycle"},
        {GROUP_TRIGGERED, GROUP_FAILED, "its owner asks for what cannot be drafted"},
        {GROUP_TRIGGERED, GROUP_CANCELED, "somebody cancels it before its jobs are known"},
        {GROUP_CREATED, GROUP_QUEUED, "all its jobs are there"},
        {GROUP_QUEUED, GROUP_DISPATCHING, "few groups are active, or workers would idle"},
        {GROUP_QUEUED, GROUP_CANCELING, "somebody cancels it"},
        {GROUP_DISPATCHING, GROUP_COMPLETE, "all jobs have ended, and none has failed"},
        {GROUP_DISPATCHING, GROUP_FAILED, "all jobs have ended, and some have failed"},
        {GROUP_DISPATCHING, GROUP_FAILURE_CLEANUP, "a job failed and it fails fast, or is stuck"},
        {GROUP_DISPATCHING, GROUP_CANCELING, "somebody cancels it"},
        {GROUP_FAILURE_CLEANUP, GROUP_FAILED, "the last job has ended"},
        {GROUP_FAILURE_CLEANUP, GROUP_CANCELING, "somebody cancels it: what runs is told, too"},
        {GROUP_CANCELING, GROUP_CANCELED, "the last worker has said so"},
    },
};

bool group_is_ended(int state)
{
	return state == GROUP_COMPLETE || state == GROUP_FAILED || state == GROUP_CANCELED;
}

bool group_is_owed(const struct group_row *g)
{
	return g->state == GROUP_TRIGGERED && g->owner;
}

static enum job_state ended_state(const struct task_state *t)
{
	switch (t->status) {
	case TASK_SUCCEEDED: return JOB_BUILT;
	case TASK_ORPHANED: return JOB_LOST;
	case TASK_CANCELLED:
		return t->wish == WISH_SKIP ? JOB_DEPENDENCY_FAILED : JOB_CANCEL_COMPLETE;
	default: return JOB_FAILED;
	}
}

enum job_state job_state(enum group_state group, const struct task_state *t)
{
	switch (task_phase(t->status)) {
	case PHASE_HELD: return group < GROUP_DISPATCHING ? JOB_PENDING : JOB_SCHEDULABLE;
	case PHASE_QUEUED: return JOB_ELIGIBLE;
	case PHASE_ENDED: return ended_state(t);
	default: return task_is_told(t) ? JOB_CANCEL_PENDING : JOB_DISPATCHED;
	}
}

void group_count_end(struct group_counts *n, const struct task_state *t)
{
	switch (ended_state(t)) {
	case JOB_BUILT: n->built++; break;
	case JOB_LOST: n->lost++; break;
	case JOB_DEPENDENCY_FAILED: n->skipped++; break;
	case JOB_CANCEL_COMPLETE: n->cancelled++; break;
	default: n->failed++; break;
	}
}

#define G(kind, name, field, flags) COLUMN_OF(group_row, kind, name, field, flags)
static const struct column group_columns[] = {
    G(I64, "id", id, 0),
    G(I32, "state", state, COLUMN_STATE),
    G(I64, "n_built", counts.built, COLUMN_STATE),
    G(I64, "n_failed", counts.failed, COLUMN_STATE),
    G(I64, "n_lost", counts.lost, COLUMN_STATE),
    G(I64, "n_skipped", counts.skipped, COLUMN_STATE),
    G(I64, "n_cancelled", counts.cancelled, COLUMN_STATE),
    G(I64, "mtime_ms", mtime_ms, COLUMN_STATE),
    G(I64, "dispatched_ms", dispatched_ms, COLUMN_STATE),
    G(I64, "ended_ms", ended_ms, COLUMN_STATE),
    G(TEXT, "reason", reason, COLUMN_STATE),
    G(TEXT, "name", name, COLUMN_NAME),
    G(I32, "policy", policy, 0),
    G(I64, "n_jobs", n_jobs, 0),
    G(I64, "n_edges", n_edges, 0),
    G(I64, "n_chunks", n_chunks, 0),
    G(I64, "ctime_ms", ctime_ms, 0),
    G(TEXT, "actor", actor, 0),
    G(I64, "retried_of", retried_of, 0),
    G(TEXT, "series", series, 0),
    G(I64, GROUP_OWNER_NAME, owner, 0),
    G(I64, "tick_s", owner_part, 0),
    COLUMN_SUM_OF("sum", 0),
    COLUMN_SUM_OF("state_sum", COLUMN_STATE),
};

#define SHOWN(name, kind, member, ...) \
	FIELD(name, kind, group_row, member, .flags = FIELD_SHOWN __VA_OPT__(, ) __VA_ARGS__)
#define SHOWN_OR_NULL(name, kind, member, ...) \
	FIELD(name, kind, group_row, member,   \
	    .flags = FIELD_SHOWN | FIELD_NULL_SHOWN __VA_OPT__(, ) __VA_ARGS__)

const struct field group_count_fields[] = {
    SHOWN("built", FIELD_I64, counts.built, .about = "that ended as they must"),
    SHOWN("failed", FIELD_I64, counts.failed, .about = "that did not"),
    SHOWN("lost", FIELD_I64, counts.lost,
        .about = "whose worker was lost, and which may not run twice"),
    SHOWN("skipped", FIELD_I64, counts.skipped, .about = "what they need did not end as it must"),
    SHOWN("cancelled", FIELD_I64, counts.cancelled,
        .about = "by somebody, or because another job failed"),
    {NULL},
};

const struct field group_fields[] = {
    SHOWN("id", FIELD_ID, id, .about = "its id; its jobs' tasks have those behind it"),
    SHOWN("name", FIELD_TEXT, name, .about = "no other group has it; its id, if none was given"),
    SHOWN("state", FIELD_CHOICE, state, .about = "how it stands: see docs/GROUPS.md",
        .names = group_state_names, .n_names = N_GROUP_STATES),
    SHOWN("policy", FIELD_CHOICE, policy, .about = "what becomes of the rest when a job has failed",
        .names = group_policy_names, .n_names = N_GROUP_POLICIES),
    SHOWN("jobs", FIELD_I64, n_jobs, .about = "how many"),
    SHOWN("edges", FIELD_I64, n_edges, .about = "how many needs they have"),
    {.name = "counts",
        .kind = FIELD_OBJECT,
        .table = group_count_fields,
        .flags = FIELD_SHOWN,
        .about = "jobs that have ended, by how"},
    SHOWN("created", FIELD_TIME, ctime_ms, .about = "when it was submitted"),
    SHOWN("changed", FIELD_TIME, mtime_ms, .about = "when it came into its state"),
    SHOWN_OR_NULL(
        "dispatched", FIELD_TIME, dispatched_ms, .about = "when its jobs could first be started"),
    SHOWN_OR_NULL("ended", FIELD_TIME, ended_ms, .about = "when its last job ended"),
    SHOWN_OR_NULL("reason", FIELD_TEXT, reason, .about = "why it is in its state"),
    SHOWN_OR_NULL("series", FIELD_TEXT, series,
        .about = "what groups that build the same again and again have in common"),
    FIELD_FOUND(GROUP_OWNER_NAME, FIELD_TEXT, FIELD_NULL_SHOWN, "that triggered it"),
    SHOWN_OR_NULL(GROUP_OWNER_NAME "_id", FIELD_ID, owner, .about = "its id"),
    FIELD_FOUND("tick", FIELD_TIME, FIELD_NULL_SHOWN,
        "of the " GROUP_OWNER_NAME "; null: somebody asked for it"),
    SHOWN_OR_NULL("retried_of", FIELD_ID, retried_of, .about = "the group that it is left of"),
    SHOWN_OR_NULL("actor", FIELD_TEXT, actor, .about = "who submitted it"),
    {NULL},
};

/* How it stands is not known: what waits is ended. Without its size nothing can be told of it. */
static void quarantine(void *row, const struct quarantine_facts *f)
{
	struct group_row *g = row, kept = *g;

	if (quarantine_is_whole(f))
		*g = (struct group_row){.id = kept.id,
		    .name = f->name,
		    .ctime_ms = quarantine_time_ms(f, kept.ctime_ms)};
	memset(&g->counts, 0, sizeof g->counts);
	g->state = quarantine_is_whole(f) ? GROUP_FAILED : GROUP_FAILURE_CLEANUP;
	g->mtime_ms = f->now_ms;
	g->dispatched_ms = 0;
	g->ended_ms = quarantine_is_whole(f) ? f->now_ms : 0;
	g->reason = STR("damaged: its row in the store does not fit its checksum");
}

const struct row_table group_table = {
    ROW_TABLE(TABLE_GROUP, "groups", group_row, group_columns),
    .n_key = 1,
    .has_id = true,
    .is_loaded = true,
    .quarantine = quarantine,
    .quarantined = "has failed",
};

static const struct column group_graph_columns[] = {
    COLUMN_OF(group_graph_row, I64, "group_id", group, 0),
    COLUMN_OF(group_graph_row, I64, "number", number, 0),
    COLUMN_OF(group_graph_row, BLOB, "data", data, 0),
    COLUMN_SUM_OF("sum", 0),
};

static void quarantine_graph(void *row, const struct quarantine_facts *f)
{
	((struct group_graph_row *)row)->data = STR_NULL;
}

const struct row_table group_graph_table = {
    ROW_TABLE(TABLE_GROUP_GRAPH, "group_graph", group_graph_row, group_graph_columns),
    .n_key = 2,
    .belongs_to = &group_table,
    .quarantine = quarantine_graph,
};
