/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may start here, and what never will. A run is taken once, and only while the server can
 * count on us; the answer to "which of these are not running" is a promise about runs that are
 * still on their way, which their sequence number makes us keep.
 */
#include "agent/internal.h"
#include "base/mutant.h"

/* Numbers may come out of order, but each only once; what is older than the window was seen. */
static bool number_seen(struct agent *a, uint64_t number)
{
	uint64_t age, ahead;

	if (number > a->run_top) {
		ahead = number - a->run_top;
		a->run_bits = ahead < RUN_WINDOW ? a->run_bits << ahead | 1 : 1;
		a->run_top = number;
		return false;
	}
	age = a->run_top - number;
	if (MUTANT(RUN_WINDOW_LAST_ONLY))
		return age == 0;
	if (number == 0 || age >= RUN_WINDOW || (a->run_bits >> age & 1))
		return true;
	a->run_bits |= UINT64_C(1) << age;
	return false;
}

/* Why this run is certainly not started here; NULL: it may be. */
static const char *refusal(
    const struct agent *a, const struct link_run *run, struct agent_effects *out)
{
	if (a->link != LINK_WELCOME)
		return "it came before the worker was welcomed";
	if (a->phase == AGENT_LEAVING)
		return "the worker is leaving";
	if (run->notify_seq < a->notify_seq && !MUTANT(RUN_SEQ_UNCHECKED))
		return "it came too late: the server was told that it is not here";
	if (a->health.state != WORKER_HEALTHY && !MUTANT(RUN_WHEN_UNHEALTHY))
		return arena_printf(
		    &out->arena, "the worker is not healthy now: %s", health_text(a));
	return NULL;
}

/* By sending a later attempt the server has fenced the older ones off. */
static void end_older(
    struct agent *a, struct held *h, const struct agent_event *in, struct agent_effects *out)
{
	for (struct held *o = h->older, *next; o; o = next) {
		next = o->older;
		if (o->state == HELD_WAITING)
			held_never(a, o, "a later attempt took its place", in, out);
		else if (o->state != HELD_ENDED)
			stop_held(a, o, CAUSE_KILL, in->mono_ms, out);
	}
}

static void take(
    struct agent *a, const char *refused, const struct agent_event *in, struct agent_effects *out)
{
	struct held *h = held_add(a, in->run);

	if (refused) {
		end_older(a, h, in, out);
		held_never(a, h, refused, in, out);
	} else if (held_older_is_live(h)) {
		held_wait(h, in->run);
		note_of(out, h->task, h->token,
		    "a later attempt was sent while an older one is here; it waits for its end");
		end_older(a, h, in, out);
	} else {
		held_start(h, in->run, out);
	}
}

int on_run(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	const struct link_run *run = in->run;
	const struct held *newest = idmap_get(&a->by_task, run->task);

	if (run->task == 0)
		return ERR_PROTOCOL;
	if (is_ending(a) || (a->link != LINK_WELCOME && a->link != LINK_HELLO))
		return 0;
	if (number_seen(a, run->number) && !MUTANT(RUN_REPLAY_ACCEPTED)) {
		note_of(out, run->task, run->token, "the same run was sent again: ignored");
		return 0;
	}
	if (newest && newest->token >= run->token) {
		if (newest->token > run->token)
			note_of(out, run->task, run->token,
			    "an attempt older than the one held was sent: ignored");
		return 0;
	}
	take(a, refusal(a, run, out), in, out);
	return 0;
}

static bool is_here(const struct held *h)
{
	if (!h)
		return false;
	if (h->state == HELD_ENDED && MUTANT(NOTIFY_LIES_ABSENT))
		return false;
	return h->state != HELD_STARTING || !MUTANT(NOTIFY_OMITS_STARTING);
}

int on_notify(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	size_t n = in->notify.n_refs < NOTIFY_REFS_MAX ? in->notify.n_refs : NOTIFY_REFS_MAX;
	size_t n_held = 0, n_absent = 0;
	struct link_held *held, *absent;

	if (is_ending(a) || a->link != LINK_WELCOME)
		return 0;
	if (in->notify.seq <= a->notify_seq) {
		note(out, "the server asked again what was asked before: ignored");
		return 0;
	}
	if (!MUTANT(NOTIFY_SEQ_NOT_ADOPTED))
		a->notify_seq = in->notify.seq;
	held = arena_alloc(&out->arena, n * sizeof *held);
	absent = arena_alloc(&out->arena, n * sizeof *absent);
	for (size_t i = 0; i < n; i++) {
		const struct run_ref *r = &in->notify.refs[i];
		const struct held *h = held_find(a, r->task, r->token);

		if (is_here(h))
			held[n_held++] = held_ref(h);
		else
			absent[n_absent++] = (struct link_held){.task = r->task, .token = r->token};
	}
	agent_effects_add(out, AF_NOTIFIED)->notified =
	    (struct link_notified){in->notify.seq, held, absent, n_held, n_absent};
	return 0;
}
