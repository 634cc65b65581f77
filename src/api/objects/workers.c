/* SPDX-License-Identifier: Apache-2.0 */
/* Workers: looked at in memory, changed by commands. */
#include <string.h>

#include "api/objects/resource.h"
#include "api/objects/show.h"
#include "model/limits.h"
#include "model/rows/row.h"
#include "wire/json/fields.h"

#define MAXTHREADS_OWN (-2) /* back to the worker's own setting */
#define NOTHING_SET (-3)

static bool view_of(const struct call *c, rid id, struct worker_view *ret_view)
{
	return core_worker(c->host->core, id, c->host->mono_ms(c->host->arg), ret_view);
}

rid find_worker(const struct call *c, struct str text, const char *field, struct problem *p)
{
	struct problem untold;
	bool limited = c->who.limit;
	rid id = find_object(c, KIND_WORKER, text, field, limited ? &untold : p);

	return !id && limited ? WORKER_NOBODY : id;
}

static int worker_state(const struct call *c, rid id)
{
	struct worker_view view;

	return view_of(c, id, &view) ? view.shown : 0;
}

static unsigned worker_also(const struct call *c, rid id)
{
	struct worker_view view;

	if (!view_of(c, id, &view))
		return 0;
	return (view.shown == (int)WORKER_MUST_DIE ? 1u << WORKER_ASKED_LOST : 0) |
	       (view.row->drained ? 1u << WORKER_ASKED_DRAINED : 0);
}

static void worker_show(struct call *c, rid id)
{
	struct worker_view view;

	if (view_of(c, id, &view))
		show_worker(&c->out, c->api, &view);
}

static int set_maxthreads(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct worker_row *row = arg;
	int64_t n = -1;

	row->maxthreads_set = MAXTHREADS_OWN;
	if (json_is_string(v)) {
		return strcmp(json_string_value(v), "worker") == 0
		           ? 0
		           : json_in_wrong(
		                 v, field, "a number, null (no limit) or \"worker\" (its own)", p);
	}
	if (!json_is_null(v) && json_in_int(v, field, 0, THREADS_MAX, &n, p))
		return ERR_INVALID;
	row->maxthreads_is_set = true;
	row->maxthreads_set = (int32_t)n;
	return 0;
}

static const struct json_member own[] = {{"maxthreads", set_maxthreads}, {NULL}};

static void worker_patch(struct call *c)
{
	struct worker_row row = {.maxthreads_set = NOTHING_SET};
	const struct fields_in r = {.problem = &c->problem, .own = own, .arg = &row};
	struct event ev = {.kind = EV_SET};

	if (!resource_begin(c, &ev) || !call_fields(c, &r, worker_fields))
		return;
	ev.object.row = &row;
	ev.object.fields = row_settable(&worker_table);
	if (row.maxthreads_set == NOTHING_SET)
		call_fail(c, ERR_INVALID, "nothing to change: give \"maxthreads\"");
	else
		call_command(c, &ev, resource_changed);
}

static void worker_stop(struct call *c)
{
	resource_do(c, WORKER_STOP);
}

static void worker_restart(struct call *c)
{
	resource_do(c, WORKER_RESTART);
}

struct drain {
	struct str reason;
	int64_t timeout_ms; /* 0: none */
};

static const struct field drain_fields[] = {
    FIELD("reason", FIELD_TEXT, drain, reason, .max = REASON_MAX_BYTES,
        .flags = FIELD_GIVEN | FIELD_NULL_GIVEN, .about = "why, for everybody to see"),
    FIELD("timeout", FIELD_DURATION, drain, timeout_ms, .flags = FIELD_GIVEN | FIELD_NULL_GIVEN,
        .about = "then what is still there is ended; null: it may take as long as it does"),
    {NULL},
};

static void worker_drain(struct call *c)
{
	struct event ev = {.kind = EV_DO, .object.verb = WORKER_DRAIN};
	struct drain k = {0};
	const struct fields_in r = {.arena = &c->arena, .into = &k, .problem = &c->problem};

	if (!resource_begin(c, &ev) || !call_fields(c, &r, drain_fields))
		return;
	ev.object.reason = k.reason;
	if (k.timeout_ms)
		ev.object.until_ms = c->host->wall_ms(c->host->arg) + k.timeout_ms;
	call_command(c, &ev, resource_changed);
}

static void worker_undrain(struct call *c)
{
	resource_do(c, WORKER_UNDRAIN);
}

static const struct route routes[] = {
    {API_GET, "/v1/workers", resource_list, "listWorkers", "workers", "List workers",
        PAGE | Q(Q_STATE), NULL, false, "WorkerList", {200}, 0, RIGHT_READ},
    {API_GET, "/v1/workers/{worker}", resource_get, "getWorker", "workers", "One worker", 0, NULL,
        false, "Worker", {200}, ROUTE_ETAG, RIGHT_READ},
    {API_PATCH, "/v1/workers/{worker}", worker_patch, "changeWorker", "workers",
        "Set how many tasks it may run at once", 0, "WorkerChange", true, "Worker", {200}, CHANGE,
        RIGHT_OPERATE},
    {API_DELETE, "/v1/workers/{worker}", resource_delete, "forgetWorker", "workers",
        "Forget one that is not connected", Q(Q_LOST), NULL, false, NULL, {204}, CHANGE,
        RIGHT_ADMIN},
    {API_POST, "/v1/workers/{worker}/stop", worker_stop, "stopWorker", "workers",
        "Tell it to end its tasks and exit", 0, NULL, false, "Worker", {200}, CHANGE,
        RIGHT_OPERATE},
    {API_POST, "/v1/workers/{worker}/restart", worker_restart, "restartWorker", "workers",
        "Tell it to end its tasks and begin anew, as a new instance", 0, NULL, false, "Worker",
        {200}, CHANGE, RIGHT_OPERATE},
    {API_POST, "/v1/workers/{worker}/drain", worker_drain, "drainWorker", "workers",
        "Give it no more tasks: what it runs goes on, instances of services move", 0, "Drain",
        false, "Worker", {200}, CHANGE, RIGHT_OPERATE},
    {API_POST, "/v1/workers/{worker}/undrain", worker_undrain, "undrainWorker", "workers",
        "Give it tasks again", 0, NULL, false, "Worker", {200}, CHANGE, RIGHT_OPERATE},
};

static const struct schema schemas[] = {
    {"Worker", .fields = worker_fields},
    {"WorkerList", .page_of = "Worker"},
    {"WorkerChange", .fields = worker_fields, .shape = SHAPE_CREATE},
    {"Drain", .fields = drain_fields, .shape = SHAPE_CHANGE},
};

static const struct resource resource = {
    .kind = KIND_WORKER,
    .show = worker_show,
    .gone = "forgotten",
    .states = worker_shown_names,
    .n_states = N_WORKER_ASKED,
    .state = worker_state,
    .also = worker_also,
};

const struct section worker_section = {
    .tag = "workers", SECTION_ROUTES(routes), SECTION_SCHEMAS(schemas), .resource = &resource};
