/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Worker set consensus: its rules one by one, the stories that explain why they are needed, and
 * what it costs with 10,000 workers. Its safety in random lives: test_consensus_random.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "core/workers/consensus.h"

#define MAX 128

struct peer {
	struct member m;
	struct set_id has; /* survives the server */
};

struct world {
	struct consensus s;
	uint64_t server;
	struct peer w[MAX]; /* w[1] is the first of a story */
};

static void start(struct world *w, uint32_t patience)
{
	memset(w, 0, sizeof *w);
	w->server = 100;
	consensus_init(&w->s, w->server, patience);
}

/* All that the server knew is gone; the workers keep their sets. */
static void restart(struct world *w)
{
	consensus_init(&w->s, ++w->server, w->s.patience);
	for (int i = 0; i < MAX; i++)
		memset(&w->w[i].m, 0, sizeof w->w[i].m);
}

static void connects(struct world *w, int i)
{
	struct peer *p = &w->w[i];

	consensus_join(&w->s, &p->m, 1000 + (uint64_t)i, &p->has);
}

static void hears(struct world *w, int i)
{
	consensus_told(&w->s, &w->w[i].m);
	if (w->w[i].m.is_in)
		w->w[i].has = w->s.id;
}

static void beats(struct world *w, int i)
{
	consensus_repeated(&w->s, &w->w[i].m, &w->w[i].has);
}

static void talks(struct world *w, int i)
{
	hears(w, i);
	beats(w, i);
}

static bool runs(struct world *w, int i)
{
	consensus_update(&w->s);
	return consensus_permits(&w->s, &w->w[i].m);
}

/* First to last join one after the other, then all learn of all. */
static void agreed_workers(struct world *w, int first, int last)
{
	for (int i = first; i <= last; i++)
		connects(w, i);
	for (int i = first; i <= last; i++)
		talks(w, i);
	consensus_update(&w->s);
	assert_true(w->s.agreed);
}

static void test_first_worker(void **state)
{
	static struct world w;

	(void)state;
	start(&w, 16);
	assert_false(consensus_update(&w.s));
	assert_false(consensus_initial(&w.s));
	connects(&w, 1);
	assert_true(w.s.dirty);
	assert_int_equal(w.s.id.version, 1);
	assert_int_equal(w.s.id.hash.count, 1);
	assert_false(runs(&w, 1)); /* it does not know itself yet */
	hears(&w, 1);
	assert_false(runs(&w, 1)); /* or it does, but the server can't know */
	beats(&w, 1);
	assert_false(consensus_permits(&w.s, &w.w[1].m)); /* only an update permits */
	assert_true(consensus_update(&w.s));
	assert_true(consensus_permits(&w.s, &w.w[1].m));
	assert_true(w.s.agreed);
	assert_false(w.s.dirty);
	assert_false(consensus_update(&w.s));
}

static void test_what_counts_as_repeated(void **state)
{
	static struct world w;
	struct member *m = &w.w[1].m;
	struct set_id said;

	(void)state;
	start(&w, 16);
	connects(&w, 5);
	connects(&w, 1); /* version 2 */
	said = w.s.id;
	consensus_repeated(&w.s, m, &said); /* was never told */
	assert_int_equal(m->version, 0);
	consensus_told(&w.s, m);
	said.server++; /* another server's */
	consensus_repeated(&w.s, m, &said);
	assert_int_equal(m->version, 0);
	said = w.s.id;
	said.version = 1; /* a set without itself */
	consensus_repeated(&w.s, m, &said);
	assert_int_equal(m->version, 0);
	said.version = 3; /* one that does not exist yet */
	consensus_repeated(&w.s, m, &said);
	assert_int_equal(m->version, 0);
	consensus_repeated(&w.s, m, &w.s.id);
	assert_int_equal(m->version, 2);
	said = w.s.id;
	connects(&w, 3);
	talks(&w, 1);
	assert_int_equal(m->version, 3);
	consensus_update(&w.s);
	consensus_repeated(&w.s, m, &said); /* a late duplicate */
	assert_int_equal(m->version, 3);
	assert_false(w.s.dirty);
	consensus_leave(&w.s, m);
	consensus_repeated(&w.s, m, &w.s.id);
	consensus_told(&w.s, m);
	assert_int_equal(m->told, 0);
	assert_int_equal(m->version, 0);
}

