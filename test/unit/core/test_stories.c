/* SPDX-License-Identifier: Apache-2.0 */
/* Stories about how tasks run and what becomes of workers, each told through the brain's one door.
 */
#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/task/history.h"

/* Healthchecks don't matter; a beat may be a second old, then nine seconds remain. */
#define NEVER_MS (INT64_MAX / 16)
#define QUICK                                     \
	{                                         \
		1000, 0, NEVER_MS, NEVER_MS, 9000 \
	}
#define QUICK_LOSS_MS 10002 /* each limit is passed only when something is strictly older */

#define STORY(name) static void name(void **state)

STORY(a_task_runs_and_succeeds)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	const struct message *run;

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	assert_non_null(world_sent(w, MSG_WELCOME, 0));
	t = world_submit_one(w, q);
	run = world_sent(w, MSG_RUN, 0);
	assert_non_null(run);
	assert_int_equal(run->run.task, t);
	assert_int_equal(run->run.token, 1);
	assert_int_equal(world_task(w, t)->state.status, TASK_CLAIMED);
	world_started(w, 1, t, 1);
	assert_int_equal(world_task(w, t)->state.status, TASK_RUNNING);
	world_ended(w, 1, t, 1, TASK_SUCCEEDED);
	assert_int_equal(world_task(w, t)->state.status, TASK_SUCCEEDED);
	assert_int_equal(world_count_sent(w, MSG_ENDED_ACK), 1);
	assert_int_equal(world_counts(w, q).running, 0);
	world_free(w);
}

static void ended_with(struct world *w, rid task, int64_t token, int status, const char *result)
{
	struct event ev = {.kind = EV_ENDED};

	ev.link = 1;
	ev.ended.task = task;
	ev.ended.token = token;
	ev.ended.status = status;
	ev.ended.started_ms = ev.ended.ended_ms = w->now_ms;
	ev.ended.usage = (struct usage){10 * token, 1, 2, 3, true};
	ev.ended.result = str_of(result);
	world_step(w, &ev);
}

/* Kept with the end; a further attempt begins with neither, and brings its own. */
STORY(usage_and_result_are_the_last_attempts)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	struct submit_task s = {.status = TASK_QUEUED,
	    .spec = {.queue = q, .max_attempts = 2, .body = STR("{}"), .backoff_max_ms = -1}};

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = world_submit(w, &s, 1)->outcomes[0].id;
	ended_with(w, t, 1, TASK_FAILED, "half");
	assert_null(world_task(w, t)->state.result.p);
	world_advance(w, 1000);
	assert_int_equal(world_task(w, t)->state.status, TASK_CLAIMED);
	assert_false(world_task(w, t)->state.usage.known);
	ended_with(w, t, 2, TASK_SUCCEEDED, "whole");
	assert_true(str_is(world_task(w, t)->state.result, "whole"));
	assert_true(world_task(w, t)->state.usage.known);
	assert_int_equal(world_task(w, t)->state.usage.user_us, 20);
	world_tasks(w, EV_RETRY, &t, 1);
	assert_null(world_task(w, t)->state.result.p);
	assert_false(world_task(w, t)->state.usage.known);
	world_free(w);
}

STORY(the_queues_settings_go_with_the_run)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);
	struct queue_change ch = {.fields = QUEUE_BIT(run), .row.run = STR("{\"nice\":5}")};
	struct event ev = {.kind = EV_SET, .object.kind = KIND_QUEUE, .ticket = ++w->last_ticket};

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	world_submit_one(w, q);
	assert_null(world_sent(w, MSG_RUN, 0)->run.run_settings.p);
	ev.object.id = q;
	ev.object.row = &ch.row;
	ev.object.fields = ch.fields;
	world_step(w, &ev);
	world_restart(w);
	world_hello(w, 2, "w1", 2, 2, NULL, 0);
	world_forget_sent(w);
	world_submit_one(w, q);
	assert_true(str_is(world_sent(w, MSG_RUN, 0)->run.run_settings, "{\"nice\":5}"));
	world_free(w);
}

