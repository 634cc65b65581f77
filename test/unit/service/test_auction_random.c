/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The auction against a slow, obvious one: for each piece of work look at every worker, and take
 * the best. Random clusters: uneven workers, labels, zones, work that is there already, all
 * settings, several batches with work that leaves in between.
 */
#include "support.h"

#include "base/mem.h"
#include "base/rng.h"
#include "service/place/auction.h"

#define WORKERS 24
#define SERVICES 8
#define WORK 160
#define ZONES 5

struct slow_worker {
	int64_t total[N_PLACE_RESOURCES], reserved[N_PLACE_RESOURCES];
	uint32_t zone, rank, starting, tasks, of_service[SERVICES];
	unsigned labels; /* a bit each */
	bool is_ready;
};

struct slow {
	struct rng r;
	struct place_config config;
	struct slow_worker workers[WORKERS];
	uint32_t n_workers, n_zones, starting;
	struct slow_work {
		uint32_t service, index;
		int64_t amount[N_PLACE_RESOURCES];
		unsigned labels;
		uint32_t shape, worker;
		bool is_starting;
	} work[WORK];
	uint32_t n_work;
};

static const struct str zone_names[ZONES] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}};
static const struct str label_lines[4] = {{"", 0}, {"x=1\n", 4}, {"y=1\n", 4}, {"x=1\ny=1\n", 8}};
static const struct str services[SERVICES] = {
    {"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 1}, {"g", 1}, {"h", 1}};

static uint32_t below(struct slow *s, uint32_t n)
{
	return (uint32_t)rng_below(&s->r, n);
}

static int64_t part(int64_t x, int64_t total)
{
	if (x <= 0)
		return 0;
	if (total <= 0)
		return 1000 * SCORE_ONE;
	return x * SCORE_ONE / total < 1000 * SCORE_ONE ? x * SCORE_ONE / total : 1000 * SCORE_ONE;
}

static int64_t parts(const int64_t *x, const int64_t *total)
{
	return part(x[PLACE_MEMORY], total[PLACE_MEMORY]) + part(x[PLACE_DISK], total[PLACE_DISK]) +
	       part(x[PLACE_INSTANCES], total[PLACE_INSTANCES]);
}

static bool has_room(const struct slow_worker *w, const struct slow_work *x)
{
	if (!w->is_ready || (x->labels & ~w->labels))
		return false;
	for (int r = 0; r < N_PLACE_RESOURCES; r++)
		if (x->amount[r] > 0 && w->reserved[r] + x->amount[r] > w->total[r])
			return false;
	return true;
}

static int64_t score_of(
    const struct slow *s, const struct slow_worker *w, const struct slow_work *x)
{
	int64_t score = parts(w->reserved, w->total) + parts(x->amount, w->total) +
	                3 * s->config.starting_weight * w->starting;

	if (x->service != NO_SERVICE)
		score += 3 * s->config.bin_pack_weight * w->rank;
	return score;
}

static uint32_t zone_has(const struct slow *s, uint32_t zone, uint32_t service)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_workers; i++)
		if (s->workers[i].zone == zone)
			n += s->workers[i].of_service[service];
	return n;
}

/* Smaller is better: away from home, how many in the zone, beside it, score. */
struct grade {
	int64_t v[4];
};

static struct grade grade_of(const struct slow *s, uint32_t i, const struct slow_work *x, int home)
{
	const struct slow_worker *w = &s->workers[i];
	bool is_task = x->service == NO_SERVICE;

	return (struct grade){{
	    !is_task && s->config.zones_are_hashed && (int)w->zone != home,
	    is_task ? 0 : zone_has(s, w->zone, x->service),
	    is_task ? w->tasks : w->of_service[x->service],
	    score_of(s, w, x),
	}};
}

static bool is_lower(const struct grade *a, const struct grade *b)
{
	for (int i = 0; i < 4; i++)
		if (a->v[i] != b->v[i])
			return a->v[i] < b->v[i];
	return false;
}

static uint32_t hash_of(struct str s)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * 16777619u;
	return h;
}

