/* SPDX-License-Identifier: Apache-2.0 */
/* Stories about streamed input: appended, asked for, given again, and gone with its task. */
#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/say.h"
#include "model/limits.h"

#define STORY(name) static void name(void **state)

static rid submit_streamed(struct world *w, rid queue, int attempts)
{
	struct submit_task s = {.status = TASK_QUEUED,
	    .spec = {.queue = queue,
	        .body = STR("{}"),
	        .max_attempts = attempts,
	        .backoff_ms = 0,
	        .backoff_max_ms = 0,
	        .is_streamed = true}};

	return world_submit(w, &s, 1)->outcomes[0].id;
}

static const struct reply *append(
    struct world *w, rid task, int64_t offset, struct str data, bool end)
{
	struct event ev = {.kind = EV_INPUT, .ticket = ++w->last_ticket};

	ev.input.task = task;
	ev.input.offset = offset;
	ev.input.data = data;
	ev.input.end = end;
	world_step(w, &ev);
	return w->hold ? NULL : world_reply(w);
}

static void wants(struct world *w, uint64_t link, rid task, int64_t token, int64_t from)
{
	struct event ev = {.kind = EV_INPUT_ACK, .input_ack = {task, token, from}};

	ev.link = link;
	world_forget_sent(w);
	world_step(w, &ev);
}

/* Where the one part that was sent begins and ends, and whether it is the last. */
static void assert_sent(struct world *w, int64_t offset, int64_t n, bool end)
{
	const struct message *m = world_sent(w, MSG_INPUT, 0);

	assert_non_null(m);
	assert_int_equal(world_count_sent(w, MSG_INPUT), 1);
	assert_int_equal(m->input.offset, offset);
	assert_int_equal(m->input.data.n, n);
	assert_int_equal(m->input.end, end);
}

STORY(what_is_appended_is_given_in_order)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = submit_streamed(w, q, 1);
	assert_true(world_sent(w, MSG_RUN, 0)->run.is_streamed);
	world_started(w, 1, t, 1);
	wants(w, 1, t, 1, 0);
	assert_int_equal(world_count_sent(w, MSG_INPUT), 0); /* there is nothing yet */
	assert_int_equal(append(w, t, 0, STR("abc"), false)->input.size, 3);
	assert_sent(w, 0, 3, false);
	world_forget_sent(w);
	append(w, t, 3, STR("de"), false);
	append(w, t, 5, STR("f"), false);
	assert_int_equal(world_count_sent(w, MSG_INPUT), 0); /* nobody asked for more */
	wants(w, 1, t, 1, 3);
	assert_sent(w, 3, 2, false);
	wants(w, 1, t, 1, 5);
	assert_sent(w, 5, 1, false);
	wants(w, 1, t, 1, 6);
	assert_int_equal(append(w, t, -1, STR_NULL, false)->input.taken, 6);
	assert_true(append(w, t, 6, STR_NULL, true)->input.is_ended);
	assert_sent(w, 6, 0, true);
	world_ended(w, 1, t, 1, TASK_SUCCEEDED);
	assert_int_equal(w->n_inputs + w->n_input_parts, 0);
	world_free(w);
}

STORY(nothing_is_said_before_it_is_durable)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	size_t replies;

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = submit_streamed(w, q, 1);
	world_started(w, 1, t, 1);
	wants(w, 1, t, 1, 0);
	replies = w->n_replies;
	w->hold = true;
	append(w, t, 0, STR("abc"), true);
	assert_true(w->n_replies == replies && world_count_sent(w, MSG_INPUT) == 0);
	world_restart(w); /* it never happened */
	assert_int_equal(append(w, t, 0, STR("abc"), true)->input.size, 3);
	world_free(w);
}

STORY(an_acknowledged_offset_survives_a_restart)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	struct link_held held;

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = submit_streamed(w, q, 1);
	world_started(w, 1, t, 1);
	append(w, t, 0, STR("abc"), false);
	append(w, t, 3, STR("def"), false);
	world_restart(w);
	held = (struct link_held){t, 1, false, 1};
	world_hello(w, 2, "w1", 1, 2, &held, 1);
	assert_int_equal(append(w, t, -1, STR_NULL, false)->input.size, 6);
	assert_int_equal(append(w, t, 3, STR("xyz"), false)->code, ERR_CONFLICT);
	append(w, t, 6, STR_NULL, true);
	wants(w, 2, t, 1, 3);
	assert_sent(w, 3, 3, true);
	world_free(w);
}