/* Nobody runs what the store cannot vouch for; the others go on, and a release changes nothing. */
STORY(a_damaged_task_is_set_aside)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), bad, good;
	struct event release = {.kind = EV_TASK_SET};

	bad = world_submit_one(w, q);
	good = world_submit_one(w, q);
	world_task(w, bad)->damage = DAMAGED_BODY;
	world_restart(w);
	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	assert_int_equal(world_task(w, bad)->state.status, TASK_BLOCKED);
	assert_int_equal(world_task(w, good)->state.status, TASK_CLAIMED);
	assert_int_equal(world_count_sent(w, MSG_RUN), 1);
	release.ticket = ++w->last_ticket;
	release.tasks.ids = &bad;
	release.tasks.n = 1;
	release.tasks.has_status = true;
	release.tasks.status = TASK_QUEUED;
	world_step(w, &release);
	assert_int_equal(world_task(w, bad)->state.status, TASK_BLOCKED);
	assert_int_equal(world_count_sent(w, MSG_RUN), 1);
	world_free(w);
}

STORY(nothing_leaves_before_the_commit)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	world_forget_sent(w);
	w->hold = true;
	world_submit_one(w, q);
	assert_int_equal(w->n_sent, 0);
	assert_int_equal(w->fx.n_messages, 1);
	assert_int_equal(w->fx.n_replies, 1);
	assert_int_equal(w->fx.batch.n, 1); /* inserted as claimed: one row, one commit */
	assert_int_equal(w->fx.batch.rows[0].verb, ROW_INSERT);
	assert_ptr_equal(w->fx.batch.rows[0].table, &task_table);
	assert_int_equal(((struct task_row *)w->fx.batch.rows[0].row)->state.status, TASK_CLAIMED);
	world_free(w);
}

STORY(threads_and_maxthreads_are_exact)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", 3, ORDER_FIFO), t[10];

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	world_hello(w, 2, "w2", 2, 2, NULL, 0);
	for (int i = 0; i < 10; i++)
		t[i] = world_submit_one(w, q);
	assert_int_equal(world_count_sent(w, MSG_RUN), 3);
	world_ended(w, world_sent(w, MSG_RUN, 0)->link, t[0], 1, TASK_SUCCEEDED);
	assert_int_equal(world_count_sent(w, MSG_RUN), 4);
	assert_int_equal(world_counts(w, q).claimed, 3);
	world_free(w);
}

static void orders_by(enum queue_order order, const int *priorities, const int *expected)
{
	struct core_options small = {.window_tasks = 2};
	struct world *w = world_new(&small);
	rid q = world_queue(w, "q", 1, order), t[5];

	for (int i = 0; i < 5; i++) {
		struct submit_task s = {.status = TASK_QUEUED,
		    .spec = {.queue = q,
		        .priority = priorities[i],
		        .body = STR("{}"),
		        .backoff_ms = -1,
		        .backoff_max_ms = -1}};

		t[i] = world_submit(w, &s, 1)->outcomes[0].id;
	}
	world_hello(w, 1, "w1", 1, 1, NULL, 0);
	for (int i = 0; i < 5; i++) {
		const struct message *m = world_sent(w, MSG_RUN, (size_t)i);

		assert_non_null(m);
		assert_int_equal(m->run.task, t[expected[i]]);
		world_ended(w, 1, m->run.task, m->run.token, TASK_SUCCEEDED);
	}
	assert_int_equal(world_counts(w, q).queued, 0);
	world_free(w);
}

/* Each with a window of two, so that most of the queue is read from the store. */
STORY(order_fifo)
{
	orders_by(ORDER_FIFO, (int[]){0, 9, 1, 5, 2}, (int[]){0, 1, 2, 3, 4});
}

STORY(order_lifo)
{
	orders_by(ORDER_LIFO, (int[]){0, 9, 1, 5, 2}, (int[]){4, 3, 2, 1, 0});
}

STORY(order_priority)
{
	orders_by(ORDER_PRIORITY, (int[]){0, 9, 1, 9, -2}, (int[]){1, 3, 2, 0, 4});
}

/* The pause doubles up to its greatest, and is spread over the upper half of that. */
STORY(a_failed_task_is_retried_with_backoff_then_fails)
{
	static const int64_t wholes[] = {1000, 2000, 3000};
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	struct submit_task s = {.status = TASK_QUEUED,
	    .spec = {.queue = q,
	        .max_attempts = 4,
	        .backoff_ms = 1000,
	        .backoff_max_ms = 3000,
	        .body = STR("{}")}};
	bool is_spread = false;

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = world_submit(w, &s, 1)->outcomes[0].id;
	for (size_t i = 0; i < 3; i++) {
		world_ended(w, 1, t, (int64_t)i + 1, TASK_FAILED);
		assert_int_equal(world_task(w, t)->state.status, TASK_QUEUED);
		assert_true(world_task(w, t)->state.due_ms >= w->now_ms + wholes[i] / 2);
		assert_true(world_task(w, t)->state.due_ms <= w->now_ms + wholes[i]);
		is_spread |= world_task(w, t)->state.due_ms != w->now_ms + wholes[i];
		world_advance(w, wholes[i] / 2 - 1);
		assert_int_equal(world_count_sent(w, MSG_RUN), i + 1);
		world_advance(w, wholes[i] / 2 + 1);
		assert_int_equal(world_count_sent(w, MSG_RUN), i + 2);
	}
	assert_true(is_spread);
	world_ended(w, 1, t, 4, TASK_FAILED);
	assert_int_equal(world_task(w, t)->state.status, TASK_FAILED);
	assert_int_equal(world_task(w, t)->state.attempt, 4);
	world_free(w);
}