/* The zones that there are, in the order of their names. */
static int home_of(const struct slow *s, const struct slow_work *x)
{
	int there[ZONES], n = 0;

	for (uint32_t z = 0; z < ZONES; z++)
		for (uint32_t i = 0; i < s->n_workers; i++)
			if (s->workers[i].zone == z) {
				there[n++] = (int)z;
				break;
			}
	if (x->service == NO_SERVICE || n == 0)
		return -1;
	return there[(hash_of(services[x->service]) % (uint32_t)n + x->index) % (uint32_t)n];
}

static uint32_t find_place(const struct slow *s, const struct slow_work *x, struct grade *ret)
{
	int home = home_of(s, x);
	uint32_t found = NO_WORKER;

	for (uint32_t i = 0; i < s->n_workers; i++) {
		struct grade g = grade_of(s, i, x, home);

		if (!has_room(&s->workers[i], x))
			continue;
		if (g.v[0] && x->index > 1)
			continue;
		if (found == NO_WORKER || is_lower(&g, ret)) {
			found = i;
			*ret = g;
		}
	}
	return found;
}

static void charge(struct slow *s, struct slow_work *x, int sign)
{
	struct slow_worker *w = &s->workers[x->worker];

	for (int r = 0; r < N_PLACE_RESOURCES; r++)
		w->reserved[r] += sign * x->amount[r];
	if (x->service == NO_SERVICE)
		w->tasks += (uint32_t)sign;
	else
		w->of_service[x->service] += (uint32_t)sign;
	if (x->is_starting) {
		w->starting += (uint32_t)sign;
		s->starting += (uint32_t)sign;
	}
}

static void make_cluster(struct slow *s)
{
	uint32_t ranks[ZONES] = {0};
	bool is_uneven = below(s, 2);

	s->n_workers = below(s, WORKERS + 1);
	s->n_zones = 1 + below(s, ZONES);
	for (uint32_t i = 0; i < s->n_workers; i++) {
		struct slow_worker *w = &s->workers[i];

		w->total[PLACE_MEMORY] = is_uneven ? below(s, 60) : 40;
		w->total[PLACE_DISK] = is_uneven ? below(s, 60) : 40;
		w->total[PLACE_CPU] = below(s, 8) ? 20 : 0;
		w->total[PLACE_INSTANCES] = is_uneven ? below(s, 12) : 10;
		w->zone = below(s, s->n_zones);
		w->rank = ranks[w->zone]++;
		w->labels = below(s, 4);
		w->is_ready = below(s, 10) > 0;
	}
	s->config.starting_weight = below(s, 2) ? SCORE_ONE / 4 : below(s, 3) * 100000;
	s->config.bin_pack_weight = below(s, 3) ? 0 : below(s, 100) * 10000;
	s->config.zones_are_hashed = below(s, 3) == 0;
	s->config.starts_max = below(s, 4) ? 0 : 1 + below(s, 40);
}

static void make_work(struct slow *s)
{
	bool has_amounts = below(s, 4) > 0;
	uint32_t n_services = 1 + below(s, SERVICES), next[SERVICES] = {0}, tasks = 0;

	s->n_work = below(s, WORK + 1);
	for (uint32_t i = 0; i < s->n_work; i++) {
		struct slow_work *x = &s->work[i];

		x->service = below(s, 6) ? below(s, n_services) : NO_SERVICE;
		x->index = x->service == NO_SERVICE ? tasks++ : next[x->service]++;
		x->amount[PLACE_MEMORY] = has_amounts ? below(s, 8) : 0;
		x->amount[PLACE_DISK] = has_amounts ? below(s, 8) : 0;
		x->amount[PLACE_CPU] = below(s, 3) ? 0 : below(s, 4);
		x->amount[PLACE_INSTANCES] = 1;
		x->labels = below(s, 3) ? 0 : below(s, 4);
		x->worker = NO_WORKER;
	}
}

static struct auction *make_auction(struct slow *s)
{
	static const struct str names[WORKERS] = {{"w", 1}};
	struct place_worker workers[WORKERS] = {0};
	struct auction *a;

	for (uint32_t i = 0; i < s->n_workers; i++) {
		const struct slow_worker *w = &s->workers[i];

		workers[i].name = names[0];
		workers[i].zone = zone_names[w->zone];
		workers[i].labels = label_lines[w->labels];
		workers[i].state = w->is_ready ? PLACE_READY : PLACE_DRAINING;
		memcpy(workers[i].total, w->total, sizeof w->total);
	}
	a = auction_new(&s->config, workers, s->n_workers, services, SERVICES);
	for (uint32_t i = 0; i < s->n_work; i++) {
		struct place_want want = {.labels = label_lines[s->work[i].labels]};

		s->work[i].shape = auction_shape(a, s->work[i].amount, &want);
	}
	return a;
}

