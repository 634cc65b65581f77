/* SPDX-License-Identifier: Apache-2.0 */
/* Stories about what people ask for: keys, cancels, retries, holds, pauses; each through the
 * brain's one door. */
#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STORY(name) static void name(void **state)

STORY(a_unique_key_names_its_twin_until_it_has_ended)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), a, b;

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	a = world_submit_key(w, q, "k");
	b = world_submit_key(w, q, "k");
	assert_int_equal(a, b);
	assert_true(world_reply(w)->outcomes[0].twin);
	assert_int_not_equal(world_submit_key(w, q, "other"), a);
	world_ended(w, 1, a, 1, TASK_SUCCEEDED);
	assert_int_not_equal(world_submit_key(w, q, "k"), a);
	world_free(w);
}

STORY(two_submits_with_one_key_in_flight_make_one_task)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", 0, ORDER_FIFO);

	w->hold_reads = true;
	w->hold = true;
	world_submit_key(w, q, "k");
	world_submit_key(w, q, "k");
	world_submit_key(w, q, "k");
	w->hold = false;
	world_commit(w);
	w->hold_reads = false;
	world_answer_reads(w);
	assert_int_equal(w->n_tasks, 1);
	assert_int_equal(world_counts(w, q).queued, 1);
	world_free(w);
}

STORY(an_idempotency_key_answers_as_the_first_time)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", 0, ORDER_FIFO), first;
	struct submit_task s[3] = {0};
	struct event ev = {.kind = EV_SUBMIT, .idem_key = STR("abc"), .idem_fingerprint = 5};

	for (int i = 0; i < 3; i++)
		s[i] = (struct submit_task){
		    .status = TASK_QUEUED, .spec = {.queue = q, .body = STR("{}")}};
	ev.submit.tasks = s;
	ev.submit.n = 3;
	ev.ticket = ++w->last_ticket;
	world_step(w, &ev);
	first = world_reply(w)->outcomes[0].id;
	ev.ticket = ++w->last_ticket;
	world_step(w, &ev);
	assert_true(world_reply(w)->replayed);
	assert_int_equal(world_reply(w)->n, 3);
	assert_int_equal(world_reply(w)->outcomes[0].id, first);
	assert_int_equal(world_reply(w)->outcomes[2].id, first + 2);
	assert_int_equal(w->n_tasks, 3);
	ev.idem_fingerprint = 6;
	ev.ticket = ++w->last_ticket;
	world_step(w, &ev);
	assert_int_equal(world_reply(w)->code, ERR_REUSED_KEY);
	world_free(w);
}

STORY(cancel_queued_held_deep_and_running)
{
	struct core_options small = {.window_tasks = 2};
	struct world *w = world_new(&small);
	rid q = world_queue(w, "q", 1, ORDER_FIFO), t[6], held;
	struct submit_task s = {.status = -10, .spec = {.queue = q, .body = STR("{}")}};

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	for (int i = 0; i < 6; i++)
		t[i] = world_submit_one(w, q);
	held = world_submit(w, &s, 1)->outcomes[0].id;
	assert_int_equal(world_tasks(w, EV_CANCEL, &t[1], 1)->outcomes[0].code, 0);
	assert_int_equal(
	    world_tasks(w, EV_CANCEL, &t[5], 1)->outcomes[0].code, 0); /* in the store */
	assert_int_equal(world_tasks(w, EV_CANCEL, &held, 1)->outcomes[0].code, 0);
	assert_int_equal(world_task(w, t[5])->state.status, TASK_CANCELLED);
	assert_int_equal(world_task(w, held)->state.status, TASK_CANCELLED);
	assert_int_equal(world_counts(w, q).held, 0);
	world_tasks(w, EV_CANCEL, &t[0], 1);
	assert_int_equal(world_sent(w, MSG_KILL, 0)->kill.task, t[0]);
	assert_int_equal(world_task(w, t[0])->state.wish, WISH_CANCEL);
	struct event ev = {.kind = EV_ENDED};
	ev.link = 1;
	ev.ended.task = t[0];
	ev.ended.token = 1;
	ev.ended.status = TASK_FAILED;
	ev.ended.killed = true;
	ev.ended.started_ms = 1;
	world_step(w, &ev);
	assert_int_equal(world_task(w, t[0])->state.status, TASK_CANCELLED);
	assert_int_equal(world_tasks(w, EV_CANCEL, &t[0], 1)->outcomes[0].code, ERR_CONFLICT);
	assert_int_equal(
	    world_tasks(w, EV_CANCEL, &(rid){12345}, 1)->outcomes[0].code, ERR_NOT_FOUND);
	world_free(w);
}

