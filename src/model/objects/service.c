/* SPDX-License-Identifier: Apache-2.0 */
#include "model/objects/service.h"

#include "model/limits.h"
#include "model/rows/row.h"

const char *const service_strategy_names[N_STRATEGY_KINDS] = {"rolling", "recreate", "canary"};
const char *const service_deploy_names[SERVICE_DEPLOY_STATES] = {
    "steady", "canary", "waiting", "rolling", "rolling-back", "stalled"};

void service_defaults(struct service_row *ret_row)
{
	*ret_row = (struct service_row){
	    .instances = 1,
	    .crash = {.at_once = 2,
	        .stop_at = 200,
	        .wait_ms = 30 * 1000,
	        .wait_max_ms = 960 * 1000,
	        .reset_after_ms = 300 * 1000,
	        .factor = 2000},
	    .strategy = {.max_surge = 1,
	        .canary = 1,
	        .min_healthy_ms = 10 * 1000,
	        .deadline_ms = 600 * 1000},
	};
}

#define SET(kind, name, field) COLUMN_OF(service_row, kind, name, field, COLUMN_SETTABLE)
#define S(kind, name, field) COLUMN_OF(service_row, kind, name, field, 0)
#define P(kind, name, field) COLUMN_OF(service_row, kind, name, field, COLUMN_STATE)
/* The long ones last: a deploy's steps change the row's front. */
static const struct column service_columns[] = {
    S(I64, "id", id),
    P(I32, "deploy_state", deploy.state),
    P(I64, "target", deploy.target),
    P(I64, "stable", deploy.stable),
    P(I64, "failed", deploy.failed),
    P(I64, "deploy_since_ms", deploy.since_ms),
    P(I64, "tag", tag),
    COLUMN_OF(service_row, TEXT, "name", name, COLUMN_NAME | COLUMN_SETTABLE),
    SET(TEXT, "domain", domain),
    SET(I32, "instances", instances),
    SET(I32, "singleton", singleton),
    SET(I32, "crash_at_once", crash.at_once),
    SET(I32, "crash_stop_at", crash.stop_at),
    SET(I64, "crash_wait_ms", crash.wait_ms),
    SET(I64, "crash_wait_max_ms", crash.wait_max_ms),
    SET(I64, "crash_reset_after_ms", crash.reset_after_ms),
    SET(I64, "crash_factor", crash.factor),
    SET(I32, "strategy", strategy.kind),
    SET(I32, "max_surge", strategy.max_surge),
    SET(I32, "max_unavailable", strategy.max_unavailable),
    SET(I32, "canary", strategy.canary),
    SET(I32, "auto_rollback", strategy.auto_rollback),
    SET(I64, "min_healthy_ms", strategy.min_healthy_ms),
    SET(I64, "deadline_ms", strategy.deadline_ms),
    SET(I64, "queue", spec.queue),
    SET(I32, "n_ports", spec.n_ports),
    S(I64, "last_revision", last_revision),
    S(I32, "deleting", deleting),
    S(I64, "ctime_ms", ctime_ms),
    S(I64, "mtime_ms", mtime_ms),
    S(I64, "version", version),
    S(TEXT, "actor", actor),
    SET(TEXT, "labels", labels),
    SET(TEXT, "need", spec.need),
    SET(TEXT, "needs", spec.needs),
    SET(TEXT, "annotation", annotation),
    SET(TEXT, "routes", routes),
    SET(TEXT, "body", spec.body),
    COLUMN_SUM_OF("sum", 0),
    COLUMN_SUM_OF("state_sum", COLUMN_STATE),
};

uint64_t service_spec_columns(void)
{
	return ROW_BIT(service_table, service_row, spec.queue) |
	       ROW_BIT(service_table, service_row, spec.n_ports) |
	       ROW_BIT(service_table, service_row, spec.need) |
	       ROW_BIT(service_table, service_row, spec.needs) |
	       ROW_BIT(service_table, service_row, spec.body);
}

#define F(name, kind, member, bits, text, ...)                  \
	FIELD(name, kind, service_row, member, .flags = (bits), \
	    .about = text __VA_OPT__(, ) __VA_ARGS__)
#define BOTH FIELD_BOTH
#define NONE FIELD_NULL_SHOWN

