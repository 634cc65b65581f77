/* SPDX-License-Identifier: Apache-2.0 */
/* Instances: started, up, crashed and started again, scaled, stopped, and the same after a start.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/group/view.h"
#include "service_story.h"

static struct instance_row *stored(struct service_story *s, size_t i)
{
	assert_true(i < s->w->instances.n);
	return s->w->instances.v[i];
}

/* Row of the task, of the instance and the order are in one batch. */
static void test_a_start_is_one_batch(void **state)
{
	struct service_story s;
	const struct message *run;
	rid id;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	s.w->hold = true;
	id = 0;
	{
		struct service_row row = {.name = STR("web"),
		    .domain = STR("apps"),
		    .instances = 1,
		    .spec = {.body = STR("{}"), .n_ports = 2, .need = STR("memory=100\n")}};
		struct event ev = {.kind = EV_CREATE, .ticket = ++s.w->last_ticket};

		ev.object.kind = KIND_SERVICE;
		ev.object.row = &row;
		ev.object.fields = SERVICE_BIT(name) | SERVICE_BIT(domain) |
		                   SERVICE_BIT(instances) | SERVICE_BIT(spec.body) |
		                   SERVICE_BIT(spec.n_ports) | SERVICE_BIT(spec.need);
		world_step(s.w, &ev);
	}
	assert_int_equal(s.w->n_sent > 0 && world_count_sent(s.w, MSG_RUN), 0);
	world_commit(s.w);
	id = core_find(s.w->core, KIND_SERVICE, STR("web"));
	assert_int_equal(world_count_sent(s.w, MSG_RUN), 1);
	run = world_sent(s.w, MSG_RUN, 0);
	assert_true(str_is(run->run.instance.service, "web"));
	assert_true(str_is(run->run.instance.domain, "apps"));
	assert_int_equal(run->run.instance.index, 0);
	assert_int_equal(run->run.instance.revision, 1);
	assert_true(str_is(run->run.instance.need, "instances=1\nmemory=100\nports=2\n"));
	assert_int_equal(run->run.n_ports, 2);
	assert_int_equal(run->run.max_attempts, 1);
	assert_int_equal(stored(&s, 0)->state, INSTANCE_CLAIMED);
	assert_int_equal(stored(&s, 0)->task, run->run.task);
	assert_int_equal(world_task(s.w, run->run.task)->state.status, TASK_CLAIMED);
	assert_int_equal(world_task(s.w, run->run.task)->spec.owner.id, id);
	story_end(&s);
}

static void test_started_up_ready(void **state)
{
	struct service_story s;
	struct instance_view v;
	rid id;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	id = story_service(&s, "web", 1);
	v = story_instance(&s, id, 0);
	assert_int_equal(v.row.state, INSTANCE_CLAIMED);
	world_started(s.w, 1, v.row.task, v.row.token);
	assert_int_equal(story_instance(&s, id, 0).row.state, INSTANCE_CLAIMED);
	story_fares(&s, 1, v.row.task, v.row.token, true, false);
	v = story_instance(&s, id, 0);
	assert_int_equal(v.row.state, INSTANCE_RUNNING);
	assert_int_equal(v.row.ready_ms, 0);
	assert_true(str_is(v.row.address, "10.0.0.1"));
	assert_true(str_is(v.row.ports, "31001\n"));
	assert_true(str_is(v.worker, "w1"));
	story_fares(&s, 1, v.row.task, v.row.token, true, true);
	assert_true(story_instance(&s, id, 0).is_routed);
	assert_int_equal(story_view(&s, id).counts.ready, 1);
	/* what is said again changes nothing, and is not written */
	v = story_instance(&s, id, 0);
	story_fares(&s, 1, v.row.task, v.row.token, true, true);
	assert_int_equal(story_instance(&s, id, 0).row.tag, v.row.tag);
	story_fares(&s, 1, v.row.task, v.row.token, true, false);
	assert_true(story_instance(&s, id, 0).row.tag > v.row.tag);
	assert_false(story_instance(&s, id, 0).is_routed);
	story_end(&s);
}

