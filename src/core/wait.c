/* SPDX-License-Identifier: Apache-2.0 */
/* What the server waits for, in words: so that a wait is never a mystery. */
#include "base/timefmt.h"
#include "core/internal.h"

struct waits {
	struct arena *a;
	struct wait *items;
	size_t n, cap;
};

static struct wait *add(struct waits *ws, const char *code, rid worker, int64_t in_ms)
{
	struct wait *bigger;

	if (ws->n == ws->cap) {
		ws->cap = ws->cap ? ws->cap * 2 : 8;
		bigger = arena_alloc(ws->a, ws->cap * sizeof *bigger);
		for (size_t i = 0; i < ws->n; i++)
			bigger[i] = ws->items[i];
		ws->items = bigger;
	}
	ws->items[ws->n] = (struct wait){.code = code, .worker = worker, .in_ms = in_ms};
	return &ws->items[ws->n++];
}

#define SAY(w, ...) ((w)->text = arena_strf(ws->a, __VA_ARGS__))

/* Until it is lost, if nothing more is heard; -1: that is not running. */
int64_t wait_lost_in_ms(const struct core *c, const struct worker *w, int64_t mono_ms)
{
	const struct timeouts *t = worker_timeouts(c, w);
	struct health h = w->health;
	int64_t at;

	if (h.state == WORKER_HEALTHY && w->link)
		return -1;
	if (h.state == WORKER_MUST_DIE || health_lack(&h, t, mono_ms) == LACK_CONSENSUS)
		return -1;
	at = h.state == WORKER_UNHEALTHY ? h.since_ms : health_next_ms(&h, t);
	at += t->lose_after_ms + 1;
	return at > mono_ms ? at - mono_ms : 0;
}

static const char *said(const struct core *c, const struct worker *w)
{
	if (w->health.state == WORKER_MUST_DIE)
		return "is lost without having said what it runs";
	if (!w->health.known)
		return "has not spoken yet";
	if (!w->member.initial.server)
		return "is new here";
	if (w->member.initial.server != c->start.dispatcher)
		return "has not heard from the last server which workers there are";
	return set_hash_eq(&w->member.initial.hash, &c->set.id.hash)
	           ? "agrees with those who are here"
	           : "knows another set of workers than those who are here";
}

/* The operator's own number, where it is less than what is safe. */
static bool is_unsafe(const struct core *c)
{
	return c->o.caution_startup_wait && c->o.is_volatile &&
	       c->o.startup_wait_ms < core_safe_wait_ms(&c->o);
}

static void wait_start(const struct core *c, int64_t mono_ms, struct waits *ws)
{
	int64_t left = c->start.until_ms - mono_ms;
	char text[TIME_TEXT_MAX];
	struct worker *w;
	struct wait *x;

	if (!c->start.waiting)
		return;
	left = left > 0 ? left : 0;
	x = add(ws, "initial-wait", 0, left);
	SAY(x,
	    "nothing is started for at most %s: the last server did not write down what it "
	    "started, so every worker that may run something must speak first, or have ended it%s",
	    time_human_ms(left, text),
	    is_unsafe(c) ? ". UNSAFE: the time is the one of CAUTION_startup_wait_for_workers, and "
	                   "shorter than that takes: what a worker runs that speaks later may be "
	                   "started a second time"
	                 : "");
	EACH_OBJECT(w, c, KIND_WORKER)
	{
		if (w->health.state == WORKER_MUST_DIE && !start_owes(c, w))
			continue;
		x = add(ws, "initial-wait-worker", w->row.id, left);
		SAY(x, "worker " STR_FMT " %s", STR_ARG(w->row.facts.shard), said(c, w));
	}
}

/* Dispatched tasks of a worker that is not there. */
static void wait_word(const struct core *c, int64_t mono_ms, struct waits *ws)
{
	char text[TIME_TEXT_MAX];
	struct worker *w;

	EACH_OBJECT(w, c, KIND_WORKER)
	{
		int64_t left = wait_lost_in_ms(c, w, mono_ms);
		struct wait *x;

		if (w->link || !w->running || left < 0)
			continue;
		x = add(ws, "worker-word", w->row.id, left);
		x->tasks = w->running;
		SAY(x,
		    "%d task%s on worker " STR_FMT
		    ", which is away: they count as running until it "
		    "returns, or is lost in %s",
		    w->running, w->running == 1 ? "" : "s", STR_ARG(w->row.facts.shard),
		    time_human_ms(left, text));
	}
}

static void wait_unsure(const struct core *c, int64_t mono_ms, struct waits *ws)
{
	struct worker *w;

	EACH_OBJECT(w, c, KIND_WORKER)
	{
		int64_t next = w->next_poll_ms - mono_ms;
		struct wait *x;

		if (!w->link || !w->n_unsure)
			continue;
		x = add(ws, "unsure", w->row.id, next > 0 ? next : 0);
		x->tasks = w->n_unsure;
		SAY(x,
		    "worker " STR_FMT
		    " has not said whether it started %d task%s: it is asked again",
		    STR_ARG(w->row.facts.shard), w->n_unsure, w->n_unsure == 1 ? "" : "s");
	}
}

