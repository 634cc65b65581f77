/* SPDX-License-Identifier: Apache-2.0 */
/* A batch of tasks is a thing of its own: its id, its row, and how it is joined. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "world/world.h"

#define STORY(name) static void name(void **state)
#define MOST 8

static struct submit_task tasks[MOST];

static struct event submit_of(struct world *w, rid queue, size_t n)
{
	for (size_t i = 0; i < n; i++)
		tasks[i] = (struct submit_task){.status = TASK_QUEUED,
		    .spec = {
		        .queue = queue, .backoff_ms = -1, .backoff_max_ms = -1, .body = STR("{}")}};
	return (struct event){.kind = EV_SUBMIT,
	    .ticket = ++w->last_ticket,
	    .actor = STR("uid=7"),
	    .submit = {.tasks = tasks, .n = n}};
}

static const struct reply *submit(struct world *w, struct event ev)
{
	world_step(w, &ev);
	return world_reply(w);
}

static const struct reply *join(struct world *w, rid queue, size_t n, rid batch)
{
	struct event ev = submit_of(w, queue, n);

	ev.submit.batch = batch;
	return submit(w, ev);
}

STORY(several_tasks_are_a_batch_with_an_id_of_its_own)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);
	const struct reply *r = submit(w, submit_of(w, q, 3));
	const struct task_batch_row *b = world_task_batch(w, r->id);

	assert_non_null(b);
	assert_int_equal(b->n_tasks, 3);
	assert_int_equal(b->ctime_ms, w->now_ms);
	assert_true(str_is(b->actor, "uid=7"));
	assert_null(b->name.p);
	assert_null(world_task(w, r->id));
	for (size_t i = 0; i < 3; i++) {
		assert_true(r->outcomes[i].id > r->id); /* stores count on it */
		assert_int_equal(world_task(w, r->outcomes[i].id)->spec.batch, r->id);
	}
	world_free(w);
}

STORY(one_task_is_a_batch_only_if_somebody_wants_that)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);
	struct event ev = submit_of(w, q, 1);
	const struct reply *r = submit(w, ev);

	assert_int_equal(r->id, 0);
	assert_int_equal(w->n_task_batches, 0);
	ev = submit_of(w, q, 1);
	ev.submit.makes_batch = true;
	ev.submit.name = STR("nightly");
	r = submit(w, ev);
	assert_true(str_is(world_task_batch(w, r->id)->name, "nightly"));
	assert_int_equal(world_task(w, r->outcomes[0].id)->spec.batch, r->id);
	world_free(w);
}

STORY(who_joins_is_counted)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);
	rid batch = submit(w, submit_of(w, q, 3))->id;
	const struct reply *r = join(w, q, 2, batch);

	assert_int_equal(r->code, 0);
	assert_int_equal(r->id, batch);
	assert_int_equal(world_task(w, r->outcomes[1].id)->spec.batch, batch);
	assert_int_equal(world_task_batch(w, batch)->n_tasks, 5);
	world_restart(w);
	r = join(w, q, 1, batch);
	assert_int_equal(r->code, 0);
	assert_int_equal(world_task_batch(w, batch)->n_tasks, 6);
	assert_true(str_is(world_task_batch(w, batch)->actor, "uid=7"));
	world_free(w);
}

/* Both are in the lane at once, and none of what the first adds is lost. */
STORY(two_join_at_the_same_time)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);
	rid batch = submit(w, submit_of(w, q, 2))->id;
	struct event ev = submit_of(w, q, 2);

	w->hold_reads = true;
	ev.submit.batch = batch;
	world_step(w, &ev);
	for (int i = 0; i < 2; i++) { /* the next group */
		ev.ticket = ++w->last_ticket;
		world_step(w, &ev);
	}
	w->hold_reads = false;
	world_answer_reads(w);
	assert_int_equal(w->n_tasks, 8);
	assert_int_equal(world_task_batch(w, batch)->n_tasks, 8);
	world_free(w);
}

STORY(what_is_not_there_cannot_be_joined)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);
	const struct reply *r = join(w, q, 2, 12345);

	assert_int_equal(r->code, ERR_NOT_FOUND);
	assert_string_equal(r->problem->field, "batch");
	assert_int_equal(w->n_tasks, 0);
	assert_int_equal(w->n_task_batches, 0);
	world_free(w);
}

/* From before batches had rows: its id is its first task's. */
STORY(an_old_one_goes_on_without_a_row)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), old = world_submit_one(w, q);
	const struct reply *r = join(w, q, 2, old);

	assert_int_equal(r->code, 0);
	assert_int_equal(r->id, old);
	assert_int_equal(world_task(w, r->outcomes[0].id)->spec.batch, old);
	assert_null(world_task_batch(w, old));
	world_free(w);
}

STORY(twins_make_no_batch)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), twin = world_submit_key(w, q, "k");
	struct event ev = submit_of(w, q, 2);
	const struct reply *r;

	tasks[0].spec.key = tasks[1].spec.key = STR("k");
	r = submit(w, ev);
	assert_int_equal(r->id, 0);
	assert_int_equal(r->outcomes[0].id, twin);
	assert_int_equal(w->n_task_batches, 0);
	ev = submit_of(w, q, 2);
	tasks[0].spec.key = STR("k"); /* only what is new counts */
	r = submit(w, ev);
	assert_int_equal(world_task_batch(w, r->id)->n_tasks, 1);
	world_free(w);
}

STORY(a_repeated_request_has_the_same_batch)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), batch;
	struct event ev = submit_of(w, q, 3);

	ev.idem_key = STR("once");
	ev.submit.name = STR("n");
	batch = submit(w, ev)->id;
	world_restart(w);
	ev = submit_of(w, q, 3);
	ev.idem_key = STR("once");
	assert_int_equal(submit(w, ev)->id, batch);
	assert_true(world_reply(w)->replayed);
	assert_int_equal(w->n_task_batches, 1);
	assert_int_equal(world_task_batch(w, batch)->n_tasks, 3);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest all[] = {
	    cmocka_unit_test(several_tasks_are_a_batch_with_an_id_of_its_own),
	    cmocka_unit_test(one_task_is_a_batch_only_if_somebody_wants_that),
	    cmocka_unit_test(who_joins_is_counted),
	    cmocka_unit_test(two_join_at_the_same_time),
	    cmocka_unit_test(what_is_not_there_cannot_be_joined),
	    cmocka_unit_test(an_old_one_goes_on_without_a_row),
	    cmocka_unit_test(twins_make_no_batch),
	    cmocka_unit_test(a_repeated_request_has_the_same_batch),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
