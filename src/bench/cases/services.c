/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The case services: the brain alone, with very many instances on many workers in three zones.
 * The auction of all of them; a full pass of convergence that finds nothing; the loss of a tenth of
 * the workers: what convergence says then, and where the replacements go.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/rng.h"
#include "bench/internal.h"
#include "service/converge/converge.h"
#include "service/place/auction.h"

#define SEED 1
#define WORKERS 1000
#define SERVICES 20000
#define INSTANCES 250000
#define MIB (INT64_C(1) << 20)

struct cluster {
	struct arena arena;
	struct rng r;
	uint32_t n_workers, n_services, n;
	struct place_worker *workers;
	int64_t (*amounts)[N_PLACE_RESOURCES]; /* by service */
	bool *wants_ssd;
	struct place_work *work;
	uint32_t *where;          /* by work */
	struct instances records; /* of what is placed */
	uint8_t *seen;            /* enum seen_worker, by worker */
};

/* Machines of one kind in memory, but no two disks alike. */
static void make_workers(struct cluster *c)
{
	static const struct str zones[] = {{"a", 1}, {"b", 1}, {"c", 1}};

	c->workers = arena_zalloc(&c->arena, (c->n_workers + 1) * sizeof *c->workers);
	for (uint32_t i = 0; i < c->n_workers; i++) {
		struct place_worker *w = &c->workers[i];

		w->name = arena_strf(&c->arena, "worker-%05u", i);
		w->zone = zones[i % 3];
		if (i / 3 % 2)
			w->labels = STR("disk=ssd\n");
		w->total[PLACE_MEMORY] = 96 * 1024 * MIB;
		w->total[PLACE_DISK] = (400 * 1024 + (int64_t)rng_below(&c->r, 100 * 1024)) * MIB;
		w->total[PLACE_INSTANCES] = 400;
	}
}

static void make_services(struct cluster *c)
{
	c->amounts = arena_zalloc(&c->arena, (c->n_services + 1) * sizeof *c->amounts);
	c->wants_ssd = arena_zalloc(&c->arena, c->n_services + 1);
	for (uint32_t s = 0; s < c->n_services; s++) {
		c->amounts[s][PLACE_MEMORY] = (int64_t)(64 + 64 * rng_below(&c->r, 8)) * MIB;
		c->amounts[s][PLACE_DISK] = (int64_t)(256 + rng_below(&c->r, 1024)) * MIB;
		c->wants_ssd[s] = rng_below(&c->r, 20) == 0;
	}
}

/* One instance each, and the rest by chance: some services are larger than others. */
static void make_work(struct cluster *c)
{
	uint32_t *next = xcalloc(c->n_services, sizeof *next);

	c->work = arena_zalloc(&c->arena, (c->n + 1) * sizeof *c->work);
	c->where = arena_zalloc(&c->arena, (c->n + 1) * sizeof *c->where);
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t s = i < c->n_services ? i : (uint32_t)rng_below(&c->r, c->n_services);

		c->work[i] = (struct place_work){s, next[s]++, s};
		c->where[i] = NO_WORKER;
	}
	free(next);
}

static struct auction *make_auction(const struct cluster *c)
{
	struct auction *a =
	    auction_new(&place_config_default, c->workers, c->n_workers, NULL, c->n_services);

	for (uint32_t s = 0; s < c->n_services; s++) {
		struct place_want want = {.labels = c->wants_ssd[s] ? STR("disk=ssd\n") : STR_NULL};

		auction_shape(a, c->amounts[s], &want);
	}
	return a;
}

/* All instances that are nowhere, in one batch: how many found a place. */
static uint32_t place_rest(struct cluster *c, struct auction *a)
{
	struct place_work *work = xcalloc(c->n + 1, sizeof *work);
	struct place_result *results = xcalloc(c->n + 1, sizeof *results);
	uint32_t *order = xcalloc(c->n + 1, sizeof *order), *from = xcalloc(c->n + 1, sizeof *from);
	uint32_t n = 0, placed = 0;

	for (uint32_t i = 0; i < c->n; i++)
		if (c->where[i] == NO_WORKER) {
			from[n] = i;
			work[n++] = c->work[i];
		}
	auction_run(a, work, n, results, order);
	for (uint32_t i = 0; i < n; i++) {
		c->where[from[i]] = results[i].worker;
		placed += results[i].worker != NO_WORKER;
	}
	free(work);
	free(results);
	free(order);
	free(from);
	return placed;
}

static void hold_rest(const struct cluster *c, struct auction *a)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->where[i] != NO_WORKER)
			auction_hold(a, c->where[i], c->work[i].service, c->work[i].shape, 1, 0);
}

