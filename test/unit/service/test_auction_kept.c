/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An auction that is kept from batch to batch, told of what changes, against one that is made anew
 * for each of them: they decide the same.
 */
#include "support.h"

#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "service/place/auction.h"

#define WORKERS 12
#define SERVICES 6
#define SHAPES 4
#define BATCH 10
#define ROUNDS 60

struct world {
	struct rng rng;
	struct place_worker workers[WORKERS];
	uint32_t has[WORKERS][SERVICES][SHAPES]; /* instances */
	uint32_t starting[WORKERS];
	uint32_t n_services; /* as the kept one knows */
	struct auction *kept;
	uint32_t shapes[SHAPES];
};

static const struct place_want wants[SHAPES] = {
    {STR_NULL, STR_NULL, STR_NULL, STR_NULL},
    {STR_NULL, {"ssd=1\n", 6}, STR_NULL, STR_NULL},
    {STR_NULL, STR_NULL, STR_NULL, {"old=1\n", 6}},
    {{"x86", 3}, {"ssd=1\n", 6}, STR_NULL, {"old=1\n", 6}},
};
static const int64_t amounts[SHAPES][N_PLACE_RESOURCES] = {
    {100, 0, 0, 1}, {200, 50, 0, 1}, {400, 10, 500, 1}, {50, 0, 0, 1}};

static struct str pick(struct world *x, const char *const *texts, size_t n)
{
	return str_of(texts[rng_below(&x->rng, n)]);
}

static void draw_facts(struct world *x, struct place_worker *w)
{
	static const char *const labels[] = {"", "ssd=1\n", "old=1\n", "old=1\nssd=1\n"};
	static const char *const targets[] = {"x86", "arm"};

	w->labels = pick(x, labels, 4);
	w->target = pick(x, targets, 2);
	w->state =
	    (enum place_worker_state)(rng_below(&x->rng, 5) ? PLACE_READY : rng_below(&x->rng, 3));
	for (int r = 0; r < N_PLACE_RESOURCES; r++)
		w->total[r] = 1000 + 500 * (int64_t)rng_below(&x->rng, 3);
	w->total[PLACE_INSTANCES] = 20;
}

static void begin(struct world *x, uint64_t seed)
{
	static const char *const names[WORKERS] = {
	    "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
	static const char *const zones[] = {"east", "west", "north"};

	memset(x, 0, sizeof *x);
	x->rng.state = seed;
	for (int i = 0; i < WORKERS; i++) {
		x->workers[i].name = str_of(names[i]);
		x->workers[i].zone = str_of(zones[i % 3]);
		draw_facts(x, &x->workers[i]);
		for (int r = 0; r < N_PLACE_RESOURCES; r++)
			x->workers[i].used[r] = -1;
	}
	x->n_services = 1 + (uint32_t)rng_below(&x->rng, SERVICES);
	x->kept = auction_new(&place_config_default, x->workers, WORKERS, NULL, x->n_services);
	for (int k = 0; k < SHAPES; k++)
		x->shapes[k] = auction_shape(x->kept, amounts[k], &wants[k]);
}

/* As the books would say it. */
static struct place_worker book_of(const struct world *x, int i)
{
	struct place_worker w = x->workers[i];

	w.starting = x->starting[i];
	for (int s = 0; s < SERVICES; s++)
		for (int k = 0; k < SHAPES; k++)
			for (int r = 0; r < N_PLACE_RESOURCES; r++)
				w.reserved[r] += amounts[k][r] * x->has[i][s][k];
	return w;
}

static struct auction *fresh(const struct world *x, uint32_t shapes[SHAPES])
{
	struct auction *a = auction_new(&place_config_default, x->workers, WORKERS, NULL, SERVICES);

	for (int k = 0; k < SHAPES; k++)
		shapes[k] = auction_shape(a, amounts[k], &wants[k]);
	for (uint32_t i = 0; i < WORKERS; i++) {
		uint32_t starting = x->starting[i];

		for (uint32_t s = 0; s < SERVICES; s++)
			for (int k = 0; k < SHAPES; k++) {
				uint32_t n = x->has[i][s][k];
				uint32_t of = starting < n ? starting : n;

				if (n)
					auction_hold(a, i, s, shapes[k], n, of);
				starting -= of;
			}
	}
	return a;
}

static void take(struct world *x, int i, int s, int k)
{
	x->has[i][s][k]--;
	auction_count(x->kept, (uint32_t)i, (uint32_t)s, -1);
}

/* Some end, some are up, some workers are others; the kept one is told. */
static void pass_time(struct world *x)
{
	for (int i = 0; i < WORKERS; i++) {
		struct place_worker now;
		uint32_t n = 0;

		for (int s = 0; s < SERVICES; s++)
			for (int k = 0; k < SHAPES; k++) {
				while (x->has[i][s][k] && rng_below(&x->rng, 3) == 0)
					take(x, i, s, k);
				n += x->has[i][s][k];
			}
		x->starting[i] = n ? (uint32_t)rng_below(&x->rng, n + 1) : 0;
		if (rng_below(&x->rng, 6) == 0)
			draw_facts(x, &x->workers[i]);
		now = book_of(x, i);
		auction_update(x->kept, (uint32_t)i, &now);
	}
	if (rng_below(&x->rng, 5) == 0) { /* a need goes, and its number is another's */
		uint32_t k = (uint32_t)rng_below(&x->rng, SHAPES);

		auction_shape_gone(x->kept, x->shapes[k]);
		x->shapes[k] = auction_shape(x->kept, amounts[k], &wants[k]);
	}
	if (x->n_services < SERVICES && rng_below(&x->rng, 4) == 0)
		auction_grow(x->kept, ++x->n_services);
}

static void batch(struct world *x)
{
	struct place_work work[2][BATCH];
	struct place_result results[2][BATCH];
	uint32_t order[BATCH], shapes[SHAPES], k[BATCH];
	struct auction *a = fresh(x, shapes);

	for (int j = 0; j < BATCH; j++) {
		k[j] = (uint32_t)rng_below(&x->rng, SHAPES);
		work[0][j] = (struct place_work){(uint32_t)rng_below(&x->rng, x->n_services),
		    (uint32_t)rng_below(&x->rng, 4), x->shapes[k[j]]};
		work[1][j] = work[0][j];
		work[1][j].shape = shapes[k[j]];
	}
	auction_run(x->kept, work[0], BATCH, results[0], order);
	auction_run(a, work[1], BATCH, results[1], order);
	for (int j = 0; j < BATCH; j++) {
		uint32_t to = results[0][j].worker;

		assert_int_equal(to, results[1][j].worker);
		assert_int_equal(results[0][j].score, results[1][j].score);
		assert_int_equal(results[0][j].colocated, results[1][j].colocated);
		if (to != NO_WORKER)
			x->has[to][work[0][j].service][k[j]]++;
	}
	auction_free(a);
}

static void test_kept_and_fresh_decide_the_same(void **state)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct world x;

		begin(&x, seed);
		for (int round = 0; round < ROUNDS; round++) {
			pass_time(&x);
			batch(&x);
		}
		auction_free(x.kept);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_kept_and_fresh_decide_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
