/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random lives of worker sets: workers come, are lost, hear sets late or never and repeat old
 * ones; servers restart and see the workers come back in any order. Two things are compared:
 *  - every update with a naive model that keeps all sets of history and searches until nothing
 *    changes;
 *  - the promise itself: no group of live workers that agree on exactly themselves lacks somebody
 *    who runs, and the initial wait never ends without one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mutant.h"
#include "base/rng.h"
#include "core/workers/consensus.h"

#define SEEDS 2000
#define STEPS 300
#define WORKERS 64 /* of a life, never reused: bits of a set */
#define VERSIONS (STEPS * 4)

struct peer {
	struct member m;
	bool alive, linked, runs;
	struct set_id has, before; /* what it knows, and what it knew before that */
	uint64_t mask;             /* who is in `has` */
	struct set_id sent;        /* under way to it */
	uint64_t naive;            /* its indirect, found the naive way */
};

struct life {
	struct rng rng;
	struct consensus s;
	bool waits;
	struct peer w[WORKERS];
	int n;
	uint64_t sets[VERSIONS], mask; /* of this server; `mask`: the present one */
	int unsafe, differs, early;    /* broken promises, wrong sums; waits that ended early */
};

static int below(struct life *l, int n)
{
	return (int)rng_below(&l->rng, (uint64_t)n);
}

/* Bookkeeping of who is in which version; a version that nobody saw has no set. */
static void note_set(struct life *l)
{
	l->mask = 0;
	for (int i = 0; i < l->n; i++)
		if (l->w[i].m.is_in)
			l->mask |= 1ull << i;
	assert_true(l->s.id.version < VERSIONS);
	l->sets[l->s.id.version] = l->mask;
}

static void naive_update(struct life *l)
{
	for (bool more = true; more;) {
		more = false;
		for (int i = 0; i < l->n; i++) {
			struct peer *p = &l->w[i];

			if (!p->m.is_in)
				continue;
			if (p->naive < p->m.version) {
				p->naive = p->m.version;
				more = true;
			}
			for (int k = 0; k < l->n; k++) {
				bool in = l->sets[p->naive] >> k & 1;

				if (in && l->w[k].m.is_in && l->w[k].naive > p->naive) {
					p->naive = l->w[k].naive;
					more = true;
				}
			}
		}
	}
}

/* Would this worker be stuck without that one? Followed through the dead too: they never agree. */
static bool stuck_without(struct life *l, int from, int other)
{
	uint64_t seen = 1ull << from, todo = seen;

	while (todo != 0) {
		int i = __builtin_ctzll(todo);
		uint64_t more;

		todo &= todo - 1;
		if (i == other || !l->w[i].m.is_in)
			return true;
		more = l->sets[l->w[i].m.version] & ~seen;
		seen |= more;
		todo |= more;
	}
	return false;
}

/* Of the present server's knowledge: everybody who may run is required by everybody with a set. */
static void check_graph(struct life *l)
{
	for (int i = 0; i < l->n; i++) {
		if (!consensus_permits(&l->s, &l->w[i].m))
			continue;
		for (int k = 0; k < l->n; k++)
			if (l->w[k].m.is_in && l->w[k].m.version != 0 && !stuck_without(l, k, i))
				l->unsafe++;
	}
}

/* Of the world as it is, which nobody in it knows: what if the server restarted now? */
static void check_world(struct life *l)
{
	uint64_t alive = 0, run = 0;

	for (int i = 0; i < l->n; i++) {
		if (l->w[i].alive && consensus_permits(&l->s, &l->w[i].m))
			l->w[i].runs = true;
		alive |= (uint64_t)l->w[i].alive << i;
		run |= (uint64_t)(l->w[i].alive && l->w[i].runs) << i;
	}
	for (int i = 0; i < l->n; i++) {
		uint64_t set = l->w[i].mask;
		bool agree = (alive >> i & 1) && set != 0 && (set & ~alive) == 0;

		for (int k = 0; k < l->n && agree; k++)
			if (set >> k & 1)
				agree =
				    l->w[k].mask == set && l->w[k].has.server == l->w[i].has.server;
		if (agree && (run & ~set) != 0)
			l->unsafe++;
	}
}

static void update(struct life *l)
{
	uint64_t lowest = UINT64_MAX;

	naive_update(l);
	for (int i = 0; i < l->n; i++)
		if (l->w[i].m.is_in && l->w[i].naive < lowest)
			lowest = l->w[i].naive;
	consensus_update(&l->s);
	for (int i = 0; i < l->n; i++) {
		struct member *m = &l->w[i].m;

		if (m->is_in && m->indirect != l->w[i].naive)
			l->differs++;
		if (m->is_in && m->version != 0 && lowest >= m->joined && !m->permitted)
			l->differs++;
	}
	note_set(l);
	check_graph(l);
}

static void link_up(struct life *l, int i)
{
	struct peer *p = &l->w[i];

	consensus_join(&l->s, &p->m, 1 + (uint64_t)i * 7919, &p->has);
	p->linked = true;
	p->sent = (struct set_id){0};
	p->naive = 0;
	note_set(l);
}

