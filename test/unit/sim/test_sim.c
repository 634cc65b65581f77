/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator itself: its clocks, that a seed repeats, and that the judge sees what is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/objects/schedule.h"
#include "sim/faults/plan.h"
#include "sim/judge/judge.h"
#include "sim/runs.h"
#include "sim/world/net.h"

static void test_clock(void **state)
{
	struct node_clock c;
	int64_t ms;

	node_clock_init(&c, 1000, 5000);
	assert_int_equal(node_clock_mono_ms(&c, 2000000), 3000);
	assert_int_equal(node_clock_wall_ms(&c, 2000000), 7000);
	node_clock_drift(&c, 2000000, 10000); /* one in a hundred too fast */
	assert_int_equal(node_clock_mono_ms(&c, 102000000), 104000);
	for (ms = 3000; ms < 3300; ms++) {
		int64_t t = node_clock_true_us(&c, ms);

		assert_int_equal(node_clock_mono_ms(&c, t), ms);
		assert_true(node_clock_mono_ms(&c, t - 1) < ms);
	}
	assert_true(node_clock_true_us(&c, INT64_MAX) == INT64_MAX);
	node_clock_jump(&c, -60000);
	assert_int_equal(node_clock_mono_ms(&c, 102000000), 104000);
	ms = node_clock_wall_ms(&c, 102000000);
	node_clock_boot(&c, 102000000, 20);
	assert_int_equal(node_clock_mono_ms(&c, 102000000), 20);
	assert_int_equal(node_clock_wall_ms(&c, 102000000), ms);
}

static void test_classes(void **state)
{
	unsigned bits;
	struct str bad;

	assert_true(sim_classes_parse(STR("net,store"), &bits, &bad));
	assert_int_equal(bits, 1u << CLASS_NET | 1u << CLASS_STORE);
	assert_true(sim_classes_parse(STR("all"), &bits, &bad));
	assert_int_equal(bits, ALL_CLASSES);
	assert_true(sim_classes_parse(STR("none"), &bits, &bad));
	assert_int_equal(bits, 0);
	assert_false(sim_classes_parse(STR("net,rain"), &bits, &bad));
	assert_true(str_is(bad, "rain"));
	assert_false(sim_classes_parse(STR("net,none"), &bits, &bad));
	assert_true(str_is(bad, "none"));
	assert_false(sim_classes_parse(STR("all,net"), &bits, &bad));
	assert_false(sim_classes_parse(STR(""), &bits, &bad));
}

static struct run_result run(uint64_t seed, unsigned faults)
{
	struct sim_options o;
	struct run_result r;

	sim_options_init(&o);
	o.seed = seed;
	o.faults = faults;
	o.is_listed = faults != ALL_CLASSES;
	o.minutes = 2;
	run_one(&o, NULL, &r);
	return r;
}

static void test_seeds(void **state)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct run_result r = run(seed, ALL_CLASSES);

		if (r.verdict.invariant)
			fail_msg("seed %llu: %d: %s", (unsigned long long)seed, r.verdict.invariant,
			    r.verdict.detail);
		assert_true(r.events > 100);
	}
}

static void test_repeats(void **state)
{
	for (uint64_t seed = 100; seed < 105; seed++)
		assert_true(run(seed, ALL_CLASSES).hash == run(seed, ALL_CLASSES).hash);
	assert_true(run(100, ALL_CLASSES).hash != run(101, ALL_CLASSES).hash);
}

/* Leaving faults out keeps the numbers of the others. */
static void test_only(void **state)
{
	struct sim_options o, fewer;
	struct world *w;
	const unsigned *numbers;
	unsigned kept;
	size_t n;

	sim_options_init(&o);
	o.seed = 8;
	fewer = o;
	sim_options_draw(&o);
	w = world_new(&o);
	n = sim_plan_numbers(w->plan, &numbers);
	assert_true(n > 1);
	kept = numbers[n / 2];
	world_free(w);
	fewer.has_only = true;
	fewer.only = &kept;
	fewer.n_only = 1;
	sim_options_draw(&fewer);
	w = world_new(&fewer);
	assert_int_equal(sim_plan_numbers(w->plan, &numbers), 1);
	assert_int_equal(numbers[0], kept);
	world_free(w);
}

