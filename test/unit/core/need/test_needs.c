/* SPDX-License-Identifier: Apache-2.0 */
/* What tasks need and workers offer: never more than there is, and nobody waits for ever. */
#include "needs_story.h"

#define GIB "1073741824"

STORY(a_task_goes_where_it_may_be)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), a, b, c, d, e;

	joins(w, 1, "w1", "cpu=1000\n", "disk=ssd\n", "x86_64-linux");
	joins(w, 2, "w2", "cpu=1000\n", "disk=hdd\n", "arm64-linux");
	a = submit(w, q, "+disk=hdd\n");
	b = submit(w, q, "-disk=hdd\n");
	c = submit(w, q, "@arm64-linux\n");
	d = submit(w, q, "+disk=tape\n");
	e = submit(w, q, "+zone=home\n");
	assert_int_equal(link_of(w, a), 2);
	assert_int_equal(link_of(w, b), 1);
	assert_int_equal(link_of(w, c), 2);
	assert_int_equal(link_of(w, d), 0);
	assert_int_not_equal(link_of(w, e), 0);
	assert_string_equal(said(w, d, WHY_NEED_PLACE),
	    "of 2 workers for the queue none may run it: it needs the label disk=tape");
	joins(w, 3, "w3", "cpu=1000\n", "disk=tape\n", "x86_64-linux");
	assert_int_equal(link_of(w, d), 3);
	world_free(w);
}

STORY(nothing_is_overcommitted)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t[5];

	joins(w, 1, "w1", "cpu=4000\ngpu=3\n", NULL, NULL);
	for (int i = 0; i < 5; i++)
		t[i] = submit(w, q, "cpu=1000\ngpu=1\n");
	assert_int_equal(world_count_sent(w, MSG_RUN), 3);
	assert_int_equal(used(w, "w1", "gpu"), 3);
	assert_int_equal(used(w, "w1", "cpu"), 3000);
	assert_string_equal(said(w, t[3], WHY_NEED_SHORT),
	    "it needs 1 of gpu: of 1 worker the freest has 0; total 3");
	ends(w, t[1]);
	assert_int_equal(link_of(w, t[3]), 1);
	assert_int_equal(link_of(w, t[4]), 0);
	assert_int_equal(used(w, "w1", "gpu"), 3);
	for (int i = 0; i < 5; i++)
		if (i != 1)
			ends(w, t[i]);
	assert_int_equal(used(w, "w1", "gpu"), 0);
	assert_int_equal(used(w, "w1", "cpu"), 0);
	world_free(w);
}

STORY(a_blocked_task_lets_others_pass)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), big, small, plain;

	joins(w, 1, "w1", "cpu=1000\nmemory=" GIB "\n", NULL, NULL);
	big = submit(w, q, "memory=8589934592\n");
	small = submit(w, q, "memory=1024\n");
	plain = submit(w, q, NULL);
	assert_int_equal(link_of(w, big), 0);
	assert_int_equal(link_of(w, small), 1);
	assert_int_equal(link_of(w, plain), 1);
	assert_string_equal(said(w, big, WHY_NEED_TOO_MUCH),
	    "it needs 8 GiB of memory: no worker offers so much; the largest has 1 GiB");
	joins(w, 2, "w2", "memory=8589934592\n", NULL, NULL);
	assert_int_equal(link_of(w, big), 2);
	world_free(w);
}

/* In a queue by priority too: within one need the order is the queue's. */
STORY(order_is_kept_within_a_need)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_LIFO), t[4];

	joins(w, 1, "w1", "gpu=1\n", NULL, NULL);
	for (int i = 0; i < 4; i++)
		t[i] = submit(w, q, "gpu=1\n");
	ends(w, t[0]);
	assert_int_equal(link_of(w, t[3]), 1);
	assert_int_equal(link_of(w, t[2]), 0);
	ends(w, t[3]);
	assert_int_equal(link_of(w, t[2]), 1);
	assert_int_equal(link_of(w, t[1]), 0);
	world_free(w);
}

/* Small ones come all the time, and there is never room for the big one by chance. */
STORY(a_big_task_does_not_starve)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), small[200], big;
	size_t begun = 0;

	joins(w, 1, "w1", "gpu=4\n", NULL, NULL);
	for (int i = 0; i < 8; i++)
		small[i] = submit(w, q, "gpu=1\n");
	big = submit(w, q, "gpu=4\n");
	for (size_t i = 8; i < 100 && !link_of(w, big); i++, begun++) {
		small[i] = submit(w, q, "gpu=1\n");
		if (link_of(w, small[i - 8]))
			ends(w, small[i - 8]);
	}
	for (size_t i = 0; i < 108 && !link_of(w, big); i++)
		if (i < 8 + begun && link_of(w, small[i]) &&
		    world_task(w, small[i])->state.status <= 0)
			ends(w, small[i]);
	assert_int_equal(link_of(w, big), 1);
	assert_true(begun > 16);
	/* what does not take from it went on meanwhile, and now the small ones do again */
	ends(w, big);
	assert_int_equal(used(w, "w1", "gpu"), 4);
	world_free(w);
}

