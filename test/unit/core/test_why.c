/* SPDX-License-Identifier: Apache-2.0 */
/* Why a task waits: every reason, and what would lift it. Workers that have left, or are drained.
 */
#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/state.h"
#include "words/words.h"

/* Healthchecks don't matter; a beat may be a second old, then nine seconds remain. */
#define NEVER_MS (INT64_MAX / 16)
#define LOSS_MS 20000 /* more than that */
static const struct core_options quick = {.timeouts = {1000, 0, NEVER_MS, NEVER_MS, 9000}};

#define STORY(name) static void name(void **state)

static bool says(struct world *w, rid task, const char *code)
{
	struct arena a = {0};
	struct why *whys;
	size_t n = core_why(w->core, world_task(w, task), w->now_ms, w->mono_ms, &a, &whys);
	bool found = false;

	for (size_t i = 0; i < n; i++)
		found |= strcmp(why_names[whys[i].code], code) == 0 && words_why(&a, &whys[i]).n &&
		         words_lift(&a, &whys[i]).n;
	arena_release(&a);
	return found;
}

STORY(a_new_queue_is_served_only_by_workers_that_allow_its_plugin)
{
	struct world *w = world_new(NULL);
	struct queue_change ch = {.fields = QUEUE_BIT(name) | QUEUE_BIT(plugin),
	    .row = {.name = STR("q"), .plugin = STR("exotic")}};
	struct event ev = {
	    .kind = EV_CREATE, .object.kind = KIND_QUEUE, .ticket = ++w->last_ticket};
	rid t;

	world_hello(w, 1, "w1", 1, 2, NULL, 0); /* it is there before the queue is */
	ev.object.row = &ch.row;
	ev.object.fields = ch.fields;
	world_step(w, &ev);
	t = world_submit_one(w, world_reply(w)->id);
	assert_int_equal(world_count_sent(w, MSG_RUN), 0);
	assert_true(says(w, t, "plugin-not-allowed"));
	world_free(w);
}

STORY(why_names_every_reason)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", 0, ORDER_FIFO), t = world_submit_one(w, q);
	struct event ev = {.kind = EV_PAUSE, .object.kind = KIND_QUEUE, .ticket = ++w->last_ticket};
	struct queue_change ch = {.fields = QUEUE_BIT(plugin), .row = {.plugin = STR("exotic")}};

	ev.object.id = q;
	world_step(w, &ev);
	assert_true(says(w, t, "queue-paused"));
	assert_true(says(w, t, "queue-closed"));
	assert_true(says(w, t, "no-workers"));
	world_hello(w, 1, "w1", 1, 0, NULL, 0);
	assert_true(says(w, t, "workers-full"));
	ev = (struct event){.kind = EV_SET, .object.kind = KIND_QUEUE, .ticket = ++w->last_ticket};
	ev.object.id = q;
	ev.object.row = &ch.row;
	ev.object.fields = ch.fields;
	world_step(w, &ev);
	assert_true(says(w, t, "plugin-not-allowed"));
	world_free(w);
}

/* The first reason, as a sentence. */
static const char *first_of(struct world *w, rid task)
{
	static char text[300];
	struct arena a = {0};
	struct why *whys;

	assert_true(core_why(w->core, world_task(w, task), w->now_ms, w->mono_ms, &a, &whys) > 0);
	snprintf(text, sizeof text, "%s", words_why(&a, &whys[0]).p);
	arena_release(&a);
	return text;
}

STORY(why_of_a_held_task_names_the_other_reasons_too)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", 0, ORDER_FIFO), t = world_submit_one(w, q);
	struct event ev = {.kind = EV_PAUSE, .object.kind = KIND_QUEUE, .ticket = ++w->last_ticket};

	world_submit_one(w, q); /* another is in the queue: who is held is behind nobody */
	ev.object.id = q;
	world_step(w, &ev);
	ev = (struct event){.kind = EV_TASK_SET, .ticket = ++w->last_ticket, .actor = STR("ann")};
	ev.tasks.n = 1;
	ev.tasks.ids = &t;
	ev.tasks.has_status = true;
	ev.tasks.status = -10;
	world_step(w, &ev);
	assert_true(says(w, t, "held"));
	assert_string_equal(first_of(w, t), "it is held back by ann (status -10)");
	assert_true(says(w, t, "queue-paused"));
	assert_true(says(w, t, "queue-closed"));
	assert_true(says(w, t, "no-workers"));
	assert_false(says(w, t, "behind-others"));
	assert_false(says(w, t, "starting"));
	world_free(w);
}

