/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One look at a service: what the deploy does, then what convergence does, as src/service decides
 * it from copies of the records, and here it becomes true.
 */
#include <stdlib.h>

#include "core/service/unit.h"
#include "core/state.h"

static void copy_records(struct services *all, struct service *s)
{
	GROW(all->records, all->cap_records, s->n_units + 1);
	for (size_t k = 0; k < s->n_units; k++) {
		const struct unit *u = s->units[k];

		all->records[k] = u->i;
		all->records[k].worker = u->site                      ? SEEN_OF(u->site->number)
		                         : u->line == LINE_UNIT_LIMBO ? SEEN_IN_LIMBO
		                                                      : NO_WORKER;
	}
}

static void remove_what_is_over(struct core *c, struct service *s, struct effects *out)
{
	for (size_t k = s->n_units; k-- > 0;)
		if (s->units[k]->is_over)
			unit_remove(c, s->units[k], out);
}

/* --- the deploy */

static void renew(struct core *c, struct unit *u, const struct deploy_action *a)
{
	unit_unask(c, u);
	if (u->i.state == INSTANCE_CRASHED)
		unit_move(c, u, INSTANCE_UNCLAIMED);
	unit_set_revision(u, a->revision);
	u->i.crash_count = 0;
	u->i.crashed_at_ms = 0;
	u->i.since_ms = u->i.asked_ms = c->now_ms;
	unit_touch(c, u);
}

static void carry_out(
    struct core *c, struct service *s, const struct deploy_action *a, struct effects *out)
{
	struct unit *u = unit_find(s, a->index, a->presence);

	if (a->kind == DEPLOY_CREATE) {
		u = unit_add(c, s, a->index, a->presence, a->revision);
		u->i.is_surge = a->is_surge;
		return;
	}
	MUST(u);
	switch (a->kind) {
	case DEPLOY_RENEW: renew(c, u, a); break;
	case DEPLOY_STOP: unit_tell(c, u, str_of(a->reason), out); break;
	case DEPLOY_DELETE: unit_remove(c, u, out); break;
	default: break;
	}
}

static void tell_outcome(
    struct core *c, struct service *s, const struct deploy *was, struct effects *out)
{
	const struct deploy *d = &s->deploy;
	struct arena *a = &out->batch.arena;
	const char *what = NULL;

	if (d->stable != was->stable) {
		revision_set_outcome(c, s, d->stable, REVISION_STABLE, out);
		revisions_prune(c, s, out);
	}
	if (d->failed && d->failed != was->failed)
		revision_set_outcome(c, s, d->failed, REVISION_FAILED, out);
	if (d->state == was->state)
		return;
	if (d->state == DEPLOY_STALLED)
		what = "service.stalled";
	else if (d->state == DEPLOY_STEADY)
		what = "service.steady";
	else if (d->state == DEPLOY_WAITING)
		what = "service.waits";
	else if (d->state == DEPLOY_ROLLING_BACK)
		what = "service.rolled_back";
	if (what)
		audit_object(c, what, &s->object, STR("reeve"),
		    arena_strf(a, "{\"revision\":%lld}", (long long)d->target), out);
}

/* The target's spec is the service's, also if the deploy went back by itself. */
static void save_moved(
    struct core *c, struct service *s, const struct deploy *was, struct effects *out)
{
	struct service_row row;

	if (s->deploy.target == was->target) {
		service_save_deploy(c, s, out);
		return;
	}
	service_row(s, &out->batch.arena, &row);
	row.version++;
	row.mtime_ms = c->now_ms;
	service_save(c, s, &row, out);
}

static bool deploys(
    struct core *c, struct service *s, const struct converge_env *env, struct effects *out)
{
	struct services *all = services_of(c);
	struct deploy_service d = {s->number, s->wanted, s->is_singleton, &s->strategy};
	struct deploy_pass *pass = &all->pass;
	struct deploy was = s->deploy;

	deploy_pass(env, &d, &s->deploy, all->records, s->n_units, pass);
	s->holds_starts = pass->holds_starts;
	s->waits = pass->waits;
	s->waits_index = pass->waits_index;
	s->n_healthy = pass->n_healthy;
	s->goal = pass->goal;
	for (size_t k = 0; k < pass->n; k++)
		if (pass->v[k].kind != DEPLOY_DELETE)
			carry_out(c, s, &pass->v[k], out);
	for (size_t k = 0; k < pass->n; k++)
		if (pass->v[k].kind == DEPLOY_DELETE)
			carry_out(c, s, &pass->v[k], out);
	tell_outcome(c, s, &was, out);
	if (was.state != s->deploy.state || was.target != s->deploy.target ||
	    was.stable != s->deploy.stable || was.failed != s->deploy.failed)
		save_moved(c, s, &was, out);
	return pass->n > 0;
}

/* --- convergence */

static void promote(
    struct core *c, struct service *s, const struct converge_action *a, struct effects *out)
{
	struct unit *suspect = unit_find(s, a->index, PRESENCE_SUSPECT);
	struct unit *ordinary = unit_find(s, a->index, PRESENCE_ORDINARY);

