/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker that is drained, or wants to leave, loses its instances one by one: each gets a
 * replacement elsewhere, and stays until that is ready, has crashed, or is not wanted any more. Of
 * a singleton there are never two: it stops first, but only when it has somewhere to go.
 */
#include "core/service/place/want.h"
#include "core/state.h"

static bool is_wanted(const struct unit *u)
{
	return u->i.index < u->service->wanted || u->i.is_surge;
}

static bool has_somewhere_to_go(struct core *c, struct unit *u)
{
	struct services *all = services_of(c);
	struct revision *r = revision_find(u->service, u->i.revision);
	struct want *w = r ? want_of(c, u->service, r) : NULL;

	for (size_t i = 0; w && i < all->n_sites; i++)
		if (all->sites[i] != u->site && all->sites[i]->worker &&
		    want_fits_now(c, w, all->sites[i]->worker))
			return true;
	return false;
}

static void block(struct core *c, struct service *s)
{
	if (s->has_blocked)
		return;
	s->has_blocked = true;
	TAILQ_INSERT_TAIL(&services_of(c)->blocked, s, in_blocked);
}

void services_note_blocked(struct core *c)
{
	struct services *all = services_of(c);
	struct service *s;

	while ((s = TAILQ_FIRST(&all->blocked))) {
		TAILQ_REMOVE(&all->blocked, s, in_blocked);
		s->has_blocked = false;
		service_note(c, s);
	}
}

/* What does not run yet is told at once; the other stays as it is. */
static void begin(struct core *c, struct unit *u, struct effects *out)
{
	struct service *s = u->service;
	uint32_t index = u->i.index;
	int64_t revision = u->i.revision;
	bool is_surge = u->i.is_surge;

	if (unit_find(s, index, PRESENCE_SUSPECT) || unit_find(s, index, PRESENCE_EVACUATING))
		return; /* two of an index are enough */
	unit_set_presence(c, u, PRESENCE_EVACUATING, out);
	if (u->i.state == INSTANCE_CLAIMED)
		unit_tell(c, u, STR("its worker is drained, and it does not run yet"), out);
	unit_add(c, s, index, PRESENCE_ORDINARY, revision)->i.is_surge = is_surge;
}

static void look_at_ordinary(struct core *c, struct unit *u, struct effects *out)
{
	if (!u->site || !u->site->is_drained || u->i.is_stopping || MUTANT(SERVICE_DRAIN_KEEPS))
		return;
	if (!is_wanted(u)) {
		unit_tell(c, u, STR("its worker is drained, and nobody wants it"), out);
	} else if (!u->service->is_singleton || MUTANT(SERVICE_SINGLETON_MOVED)) {
		begin(c, u, out);
	} else if (has_somewhere_to_go(c, u)) {
		unit_tell(c, u,
		    STR("its worker is drained: it stops first, then it starts elsewhere"), out);
	} else {
		block(c, u->service);
	}
}

/* The drain is called off, and the replacement runs nowhere yet: it is not needed. */
static bool comes_back(struct core *c, struct unit *u, struct unit *ordinary, struct effects *out)
{
	if (!u->site || u->site->is_drained || u->i.is_stopping)
		return false;
	if (ordinary && unit_is_on_worker(ordinary))
		return false;
	if (ordinary)
		unit_remove(c, ordinary, out);
	unit_set_presence(c, u, PRESENCE_ORDINARY, out);
	return true;
}

static void look_at_evacuating(struct core *c, struct unit *u, struct effects *out)
{
	struct unit *ordinary = unit_find(u->service, u->i.index, PRESENCE_ORDINARY);

	if (comes_back(c, u, ordinary, out) || u->i.is_stopping)
		return;
	if (!is_wanted(u))
		unit_tell(c, u, STR("it is wanted no more"), out);
	else if (ordinary && (ordinary->i.is_ready ||
	                         (MUTANT(SERVICE_MOVED_EARLY) && unit_is_on_worker(ordinary))))
		unit_tell(c, u, STR("its replacement is ready"), out);
	else if (ordinary && ordinary->i.crash_count > 0)
		unit_tell(c, u,
		    STR("its replacement has started, and crashed: that is the service's own "
		        "trouble"),
		    out);
}

/* Units come and go meanwhile, at this index only. */
void service_evacuate(struct core *c, struct service *s, struct effects *out)
{
	for (size_t k = 0; k < s->n_units; k++) {
		struct unit *u = s->units[k];

		if (!unit_is_on_worker(u) || u->is_over)
			continue;
		if (u->i.presence == PRESENCE_ORDINARY)
			look_at_ordinary(c, u, out);
		else if (u->i.presence == PRESENCE_EVACUATING)
			look_at_evacuating(c, u, out);
	}
}