/* One that does not require the newcomer yet, if only through others; the first in the set. */
static const struct worker *in_the_way(const struct core *c, const struct worker *w)
{
	const struct member *m, *newest = TAILQ_LAST(&c->set.members, member_list);
	uint64_t wanted = w->member.joined ? w->member.joined : newest ? newest->joined : 0;

	TAILQ_FOREACH (m, &c->set.members, entry)
		if (m->indirect < wanted)
			return CONTAINER_OF(m, struct worker, member);
	return NULL;
}

/* It is in no set yet, so nobody hears of it: first those who are must know of each other. */
static void say_batched(const struct worker *w, const struct worker *other, int64_t left,
    struct waits *ws, struct wait *x)
{
	char text[TIME_TEXT_MAX];

	if (!other)
		SAY(x,
		    "worker " STR_FMT " gets no tasks yet: newcomers are taken in together, and it "
		    "is among the next",
		    STR_ARG(w->row.facts.shard));
	else
		SAY(x,
		    "worker " STR_FMT
		    " gets no tasks yet: newcomers are taken in together, and the "
		    "next ones when worker " STR_FMT
		    " has repeated the present set of workers, which it does %s%s",
		    STR_ARG(w->row.facts.shard), STR_ARG(other->row.facts.shard),
		    left < 0 ? "with its next heartbeats" : "when it speaks, or is lost in ",
		    left < 0 ? "" : time_human_ms(left, text));
}

static void wait_consensus(
    const struct core *c, const struct worker *w, int64_t mono_ms, struct waits *ws)
{
	const struct worker *other = in_the_way(c, w);
	int64_t left = other ? wait_lost_in_ms(c, other, mono_ms) : -1;
	char text[TIME_TEXT_MAX];
	struct wait *x = add(ws, "consensus", w->row.id, left);

	if (w->member.batched)
		say_batched(w, other, left, ws, x);
	else if (!other || other == w)
		SAY(x,
		    "worker " STR_FMT " gets no tasks yet: it must first repeat the set of workers",
		    STR_ARG(w->row.facts.shard));
	else if (left < 0)
		SAY(x,
		    "worker " STR_FMT " gets no tasks yet: worker " STR_FMT
		    " does not know of it, and hears of it with its next heartbeats",
		    STR_ARG(w->row.facts.shard), STR_ARG(other->row.facts.shard));
	else
		SAY(x,
		    "worker " STR_FMT " gets no tasks yet: worker " STR_FMT
		    " does not know of it and is %s; it speaks, or is lost in %s",
		    STR_ARG(w->row.facts.shard), STR_ARG(other->row.facts.shard),
		    other->link ? "unhealthy" : "away", time_human_ms(left, text));
}

static void wait_health(const struct core *c, int64_t mono_ms, struct waits *ws)
{
	static const char *const needs[] = {[LACK_NOTHING] = "",
	    [LACK_KNOWN] = "its hello",
	    [LACK_BEAT] = "its heartbeat",
	    [LACK_CHECK] = "a healthcheck that succeeds",
	    [LACK_CONSENSUS] = "the other workers to know of it",
	    [LACK_LIFE] = ""};
	struct worker *w;

	EACH_OBJECT(w, c, KIND_WORKER)
	{
		enum health_lack lack = health_lack(&w->health, worker_timeouts(c, w), mono_ms);
		struct wait *x;

		if (!w->link || w->health.state == WORKER_HEALTHY || lack == LACK_NOTHING)
			continue;
		if (lack == LACK_CONSENSUS) {
			if (!c->start.waiting) /* no set is told before that is over */
				wait_consensus(c, w, mono_ms, ws);
			continue;
		}
		x = add(ws, "worker-health", w->row.id, wait_lost_in_ms(c, w, mono_ms));
		SAY(x, "worker " STR_FMT " gets no tasks yet: it waits for %s%s%s",
		    STR_ARG(w->row.facts.shard), needs[lack],
		    lack == LACK_CHECK && w->check_failed ? "; the last one said: " : "",
		    lack == LACK_CHECK && w->check_failed ? w->check_failed : "");
	}
}

size_t core_waits(const struct core *c, int64_t mono_ms, struct arena *a, struct wait **ret_waits)
{
	struct waits ws = {.a = a};

	wait_start(c, mono_ms, &ws);
	wait_word(c, mono_ms, &ws);
	wait_unsure(c, mono_ms, &ws);
	wait_health(c, mono_ms, &ws);
	*ret_waits = ws.items;
	return ws.n;
}

void core_set(const struct core *c, int64_t mono_ms, struct set_view *ret)
{
	const struct member *m;
	int64_t left = c->start.until_ms - mono_ms;

	*ret = (struct set_view){.id = c->set.id,
	    .consensus = c->set.agreed,
	    .waiting = c->start.waiting,
	    .ends_in_ms = !c->start.waiting ? -1
	                  : left > 0        ? left
	                                    : 0};
	TAILQ_FOREACH (m, &c->set.batched, entry)
		ret->batched++;
}
