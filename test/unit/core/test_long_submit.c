/* SPDX-License-Identifier: Apache-2.0 */
/* A long submit is taken in slice by slice, and is one all the same: one batch, one answer. */
#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STORY(name) static void name(void **state)
#define SLICE 4
#define MANY 10

static const struct core_options small_slices = {.submit_slice = SLICE};

/* The submit's strings and tasks are gone for the caller as soon as the step is over. */
static void give(struct world *w, rid queue, size_t n, const char *key, struct str idem)
{
	struct event ev = {
	    .kind = EV_SUBMIT, .ticket = ++w->last_ticket, .idem_key = idem, .idem_fingerprint = 7};
	struct submit_task *tasks = calloc(n, sizeof *tasks);
	struct arena a = {0};

	for (size_t i = 0; i < n; i++)
		tasks[i] = (struct submit_task){.status = TASK_QUEUED,
		    .spec = {.queue = queue,
		        .backoff_ms = -1,
		        .backoff_max_ms = -1,
		        .body = arena_strf(&a, "{\"i\":%zu}", i),
		        .key = key ? arena_strf(&a, "%s%zu", key, i) : STR_NULL}};
	arena_own(&a, tasks);
	ev.submit.tasks = tasks;
	ev.submit.n = n;
	ev.submit.arena = &a;
	world_step(w, &ev);
	assert_null(a.blocks);
}

static void go_on(struct world *w)
{
	world_step(w, &(struct event){.kind = EV_GO_ON});
}

static int finish(struct world *w)
{
	int slices = 0;

	for (; core_is_midway(w->core); slices++)
		go_on(w);
	return slices;
}

STORY(all_of_it_becomes_durable_at_once)
{
	struct world *w = world_new(&small_slices);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);
	const struct reply *r;
	char body[32];

	give(w, q, MANY, NULL, STR_NULL);
	assert_true(core_is_midway(w->core));
	assert_int_equal(w->n_tasks, 0);
	go_on(w);
	assert_true(core_is_midway(w->core));
	assert_int_equal(w->n_tasks, 0);
	go_on(w);
	assert_false(core_is_midway(w->core));
	assert_int_equal(w->n_tasks, MANY);
	r = world_reply(w);
	assert_int_equal(r->code, 0);
	assert_int_equal(r->n, MANY);
	assert_int_equal(world_task_batch(w, r->id)->n_tasks, MANY);
	for (size_t i = 0; i < MANY; i++) {
		struct task_row *t = world_task(w, r->outcomes[i].id);

		snprintf(body, sizeof body, "{\"i\":%zu}", i);
		assert_true(str_is(t->spec.body, body));
		assert_int_equal(t->spec.batch, r->id);
	}
	assert_int_equal(world_counts(w, q).queued, MANY);
	world_free(w);
}

STORY(what_was_begun_before_a_crash_never_was)
{
	struct world *w = world_new(&small_slices);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);

	give(w, q, MANY, NULL, STR("key"));
	assert_true(core_is_midway(w->core));
	world_restart(w);
	assert_false(core_is_midway(w->core));
	assert_int_equal(w->n_tasks, 0);
	assert_int_equal(w->n_idem, 0);
	give(w, q, MANY, NULL, STR("key"));
	finish(w);
	assert_int_equal(w->n_tasks, MANY);
	assert_false(world_reply(w)->replayed);
	world_free(w);
}

/* Other commands are not kept waiting by the long one, but for the commit. */
STORY(others_go_on_between_two_slices)
{
	struct world *w = world_new(&small_slices);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), other;
	struct submit_task one = {.status = TASK_QUEUED,
	    .spec = {.queue = q, .backoff_ms = -1, .backoff_max_ms = -1, .body = STR("{}")}};

	world_hello(w, 1, "w1", 1, 3, NULL, 0);
	give(w, q, MANY, NULL, STR_NULL);
	world_step(w,
	    &(struct event){
	        .kind = EV_SUBMIT, .ticket = ++w->last_ticket, .submit = {.tasks = &one, .n = 1}});
	assert_true(core_is_midway(w->core));
	assert_int_equal(world_count_sent(w, MSG_RUN), 0);
	finish(w);
	assert_int_equal(w->n_tasks, MANY + 1);
	assert_int_equal(world_count_sent(w, MSG_RUN), 3);
	assert_int_equal(w->n_replies, 3); /* and the queue's */
	other = w->replies[1].outcomes[0].id;
	for (size_t i = 0; i < MANY; i++)
		assert_true(w->replies[2].outcomes[i].id != other);
	assert_int_equal(world_task(w, other)->spec.batch, 0);
	world_free(w);
}

STORY(an_idempotency_key_answers_as_the_first_time)
{
	struct world *w = world_new(&small_slices);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), first[MANY], batch;
	const struct reply *r;

	give(w, q, MANY, NULL, STR("key"));
	give(w, q, MANY, NULL, STR("key")); /* again, before it is there */
	finish(w);
	assert_int_equal(w->n_tasks, MANY);
	r = &w->replies[1];
	batch = r->id;
	assert_false(r->replayed);
	for (size_t i = 0; i < MANY; i++)
		first[i] = r->outcomes[i].id;
	for (int again = 0; again < 2; again++) {
		r = world_reply(w);
		assert_true(r->replayed);
		assert_int_equal(r->id, batch);
		assert_int_equal(r->n, MANY);
		for (size_t i = 0; i < MANY; i++)
			assert_int_equal(r->outcomes[i].id, first[i]);
		give(w, q, MANY, NULL, STR("key"));
		assert_false(core_is_midway(w->core));
	}
	assert_int_equal(w->n_tasks, MANY);
	world_free(w);
}

