/* SPDX-License-Identifier: Apache-2.0 */
#include "core/service/view.h"

#include <stdlib.h>

#include "core/service/unit.h"
#include "core/state.h"
#include "service/routes/routes.h"

const struct domain_row *core_domain(const struct core *c, rid id)
{
	const struct domain *d = object_find(c, KIND_DOMAIN, id);

	return d ? &d->row : NULL;
}

bool core_domain_is_fresh(const struct core *c, struct str name, int64_t now_ms)
{
	const struct domain *d = name.n ? object_find_name(c, KIND_DOMAIN, name) : NULL;

	return d && domain_is_fresh(&d->row, now_ms);
}

/* --- instances */

/* Traffic goes to it: as src/service/routes has it, for one of an index and those beside it. */
static bool is_routed(const struct service *s, const struct unit *u)
{
	const struct unit *ordinary = unit_find(s, u->i.index, PRESENCE_ORDINARY);

	if (!u->i.is_ready || u->i.is_stopping || u->is_over || !unit_text(u, TEXT_ADDRESS).p)
		return false;
	return u == ordinary || !ordinary || !ordinary->i.is_ready;
}

static void count_unit(const struct service *s, const struct unit *u, struct service_counts *n)
{
	n->beside[u->i.presence]++;
	if (u->i.presence == PRESENCE_ORDINARY)
		n->in[u->i.state]++;
	n->routed += is_routed(s, u);
	n->unplaced += unit_text(u, TEXT_PLACE).p != NULL;
	n->stopping += u->i.is_stopping;
}

static void count_all(const struct service *s, struct service_counts *n)
{
	int64_t last = -1;

	*n = (struct service_counts){.crashes = s->n_crashes};
	for (size_t k = 0; k < s->n_units; k++) {
		const struct unit *u = s->units[k];

		if (u->is_over)
			continue;
		count_unit(s, u, n);
		if (u->i.is_ready && (int64_t)u->i.index != last) {
			n->ready++;
			last = u->i.index;
		}
	}
}

bool core_service_counts(const struct core *c, rid id, struct service_counts *ret_counts)
{
	const struct service *s = service_find(c, id);

	*ret_counts = (struct service_counts){0};
	if (s)
		count_all(s, ret_counts);
	return s;
}

static void see_crash(const struct service *s, struct instance_view *v, const struct unit *u)
{
	int64_t due = u->i.state == INSTANCE_CRASHED ? crash_due_ms(&u->i, &s->crash) : CRASH_NEVER;

	v->restarts = due != CRASH_NEVER;
	v->restarts_ms = v->restarts ? due : 0;
}

static void see(const struct core *c, const struct service *s, const struct unit *u,
    struct arena *a, struct instance_view *v)
{
	const struct worker *w = u->worker ? worker_find(c, u->worker) : NULL;
	const struct task *t = u->i.id ? task_find(c, u->i.id) : NULL;
	struct instance_row row;

	*v = (struct instance_view){.is_routed = is_routed(s, u), .exit_code = -1};
	unit_row(u, &row);
	row_copy(&instance_table, a, &row, 0, &v->row);
	v->worker = w ? arena_str(a, w->row.facts.shard) : STR_NULL;
	v->zone = w ? arena_str(a, w->row.facts.zone) : STR_NULL;
	v->exit_code = t ? t->row.state.exit_code : -1;
	v->is_unheard = u->line == LINE_UNIT_LIMBO || (u->site && u->site->seen != SEEN_PRESENT);
	if (u->i.state == INSTANCE_UNCLAIMED)
		v->waits_for = arena_str(a, service_lacks(c, s, u->i.revision));
	see_crash(s, v, u);
}

size_t core_service_instances(const struct core *c, rid id, int64_t from_index,
    int64_t from_presence, size_t max, struct arena *a, struct instance_view **ret_views)
{
	const struct service *s = service_find(c, id);
	size_t n = 0, at = s ? unit_place(s, from_index, (int)from_presence) : 0;
	struct instance_view *v;

	if (s && s->n_units - at < max)
		max = s->n_units - at;
	*ret_views = v = arena_alloc(a, (max + 1) * sizeof *v);
	for (; s && n < max && at < s->n_units; at++)
		if (!s->units[at]->is_over)
			see(c, s, s->units[at], a, &v[n++]);
	return n;
}

bool core_instance(
    const struct core *c, rid id, int64_t index, struct arena *a, struct instance_view *ret_view)
{
	const struct service *s = service_find(c, id);
	const struct unit *u = NULL;

	for (int p = 0; s && p < N_PRESENCES && !u; p++)
		u = unit_find(s, index, (enum presence)p);
	if (u)
		see(c, s, u, a, ret_view);
	return u;
}

/* --- services */

static void see_texts(const struct service *s, struct arena *a, struct service_view *v)
{
	int64_t last = 0;

	for (size_t k = 0; k < s->n_units; k++) {
		const struct unit *u = s->units[k];
		struct str place = unit_text(u, TEXT_PLACE), crash = unit_text(u, TEXT_CRASH);

		if (place.p && !v->place_error.p)
			v->place_error = arena_str(a, place);
		if (crash.p && u->i.crashed_at_ms >= last) {
			v->crash_reason = crash;
			last = u->i.crashed_at_ms;
		}
	}
	v->crash_reason = arena_str(a, v->crash_reason);
}