/* The sentence of what would lift the reason with that code; empty: it is no reason. */
static const char *lift_of(struct world *w, rid task, enum why_code code)
{
	static char text[300];
	struct arena a = {0};
	struct why *whys;
	size_t n = core_why(w->core, world_task(w, task), w->now_ms, w->mono_ms, &a, &whys);

	text[0] = 0;
	for (size_t i = 0; i < n; i++)
		if (whys[i].code == code)
			snprintf(text, sizeof text, "%s", words_lift(&a, &whys[i]).p);
	arena_release(&a);
	return text;
}

STORY(why_gives_commands_that_can_be_typed)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t[2];
	struct event ev = {.kind = EV_TASK_SET};
	char id[ID_TEXT], release[64];

	world_hello(w, 1, "w0", 1, 0, NULL, 0);
	t[0] = world_submit_one(w, q);
	assert_string_equal(lift_of(w, t[0], WHY_WORKERS_CLOSED),
	    "another worker joins, or: reeve worker set w0 --maxthreads N");
	assert_string_equal(lift_of(w, t[0], WHY_WORKERS_FULL), "");
	world_hello(w, 2, "w1", 2, 1, NULL, 0);
	t[1] = world_submit_one(w, q);
	assert_string_equal(lift_of(w, t[1], WHY_WORKERS_FULL),
	    "a running task ends, another worker joins, or: reeve worker set w1 --maxthreads N");
	ev.tasks.n = 1;
	ev.tasks.ids = &t[1];
	ev.tasks.has_status = true;
	ev.tasks.status = -10;
	world_step(w, &ev);
	snprintf(
	    release, sizeof release, "reeve task release %s", id_format(&w->core->ids, t[1], id));
	assert_string_equal(lift_of(w, t[1], WHY_HELD), release);
	world_free(w);
}

static struct worker_view view_of(const struct world *w, const char *name)
{
	struct worker_view v;

	assert_true(
	    core_worker(w->core, core_find(w->core, KIND_WORKER, str_of(name)), w->mono_ms, &v));
	return v;
}

static void say_goodbye(struct world *w, uint64_t link)
{
	struct event ev = {.kind = EV_BEAT, .link = link};

	ev.beat.number = 1000;
	ev.beat.own = WORKER_HEALTHY;
	ev.beat.leaving = true;
	world_step(w, &ev);
	world_link_lost(w, link);
}

static bool was_told(const struct world *w, const char *kind)
{
	for (size_t i = 0; i < w->n_told; i++)
		if (strcmp(w->told[i], kind) == 0)
			return true;
	return false;
}

STORY(a_worker_that_said_goodbye_has_left)
{
	struct world *w = world_new(&quick);
	rid t = world_submit_one(w, world_queue(w, "q", -1, ORDER_FIFO));

	world_hello(w, 1, "w1", 1, 0, NULL, 0);
	assert_int_equal(view_of(w, "w1").shown, WORKER_HEALTHY);
	say_goodbye(w, 1);
	world_advance(w, LOSS_MS); /* its health runs down, and nobody is alarmed */
	assert_int_equal(view_of(w, "w1").shown, WORKER_LEFT);
	assert_int_equal(view_of(w, "w1").state, WORKER_MUST_DIE);
	assert_int_equal(view_of(w, "w1").lack, LACK_NOTHING);
	assert_int_equal(view_of(w, "w1").lost_in_ms, -1);
	assert_false(was_told(w, "worker.lost") || was_told(w, "worker.unhealthy"));
	assert_string_equal(lift_of(w, t, WHY_NO_WORKERS_AWAY), "");
	world_restart(w);
	assert_int_equal(view_of(w, "w1").shown, WORKER_LEFT);
	world_hello(w, 2, "w1", 2, 1, NULL, 0); /* it comes back as any other */
	assert_int_equal(view_of(w, "w1").shown, WORKER_HEALTHY);
	assert_int_equal(world_count_sent(w, MSG_RUN), 1);
	world_free(w);
}

