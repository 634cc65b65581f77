/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deploys on random clusters: workers fall silent, are lost, come back and are drained; instances
 * crash and start slowly; people scale, deploy, go back and promote in the middle. At each step the
 * decisions are compared with slow, obvious sums over the records, and when the trouble is over,
 * each deploy ends.
 */
#include "support.h"

#include "base/mem.h"
#include "base/rng.h"
#include "service/deploy/deploy.h"

#define WORKERS 5
#define REVISIONS 6 /* the odd ones are never ready */
#define SECOND 1000
#define DEADLINE_S 60

struct world {
	struct rng r;
	long seed;
	bool quiet; /* the trouble is over */
	uint8_t workers[WORKERS];
	struct converge_env env;
	struct deploy_strategy strategy;
	struct deploy_service s;
	struct deploy d;
	struct instances records;
	struct deploy_pass pass;
	int64_t last_revision;
};

static const struct crash_policy policy = {
    .at_once = 2, .wait_ms = 1000, .factor = FACTOR_ONE, .wait_max_ms = 5000};

static void show(const struct world *w)
{
	for (size_t i = 0; i < w->records.n; i++) {
		const struct instance *v = &w->records.v[i];

		print_error("  %u %s %s of %d%s%s%s\n", v->index, presence_names[v->presence],
		    instance_state_names[v->state], (int)v->revision, v->is_ready ? ", ready" : "",
		    v->is_stopping ? ", stopping" : "", v->is_surge ? ", surge" : "");
	}
}

#define WRONG(w, ...)                                                       \
	do {                                                                \
		show(w);                                                    \
		print_error("seed %ld, %lld s, wanted %u, %s: ", (w)->seed, \
		    (long long)(w)->env.now_ms / SECOND, (w)->s.wanted,     \
		    deploy_state_names[(w)->d.state]);                      \
		fail_msg(__VA_ARGS__);                                      \
	} while (0)

static bool chance(struct world *w, uint32_t of)
{
	return rng_below(&w->r, of) == 0;
}

static uint32_t below(struct world *w, uint32_t n)
{
	return (uint32_t)rng_below(&w->r, n);
}

static bool may_run(const struct world *w, const struct instance *i)
{
	return i->worker != NO_WORKER && w->workers[i->worker] != SEEN_LOST;
}

static struct instance *record(const struct instances *r, uint32_t index, enum presence presence)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].index == index && r->v[i].presence == presence)
			return &r->v[i];
	return NULL;
}

/* --- the sums, from their definitions --- */

static uint32_t surge_max(const struct world *w)
{
	return w->s.is_singleton ? 0 : w->strategy.max_surge;
}

static uint32_t floor_of(const struct world *w)
{
	uint32_t less = w->strategy.max_unavailable;

	if (surge_max(w) == 0 && less == 0)
		less = 1;
	return w->s.wanted > less ? w->s.wanted - less : 0;
}

static bool serves(const struct world *w, const struct instance *i)
{
	return i && i->state == INSTANCE_RUNNING && i->is_ready && !i->is_stopping &&
	       (i->revision != w->d.target || i->presence == PRESENCE_EVACUATING ||
	           w->env.now_ms - i->ready_ms >= w->strategy.min_healthy_ms);
}

static uint32_t count_serving(const struct world *w, const struct instances *r)
{
	uint32_t n = 0;

	for (uint32_t index = 0; index < w->s.wanted; index++)
		n += serves(w, record(r, index, PRESENCE_ORDINARY)) ||
		     serves(w, record(r, index, PRESENCE_EVACUATING));
	for (size_t i = 0; i < r->n; i++)
		n += r->v[i].index >= w->s.wanted && r->v[i].is_surge &&
		     r->v[i].presence == PRESENCE_ORDINARY && serves(w, &r->v[i]);
	return n;
}

/* The instances that would be left if no new one ever became healthy from now on. */
static uint32_t count_kept(const struct world *w, const struct instances *r)
{
	uint32_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct instance *v = &r->v[i];

		if (v->presence != PRESENCE_ORDINARY || v->is_stopping)
			continue;
		if (v->index < w->s.wanted && v->revision != w->d.target)
			n++;
		else if (v->index < w->s.wanted || v->is_surge)
			n += serves(w, v);
	}
	return n;
}

/* Without those that nobody wants and nobody has stopped yet: that is convergence's. */
static uint32_t count_starts(const struct world *w, const struct instances *r)
{
	uint32_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->v[i].presence == PRESENCE_ORDINARY &&
		     (r->v[i].index < w->s.wanted || r->v[i].is_surge || r->v[i].is_stopping);
	return n;
}

static bool is_old(const struct world *w, const struct instance *i)
{
	return i->presence == PRESENCE_ORDINARY && !i->is_stopping && i->index < w->s.wanted &&
	       i->revision != w->d.target;
}

