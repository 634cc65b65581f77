/* SPDX-License-Identifier: Apache-2.0 */
/* How an instance of a service fares: said at once, said again, and in every hello. */
#include "story.h"

#include <stdio.h>
#include <string.h>

#include "service/life/container.h"

static struct link_run instance_run(void)
{
	struct link_run r = plain_run;

	r.instance = (struct link_instance){
	    .service = STR("web"), .domain = STR("shop"), .index = 3, .need = STR("instances=1\n")};
	return r;
}

static void fares(rid task, bool up, bool ready)
{
	step((struct agent_event){.kind = AE_FARES,
	    .task = task,
	    .token = 1,
	    .fares = {.is_up = up,
	        .is_ready = ready,
	        .address = STR("10.0.0.7"),
	        .ports = STR("20000\n")}});
}

/* An instance that runs, and of which nothing was said yet. */
static void begin_instance(rid task)
{
	run_with(task, 1, instance_run());
	started(task, 1);
}

static const struct link_held *in_hello(void)
{
	assert_int_equal(effects.items[0].kind, AF_HELLO);
	return effects.items[0].hello->tasks;
}

static void test_said_when_it_changes(void **state)
{
	join();
	begin_instance(1);
	SAYS("started 1");
	fares(1, false, false);
	SAYS("health 1 CREATED 10.0.0.7:20000");
	fares(1, true, false);
	SAYS("health 1 RUNNING up 10.0.0.7:20000");
	fares(1, true, true);
	SAYS("health 1 RUNNING up ready 10.0.0.7:20000");
	exited(1, 1, 0);
	fares(1, true, true); /* late */
	SAYS("");
}

static void test_only_of_instances(void **state)
{
	join();
	run(1, 1);
	started(1, 1);
	fares(1, true, true);
	SAYS("");
	fares(2, true, true);
	SAYS("");
}

static void test_what_is_not_up_is_not_ready(void **state)
{
	join();
	begin_instance(1);
	fares(1, false, true);
	SAYS("health 1 CREATED 10.0.0.7:20000");
}

static void test_said_again_with_each_beat(void **state)
{
	join();
	begin_instance(1);
	fares(1, true, true);
	begin_instance(2);
	fares(2, false, false);
	tick_at(11000);
	SAYS("beat 2; health 2 CREATED 10.0.0.7:20000; health 1 RUNNING up ready 10.0.0.7:20000");
	exited(1, 1, 0);
	acked(1, 1);
	tick_at(21000);
	SAYS("beat 3; health 2 CREATED 10.0.0.7:20000");
}

/* With each beat at most so many: each of them has its turn. */
static void test_in_turn(void **state)
{
	int said[41] = {0};

	join();
	for (rid task = 1; task <= 40; task++) {
		begin_instance(task);
		fares(task, true, true);
	}
	for (int beat = 1; beat <= 2; beat++) {
		beat_acked((uint64_t)beat);
		tick_at(1000 + beat * 10000);
		for (size_t i = 0; i < effects.n; i++)
			if (effects.items[i].kind == AF_HEALTH)
				said[effects.items[i].health.task]++;
	}
	for (int task = 1; task <= 40; task++)
		assert_in_range(said[task], 1, 2);
}

static void test_what_is_ended_gets_no_traffic(void **state)
{
	join();
	begin_instance(1);
	fares(1, true, true);
	kill_task(1, 1, false);
	SAYS("health 1 RUNNING up 10.0.0.7:20000; TERM 1");
	fares(1, true, true);
	SAYS("health 1 RUNNING up 10.0.0.7:20000");
}

static void test_in_every_hello(void **state)
{
	const struct link_held *h;

	join();
	begin_instance(1);
	fares(1, true, true);
	down();
	fares(1, true, false);
	SAYS("");
	up();
	h = in_hello();
	assert_true(str_is(h->instance.service, "web") && str_is(h->instance.domain, "shop"));
	assert_true(h->instance.index == 3 && str_is(h->instance.need, "instances=1\n"));
	assert_true(str_is(h->queue, "q") && str_is(h->fares.ports, "20000\n"));
	assert_true(h->fares.is_up && !h->fares.is_ready);
	assert_int_equal(h->fares.container, CONTAINER_RUNNING);
	welcome();
	SAYS("beat 2");
	down();
	up();
	fares(1, true, true); /* after the hello: it has not heard of this */
	SAYS("");
	welcome();
	SAYS("beat 3; health 1 RUNNING up ready 10.0.0.7:20000");
}

static void test_containers(void **state)
{
	const struct link_held *h;

	join();
	begin_instance(1);
	kill_task(1, 1, false);
	run_with(1, 2, instance_run()); /* waits until the first one is gone */
	down();
	up();
	h = in_hello();
	assert_int_equal(h[0].fares.container, CONTAINER_CREATED);
	assert_int_equal(h[1].fares.container, CONTAINER_RESERVED);
	exited(1, 1, 0);
	down();
	up();
	h = in_hello();
	assert_int_equal(h[0].fares.container, CONTAINER_COMPLETED);
	assert_int_equal(h[1].fares.container, CONTAINER_INITIALIZING);
}

static void test_adopted(void **state)
{
	struct link_run r = instance_run();

	r.task = 5;
	r.token = 1;
	step((struct agent_event){.kind = AE_ADOPT, .adopt = {.run = &r, .started_ms = 7}});
	fares(5, true, true);
	SAYS("");
	up();
	assert_true(in_hello()->fares.is_ready);
	assert_int_equal(in_hello()->fares.container, CONTAINER_RUNNING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(test_said_when_it_changes),
	    T(test_only_of_instances),
	    T(test_what_is_not_up_is_not_ready),
	    T(test_said_again_with_each_beat),
	    T(test_in_turn),
	    T(test_what_is_ended_gets_no_traffic),
	    T(test_in_every_hello),
	    T(test_containers),
	    T(test_adopted),
	};

	return cmocka_run_group_tests_name("fares", tests, NULL, NULL);
}