STORY(every_key_finds_its_twin)
{
	struct world *w = world_new(&small_slices);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), first[MANY];
	const struct reply *r;

	give(w, q, MANY, "k", STR_NULL);
	finish(w);
	for (size_t i = 0; i < MANY; i++)
		first[i] = world_reply(w)->outcomes[i].id;
	give(w, q, MANY + 5, "k", STR_NULL);
	finish(w);
	r = world_reply(w);
	assert_int_equal(w->n_tasks, MANY + 5);
	for (size_t i = 0; i < MANY + 5; i++) {
		assert_int_equal(r->outcomes[i].twin, i < MANY);
		if (i < MANY)
			assert_int_equal(r->outcomes[i].id, first[i]);
		else
			assert_int_equal(world_task(w, r->outcomes[i].id)->spec.batch, r->id);
	}
	world_free(w);
}

/* The id of a batch is promised with its first slice, even if nothing of that is new. */
STORY(two_batches_never_have_one_id)
{
	struct world *w = world_new(&small_slices);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);
	struct submit_task two[2];

	for (int i = 0; i < 2; i++)
		two[i] = (struct submit_task){.status = TASK_QUEUED,
		    .spec = {
		        .queue = q, .backoff_ms = -1, .backoff_max_ms = -1, .body = STR("{}")}};
	give(w, q, MANY, "k", STR_NULL);
	finish(w);
	give(w, q, MANY + 2, "k", STR_NULL);
	for (int i = 0; i < 3; i++) /* the keys that were read, then the first slice */
		go_on(w);
	assert_true(core_is_midway(w->core));
	world_step(w,
	    &(struct event){
	        .kind = EV_SUBMIT, .ticket = ++w->last_ticket, .submit = {.tasks = two, .n = 2}});
	finish(w);
	assert_int_equal(w->n_replies, 4);
	assert_true(w->replies[2].id != w->replies[3].id);
	assert_int_equal(w->n_tasks, MANY + 4);
	world_free(w);
}

/* Else long ones could keep everybody's effects from being committed, one after the other. */
STORY(the_next_one_begins_the_next_batch)
{
	struct world *w = world_new(&small_slices);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);

	give(w, q, MANY, NULL, STR_NULL);
	give(w, q, MANY, NULL, STR_NULL);
	go_on(w);
	assert_int_equal(w->n_tasks, 0);
	go_on(w); /* the first is whole, and committed; the second has begun */
	assert_int_equal(w->n_tasks, MANY);
	assert_true(core_is_midway(w->core));
	assert_int_equal(finish(w), 2);
	assert_int_equal(w->n_tasks, 2 * MANY);
	assert_int_equal(w->n_reads, 0);
	world_free(w);
}

STORY(rows_of_others_are_on_their_way_before_one_begins)
{
	struct world *w = world_new(&small_slices);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);
	struct submit_task one = {.status = TASK_QUEUED,
	    .spec = {.queue = q, .backoff_ms = -1, .backoff_max_ms = -1, .body = STR("{}")}};

	w->hold = true;
	world_step(w,
	    &(struct event){
	        .kind = EV_SUBMIT, .ticket = ++w->last_ticket, .submit = {.tasks = &one, .n = 1}});
	give(w, q, MANY, NULL, STR_NULL);
	go_on(w); /* nobody asked for it: the batch is the same */
	assert_false(core_is_midway(w->core));
	world_commit(w);
	assert_true(core_is_midway(w->core));
	assert_int_equal(w->n_tasks, 1);
	w->hold = false;
	finish(w);
	assert_int_equal(w->n_tasks, MANY + 1);
	world_free(w);
}

STORY(a_queue_that_is_deleted_in_between)
{
	struct world *w = world_new(&small_slices);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);
	const struct reply *r;

	give(w, q, MANY, NULL, STR_NULL);
	world_step(w, &(struct event){.kind = EV_DELETE,
	                  .ticket = ++w->last_ticket,
	                  .object = {.kind = KIND_QUEUE, .id = q, .force = true}});
	finish(w);
	assert_int_equal(w->n_replies, 3);
	r = &w->replies[2];
	assert_int_equal(r->ticket, 2);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(r->outcomes[i].code, i < SLICE ? 0 : ERR_NOT_FOUND);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_of_it_becomes_durable_at_once),
	    cmocka_unit_test(what_was_begun_before_a_crash_never_was),
	    cmocka_unit_test(others_go_on_between_two_slices),
	    cmocka_unit_test(an_idempotency_key_answers_as_the_first_time),
	    cmocka_unit_test(every_key_finds_its_twin),
	    cmocka_unit_test(two_batches_never_have_one_id),
	    cmocka_unit_test(the_next_one_begins_the_next_batch),
	    cmocka_unit_test(rows_of_others_are_on_their_way_before_one_begins),
	    cmocka_unit_test(a_queue_that_is_deleted_in_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
