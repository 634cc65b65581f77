/* SPDX-License-Identifier: Apache-2.0 */
/* Workers run what the store does not know: it gets its records back, or is told to stop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "service_story.h"

#define OFFER "instances=10\nmemory=1000\n"

static struct link_held held_of(const char *service, uint32_t index, rid task, int container)
{
	return (struct link_held){.task = task,
	    .token = 3,
	    .started_ms = 1600000000000,
	    .instance = {str_of(service), STR("apps"), index, 4, STR("instances=1\nmemory=100\n")},
	    .queue = STR("services"),
	    .fares = {container, container == 3, container == 3, STR("10.0.0.9"), STR("31007\n")}};
}

/* An emptied store stops nothing, and has its records back. */
static void test_an_emptied_store_stops_nothing(void **state)
{
	struct service_story s;
	struct link_held held[2];
	struct instance_view v;
	struct service_view w;
	rid id;

	story_begin(&s, NULL);
	held[0] = held_of("web", 0, 777, 3);
	held[1] = held_of("web", 5, 778, 3);
	story_hello_with(&s, 1, "w1", 101, OFFER, held, 2);
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 0);
	id = core_find(s.w->core, KIND_SERVICE, STR("web"));
	w = story_view(&s, id);
	assert_true(w.is_adopted);
	assert_int_equal(w.row.instances, 0);
	assert_true(str_is(w.row.domain, "apps"));
	assert_int_equal(w.row.deploy.target, 4);
	assert_counts(&s, id, 0, 0, 2, 0);
	v = story_instance(&s, id, 5);
	assert_int_equal(v.row.task, 778);
	assert_true(v.is_routed);
	assert_int_equal(world_task(s.w, 778)->state.status, TASK_RUNNING);
	assert_true(str_is(world_task(s.w, 778)->state.charged, "instances=1\nmemory=100\n"));
	world_advance(s.w, 100000);
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 0);
	/* the service is written down */
	world_restart(s.w);
	assert_counts(&s, id, 0, 0, 2, 0);
	story_end(&s);
}

/* An owner who wants it says what it is: what runs already is replaced, as a deploy does it. */
static void test_an_adopted_service_is_wanted_again(void **state)
{
	struct service_story s;
	struct link_held held = held_of("web", 0, 777, 3);
	struct service_row row = {.instances = 2, .spec = {.body = STR("{\"c\":1}")}};
	rid id;

	story_begin(&s, NULL);
	story_hello_with(&s, 1, "w1", 101, OFFER, &held, 1);
	id = core_find(s.w->core, KIND_SERVICE, STR("web"));
	story_set(&s, id, &row, SERVICE_BIT(instances) | SERVICE_BIT(spec.body));
	assert_false(story_view(&s, id).is_adopted);
	assert_int_equal(story_view(&s, id).row.deploy.target, 5);
	for (int i = 0; i < 60; i++) {
		story_obey(&s);
		story_stop(&s);
		world_advance(s.w, 1000);
	}
	assert_counts(&s, id, 0, 0, 2, 0);
	assert_int_equal(story_view(&s, id).row.deploy.stable, 5);
	story_end(&s);
}

/* Instances of several revisions come back, the newest last: its number is not given again, not
 * even by a server that starts in between. */
static void test_the_newest_revision_comes_last(void **state)
{
	struct service_story s;
	struct link_held held[2] = {held_of("web", 0, 777, 3), held_of("web", 1, 778, 3)};
	struct service_row row = {.instances = 1, .spec = {.body = STR("{\"c\":1}")}};
	rid id;

	held[1].instance.revision = 5;
	story_begin(&s, NULL);
	story_hello_with(&s, 1, "w1", 101, OFFER, held, 2);
	world_restart(s.w);
	id = core_find(s.w->core, KIND_SERVICE, STR("web"));
	story_set(&s, id, &row, SERVICE_BIT(instances) | SERVICE_BIT(spec.body));
	assert_int_equal(story_view(&s, id).row.deploy.target, 6);
	assert_true(str_is(story_view(&s, id).row.spec.body, "{\"c\":1}"));
	story_end(&s);
}