STORY(retry_gives_an_ended_task_a_fresh_life)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = world_submit_one(w, q);
	assert_int_equal(world_tasks(w, EV_RETRY, &t, 1)->outcomes[0].code, ERR_CONFLICT);
	world_ended(w, 1, t, 1, TASK_FAILED);
	assert_int_equal(world_tasks(w, EV_RETRY, &t, 1)->outcomes[0].code, 0);
	assert_int_equal(world_task(w, t)->state.status, TASK_CLAIMED);
	assert_int_equal(world_task(w, t)->state.attempt, 2);
	assert_int_equal(world_task(w, t)->state.attempts_before, 1);
	assert_int_equal(world_task(w, t)->state.token, 2);
	assert_true(world_task(w, t)->state.history.n > 0);
	world_free(w);
}

STORY(hold_and_release)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	struct event ev = {.kind = EV_TASK_SET};

	t = world_submit_one(w, q);
	ev.tasks.ids = &t;
	ev.tasks.n = 1;
	ev.tasks.has_status = true;
	ev.tasks.status = -7;
	ev.ticket = ++w->last_ticket;
	world_step(w, &ev);
	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	assert_int_equal(world_count_sent(w, MSG_RUN), 0);
	assert_int_equal(world_counts(w, q).held, 1);
	ev.tasks.status = TASK_QUEUED;
	ev.ticket = ++w->last_ticket;
	world_step(w, &ev);
	assert_int_equal(world_count_sent(w, MSG_RUN), 1);
	world_free(w);
}

STORY(a_paused_queue_starts_nothing_and_resumes_by_itself)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);
	struct event ev = {.kind = EV_PAUSE, .object.kind = KIND_QUEUE, .ticket = ++w->last_ticket};

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	ev.object.id = q;
	ev.object.reason = STR("maintenance");
	ev.object.until_ms = w->now_ms + 5000;
	world_step(w, &ev);
	world_submit_one(w, q);
	world_advance(w, 4999);
	assert_int_equal(world_count_sent(w, MSG_RUN), 0);
	world_advance(w, 1);
	assert_int_equal(world_count_sent(w, MSG_RUN), 1);
	world_free(w);
}

STORY(run_after_waits_on_the_wall_clock)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);
	struct submit_task s = {.status = TASK_QUEUED,
	    .spec = {.queue = q, .run_after_ms = w->now_ms + 60000, .body = STR("{}")}};

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	world_submit(w, &s, 1);
	assert_int_equal(world_counts(w, q).delayed, 1);
	world_advance(w, 59999);
	assert_int_equal(world_count_sent(w, MSG_RUN), 0);
	world_restart(w); /* and survives a restart */
	world_hello(w, 2, "w1", 1, 2, NULL, 0);
	world_advance(w, 1);
	assert_int_equal(world_count_sent(w, MSG_RUN), 1);
	assert_int_equal(world_counts(w, q).delayed, 0);
	world_free(w);
}

STORY(a_queue_is_deleted_only_when_it_holds_nothing_or_by_force)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", 1, ORDER_FIFO);
	struct event ev = {.kind = EV_DELETE, .object.kind = KIND_QUEUE};

	world_submit_one(w, q);
	ev.object.id = q;
	ev.ticket = ++w->last_ticket;
	world_step(w, &ev);
	assert_int_equal(world_reply(w)->code, ERR_CONFLICT);
	ev.object.force = true;
	ev.ticket = ++w->last_ticket;
	world_step(w, &ev);
	assert_int_equal(world_reply(w)->code, 0);
	assert_null(core_queue(w->core, q));
	world_free(w);
}

