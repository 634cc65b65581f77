/* SPDX-License-Identifier: Apache-2.0 */
/* What people ask of services: made, changed, deployed, removed. */
#include "core/service/unit.h"
#include "core/state.h"

static int refuse(struct problem *p, const char *why)
{
	return problem_set(p, ERR_CONFLICT, "%s", why);
}

static int is_deleting(const struct service *s, struct problem *p)
{
	if (!s->is_deleting)
		return 0;
	problem_set(
	    p, ERR_CONFLICT, "the service is being deleted: it goes with its last instance");
	return problem_hint(p, "wait until it is gone, then make it anew");
}

/* What only the brain can see of what was given. */
static int check(
    const struct core *c, struct str name, const struct service_row *row, struct problem *p)
{
	if (row->spec.queue && !queue_find(c, row->spec.queue)) {
		problem_set(p, ERR_NOT_FOUND, "the queue was deleted meanwhile");
		return problem_field(p, "queue");
	}
	if (!row->spec.body.n) {
		problem_set(p, ERR_INVALID, "a service needs something to run");
		return problem_field(p, "task");
	}
	if (row->strategy.deadline_ms &&
	    row->strategy.min_healthy_ms >= row->strategy.deadline_ms) {
		problem_set(p, ERR_INVALID, "min_healthy must be shorter than the deadline");
		return problem_field(p, "strategy");
	}
	return service_check_needs(c, name, row->spec.needs, p);
}

/* The spec of the row becomes the next revision, and the target. */
static void begin_revision(struct core *c, struct service *s, struct service_row *row,
    struct str actor, struct str reason, struct effects *out)
{
	struct revision_row next = {.service = s->object.id,
	    .number = s->last_revision + 1,
	    .time_ms = c->now_ms,
	    .actor = actor,
	    .reason = reason,
	    .spec = row->spec};

	if (s->deploy.target && s->deploy.target != s->deploy.stable &&
	    s->deploy.target != s->deploy.failed)
		revision_set_outcome(c, s, s->deploy.target, REVISION_REPLACED, out);
	revision_add(c, s, &next, out);
	row->last_revision = next.number;
	deploy_begin(&s->deploy, next.number, &s->strategy, c->now_ms);
}

int service_create(
    struct core *c, const struct event *ev, rid id, struct reply *r, struct effects *out)
{
	const struct service_row *given = ev->object.row;
	struct service_row row;
	struct service *s;
	int e;

	service_defaults(&row);
	row.id = id;
	row.ctime_ms = c->now_ms;
	row.actor = ev->actor;
	row_take(&service_table, &row, given, ev->object.fields);
	row.name = given->name;
	if ((e = check(c, row.name, &row, r->problem)))
		return e;
	if (!row.spec.queue)
		row.spec.queue = services_queue(c, out);
	s = service_enter(c, &row);
	begin_revision(c, s, &row, ev->actor, ev->object.reason, out);
	object_changed(c, &s->object, &row, OBJECT_CREATED, ev->actor, STR_NULL, out);
	service_note(c, s);
	return 0;
}

static bool makes_revision(
    const struct event *ev, const struct service_row *before, const struct service_row *after)
{
	return (ev->object.fields & service_spec_columns()) &&
	       !spec_is_same(&before->spec, &after->spec);
}

int service_set(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	struct service *s = (struct service *)o;
	struct service_row row, before;
	uint32_t was = s->wanted;
	bool is_new;
	int e;

	if ((e = is_deleting(s, r->problem)))
		return e;
	service_row(s, &out->batch.arena, &row);
	before = row;
	row_take(&service_table, &row, ev->object.row, ev->object.fields);
	if (!row.spec.queue)
		row.spec.queue = services_queue(c, out);
	if ((e = check(c, row.name, &row, r->problem)))
		return e;
	row.actor = ev->actor;
	is_new = makes_revision(ev, &before, &row);
	service_adopt(c, s, &row);
	if (is_new)
		begin_revision(c, s, &row, ev->actor, ev->object.reason, out);
	object_changed(c, o, &row, OBJECT_CHANGED, ev->actor, STR_NULL, out);
	if (s->wanted < was)
		service_scale_down(c, s, out);
	if (is_new)
		revisions_prune(c, s, out);
	service_note(c, s);
	return 0;
}

/* No deploy needs it any more, whatever that waits for. */
static void forget_surge(struct core *c, struct service *s)
{
	for (size_t k = 0; k < s->n_units; k++) {
		struct unit *u = s->units[k];

		if (!u->i.is_surge || MUTANT(SERVICE_SURGE_OUTLIVES))
			continue;
		u->i.is_surge = false;
		unit_touch(c, u);
	}
}

