/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The case plan: how long it takes to read, plan and tell very many packages, and what that costs
 * in memory: in layers, with many small cycles, and with one that holds nearly all of them.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "bench/internal.h"
#include "graph/file/file.h"
#include "graph/limits.h"
#include "graph/write/report.h"

#define SEED 1
#define PACKAGES 100000
#define DEPENDENCIES 10 /* of each */
#define CYCLE 10        /* packages of a small one */

enum shape { LAYERS, SMALL_CYCLES, HUGE_CYCLE, N_SHAPES };
static const char *const shape_names[] = {"layers", "small_cycles", "huge_cycle"};

/* Mostly something before it, so that without cycles there is an order. */
static uint32_t need_of(struct rng *r, enum shape shape, uint32_t i, uint32_t n)
{
	if (shape == SMALL_CYCLES && rng_below(r, 2) == 0)
		return (i / CYCLE * CYCLE + (uint32_t)rng_below(r, CYCLE)) % n;
	if (shape == SMALL_CYCLES)
		i = i / CYCLE * CYCLE;
	if (shape == HUGE_CYCLE && rng_below(r, 50) == 0)
		return (uint32_t)rng_below(r, n);
	return i ? (uint32_t)rng_below(r, i) : 0; /* the first one with itself */
}

static void make_text(struct buf *b, enum shape shape, uint32_t n)
{
	struct rng r = {SEED};

	buf_add_cstr(b, "{\"packages\":[");
	for (uint32_t i = 0; i < n; i++) {
		buf_printf(
		    b, "%s{\"ident\":\"core/package-%u/1.0/1\",\"build\":[", i ? ",\n" : "", i);
		for (int d = 0; d < DEPENDENCIES; d++) {
			buf_add_cstr(b, d ? ",\"core/package-" : "\"core/package-");
			buf_add_u64(b, need_of(&r, shape, i, n));
			buf_add_char(b, '"');
		}
		buf_add_cstr(b, "]}");
	}
	buf_add_cstr(b, "]}");
}

/* Seconds since the time before, which becomes now. */
static double lap(double *since)
{
	double now = cpu_seconds(), took = now - *since;

	*since = now;
	return took;
}

static int measure(struct bench *b, struct str text, json_t *to)
{
	static const uint32_t workers[] = {64};
	struct plan_file file = {0};
	struct manifest m = {0};
	struct report report;
	struct buf json = {0};
	double since = cpu_seconds(), read, plan;
	int r = plan_file_read(text, &file, &b->problem);

	read = lap(&since);
	if (r == 0)
		r = plan_file_manifest(&file, 0, &m, &b->problem);
	plan = lap(&since);
	if (r == 0) {
		report_of_manifest(&m, PLAN_ROUNDS_DEFAULT, workers, 1, &report);
		report_json(&report, &json);
		json_object_set_new(to, "read_cpu_s", figure(read));
		json_object_set_new(to, "plan_cpu_s", figure(plan));
		json_object_set_new(to, "json_cpu_s", figure(lap(&since)));
		json_object_set_new(to, "json_mb", figure((double)json.n / (1 << 20)));
		json_object_set_new(to, "jobs", json_integer(m.dag.n));
		json_object_set_new(to, "edges", json_integer(m.dag.first[m.dag.n]));
		json_object_set_new(to, "peak_mb", figure(peak_mb()));
		report_release(&report);
	}
	buf_release(&json);
	manifest_release(&m);
	plan_file_release(&file);
	return r;
}

static void raise_to(double *worst, double x)
{
	if (isnan(*worst) || x > *worst)
		*worst = x;
}

int case_plan(struct bench *b, json_t *to)
{
	uint32_t n = (uint32_t)bench_scaled(b, PACKAGES, 100);
	double worst_s = NAN, worst_mb = NAN;
	int r = 0;

	json_object_set_new(to, "packages", json_integer(n));
	json_object_set_new(to, "dependencies", json_integer((json_int_t)n * DEPENDENCIES));
	for (enum shape s = LAYERS; s < N_SHAPES && r == 0 && !bench_interrupted(); s++) {
		struct buf text = {0};
		json_t *figures = json_object();

		json_object_set_new(to, shape_names[s], figures);
		make_text(&text, s, n);
		peak_forget();
		r = measure(b, buf_str(&text), figures);
		buf_release(&text);
		raise_to(&worst_s, figure_get(figures, "plan_cpu_s"));
		raise_to(&worst_mb, figure_get(figures, "peak_mb"));
	}
	json_object_set_new(to, "worst_plan_cpu_s", figure(worst_s));
	json_object_set_new(to, "worst_peak_mb", figure(worst_mb));
	return r;
}
