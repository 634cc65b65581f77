/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of tasks: their rows, when they go, and how their tasks stand. */
#include "contract.h"

static void put_batch(struct ctx *c, rid id, const char *name, int64_t n_tasks)
{
	struct task_batch_row *b = arena_zalloc(&c->b.arena, sizeof *b);

	*b = (struct task_batch_row){.id = id,
	    .name = name ? str_of(name) : STR_NULL,
	    .ctime_ms = 5,
	    .actor = STR("uid=7"),
	    .n_tasks = n_tasks,
	    .last_task = id + (rid)n_tasks};
	batch_put(&c->b, &task_batch_table, b);
}

/* Now it has so many. */
static void join(struct ctx *c, rid id, int64_t n_tasks)
{
	struct task_batch_row *b = arena_zalloc(&c->b.arena, sizeof *b);

	*b = (struct task_batch_row){.id = id, .n_tasks = n_tasks, .last_task = id + (rid)n_tasks};
	batch_state(&c->b, &task_batch_table, b);
}

static void add_task(struct ctx *c, rid id, rid batch, rid queue, int status)
{
	struct task_row *t = task_new(c, id, queue, status);

	t->spec.batch = batch;
	add_insert(c, t);
}

static bool is_there(struct ctx *c, rid id)
{
	struct task_batch_row b = {0};
	int rc = store_batch_get(c->r, id, &c->a, &b);

	assert_true(rc == 0 || rc == ERR_NOT_FOUND);
	return rc == 0;
}

void test_batch_round_trip(void **state)
{
	struct ctx *c = *state;
	struct rng rng = {31};
	struct task_batch_row rows[10], got;

	for (int i = 0; i < 10; i++) {
		row_random(&task_batch_table, &rng, &c->a, &rows[i]);
		rows[i].id = (rid)i + 1;
		batch_put(&c->b, &task_batch_table, &rows[i]);
	}
	commit(c);
	rows[4].n_tasks = 77; /* somebody has joined it */
	rows[4].last_task = 99;
	join(c, 5, 77);
	((struct task_batch_row *)c->b.rows[0].row)->last_task = 99;
	join(c, 20, 3); /* it is not there, and stays so */
	commit(c);
	assert_false(is_there(c, 20));
	for (int i = 0; i < 10; i++) {
		assert_int_equal(store_batch_get(c->r, rows[i].id, &c->a, &got), 0);
		assert_same_row(&task_batch_table, &rows[i], &got);
		assert_false(got.is_old);
	}
	assert_false(is_there(c, 11));
	assert_false(is_there(c, 0));
}

void test_batch_goes_with_its_last_task(void **state)
{
	struct ctx *c = *state;
	struct task_batch_row got;

	put_batch(c, 10, NULL, 3);
	put_batch(c, 20, NULL, 1);
	add_task(c, 11, 10, 5, TASK_SUCCEEDED);
	add_task(c, 12, 10, 5, TASK_FAILED);
	add_task(c, 13, 10, 5, TASK_QUEUED);
	add_task(c, 21, 20, 5, TASK_SUCCEEDED);
	commit(c);
	batch_prune(&c->b, 11);
	batch_prune(&c->b, 21);
	batch_prune(&c->b, 12);
	batch_prune(&c->b, 13); /* it is not ended, and stays */
	commit(c);
	assert_int_equal(store_batch_get(c->r, 10, &c->a, &got), 0);
	assert_int_equal(got.n_gone, 2);
	assert_int_equal(got.n_tasks, 3);
	assert_false(is_there(c, 20));
	add_update(c, task_new(c, 13, 5, TASK_CANCELLED));
	batch_prune(&c->b, 13);
	batch_prune(&c->b, 13); /* it is gone already */
	commit(c);
	assert_false(is_there(c, 10));
}

/* The last task goes and another joins in one commit, whichever is written first. */
void test_batch_is_joined_as_it_goes(void **state)
{
	struct ctx *c = *state;
	struct task_batch_row got;

	put_batch(c, 10, "a", 1);
	add_task(c, 11, 10, 5, TASK_SUCCEEDED);
	commit(c);
	batch_prune(&c->b, 11);
	add_task(c, 12, 10, 5, TASK_SUCCEEDED);
	join(c, 10, 2);
	commit(c);
	assert_true(is_there(c, 10));
	join(c, 10, 3);
	add_task(c, 13, 10, 5, TASK_QUEUED);
	batch_prune(&c->b, 12);
	commit(c);
	assert_int_equal(store_batch_get(c->r, 10, &c->a, &got), 0);
	assert_int_equal(got.n_gone, 2); /* who joins does not know, and changes nothing of it */
	assert_int_equal(got.n_tasks, 3);
	assert_true(str_is(got.name, "a"));
}