/* Spread evenly, and never more than there is room for; more room, more instances, at once. */
static void test_no_more_than_there_is(void **state)
{
	struct service_story s;
	struct service_view v;
	rid id;

	story_begin(&s, NULL);
	id = story_service(&s, "web", 5);
	v = story_view(&s, id);
	assert_true(str_is(v.place_error, "there is no worker"));
	assert_counts(&s, id, 5, 0, 0, 0);
	story_worker(&s, 1, 2);
	assert_counts(&s, id, 3, 2, 0, 0);
	v = story_view(&s, id);
	assert_non_null(strstr(v.place_error.p, "insufficient resources: instances"));
	assert_int_equal(v.counts.unplaced, 3);
	story_worker(&s, 2, 2);
	assert_counts(&s, id, 1, 4, 0, 0);
	story_worker(&s, 3, 9);
	assert_counts(&s, id, 0, 5, 0, 0);
	assert_int_equal(story_view(&s, id).counts.unplaced, 0);
	assert_null(story_view(&s, id).place_error.p);
	story_end(&s);
}

/* Tasks and instances share the books. */
static void test_tasks_and_instances_share_the_room(void **state)
{
	struct service_story s;
	struct service_row row = {.name = STR("web"),
	    .instances = 2,
	    .spec = {.body = STR("{}"), .need = STR("memory=600\n")}};
	struct submit_task t = {.status = TASK_QUEUED,
	    .spec = {.backoff_ms = -1,
	        .backoff_max_ms = -1,
	        .need = STR("memory=600\n"),
	        .body = STR("{}")}};
	rid id, task;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	t.spec.queue = world_queue(s.w, "q", -1, ORDER_FIFO);
	task = world_submit(s.w, &t, 1)->outcomes[0].id;
	assert_int_equal(world_task(s.w, task)->state.status, TASK_CLAIMED);
	id = story_create(&s, &row,
	    SERVICE_BIT(name) | SERVICE_BIT(instances) | SERVICE_BIT(spec.body) |
	        SERVICE_BIT(spec.need));
	assert_counts(&s, id, 2, 0, 0, 0); /* memory is short */
	world_started(s.w, 1, task, world_task(s.w, task)->state.token);
	world_ended(s.w, 1, task, world_task(s.w, task)->state.token, TASK_SUCCEEDED);
	assert_counts(&s, id, 1, 1, 0, 0); /* the end of a task is room for an instance */
	task = world_submit(s.w, &t, 1)->outcomes[0].id;
	assert_int_equal(world_task(s.w, task)->state.status, TASK_QUEUED);
	story_end(&s);
}

static void test_crashes_wait_longer_each_time(void **state)
{
	struct service_story s;
	rid id;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	id = story_service(&s, "web", 1);
	for (int crash = 1; crash <= 2; crash++) { /* at once, twice */
		assert_int_equal(story_obey(&s), 1);
		story_crash(&s, id, 0);
		assert_counts(&s, id, 0, 1, 0, 0);
		assert_int_equal(story_instance(&s, id, 0).row.crash_count, crash);
	}
	story_obey(&s);
	story_crash(&s, id, 0);
	assert_counts(&s, id, 0, 0, 0, 1);
	assert_true(story_instance(&s, id, 0).restarts);
	assert_int_equal(story_instance(&s, id, 0).restarts_ms, s.w->now_ms + 30000);
	assert_non_null(story_view(&s, id).crash_reason.p);
	world_advance(s.w, 29999);
	assert_counts(&s, id, 0, 0, 0, 1);
	world_advance(s.w, 1);
	assert_counts(&s, id, 0, 1, 0, 0);
	assert_int_equal(story_obey(&s), 1);
	/* five minutes of running, and the count begins anew */
	world_advance(s.w, 300000);
	story_crash(&s, id, 0);
	assert_int_equal(story_instance(&s, id, 0).row.crash_count, 1);
	story_end(&s);
}

/* A wait survives a restart, and an operator ends it. */
static void test_a_wait_survives_and_ends(void **state)
{
	struct service_story s;
	int64_t due;
	rid id, last;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	id = story_service(&s, "web", 1);
	for (int crash = 1; crash <= 3; crash++) {
		story_obey(&s);
		story_crash(&s, id, 0);
	}
	due = story_instance(&s, id, 0).restarts_ms;
	last = story_instance(&s, id, 0).row.last_task;
	assert_int_not_equal(last, 0);
	assert_false(core_may_prune(s.w->core, last)); /* what it wrote stays */
	assert_true(core_may_prune(s.w->core, last - 1));
	world_restart(s.w);
	assert_false(core_may_prune(s.w->core, last));
	assert_int_equal(story_instance(&s, id, 0).row.state, INSTANCE_CRASHED);
	assert_int_equal(story_instance(&s, id, 0).restarts_ms, due);
	story_worker(&s, 1, 10);
	world_forget_sent(s.w);
	assert_int_equal(story_do(&s, id, SERVICE_RESTART, 0)->code, 0);
	assert_int_equal(story_instance(&s, id, 0).row.state, INSTANCE_CLAIMED);
	assert_int_equal(story_instance(&s, id, 0).row.crash_count, 3);
	assert_int_equal(story_do(&s, id, SERVICE_RESTART, 7)->code, ERR_NOT_FOUND);
	story_end(&s);
}