/* w1 is silent and knows only itself: w2 waits until w1 speaks or is lost. */
static void test_silent_worker_and_newcomer(void **state)
{
	static struct world w;

	(void)state;
	start(&w, 16);
	agreed_workers(&w, 1, 1);
	connects(&w, 2);
	talks(&w, 2);
	assert_false(runs(&w, 2));
	assert_int_equal(w.w[1].m.indirect, 1);
	assert_int_equal(w.w[2].m.indirect, 2);
	assert_int_equal(w.s.lowest, 1);
	assert_true(runs(&w, 1)); /* whoever ran goes on */
	hears(&w, 1);
	assert_false(runs(&w, 2)); /* w1 may not have heard it */
	beats(&w, 1);
	assert_true(runs(&w, 2));

	restart(&w); /* now w1 alone is no consensus any more */
	connects(&w, 1);
	assert_false(consensus_initial(&w.s));
	connects(&w, 2);
	assert_true(consensus_initial(&w.s));
}

/* The double start, step by step: it does not happen, because T never starts on w2. */
static void test_double_start(void **state)
{
	static struct world w;

	(void)state;
	start(&w, 16);          /* the server is empty */
	connects(&w, 1);        /* w1 connects */
	talks(&w, 1);           /* its set becomes "just itself" */
	consensus_update(&w.s); /* w1 stops beating, the server leaves the initial wait */
	connects(&w, 2);        /* w2 connects */
	for (int i = 0; i < 10; i++) {
		talks(&w, 2);
		assert_false(runs(&w, 2)); /* and may not run T: w1 has to learn of it first */
	}
	restart(&w);
	connects(&w, 1); /* w1 is back with {w1} */
	assert_true(consensus_initial(&w.s));
	consensus_update(&w.s);
	talks(&w, 1);
	assert_true(runs(&w, 1)); /* T starts, for the first time */
	connects(&w, 2);          /* w2 comes with {w1, w2} of the server before, running nothing */
	assert_int_equal(w.w[2].m.initial.hash.count, 2);
	talks(&w, 2);
	assert_false(runs(&w, 2));
	talks(&w, 1);
	assert_true(runs(&w, 2));
}

static void test_silent_worker_is_lost(void **state)
{
	static struct world w;

	(void)state;
	start(&w, 16);
	agreed_workers(&w, 1, 1);
	connects(&w, 2);
	talks(&w, 2);
	assert_false(runs(&w, 2));
	consensus_leave(&w.s, &w.w[1].m);
	assert_int_equal(w.s.id.version, 3);
	assert_int_equal(w.s.id.hash.count, 1);
	assert_true(
	    runs(&w, 2)); /* needs no further word of w2: its set has been newer all along */
	assert_true(w.s.agreed);
	consensus_leave(&w.s, &w.w[1].m); /* twice is once */
	assert_int_equal(w.s.id.version, 3);
}

/* With many workers, one that learns of a newcomer is enough: all others require that one. */
static void test_one_word_is_enough(void **state)
{
	static struct world w;

	(void)state;
	start(&w, 200);
	agreed_workers(&w, 1, 100);
	connects(&w, 101);
	talks(&w, 101);
	assert_false(runs(&w, 101));
	talks(&w, 50);
	assert_true(runs(&w, 101));
	for (int i = 1; i <= 100; i++)
		assert_int_equal(w.w[i].m.indirect, 101);
	assert_int_equal(w.w[7].m.version, 100);
}

/* Each knows only the next one: the longest chain, closed in a single update. */
static void test_longest_chain(void **state)
{
	static struct world w;

	(void)state;
	start(&w, 200);
	for (int i = 1; i <= 100; i++) {
		connects(&w, i);
		talks(&w, i);
		if (i > 1)
			talks(&w, i - 1);
	}
	consensus_update(&w.s);
	for (int i = 1; i <= 100; i++) {
		assert_int_equal(w.w[i].m.version, i < 100 ? i + 1 : 100);
		assert_int_equal(w.w[i].m.indirect, 100);
		assert_true(consensus_permits(&w.s, &w.w[i].m));
	}
}

