/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules and their ticks: what is written comes back, in order, and goes when it should. */
#include "contract.h"

static void put_schedules(struct ctx *c, struct schedule_row *rows, int n, uint64_t seed)
{
	struct rng rng = {seed};

	for (int i = 0; i < n; i++) {
		row_random(&schedule_table, &rng, &c->a, &rows[i]);
		rows[i].id = (rid)i + 1;
		batch_put(&c->b, &schedule_table, &rows[i]);
	}
}

static void assert_stored(struct ctx *c, const struct schedule_row *rows, size_t n)
{
	struct start seen;

	start_read(c, &seen);
	assert_int_equal(seen.n_schedules, n);
	for (size_t i = 0; i < n; i++)
		assert_same_row(&schedule_table, &rows[i], &seen.schedules[i]);
}

void test_schedule_round_trip(void **state)
{
	struct ctx *c = *state;
	struct schedule_row rows[10];

	put_schedules(c, rows, 10, 21);
	commit(c);
	assert_stored(c, rows, 10);
	put_schedules(c, rows, 10, 22); /* replaced by id */
	commit(c);
	assert_stored(c, rows, 10);
	batch_delete(&c->b, &queue_table, rows[3].queue); /* whoever names the queue stays */
	commit(c);
	assert_stored(c, rows, 10);
}

/* Rest is about memory only: what was written stays, and writing goes on. */
void test_rest_changes_nothing(void **state)
{
	struct ctx *c = *state;
	struct schedule_row rows[10];

	store_rest(c->s);
	put_schedules(c, rows, 10, 25);
	commit(c);
	store_rest(c->s);
	assert_stored(c, rows, 10);
	put_schedules(c, rows, 10, 26);
	commit(c);
	assert_stored(c, rows, 10);
}

void test_schedule_progress(void **state)
{
	struct ctx *c = *state;
	struct schedule_row rows[5], moved[6];
	struct rng rng = {23};

	put_schedules(c, rows, 5, 23);
	commit(c);
	for (int i = 0; i < 6; i++) { /* the last one is not there: no harm, and it stays so */
		row_random(&schedule_table, &rng, &c->a, &moved[i]);
		moved[i].id = (rid)i + 1;
		batch_state(&c->b, &schedule_table, &moved[i]);
		if (i < 5) {
			rows[i].state = moved[i].state;
			rows[i].progress = moved[i].progress;
		}
	}
	commit(c);
	assert_stored(c, rows, 5);
}

static void add_tick(struct ctx *c, rid schedule, int64_t tick_s, int64_t offset_s, int64_t time_ms)
{
	struct rng rng = {(uint64_t)(tick_s + offset_s + time_ms)};
	struct tick_row *t = arena_alloc(&c->b.arena, sizeof *t);

	row_random(&tick_table, &rng, &c->b.arena, t);
	t->schedule = schedule;
	t->tick_s = tick_s;
	t->offset_s = offset_s;
	t->time_ms = time_ms;
	t->task = tick_s % 2 ? (rid)tick_s : 0;
	batch_put(&c->b, &tick_table, t);
}

static size_t ticks(struct ctx *c, const struct part_query *q, struct tick_row **ret_rows)
{
	struct part_page page = {.n = 77};

	assert_int_equal(store_parts(c->r, q, &c->a, &page), 0);
	assert_true(page.n <= q->limit);
	*ret_rows = page.rows;
	return page.n;
}

void test_schedule_delete(void **state)
{
	struct ctx *c = *state;
	struct part_query q = {.table = &tick_table, .object = 2, .limit = 10};
	struct schedule_row rows[3];
	struct tick_row *found;
	struct task_row *t = task_new(c, 100, 5, TASK_QUEUED), got;
	struct start seen;

	put_schedules(c, rows, 3, 24);
	for (rid id = 1; id <= 3; id++)
		for (int64_t s = 0; s < 4; s++)
			add_tick(c, id, s, 0, 1000 + s);
	t->spec.owner.id = 2;
	add_insert(c, t);
	commit(c);
	assert_int_equal(ticks(c, &q, &found), 4);
	batch_delete(&c->b, &schedule_table, 2);
	batch_delete(&c->b, &schedule_table, 77); /* not there: no harm */
	commit(c);
	assert_int_equal(ticks(c, &q, &found), 0);
	q.object = 1;
	assert_int_equal(ticks(c, &q, &found), 4);
	rows[1] = rows[2];
	assert_stored(c, rows, 2);
	assert_int_equal(store_task_get(c->r, 100, &c->a, &got), 0);
	assert_same_row(&task_table, t, &got);
	start_read(c, &seen); /* a task of a schedule that is gone is told of as well */
	assert_int_equal(seen.n_tasks, 1);
	assert_int_equal(seen.tasks[0].schedule, 2);
	assert_int_equal(seen.tasks[0].task, 100);
}