STORY(a_further_attempt_reads_it_from_the_beginning)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = submit_streamed(w, q, 2);
	append(w, t, 0, STR("abc"), true);
	world_started(w, 1, t, 1);
	wants(w, 1, t, 1, 0);
	assert_sent(w, 0, 3, true);
	world_forget_sent(w);
	world_ended(w, 1, t, 1, TASK_FAILED);
	world_advance(w, 5000);
	assert_int_equal(world_sent(w, MSG_RUN, 0)->run.token, 2);
	wants(w, 1, t, 1, 0); /* the first one is over */
	assert_int_equal(world_count_sent(w, MSG_INPUT), 0);
	wants(w, 1, t, 2, 0);
	assert_sent(w, 0, 3, true);
	world_ended(w, 1, t, 2, TASK_FAILED);
	assert_int_equal(w->n_inputs + w->n_input_parts, 0);
	assert_int_equal(world_tasks(w, EV_RETRY, &t, 1)->outcomes[0].code, ERR_CONFLICT);
	world_free(w);
}

STORY(what_does_not_fit_is_refused)
{
	struct core_options o = {.input_max = 5};
	struct world *w = world_new(&o);
	rid q = world_queue(w, "q", 0, ORDER_FIFO), t, other;

	t = submit_streamed(w, q, 1);
	other = world_submit_one(w, q);
	assert_int_equal(append(w, other, 0, STR("a"), false)->code, ERR_CONFLICT);
	assert_int_equal(append(w, 12345, 0, STR("a"), false)->code, ERR_CONFLICT);
	assert_int_equal(append(w, t, 1, STR("a"), false)->code, ERR_CONFLICT);
	assert_int_equal(append(w, t, INT64_MAX, STR("a"), false)->code, ERR_CONFLICT);
	assert_int_equal(append(w, t, 0, STR("abcdef"), false)->code, ERR_TOO_LARGE);
	assert_int_equal(append(w, t, 0, STR("abcde"), true)->code, 0);
	assert_int_equal(append(w, t, 5, STR("f"), false)->code, ERR_CONFLICT);
	assert_int_equal(append(w, t, 5, STR_NULL, true)->code, 0); /* its answer was lost */
	world_tasks(w, EV_CANCEL, &t, 1);
	assert_int_equal(append(w, t, 5, STR_NULL, true)->code, ERR_CONFLICT);
	assert_int_equal(w->n_inputs + w->n_input_parts, 0);
	world_free(w);
}

STORY(long_ones_are_cut_into_parts)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", 0, ORDER_FIFO), t = submit_streamed(w, q, 1);
	size_t n = 2 * INPUT_PART_BYTES + 7;
	char *much = xcalloc(1, n);

	assert_int_equal(append(w, t, 0, (struct str){much, n}, false)->input.size, n);
	assert_int_equal(w->n_input_parts, 3);
	assert_int_equal(w->input_parts[2].data.n, 7);
	free(much);
	world_free(w);
}

STORY(a_long_one_is_deleted_slice_by_slice)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", 0, ORDER_FIFO), t = submit_streamed(w, q, 1);
	size_t n = 7 * INPUT_PART_BYTES, before;
	char *much = xcalloc(1, n);

	append(w, t, 0, (struct str){much, n}, true);
	world_tasks(w, EV_CANCEL, &t, 1);
	assert_int_equal(append(w, t, -1, STR_NULL, false)->code, ERR_CONFLICT);
	assert_true(w->n_inputs == 1 && w->n_input_parts == 7);
	world_advance(w, 100);
	before = w->n_input_parts;
	assert_true(before > 0 && before < 7);
	world_restart(w); /* it goes on where it was, or from the beginning */
	assert_int_equal(append(w, t, -1, STR_NULL, false)->code, ERR_CONFLICT);
	world_advance(w, 10000);
	assert_int_equal(w->n_inputs + w->n_input_parts, 0);
	free(much);
	world_free(w);
}

STORY(a_sender_that_is_silent_is_given_up)
{
	struct core_options o = {.input_silence_ms = 10000};
	struct world *w = world_new(&o);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t, waiting, whole;

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = submit_streamed(w, q, 3);
	whole = submit_streamed(w, q, 1);
	waiting = submit_streamed(w, q, 1);
	append(w, whole, 0, STR("abc"), true);
	world_started(w, 1, t, 1);
	world_advance(w, 9000);
	append(w, t, -1, STR_NULL, false); /* still there */
	world_advance(w, 9000);
	assert_int_equal(world_task(w, waiting)->state.status, TASK_CANCELLED);
	assert_int_equal(world_count_sent(w, MSG_KILL), 0);
	world_advance(w, 1000);
	assert_int_equal(world_sent(w, MSG_KILL, 0)->kill.task, t);
	assert_non_null(
	    strstr(world_task(w, t)->state.reason.p, "its input broke off after 0 bytes"));
	assert_int_equal(world_task(w, whole)->state.status, TASK_CLAIMED);
	world_free(w);
}