/* What could not be started at all crashed, too: else it would come straight back. */
static void test_a_refused_start_is_a_crash(void **state)
{
	struct service_story s;
	struct instance_view v;
	struct event ev = {.kind = EV_ENDED, .link = 1};
	rid id;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	id = story_service(&s, "web", 1);
	v = story_instance(&s, id, 0);
	ev.ended = (struct link_ended){.task = v.row.task,
	    .token = v.row.token,
	    .status = TASK_FAILED,
	    .reason = STR("no such user"),
	    .exit_code = -1};
	world_step(s.w, &ev);
	assert_int_equal(world_task(s.w, v.row.task)->state.status, TASK_CANCELLED);
	assert_int_equal(story_instance(&s, id, 0).row.crash_count, 1);
	assert_true(str_is(story_instance(&s, id, 0).row.crash_reason, "no such user"));
	story_end(&s);
}

static void test_scaled_up_and_down(void **state)
{
	struct service_story s;
	struct service_row row = {.instances = 4};
	struct instance_view kept;
	rid id;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	id = story_service(&s, "web", 2);
	assert_int_equal(story_obey(&s), 2);
	kept = story_instance(&s, id, 1);
	story_set(&s, id, &row, SERVICE_BIT(instances));
	assert_int_equal(story_obey(&s), 2);
	assert_counts(&s, id, 0, 0, 4, 0);
	assert_int_equal(story_instance(&s, id, 1).row.task, kept.row.task); /* left alone */
	row.instances = 1; /* nobody's domain is fresh, and none is needed */
	story_set(&s, id, &row, SERVICE_BIT(instances));
	assert_int_equal(story_view(&s, id).counts.stopping, 3);
	assert_int_equal(story_stop(&s), 3);
	assert_counts(&s, id, 0, 0, 1, 0);
	assert_int_equal(s.w->instances.n, 1);
	story_end(&s);
}

static void test_removed_with_its_last_instance(void **state)
{
	struct service_story s;
	struct service_change ch;
	struct service_row row = {.instances = 9};
	uint64_t tag;
	rid id;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	id = story_service(&s, "web", 2);
	story_obey(&s);
	tag = core_services_tag(s.w->core);
	assert_int_equal(
	    story_object(&s, EV_DELETE, KIND_SERVICE, id, VERB_NONE, NULL, 0, 0)->code, 0);
	assert_true(story_view(&s, id).row.deleting);
	assert_int_equal(story_set(&s, id, &row, SERVICE_BIT(instances))->code, ERR_CONFLICT);
	assert_int_equal(story_object(&s, EV_DELETE, KIND_SERVICE, id, VERB_NONE, NULL, 0, 0)->code,
	    ERR_CONFLICT);
	assert_int_equal(story_stop(&s), 2);
	assert_int_equal(core_count(s.w->core, KIND_SERVICE), 0);
	assert_int_equal(s.w->services.n, 0);
	assert_int_equal(s.w->instances.n, 0);
	/* a follower hears that it is gone; its tag never comes again */
	assert_true(core_service_changed(s.w->core, tag, &ch));
	assert_int_equal(ch.id, 0);
	assert_true(str_is(ch.name, "web"));
	tag = core_services_tag(s.w->core);
	assert_false(core_service_changed(s.w->core, tag, &ch));
	world_restart(s.w);
	assert_true(core_services_tag(s.w->core) >= tag);
	story_end(&s);
}

static void test_stopped_it_starts_anew(void **state)
{
	struct service_story s;
	struct instance_view before;
	rid id;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	id = story_service(&s, "web", 2);
	story_obey(&s);
	before = story_instance(&s, id, 1);
	assert_int_equal(story_do(&s, id, SERVICE_RESTART, 1)->code, 0);
	assert_true(story_instance(&s, id, 1).row.is_stopping);
	assert_false(story_instance(&s, id, 1).is_routed);
	assert_int_equal(story_stop(&s), 1);
	assert_int_equal(story_obey(&s), 1);
	assert_true(story_instance(&s, id, 1).row.task != before.row.task);
	assert_int_equal(story_instance(&s, id, 1).row.crash_count, 0);
	story_end(&s);
}