int service_remove(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	struct service *s = (struct service *)o;
	struct service_row row;
	int e = is_deleting(s, r->problem);

	if (e)
		return e;
	object_audit(c, o, OBJECT_DELETED, ev->actor, STR_NULL, out);
	if (!s->n_units || MUTANT(SERVICE_GONE_EARLY)) {
		service_delete(c, s, out);
		return 0;
	}
	service_row(s, &out->batch.arena, &row);
	row.deleting = 1;
	row.version++;
	row.mtime_ms = c->now_ms;
	row.actor = ev->actor;
	service_save(c, s, &row, out);
	forget_surge(c, s);
	service_note(c, s);
	return 0;
}

/* The target's spec is the service's. */
static void retarget(struct core *c, struct service *s, const struct event *ev, const char *what,
    int64_t from, struct effects *out)
{
	struct arena *a = &out->batch.arena;
	struct service_row row;

	service_row(s, a, &row);
	row.actor = ev->actor;
	row.version++;
	row.mtime_ms = c->now_ms;
	if (from != s->deploy.target && from != s->deploy.stable && from != s->deploy.failed)
		revision_set_outcome(c, s, from, REVISION_REPLACED, out);
	service_save(c, s, &row, out);
	audit_object(c, what, &s->object, ev->actor,
	    arena_strf(a, "{\"revision\":%lld,\"from\":%lld}", (long long)s->deploy.target,
	        (long long)from),
	    out);
	service_note(c, s);
}

void service_renew(struct core *c, struct service *s, const struct event *ev, struct effects *out)
{
	struct service_row row;

	service_row(s, &out->batch.arena, &row);
	row.actor = ev->actor;
	begin_revision(c, s, &row, ev->actor,
	    ev->object.reason.n ? ev->object.reason : STR("all instances are restarted"), out);
	object_changed(c, &s->object, &row, OBJECT_CHANGED, ev->actor, STR_NULL, out);
	revisions_prune(c, s, out);
	service_note(c, s);
}

static int find_revision(const struct service *s, int64_t number, struct problem *p)
{
	const struct revision *r = revision_find(s, number);
	struct revision_row row;

	if (!r) {
		problem_set(
		    p, ERR_NOT_FOUND, "the service has no revision %lld", (long long)number);
		problem_field(p, "revision");
		return problem_hint(
		    p, "see which ones are kept: the last %d, and those in use", REVISIONS_KEPT);
	}
	revision_row(s, r, NULL, &row);
	if (row.spec.body.n)
		return 0;
	return problem_set(
	    p, ERR_CONFLICT, "nobody knows what revision %lld runs", (long long)number);
}

static int deploy(
    struct core *c, struct service *s, const struct event *ev, struct reply *r, struct effects *out)
{
	int64_t from = s->deploy.target, to = ev->object.number;
	int e = find_revision(s, to, r->problem);

	if (e)
		return e;
	if (to == from)
		return refuse(r->problem, "it is the target already");
	deploy_begin(&s->deploy, to, &s->strategy, c->now_ms);
	retarget(c, s, ev, "service.deployed", from, out);
	return 0;
}

static int rollback(
    struct core *c, struct service *s, const struct event *ev, struct reply *r, struct effects *out)
{
	int64_t from = s->deploy.target;
	int64_t to = ev->object.number ? ev->object.number : s->deploy.stable;
	int e;

	if (!to || to == from)
		return refuse(r->problem, "there is nothing to go back to");
	if ((e = find_revision(s, to, r->problem)))
		return e;
	deploy_rollback(&s->deploy, to, c->now_ms);
	retarget(c, s, ev, "service.rolled_back", from, out);
	return 0;
}

static int promote(
    struct core *c, struct service *s, const struct event *ev, struct reply *r, struct effects *out)
{
	if (!deploy_promote(&s->deploy, c->now_ms))
		return refuse(r->problem, "the deploy does not wait for that");
	retarget(c, s, ev, "service.promoted", s->deploy.target, out);
	return 0;
}

int service_act(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	struct service *s = (struct service *)o;
	int e = is_deleting(s, r->problem);

	if (e)
		return e;
	switch (ev->object.verb) {
	case SERVICE_DEPLOY: return deploy(c, s, ev, r, out);
	case SERVICE_ROLLBACK: return rollback(c, s, ev, r, out);
	case SERVICE_PROMOTE: return promote(c, s, ev, r, out);
	default: return service_restart(c, s, ev, r, out);
	}
}
