/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of instances when their workers fall silent, are lost, come back, or are drained. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "service_story.h"

static const struct core_options with_time = {
    .timeouts = {.heartbeat_ms = 1000,
        .heartbeat_grace_ms = 1000,
        .check_period_ms = 100000000,
        .check_grace_ms = 100000000,
        .lose_after_ms = 10000,
        .margin_ms = 100},
    .lost_hold_ms = 5000,
};

/* These speak, for so long; the others are silent. */
static void talk(struct service_story *s, const int *links, size_t n, int64_t ms)
{
	static uint64_t number;

	for (int64_t at = 0; at < ms; at += 500) {
		for (size_t i = 0; i < n; i++)
			world_beat(s->w, (uint64_t)links[i], ++number);
		world_advance(s->w, 500);
	}
}

static size_t on(struct service_story *s, rid id, const char *worker, int presence)
{
	struct instance_view *v;
	size_t n = core_service_instances(s->w->core, id, 0, 0, 1000, &s->a, &v), found = 0;

	for (size_t i = 0; i < n; i++)
		found += str_is(v[i].worker, worker) && v[i].row.presence == presence;
	return found;
}

/* Silent: a replacement, beside one that may run. Back: it was replaced, so it stops. */
static void test_silent_replaced_and_back(void **state)
{
	struct service_story s;
	rid id;

	story_begin(&s, &with_time);
	story_worker(&s, 1, 10);
	story_worker(&s, 2, 10);
	id = story_service(&s, "web", 2);
	story_obey(&s);
	assert_int_equal(on(&s, id, "w1", PRESENCE_ORDINARY), 1);
	talk(&s, (int[]){2}, 1, 4000);
	assert_int_equal(on(&s, id, "w1", PRESENCE_SUSPECT), 1);
	assert_int_equal(on(&s, id, "w2", PRESENCE_ORDINARY), 2);
	assert_int_equal(story_records(&s, id), 3);
	assert_int_equal(story_obey(&s), 1);
	talk(&s, (int[]){1, 2}, 2, 500);
	assert_int_equal(story_stop(&s), 1); /* the first one back won */
	assert_int_equal(story_records(&s, id), 2);
	assert_counts(&s, id, 0, 0, 2, 0);
	story_end(&s);
}

/* Back before its replacement runs: that one gives way. */
static void test_back_in_time(void **state)
{
	struct service_story s;
	struct instance_view v;
	rid id;

	story_begin(&s, &with_time);
	story_worker(&s, 1, 1);
	id = story_service(&s, "web", 1);
	story_obey(&s);
	v = story_instance(&s, id, 0);
	world_advance(s.w, 4000);
	assert_int_equal(story_records(&s, id), 2); /* and there is no place for it */
	assert_int_equal(on(&s, id, "w1", PRESENCE_SUSPECT), 1);
	talk(&s, (int[]){1}, 1, 500);
	assert_int_equal(story_records(&s, id), 1);
	assert_int_equal(on(&s, id, "w1", PRESENCE_ORDINARY), 1);
	assert_int_equal(story_instance(&s, id, 0).row.task, v.row.task);
	assert_int_equal(s.w->instances.n, 1);
	world_restart(s.w);
	assert_int_equal(story_records(&s, id), 1);
	story_end(&s);
}

/* Lost: what it had is over when the hold is, and its record goes. */
static void test_lost(void **state)
{
	struct service_story s;
	rid id;

	story_begin(&s, &with_time);
	story_worker(&s, 1, 10);
	story_worker(&s, 2, 10);
	id = story_service(&s, "web", 2);
	story_obey(&s);
	talk(&s, (int[]){2}, 1, 4000);
	assert_int_equal(story_obey(&s), 1);
	talk(&s, (int[]){2}, 1, 10000);
	assert_int_equal(on(&s, id, "w1", PRESENCE_SUSPECT), 1); /* it may still be ending it */
	assert_true(core_instance(s.w->core, id, 0, &s.a, &(struct instance_view){0}));
	talk(&s, (int[]){2}, 1, 6000);
	assert_int_equal(story_records(&s, id), 2);
	assert_counts(&s, id, 0, 0, 2, 0);
	assert_int_equal(on(&s, id, "w2", PRESENCE_ORDINARY), 2);
	story_end(&s);
}