/* A break in the chain stops it for all before the break. */
static void test_broken_chain(void **state)
{
	static struct world w;

	(void)state;
	start(&w, 200);
	for (int i = 1; i <= 20; i++) {
		connects(&w, i);
		talks(&w, i);
		if (i > 1 && i != 11)
			talks(&w, i - 1);
	}
	consensus_update(&w.s);
	assert_int_equal(w.s.lowest, 10);
	for (int i = 1; i <= 20; i++) {
		assert_int_equal(w.w[i].m.indirect, i <= 10 ? 10 : 20);
		assert_int_equal(consensus_permits(&w.s, &w.w[i].m), i <= 10);
	}
	talks(&w, 3);
	assert_true(runs(&w, 20));
}

/* A newcomer that never answers takes nothing from those who may run already. */
static void test_permission_stays(void **state)
{
	static struct world w;

	(void)state;
	start(&w, 16);
	agreed_workers(&w, 1, 3);
	connects(&w, 4);
	consensus_update(&w.s);
	assert_int_equal(w.s.lowest, 0);
	assert_false(w.s.agreed);
	assert_true(consensus_permits(&w.s, &w.w[2].m));
	consensus_leave(&w.s, &w.w[2].m);
	assert_false(consensus_permits(&w.s, &w.w[2].m));
}

/* A lost worker: until the others have heard of it they require a dead one, and agree on nothing.
 */
static void test_lost_worker_and_restart(void **state)
{
	static struct world w;

	(void)state;
	start(&w, 16);
	agreed_workers(&w, 1, 3);
	consensus_leave(&w.s, &w.w[3].m);
	consensus_update(&w.s);
	assert_true(w.s.agreed); /* leaving never takes the agreement away */
	hears(&w, 1);
	restart(&w);
	connects(&w, 1);
	connects(&w, 2); /* still says {w1, w2, w3} */
	assert_false(consensus_initial(&w.s));
	connects(&w, 3); /* the dead one would not help: w1 knows better */
	assert_false(consensus_initial(&w.s));

	start(&w, 16);
	agreed_workers(&w, 1, 3);
	consensus_leave(&w.s, &w.w[3].m);
	hears(&w, 1);
	hears(&w, 2);
	restart(&w);
	connects(&w, 2);
	assert_false(consensus_initial(&w.s));
	connects(&w, 1);
	assert_true(consensus_initial(&w.s));
}

/* What was learned through somebody stays when that one is lost: whoever required it is stuck. */
static void test_lost_after_passing_on(void **state)
{
	static struct world w;

	(void)state;
	start(&w, 16);
	agreed_workers(&w, 1, 3);
	connects(&w, 4);
	talks(&w, 2);
	consensus_update(&w.s);
	assert_int_equal(w.w[1].m.indirect, 4);
	consensus_leave(&w.s, &w.w[2].m);
	talks(&w, 4);
	assert_true(runs(&w, 4));
	restart(&w); /* w1 and w3 say {w1, w2, w3}: without w2 that is no consensus */
	connects(&w, 1);
	connects(&w, 3);
	assert_false(consensus_initial(&w.s));
}

/*
 * The unknown worker: several restarts in quick succession. Safe as long as a server that waits
 * tells no set; the second half shows what would happen otherwise.
 */
static void test_unknown_worker(void **state)
{
	static struct world w;

	(void)state;
	start(&w, 16);
	agreed_workers(&w, 1, 2); /* both run */
	restart(&w);
	connects(&w, 1); /* the server waits for w2 and says nothing */
	assert_false(consensus_initial(&w.s));
	restart(&w);
	connects(&w, 1);
	assert_false(consensus_initial(&w.s));
	connects(&w, 2);
	assert_true(consensus_initial(&w.s));

	restart(&w);
	connects(&w, 1);
	talks(&w, 1); /* told {w1} too early */
	restart(&w);
	connects(&w, 1);
	assert_true(consensus_initial(&w.s)); /* and w2 is forgotten */
}