STORY(a_task_that_is_leaving_memory_is_still_found)
{
	struct core_options small = {.window_tasks = 2};
	struct world *w = world_new(&small);
	rid q = world_queue(w, "q", 0, ORDER_FIFO), deep[2], nobody = 12345;
	struct event ev = {.kind = EV_CANCEL};

	deep[0] = world_submit_one(w, q);
	for (int i = 0; i < 4; i++)
		deep[1] = world_submit_one(w, q); /* the last one is in the store only */
	w->hold_reads = true;
	ev.tasks.n = 1;
	ev.tasks.ids = &nobody; /* a read is under way */
	world_step(w, &ev);
	ev = (struct event){.kind = EV_TASK_SET};
	ev.tasks.n = 1;
	ev.tasks.ids = &deep[0]; /* it leaves memory now, as a ghost */
	ev.tasks.has_status = true;
	ev.tasks.status = -9;
	world_step(w, &ev);
	/* both of these wait behind the first read; the one needs a read, the other is a ghost */
	ev = (struct event){.kind = EV_CANCEL, .ticket = ++w->last_ticket};
	ev.tasks.ids = (rid[]){deep[1], deep[0]};
	ev.tasks.n = 2;
	world_step(w, &ev);
	w->hold_reads = false;
	world_answer_reads(w);
	assert_int_equal(world_reply(w)->outcomes[0].code, 0);
	assert_int_equal(world_reply(w)->outcomes[1].code, 0);
	assert_int_equal(world_task(w, deep[0])->state.status, TASK_CANCELLED);
	world_free(w);
}

STORY(a_change_of_order_reaches_the_whole_backlog)
{
	struct core_options small = {.window_tasks = 2};
	struct world *w = world_new(&small);
	rid q = world_queue(w, "q", 1, ORDER_FIFO), t[6];
	struct queue_change ch = {.fields = QUEUE_BIT(order), .row = {.order = ORDER_PRIORITY}};
	struct event ev = {.kind = EV_SET, .object.kind = KIND_QUEUE, .ticket = ++w->last_ticket};

	for (int i = 0; i < 6; i++) {
		struct submit_task s = {
		    .status = TASK_QUEUED, .spec = {.queue = q, .priority = i, .body = STR("{}")}};

		t[i] = world_submit(w, &s, 1)->outcomes[0].id;
	}
	ev.object.id = q;
	ev.object.row = &ch.row;
	ev.object.fields = ch.fields;
	ev.ticket = ++w->last_ticket;
	world_step(w, &ev);
	world_hello(w, 1, "w1", 1, 1, NULL, 0);
	for (int i = 5; i >= 0; i--) {
		assert_int_equal(world_sent(w, MSG_RUN, (size_t)(5 - i))->run.task, t[i]);
		world_ended(w, 1, t[i], 1, TASK_SUCCEEDED);
	}
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_unique_key_names_its_twin_until_it_has_ended),
	    cmocka_unit_test(two_submits_with_one_key_in_flight_make_one_task),
	    cmocka_unit_test(an_idempotency_key_answers_as_the_first_time),
	    cmocka_unit_test(cancel_queued_held_deep_and_running),
	    cmocka_unit_test(retry_gives_an_ended_task_a_fresh_life),
	    cmocka_unit_test(hold_and_release),
	    cmocka_unit_test(a_paused_queue_starts_nothing_and_resumes_by_itself),
	    cmocka_unit_test(run_after_waits_on_the_wall_clock),
	    cmocka_unit_test(a_queue_is_deleted_only_when_it_holds_nothing_or_by_force),
	    cmocka_unit_test(a_task_that_is_leaving_memory_is_still_found),
	    cmocka_unit_test(a_change_of_order_reaches_the_whole_backlog),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