/* A server starts that has no worker any more, and an instance of one that was removed. */
static void test_nobody_is_left(void **state)
{
	struct event gone = {.kind = EV_DELETE, .ticket = 1000, .actor = STR("ann")};
	struct service_story s;
	rid id;

	story_begin(&s, &with_time);
	story_worker(&s, 1, 10);
	id = story_service(&s, "web", 1);
	story_obey(&s);
	world_link_lost(s.w, 1);
	gone.object.kind = KIND_WORKER;
	gone.object.id = core_find(s.w->core, KIND_WORKER, STR("w1"));
	gone.object.force = true;
	world_step(s.w, &gone);
	world_restart(s.w);
	assert_int_equal(story_records(&s, id), 2);
	world_advance(s.w, 10000);
	assert_int_equal(story_records(&s, id), 1);
	assert_counts(&s, id, 1, 0, 0, 0);
	story_end(&s);
}

static rid singleton(struct service_story *s)
{
	struct service_row row = {
	    .name = STR("one"), .instances = 1, .singleton = 1, .spec = {.body = STR("{}")}};

	return story_create(s, &row,
	    SERVICE_BIT(name) | SERVICE_BIT(instances) | SERVICE_BIT(singleton) |
	        SERVICE_BIT(spec.body));
}

/* Never two: it waits until the lost worker has certainly ended it. */
static void test_a_singleton_waits_for_certainty(void **state)
{
	struct service_story s;
	rid id;

	story_begin(&s, &with_time);
	story_worker(&s, 1, 10);
	id = singleton(&s);
	story_obey(&s);
	story_worker(&s, 2, 10);
	talk(&s, (int[]){2}, 1, 12000);
	assert_int_equal(story_records(&s, id), 1);
	assert_int_equal(world_count_sent(s.w, MSG_RUN), 0);
	talk(&s, (int[]){2}, 1, 2000); /* lost by now, and held */
	assert_int_equal(world_count_sent(s.w, MSG_RUN), 0);
	talk(&s, (int[]){2}, 1, 6000);
	assert_int_equal(story_obey(&s), 1);
	assert_int_equal(on(&s, id, "w2", PRESENCE_ORDINARY), 1);
	story_end(&s);
}

/* The process was killed, and its next one says so: nothing of it runs, so no hold. */
static void test_a_worker_that_started_anew(void **state)
{
	struct service_story s;
	rid id;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	id = singleton(&s);
	story_obey(&s);
	world_link_lost(s.w, 1);
	assert_counts(&s, id, 0, 0, 1, 0);
	story_hello_with(&s, 2, "w1", 999, "instances=10\n", NULL, 0);
	assert_int_equal(story_obey(&s), 1);
	assert_counts(&s, id, 0, 0, 1, 0);
	assert_int_equal(story_instance(&s, id, 0).row.crash_count, 0);
	story_end(&s);
}

/* A start that the worker never received begins elsewhere, and is no crash. */
static void test_an_order_that_got_lost(void **state)
{
	struct service_story s;
	rid id;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	id = story_service(&s, "web", 1);
	world_link_lost(s.w, 1);
	world_forget_sent(s.w);
	story_hello_with(&s, 2, "w1", 101, "instances=10\n", NULL, 0);
	assert_int_equal(story_obey(&s), 1);
	assert_counts(&s, id, 0, 0, 1, 0);
	assert_int_equal(story_instance(&s, id, 0).row.crash_count, 0);
	story_end(&s);
}

/* --- drains */

static void drain(struct service_story *s, const char *name, enum verb verb, int64_t until_ms)
{
	struct event ev = {.kind = EV_DO, .ticket = ++s->w->last_ticket, .actor = STR("ann")};

	ev.object.kind = KIND_WORKER;
	ev.object.id = core_find(s->w->core, KIND_WORKER, str_of(name));
	ev.object.verb = verb;
	ev.object.until_ms = until_ms;
	world_step(s->w, &ev);
	assert_int_equal(world_reply(s->w)->code, 0);
}

static struct worker_services of_worker(struct service_story *s, const char *name)
{
	struct worker_services v;

	core_worker_services(
	    s->w->core, core_find(s->w->core, KIND_WORKER, str_of(name)), &s->a, &v);
	return v;
}