static void retry(struct world *w, rid task)
{
	struct event ev = {.kind = EV_RETRY, .ticket = ++w->last_ticket};

	ev.tasks.ids = &task;
	ev.tasks.n = 1;
	world_step(w, &ev);
	assert_int_equal(world_reply(w)->outcomes[0].code, 0);
}

/* Each number names one attempt; and all that a task may have, it may have again. */
STORY(attempt_numbers_go_on_after_a_retry)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	struct submit_task s = {.status = TASK_QUEUED,
	    .spec = {.queue = q,
	        .max_attempts = 2,
	        .backoff_ms = 1000,
	        .backoff_max_ms = 60000,
	        .body = STR("{}")}};
	struct attempt past;
	struct str history;

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = world_submit(w, &s, 1)->outcomes[0].id;
	for (int n = 1; n <= 6; n++) {
		const struct message *run = world_sent(w, MSG_RUN, n - 1);

		assert_non_null(run);
		assert_int_equal(run->run.attempt, n);
		assert_int_equal(run->run.max_attempts, (n + 1) / 2 * 2);
		world_ended(w, 1, t, n, TASK_FAILED);
		assert_int_equal(world_task(w, t)->state.attempt, n);
		if (n % 2 == 0) {
			assert_int_equal(world_task(w, t)->state.status, TASK_FAILED);
			retry(w, t);
			continue;
		}
		/* the first backoff of three, each time */
		assert_true(world_task(w, t)->state.due_ms <= w->now_ms + 1000);
		world_advance(w, 1000);
	}
	history = world_task(w, t)->state.history;
	for (int n = 1; n <= 6; n++) {
		assert_true(history_next(&history, &past));
		assert_int_equal(past.number, n);
		assert_int_equal(past.token, n);
	}
	assert_int_equal(world_task(w, t)->state.attempt, 7);
	assert_int_equal(world_task(w, t)->state.attempts_before, 6);
	world_free(w);
}

STORY(an_order_that_never_became_a_process_does_not_count)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	struct event ev = {.kind = EV_ENDED};

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = world_submit_one(w, q);
	ev.link = 1;
	ev.ended.task = t;
	ev.ended.token = 1;
	ev.ended.status = TASK_FAILED;
	ev.ended.reason = STR("the worker is leaving");
	world_step(w, &ev);
	assert_int_equal(world_task(w, t)->state.status, TASK_QUEUED);
	assert_int_equal(world_task(w, t)->state.attempt, 0);
	world_advance(w, 1000);
	assert_int_equal(world_task(w, t)->state.status, TASK_CLAIMED);
	assert_int_equal(world_task(w, t)->state.token, 2);
	world_free(w);
}

STORY(a_stale_token_changes_nothing)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = world_submit_one(w, q);
	world_ended(w, 1, t, 7, TASK_SUCCEEDED);
	assert_int_equal(world_task(w, t)->state.status, TASK_CLAIMED);
	assert_int_equal(world_count_sent(w, MSG_ENDED_ACK), 1); /* so that the worker lets go */
	world_free(w);
}

STORY(a_restarted_server_waits_for_the_worker_s_word)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), a, b;
	struct link_held held;

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	a = world_submit_one(w, q);
	b = world_submit_one(w, q);
	world_restart(w);
	world_forget_sent(w);
	assert_int_equal(world_counts(w, q).claimed, 2);
	/* the worker received a, but b was lost with the connection */
	held = (struct link_held){a, 1, false, w->now_ms};
	world_hello(w, 2, "w1", 1, 2, &held, 1);
	assert_int_equal(world_task(w, a)->state.status, TASK_RUNNING);
	assert_int_equal(world_count_sent(w, MSG_RUN), 1);
	assert_int_equal(world_sent(w, MSG_RUN, 0)->run.task, b);
	assert_int_equal(world_sent(w, MSG_RUN, 0)->run.token, 2);
	assert_int_equal(world_task(w, b)->state.attempt, 1);
	world_free(w);
}

