/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules: all of them are in memory, so looking needs no store; changes are commands. */
#include <string.h>

#include "api/objects/resource.h"
#include "api/schedules/schedule_in.h"
#include "api/schedules/show_schedule.h"
#include "model/limits.h"

#define LOOKED_AT_MAX 20000 /* of one page: what matches rarely is found in several */

struct schedule_filter {
	struct str prefix, after;
	rid queue;
	unsigned states; /* bits; 0: any */
};

static bool read_filter(struct call *c, struct schedule_filter *f, uint32_t *ret_limit)
{
	const struct queue_row *q;
	int64_t limit = 100;

	if (!call_int(c, Q_LIMIT, 1, 1000, &limit) || !resource_states(c, &f->states))
		return false;
	*ret_limit = (uint32_t)limit;
	f->after = c->query[Q_CURSOR].n ? c->query[Q_CURSOR] : STR_NULL;
	f->prefix = c->query[Q_NAME];
	if (!c->query[Q_QUEUE].p)
		return true;
	q = find_queue(c, c->query[Q_QUEUE], "queue", &c->problem);
	if (!q) {
		call_problem(c);
		return false;
	}
	f->queue = q->id;
	return true;
}

static bool has_prefix(struct str name, struct str prefix)
{
	return !prefix.n || (name.n >= prefix.n && memcmp(name.p, prefix.p, prefix.n) == 0);
}

static bool fits(
    const struct call *c, const struct schedule_filter *f, const struct schedule_view *v)
{
	return scope_covers(c, v->row.queue, v->row.labels) && has_prefix(v->row.name, f->prefix) &&
	       (!f->queue || f->queue == v->row.queue) &&
	       (!f->states || f->states & 1u << v->row.state);
}

/* Names are in order: before and behind the prefix there is nothing to look for. */
static struct str first_place(const struct schedule_filter *f)
{
	bool behind = f->after.p && str_cmp(f->after, f->prefix) >= 0;

	return behind || !f->prefix.n ? f->after : f->prefix;
}

static bool is_past(const struct schedule_filter *f, struct str name)
{
	return f->prefix.n && !has_prefix(name, f->prefix) && str_cmp(name, f->prefix) > 0;
}

static void add_one(struct call *c, rid id, unsigned flags)
{
	AUTO(arena_release) struct arena a = {0};
	struct schedule_view v;

	if (core_schedule(c->host->core, id, &a, &v))
		show_schedule(&c->out, c->api, &v, flags);
}

/* False: there is no more; *at is the last one looked at. */
static bool add_page(
    struct call *c, struct schedule_filter *f, uint32_t limit, unsigned flags, struct str *at)
{
	const struct core *core = c->host->core;
	rid id = 0;
	struct schedule_view v;

	/* the prefix itself may be a name, and what follows a name leaves that out */
	if (f->prefix.n && str_eq(*at, f->prefix) && !str_eq(f->after, f->prefix))
		id = core_find(core, KIND_SCHEDULE, f->prefix);
	for (int looked = 0; looked < LOOKED_AT_MAX; looked++) {
		if (!id)
			id = core_next_name(core, KIND_SCHEDULE, *at);
		if (!id || !core_schedule(core, id, NULL, &v) || is_past(f, v.row.name))
			return false;
		if (fits(c, f, &v)) {
			if (limit-- == 0 || c->out.n > PAGE_BYTES)
				return true;
			add_one(c, id, flags);
		}
		*at = v.row.name; /* the core's own: no step comes between */
		id = 0;
	}
	return true;
}

void schedules_list(struct call *c)
{
	struct schedule_filter f = {0};
	struct buf *b = &c->out;
	struct str at;
	uint32_t limit;
	bool full, more;

	if (!read_filter(c, &f, &limit) || !call_bool(c, Q_FULL, &full) ||
	    (full && !access_may(c, RIGHT_LOGS)))
		return;
	at = first_place(&f);
	jw_open(b, '{');
	jw_key(b, "items");
	jw_open(b, '[');
	more = add_page(c, &f, limit, full ? SHOW_FULL : 0, &at);
	jw_close(b, ']');
	jw_mstr_null(b, "next", more ? at : STR_NULL);
	jw_close(b, '}');
	call_json(c, 200);
}

bool path_schedule(struct call *c, struct schedule_view *ret_view)
{
	c->about = find_object(c, KIND_SCHEDULE, c->arg, "schedule", &c->problem);
	if (c->about && core_schedule(c->host->core, c->about, &c->arena, ret_view))
		return true;
	call_problem(c);
	return false;
}

/* Its route once more, now that the queue is there. */
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

static struct str schedule_name(const struct core *core, rid id)
{
	struct schedule_view v;

	return core_schedule(core, id, NULL, &v) ? v.row.name : STR_NULL;
}

static int64_t schedule_version(const struct core *core, rid id)
{
	struct schedule_view v;

	return core_schedule(core, id, NULL, &v) ? v.row.version : 0;
}

static void schedule_show(struct call *c, rid id)
{
	add_one(c, id, access_sees(c, RIGHT_LOGS) ? SHOW_FULL : 0);
}

static bool schedule_covers(const struct call *c, rid id)
{
	struct schedule_view v;

	return core_schedule(c->host->core, id, NULL, &v) &&
	       scope_covers(c, v.row.queue, v.row.labels);
}

static const struct owner_names in_tasks = {Q_SCHEDULE, "schedule", "schedule_id", "tick"};
const struct resource schedule_resource = {
    .kind = KIND_SCHEDULE,
    .name = schedule_name,
    .version = schedule_version,
    .covers = schedule_covers,
    .show = schedule_show,
    .gone = "deleted",
    .states = schedule_state_names,
    .n_states = N_SCHEDULE_STATES,
    .owner = &in_tasks,
    .saw = schedule_saw,
    .figures = schedule_figures,
};
