/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/faults/hostile.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/mutant.h"
#include "model/limits.h"
#include "sim/faults/liar.h"
#include "sim/judge/judge_internal.h"
#include "sim/world/net.h"

#define KEY "his own" /* whatever else he says */

const struct hostile_link *hostile_link(const struct world *w, uint64_t number)
{
	for (size_t i = 0; w->hostile && i < w->hostile->n_links; i++)
		if (w->hostile->links[i].number == number)
			return &w->hostile->links[i];
	return NULL;
}

/* Also of a start that is written nowhere. */
static int64_t token_of(const struct truth_task *t)
{
	return t->started_token > t->token ? t->started_token : t->token;
}

/* Most often of somebody else's attempt that runs now. */
static const struct truth_task *some_task(const struct world *w, struct rng *r)
{
	const struct judge *j = w->judge;
	const struct truth_task *t = NULL;

	for (int i = 0; i < 20 && j->n_tasks && !(t && t->running); i++)
		t = j->tasks[rng_below(r, j->n_tasks)];
	return t && token_of(t) ? t : NULL;
}

static int64_t some_number(struct rng *r, int64_t real, bool *absurd)
{
	switch (rng_below(r, 6)) {
	case 0: *absurd = true; return INT64_MAX;
	case 1: *absurd = true; return START_MAX + 1;
	case 2: return START_MAX;
	case 3: return real > 1 ? real - 1 : 1;
	case 4: return real;
	default: return real + 1;
	}
}

static struct set_id some_set(struct rng *r)
{
	struct set_id none = {0};

	if (sim_chance(r, 500))
		return none;
	return (struct set_id){rng_next(r) | 1, rng_next(r), {rng_next(r), rng_next(r), 1}};
}

/* The liar holds what others do: all that he names is in `held` and on his link's list. */
static size_t some_tasks(
    const struct world *w, struct rng *r, struct hostile_link *l, struct link_held *held)
{
	const struct truth_task *t;

	while (l->n_held < HOSTILE_HELD && sim_chance(r, 600) && (t = some_task(w, r))) {
		held[l->n_held] = (struct link_held){
		    t->id, token_of(t), sim_chance(r, 300), sim_chance(r, 500), false};
		l->held[l->n_held++] = t->id;
	}
	return l->n_held;
}

static void say_hello(struct world *w, struct rng *r, struct hostile_link *l)
{
	static const char *const locks[] = {"machine-0", "nowhere"};
	struct link_held held[HOSTILE_HELD];
	struct sim_worker *k = &w->workers[l->victim < 0 ? 0 : l->victim];
	struct worker_facts facts;
	struct event ev = {.kind = EV_HELLO};

	sim_worker_facts(k, &facts);
	if (l->victim < 0)
		facts.shard = STR("hostile");
	if (l->victim < 0 || sim_chance(r, 300))
		facts.instance = rng_next(r) | 1;
	if (sim_chance(r, 300))
		facts.lock = str_of(locks[rng_below(r, 2)]);
	facts.key = STR(KEY);
	facts.maxthreads = 0;
	facts.start = some_number(r, k->started_ms, &l->is_absurd);
	ev.hello.dial = (uint64_t)some_number(r, 1000, &l->is_absurd);
	ev.hello.set = some_set(r);
	ev.hello.n_tasks = some_tasks(w, r, l, held);
	ev.hello.facts = facts;
	ev.hello.tasks = held;
	sim_raw_send(w, l->number, &ev);
}

static void say_ended(struct world *w, struct rng *r, uint64_t link, const struct truth_task *t)
{
	struct event ev = {.kind = EV_ENDED};

	ev.ended.task = t->id;
	ev.ended.token = token_of(t);
	ev.ended.status = sim_chance(r, 700) ? TASK_SUCCEEDED : TASK_FAILED;
	ev.ended.started_ms = sim_chance(r, 700);
	ev.ended.ended_ms = sim_chance(r, 500) ? INT64_MAX : 1;
	ev.ended.reason = STR("forged");
	ev.ended.output_where = OUTPUT_INLINE;
	ev.ended.output[STDOUT] = STR("forged");
	sim_raw_send(w, link, &ev);
}