bool core_service(const struct core *c, rid id, struct arena *a, struct service_view *ret_view)
{
	const struct service *s = service_find(c, id);
	struct deploy_pass pass;
	AUTO(buf_release) struct buf words = {0};

	*ret_view = (struct service_view){0};
	if (!s)
		return false;
	service_row(s, a, &ret_view->row);
	ret_view->queue = core_name(c, KIND_QUEUE, ret_view->row.spec.queue);
	ret_view->n_revisions = s->n_revisions;
	ret_view->is_adopted = !ret_view->row.spec.body.n;
	count_all(s, &ret_view->counts);
	see_texts(s, a, ret_view);
	pass = (struct deploy_pass){.wanted = s->wanted,
	    .goal = s->goal,
	    .n_healthy = s->n_healthy,
	    .waits = s->waits,
	    .waits_index = s->waits_index};
	deploy_words(&s->deploy, &pass, &words);
	ret_view->deploy_why = arena_str(a, buf_str(&words));
	return true;
}

size_t core_service_revisions(
    const struct core *c, rid id, struct arena *a, struct revision_view **ret_views)
{
	const struct service *s = service_find(c, id);
	size_t n = s ? s->n_revisions : 0;
	struct revision_view *v = *ret_views = arena_zalloc(a, (n + 1) * sizeof *v);

	for (size_t i = 0; i < n; i++) {
		const struct revision *r = &s->revisions[n - 1 - i];

		revision_row(s, r, a, &v[i].row);
		v[i].queue = core_name(c, KIND_QUEUE, v[i].row.spec.queue);
		v[i].is_target = r->number == s->deploy.target;
		v[i].is_stable = r->number == s->deploy.stable;
		v[i].instances = r->n_units;
	}
	return n;
}

/* --- changes */

uint64_t core_services_tag(const struct core *c)
{
	return services_of(c)->tag;
}

uint64_t core_services_tag_floor(const struct core *c)
{
	return services_of(c)->gone_floor;
}

static const struct gone_service *gone_after(const struct services *all, uint64_t tag)
{
	size_t n = all->n_gone < GONE_SERVICES ? all->n_gone : GONE_SERVICES;

	for (size_t k = all->n_gone - n; k < all->n_gone; k++)
		if (all->gone[k % GONE_SERVICES].tag > tag)
			return &all->gone[k % GONE_SERVICES];
	return NULL;
}

/* From the newest back: who follows has seen nearly all. */
static const struct service *changed_after(const struct services *all, uint64_t tag)
{
	const struct service *s = TAILQ_LAST(&all->changed, service_list), *found = NULL;

	for (; s && s->tag > tag; s = TAILQ_PREV(s, service_list, in_changed))
		found = s;
	return found;
}

bool core_service_changed(const struct core *c, uint64_t tag, struct service_change *ret_change)
{
	const struct services *all = services_of(c);
	const struct service *s = changed_after(all, tag);
	const struct gone_service *g = gone_after(all, tag);

	if (g && (!s || g->tag < s->tag))
		*ret_change = (struct service_change){g->tag, 0, g->name};
	else if (s)
		*ret_change = (struct service_change){s->tag, s->object.id, s->object.name};
	return s || g;
}

void core_services(const struct core *c, struct services_view *v)
{
	const struct services *all = services_of(c);

	*v = (struct services_view){.services = c->objects[KIND_SERVICE].n,
	    .instances = all->n_units,
	    .ready = all->n_ready,
	    .unplaced = all->n_place_errors,
	    .starts = all->starts,
	    .crashes = all->crashes,
	    .placements_failed = all->unplaced,
	    .auctions = all->n_auctions,
	    .passes = all->passes,
	    .passes_full = all->passes_full,
	    .missed = all->missed,
	    .waiting = all->n_due + all->n_short};
	for (int i = 0; i < INSTANCE_STATES; i++)
		v->in[i] = all->in[i];
	for (int p = 0; p < INSTANCE_PRESENCES; p++)
		v->beside[p] = all->beside[p];
}

static void see_blocked(const struct unit *u, struct arena *a, struct worker_services *v)
{
	const struct unit *other = unit_find(u->service, u->i.index, PRESENCE_ORDINARY);
	bool is_alone = u->i.presence == PRESENCE_ORDINARY && u->service->has_blocked;
	struct str why = is_alone ? STR("a singleton, and no other worker has room for it")
	                 : other && other != u ? unit_text(other, TEXT_PLACE)
	                                       : STR_NULL;

	if (!why.p)
		return;
	v->blocked++;
	if (!v->blocked_by.p)
		v->blocked_by = arena_strf(a, STR_FMT "/%u: " STR_FMT,
		    STR_ARG(u->service->object.name), u->i.index, STR_ARG(why));
}

void core_worker_services(
    const struct core *c, rid worker, struct arena *a, struct worker_services *v)
{
	const struct worker *w = worker_find(c, worker);
	const struct unit *u;

	*v = (struct worker_services){0};
	if (!w || !w->site)
		return;
	TAILQ_FOREACH (u, &w->site->units, on_site) {
		v->instances++;
		v->running += u->i.state == INSTANCE_RUNNING;
		v->evacuating += u->i.presence == PRESENCE_EVACUATING;
		if (w->site->is_drained)
			see_blocked(u, a, v);
	}
}