/* Pages of any size hold every tick once, however many were decided in one moment. */
void test_ticks_newest_first(void **state)
{
	struct ctx *c = *state;

	for (int64_t i = 0; i < 60; i++)
		add_tick(c, 5, 1000 + i / 2, i % 2 ? 3600 : -3600, 50 + i / 20);
	add_tick(c, 4, 1000, 0, 60);
	add_tick(c, 6, 1000, 0, 60);
	commit(c);
	for (uint32_t limit = 1; limit < 70; limit += 11) {
		struct part_query q = {.table = &tick_table, .object = 5, .limit = limit};
		struct tick_row *rows;
		int64_t at = 60;
		size_t n;

		do {
			n = ticks(c, &q, &rows);
			for (size_t k = 0; k < n; k++) {
				at--;
				assert_int_equal(rows[k].tick_s, 1000 + at / 2);
				assert_int_equal(rows[k].offset_s, at % 2 ? 3600 : -3600);
				q.after = &rows[k];
			}
		} while (n);
		assert_int_equal(at, 0);
	}
}

void test_ticks_oldest_first(void **state)
{
	struct ctx *c = *state;
	struct part_query q = {
	    .table = &tick_table, .object = 5, .from = 10, .to = 20, .limit = 100};
	struct tick_row *rows;

	for (int64_t s = -30; s < 30; s++)
		add_tick(c, 5, s, 0, 1000 - s); /* decided the other way round */
	add_tick(c, 5, 12, 0, 7);               /* replaces */
	commit(c);
	q.oldest_first = true;
	assert_int_equal(ticks(c, &q, &rows), 10);
	for (int i = 0; i < 10; i++)
		assert_int_equal(rows[i].tick_s, 10 + i);
	assert_int_equal(rows[2].time_ms, 7);
	q.limit = 4;
	assert_int_equal(ticks(c, &q, &rows), 4);
	assert_int_equal(rows[0].tick_s, 10);
	assert_int_equal(rows[3].tick_s, 13);
	q = (struct part_query){
	    .table = &tick_table, .object = 5, .from = 28, .oldest_first = true, .limit = 100};
	assert_int_equal(ticks(c, &q, &rows), 2); /* to 0: open */
	q.from = 0;
	assert_int_equal(ticks(c, &q, &rows), 60);
	q.limit = 0;
	assert_int_equal(ticks(c, &q, &rows), 0);
}

void test_ticks_expire(void **state)
{
	struct ctx *c = *state;
	struct part_query q = {
	    .table = &tick_table, .object = 5, .oldest_first = true, .limit = 5000};
	struct problem p = {0};
	struct tick_row *rows;

	for (int64_t s = 0; s < 2500; s++)
		add_tick(c, 5, s, 0, 1 + s);
	commit(c);
	assert_int_equal(store_expire(c->s, 5000, 0, &p), 0);
	assert_int_equal(ticks(c, &q, &rows), 2500);
	assert_int_equal(store_expire(c->s, 0, 2200, &p), 0);
	assert_int_equal(ticks(c, &q, &rows), 301);
	assert_int_equal(rows[0].time_ms, 2200);
}

static int count_listed(struct ctx *c, const struct task_filter *f, bool oldest_first)
{
	struct task_page page;
	rid cursor = 0;
	int found = 0;

	do {
		assert_int_equal(
		    store_task_list(c->r, f, oldest_first, true, cursor, 1000, &c->a, &page), 0);
		for (size_t i = 0; i < page.n; i++)
			assert_int_equal(page.rows[i].spec.owner.id, f->owner);
		found += (int)page.n;
		cursor = page.next;
	} while (cursor);
	return found;
}

/* With any other filter besides, further than one bounded step reaches. */
void test_tasks_of_a_schedule(void **state)
{
	struct ctx *c = *state;
	struct task_filter f = {.owner = 7}, queued = {.owner = 7, .n_states = 1};
	struct status_count *counts;
	size_t n;

	queued.states[0].min = queued.states[0].max = TASK_QUEUED;
	for (rid id = 1; id <= 50000; id++) { /* every other one; three of them queued */
		struct task_row *t =
		    task_new(c, id, 5, id % 20000 == 3 ? TASK_QUEUED : TASK_SUCCEEDED);

		t->spec.owner.id = id % 2 ? 7 : id % 3;
		t->spec.owner.part = (int64_t)id;
		add_insert(c, t);
	}
	commit(c);
	for (int oldest_first = 0; oldest_first < 2; oldest_first++) {
		assert_int_equal(count_listed(c, &f, oldest_first), 25000);
		assert_int_equal(count_listed(c, &queued, oldest_first), 3);
	}
	assert_int_equal(store_task_count(c->r, &f, &c->a, &counts, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(counts[0].n, 3);
	assert_int_equal(counts[1].n, 24997);
}
