/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which services are looked at in a step: those that an event has noted, and slice by slice all of
 * them, as a safety net. The work of a step is bounded; what is left is the next one's.
 */
#include <stdlib.h>

#include "core/service/place/want.h"
#include "core/state.h"

#define RECORDS_PER_STEP 50000
#define SLICE 1000 /* services of the full pass that are noted at a time */

void service_note(struct core *c, struct service *s)
{
	s->is_by_full_pass = false;
	if (s->is_noted)
		return;
	s->is_noted = true;
	TAILQ_INSERT_TAIL(&services_of(c)->noted, s, in_noted);
}

void services_note_domain(struct core *c, struct str domain)
{
	struct service_row row;
	struct service *s;

	EACH_OBJECT(s, c, KIND_SERVICE)
	{
		if (!s->has_surplus)
			continue;
		service_row(s, NULL, &row);
		if (str_eq(row.domain, domain))
			service_note(c, s);
	}
}

/* The step itself goes on with what is left. */
static void go_on(struct core *c, struct timer *t, struct effects *out)
{
	services_room(c);
}

void services_again(struct core *c, int64_t in_ms)
{
	timer_set(c, TIMER_MONO, &services_of(c)->again_timer, c->mono_ms + in_ms, 0, go_on);
}

/* --- the safety net */

static timer_fn full_pass;

static void full_slice(struct core *c)
{
	struct services *all = services_of(c);
	struct service *s = object_from(c, KIND_SERVICE, all->full_at);

	for (int n = 0; s && n < SLICE; n++, s = object_next(&s->object)) {
		bool was_noted = s->is_noted;

		service_note(c, s);
		s->is_by_full_pass = !was_noted;
	}
	all->full_at = s ? s->object.id : 0;
	if (s)
		return;
	all->passes_full++;
	services_arm(c);
}

static void full_pass(struct core *c, struct timer *t, struct effects *out)
{
	struct services *all = services_of(c);

	all->missed += sites_missed(c);
	all->full_at = 1;
	full_slice(c);
}

/* What was waited for may be over, or far away. */
void services_clock_changed(struct core *c, const struct zone *z)
{
	if (!z && services_of(c)->has_begun && c->objects[KIND_SERVICE].n)
		full_pass(c, NULL, NULL);
}

/* A server without services is left alone. */
void services_arm(struct core *c)
{
	struct services *all = services_of(c);

	if (c->objects[KIND_SERVICE].n && !timer_is_set(&all->full_timer))
		timer_set(c, TIMER_MONO, &all->full_timer, c->mono_ms + c->o.services_pass_ms, 0,
		    full_pass);
}

/* --- at the first step of a process */

/* What runs by its row, and no task of it is known as dispatched: nobody knows when it was lost. */
static void rejoin(struct core *c, struct unit *u)
{
	struct task *t = u->i.id ? task_find(c, u->i.id) : NULL;

	if (!unit_is_on_worker(u) || u->site || u->line == LINE_UNIT_LIMBO)
		return;
	if (t && t->worker) {
		task_drop_body(t);
		unit_enter_site(c, u, t->worker);
		return;
	}
	u->i.id = 0;
	unit_set_ready(c, u, false);
	if (MUTANT(SERVICE_LIMBO_FORGOTTEN))
		return;
	unit_enter_limbo(c, u, c->hold_floor_ms - c->mono_ms);
}

static void begin(struct core *c)
{
	struct services *all = services_of(c);
	struct service *s;

	all->has_begun = true;
	all->gone_floor = all->tag;
	EACH_OBJECT(s, c, KIND_SERVICE)
	{
		for (size_t k = 0; k < s->n_units; k++)
			rejoin(c, s->units[k]);
		service_note(c, s);
	}
	services_arm(c);
}

void services_work(struct core *c, struct effects *out)
{
	struct services *all = services_of(c);
	size_t left = RECORDS_PER_STEP;
	struct service *s;

	if (!all->has_begun)
		begin(c);
	sites_refresh(c);
	if (auctions_of(c)->has_room)
		services_note_blocked(c);
	while (left && (s = TAILQ_FIRST(&all->noted))) {
		size_t cost = s->n_units + 10;

		TAILQ_REMOVE(&all->noted, s, in_noted);
		s->is_noted = false;
		left -= cost < left ? cost : left;
		service_pass(c, s, out);
		if (TAILQ_EMPTY(&all->noted) && all->full_at)
			full_slice(c);
	}
}

void services_placed(struct core *c, struct effects *out)
{
	struct services *all = services_of(c);

	auctions_run(c, out);
	units_write(c, out);
	if (!TAILQ_EMPTY(&all->noted))
		services_again(c, 0);
}
