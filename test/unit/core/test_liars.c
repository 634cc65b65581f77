/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stories about workers that lie about the worker set, or about what they hold, to a server that
 * has restarted: whoever may have started something unwritten is waited for, whatever others say.
 */
#include "volatile_story.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STORY(name) static void name(void **state)
#define LIAR 99

/* The set that makes him a consensus of his own. */
static struct set_id only(const struct set_id *told, uint64_t instance)
{
	struct set_id set = {.server = told->server, .version = told->version};

	set_hash_add(&set.hash, instance);
	return set;
}

static void liar_comes(struct world *w, uint64_t link, const struct set_id *told)
{
	struct set_id set = only(told, LIAR);

	hello(w, link, "liar", LIAR, &set, NULL, 0);
	world_advance(w, 100);
}

/* From another machine, under somebody's name. */
static void stranger_comes(
    struct world *w, uint64_t link, const char *name, uint64_t instance, const struct set_id *told)
{
	struct worker_facts f = {.shard = str_of(name),
	    .instance = instance,
	    .start = 1,
	    .lock = STR("elsewhere"),
	    .plugins = STR("command\n"),
	    .maxthreads = 4};
	struct event ev = {.kind = EV_HELLO};

	ev.link = link;
	ev.hello.facts = f;
	ev.hello.set = only(told, instance);
	world_step(w, &ev);
}

static void serve(struct world *w, uint64_t link, int64_t ms)
{
	static uint64_t beat = 1000;

	for (; ms > 0; ms -= 500) {
		world_advance(w, 500);
		world_beat(w, link, beat++);
	}
}

static void leave(struct world *w, uint64_t link)
{
	struct event ev = {.kind = EV_BEAT};

	ev.link = link;
	ev.beat.number = 10000;
	ev.beat.own = WORKER_HEALTHY;
	ev.beat.leaving = true;
	world_step(w, &ev);
	world_link_lost(w, link);
}

static enum worker_state state_of(const struct world *w, const char *name)
{
	struct worker_view v;

	assert_true(
	    core_worker(w->core, core_find(w->core, KIND_WORKER, str_of(name)), w->mono_ms, &v));
	return v.state;
}

STORY(a_set_that_leaves_out_who_has_served_ends_no_wait)
{
	struct world *w = world_new(&swift);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	struct set_id set = fleet(w, 2);

	t = submit(w, q, 2);
	assert_int_equal(world_count_sent(w, MSG_RUN), 1);
	restart(w);
	liar_comes(w, 11, &set);
	assert_true(waiting(w));
	for (uint64_t n = 1; n < 5; n++)
		world_beat(w, 11, n);
	world_advance(w, 100);
	assert_int_equal(world_count_sent(w, MSG_RUN), 0);
	assert_int_equal(world_task(w, t)->state.status, TASK_QUEUED);
	world_free(w);
}

STORY(one_of_the_fleet_that_lies_ends_no_wait)
{
	struct world *w = world_new(&swift);
	struct set_id set = fleet(w, 2), lie = only(&set, 1);

	restart(w);
	hello(w, 11, "w1", 1, &lie, NULL, 0);
	world_advance(w, 100);
	assert_true(waiting(w));
	hello(w, 12, "w2", 2, NULL, NULL, 0); /* it has spoken: nobody else may run anything */
	assert_false(waiting(w));
	world_free(w);
}

STORY(a_later_start_under_its_lock_speaks_for_who_has_served)
{
	struct world *w = world_new(&swift);
	struct set_id set = fleet(w, 2), lie = only(&set, 1);
	struct worker_facts f = {.shard = STR("w2"),
	    .instance = 7,
	    .start = 7,
	    .lock = STR("w2"),
	    .plugins = STR("command\n"),
	    .maxthreads = 4};
	struct event ev = {.kind = EV_HELLO};

	restart(w);
	hello(w, 11, "w1", 1, &lie, NULL, 0);
	assert_true(waiting(w));
	ev.link = 12;
	ev.hello.facts = f;
	world_step(w, &ev);
	assert_false(waiting(w));
	world_free(w);
}