static void test_it_goes_on_after_a_restart(void **state)
{
	struct service_story s;
	struct link_held held[2] = {{0}};
	struct instance_view before[2];
	rid id;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	id = story_service(&s, "web", 2);
	story_obey(&s);
	for (int i = 0; i < 2; i++) {
		before[i] = story_instance(&s, id, i);
		held[i] = (struct link_held){.task = before[i].row.task,
		    .token = before[i].row.token,
		    .started_ms = s.w->now_ms,
		    .instance = {STR("web"), STR_NULL, (uint32_t)i, 1, STR("instances=1\n")},
		    .fares = {3, true, true, STR("10.0.0.1"), STR("31001\n")}};
	}
	world_restart(s.w);
	assert_counts(&s, id, 0, 0, 2, 0);
	world_forget_sent(s.w);
	story_hello_with(&s, 1, "w1", 101, "instances=10\nmemory=1000\n", held, 2);
	assert_int_equal(world_count_sent(s.w, MSG_RUN), 0);
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 0);
	assert_counts(&s, id, 0, 0, 2, 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(story_instance(&s, id, i).row.task, before[i].row.task);
		assert_true(story_instance(&s, id, i).is_routed);
	}
	story_end(&s);
}

static void test_needs_wait_until_the_other_is_ready(void **state)
{
	struct service_story s;
	struct service_row row = {
	    .name = STR("web"), .instances = 1, .spec = {.body = STR("{}"), .needs = STR("db\n")}};
	struct why *whys;
	rid web, db;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	web = story_create(&s, &row,
	    SERVICE_BIT(name) | SERVICE_BIT(instances) | SERVICE_BIT(spec.body) |
	        SERVICE_BIT(spec.needs));
	assert_counts(&s, web, 1, 0, 0, 0);
	assert_true(str_is(story_instance(&s, web, 0).waits_for, "db"));
	assert_int_equal(
	    core_instance_why(s.w->core, web, 0, s.w->now_ms, s.w->mono_ms, &s.a, &whys), 1);
	assert_int_equal(whys[0].code, WHY_INSTANCE_NEEDS);
	db = story_service(&s, "db", 1);
	assert_counts(&s, web, 1, 0, 0, 0);
	assert_int_equal(story_obey(&s), 1);
	assert_counts(&s, web, 0, 1, 0, 0);
	/* what runs goes on without it */
	story_obey(&s);
	story_crash(&s, db, 0);
	assert_counts(&s, web, 0, 0, 1, 0);
	story_end(&s);
}

/* The safety net finds nothing that events have missed. */
static void test_the_full_pass_finds_nothing(void **state)
{
	struct service_story s;
	struct services_view v;

	story_begin(&s, NULL);
	story_worker(&s, 1, 3);
	story_service(&s, "web", 2);
	story_service(&s, "api", 3); /* one of them has no room */
	story_obey(&s);
	world_advance(s.w, 120000);
	core_services(s.w->core, &v);
	assert_true(v.passes_full >= 3);
	assert_int_equal(v.missed, 0);
	assert_int_equal(v.services, 2);
	assert_int_equal(v.in[INSTANCE_RUNNING], 3);
	assert_int_equal(v.waiting, 2);
	story_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_start_is_one_batch),
	    cmocka_unit_test(test_started_up_ready),
	    cmocka_unit_test(test_no_more_than_there_is),
	    cmocka_unit_test(test_tasks_and_instances_share_the_room),
	    cmocka_unit_test(test_crashes_wait_longer_each_time),
	    cmocka_unit_test(test_a_wait_survives_and_ends),
	    cmocka_unit_test(test_a_refused_start_is_a_crash),
	    cmocka_unit_test(test_scaled_up_and_down),
	    cmocka_unit_test(test_removed_with_its_last_instance),
	    cmocka_unit_test(test_stopped_it_starts_anew),
	    cmocka_unit_test(test_it_goes_on_after_a_restart),
	    cmocka_unit_test(test_needs_wait_until_the_other_is_ready),
	    cmocka_unit_test(test_the_full_pass_finds_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