static uint32_t count_coming(const struct world *w, const struct instances *r)
{
	uint32_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->v[i].presence == PRESENCE_ORDINARY && r->v[i].index < w->s.wanted &&
		     (r->v[i].is_stopping || r->v[i].revision == w->d.target);
	return n;
}

static void copy(struct instances *to, const struct instances *from)
{
	GROW(to->v, to->cap, from->n + 1);
	to->n = from->n;
	if (from->n)
		memcpy(to->v, from->v, from->n * sizeof *from->v);
}

/* --- what a pass may do --- */

/* Each stop by itself, against the records as they are with those before it. */
static void check_stop(
    const struct world *w, const struct instances *before, const struct deploy_action *a)
{
	const struct instance *i = record(before, a->index, a->presence);
	bool was_serving;

	if (!i)
		WRONG(w, "%u is stopped, and not there", a->index);
	if (i->is_stopping || w->strategy.kind == DEPLOY_BY_RECREATE)
		return;
	was_serving = serves(w, i);
	if (a->index >= w->s.wanted && !i->is_surge)
		WRONG(w, "%u is stopped, which is not the deploy's", a->index);
	if (w->d.state == DEPLOY_STEADY)
		return;
	if (was_serving && count_serving(w, before) <= floor_of(w))
		WRONG(w, "%u is stopped, and too few serve", a->index);
	if (is_old(w, i) && count_kept(w, before) <= floor_of(w))
		WRONG(w, "%u is replaced, and too few are kept", a->index);
	if (is_old(w, i) && count_coming(w, before) >= w->pass.goal)
		WRONG(w, "%u is replaced, and enough are of the target", a->index);
	if (!is_old(w, i) && !i->is_surge)
		WRONG(w, "%u is stopped for nothing", a->index);
}

static void check_create(
    const struct world *w, const struct instances *before, const struct deploy_action *a)
{
	const struct instance *e = record(before, a->index, PRESENCE_EVACUATING);
	const struct instance *x = record(before, a->index, PRESENCE_SUSPECT);

	if (record(before, a->index, PRESENCE_ORDINARY))
		WRONG(w, "%u is made twice", a->index);
	if (a->is_surge != (a->index >= w->s.wanted))
		WRONG(w, "%u is surge, and wanted", a->index);
	if (a->is_surge && a->revision != w->d.target)
		WRONG(w, "%u is surge of revision %d", a->index, (int)a->revision);
	if (w->s.is_singleton && ((e && may_run(w, e)) || (x && may_run(w, x))))
		WRONG(w, "%u is a singleton, and made while another may run", a->index);
	if (w->strategy.kind == DEPLOY_BY_RECREATE && a->revision != w->d.target)
		WRONG(w, "%u is made at revision %d", a->index, (int)a->revision);
}

/* Nothing that could be replaced stands still. */
static void check_no_rest(const struct world *w)
{
	bool goes_on = w->d.state == DEPLOY_ROLLING || w->d.state == DEPLOY_ROLLING_BACK ||
	               w->d.state == DEPLOY_CANARY;

	if (!goes_on || w->strategy.kind == DEPLOY_BY_RECREATE)
		return;
	for (size_t i = 0; i < w->records.n; i++) {
		const struct instance *v = &w->records.v[i];

		if (!is_old(w, v) || count_coming(w, &w->records) >= w->pass.goal ||
		    count_kept(w, &w->records) <= floor_of(w))
			continue;
		if (!serves(w, v) || count_serving(w, &w->records) > floor_of(w))
			WRONG(w, "%u could be replaced, and is not", v->index);
	}
}

static void check_pass(const struct world *w, const struct instances *before)
{
	struct instances now = {0};
	uint32_t bound = w->s.wanted + surge_max(w);

	copy(&now, before);
	for (size_t k = 0; k < w->pass.n; k++) {
		struct deploy_pass one = {.v = &w->pass.v[k], .n = 1};

		if (one.v->kind == DEPLOY_CREATE)
			check_create(w, &now, one.v);
		else
			check_stop(w, &now, one.v);
		deploy_apply(&now, 0, &one, w->env.now_ms);
	}
	if (count_starts(w, &now) > bound && count_starts(w, &now) > count_starts(w, before))
		for (uint32_t i = 0; i < w->pass.n; i++)
			if (w->pass.v[i].kind == DEPLOY_CREATE && w->pass.v[i].is_surge)
				WRONG(w, "surge, and %u starts", count_starts(w, &now));
	free(now.v);
}

