/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules: all of them are in memory, so looking needs no store; changes are commands. */
#include "api/objects/resource.h"
#include "api/schedules/schedule_in.h"
#include "api/schedules/show_schedule.h"
#include "model/limits.h"

bool path_schedule(struct call *c, struct schedule_view *ret_view)
{
	c->about = find_object(c, KIND_SCHEDULE, c->arg, "schedule", &c->problem);
	if (c->about && core_schedule(c->host->core, c->about, &c->arena, ret_view))
		return true;
	call_problem(c);
	return false;
}

/* The call's route once more, now that the queue is there. */
static void default_made(struct call *c, const struct reply *r)
{
	c->no_idem = false;
	if (r->code && r->code != ERR_CONFLICT)
		call_refused(c, r);
	else
		c->route->fn(c);
}

static void give(struct call *c, struct event *ev, struct schedule_in *in, call_reply_fn *fn)
{
	ev->object.row = &in->row;
	ev->object.fields = in->fields;
	if (in->needs_default)
		call_make_default(c, default_made);
	else
		call_command(c, ev, fn);
}

void schedules_create(struct call *c)
{
	struct event ev = {.kind = EV_CREATE, .object.kind = KIND_SCHEDULE};
	struct schedule_in in;
	json_t *body;
	bool is_draft;

	if (!call_bool(c, Q_DRY_RUN, &is_draft) || !call_body(c, &body))
		return;
	if (!schedule_group_checked(c, body)) {
		json_decref(body);
		return;
	}
	if (is_draft) {
		schedules_draft(c, body);
		json_decref(body);
		return;
	}
	if (schedule_in_read(&in, c, body, NULL))
		call_problem(c);
	else
		give(c, &ev, &in, resource_made);
	schedule_in_release(&in);
	json_decref(body);
}

void schedules_patch(struct call *c)
{
	struct event ev = {.kind = EV_SET};
	struct schedule_view old;
	struct schedule_in in;
	json_t *body;

	if (!resource_begin(c, &ev) || !call_body(c, &body))
		return;
	if (!schedule_group_checked(c, body)) {
		json_decref(body);
		return;
	}
	core_schedule(c->host->core, c->about, &c->arena, &old);
	if (schedule_in_read(&in, c, body, &old))
		call_problem(c);
	else if (in.fields == 0)
		call_fail(c, ERR_INVALID, "nothing to change: the body names no setting");
	else
		give(c, &ev, &in, resource_changed);
	schedule_in_release(&in);
	json_decref(body);
}

static void schedule_show_listed(struct call *c, rid id, bool full)
{
	AUTO(arena_release) struct arena a = {0};
	struct schedule_view v;

	if (core_schedule(c->host->core, id, &a, &v))
		show_schedule(&c->out, c->api, &v, full ? SHOW_FULL : 0);
}

static void schedule_show(struct call *c, rid id)
{
	schedule_show_listed(c, id, access_sees(c, RIGHT_LOGS));
}

static int schedule_state(const struct call *c, rid id)
{
	struct schedule_view v;

	return core_schedule(c->host->core, id, NULL, &v) ? v.row.state : 0;
}

static rid schedule_queue(const struct call *c, rid id)
{
	struct schedule_view v;

	return core_schedule(c->host->core, id, NULL, &v) ? v.row.queue : 0;
}

static bool schedule_covers(const struct call *c, rid id)
{
	struct schedule_view v;

	if (!core_schedule(c->host->core, id, NULL, &v))
		return false;
	return v.row.group.p ? !c->who.limit : scope_covers(c, v.row.queue, v.row.labels);
}

static const struct owner_names in_tasks = {
    Q_SCHEDULE, "schedule", "schedule_id", "tick", .cause = "schedule"};
const struct resource schedule_resource = {
    .kind = KIND_SCHEDULE,
    .covers = schedule_covers,
    .show = schedule_show,
    .show_listed = schedule_show_listed,
    .gone = "deleted",
    .states = schedule_state_names,
    .n_states = N_SCHEDULE_STATES,
    .state = schedule_state,
    .queue = schedule_queue,
    .by_name = true,
    .owner = &in_tasks,
    .saw = schedule_saw,
    .figures = schedule_figures,
};