static void test_initial_sets(void **state)
{
	static struct world w;

	(void)state;
	start(&w, 2);
	agreed_workers(&w, 1, 2);
	for (int i = 3; i <= 6; i++) {
		connects(&w, i);
		talks(&w, i);
		talks(&w, 1);
		consensus_update(&w.s);
	}
	for (int i = 1; i <= 6; i++)
		hears(&w, i);
	restart(&w);
	for (int i = 10; i <= 12; i++) /* they come with nothing: never ran, never in the way */
		connects(&w, i);
	assert_false(consensus_initial(&w.s));
	assert_true(w.w[12].m.batched); /* patience is 2 */
	for (int i = 1; i <= 6; i++) {
		assert_false(consensus_initial(&w.s));
		connects(&w, i);
		assert_true(w.w[i].m.is_in); /* it may have run: nobody is told a set without it */
	}
	assert_true(consensus_initial(&w.s));
	w.w[4].m.initial.server--; /* as if of the server before */
	assert_false(consensus_initial(&w.s));
	w.w[4].m.initial.server++;
	w.w[4].m.initial.version--; /* somebody came and left: the same set */
	assert_true(consensus_initial(&w.s));
	w.w[4].m.initial.hash.xor ++;
	assert_false(consensus_initial(&w.s));
	w.w[4].m.initial.hash.xor --;
	consensus_leave(&w.s, &w.w[6].m);
	assert_false(consensus_initial(&w.s));
	assert_int_equal(w.s.initials.count, 5);
}

static void test_batch(void **state)
{
	static struct world w;

	(void)state;
	start(&w, 3);
	for (int i = 1; i <= 8; i++)
		connects(&w, i);
	for (int i = 1; i <= 8; i++) {
		assert_int_equal(w.w[i].m.batched, i > 3);
		talks(&w, i);
	}
	assert_int_equal(w.s.id.version, 3);
	assert_int_equal(w.s.id.hash.count, 3);
	assert_int_equal(w.w[5].m.told, 0);
	consensus_leave(&w.s, &w.w[6].m); /* lost while it waits: the set is not touched */
	assert_int_equal(w.s.id.version, 3);
	assert_true(consensus_update(&w.s));
	for (int i = 1; i <= 8; i++)
		assert_int_equal(consensus_permits(&w.s, &w.w[i].m), i <= 3);
	assert_int_equal(w.s.id.version, 4); /* the others came in as one */
	assert_int_equal(w.s.id.hash.count, 7);
	assert_int_equal(w.s.newcomers, 0);
	assert_true(TAILQ_EMPTY(&w.s.batched));
	for (int i = 4; i <= 8; i++)
		if (i != 6)
			talks(&w, i);
	assert_false(runs(&w, 5));
	talks(&w, 2);
	assert_true(runs(&w, 5));
	assert_true(w.s.agreed);
}

/*
 * Turnover: 40 workers crash in a loop. Each connects, never answers, is lost after 630 s and at
 * once replaced; spread evenly, one every 15 s or so. Five good ones beat every 15 s. Returns when
 * all five may run (s), or -1.
 */
static int turnover(uint32_t patience, int limit_s)
{
	static struct world w;
	int next = 10;

	start(&w, patience);
	for (int t = 0; t < limit_s; t++) {
		bool all = true;

		if (t * 40 / 630 != (t - 1) * 40 / 630 || t == 0) {
			consensus_leave(&w.s, &w.w[next].m);
			connects(&w, next);
			next = next == 49 ? 10 : next + 1;
		}
		for (int i = 1; i <= 5; i++) {
			if (t == 1000 + i)
				connects(&w, i);
			else if (t > 1000 && (t + i) % 15 == 0)
				talks(&w, i);
		}
		consensus_update(&w.s);
		for (int i = 1; i <= 5; i++)
			all &= consensus_permits(&w.s, &w.w[i].m);
		if (all)
			return t;
	}
	return -1;
}

static void test_turnover(void **state)
{
	int with = turnover(16, 100000);

	(void)state;
	print_message("40 crash-looping workers: agreed after %d s\n", with);
	assert_in_range(with, 1000, 1000 + 3 * 630);
	assert_int_equal(turnover(UINT32_MAX, 100000), -1); /* it is the batching that does it */
}

/* All but one are lost, each just before it would have answered. */
static void test_lost_all_but_one(void **state)
{
	static struct world w;

	(void)state;
	start(&w, 200);
	for (int i = 1; i <= 30; i++)
		connects(&w, i);
	talks(&w, 17);
	for (int i = 1; i <= 30; i++) {
		if (i == 17)
			continue;
		assert_false(runs(&w, 17));
		consensus_leave(&w.s, &w.w[i].m);
	}
	assert_true(runs(&w, 17));
	assert_true(w.s.agreed);
	assert_int_equal(w.s.id.hash.count, 1);
	hears(&w, 17);
	restart(&w);
	connects(&w, 17);
	assert_true(consensus_initial(&w.s));
}