STORY(who_left_in_good_order_or_was_lost_is_not_waited_for)
{
	for (int lost = 0; lost < 2; lost++) {
		struct world *w = world_new(&swift);
		struct set_id set;

		fleet(w, 2);
		if (lost)
			world_link_lost(w, 2);
		else
			leave(w, 2);
		serve(w, 1, lost ? 30000 : 1000);
		set = present(w);
		restart(w);
		hello(w, 11, "w1", 1, &set, NULL, 0);
		assert_false(waiting(w));
		world_free(w);
	}
}

/* The worker's tasks are unknown to the server that lost it, so their hold is in nobody's row. */
STORY(who_is_lost_in_the_wait_is_waited_for_by_the_next_server)
{
	struct world *w = world_new(&swift);
	struct set_id set = fleet(w, 2), mine = only(&set, 1);

	restart(w);
	hello(w, 11, "w1", 1, &set, NULL, 0);
	serve(w, 11, 28000);
	assert_int_equal(state_of(w, "w2"), WORKER_MUST_DIE);
	assert_true(waiting(w));
	restart(w);
	hello(w, 21, "w1", 1, &mine, NULL, 0);
	world_advance(w, 100);
	assert_true(waiting(w));
	for (uint64_t n = 1; waiting(w); n++) {
		world_advance(w, 500);
		world_beat(w, 21, n);
	}
	world_advance(w, 100);
	world_beat(w, 21, 2000000);
	mine = present(w);
	restart(w); /* the wait has settled it */
	hello(w, 31, "w1", 1, &mine, NULL, 0);
	assert_false(waiting(w));
	world_free(w);
}

STORY(who_is_displaced_in_the_wait_is_waited_for_by_the_next_server)
{
	struct core_options o = swift;
	struct set_id set;
	struct world *w;

	o.allow_bump_unhealthy = true;
	w = world_new(&o);
	set = fleet(w, 1);
	restart(w);
	stranger_comes(w, 11, "w1", LIAR, &set);
	assert_int_equal(world_count_sent(w, MSG_WELCOME), 1);
	assert_true(waiting(w));
	restart(w);
	stranger_comes(w, 21, "w1", LIAR, &set);
	assert_int_equal(world_count_sent(w, MSG_WELCOME), 1);
	serve(w, 21, 10000);
	assert_true(waiting(w));
	world_free(w);
}

STORY(who_is_removed_in_the_wait_is_waited_for_by_the_next_server)
{
	for (int late = 0; late < 2; late++) { /* before it is lost by itself, and after */
		struct world *w = world_new(&swift);
		struct set_id set = fleet(w, 1);

		restart(w);
		liar_comes(w, 11, &set);
		serve(w, 11, late ? 28000 : 500);
		assert_int_equal(remove_lost(w, "w1")->code, 0);
		world_advance(w, 100);
		assert_true(waiting(w));
		restart(w);
		liar_comes(w, 21, &set);
		serve(w, 21, 10000);
		assert_true(waiting(w));
		world_free(w);
	}
}

STORY(who_never_took_tasks_is_no_witness_of_starts)
{
	struct world *w = world_new(&swift);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);
	struct set_id set = fleet(w, 1);
	struct link_held held = {.task = submit(w, q, 2), .started_ms = 5, .proven = true};

	held.token = world_sent(w, MSG_RUN, 0)->run.token;
	restart(w);
	hello(w, 11, "liar", LIAR, NULL, &held, 1);
	assert_int_equal(world_count_sent(w, MSG_KILL), 1);
	world_ended(w, 11, held.task, held.token, TASK_SUCCEEDED);
	assert_int_equal(world_task(w, held.task)->state.status, TASK_QUEUED);
	hello(w, 12, "w1", 1, &set, &held, 1); /* this one has */
	assert_int_equal(world_task(w, held.task)->state.status, TASK_RUNNING);
	world_free(w);
}