static void die(struct life *l, int i)
{
	consensus_leave(&l->s, &l->w[i].m);
	l->w[i].alive = l->w[i].linked = false;
	note_set(l);
}

static void arrive(struct life *l, int i)
{
	struct peer *p = &l->w[i];

	if (p->sent.server != l->s.id.server)
		return;
	if (p->has.server == p->sent.server && p->has.version >= p->sent.version)
		return;
	p->before = p->has;
	p->has = p->sent;
	p->mask = l->sets[p->has.version];
}

static void restart(struct life *l)
{
	consensus_init(&l->s, l->s.id.server + 1, (uint32_t)below(l, 6));
	memset(l->sets, 0, sizeof l->sets);
	l->waits = true;
	for (int i = 0; i < l->n; i++) {
		memset(&l->w[i].m, 0, sizeof l->w[i].m);
		l->w[i].linked = false;
	}
	note_set(l);
}

static void end_wait(struct life *l)
{
	if (!consensus_initial(&l->s)) {
		if (below(l, 20) != 0)
			return;
		for (int i = 0; i < l->n; i++) /* time is up: whoever has not come is dead */
			if (l->w[i].alive && !l->w[i].linked)
				die(l, i);
	} else {
		l->early++;
	}
	for (int i = 0; i < l->n; i++)
		if (l->w[i].alive && l->w[i].runs && !l->w[i].linked)
			l->unsafe++;
	l->waits = false;
}

/* One worker hears, says or suffers something. */
static void step_worker(struct life *l, int i)
{
	struct peer *p = &l->w[i];

	if (!p->alive)
		return;
	if (!p->linked) {
		if (below(l, 3) == 0)
			link_up(l, i);
		return;
	}
	switch (below(l, 16)) {
	case 0:
		if (below(l, 3) == 0)
			die(l, i);
		return;
	case 1: consensus_repeated(&l->s, &p->m, &p->before); return;
	case 2:
	case 3:
	case 4:
	case 5: arrive(l, i); return;
	case 6:
	case 7:
	case 8:
	case 9: consensus_repeated(&l->s, &p->m, &p->has); return;
	default:
		if (l->waits || !p->m.is_in)
			return;
		consensus_told(&l->s, &p->m);
		p->sent = l->s.id;
	}
}

static void live(struct life *l, uint64_t seed)
{
	memset(l, 0, sizeof *l);
	l->rng.state = seed;
	consensus_init(&l->s, 1, (uint32_t)below(l, 6));
	for (int step = 0; step < STEPS; step++) {
		int what = below(l, 100);

		if (what < 6 && l->n < WORKERS && l->n < 4 + step / 5) {
			l->w[l->n].alive = true;
			link_up(l, l->n++);
		} else if (what < 8) {
			restart(l);
		} else if (what < 40) {
			update(l);
		} else if (l->n > 0) {
			for (int i = 0; i < l->n; i++)
				if (below(l, 3) == 0)
					step_worker(l, i);
		}
		if (l->waits)
			end_wait(l);
		check_world(l);
	}
}

static void test_random(void **state)
{
	static struct life l;
	int early = 0, runs = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		live(&l, seed);
		if (l.unsafe != 0 || l.differs != 0)
			fail_msg("seed %llu: %d times unsafe, %d times not as the naive model",
			    (unsigned long long)seed, l.unsafe, l.differs);
		early += l.early;
		for (int i = 0; i < l.n; i++)
			runs += l.w[i].runs;
	}
	print_message("%d workers ran, %d initial waits ended early\n", runs, early);
	assert_true(early > SEEDS / 10); /* safe, but not because nothing happens */
	assert_true(runs > SEEDS);
}

#ifdef REEVE_MUTANTS
static void test_mutants(void **state)
{
	static const enum mutant list[] = {MUTANT_CONSENSUS_BATCHES_RETURNING,
	    MUTANT_CONSENSUS_TOLD_IS_KNOWN, MUTANT_CONSENSUS_FOREIGN_COUNTS,
	    MUTANT_CONSENSUS_FOLLOWS_STRANGERS, MUTANT_CONSENSUS_IGNORES_OTHERS,
	    MUTANT_CONSENSUS_PERMITS_BATCHED, MUTANT_CONSENSUS_INITIAL_SUBSET,
	    MUTANT_CONSENSUS_EMPTY_AGREES};
	static struct life l;

	(void)state;
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		uint64_t seed = 0;

		mutant_now = list[i];
		do
			live(&l, ++seed);
		while (l.unsafe == 0 && seed < SEEDS);
		mutant_now = MUTANT_NONE;
		print_message("%s: seed %llu\n", mutant_names[list[i]], (unsigned long long)seed);
		assert_true(l.unsafe > 0);
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_random),
#ifdef REEVE_MUTANTS
	    cmocka_unit_test(test_mutants),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
