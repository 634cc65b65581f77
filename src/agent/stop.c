/* SPDX-License-Identifier: Apache-2.0 */
/* Ending what runs: gently first, then at once. And the time limits that ask for it. */
#include <stdlib.h>

#include "agent/internal.h"
#include "base/mem.h"
#include "base/mutant.h"

static int64_t term_wait_ms(const struct agent *a, enum stop_cause cause)
{
	/* all must be over before the server thinks so: its patience, not our operator's */
	if (cause == CAUSE_SILENCE && a->health.known && a->own.kill_wait_ms < a->o.term_wait_ms)
		return a->own.kill_wait_ms;
	return a->o.term_wait_ms;
}

static void send_stop(const struct held *h, bool kill, struct agent_effects *out)
{
	struct agent_effect *e = agent_effects_add(out, AF_STOP);

	e->task = h->task;
	e->token = h->token;
	e->kill = kill;
}

void stop_held(struct agent *a, struct held *h, enum stop_cause cause, int64_t mono_ms,
    struct agent_effects *out)
{
	int64_t by = mono_ms + term_wait_ms(a, cause);

	if (h->stopping) { /* a later cause may only hurry it */
		if (heap_has(&h->deadline) && by < h->deadline.at)
			heap_put(&a->deadlines, &h->deadline, by, h->serial);
		return;
	}
	h->stopping = true;
	h->cause = cause;
	send_stop(h, false, out);
	heap_put(&a->deadlines, &h->deadline, by, h->serial);
}

static void deadline_reached(
    struct agent *a, struct held *h, const struct agent_event *in, struct agent_effects *out)
{
	heap_del(&a->deadlines, &h->deadline);
	if (!h->stopping) {
		stop_held(a, h, CAUSE_TIMEOUT, in->mono_ms, out);
		return;
	}
	/* nobody may wait for a reader that is away: let the hands empty the pipes */
	if (h->paused)
		output_give_up(a, h, out);
	if (a->phase != AGENT_DYING || !MUTANT(DYING_WITHOUT_KILL))
		send_stop(h, true, out);
}

void on_deadlines(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	struct heap_node *n;

	while ((n = heap_min(&a->deadlines)) && n->at <= in->mono_ms)
		deadline_reached(a, CONTAINER_OF(n, struct held, deadline), in, out);
}

/*
 * Everything ends, nothing is reported any more. When the machine slept through the moment, the
 * wait between TERM and KILL is over, too.
 */
void start_dying(
    struct agent *a, int64_t since_ms, struct agent_effects *out, const char *why, bool restart)
{
	struct held *h;

	if (is_ending(a))
		return;
	a->restart = restart && a->phase == AGENT_SERVING; /* who wants to leave does not return */
	a->phase = AGENT_DYING;
	a->exit_code = 1;
	free(a->exit_reason);
	a->exit_reason = xstrdup(why);
	close_link(a, out, why);
	TAILQ_FOREACH (h, &a->all, all) {
		if (h->state == HELD_ENDED || h->state == HELD_WAITING)
			continue;
		output_give_up(a, h, out);
		stop_held(a, h, CAUSE_SILENCE, since_ms, out);
	}
}