void test_batch_goes_with_its_queue(void **state)
{
	struct ctx *c = *state;

	put_batch(c, 10, NULL, 1);
	put_batch(c, 20, NULL, 2);
	add_task(c, 11, 10, 5, TASK_QUEUED);
	add_task(c, 21, 20, 5, TASK_QUEUED);
	add_task(c, 22, 20, 6, TASK_QUEUED);
	commit(c);
	batch_delete(&c->b, &queue_table, 5);
	commit(c);
	assert_false(is_there(c, 10));
	assert_true(is_there(c, 20));
	batch_delete(&c->b, &queue_table, 6);
	commit(c);
	assert_false(is_there(c, 20));
	add_task(c, 31, 30, 7, TASK_QUEUED); /* its row comes last, when its queue is gone */
	batch_delete(&c->b, &queue_table, 7);
	put_batch(c, 30, NULL, 1);
	commit(c);
	assert_false(is_there(c, 30));
}

void test_batch_from_before_rows(void **state)
{
	struct ctx *c = *state;
	rid first = id_next(0, 1700000000000);
	struct batch_page page;
	struct task_batch_row got;

	add_task(c, first, first, 5, TASK_SUCCEEDED);
	add_task(c, first + 1, first, 5, TASK_SUCCEEDED);
	commit(c);
	assert_int_equal(store_batch_get(c->r, first, &c->a, &got), 0);
	assert_true(got.is_old);
	assert_int_equal(got.id, first);
	assert_int_equal(got.ctime_ms, 1700000000000);
	assert_int_equal(
	    store_batch_list(c->r, &(struct batch_query){.limit = 9}, &c->a, &page), 0);
	assert_int_equal(page.n, 0);
	batch_prune(&c->b, first);
	commit(c);
	assert_true(is_there(c, first));
	batch_prune(&c->b, first + 1);
	commit(c);
	assert_false(is_there(c, first));
}

static void assert_named(struct ctx *c, const struct batch_query *q, const rid *ids, size_t n)
{
	struct batch_page page;

	assert_int_equal(store_batch_list(c->r, q, &c->a, &page), 0);
	assert_int_equal(page.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(page.rows[i].id, ids[i]);
}

void test_batches_by_name(void **state)
{
	static const char *const names[] = {"night", NULL, "nightly", "day", "night", "nig"};
	static const rid all[] = {6, 5, 4, 3, 2, 1}, nights[] = {5, 3, 1}, night[] = {5, 1};
	struct ctx *c = *state;

	for (rid id = 1; id <= 6; id++)
		put_batch(c, id, names[id - 1], 1);
	commit(c);
	assert_named(c, &(struct batch_query){.limit = 9}, all, 6);
	assert_named(c, &(struct batch_query){.limit = 2}, all, 2);
	assert_named(c, &(struct batch_query){.before = 5, .limit = 9}, all + 2, 4);
	assert_named(c, &(struct batch_query){.name = STR("night"), .limit = 9}, nights, 3);
	assert_named(
	    c, &(struct batch_query){.name = STR("night"), .whole = true, .limit = 9}, night, 2);
	assert_named(c, &(struct batch_query){.name = STR("noon"), .limit = 9}, NULL, 0);
	assert_named(c,
	    &(struct batch_query){.name = STR("night"), .whole = true, .before = 5, .limit = 9},
	    night + 1, 1);
}

void test_batch_pace(void **state)
{
	static const struct {
		int status;
		int64_t mtime_ms;
	} tasks[] = {{TASK_QUEUED, 10}, {TASK_SUCCEEDED, 20}, {TASK_SUCCEEDED, 30},
	    {TASK_SUCCEEDED, 25}, {TASK_FAILED, 5}};
	struct ctx *c = *state;
	struct pace_count *counts;
	size_t n;

	for (rid i = 0; i < 5; i++) {
		struct task_row *t = task_new(c, 11 + i, 5, tasks[i].status);

		t->spec.batch = 10;
		t->state.mtime_ms = tasks[i].mtime_ms;
		add_insert(c, t);
	}
	add_task(c, 100, 99, 5, TASK_SUCCEEDED);
	put_batch(c, 10, NULL, 5);
	commit(c);
	assert_int_equal(
	    store_task_pace(c->r, &(struct task_filter){.batch = 10}, 25, &c->a, &counts, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(counts[0].status, TASK_QUEUED);
	assert_int_equal(counts[0].n, 1);
	assert_int_equal(counts[0].n_since, 0);
	assert_int_equal(counts[1].status, TASK_SUCCEEDED);
	assert_int_equal(counts[1].n, 3);
	assert_int_equal(counts[1].last_ms, 30);
	assert_int_equal(counts[1].n_since, 2);
	assert_int_equal(counts[2].status, TASK_FAILED);
	assert_int_equal(counts[2].last_ms, 5);
}