STORY(the_cluster_has_its_own)
{
	const struct amount has[] = {{STR("licence"), 2}};
	struct core_options o = {.resources = has, .n_resources = 1};
	struct world *w = world_new(&o);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t[4], never;

	joins(w, 1, "w1", "cpu=8000\n", NULL, NULL);
	joins(w, 2, "w2", "cpu=8000\n", NULL, NULL);
	for (int i = 0; i < 4; i++)
		t[i] = submit(w, q, "licence=1\n");
	never = submit(w, q, "licence=3\n");
	assert_int_equal(world_count_sent(w, MSG_RUN), 2);
	assert_int_equal(core_resource(w->core, 0)->used, 2);
	assert_string_equal(said(w, t[2], WHY_RESOURCE_SHORT),
	    "it needs 1 of licence: of 2 in the whole cluster 0 are free");
	assert_string_equal(said(w, never, WHY_RESOURCE_TOO_MUCH),
	    "it needs 3 of licence: the whole cluster has only 2");
	world_restart(w);
	assert_int_equal(core_resource(w->core, 0)->used, 2);
	world_forget_sent(w);
	world_free(w);
}

STORY(what_was_charged_is_what_is_given_back)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), a, b;
	struct link_held held;

	set_queue(w, q, "gpu=3\n", PLACE_SPREAD);
	joins(w, 1, "w1", "gpu=4\n", NULL, NULL);
	a = submit(w, q, NULL);
	b = submit(w, q, NULL);
	assert_true(str_is(world_task(w, a)->state.charged, "gpu=3\n"));
	assert_int_equal(link_of(w, b), 0);
	set_queue(w, q, "gpu=2\n", PLACE_SPREAD);
	assert_int_equal(link_of(w, b), 0); /* 3 and 2 are more than 4 */
	world_restart(w);
	assert_int_equal(used(w, "w1", "gpu"), 3);
	held = (struct link_held){a, 1, false, w->now_ms};
	{
		struct event ev = {.kind = EV_HELLO, .link = 2};

		ev.hello.facts = w->workers[0].facts;
		ev.hello.tasks = &held;
		ev.hello.n_tasks = 1;
		world_step(w, &ev);
	}
	assert_int_equal(used(w, "w1", "gpu"), 3);
	assert_int_equal(link_of(w, b), 0);
	world_ended(w, 2, a, 1, TASK_SUCCEEDED);
	assert_int_equal(link_of(w, b), 2);
	assert_int_equal(used(w, "w1", "gpu"), 2);
	assert_null(world_task(w, a)->state.charged.p);
	world_free(w);
}

STORY(a_tasks_own_amount_stands_for_its_queues)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), a;

	set_queue(w, q, "+zone=home\ncpu=500\ngpu=1\n", PLACE_SPREAD);
	joins(w, 1, "w1", "cpu=4000\ngpu=4\n", NULL, NULL);
	a = submit(w, q, "gpu=3\n");
	assert_true(str_is(world_task(w, a)->state.charged, "+zone=home\ncpu=500\ngpu=3\n"));
	assert_true(str_is(world_task(w, a)->spec.need, "gpu=3\n"));
	world_free(w);
}

STORY(who_is_unsure_holds_what_it_needs)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), a, b;

	joins(w, 1, "w1", "gpu=1\n", NULL, NULL);
	a = submit(w, q, "gpu=1\n");
	b = submit(w, q, "gpu=1\n");
	world_advance(w, 10000); /* no word of it */
	assert_true(core_task_unsure(w->core, a));
	assert_int_equal(used(w, "w1", "gpu"), 1);
	world_link_lost(w, 1);
	assert_int_equal(used(w, "w1", "gpu"), 1);
	joins(w, 1 + 1, "w1", "gpu=1\n", NULL, NULL); /* another process: the first is over */
	assert_int_equal(used(w, "w1", "gpu"), 1);
	assert_int_equal(link_of(w, b), 2);
	world_free(w);
}

STORY(who_offers_nothing_gets_nothing_that_needs)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), a, b;

	joins(w, 1, "old", NULL, NULL, NULL);
	a = submit(w, q, "+zone=home\n");
	b = submit(w, q, NULL);
	assert_int_equal(link_of(w, a), 0);
	assert_int_equal(link_of(w, b), 1);
	assert_string_equal(said(w, a, WHY_NEED_NO_OFFERS),
	    "1 of 1 workers do not say what they offer: they are of an older version, and get no "
	    "task that needs something");
	world_free(w);
}

