/* SPDX-License-Identifier: Apache-2.0 */
/* What people ask of single instances, and fewer of them: that needs no fresh domain. */
#include "core/service/unit.h"
#include "core/state.h"

void service_scale_down(struct core *c, struct service *s, struct effects *out)
{
	for (size_t k = s->n_units; k-- > 0 && !MUTANT(SERVICE_SCALED_DOWN_STAYS);) {
		struct unit *u = s->units[k];

		if (u->i.index < s->wanted || u->i.is_surge || u->is_over)
			continue;
		if (!unit_is_on_worker(u))
			unit_remove(c, u, out);
		else if (!u->i.is_stopping)
			unit_tell(c, u, STR("fewer instances are wanted"), out);
	}
}

static int no_such_instance(const struct service *s, int64_t index, struct problem *p)
{
	problem_set(p, ERR_NOT_FOUND, "there is no instance \"" STR_FMT "/%lld\"",
	    STR_ARG(s->object.name), (long long)index);
	return problem_hint(p, "the service wants %u, from 0 on", s->wanted);
}

/* A crashed one waits no longer; the count of its crashes stays. */
static int start_now(struct core *c, struct unit *u, struct reply *r)
{
	if (u->i.state == INSTANCE_UNCLAIMED)
		return problem_set(
		    r->problem, ERR_CONFLICT, "the instance waits for a worker already");
	unit_move(c, u, INSTANCE_UNCLAIMED);
	service_note(c, u->service);
	return 0;
}

/* One instance stops, and what is wanted is started anew. */
static int stop_one(
    struct core *c, struct service *s, const struct event *ev, struct reply *r, struct effects *out)
{
	int64_t index = ev->object.number;
	struct unit *u = unit_find(s, index, PRESENCE_ORDINARY);
	bool restart = ev->object.verb == SERVICE_RESTART;

	if (!u || u->is_over)
		return no_such_instance(s, index, r->problem);
	if (!unit_is_on_worker(u) && restart)
		return start_now(c, u, r);
	if (!unit_is_on_worker(u))
		return problem_set(r->problem, ERR_CONFLICT, "the instance does not run");
	unit_tell(
	    c, u, restart ? STR("an operator restarts it") : STR("an operator stops it"), out);
	service_note(c, s);
	return 0;
}

int service_restart(
    struct core *c, struct service *s, const struct event *ev, struct reply *r, struct effects *out)
{
	int e = 0;

	if (ev->object.verb == SERVICE_RESTART && ev->object.number < 0) {
		service_renew(c, s, ev, out); /* one after the other, as a deploy does it */
		return 0;
	}
	e = stop_one(c, s, ev, r, out);
	if (!e)
		audit_object(c,
		    ev->object.verb == SERVICE_RESTART ? "instance.restarted" : "instance.stopped",
		    &s->object, ev->actor,
		    arena_strf(&out->batch.arena, "{\"index\":%lld}", (long long)ev->object.number),
		    out);
	return e;
}