static void say_something(struct world *w, struct rng *r, uint64_t link, const struct truth_task *t)
{
	struct link_held about = {t->id, token_of(t), false, 0, false};
	struct event ev = {0};

	switch (rng_below(r, 6)) {
	case 0:
		ev.kind = EV_STARTED;
		ev.started.task = t->id;
		ev.started.token = token_of(t);
		ev.started.started_ms = 1;
		break;
	case 1:
		ev.kind = EV_NOTIFIED;
		ev.notified.seq = sim_chance(r, 500) ? UINT64_MAX : 1;
		ev.notified.absent = &about;
		ev.notified.n_absent = 1;
		break;
	case 2:
		ev.kind = EV_OUTPUT;
		ev.output = (struct output_row){t->id, token_of(t), STDOUT, 0, 6, 0, STR("forged")};
		break;
	case 3:
		ev.kind = EV_CHECKED;
		ev.checked.number = sim_chance(r, 500) ? UINT64_MAX : 1;
		ev.checked.ok = true;
		break;
	case 4:
		ev.kind = EV_BEAT;
		ev.beat.number = sim_chance(r, 500) ? UINT64_MAX : 1;
		ev.beat.own = WORKER_HEALTHY;
		ev.beat.leaving = sim_chance(r, 500);
		break;
	default: say_ended(w, r, link, t); return;
	}
	sim_raw_send(w, link, &ev);
}

static void begin(struct world *w)
{
	if (!w->hostile)
		w->hostile = xcalloc(1, sizeof *w->hostile);
}

bool sim_hostile_lies_of(struct world *w, struct rng *r, struct link_held *ret_lie)
{
	const struct truth_task *t = some_task(w, r);

	if (!t || !t->running)
		return false;
	*ret_lie = (struct link_held){
	    t->id, t->started_token, sim_chance(r, 300), sim_chance(r, 500), false};
	return true;
}

void sim_hostile_claims(struct world *w, uint64_t instance, const struct link_held *lie)
{
	struct sim_hostile *h;

	begin(w);
	h = w->hostile;
	h->claims[h->n_claims % HOSTILE_CLAIMS].task = lie->task;
	h->claims[h->n_claims % HOSTILE_CLAIMS].token = lie->token;
	h->claims[h->n_claims++ % HOSTILE_CLAIMS].instance = instance;
}

static struct hostile_link *dial(struct world *w)
{
	struct hostile_link *l;

	begin(w);
	if (!sim_core(w) || w->hostile->n_links == HOSTILE_LINKS)
		return NULL;
	l = &w->hostile->links[w->hostile->n_links++];
	*l = (struct hostile_link){.number = sim_raw_open(w)};
	return l;
}

uint64_t sim_hostile_lie(
    struct world *w, struct rng *r, uint64_t instance, const struct set_id *set)
{
	struct link_held held[HOSTILE_HELD];
	struct worker_facts facts;
	struct event ev = {.kind = EV_HELLO};
	struct hostile_link *l = dial(w);

	if (!l)
		return 0;
	world_tell(w, "FAULT: somebody new says that he is all there is");
	l->victim = -1;
	sim_worker_facts(&w->workers[0], &facts);
	facts.shard = STR("hostile");
	facts.instance = instance;
	facts.lock = STR("nowhere");
	facts.key = STR(KEY);
	facts.start = facts.started_ms = w->now_us / 1000 + 1;
	facts.maxthreads = 0;
	ev.hello.n_tasks = some_tasks(w, r, l, held);
	ev.hello.facts = facts;
	ev.hello.tasks = held;
	ev.hello.dial = 1;
	ev.hello.set = *set;
	sim_raw_send(w, l->number, &ev);
	return l->number;
}

void sim_hostile_end(struct world *w, struct rng *r, uint64_t link)
{
	const struct hostile_link *l = hostile_link(w, link);

	for (size_t i = 0; i < l->n_held; i++)
		if (sim_chance(r, 500))
			say_ended(w, r, link, truth_of(w, l->held[i]));
}

void sim_hostile_begin(struct world *w, struct fault *f, unsigned number)
{
	struct rng *r = &f->rng, other = f->rng;
	struct hostile_link *l;
	const struct truth_task *t;
	bool has_sets = w->o.is_volatile || w->o.changes_dispatch;

	if (MUTANT_OF_SETS) /* without that fence he would be noticed, not the bug */
		return;
	if (sim_chance(&other, 300) && sim_liar_begin(w, f, number))
		return;
	l = dial(w);
	if (!l)
		return;
	/* A new worker would be one of the set, and hold up the others: that is known. */
	l->victim = !has_sets && sim_chance(r, 300) ? -1 : f->slot;
	world_tell(w, "FAULT: somebody says that he is %s",
	    l->victim < 0 ? "new" : world_node_name(w, l->victim));
	say_hello(w, r, l);
	while (sim_chance(r, 850))
		if ((t = some_task(w, r)))
			say_something(w, r, l->number, t);
	if (sim_chance(r, 300))
		sim_raw_close(w, l->number);
}

void sim_hostile_heal(struct world *w)
{
	for (size_t i = 0; w->hostile && i < w->hostile->n_links; i++)
		sim_raw_close(w, w->hostile->links[i].number);
}

void sim_hostile_free(struct sim_hostile *h)
{
	free(h);
}