static void measure_auction(struct cluster *c, json_t *to)
{
	struct auction *a = make_auction(c);
	double since = cpu_seconds(), took;
	uint32_t placed = place_rest(c, a);

	took = cpu_seconds() - since;
	auction_free(a);
	json_object_set_new(to, "placed", json_integer(placed));
	json_object_set_new(to, "auction_cpu_s", figure(took));
	json_object_set_new(to, "placements_per_s", figure(placed / took));
}

static void make_records(struct cluster *c)
{
	c->seen = arena_zalloc(&c->arena, c->n_workers + 1);
	GROW(c->records.v, c->records.cap, c->n + 1);
	for (uint32_t i = 0; i < c->n; i++)
		if (c->where[i] != NO_WORKER)
			c->records.v[c->records.n++] =
			    (struct instance){.service = c->work[i].service,
			        .index = c->work[i].index,
			        .state = INSTANCE_RUNNING,
			        .worker = c->where[i]};
	qsort(c->records.v, c->records.n, sizeof *c->records.v, instance_by_key);
}

static void pass(const struct cluster *c, struct converge_actions *actions)
{
	struct converge_env env = {1000000, CONVERGE_ASK_AGAIN_MS, c->seen};
	size_t at = 0;

	for (uint32_t s = 0; s < c->n_services; s++) {
		struct converge_service service = {
		    .service = s, .domain_is_fresh = true, .policy = &crash_policy_default};
		size_t from = at;

		while (at < c->records.n && c->records.v[at].service == s)
			at++;
		service.wanted = (uint32_t)(at - from);
		converge_service(&env, &service, c->records.v + from, at - from, actions);
	}
}

static void measure_pass(struct cluster *c, json_t *to)
{
	struct converge_actions actions = {0};
	double since;

	make_records(c);
	since = cpu_seconds();
	pass(c, &actions);
	json_object_set_new(to, "pass_cpu_s", figure(cpu_seconds() - since));
	json_object_set_new(to, "pass_actions", json_integer((json_int_t)actions.n));
	converge_actions_release(&actions);
}

/* A tenth of the workers falls silent. */
static uint32_t lose(struct cluster *c)
{
	uint32_t lost = 0;

	for (uint32_t i = 0; i < c->n_workers; i += 10) {
		c->workers[i].state = PLACE_SILENT;
		c->seen[i] = SEEN_SILENT;
	}
	for (uint32_t i = 0; i < c->n; i++)
		if (c->where[i] != NO_WORKER && c->seen[c->where[i]] == SEEN_SILENT) {
			c->where[i] = NO_WORKER;
			lost++;
		}
	return lost;
}

/* From the silence to every new place, with what it takes to learn what is where. */
static void measure_loss(struct cluster *c, json_t *to)
{
	struct converge_actions actions = {0};
	uint32_t lost = lose(c), placed;
	double since = cpu_seconds();
	struct auction *a;

	pass(c, &actions);
	a = make_auction(c);
	hold_rest(c, a);
	placed = place_rest(c, a);
	json_object_set_new(to, "replace_cpu_s", figure(cpu_seconds() - since));
	json_object_set_new(to, "lost", json_integer(lost));
	json_object_set_new(to, "replace_actions", json_integer((json_int_t)actions.n));
	json_object_set_new(to, "replaced", json_integer(placed));
	auction_free(a);
	converge_actions_release(&actions);
}

static void measure(struct bench *b, json_t *to, double share)
{
	struct cluster c = {.r = {SEED}};

	c.n_workers = WORKERS;
	c.n_services = (uint32_t)bench_scaled(b, (int64_t)(SERVICES * share), 10);
	c.n = (uint32_t)bench_scaled(b, (int64_t)(INSTANCES * share), 100);
	make_workers(&c);
	make_services(&c);
	make_work(&c);
	json_object_set_new(to, "instances", json_integer(c.n));
	json_object_set_new(to, "services", json_integer(c.n_services));
	json_object_set_new(to, "workers", json_integer(c.n_workers));
	peak_forget();
	measure_auction(&c, to);
	measure_pass(&c, to);
	measure_loss(&c, to);
	json_object_set_new(to, "peak_mb", figure(peak_mb()));
	free(c.records.v);
	arena_release(&c.arena);
}

int case_services(struct bench *b, json_t *to)
{
	static const struct {
		const char *name;
		double share;
	} sizes[] = {{"small", 0.04}, {"middle", 0.2}, {"large", 1}};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !bench_interrupted(); i++) {
		json_t *figures = json_object();

		json_object_set_new(to, sizes[i].name, figures);
		measure(b, figures, sizes[i].share);
	}
	return 0;
}