/* What is true after each step, whatever the deploy said. */
static void check_truth(const struct world *w)
{
	int64_t revision = 0;

	for (uint32_t i = 0; i < w->records.n; i++) {
		const struct instance *v = &w->records.v[i];

		if (!may_run(w, v))
			continue;
		if (w->strategy.kind == DEPLOY_BY_RECREATE && revision && revision != v->revision)
			WRONG(w, "two revisions run");
		revision = v->revision;
		for (uint32_t k = 0; k < i && w->s.is_singleton; k++)
			if (w->records.v[k].index == v->index && may_run(w, &w->records.v[k]))
				WRONG(w, "%u is a singleton, and may run twice", v->index);
	}
}

/* --- the world goes on --- */

static void run_deploy(struct world *w)
{
	struct instances before = {0};
	enum deploy_state state = w->d.state;

	deploy_pass(&w->env, &w->s, &w->d, w->records.v, w->records.n, &w->pass);
	if (w->d.state == DEPLOY_STEADY && state != w->d.state && w->s.wanted && w->d.target % 2)
		WRONG(w, "steady on what is never ready");
	copy(&before, &w->records);
	check_pass(w, &before);
	deploy_apply(&w->records, 0, &w->pass, w->env.now_ms);
	state = w->d.state;
	deploy_pass(&w->env, &w->s, &w->d, w->records.v, w->records.n, &w->pass);
	if (w->pass.n || w->d.state != state)
		WRONG(w, "a second pass does %zu things more, and was %s", w->pass.n,
		    deploy_state_names[state]);
	check_no_rest(w);
	free(before.v);
}

static void run_converge(struct world *w)
{
	struct converge_service s = {0, w->s.wanted, w->s.is_singleton, true, &policy};
	struct converge_actions actions = {0};

	converge_service(&w->env, &s, w->records.v, w->records.n, &actions);
	converge_apply(&w->records, &actions, w->env.now_ms);
	for (size_t i = 0; i < w->records.n; i++)
		if (!w->records.v[i].revision)
			WRONG(w, "convergence makes %u", w->records.v[i].index);
	converge_actions_release(&actions);
}

static void happen_to_worker(struct world *w, uint32_t n)
{
	if (w->quiet)
		w->workers[n] = w->workers[n] == SEEN_SILENT ? SEEN_LOST : SEEN_PRESENT;
	else if (w->workers[n] == SEEN_PRESENT && chance(w, 40))
		w->workers[n] = SEEN_SILENT;
	else if (w->workers[n] == SEEN_SILENT && chance(w, 10))
		w->workers[n] = chance(w, 2) ? SEEN_LOST : SEEN_PRESENT;
	else if (w->workers[n] == SEEN_LOST && chance(w, 5))
		w->workers[n] = SEEN_PRESENT;
}

static bool another_may_run(const struct world *w, const struct instance *i)
{
	for (size_t k = 0; k < w->records.n; k++)
		if (&w->records.v[k] != i && w->records.v[k].index == i->index &&
		    may_run(w, &w->records.v[k]))
			return true;
	return false;
}

static void start(struct world *w, struct instance *i)
{
	uint32_t worker = below(w, WORKERS);

	if (w->pass.holds_starts || w->workers[worker] != SEEN_PRESENT ||
	    (w->s.is_singleton && another_may_run(w, i)))
		return;
	instance_move(i, INSTANCE_CLAIMED, w->env.now_ms);
	i->worker = worker;
}

static void live(struct world *w, struct instance *i)
{
	bool is_bad = i->revision % 2;

	if (i->state == INSTANCE_CLAIMED && chance(w, 2))
		instance_move(i, INSTANCE_RUNNING, w->env.now_ms);
	else if (i->state == INSTANCE_RUNNING && !is_bad && !i->is_ready && chance(w, 2)) {
		i->is_ready = true;
		i->ready_ms = w->env.now_ms;
	} else if (i->is_ready && !w->quiet && chance(w, 60)) {
		i->is_ready = false;
		i->ready_ms = 0;
	}
	if ((w->quiet ? is_bad && chance(w, 5) : chance(w, is_bad ? 5 : 80)) &&
	    i->presence == PRESENCE_ORDINARY)
		instance_crash(i, &policy, w->env.now_ms);
}

/* True: its record goes. */
static bool happen_to_instance(struct world *w, struct instance *i)
{
	struct instance *o;

	if (i->state == INSTANCE_UNCLAIMED && chance(w, 2))
		start(w, i);
	if (i->worker == NO_WORKER || w->workers[i->worker] != SEEN_PRESENT)
		return false;
	if (i->is_stopping)
		return chance(w, 3);
	live(w, i);
	if (i->presence != PRESENCE_EVACUATING)
		return false;
	o = record(&w->records, i->index, PRESENCE_ORDINARY);
	return !o || o->state == INSTANCE_RUNNING || o->state == INSTANCE_CRASHED;
}