STORY(a_restarted_worker_orphans_what_may_not_run_twice)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), once, again;
	struct submit_task s = {.status = TASK_QUEUED,
	    .spec = {.queue = q,
	        .max_attempts = 3,
	        .backoff_ms = 0,
	        .backoff_max_ms = 0,
	        .body = STR("{}")}};

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	once = world_submit_one(w, q);
	again = world_submit(w, &s, 1)->outcomes[0].id;
	world_link_lost(w, 1);
	assert_int_equal(world_task(w, once)->state.status, TASK_CLAIMED); /* unsure */
	world_hello(w, 2, "w1", 2, 2, NULL, 0);
	world_advance(w, 1);
	assert_int_equal(world_task(w, once)->state.status, TASK_ORPHANED);
	assert_int_equal(world_task(w, again)->state.status, TASK_CLAIMED);
	assert_int_equal(world_task(w, again)->state.token, 2);
	world_free(w);
}

STORY(a_silent_worker_is_lost_only_after_its_time)
{
	struct core_options o = {.timeouts = QUICK};
	struct world *w = world_new(&o);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = world_submit_one(w, q);
	world_link_lost(w, 1);
	world_advance(w, QUICK_LOSS_MS - 1);
	assert_int_equal(world_task(w, t)->state.status, TASK_CLAIMED);
	world_advance(w, 1);
	assert_int_equal(world_task(w, t)->state.status, TASK_ORPHANED);
	/* and it may not come back as if nothing had happened */
	world_forget_sent(w);
	world_hello(w, 2, "w1", 1, 2, NULL, 0);
	assert_non_null(world_sent(w, MSG_REFUSED, 0));
	assert_true(world_sent(w, MSG_REFUSED, 0)->refused.die);
	world_free(w);
}

STORY(a_connected_worker_that_says_nothing_is_lost_too)
{
	struct core_options o = {.timeouts = QUICK};
	struct world *w = world_new(&o);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	struct event beat = {.kind = EV_BEAT};

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = world_submit_one(w, q);
	world_advance(w, 600);
	beat.link = 1;
	world_step(w, &beat);
	world_advance(w, QUICK_LOSS_MS - 1);
	assert_int_equal(world_task(w, t)->state.status, TASK_CLAIMED);
	world_advance(w, 1);
	assert_int_equal(world_task(w, t)->state.status, TASK_ORPHANED);
	assert_non_null(world_sent(w, MSG_REFUSED, 0));
	world_free(w);
}

STORY(two_workers_with_one_name)
{
	struct world *w = world_new(NULL);
	struct worker_facts f = {.shard = STR("w1"),
	    .instance = 9,
	    .started_ms = 99,
	    .start = 99,
	    .lock = STR("another machine"),
	    .plugins = STR("command\n"),
	    .maxthreads = 1};
	struct event ev = {.kind = EV_HELLO};

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	ev.link = 2;
	ev.hello.facts = f;
	world_step(w, &ev);
	assert_non_null(world_sent(w, MSG_REFUSED, 0));
	assert_int_equal(world_sent(w, MSG_REFUSED, 0)->link, 2);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_task_runs_and_succeeds),
	    cmocka_unit_test(a_damaged_task_is_set_aside),
	    cmocka_unit_test(nothing_leaves_before_the_commit),
	    cmocka_unit_test(usage_and_result_are_the_last_attempts),
	    cmocka_unit_test(the_queues_settings_go_with_the_run),
	    cmocka_unit_test(threads_and_maxthreads_are_exact),
	    cmocka_unit_test(order_fifo),
	    cmocka_unit_test(order_lifo),
	    cmocka_unit_test(order_priority),
	    cmocka_unit_test(a_failed_task_is_retried_with_backoff_then_fails),
	    cmocka_unit_test(attempt_numbers_go_on_after_a_retry),
	    cmocka_unit_test(an_order_that_never_became_a_process_does_not_count),
	    cmocka_unit_test(a_stale_token_changes_nothing),
	    cmocka_unit_test(a_restarted_server_waits_for_the_worker_s_word),
	    cmocka_unit_test(a_restarted_worker_orphans_what_may_not_run_twice),
	    cmocka_unit_test(a_silent_worker_is_lost_only_after_its_time),
	    cmocka_unit_test(a_connected_worker_that_says_nothing_is_lost_too),
	    cmocka_unit_test(two_workers_with_one_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