static const struct field crash_fields[] = {
    F("at_once", FIELD_I32, crash.at_once, BOTH, "so many crashes start again at once",
        .max = SERVICE_CRASHES_AT_MOST),
    F("wait", FIELD_DURATION, crash.wait_ms, BOTH, "the first wait"),
    F("factor_milli", FIELD_I64, crash.factor, BOTH,
        "each further wait is longer by this, in thousandths", .min = 1000, .max = 1000000),
    F("wait_max", FIELD_DURATION, crash.wait_max_ms, BOTH, "the longest wait"),
    F("stop_at", FIELD_I32, crash.stop_at, BOTH, "at this many crashes it is over; 0: never",
        .max = SERVICE_CRASHES_AT_MOST),
    F("reset_after", FIELD_DURATION, crash.reset_after_ms, BOTH,
        "running for so long, the count begins anew; 0: never"),
    {NULL},
};
static const struct field strategy_fields[] = {
    F("kind", FIELD_CHOICE, strategy.kind, BOTH, "rolling, recreate or canary",
        .names = service_strategy_names, .n_names = N_STRATEGY_KINDS),
    F("max_surge", FIELD_I32, strategy.max_surge, BOTH, "so many more than are wanted",
        .max = SERVICE_INSTANCES_OF_ONE),
    F("max_unavailable", FIELD_I32, strategy.max_unavailable, BOTH,
        "so many fewer than are wanted may be ready", .max = SERVICE_INSTANCES_OF_ONE),
    F("canary", FIELD_I32, strategy.canary, BOTH, "so many, before it is promoted", .min = 1,
        .max = SERVICE_INSTANCES_OF_ONE),
    F("min_healthy", FIELD_DURATION, strategy.min_healthy_ms, BOTH, "ready for so long is healthy"),
    F("deadline", FIELD_DURATION, strategy.deadline_ms, BOTH,
        "the longest time without a step forward; 0: none"),
    F("auto_rollback", FIELD_BOOL, strategy.auto_rollback, BOTH,
        "it goes back by itself when it is too late"),
    {NULL},
};
static const struct field deploy_fields[] = {
    F("state", FIELD_CHOICE, deploy.state, FIELD_SHOWN,
        "steady, canary, waiting, rolling, rolling-back or stalled", .names = service_deploy_names,
        .n_names = SERVICE_DEPLOY_STATES),
    F("since", FIELD_TIME, deploy.since_ms, FIELD_SHOWN, "in this state"),
    F("target", FIELD_I64, deploy.target, FIELD_SHOWN, "the revision that is wanted"),
    F("stable", FIELD_I64, deploy.stable, FIELD_SHOWN | NONE,
        "the last one of which all instances were healthy"),
    F("failed", FIELD_I64, deploy.failed, FIELD_SHOWN | NONE,
        "the last one that was not healthy in time"),
    FIELD_FOUND("why", FIELD_TEXT, 0, "where it is and what it waits for, as a sentence"),
    {NULL},
};
static const struct field count_fields[] = {
    FIELD_FOUND("unclaimed", FIELD_I64, 0, "wait for a worker"),
    FIELD_FOUND("claimed", FIELD_I64, 0, "are started"),
    FIELD_FOUND("running", FIELD_I64, 0, "run"),
    FIELD_FOUND("crashed", FIELD_I64, 0, "wait after a crash"),
    FIELD_FOUND("ready", FIELD_I64, 0, "indexes with one that is ready for traffic"),
    FIELD_FOUND("unplaced", FIELD_I64, 0, "have no worker, and an error that says why"),
    FIELD_FOUND("evacuating", FIELD_I64, 0, "on a worker that is drained"),
    FIELD_FOUND("suspect", FIELD_I64, 0, "on a worker that is silent"),
    {NULL},
};