STORY(a_worker_that_goes_with_a_task_has_not_left)
{
	struct world *w = world_new(&quick);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);

	world_hello(w, 1, "w1", 1, 1, NULL, 0);
	world_submit_one(w, q);
	say_goodbye(w, 1);
	assert_int_equal(view_of(w, "w1").shown, WORKER_HEALTHY);
	world_advance(w, LOSS_MS);
	assert_int_equal(view_of(w, "w1").shown, WORKER_MUST_DIE);
	assert_true(was_told(w, "worker.lost"));
	world_free(w);
}

static void tell_worker(struct world *w, const char *name, enum verb verb, const char *reason)
{
	struct event ev = {.kind = EV_DO, .ticket = ++w->last_ticket, .actor = STR("eve")};

	ev.object.kind = KIND_WORKER;
	ev.object.id = core_find(w->core, KIND_WORKER, str_of(name));
	ev.object.verb = verb;
	ev.object.reason = reason ? str_of(reason) : STR_NULL;
	world_step(w, &ev);
	assert_int_equal(world_reply(w)->code, 0);
}

STORY(a_drained_worker_gets_nothing_and_keeps_what_it_has)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t[2];

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t[0] = world_submit_one(w, q);
	tell_worker(w, "w1", WORKER_DRAIN, "new disk");
	assert_true(was_told(w, "worker.drained"));
	t[1] = world_submit_one(w, q);
	assert_int_equal(world_count_sent(w, MSG_RUN), 1);
	assert_int_equal(world_count_sent(w, MSG_KILL), 0);
	assert_int_equal(view_of(w, "w1").running, 1);
	assert_true(says(w, t[1], "workers-drained"));
	assert_string_equal(lift_of(w, t[1], WHY_WORKERS_DRAINED),
	    "reeve worker undrain w1; or start another: reeve worker --join HOST:PORT");
	world_ended(w, 1, t[0], 1, TASK_SUCCEEDED);
	assert_int_equal(view_of(w, "w1").running, 0);
	assert_int_equal(world_count_sent(w, MSG_RUN), 1);
	tell_worker(w, "w1", WORKER_UNDRAIN, NULL);
	assert_int_equal(world_count_sent(w, MSG_RUN), 2);
	assert_false(view_of(w, "w1").row->drained);
	world_free(w);
}

STORY(a_drain_outlives_the_worker_and_the_server)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	say_goodbye(w, 1);
	tell_worker(w, "w1", WORKER_DRAIN, "new disk"); /* also when it is not there */
	world_restart(w);
	world_hello(w, 2, "w1", 2, 2, NULL, 0);
	world_submit_one(w, q);
	assert_int_equal(world_count_sent(w, MSG_RUN), 0);
	assert_true(str_is(view_of(w, "w1").row->drain_reason, "new disk"));
	tell_worker(w, "w1", WORKER_UNDRAIN, NULL);
	assert_int_equal(world_count_sent(w, MSG_RUN), 1);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_new_queue_is_served_only_by_workers_that_allow_its_plugin),
	    cmocka_unit_test(why_names_every_reason),
	    cmocka_unit_test(why_of_a_held_task_names_the_other_reasons_too),
	    cmocka_unit_test(why_gives_commands_that_can_be_typed),
	    cmocka_unit_test(a_worker_that_said_goodbye_has_left),
	    cmocka_unit_test(a_worker_that_goes_with_a_task_has_not_left),
	    cmocka_unit_test(a_drained_worker_gets_nothing_and_keeps_what_it_has),
	    cmocka_unit_test(a_drain_outlives_the_worker_and_the_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