STORY(who_offers_less_than_before_is_left_alone)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), a, b;
	struct link_held held;
	struct event ev = {.kind = EV_HELLO, .link = 5};

	joins(w, 1, "w1", "gpu=2\n", NULL, NULL);
	a = submit(w, q, "gpu=2\n");
	world_link_lost(w, 1);
	held = (struct link_held){a, 1, false, w->now_ms};
	ev.hello.facts = w->workers[0].facts;
	ev.hello.facts.offer = STR("gpu=1\n");
	ev.hello.tasks = &held;
	ev.hello.n_tasks = 1;
	ev.hello.dial = 2;
	world_step(w, &ev);
	b = submit(w, q, "gpu=1\n");
	assert_int_equal(link_of(w, b), 0);
	assert_string_equal(said(w, b, WHY_NEED_SHORT),
	    "it needs 1 of gpu: of 1 worker the freest has -1; total 1");
	world_ended(w, 5, a, 1, TASK_SUCCEEDED);
	assert_int_equal(link_of(w, b), 5);
	world_free(w);
}

static void submit_many(struct world *w, rid q, int n)
{
	for (int i = 0; i < n; i++)
		submit(w, q, "cpu=1000\n");
}

STORY(a_queue_spreads_or_packs)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);

	joins(w, 1, "w1", "cpu=4000\n", NULL, NULL);
	joins(w, 2, "w2", "cpu=4000\n", NULL, NULL);
	submit_many(w, q, 2);
	assert_int_equal(used(w, "w1", "cpu"), 1000);
	assert_int_equal(used(w, "w2", "cpu"), 1000);
	set_queue(w, q, NULL, PLACE_PACK);
	submit_many(w, q, 3);
	assert_int_equal(used(w, "w1", "cpu") + used(w, "w2", "cpu"), 5000);
	assert_true(used(w, "w1", "cpu") == 4000 || used(w, "w2", "cpu") == 4000);
	world_free(w);
}

STORY(what_needs_something_is_written_before_it_is_sent)
{
	struct core_options o = {.is_volatile = true, .caution_startup_wait = true};
	struct world *w = world_new(&o);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), a;
	struct queue_change ch = {.fields = QUEUE_BIT(max_attempts), .row = {.max_attempts = 3}};
	struct event ev = {.kind = EV_SET, .object.kind = KIND_QUEUE, .ticket = ++w->last_ticket};

	ev.object.id = q;
	ev.object.row = &ch.row;
	ev.object.fields = ch.fields;
	world_step(w, &ev);
	joins(w, 1, "w1", "gpu=1\n", NULL, NULL);
	world_beat(w, 1, 1);
	world_beat(w, 1, 2);
	world_advance(w, 60000);
	world_beat(w, 1, 3);
	a = submit(w, q, "gpu=1\n");
	if (link_of(w, a)) /* it may take a beat more to be let in */
		assert_int_equal(world_task(w, a)->state.status, TASK_CLAIMED);
	world_free(w);
}

/* A task that has waited for room goes before the one whose task has just made it. */
STORY(queues_take_turns_on_a_full_worker)
{
	struct world *w = world_new(NULL);
	rid a = world_queue(w, "a", -1, ORDER_FIFO), b = world_queue(w, "b", -1, ORDER_FIFO);
	rid of_a[4], of_b[4];

	world_hello(w, 1, "w1", 1, 1, NULL, 0);
	for (int i = 0; i < 4; i++)
		of_a[i] = submit(w, a, NULL);
	for (int i = 0; i < 4; i++)
		of_b[i] = submit(w, b, NULL);
	for (int i = 0; i < 3; i++) {
		ends(w, of_a[i]);
		assert_int_equal(link_of(w, of_b[i]), 1);
		assert_int_equal(link_of(w, of_a[i + 1]), 0);
		ends(w, of_b[i]);
		assert_int_equal(link_of(w, of_a[i + 1]), 1);
	}
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_task_goes_where_it_may_be),
	    cmocka_unit_test(nothing_is_overcommitted),
	    cmocka_unit_test(a_blocked_task_lets_others_pass),
	    cmocka_unit_test(order_is_kept_within_a_need),
	    cmocka_unit_test(a_big_task_does_not_starve),
	    cmocka_unit_test(the_cluster_has_its_own),
	    cmocka_unit_test(what_was_charged_is_what_is_given_back),
	    cmocka_unit_test(a_tasks_own_amount_stands_for_its_queues),
	    cmocka_unit_test(who_is_unsure_holds_what_it_needs),
	    cmocka_unit_test(who_offers_nothing_gets_nothing_that_needs),
	    cmocka_unit_test(who_offers_less_than_before_is_left_alone),
	    cmocka_unit_test(queues_take_turns_on_a_full_worker),
	    cmocka_unit_test(a_queue_spreads_or_packs),
	    cmocka_unit_test(what_needs_something_is_written_before_it_is_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