/* What is there already may be more than the worker offers. */
static void hold_some(struct slow *s, struct auction *a)
{
	for (uint32_t i = 0; i < s->n_work; i++) {
		struct slow_work *x = &s->work[i];

		if (s->n_workers == 0 || below(s, 4))
			continue;
		x->worker = below(s, s->n_workers);
		x->is_starting = below(s, 3) == 0;
		charge(s, x, 1);
		auction_hold(a, x->worker, x->service, x->shape, 1, x->is_starting);
	}
}

static void drop_some(struct slow *s, struct auction *a)
{
	for (uint32_t i = 0; i < s->n_work; i++) {
		struct slow_work *x = &s->work[i];

		if (x->worker == NO_WORKER || below(s, 3))
			continue;
		charge(s, x, -1);
		auction_drop(a, x->worker, x->service, x->shape, x->is_starting);
		x->worker = NO_WORKER;
	}
}

static bool comes_before(const struct slow_work *a, const struct slow_work *b)
{
	uint32_t x = a->service == NO_SERVICE ? 1 : a->index ? a->index + 1 : 0;
	uint32_t y = b->service == NO_SERVICE ? 1 : b->index ? b->index + 1 : 0;

	if (x != y)
		return x < y;
	if (a->amount[PLACE_MEMORY] != b->amount[PLACE_MEMORY])
		return a->amount[PLACE_MEMORY] > b->amount[PLACE_MEMORY];
	return a->service != b->service ? a->service < b->service : a->index < b->index;
}

static void check_one(
    struct slow *s, struct slow_work *x, const struct place_result *got, long seed)
{
	struct grade g = {0};
	uint32_t wanted = find_place(s, x, &g);
	bool is_full = s->config.starts_max && s->starting >= s->config.starts_max;

	if (wanted != NO_WORKER && is_full) {
		if (got->code != PLACE_STARTS)
			fail_msg("seed %ld: the cap on starts was passed", seed);
		wanted = NO_WORKER;
	}
	if (got->worker != wanted)
		fail_msg("seed %ld: %d/%u went to %d, not %d", seed, (int)x->service, x->index,
		    (int)got->worker, (int)wanted);
	if (wanted == NO_WORKER)
		return;
	if (got->colocated != g.v[2] || got->score != g.v[3] / 3)
		fail_msg("seed %ld: %d/%u has another score", seed, (int)x->service, x->index);
	x->worker = wanted;
	x->is_starting = true;
	charge(s, x, 1);
}

static void run_batch(struct slow *s, struct auction *a, long seed)
{
	struct place_work work[WORK];
	struct place_result results[WORK];
	uint32_t order[WORK], from[WORK], n = 0;

	for (uint32_t i = 0; i < s->n_work; i++)
		if (s->work[i].worker == NO_WORKER) {
			from[n] = i;
			work[n++] = (struct place_work){
			    s->work[i].service, s->work[i].index, s->work[i].shape};
		}
	auction_run(a, work, n, results, order);
	for (uint32_t k = 0; k < n; k++) {
		struct slow_work *x = &s->work[from[order[k]]];

		if (k && !comes_before(&s->work[from[order[k - 1]]], x))
			fail_msg("seed %ld: the order is wrong", seed);
		check_one(s, x, &results[order[k]], seed);
	}
	for (uint32_t i = 0; i < s->n_workers; i++)
		assert_memory_equal(auction_worker(a, i)->reserved, s->workers[i].reserved,
		    sizeof s->workers[i].reserved);
}

static void test_random_clusters(void **state)
{
	long n = cases_wanted(3000);

	for (long seed = 1; seed <= n; seed++) {
		struct slow s = {.r = {(uint64_t)seed}};
		struct auction *a;

		make_cluster(&s);
		make_work(&s);
		a = make_auction(&s);
		hold_some(&s, a);
		for (int batch = 0; batch < 3; batch++) {
			run_batch(&s, a, seed);
			drop_some(&s, a);
		}
		auction_free(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_clusters)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