static void test_all_leave_batched_follow(void **state)
{
	static struct world w;

	(void)state;
	start(&w, 1);
	connects(&w, 1);
	connects(&w, 2);
	assert_true(w.w[2].m.batched);
	consensus_leave(&w.s, &w.w[1].m);
	assert_true(consensus_update(&w.s));
	assert_true(w.w[2].m.is_in);
	talks(&w, 2);
	assert_true(runs(&w, 2));
}

#define MANY 10000

static void test_ten_thousand(void **state)
{
	static struct peer w[MANY];
	struct consensus s;
	struct timespec from, to;

	(void)state;
	consensus_init(&s, 1, UINT32_MAX);
	for (int i = 0; i < MANY; i++) { /* chains of any length: each has heard of a few more */
		int other = (int)((unsigned)i * 2654435761u % (unsigned)(i + 1));

		consensus_join(&s, &w[i].m, (uint64_t)i + 1, NULL);
		consensus_told(&s, &w[i].m);
		consensus_repeated(&s, &w[i].m, &s.id);
		consensus_told(&s, &w[other].m);
		consensus_repeated(&s, &w[other].m, &s.id);
	}
	clock_gettime(CLOCK_MONOTONIC, &from);
	consensus_update(&s);
	clock_gettime(CLOCK_MONOTONIC, &to);
	print_message("an update of %d members: %ld us\n", MANY,
	    (to.tv_sec - from.tv_sec) * 1000000 + (to.tv_nsec - from.tv_nsec) / 1000);
	for (int i = 0; i < MANY; i++)
		consensus_told(&s, &w[i].m);
	for (int i = 0; i < MANY; i++)
		consensus_repeated(&s, &w[i].m, &s.id);
	consensus_update(&s);
	assert_true(s.agreed);
	for (int i = 0; i < MANY; i++)
		assert_true(consensus_permits(&s, &w[i].m));
}

/* A version that names others than it did when it was told proves nothing. */
static void test_hash_counts(void **state)
{
	struct world w;
	struct set_id other;

	start(&w, 16);
	connects(&w, 1);
	hears(&w, 1);
	other = w.w[1].has;
	set_hash_add(&other.hash, 77);
	consensus_repeated(&w.s, &w.w[1].m, &other);
	consensus_update(&w.s);
	assert_int_equal(w.w[1].m.version, 0);
	assert_false(consensus_permits(&w.s, &w.w[1].m));
	connects(&w, 2); /* another set is the present one: the told one still counts */
	beats(&w, 1);
	consensus_update(&w.s);
	assert_int_equal(w.w[1].m.version, 1);
	for (int i = 0; i < SETS_KEPT; i++) {
		connects(&w, 3);
		consensus_leave(&w.s, &w.w[3].m);
		hears(&w, 2);
	}
	w.w[1].m.told = w.s.id.version;
	other = (struct set_id){w.server, 2, w.w[1].has.hash};
	consensus_repeated(&w.s, &w.w[1].m, &other); /* too long ago to be known */
	assert_int_equal(w.w[1].m.version, 1);
	hears(&w, 1);
	beats(&w, 1);
	assert_int_equal(w.w[1].m.version, w.s.id.version);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_hash_counts),
	    cmocka_unit_test(test_first_worker),
	    cmocka_unit_test(test_what_counts_as_repeated),
	    cmocka_unit_test(test_silent_worker_and_newcomer),
	    cmocka_unit_test(test_double_start),
	    cmocka_unit_test(test_silent_worker_is_lost),
	    cmocka_unit_test(test_one_word_is_enough),
	    cmocka_unit_test(test_longest_chain),
	    cmocka_unit_test(test_broken_chain),
	    cmocka_unit_test(test_permission_stays),
	    cmocka_unit_test(test_lost_worker_and_restart),
	    cmocka_unit_test(test_lost_after_passing_on),
	    cmocka_unit_test(test_unknown_worker),
	    cmocka_unit_test(test_initial_sets),
	    cmocka_unit_test(test_batch),
	    cmocka_unit_test(test_turnover),
	    cmocka_unit_test(test_lost_all_but_one),
	    cmocka_unit_test(test_all_leave_batched_follow),
	    cmocka_unit_test(test_ten_thousand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
