/* SPDX-License-Identifier: Apache-2.0 */
/* How many tasks with one key are dispatched: exactly as many as may be. */
#include "needs_story.h"

#include <stdio.h>

#include "core/state.h"

static bool has_throttle(struct world *w, const char *key)
{
	return throttle_find(w->core, str_of(key)) != NULL;
}

static rid sent(struct world *w, size_t nth)
{
	for (size_t i = 0; i < w->n_sent; i++)
		if (w->sent[i].kind == MSG_RUN && nth-- == 0)
			return w->sent[i].run.task;
	return 0;
}

/* Over all queues and workers; others pass; who waits is told the number; and it goes in the end.
 */
STORY(a_throttle_is_exact)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), other = world_queue(w, "o", -1, ORDER_FIFO);
	rid t[6], plain, elsewhere;

	world_hello(w, 1, "w1", 1, 20, NULL, 0); /* it offers nothing, and need not */
	joins(w, 2, "w2", "cpu=8000\n", NULL, NULL);
	for (int i = 0; i < 5; i++)
		t[i] = submit(w, q, "%array.a=2\n");
	t[5] = submit(w, other, "%array.a=2\n");
	elsewhere = submit(w, q, "%array.b=2\n");
	plain = submit(w, q, NULL);
	assert_int_equal(world_count_sent(w, MSG_RUN), 4);
	assert_true(link_of(w, t[0]) && link_of(w, t[1]) && link_of(w, plain));
	assert_true(link_of(w, elsewhere));
	assert_string_equal(
	    said(w, t[2], WHY_THROTTLED_ARRAY), "2 of at most 2 tasks of this array run");
	assert_true(str_is(world_task(w, t[0])->state.charged, "%array.a=2\n"));
	for (size_t done = 0; done < 6; done++) {
		assert_int_equal(
		    throttle_find(w->core, STR("array.a"))->held.used, done < 5 ? 2 : 1);
		for (size_t i = 0;; i++) {
			rid task = sent(w, i);

			if (task == plain || task == elsewhere ||
			    world_task(w, task)->state.status > 0)
				continue;
			ends(w, task);
			break;
		}
	}
	assert_int_equal(world_count_sent(w, MSG_RUN), 8);
	ends(w, elsewhere);
	ends(w, plain);
	for (int i = 0; i < 20; i++) { /* needs that nobody has are forgotten when others come */
		char need[32];

		snprintf(need, sizeof need, "%%other%d=1\n", i);
		ends(w, submit(w, q, need));
		ends(w, submit(w, other, need));
	}
	assert_false(has_throttle(w, "array.a") || has_throttle(w, "array.b"));
	assert_true(has_throttle(w, "other19"));
	world_free(w);
}

STORY(a_throttle_counts_over_a_restart)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t[4];
	struct event ev = {.kind = EV_HELLO, .link = 2};
	struct link_held held[2];

	joins(w, 1, "w1", "cpu=1000\n", NULL, NULL);
	for (int i = 0; i < 4; i++)
		t[i] = submit(w, q, "%db=2\n");
	assert_int_equal(world_count_sent(w, MSG_RUN), 2);
	world_restart(w);
	assert_int_equal(throttle_find(w->core, STR("db"))->held.used, 2);
	held[0] = (struct link_held){t[0], 1, false, w->now_ms};
	held[1] = (struct link_held){t[1], 1, false, w->now_ms};
	ev.hello.facts = w->workers[0].facts;
	ev.hello.tasks = held;
	ev.hello.n_tasks = 2;
	world_forget_sent(w);
	world_step(w, &ev);
	assert_int_equal(world_count_sent(w, MSG_RUN), 0);
	assert_string_equal(
	    said(w, t[2], WHY_THROTTLED), "2 of at most 2 tasks of the throttle db run");
	world_ended(w, 2, t[0], 1, TASK_SUCCEEDED);
	assert_int_equal(link_of(w, t[2]), 2);
	assert_int_equal(link_of(w, t[3]), 0);
	world_ended(w, 2, t[1], 1, TASK_SUCCEEDED);
	assert_int_equal(link_of(w, t[3]), 2);
	world_free(w);
}

STORY(who_is_unsure_counts_for_its_throttle)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), a, b;

	joins(w, 1, "w1", "cpu=1000\n", NULL, NULL);
	a = submit(w, q, "%db=1\n");
	b = submit(w, q, "%db=1\n");
	world_advance(w, 10000); /* no word of it */
	assert_true(core_task_unsure(w->core, a));
	assert_int_equal(link_of(w, b), 0);
	joins(w, 2, "w2", "cpu=1000\n", NULL, NULL);
	assert_int_equal(link_of(w, b), 0);
	world_link_lost(w, 1);
	assert_int_equal(link_of(w, b), 0);
	joins(w, 3, "w1", "cpu=1000\n", NULL, NULL); /* another process: the first is over */
	assert_int_not_equal(link_of(w, b), 0);
	world_free(w);
}