STORY(an_older_worker_is_not_given_it)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	struct arena a = {0};
	struct why *whys;

	w->takes_no_input = true;
	world_hello(w, 1, "old", 1, 2, NULL, 0);
	t = submit_streamed(w, q, 1);
	assert_int_equal(world_count_sent(w, MSG_RUN), 0);
	assert_int_equal(core_why(w->core, world_task(w, t), w->now_ms, w->mono_ms, &a, &whys), 1);
	assert_int_equal(whys[0].code, WHY_WORKERS_TOO_OLD);
	w->takes_no_input = false;
	world_hello(w, 2, "new", 2, 2, NULL, 0);
	assert_int_equal(world_sent(w, MSG_RUN, 0)->link, 2);
	arena_release(&a);
	world_free(w);
}

STORY(a_hostile_worker_learns_and_breaks_nothing)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", 1, ORDER_FIFO), t, theirs;

	world_hello(w, 1, "w1", 1, 1, NULL, 0);
	t = submit_streamed(w, q, 1);
	theirs = submit_streamed(w, q, 1);
	append(w, t, 0, STR("abc"), false);
	append(w, theirs, 0, STR("secret"), true);
	wants(w, 1, theirs, 1, 0); /* not its task */
	assert_int_equal(world_count_sent(w, MSG_INPUT), 0);
	wants(w, 1, t, 1, 4); /* more than there is */
	assert_int_equal(world_count_sent(w, MSG_INPUT), 0);
	wants(w, 1, t, 1, 3);
	wants(w, 1, t, 1, 0); /* back */
	assert_int_equal(world_count_sent(w, MSG_INPUT), 0);
	append(w, t, 3, STR("def"), false);
	assert_sent(w, 3, 3, false);
	wants(w, 1, t, 1, 4); /* inside of a part: only its own task suffers */
	assert_int_equal(world_sent(w, MSG_KILL, 0)->kill.task, t);
	world_free(w);
}

STORY(a_damaged_one_is_not_taken_for_the_whole)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = submit_streamed(w, q, 1);
	append(w, t, 0, STR("abc"), true);
	w->input_parts[0].data = STR_NULL;
	wants(w, 1, t, 1, 0);
	assert_int_equal(world_count_sent(w, MSG_INPUT), 0);
	assert_int_equal(world_sent(w, MSG_KILL, 0)->kill.task, t);
	world_free(w);
}

STORY(many_at_once_take_turns)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t[20];

	world_hello(w, 1, "w1", 1, 20, NULL, 0);
	for (int i = 0; i < 20; i++) {
		t[i] = submit_streamed(w, q, 1);
		append(w, t[i], 0, STR("abc"), false);
	}
	w->hold_reads = true;
	for (int i = 0; i < 20; i++)
		wants(w, 1, t[i], 1, 0);
	assert_int_equal(w->n_reads, 8);
	world_tasks(w, EV_CANCEL, t, 20);
	for (int i = 0; i < 10; i++)
		world_ended(w, 1, t[i], 1, TASK_FAILED);
	w->hold_reads = false;
	world_answer_reads(w);
	assert_int_equal(world_count_sent(w, MSG_INPUT), 10);
	world_free(w);
}

STORY(a_deleted_queue_takes_them_along)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", 0, ORDER_FIFO);
	struct event ev = {.kind = EV_DELETE, .ticket = ++w->last_ticket};

	append(w, submit_streamed(w, q, 1), 0, STR("abc"), false);
	ev.ticket = ++w->last_ticket;
	ev.object.kind = KIND_QUEUE;
	ev.object.id = q;
	ev.object.force = true;
	world_step(w, &ev);
	assert_int_equal(world_reply(w)->code, 0);
	assert_int_equal(w->n_inputs + w->n_input_parts, 0);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_appended_is_given_in_order),
	    cmocka_unit_test(nothing_is_said_before_it_is_durable),
	    cmocka_unit_test(an_acknowledged_offset_survives_a_restart),
	    cmocka_unit_test(a_further_attempt_reads_it_from_the_beginning),
	    cmocka_unit_test(what_does_not_fit_is_refused),
	    cmocka_unit_test(long_ones_are_cut_into_parts),
	    cmocka_unit_test(a_long_one_is_deleted_slice_by_slice),
	    cmocka_unit_test(a_sender_that_is_silent_is_given_up),
	    cmocka_unit_test(an_older_worker_is_not_given_it),
	    cmocka_unit_test(a_hostile_worker_learns_and_breaks_nothing),
	    cmocka_unit_test(a_damaged_one_is_not_taken_for_the_whole),
	    cmocka_unit_test(many_at_once_take_turns),
	    cmocka_unit_test(a_deleted_queue_takes_them_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
