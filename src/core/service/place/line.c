/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What waits for a worker: for the next auction; or, if it found no place, until there is more room
 * somewhere, by what it needs.
 */
#include "core/service/place/want.h"
#include "core/state.h"

void services_room(struct core *c)
{
	if (services_of(c))
		auctions_of(c)->has_room = true;
}

struct want *unit_want(struct core *c, struct unit *u)
{
	struct revision *r = revision_find(u->service, u->i.revision);

	return r ? want_of(c, u->service, r) : NULL;
}

bool unit_may_start(struct core *c, struct unit *u)
{
	return u->i.state == INSTANCE_UNCLAIMED && !u->service->holds_starts &&
	       !service_waits_for(c, u->service, u->i.revision).p;
}

void unit_ask(struct core *c, struct unit *u)
{
	struct services *all = services_of(c);

	if (u->line != LINE_UNIT_NONE || !unit_may_start(c, u))
		return;
	u->line = LINE_UNIT_DUE;
	TAILQ_INSERT_TAIL(&all->due[u->i.index > 0], u, in_line);
	all->n_due++;
}

void unit_unask(struct core *c, struct unit *u)
{
	struct services *all = services_of(c);
	struct want *w;

	if (u->line == LINE_UNIT_DUE) {
		TAILQ_REMOVE(&all->due[u->i.index > 0], u, in_line);
		all->n_due--;
		u->line = LINE_UNIT_NONE;
	} else if (u->line == LINE_UNIT_SHORT) {
		w = unit_want(c, u);
		TAILQ_REMOVE(&w->shorts, u, in_line);
		all->n_short--;
		u->line = LINE_UNIT_NONE;
		if (--w->n_shorts == 0)
			TAILQ_REMOVE(&auctions_of(c)->shorts, w, in_short);
	}
}

void unit_is_short(struct core *c, struct unit *u, struct want *w)
{
	struct services *all = services_of(c);

	u->line = LINE_UNIT_SHORT;
	TAILQ_INSERT_TAIL(&w->shorts, u, in_line);
	all->n_short++;
	if (w->n_shorts++ == 0)
		TAILQ_INSERT_TAIL(&all->auctions->shorts, w, in_short);
}

/* A few of each need: if they find a place, there may be room for more. */
#define TRIED_AGAIN 8

void units_try_again(struct core *c)
{
	struct auctions *all = auctions_of(c);
	struct want *w, *next;
	struct unit *u;

	all->has_room = false;
	TAILQ_FOREACH_SAFE (w, &all->shorts, in_short, next)
		for (int i = 0; i < TRIED_AGAIN && (u = TAILQ_FIRST(&w->shorts)); i++) {
			bool is_last = w->n_shorts == 1;

			unit_unask(c, u);
			unit_ask(c, u);
			if (is_last)
				break;
		}
}