/* A worker is drained: what runs there gets a replacement. A singleton would stop first. */
static void drain(struct world *w, uint32_t worker)
{
	size_t n = w->records.n;

	for (size_t k = 0; k < n; k++) {
		struct instance *i = &w->records.v[k], new;

		if (i->worker != worker || i->state != INSTANCE_RUNNING || i->is_stopping ||
		    i->presence != PRESENCE_ORDINARY ||
		    record(&w->records, i->index, PRESENCE_EVACUATING))
			continue;
		new = *i;
		instance_move(&new, INSTANCE_UNCLAIMED, w->env.now_ms);
		i->presence = PRESENCE_EVACUATING;
		GROW(w->records.v, w->records.cap, w->records.n + 1);
		w->records.v[w->records.n++] = new;
	}
	qsort(w->records.v, w->records.n, sizeof *w->records.v, instance_by_key);
}

static void people(struct world *w)
{
	switch (below(w, 60)) {
	case 0: w->s.wanted = below(w, w->s.is_singleton ? 2 : 7); break;
	case 1:
	case 2:
		w->last_revision = 2 + below(w, REVISIONS);
		deploy_begin(&w->d, w->last_revision, &w->strategy, w->env.now_ms);
		break;
	case 3:
		if (w->d.stable && w->d.stable != w->d.target)
			deploy_rollback(&w->d, w->d.stable, w->env.now_ms);
		break;
	case 4: deploy_promote(&w->d, w->env.now_ms); break;
	default: break;
	}
}

static void step(struct world *w)
{
	size_t kept = 0;

	w->env.now_ms += SECOND;
	for (uint32_t n = 0; n < WORKERS; n++)
		happen_to_worker(w, n);
	for (size_t i = 0; i < w->records.n; i++)
		if (!happen_to_instance(w, &w->records.v[i]))
			w->records.v[kept++] = w->records.v[i];
	w->records.n = kept;
	if (!w->quiet && chance(w, 30) && w->records.n && !w->s.is_singleton)
		drain(w, below(w, WORKERS));
	if (!w->quiet)
		people(w);
	run_deploy(w);
	run_converge(w);
	check_truth(w);
}

static void make(struct world *w)
{
	uint32_t all = (uint32_t)below(w, 7);

	w->env = (struct converge_env){1000 * SECOND, 30 * SECOND, w->workers};
	w->strategy = (struct deploy_strategy){.kind = (enum deploy_kind)below(w, N_DEPLOY_KINDS),
	    .max_surge = below(w, 3),
	    .max_unavailable = below(w, 3),
	    .canary = 1 + below(w, 3),
	    .min_healthy_ms = (int64_t)below(w, 4) * SECOND,
	    .deadline_ms = DEADLINE_S * SECOND,
	    .auto_rollback = chance(w, 2)};
	w->s = (struct deploy_service){
	    .wanted = all, .is_singleton = chance(w, 5), .strategy = &w->strategy};
	if (w->s.is_singleton)
		w->s.wanted = 1;
	deploy_begin(&w->d, w->last_revision = 2, &w->strategy, w->env.now_ms);
}

static bool has_ended(const struct world *w)
{
	return w->d.state == DEPLOY_STEADY || w->d.state == DEPLOY_STALLED ||
	       w->d.state == DEPLOY_WAITING;
}

static void settle(struct world *w, int steps)
{
	for (int i = 0; i < steps; i++)
		step(w);
}

/* All of them are of the target, and nothing else is there. */
static void check_steady(const struct world *w)
{
	if (w->records.n != w->s.wanted)
		WRONG(w, "%zu records at the end", w->records.n);
	for (size_t i = 0; i < w->records.n; i++)
		if (w->records.v[i].revision != w->d.target ||
		    (w->d.target % 2 == 0 && !serves(w, &w->records.v[i])))
			WRONG(w, "%u is not as it should be", w->records.v[i].index);
}

/* Each step forward takes the time until the deadline at most, forth and back. */
static void end(struct world *w)
{
	int steps = 2 * (3 * (int)w->s.wanted + 5) * DEADLINE_S;

	w->quiet = true;
	while (!has_ended(w) && steps-- > 0)
		step(w);
	if (!has_ended(w))
		WRONG(w, "it never ends");
	settle(w, 50);
	if (w->d.state == DEPLOY_STEADY)
		check_steady(w);
}

static void run(long seed)
{
	struct world w = {.r = {(uint64_t)seed}, .seed = seed};

	make(&w);
	settle(&w, 200);
	end(&w);
	/* Somebody says that it may go on: of what is good, all is well then. */
	if (w.d.state != DEPLOY_STEADY)
		deploy_promote(&w.d, w.env.now_ms);
	end(&w);
	if (w.d.target % 2 == 0 && w.d.state != DEPLOY_STEADY)
		WRONG(&w, "revision %d is good, and does not get there", (int)w.d.target);
	free(w.records.v);
	deploy_pass_release(&w.pass);
}

static void test_random(void **state)
{
	for (long seed = 1; seed <= cases_wanted(1000); seed++)
		run(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
