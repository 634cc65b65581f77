/* SPDX-License-Identifier: Apache-2.0 */
/* Services: all of them are in memory, so looking needs no store; changes are commands. */
#include "api/services/plan.h"
#include "wire/json/json_in.h"

/* What the caller asked for, with its body; the answer may be only what would be. */
struct asking {
	struct event ev;
	struct service_in in;
	bool is_draft;
};

static bool begin(struct call *c, json_t **ret_body, struct asking *k)
{
	return call_bool(c, Q_DRY_RUN, &k->is_draft) && call_body(c, ret_body);
}

static void send(struct call *c, struct asking *k, call_reply_fn *fn)
{
	k->ev.object.row = &k->in.row;
	k->ev.object.fields = k->in.fields;
	k->ev.object.reason = k->in.reason;
	call_command(c, &k->ev, fn);
}

/* True: it is taken, and can be sent. Else it is answered. */
static bool read_new(struct call *c, json_t *body, struct asking *k)
{
	struct service_row base;

	service_defaults(&base);
	if (c->arg.p)
		base.name = c->arg;
	if (service_in_read(&k->in, c, body, &base) || service_in_need(&k->in)) {
		call_problem(c);
		return false;
	}
	k->ev = (struct event){.kind = EV_CREATE, .object.kind = KIND_SERVICE};
	k->in.fields = row_settable(&service_table);
	if (!k->is_draft)
		return true;
	service_plan(c, &k->in, NULL);
	return false;
}

void services_create(struct call *c)
{
	struct asking k = {0};
	json_t *body;

	if (!begin(c, &body, &k))
		return;
	if (read_new(c, body, &k))
		send(c, &k, resource_made);
	json_decref(body);
}

static bool refuse(struct call *c)
{
	call_problem(c);
	return false;
}

/* The service of the path, as it is. */
static bool begin_old(struct call *c, struct asking *k, struct service_view *ret_old)
{
	k->ev = (struct event){.kind = EV_SET};
	return resource_begin(c, &k->ev) &&
	       core_service(c->host->core, c->about, &c->arena, ret_old);
}

static bool read_change(struct call *c, json_t *body, struct asking *k, struct service_view *old)
{
	if (service_in_read(&k->in, c, body, &old->row))
		return refuse(c);
	if (!k->in.fields) {
		call_fail(c, ERR_INVALID, "nothing to change: the body names no setting");
		return false;
	}
	if (!k->is_draft)
		return true;
	service_plan(c, &k->in, &old->row);
	return false;
}

void services_patch(struct call *c)
{
	struct service_view old;
	struct asking k = {0};
	json_t *body;

	if (!begin_old(c, &k, &old) || !begin(c, &body, &k))
		return;
	if (read_change(c, body, &k, &old))
		send(c, &k, resource_changed);
	json_decref(body);
}

/* The path says which one it is. */
static int check_name(struct call *c, const struct service_in *in, struct str name)
{
	if (!in->has_name || str_eq(in->row.name, name))
		return 0;
	problem_set(&c->problem, ERR_INVALID,
	    "the body is about \"" STR_FMT "\", the path about \"" STR_FMT "\"",
	    STR_ARG(in->row.name), STR_ARG(name));
	problem_hint(&c->problem, "PATCH renames a service");
	return problem_field(&c->problem, "name");
}

/* What the body does not say is as if it had never been said. */
static bool read_whole(struct call *c, json_t *body, struct asking *k, struct service_view *old)
{
	struct service_row base;

	service_defaults(&base);
	base.name = old->row.name;
	if (service_in_read(&k->in, c, body, &base) || service_in_need(&k->in) ||
	    check_name(c, &k->in, old->row.name))
		return refuse(c);
	k->in.fields = row_settable(&service_table) & ~SERVICE_BIT(name);
	if (k->is_draft) {
		service_plan(c, &k->in, &old->row);
		return false;
	}
	return true;
}

/* Said once more it changes nothing, so that nobody's version rises. */
static void replace(struct call *c, json_t *body, struct asking *k)
{
	struct service_view old;
	struct service_row next;

	if (!begin_old(c, k, &old) || !read_whole(c, body, k, &old))
		return;
	next = k->in.row;
	next.spec.queue = service_queue_of(c, &next);
	if (old.row.deleting || !service_is_same(c, &old.row, &next)) {
		send(c, k, resource_changed);
		return;
	}
	if (old.row.version && call_etag(c, old.row.version))
		return;
	service_show(c, c->about);
	call_json(c, 200);
}

static bool is_there(const struct call *c)
{
	rid id;

	return core_find(c->host->core, KIND_SERVICE, c->arg) ||
	       (id_parse(c->host->ids, c->arg, &id) &&
	           core_name(c->host->core, KIND_SERVICE, id).p);
}

static void make(struct call *c, json_t *body, struct asking *k)
{
	struct str name = c->arg;

	if (name_check(name, "service", &c->problem)) {
		call_problem(c);
		return;
	}
	if (!read_new(c, body, k))
		return;
	if (check_name(c, &k->in, name))
		call_problem(c);
	else
		send(c, k, resource_made);
}

void services_put(struct call *c)
{
	struct asking k = {0};
	json_t *body;

	if (!begin(c, &body, &k))
		return;
	if (is_there(c))
		replace(c, body, &k);
	else
		make(c, body, &k);
	json_decref(body);
}