/* Each stays until its replacement is ready. */
static void test_drained(void **state)
{
	struct service_story s;
	rid id;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	id = story_service(&s, "web", 3);
	story_obey(&s);
	story_worker(&s, 2, 10);
	drain(&s, "w1", WORKER_DRAIN, 0);
	assert_int_equal(on(&s, id, "w1", PRESENCE_EVACUATING), 3);
	assert_int_equal(on(&s, id, "w2", PRESENCE_ORDINARY), 3);
	assert_int_equal(story_view(&s, id).counts.ready, 3);
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 0);
	assert_int_equal(story_obey(&s), 3);
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 3);
	assert_int_equal(story_view(&s, id).counts.ready, 3);
	assert_int_equal(story_stop(&s), 3);
	assert_int_equal(of_worker(&s, "w1").instances, 0);
	assert_int_equal(story_records(&s, id), 3);
	story_end(&s);
}

/* Nowhere to go: it is said at once, and who calls it off has everything as before. */
static void test_a_lone_worker_is_drained_in_vain(void **state)
{
	struct service_story s;
	struct instance_view before;
	struct worker_services v;
	rid id;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	id = story_service(&s, "web", 2);
	story_obey(&s);
	before = story_instance(&s, id, 1);
	drain(&s, "w1", WORKER_DRAIN, 0);
	v = of_worker(&s, "w1");
	assert_int_equal(v.evacuating, 2);
	assert_int_equal(v.blocked, 2);
	assert_true(str_is(v.blocked_by, "web/0: every worker that would do is being drained"));
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 0);
	drain(&s, "w1", WORKER_UNDRAIN, 0);
	assert_int_equal(story_records(&s, id), 2);
	assert_counts(&s, id, 0, 0, 2, 0);
	assert_int_equal(story_instance(&s, id, 1).row.task, before.row.task);
	story_end(&s);
}

static void test_a_drain_has_an_end(void **state)
{
	struct service_story s;
	const struct message *kill;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	story_service(&s, "web", 1);
	story_obey(&s);
	drain(&s, "w1", WORKER_DRAIN, s.w->now_ms + 60000);
	world_restart(s.w); /* which it survives */
	{
		struct instance_view v =
		    story_instance(&s, core_find(s.w->core, KIND_SERVICE, STR("web")), 0);
		struct link_held held = {.task = v.row.task,
		    .token = v.row.token,
		    .started_ms = s.w->now_ms,
		    .instance = {STR("web"), STR_NULL, 0, 1, STR("instances=1\n")},
		    .fares = {3, true, true, STR("10.0.0.1"), STR("31001\n")}};

		if (!v.row.task) { /* the replacement is the one that is shown first */
			struct instance_view *all;
			rid id = core_find(s.w->core, KIND_SERVICE, STR("web"));

			assert_int_equal(
			    core_service_instances(s.w->core, id, 0, 0, 9, &s.a, &all), 2);
			held.task = all[1].row.task;
			held.token = all[1].row.token;
		}
		story_hello_with(&s, 1, "w1", 101, "instances=10\n", &held, 1);
	}
	world_forget_sent(s.w);
	world_advance(s.w, 59000);
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 0);
	world_advance(s.w, 1000);
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 1);
	kill = world_sent(s.w, MSG_KILL, 0);
	assert_non_null(strstr(kill->kill.reason.p, "drained"));
	story_stop(&s);
	assert_int_equal(of_worker(&s, "w1").instances, 0);
	story_end(&s);
}

/* The old one stops first; and only when there is somewhere to go. */
static void test_a_singleton_is_drained(void **state)
{
	struct service_story s;
	struct why *whys;
	rid id;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	id = singleton(&s);
	story_obey(&s);
	drain(&s, "w1", WORKER_DRAIN, 0);
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 0);
	assert_int_equal(of_worker(&s, "w1").blocked, 1);
	assert_true(
	    core_instance_why(s.w->core, id, 0, s.w->now_ms, s.w->mono_ms, &s.a, &whys) > 0);
	assert_int_equal(whys[0].code, WHY_INSTANCE_BLOCKED);
	story_worker(&s, 2, 10);
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 1);
	assert_int_equal(story_records(&s, id), 1);
	assert_int_equal(world_count_sent(s.w, MSG_RUN), 0);
	assert_int_equal(story_stop(&s), 1);
	assert_int_equal(story_obey(&s), 1);
	assert_int_equal(on(&s, id, "w2", PRESENCE_ORDINARY), 1);
	story_end(&s);
}

