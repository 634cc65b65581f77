/* SPDX-License-Identifier: Apache-2.0 */
/* A group as JSON. */
#include "api/frame/fields_out.h"
#include "api/groups/groups.h"

#define SHOWN(name, kind, member, ...) \
	FIELD(name, kind, group_row, member, .flags = FIELD_SHOWN __VA_OPT__(, ) __VA_ARGS__)
#define SHOWN_OR_NULL(name, kind, member, ...) \
	FIELD(name, kind, group_row, member,   \
	    .flags = FIELD_SHOWN | FIELD_NULL_SHOWN __VA_OPT__(, ) __VA_ARGS__)

static const struct field count_fields[] = {
    SHOWN("built", FIELD_I64, counts.built),
    SHOWN("failed", FIELD_I64, counts.failed),
    SHOWN("lost", FIELD_I64, counts.lost),
    SHOWN("skipped", FIELD_I64, counts.skipped, .about = "what they need did not end as it must"),
    SHOWN("cancelled", FIELD_I64, counts.cancelled),
    {NULL},
};

const struct field group_fields[] = {
    SHOWN("id", FIELD_ID, id),
    SHOWN("name", FIELD_TEXT, name),
    SHOWN("state", FIELD_CHOICE, state, .names = group_state_names, .n_names = N_GROUP_STATES),
    SHOWN("policy", FIELD_CHOICE, policy, .names = group_policy_names, .n_names = N_GROUP_POLICIES),
    SHOWN("jobs", FIELD_I64, n_jobs, .about = "how many"),
    SHOWN("edges", FIELD_I64, n_edges, .about = "how many needs they have"),
    {.name = "counts",
        .kind = FIELD_OBJECT,
        .table = count_fields,
        .flags = FIELD_SHOWN,
        .about = "jobs that have ended, by how"},
    SHOWN("created", FIELD_TIME, ctime_ms),
    SHOWN("changed", FIELD_TIME, mtime_ms, .about = "when it came into its state"),
    SHOWN_OR_NULL("dispatched", FIELD_TIME, dispatched_ms),
    SHOWN_OR_NULL("ended", FIELD_TIME, ended_ms),
    SHOWN_OR_NULL("reason", FIELD_TEXT, reason, .about = "why it is in its state"),
    SHOWN_OR_NULL("series", FIELD_TEXT, series,
        .about = "what groups that build the same again and again have in common"),
    FIELD_FOUND("schedule", FIELD_TEXT, FIELD_NULL_SHOWN, "that triggered it"),
    SHOWN_OR_NULL("schedule_id", FIELD_ID, schedule),
    FIELD_FOUND(
        "tick", FIELD_TIME, FIELD_NULL_SHOWN, "of the schedule; null: somebody asked for it"),
    SHOWN_OR_NULL("retried_of", FIELD_ID, retried_of, .about = "the group that it is left of"),
    SHOWN_OR_NULL("actor", FIELD_TEXT, actor, .about = "who submitted it"),
    {NULL},
};

struct group_shown {
	const struct api *a;
	const struct group_row *g;
};

static void put_counts(struct buf *b, const void *arg)
{
	const struct showing s = {.row = ((const struct group_shown *)arg)->g};

	jw_open(b, '{');
	fields_write(b, &s, count_fields);
	jw_close(b, '}');
}

/* Null, too, when that schedule was deleted. */
static void put_schedule(struct buf *b, const void *arg)
{
	const struct group_shown *s = arg;
	struct str name = core_name(s->a->host.core, KIND_SCHEDULE, s->g->schedule);

	if (name.p)
		jw_str(b, name);
	else
		jw_null(b);
}

static void put_tick(struct buf *b, const void *arg)
{
	const struct group_row *g = ((const struct group_shown *)arg)->g;

	if (g->tick_s)
		jw_time(b, g->tick_s * 1000);
	else
		jw_null(b);
}

static const struct field_out found[] = {
    {"counts", put_counts}, {"schedule", put_schedule}, {"tick", put_tick}, {NULL}};

void show_group(struct buf *b, const struct api *a, const struct group_row *g)
{
	const struct group_shown shown = {a, g};
	const struct showing s = {a->host.ids, g, found, &shown, true};

	jw_open(b, '{');
	fields_write(b, &s, group_fields);
	jw_close(b, '}');
}