/* The limit is that of the task that is to start. */
STORY(a_throttle_with_two_limits)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), strict, t[3];

	joins(w, 1, "w1", "cpu=1000\n", NULL, NULL);
	t[0] = submit(w, q, "%db=3\n");
	strict = submit(w, q, "%db=1\n");
	t[1] = submit(w, q, "%db=3\n");
	t[2] = submit(w, q, "%db=3\n");
	assert_int_equal(world_count_sent(w, MSG_RUN), 3);
	ends(w, t[0]);
	ends(w, t[1]);
	assert_int_equal(link_of(w, strict), 0);
	ends(w, t[2]);
	assert_int_equal(link_of(w, strict), 1);
	world_free(w);
}

/* Passed over by ever so many it keeps nothing from anybody: it could not start anyway. */
STORY(who_is_throttled_keeps_nothing)
{
	const struct amount has[] = {{STR("licence"), 2}};
	struct core_options o = {.resources = has, .n_resources = 1};
	struct world *w = world_new(&o);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), slow, waits;

	joins(w, 1, "w1", "gpu=2\n", NULL, NULL);
	slow = submit(w, q, "%db=1\ngpu=1\nlicence=1\n");
	waits = submit(w, q, "%db=1\ngpu=1\nlicence=1\n");
	for (int i = 0; i < 60; i++) {
		rid other = submit(w, q, "gpu=1\nlicence=1\n");

		assert_int_equal(link_of(w, other), 1);
		ends(w, other);
	}
	assert_int_equal(link_of(w, waits), 0);
	ends(w, slow);
	assert_int_equal(link_of(w, waits), 1);
	world_free(w);
}

/* A worker is kept for it; then another one takes its throttle, and the worker is free for others.
 */
STORY(who_becomes_throttled_lets_go)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), small[64], big, taker;
	int n = 0, ended = 0;

	joins(w, 1, "w1", "gpu=4\n", NULL, NULL);
	for (; n < 5; n++)
		small[n] = submit(w, q, "gpu=1\n");
	big = submit(w, q, "%db=1\ngpu=4\n");
	while (n < 60 && link_of(w, small[n - 1]) == 0) { /* until the first one is not replaced */
		small[n++] = submit(w, q, "gpu=1\n");
		ends(w, small[ended++]);
		if (used(w, "w1", "gpu") < 4)
			break;
	}
	assert_int_equal(used(w, "w1", "gpu"), 3);
	assert_int_equal(link_of(w, big), 0);
	taker = submit(w, q, "%db=1\n");
	assert_int_equal(link_of(w, taker), 1);
	assert_int_equal(used(w, "w1", "gpu"), 4);
	while (ended < n)
		ends(w, small[ended++]);
	assert_int_equal(link_of(w, big), 0);
	ends(w, taker);
	assert_int_equal(link_of(w, big), 1);
	world_free(w);
}

/* More throttled arrays than a queue has lists: the next one starts all the same. */
STORY(many_throttled_arrays_leave_room_for_more)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), first[300], second[300];

	world_hello(w, 1, "w1", 1, 1000, NULL, 0);
	for (int i = 0; i < 300; i++) {
		char need[32];

		snprintf(need, sizeof need, "%%array.%d=1\n", i);
		first[i] = submit(w, q, need);
		second[i] = submit(w, q, need);
		assert_int_equal(link_of(w, first[i]), 1);
		assert_int_equal(link_of(w, second[i]), 0);
	}
	for (int i = 0; i < 300; i++) {
		ends(w, first[i]);
		assert_int_equal(link_of(w, second[i]), 1);
	}
	world_free(w);
}

/* The same when they had their lists before they were throttled. */
STORY(who_waits_for_a_list_gets_that_of_a_throttled_one)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), last = 0;

	world_hello(w, 1, "w1", 1, 1, NULL, 0);
	submit(w, q, NULL); /* the worker is full */
	for (int i = 0; i < 300; i++) {
		char need[32];

		snprintf(need, sizeof need, "%%array.%d=1\n", i);
		last = submit(w, q, need);
		submit(w, q, need);
	}
	world_hello(w, 2, "w2", 2, 1000, NULL, 0);
	assert_int_equal(link_of(w, last), 2);
	assert_int_equal(world_count_sent(w, MSG_RUN), 301);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_throttle_is_exact),
	    cmocka_unit_test(a_throttle_counts_over_a_restart),
	    cmocka_unit_test(who_is_unsure_counts_for_its_throttle),
	    cmocka_unit_test(a_throttle_with_two_limits),
	    cmocka_unit_test(who_is_throttled_keeps_nothing),
	    cmocka_unit_test(who_becomes_throttled_lets_go),
	    cmocka_unit_test(many_throttled_arrays_leave_room_for_more),
	    cmocka_unit_test(who_waits_for_a_list_gets_that_of_a_throttled_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