	MUST(suspect);
	if (ordinary && ordinary->i.state != INSTANCE_CLAIMED) {
		unit_remove(c, ordinary, out);
		ordinary = NULL;
	}
	/* the two change places: one of them is nowhere meanwhile */
	if (ordinary)
		unit_set_presence(c, ordinary, (enum presence)N_PRESENCES, out);
	unit_set_presence(c, suspect, PRESENCE_ORDINARY, out);
	if (ordinary)
		unit_set_presence(c, ordinary, PRESENCE_SUSPECT, out);
}

static void create(struct core *c, struct service *s, const struct converge_action *a)
{
	struct unit *suspect = unit_find(s, a->index, PRESENCE_SUSPECT);

	unit_add(
	    c, s, a->index, PRESENCE_ORDINARY, suspect ? suspect->i.revision : s->deploy.target);
}

/* True: it was something; false: only asked again, as events cannot know. */
static bool act(
    struct core *c, struct service *s, const struct converge_action *a, struct effects *out)
{
	struct unit *u = unit_find(s, a->index, a->presence);
	bool again;

	switch (a->kind) {
	case ACT_CREATE: create(c, s, a); return true;
	case ACT_PROMOTE: promote(c, s, a, out); return true;
	default: break;
	}
	MUST(u);
	switch (a->kind) {
	case ACT_START: u->i.asked_ms = c->now_ms; return false;
	case ACT_RESTART:
	case ACT_UNCLAIM: unit_move(c, u, INSTANCE_UNCLAIMED); return true;
	case ACT_SUSPECT: unit_set_presence(c, u, PRESENCE_SUSPECT, out); return true;
	case ACT_DELETE: unit_remove(c, u, out); return true;
	default:
		again = u->i.is_stopping;
		unit_tell(c, u, str_of(a->reason), out);
		return !again;
	}
}

static bool is_fresh(struct core *c, struct service *s)
{
	struct service_row row;
	const struct domain *d;

	if (s->is_deleting)
		return true; /* who removes it says that nothing of it is wanted */
	if (!s->has_surplus)
		return false; /* it would not matter */
	service_row(s, NULL, &row);
	d = row.domain.n ? object_find_name(c, KIND_DOMAIN, row.domain) : NULL;
	return d && domain_is_fresh(&d->row, c->now_ms);
}

static bool converges(
    struct core *c, struct service *s, const struct converge_env *env, struct effects *out)
{
	struct services *all = services_of(c);
	struct converge_service d = {
	    s->number, s->wanted, s->is_singleton, is_fresh(c, s), &s->crash};
	bool did = false;

	all->actions.n = 0;
	converge_service(env, &d, all->records, s->n_units, &all->actions);
	for (size_t k = 0; k < all->actions.n; k++)
		did |= act(c, s, &all->actions.v[k], out);
	return did;
}

/* --- when to look again */

static void sooner(int64_t *at, int64_t then, int64_t now)
{
	if (then > now && then < *at)
		*at = then;
}

static timer_fn look_again;

static void look_again(struct core *c, struct timer *t, struct effects *out)
{
	service_note(c, CONTAINER_OF(t, struct service, timer));
}

static void arm(struct core *c, struct service *s)
{
	int64_t at = services_of(c)->pass.look_at_ms;

	s->has_surplus = false;
	for (size_t k = 0; k < s->n_units; k++) {
		struct unit *u = s->units[k];

		s->has_surplus |= u->i.index >= s->wanted && !u->i.is_surge;
		if (u->i.state == INSTANCE_CRASHED)
			sooner(&at, crash_due_ms(&u->i, &s->crash), c->now_ms);
		if (u->i.is_stopping)
			sooner(&at, u->i.asked_ms + CONVERGE_ASK_AGAIN_MS, c->now_ms);
		if (u->i.state != INSTANCE_UNCLAIMED)
			continue;
		if (u->line == LINE_UNIT_NONE)
			unit_ask(c, u);
		else if (!unit_may_start(c, u))
			unit_unask(c, u);
	}
	if (at == DEPLOY_NEVER)
		timer_clear(c, TIMER_WALL, &s->timer);
	else
		timer_set(c, TIMER_WALL, &s->timer, at, s->object.id, look_again);
}

static void tell_of_giving_up(struct core *c, struct service *s, struct effects *out)
{
	if (!s->gave_up)
		return;
	s->gave_up = false;
	audit_object(c, "service.gave_up", &s->object, STR("reeve"),
	    STR("{\"reason\":\"an instance has crashed too often, and does not start again by "
	        "itself\"}"),
	    out);
}

void service_pass(struct core *c, struct service *s, struct effects *out)
{
	struct services *all = services_of(c);
	struct converge_env env = {c->now_ms, CONVERGE_ASK_AGAIN_MS, all->seen};
	bool did, by_full_pass = s->is_by_full_pass;

	all->passes++;
	remove_what_is_over(c, s, out);
	tell_of_giving_up(c, s, out);
	service_evacuate(c, s, out);
	copy_records(all, s);
	did = deploys(c, s, &env, out);
	if (did)
		copy_records(all, s);
	if (converges(c, s, &env, out)) {
		did = true;
		service_note(c, s); /* the deploy may have something to say of what was made */
	}
	all->missed += by_full_pass && did;
	s->is_by_full_pass = false;
	if (s->is_deleting && !s->n_units) {
		service_delete(c, s, out);
		return;
	}
	if (s->lost_a_row) /* who follows must hear of it, by a tag that stays */
		service_save_deploy(c, s, out);
	s->lost_a_row = false;
	arm(c, s);
}
