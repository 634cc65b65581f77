/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lost worker may still be ending what it had. For that long its units are as on a silent worker;
 * then they are certainly over, and on none.
 */
#include "core/service/unit.h"
#include "core/state.h"

static timer_fn over;

static void arm(struct core *c)
{
	struct services *all = services_of(c);
	struct unit *first = TAILQ_FIRST(&all->limbo);

	if (first)
		timer_set(c, TIMER_MONO, &all->limbo_timer, first->limbo_until_ms, 0, over);
	else
		timer_clear(c, TIMER_MONO, &all->limbo_timer);
}

static void over(struct core *c, struct timer *t, struct effects *out)
{
	struct services *all = services_of(c);
	struct unit *u;

	while ((u = TAILQ_FIRST(&all->limbo)) && u->limbo_until_ms <= c->mono_ms) {
		service_note(c, u->service);
		unit_leave_limbo(c, u);
	}
	arm(c);
}

/* By time; most have the same hold, so they come in order. */
void unit_enter_limbo(struct core *c, struct unit *u, int64_t hold_ms)
{
	struct services *all = services_of(c);
	struct unit *before = TAILQ_LAST(&all->limbo, unit_list);

	unit_leave_limbo(c, u);
	service_note(c, u->service);
	if (hold_ms <= 0 || MUTANT(SERVICE_LOST_AT_ONCE))
		return;
	u->limbo_until_ms = c->mono_ms + hold_ms;
	u->line = LINE_UNIT_LIMBO;
	while (before && before->limbo_until_ms > u->limbo_until_ms)
		before = TAILQ_PREV(before, unit_list, in_line);
	if (before)
		TAILQ_INSERT_AFTER(&all->limbo, before, u, in_line);
	else
		TAILQ_INSERT_HEAD(&all->limbo, u, in_line);
	arm(c);
}

void unit_leave_limbo(struct core *c, struct unit *u)
{
	if (u->line != LINE_UNIT_LIMBO)
		return;
	u->line = LINE_UNIT_NONE;
	TAILQ_REMOVE(&services_of(c)->limbo, u, in_line);
}