/* A worker that wants to leave is drained by itself. */
static void test_a_worker_leaves(void **state)
{
	struct service_story s;
	struct event ev = {.kind = EV_BEAT, .link = 1, .beat = {.number = 1, .leaving = true}};
	rid id;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	id = story_service(&s, "web", 1);
	story_obey(&s);
	story_worker(&s, 2, 10);
	world_step(s.w, &ev);
	assert_int_equal(on(&s, id, "w1", PRESENCE_EVACUATING), 1);
	assert_int_equal(story_obey(&s), 1);
	assert_int_equal(story_stop(&s), 1);
	assert_int_equal(on(&s, id, "w2", PRESENCE_ORDINARY), 1);
	story_end(&s);
}

/* What nobody wants stays, until its domain's owner says that the set is complete. */
static void test_surplus_only_in_a_fresh_domain(void **state)
{
	struct service_story s;
	struct domain_row apps = {.name = STR("apps"), .ttl_ms = 60000};
	struct link_held held = {.task = 4242,
	    .token = 7,
	    .started_ms = 5,
	    .instance = {STR("old"), STR("apps"), 3, 9, STR("instances=1\n")},
	    .queue = STR("services"),
	    .fares = {3, true, true, STR("10.0.0.1"), STR("31001\n")}};
	rid domain, id;

	story_begin(&s, NULL);
	domain = story_object(&s, EV_CREATE, KIND_DOMAIN, 0, VERB_NONE, &apps,
	    DOMAIN_BIT(name) | DOMAIN_BIT(ttl_ms), 0)
	             ->id;
	story_hello_with(&s, 1, "w1", 101, "instances=10\n", &held, 1);
	id = core_find(s.w->core, KIND_SERVICE, STR("old"));
	assert_int_not_equal(id, 0);
	world_advance(s.w, 100000);
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 0);
	assert_int_equal(story_instance(&s, id, 3).row.state, INSTANCE_RUNNING);
	story_object(&s, EV_DO, KIND_DOMAIN, domain, DOMAIN_FRESH, NULL, 0, 0);
	assert_int_equal(story_stop(&s), 1);
	assert_int_equal(story_records(&s, id), 0);
	story_end(&s);
}

/* What runs for ever must not keep a worker's threads from tasks. */
static void test_instances_take_no_threads(void **state)
{
	struct worker_row two = {.maxthreads_set = 2, .maxthreads_is_set = 1};
	struct service_story s;
	rid queue, worker;

	story_begin(&s, NULL);
	story_worker(&s, 1, 10);
	worker = core_find(s.w->core, KIND_WORKER, STR("w1"));
	story_object(
	    &s, EV_SET, KIND_WORKER, worker, VERB_NONE, &two, row_settable(&worker_table), 0);
	story_service(&s, "web", 3);
	assert_int_equal(story_obey(&s), 3);
	queue = world_queue(s.w, "q", -1, ORDER_FIFO);
	for (int i = 0; i < 3; i++)
		world_submit_one(s.w, queue);
	assert_int_equal(world_counts(s.w, queue).claimed, 2);
	assert_int_equal(world_counts(s.w, queue).queued, 1);
	story_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_silent_replaced_and_back),
	    cmocka_unit_test(test_back_in_time),
	    cmocka_unit_test(test_lost),
	    cmocka_unit_test(test_a_singleton_waits_for_certainty),
	    cmocka_unit_test(test_a_worker_that_started_anew),
	    cmocka_unit_test(test_an_order_that_got_lost),
	    cmocka_unit_test(test_drained),
	    cmocka_unit_test(test_a_lone_worker_is_drained_in_vain),
	    cmocka_unit_test(test_a_drain_has_an_end),
	    cmocka_unit_test(test_a_singleton_is_drained),
	    cmocka_unit_test(test_a_worker_leaves),
	    cmocka_unit_test(test_surplus_only_in_a_fresh_domain),
	    cmocka_unit_test(test_instances_take_no_threads),
	    cmocka_unit_test(test_nobody_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