const struct field service_fields[] = {
    F("id", FIELD_ID, id, FIELD_SHOWN, "its id"),
    F("name", FIELD_OBJECT_NAME, name, BOTH | FIELD_NEEDED, "its name, which no other service has"),
    F("domain", FIELD_OBJECT_NAME, domain, BOTH | FIELD_NULL,
        "who says which services are desired; null: none"),
    F("instances", FIELD_I32, instances, BOTH, "so many are wanted",
        .max = SERVICE_INSTANCES_OF_ONE),
    F("singleton", FIELD_BOOL, singleton, BOTH, "never started while another start of it may run"),
    F("labels", FIELD_LABELS, labels, BOTH | FIELD_NULL, "for people and templates of routes",
        .max = LABELS_MAX),
    F("annotation", FIELD_TEXT, annotation, BOTH | FIELD_NULL,
        "whatever its owner wants to remember", .max = SERVICE_ANNOTATION_MAX),
    FIELD_FOUND(
        "routes", FIELD_OTHER, NONE, "what its owner says about traffic: any JSON", .schema = "{}"),
    FIELD_TOLD("routes", FIELD_NULL_GIVEN,
        "what its owner says about traffic: any JSON, at most 128 KiB", "{}"),
    F("crash", FIELD_OBJECT, crash, BOTH, "what a crash leads to", .table = crash_fields),
    F("strategy", FIELD_OBJECT, strategy, BOTH, "how a new revision replaces another",
        .table = strategy_fields),
    FIELD_FOUND("queue", FIELD_TEXT, 0, "the queue whose settings hold"),
    FIELD_TOLD("queue", FIELD_NULL_GIVEN, "the queue whose settings hold",
        "{\"type\":[\"string\",\"null\"]}"),
    F("ports", FIELD_I32, spec.n_ports, BOTH, "how many ports each instance is given",
        .max = SERVICE_PORTS_MAX),
    F("need", FIELD_NEED, spec.need, BOTH | FIELD_NULL, "what each instance needs of its worker"),
    F("needs", FIELD_LINES, spec.needs, BOTH | FIELD_NULL_GIVEN,
        "services that must be ready before it starts", .max = SERVICE_NEEDS_MAX),
    FIELD_FOUND("task", FIELD_OTHER, 0, "what it runs, as POST /v1/tasks takes it",
        .schema = "{\"type\":[\"object\",\"null\"]}"),
    FIELD_TOLD("task", 0, "what it runs: command or action, env, cwd, run",
        "{\"$ref\":\"#/components/schemas/TaskSubmit\"}"),
    FIELD_TOLD("reason", FIELD_NULL_GIVEN, "why: kept with the revision that it makes",
        "{\"type\":[\"string\",\"null\"]}"),
    FIELD_FOUND(
        "deploy", FIELD_OBJECT, 0, "how far the target revision has got", .table = deploy_fields),
    FIELD_FOUND("counts", FIELD_OBJECT, 0, "its instances", .table = count_fields),
    FIELD_FOUND("place_error", FIELD_TEXT, NONE, "why some have no worker: the first of them"),
    FIELD_FOUND("crash_reason", FIELD_TEXT, NONE, "of the last crash of any"),
    F("deleting", FIELD_BOOL, deleting, FIELD_SHOWN,
        "nothing of it is wanted any more: it goes with its last instance"),
    F("tag", FIELD_I64, tag, FIELD_SHOWN, "of the last change of anything of it"),
    F("ctime", FIELD_TIME, ctime_ms, FIELD_SHOWN, "when it was made"),
    F("mtime", FIELD_TIME, mtime_ms, FIELD_SHOWN, "when it was changed last"),
    F("actor", FIELD_TEXT, actor, FIELD_SHOWN | NONE, "who changed it last"),
    F("version", FIELD_I64, version, FIELD_SHOWN, "rises with every change: the ETag"),
    {NULL},
};

/* What runs goes on: with its revisions whole, they say what it is. Nothing is replaced, and
 * nothing is stopped, for it is in no domain. */
static void quarantine(void *row, const struct quarantine_facts *f)
{
	struct service_row *s = row, kept = *s;

	if (!quarantine_is_whole(f)) {
		s->deploy = (struct service_deploy){.target = s->last_revision};
		return;
	}
	service_defaults(s);
	s->id = kept.id;
	s->name = f->name;
	s->instances = 0;
	s->spec.body = STR_NULL;
	s->deploy = kept.deploy;
	s->last_revision = kept.deploy.target;
	s->version = 1;
	s->ctime_ms = quarantine_time_ms(f, kept.ctime_ms);
	s->mtime_ms = f->now_ms;
	s->annotation = STR(ROW_DAMAGED);
}

const struct row_table service_table = {
    ROW_TABLE(TABLE_SERVICE, "service", service_row, service_columns),
    .n_key = 1,
    .has_id = true,
    .is_loaded = true,
    .quarantine = quarantine,
    .quarantined = "wants no instances until it is set again",
};