/* The liar has taken tasks, so his word about others' would be as good as theirs. */
STORY(who_shows_no_receipt_is_no_witness_of_a_start)
{
	for (int is_volatile = 0; is_volatile < 2; is_volatile++) { /* the server that hears it */
		struct world *w = world_new(&swift);
		rid q = world_queue(w, "q", -1, ORDER_FIFO);
		struct set_id set = fleet(w, 2);
		struct link_held own = {.task = submit(w, q, 2), .started_ms = 5, .proven = true};
		struct link_held lie;
		const char *name;
		uint64_t taker;

		own.token = world_sent(w, MSG_RUN, 0)->run.token;
		taker = world_sent(w, MSG_RUN, 0)->link;
		name = taker == 1 ? "w1" : "w2";
		lie = (struct link_held){.task = own.task, .token = own.token, .started_ms = 5};
		w->options.is_volatile = is_volatile;
		restart(w);
		hello(w, 11, taker == 1 ? "w2" : "w1", 3 - taker, &set, &lie, 1);
		assert_int_equal(world_count_sent(w, MSG_KILL), 1);
		assert_true(world_sent(w, MSG_KILL, 0)->kill.forget);
		world_ended(w, 11, own.task, own.token, TASK_SUCCEEDED);
		assert_int_equal(world_task(w, own.task)->state.status, TASK_QUEUED);
		hello(w, 12, name, taker, &set, &own, 1);
		assert_int_equal(world_count_sent(w, MSG_KILL), 1);
		assert_int_equal(world_task(w, own.task)->state.status, TASK_RUNNING);
		world_ended(w, 12, own.task, own.token, TASK_SUCCEEDED);
		assert_int_equal(world_task(w, own.task)->state.status, TASK_SUCCEEDED);
		world_free(w);
	}
}

/* The liar was given the task once, did not have it, and keeps the receipt for later. */
STORY(a_receipt_is_worth_nothing_once_its_bearer_had_to_speak)
{
	struct world *w = world_new(&swift);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);
	struct link_held stale = {.started_ms = 5, .proven = true}, own = stale;
	struct set_id set;

	fleet(w, 1);
	stale.task = own.task = submit(w, q, 2);
	stale.token = world_sent(w, MSG_RUN, 0)->run.token;
	set = present(w);
	restart(w);
	hello(w, 11, "w1", 1, &set, NULL, 0); /* nothing here, he says */
	hello(w, 12, "w2", 2, NULL, NULL, 0);
	leave(w, 11);
	for (uint64_t n = 1; !world_count_sent(w, MSG_RUN); n++) {
		assert_true(n < 20);
		world_advance(w, 100);
		world_beat(w, 12, n);
	}
	assert_int_equal(world_sent(w, MSG_RUN, 0)->link, 12);
	own.token = world_sent(w, MSG_RUN, 0)->run.token;
	w->workers[0].unwritten = true; /* as if he had stayed */
	restart(w);
	hello(w, 21, "w1", 1, NULL, &stale, 1);
	assert_int_equal(world_count_sent(w, MSG_KILL), 1);
	hello(w, 22, "w2", 2, NULL, &own, 1);
	assert_int_equal(world_count_sent(w, MSG_KILL), 1);
	assert_int_equal(world_task(w, own.task)->state.status, TASK_RUNNING);
	world_free(w);
}

/* As a server writes it whose orders have no receipts: three words. */
static void forget_receipts(struct world *w)
{
	for (size_t i = 0; i < w->n_meta; i++) {
		struct str *value = &w->meta[i].value;

		if (str_is(w->meta[i].name, "volatile"))
			while (value->p[--value->n] != ' ')
				;
	}
}