/* Some seeds have servers that come back changed, and their command brings that back. */
static void test_change(void **state)
{
	int changed = 0, dispatch = 0, timeouts = 0;

	for (uint64_t seed = 1; seed <= 1000; seed++) {
		struct sim_options o, again;

		sim_options_init(&o);
		o.seed = seed;
		again = o;
		sim_options_draw(&o);
		changed += o.classes >> CLASS_CHANGE & 1;
		dispatch += o.changes_dispatch;
		timeouts += o.changes_timeouts;
		again.faults = o.classes;
		again.is_listed = true;
		again.dispatch = o.is_volatile;
		sim_options_draw(&again);
		assert_int_equal(again.classes, o.classes);
		assert_int_equal(again.changes_dispatch, o.changes_dispatch);
		assert_memory_equal(
		    &again.other_timeouts, &o.other_timeouts, sizeof o.other_timeouts);
		assert_true(again.drift_max_ppm == o.drift_max_ppm);
		assert_true(sim_options_longest(&o).lose_after_ms >= o.timeouts.lose_after_ms);
		assert_true(
		    sim_options_longest(&o).lose_after_ms >= o.other_timeouts.lose_after_ms);
	}
	assert_in_range(changed, 100, 200);
	assert_true(dispatch && timeouts && dispatch < changed && timeouts < changed);
}

/* What the server has after so many restarts. */
static void test_changed_server(void **state)
{
	struct sim_options o;
	struct world *w;
	bool is_volatile = false, is_durable = false, has_other = false;

	sim_options_init(&o);
	o.exact = o.no_load = true;
	o.workers = 1;
	o.minutes = 10;
	o.classes = 1u << CLASS_CHANGE;
	o.changes_dispatch = o.changes_timeouts = true;
	o.other_timeouts = o.timeouts;
	o.other_timeouts.lose_after_ms = 7000;
	w = world_new(&o);
	sim_server_start(w);
	assert_false(w->server->core_options.is_volatile); /* the first one is as drawn */
	for (int i = 0; i < 40; i++) {
		sim_server_crash(w, -1);
		sim_server_start(w);
		is_volatile |= w->server->core_options.is_volatile;
		is_durable |= !w->server->core_options.is_volatile;
		has_other |= w->server->core_options.timeouts.lose_after_ms == 7000;
	}
	assert_true(is_volatile && is_durable && has_other && w->server->was_volatile);
	world_free(w);
}

static struct world *quiet_world(void)
{
	struct sim_options o;

	sim_options_init(&o);
	o.exact = o.no_load = true;
	o.workers = 1;
	o.minutes = 10;
	o.classes = 0;
	o.kinds = 1u << KIND_SCHEDULE;
	return world_new(&o);
}

static void test_judge_sees_second_start(void **state)
{
	struct world *w = quiet_world();
	struct sim_process p = {.task = 77, .token = 3, .instance = 5};

	judge_started(w, &p);
	assert_int_equal(w->verdict.invariant, 0);
	judge_ended(w, &p);
	judge_started(w, &p);
	assert_int_equal(w->verdict.invariant, 4);
	assert_string_equal(w->verdict.name, "one-start");
	world_free(w);
}

static void test_judge_sees_overlap(void **state)
{
	struct world *w = quiet_world();
	struct sim_process p = {.task = 77, .token = 3, .instance = 5}, q = p;

	judge_started(w, &p);
	q.token = 4;
	judge_started(w, &q);
	assert_int_equal(w->verdict.invariant, 5);
	world_free(w);
}

static void test_judge_sees_old_token(void **state)
{
	struct world *w = quiet_world();
	struct sim_process p = {.task = 77, .token = 3, .instance = 5};

	judge_started(w, &p);
	judge_ended(w, &p);
	p.token = 2;
	judge_started(w, &p);
	assert_int_equal(w->verdict.invariant, 6);
	world_free(w);
}

/* A worker that is alone with its server becomes healthy, and notices when it is cut off. */
/* A share of the seeds has schedules, and their command brings that back. */
static void test_schedules(void **state)
{
	int with = 0, times = 0;

	for (uint64_t seed = 1; seed <= 1000; seed++) {
		struct sim_options o, again;

		sim_options_init(&o);
		o.seed = seed;
		again = o;
		sim_options_draw(&o);
		again.faults = o.classes;
		again.is_listed = true;
		again.dispatch = o.is_volatile;
		sim_options_draw(&again);
		assert_int_equal(again.kinds, o.kinds);
		assert_int_equal(again.n_times, o.n_times);
		assert_int_equal(sim_plan_size(&again), sim_plan_size(&o));
		with += (o.kinds >> KIND_SCHEDULE) & 1;
		times += o.n_times > 0;
	}
	assert_in_range(with, 150, 250);
	assert_in_range(times, with / 2, with);
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct run_result r = run(seed, 1u << CLASS_TIME | 1u << CLASS_CRASH);

		assert_true(r.o.kinds & 1u << KIND_SCHEDULE);
		if (r.verdict.invariant)
			fail_msg("seed %llu: %d: %s", (unsigned long long)seed, r.verdict.invariant,
			    r.verdict.detail);
	}
}