/* Another of its index runs: this one is told to stop. One that only starts gives way. */
static void test_its_place_is_taken(void **state)
{
	struct service_story s;
	struct link_held held = held_of("web", 0, 777, 3);
	struct instance_view v;
	rid id;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	id = story_service(&s, "web", 1);
	v = story_instance(&s, id, 0);
	held.instance.revision = 1;
	story_hello_with(&s, 2, "w2", 102, OFFER, &held, 1);
	assert_int_equal(story_instance(&s, id, 0).row.task, 777);
	assert_int_equal(story_instance(&s, id, 0).row.state, INSTANCE_RUNNING);
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 1);
	assert_int_equal(world_sent(s.w, MSG_KILL, 0)->kill.task, v.row.task);
	assert_int_equal(story_records(&s, id), 2);
	story_stop(&s);
	world_forget_sent(s.w);
	held = held_of("web", 0, 888, 3);
	story_hello_with(&s, 3, "w3", 103, OFFER, &held, 1);
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 1);
	assert_int_equal(world_sent(s.w, MSG_KILL, 0)->kill.task, 888);
	assert_true(world_sent(s.w, MSG_KILL, 0)->kill.forget);
	assert_int_equal(story_instance(&s, id, 0).row.task, 777);
	story_end(&s);
}

/* What does not run yet, and nobody knows, is not worth keeping. */
static void test_what_only_starts_is_told_to_stop(void **state)
{
	struct service_story s;
	struct link_held held = held_of("web", 0, 777, 2);

	story_begin(&s, NULL);
	story_hello_with(&s, 1, "w1", 101, OFFER, &held, 1);
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 1);
	assert_int_equal(core_count(s.w->core, KIND_SERVICE), 0);
	story_end(&s);
}

/* The task is known, and has ended: nobody takes that back. */
static void test_what_has_ended_is_not_taken_back(void **state)
{
	struct service_story s;
	struct instance_view v;
	struct link_held held;
	rid id;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	id = story_service(&s, "web", 1);
	story_obey(&s);
	v = story_instance(&s, id, 0);
	story_crash(&s, id, 0);
	world_forget_sent(s.w);
	held = held_of("web", 0, v.row.task, 3);
	held.token = v.row.token;
	world_link_lost(s.w, 1);
	story_hello_with(&s, 2, "w1", 101, OFFER, &held, 1);
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 1);
	assert_int_equal(world_sent(s.w, MSG_KILL, 0)->kill.task, v.row.task);
	story_end(&s);
}

/* A worker that makes things up gets nothing into the books but what can be. */
static void test_made_up(void **state)
{
	struct service_story s;
	struct link_held held[6];
	static char long_name[200];

	memset(long_name, 'x', sizeof long_name - 1);
	for (int i = 0; i < 6; i++)
		held[i] = held_of("web", 0, 777 + (rid)i, 3);
	held[0].instance.index = 4000000;
	held[1].instance.revision = 0;
	held[2].instance.service = str_of(long_name);
	held[3].task = UINT64_MAX - 5;
	held[4].token = 0;
	held[5].fares.container = 99;
	story_begin(&s, NULL);
	story_hello_with(&s, 1, "w1", 101, OFFER, held, 6);
	assert_int_equal(core_count(s.w->core, KIND_SERVICE), 0);
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 6);
	story_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_an_emptied_store_stops_nothing),
	    cmocka_unit_test(test_an_adopted_service_is_wanted_again),
	    cmocka_unit_test(test_the_newest_revision_comes_last),
	    cmocka_unit_test(test_its_place_is_taken),
	    cmocka_unit_test(test_what_only_starts_is_told_to_stop),
	    cmocka_unit_test(test_what_has_ended_is_not_taken_back),
	    cmocka_unit_test(test_made_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