STORY(orders_of_a_server_without_receipts_are_believed_until_the_wait_is_over)
{
	for (int damaged = 0; damaged < 2; damaged++) { /* or the key is gone with a damaged row */
		struct world *w = world_new(&swift);
		rid q = world_queue(w, "q", -1, ORDER_FIFO);
		struct set_id set = fleet(w, 2);
		struct link_held held = {.task = submit(w, q, 2), .started_ms = 5}, other = held;
		uint64_t taker = world_sent(w, MSG_RUN, 0)->link;

		held.token = world_sent(w, MSG_RUN, 0)->run.token;
		w->key_is_new = damaged;
		if (!damaged)
			forget_receipts(w);
		restart(w);
		assert_true(waiting(w));
		hello(w, 11, taker == 1 ? "w1" : "w2", taker, &set, &held, 1);
		assert_int_equal(world_task(w, held.task)->state.status, TASK_RUNNING);
		hello(w, 12, taker == 1 ? "w2" : "w1", 3 - taker, &set, NULL, 0);
		assert_false(waiting(w));
		w->key_is_new = false;
		other.task = submit(w, q, 2);
		for (uint64_t n = 1; !world_count_sent(w, MSG_RUN); n++) {
			assert_true(n < 20);
			world_advance(w, 100);
			world_beat(w, 11, n);
			world_beat(w, 12, n);
		}
		other.token = world_sent(w, MSG_RUN, 0)->run.token;
		restart(w); /* this one's orders had them */
		hello(w, 21, "w1", 1, NULL, &other, 1);
		hello(w, 22, "w2", 2, NULL, &other, 1);
		assert_int_equal(world_task(w, other.task)->state.status, TASK_QUEUED);
		world_free(w);
	}
}

STORY(who_drops_receipts_gets_orders_that_are_written_down)
{
	struct world *w = world_new(&swift);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;

	w->drops_receipts = true;
	fleet(w, 1);
	t = submit(w, q, 2);
	assert_int_equal(world_count_sent(w, MSG_RUN), 1);
	assert_int_equal(world_task(w, t)->state.status, TASK_CLAIMED);
	w->drops_receipts = false;
	world_link_lost(w, 1);
	hello(w, 2, "w1", 1, NULL, NULL, 0); /* the same one, by a newer program */
	for (uint64_t n = 1; n < 4; n++) {
		world_advance(w, 2000);
		world_beat(w, 2, n);
	}
	world_forget_sent(w);
	t = submit(w, q, 2);
	assert_int_equal(world_count_sent(w, MSG_RUN), 1);
	assert_int_equal(world_task(w, t)->state.status, TASK_QUEUED);
	world_free(w);
}

/* Also in the very step that permits it: the row is in the batch before the order. */
STORY(it_is_written_that_a_worker_may_take_tasks_before_its_first_order)
{
	struct world *w = world_new(&swift);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);

	submit(w, q, 2);
	hello(w, 1, "w1", 1, NULL, NULL, 0);
	assert_int_equal(w->workers[0].unwritten, 0);
	for (uint64_t n = 1; !world_count_sent(w, MSG_RUN); n++) {
		assert_true(n < 10);
		world_advance(w, 100);
		world_beat(w, 1, n);
	}
	assert_int_equal(w->workers[0].unwritten, 1);
	world_free(w);
}

STORY(a_durable_server_needs_no_such_mark)
{
	struct core_options o = swift;
	struct world *w;

	o.is_volatile = false;
	w = world_new(&o);
	fleet(w, 1);
	assert_int_equal(state_of(w, "w1"), WORKER_HEALTHY);
	assert_int_equal(w->workers[0].unwritten, 0);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_set_that_leaves_out_who_has_served_ends_no_wait),
	    cmocka_unit_test(one_of_the_fleet_that_lies_ends_no_wait),
	    cmocka_unit_test(a_later_start_under_its_lock_speaks_for_who_has_served),
	    cmocka_unit_test(who_left_in_good_order_or_was_lost_is_not_waited_for),
	    cmocka_unit_test(who_is_lost_in_the_wait_is_waited_for_by_the_next_server),
	    cmocka_unit_test(who_is_displaced_in_the_wait_is_waited_for_by_the_next_server),
	    cmocka_unit_test(who_is_removed_in_the_wait_is_waited_for_by_the_next_server),
	    cmocka_unit_test(who_never_took_tasks_is_no_witness_of_starts),
	    cmocka_unit_test(who_shows_no_receipt_is_no_witness_of_a_start),
	    cmocka_unit_test(a_receipt_is_worth_nothing_once_its_bearer_had_to_speak),
	    cmocka_unit_test(
	        orders_of_a_server_without_receipts_are_believed_until_the_wait_is_over),
	    cmocka_unit_test(who_drops_receipts_gets_orders_that_are_written_down),
	    cmocka_unit_test(it_is_written_that_a_worker_may_take_tasks_before_its_first_order),
	    cmocka_unit_test(a_durable_server_needs_no_such_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
