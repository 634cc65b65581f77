/* SPDX-License-Identifier: Apache-2.0 */
/* Ending what runs: gently first, then at once. And the time limits that ask for it. */
#include <stdlib.h>

#include "agent/internal.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "model/run/settings.h"

static int64_t term_wait_ms(const struct agent *a, const struct held *h, enum stop_cause cause)
{
	int64_t wait = h->kill_wait_ms;

	/* all must be over before the server thinks so: its patience, not our operator's */
	if (cause == CAUSE_SILENCE && a->health.known && a->own.kill_wait_ms < wait)
		return a->own.kill_wait_ms;
	return wait;
}

/* A task may want never to be killed, or at once; but whoever leaves takes all of them along. */
static enum kill_method method_of(const struct held *h, enum stop_cause cause)
{
	bool must = cause == CAUSE_SILENCE || cause == CAUSE_LEAVE;

	return must && h->kill_method == KILL_TERM ? KILL_TERM_WAIT_KILL
	                                           : (enum kill_method)h->kill_method;
}

static void send_stop(const struct held *h, bool kill, struct agent_effects *out)
{
	struct agent_effect *e = agent_effects_add(out, AF_STOP);

	e->task = h->task;
	e->token = h->token;
	e->kill = kill;
}

/* Nobody may wait for a reader that is away: let the hands empty the pipes. */
static void kill_now(struct agent *a, struct held *h, struct agent_effects *out)
{
	if (h->paused)
		output_give_up(a, h, out);
	if (a->phase != AGENT_DYING || !MUTANT(DYING_WITHOUT_KILL))
		send_stop(h, true, out);
}

void stop_held(struct agent *a, struct held *h, enum stop_cause cause, int64_t mono_ms,
    struct agent_effects *out)
{
	enum kill_method method = method_of(h, cause);
	int64_t by = mono_ms + term_wait_ms(a, h, cause);

	if (h->stopping) { /* a later cause may only hurry it */
		if (method != KILL_TERM && (!heap_has(&h->deadline) || by < h->deadline.at))
			heap_put(&a->deadlines, &h->deadline, by, h->serial);
		return;
	}
	h->stopping = true;
	h->cause = cause;
	fares_stopping(a, h, out);
	heap_del(&a->deadlines, &h->deadline); /* the time limit's */
	if (method == KILL_KILL)
		kill_now(a, h, out);
	else
		send_stop(h, false, out);
	if (method == KILL_TERM_WAIT_KILL)
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
	kill_now(a, h, out);
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
	agent_move(a, AGENT_DYING);
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