struct tick_world {
	struct world *w;
	struct batch batch;
	struct schedule_row schedule;
	struct task_row tasks[2];
};

/* A schedule that is stored, with two tasks of one tick. */
static void tick_world_init(struct tick_world *t)
{
	*t = (struct tick_world){.w = quiet_world(),
	    .schedule = {.id = 9,
	        .items = STR("{\"epoch\":{\"period\":60}}"),
	        .queue = 1,
	        .mtime_ms = 6000000,
	        .progress = {.begun = 1, .done_until_s = 6000}}};
	batch_put(&t->batch, &schedule_table, &t->schedule);
	for (int i = 0; i < 2; i++) {
		t->tasks[i].id = 100 + (rid)i;
		t->tasks[i].spec =
		    (struct task_spec){.queue = 1, .owner = {KIND_SCHEDULE, 9, 6060}};
		batch_insert(&t->batch, &task_table, &t->tasks[i]);
	}
}

static void test_judge_sees_second_task_of_tick(void **state)
{
	struct tick_world t;
	struct tick_row first = {.schedule = 9,
	                    .tick_s = 6060,
	                    .until_s = 6060,
	                    .task = 100,
	                    .time_ms = 6060000},
	                second = first;

	tick_world_init(&t);
	batch_put(&t.batch, &tick_table, &first);
	second.task = 101;
	batch_put(&t.batch, &tick_table, &second);
	judge_applied(t.w, &t.batch);
	assert_int_equal(t.w->verdict.invariant, 19);
	batch_release(&t.batch);
	world_free(t.w);
}

static void test_judge_sees_task_without_tick(void **state)
{
	struct tick_world t;

	tick_world_init(&t);
	judge_applied(t.w, &t.batch);
	assert_int_equal(t.w->verdict.invariant, 19);
	batch_release(&t.batch);
	world_free(t.w);
}

static void test_judge_sees_wrong_counts(void **state)
{
	struct tick_world t;
	struct tick_row skipped = {.schedule = 9,
	    .tick_s = 6060,
	    .until_s = 6120,
	    .outcome = TICK_SKIPPED,
	    .time_ms = 6120000,
	    .reason = STR("a test")};

	tick_world_init(&t);
	t.batch.n = 1; /* without tasks */
	batch_put(&t.batch, &tick_table, &skipped);
	judge_applied(t.w, &t.batch);
	assert_int_equal(t.w->verdict.invariant, 40);
	batch_release(&t.batch);
	world_free(t.w);
}

static void test_exact_world(void **state)
{
	struct world *w = quiet_world();
	struct worker_view v;
	rid id;

	sim_server_start(w);
	sim_worker_start(w, 0, 0);
	assert_true(world_run(w, 5 * SECOND_US));
	id = core_find(sim_core(w), KIND_WORKER, STR("w0"));
	assert_true(core_worker(sim_core(w), id, sim_server_mono_ms(w), &v));
	assert_int_equal(v.state, WORKER_HEALTHY);
	sim_net_block(w, 0, TO_SERVER, 10 * MINUTE_US);
	sim_net_block(w, 0, TO_WORKER, 10 * MINUTE_US);
	assert_true(world_run(w, 3 * MINUTE_US));
	assert_true(core_worker(sim_core(w), id, sim_server_mono_ms(w), &v));
	assert_int_equal(v.state, WORKER_UNHEALTHY);
	assert_int_equal(agent_health(sim_agent(w, 0)), WORKER_UNHEALTHY);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_clock),
	    cmocka_unit_test(test_classes),
	    cmocka_unit_test(test_seeds),
	    cmocka_unit_test(test_repeats),
	    cmocka_unit_test(test_only),
	    cmocka_unit_test(test_change),
	    cmocka_unit_test(test_changed_server),
	    cmocka_unit_test(test_judge_sees_second_start),
	    cmocka_unit_test(test_judge_sees_overlap),
	    cmocka_unit_test(test_judge_sees_old_token),
	    cmocka_unit_test(test_exact_world),
	    cmocka_unit_test(test_schedules),
	    cmocka_unit_test(test_judge_sees_second_task_of_tick),
	    cmocka_unit_test(test_judge_sees_task_without_tick),
	    cmocka_unit_test(test_judge_sees_wrong_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
