/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convergence with random records: a second pass does nothing; what is wanted has a record; never
 * more than two of an index may run; nothing outside a fresh domain is stopped; a singleton is
 * never started while another may run.
 */
#include "support.h"

#include "base/mem.h"
#include "base/rng.h"
#include "service/converge/converge.h"

#define SERVICES 3
#define INDEXES 4
#define WORKERS 6
#define NOW 1000000

struct world {
	struct rng r;
	uint8_t workers[WORKERS];
	struct converge_service services[SERVICES];
	struct converge_env env;
	struct instances records;
	struct converge_actions actions;
};

static uint32_t below(struct world *w, uint32_t n)
{
	return (uint32_t)rng_below(&w->r, n);
}

static void add_record(struct world *w, uint32_t service, uint32_t index, enum presence presence)
{
	struct instance i = {.service = service, .index = index, .presence = presence};

	i.state =
	    (enum instance_state)(presence == PRESENCE_ORDINARY ? below(w, N_INSTANCE_STATES)
	                                                        : INSTANCE_CLAIMED + below(w, 2));
	i.worker = i.state == INSTANCE_CLAIMED || i.state == INSTANCE_RUNNING ? below(w, WORKERS)
	                                                                      : NO_WORKER;
	i.crash_count = i.state == INSTANCE_CRASHED ? 1 + below(w, 210) : below(w, 3);
	i.since_ms = NOW - (int64_t)below(w, 100000) + 500; /* sometimes yet to come */
	i.asked_ms = i.since_ms;
	i.crashed_at_ms = i.crash_count ? i.since_ms : 0;
	i.is_stopping = i.worker != NO_WORKER && below(w, 5) == 0;
	GROW(w->records.v, w->records.cap, w->records.n + 1);
	w->records.v[w->records.n++] = i;
}

static void make(struct world *w)
{
	for (int i = 0; i < WORKERS; i++)
		w->workers[i] = (uint8_t)below(w, N_SEEN_WORKERS);
	w->env = (struct converge_env){NOW, 30000, w->workers};
	for (uint32_t s = 0; s < SERVICES; s++) {
		w->services[s] = (struct converge_service){
		    s, below(w, INDEXES + 1), below(w, 3) == 0, below(w, 2), &crash_policy_default};
		for (uint32_t i = 0; i < INDEXES; i++)
			for (int p = 0; p < N_PRESENCES; p++)
				if (below(w, p == PRESENCE_ORDINARY ? 4 : 2) > 0)
					add_record(w, s, i, (enum presence)p);
	}
}

static void pass(struct world *w)
{
	size_t at = 0;

	w->actions.n = 0;
	for (uint32_t s = 0; s < SERVICES; s++) {
		size_t from = at;

		while (at < w->records.n && w->records.v[at].service == s)
			at++;
		converge_service(
		    &w->env, &w->services[s], w->records.v + from, at - from, &w->actions);
	}
}

static const struct instance *record(
    const struct instances *r, uint32_t service, uint32_t index, enum presence presence)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].service == service && r->v[i].index == index &&
		    r->v[i].presence == presence)
			return &r->v[i];
	return NULL;
}

/* The instance is on a worker that is not certainly lost. */
static bool may_run(const struct world *w, const struct instance *i)
{
	return i && i->worker != NO_WORKER && w->workers[i->worker] != SEEN_LOST;
}

static bool is_start(enum converge_action_kind kind)
{
	return kind == ACT_CREATE || kind == ACT_START || kind == ACT_RESTART ||
	       kind == ACT_UNCLAIM;
}

/* Against the records as they were before. */
static void check_action(const struct world *w, const struct instances *before,
    const struct converge_action *a, long seed)
{
	const struct converge_service *s = &w->services[a->service];
	bool is_wanted = a->index < s->wanted, others = false;

	for (int p = 0; p < N_PRESENCES; p++)
		others |= may_run(w, record(before, a->service, a->index, (enum presence)p));
	if (s->is_singleton && is_start(a->kind) && others)
		fail_msg("seed %ld: a singleton is started while another may run", seed);
	if (is_start(a->kind) && !is_wanted)
		fail_msg("seed %ld: what nobody wants is started", seed);
	if (a->kind == ACT_STOP && a->presence == PRESENCE_ORDINARY &&
	    (is_wanted || !s->domain_is_fresh))
		fail_msg("seed %ld: %u/%u is stopped", seed, a->service, a->index);
	if (a->kind == ACT_DELETE && a->worker != NO_WORKER && w->workers[a->worker] != SEEN_LOST)
		fail_msg("seed %ld: a record of what may run is deleted", seed);
	if (a->kind == ACT_DELETE && a->worker == NO_WORKER && (is_wanted || !s->domain_is_fresh))
		fail_msg("seed %ld: a record that is wanted is deleted", seed);
}

static void check_after(const struct world *w, long seed)
{
	for (uint32_t s = 0; s < SERVICES; s++)
		for (uint32_t i = 0; i < INDEXES; i++) {
			const struct instance *o = record(&w->records, s, i, PRESENCE_ORDINARY);
			const struct instance *e = record(&w->records, s, i, PRESENCE_EVACUATING);
			const struct instance *x = record(&w->records, s, i, PRESENCE_SUSPECT);

			if (i < w->services[s].wanted && !o &&
			    !(w->services[s].is_singleton && (e || x)))
				fail_msg("seed %ld: %u/%u has no record", seed, s, i);
			if ((e && !may_run(w, e)) || (x && !may_run(w, x)))
				fail_msg(
				    "seed %ld: %u/%u has a record of what is over", seed, s, i);
		}
	for (size_t i = 1; i < w->records.n; i++)
		if (instance_by_key(&w->records.v[i - 1], &w->records.v[i]) >= 0)
			fail_msg("seed %ld: two records of one key", seed);
}

static void run(struct world *w, long seed)
{
	struct instances before = {0};

	make(w);
	GROW(before.v, before.cap, w->records.n + 1);
	if (w->records.n)
		memcpy(before.v, w->records.v, w->records.n * sizeof *before.v);
	before.n = w->records.n;
	pass(w);
	for (size_t i = 0; i < w->actions.n; i++)
		check_action(w, &before, &w->actions.v[i], seed);
	converge_apply(&w->records, &w->actions, NOW);
	check_after(w, seed);
	pass(w);
	if (w->actions.n)
		fail_msg("seed %ld: a second pass does %s of %u/%u", seed,
		    converge_action_names[w->actions.v[0].kind], w->actions.v[0].service,
		    w->actions.v[0].index);
	free(before.v);
}

static void test_a_fixed_point(void **state)
{
	long n = cases_wanted(30000);

	for (long seed = 1; seed <= n; seed++) {
		struct world w = {.r = {(uint64_t)seed}};

		run(&w, seed);
		free(w.records.v);
		converge_actions_release(&w.actions);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_fixed_point)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
