/* SPDX-License-Identifier: Apache-2.0 */
/* What the server waits for: so that a wait is never a mystery. */
#include "core/state.h"

const char *const wait_names[N_WAITS] = {
#define X(code, name) [code] = name,
    WAIT_TABLE(X)
#undef X
};

struct waits {
	struct arena *a;
	struct wait *items;
	size_t n, cap;
};

/* About a worker, or (NULL) about none in particular. */
static struct wait *add(
    struct waits *ws, enum wait_code code, const struct worker *w, int64_t in_ms)
{
	struct wait *bigger;

	if (ws->n == ws->cap) {
		ws->cap = ws->cap ? ws->cap * 2 : 8;
		bigger = arena_alloc(ws->a, ws->cap * sizeof *bigger);
		for (size_t i = 0; i < ws->n; i++)
			bigger[i] = ws->items[i];
		ws->items = bigger;
	}
	ws->items[ws->n] = (struct wait){.code = code, .in_ms = in_ms, .facts.in_ms = in_ms};
	if (w) {
		ws->items[ws->n].worker = w->row.id;
		ws->items[ws->n].facts.name = w->row.facts.shard;
	}
	return &ws->items[ws->n++];
}

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

static enum wait_code said(const struct core *c, const struct worker *w)
{
	if (w->health.state == WORKER_MUST_DIE)
		return WAIT_START_LOST;
	if (!w->health.known)
		return WAIT_START_SILENT;
	if (!w->member.initial.server)
		return WAIT_START_NEW;
	if (w->member.initial.server != c->start.dispatcher)
		return WAIT_START_UNTOLD;
	return set_hash_eq(&w->member.initial.hash, &c->set.id.hash) ? WAIT_START_AGREES
	                                                             : WAIT_START_DIFFERS;
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
	struct worker *w;

	if (!c->start.waiting)
		return;
	left = left > 0 ? left : 0;
	add(ws, is_unsafe(c) ? WAIT_START_UNSAFE : WAIT_START, NULL, left);
	EACH_OBJECT(w, c, KIND_WORKER)
	if ((w->health.state != WORKER_MUST_DIE && !w->row.departed) || start_owes(c, w))
		add(ws, said(c, w), w, left);
}

/* Of a worker, and so many of its tasks. */
static void add_tasks(
    struct waits *ws, enum wait_code code, const struct worker *w, int32_t tasks, int64_t in_ms)
{
	struct wait *x = add(ws, code, w, in_ms);

	x->tasks = tasks;
	x->facts.n = tasks;
}

/* Dispatched tasks of a worker that is not there. */
static void wait_word(const struct core *c, int64_t mono_ms, struct waits *ws)
{
	struct worker *w;

	EACH_OBJECT(w, c, KIND_WORKER)
	{
		int64_t left = wait_lost_in_ms(c, w, mono_ms);

		if (!w->link && w->running && left >= 0)
			add_tasks(ws, WAIT_WORD, w, w->running, left);
	}
}

static void wait_unsure(const struct core *c, int64_t mono_ms, struct waits *ws)
{
	struct worker *w;

	EACH_OBJECT(w, c, KIND_WORKER)
	{
		int64_t next = w->next_poll_ms - mono_ms;

		if (w->link && w->n_unsure)
			add_tasks(ws, WAIT_UNSURE, w, w->n_unsure, next > 0 ? next : 0);
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

/* A batched one is in no set yet, so nobody hears of it: first those who are must know of each
 * other. */
static enum wait_code consensus_code(
    const struct worker *w, const struct worker *other, int64_t left_ms)
{
	if (w->member.batched)
		return !other ? WAIT_BATCHED : left_ms < 0 ? WAIT_BATCHED_BEAT : WAIT_BATCHED_LOSS;
	if (!other || other == w)
		return WAIT_SET_OWN;
	if (left_ms < 0)
		return WAIT_SET_BEAT;
	return other->link ? WAIT_SET_UNHEALTHY : WAIT_SET_AWAY;
}

static void wait_consensus(
    const struct core *c, const struct worker *w, int64_t mono_ms, struct waits *ws)
{
	const struct worker *other = in_the_way(c, w);
	int64_t left = other ? wait_lost_in_ms(c, other, mono_ms) : -1;
	struct wait *x = add(ws, consensus_code(w, other, left), w, left);

	if (other)
		x->facts.other = other->row.facts.shard;
}

static void wait_health(const struct core *c, int64_t mono_ms, struct waits *ws)
{
	static const enum wait_code codes[] = {[LACK_KNOWN] = WAIT_HELLO,
	    [LACK_BEAT] = WAIT_BEAT,
	    [LACK_CHECK] = WAIT_CHECK,
	    [LACK_LIFE] = WAIT_LIFE};
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
		x = add(ws, codes[lack], w, wait_lost_in_ms(c, w, mono_ms));
		if (lack == LACK_CHECK)
			x->facts.reason = str_of(w->check_failed);
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
