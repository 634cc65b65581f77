/* SPDX-License-Identifier: Apache-2.0 */
/* Groups and their graphs: what is written comes back, piece by piece, and goes when it should. */
#include "contract.h"

#define GROUPS 5
#define CHUNKS 40

static void put_groups(struct ctx *c, struct group_row *rows, uint64_t seed)
{
	struct rng rng = {seed};

	for (int i = 0; i < GROUPS; i++) {
		row_random(&group_table, &rng, &c->a, &rows[i]);
		rows[i].id = (rid)i + 1;
		batch_put(&c->b, &group_table, &rows[i]);
	}
}

static void assert_groups(struct ctx *c, const struct group_row *rows, size_t n)
{
	struct start seen;

	start_read(c, &seen);
	assert_int_equal(seen.n_groups, n);
	for (size_t i = 0; i < n; i++)
		assert_same_row(&group_table, &rows[i], &seen.groups[i]);
}

void test_group_round_trip(void **state)
{
	struct ctx *c = *state;
	struct group_row rows[GROUPS], other[GROUPS];

	put_groups(c, rows, 31);
	commit(c);
	assert_groups(c, rows, GROUPS);
	put_groups(c, rows, 32); /* replaced by id */
	commit(c);
	assert_groups(c, rows, GROUPS);
	put_groups(c, other, 33); /* only how it stands */
	batch_reset(&c->b, c->b.seq);
	other[1].id = rows[1].id;
	row_take_state(&group_table, &rows[1], &other[1]);
	batch_state(&c->b, &group_table, &other[1]);
	commit(c);
	assert_groups(c, rows, GROUPS);
	batch_delete(&c->b, &group_table, rows[GROUPS - 1].id);
	commit(c);
	assert_groups(c, rows, GROUPS - 1);
}

static size_t count_chunks(struct ctx *c, rid group, int64_t from, int64_t to, uint32_t limit)
{
	struct part_query q = {.table = &group_graph_table,
	    .object = group,
	    .from = from,
	    .to = to,
	    .oldest_first = true,
	    .limit = limit};
	struct part_page page;

	assert_int_equal(store_parts(c->r, &q, &c->a, &page), 0);
	for (size_t i = 0; i < page.n; i++)
		assert_int_equal(
		    ((struct group_graph_row *)page.rows)[i].number, from + (int64_t)i);
	return page.n;
}

void test_group_graph(void **state)
{
	struct ctx *c = *state;
	struct group_row rows[GROUPS];
	struct group_graph_row chunks[GROUPS][CHUNKS];
	struct rng rng = {34};

	put_groups(c, rows, 34);
	for (int i = 0; i < GROUPS; i++)
		for (int k = 0; k < CHUNKS; k++) {
			row_random(&group_graph_table, &rng, &c->a, &chunks[i][k]);
			chunks[i][k].group = rows[i].id;
			chunks[i][k].number = k;
			batch_put(&c->b, &group_graph_table, &chunks[i][k]);
		}
	commit(c);
	assert_int_equal(count_chunks(c, 2, 0, 16, 16), 16);
	assert_int_equal(count_chunks(c, 2, 32, 48, 16), CHUNKS - 32);
	assert_int_equal(count_chunks(c, 2, 0, 0, 100), CHUNKS);
	batch_delete(&c->b, &group_table, 2);
	commit(c);
	assert_int_equal(count_chunks(c, 2, 0, 0, 100), 0);
	assert_int_equal(count_chunks(c, 3, 0, 0, 100), CHUNKS);
}

static size_t read_built(struct ctx *c, int64_t series, struct built_row *ret_rows)
{
	struct part_query q = {
	    .table = &built_table, .object = (rid)series, .oldest_first = true, .limit = 3};
	struct part_page page;
	size_t n = 0;

	do {
		assert_int_equal(store_parts(c->r, &q, &c->a, &page), 0);
		for (size_t i = 0; i < page.n; i++)
			ret_rows[n++] = ((struct built_row *)page.rows)[i];
		q.from = n ? ret_rows[n - 1].job + 1 : 0;
	} while (page.n == 3);
	return n;
}

/* One row for each job of a series; old ones go with old events. */
void test_built_jobs(void **state)
{
	struct ctx *c = *state;
	struct built_row rows[2][8], got[16];
	struct problem p = {0};
	struct rng rng = {35};

	for (int k = 0; k < 2; k++)
		for (int i = 0; i < 8; i++) {
			row_random(&built_table, &rng, &c->a, &rows[k][i]);
			rows[k][i].series = k + 1;
			rows[k][i].job = 10 * i + 1;
			rows[k][i].time_ms = 1000 * (i + 1);
			batch_put(&c->b, &built_table, &rows[k][i]);
		}
	commit(c);
	rows[0][3].duration_ms = 77; /* built again */
	batch_put(&c->b, &built_table, &rows[0][3]);
	commit(c);
	for (int k = 0; k < 2; k++) {
		assert_int_equal(read_built(c, k + 1, got), 8);
		for (int i = 0; i < 8; i++)
			assert_same_row(&built_table, &rows[k][i], &got[i]);
	}
	assert_int_equal(read_built(c, 3, got), 0);
	assert_int_equal(store_expire(c->s, 0, 3500, &p), 0);
	assert_int_equal(read_built(c, 1, got), 5);
	assert_same_row(&built_table, &rows[0][3], &got[0]);
}

/* The group's row, and its jobs behind it: the first two thirds have ended, the others wait. */
static void add_group(struct ctx *c, rid id, int state, int64_t n_jobs)
{
	struct group_row g = {
	    .id = id, .name = arena_strf(&c->a, "g%d", (int)id), .state = state, .n_jobs = n_jobs};

	batch_put(&c->b, &group_table, row_new(&c->b.arena, &group_table, &g));
	for (int64_t i = 0; i < n_jobs; i++) {
		struct task_row *t = task_new(
		    c, id + 1 + (rid)i, 5, i < n_jobs * 2 / 3 ? TASK_SUCCEEDED : TASK_BLOCKED);

		t->spec.owner = (struct owner){KIND_GROUP, id, i};
		add_insert(c, t);
	}
}

static size_t count_jobs(struct ctx *c, const struct task_filter *f, uint32_t limit)
{
	struct task_page page;
	rid cursor = 0;
	size_t n = 0;

	do {
		assert_int_equal(
		    store_task_list(c->r, f, true, true, cursor, limit, &c->a, &page), 0);
		for (size_t i = 0; i < page.n; i++)
			assert_int_equal(page.rows[i].spec.owner.id, f->owner);
		n += page.n;
		cursor = page.next;
	} while (cursor);
	return n;
}

/* Others' tasks lie before, between and behind them; and one of a schedule with the group's id. */
void test_jobs_of_a_group(void **state)
{
	struct ctx *c = *state;
	struct task_filter all = {.owner = 100, .owner_kind = KIND_GROUP}, waiting = all,
	                   last = all, ticks = {.owner = 100, .owner_kind = KIND_SCHEDULE};
	struct status_count *counts;
	struct task_row *tick;
	size_t n;

	for (rid id = 90; id < 100; id++)
		add_insert(c, task_new(c, id, 5, TASK_QUEUED));
	add_group(c, 100, GROUP_DISPATCHING, 30);
	add_group(c, 131, GROUP_COMPLETE, 6);
	tick = task_new(c, 140, 5, TASK_QUEUED);
	tick->spec.owner = (struct owner){KIND_SCHEDULE, 100, 60};
	add_insert(c, tick);
	commit(c);
	waiting.states[waiting.n_states++].min = TASK_BLOCKED;
	waiting.states[0].max = TASK_BLOCKED;
	last.since = 126;
	last.until = 129;
	assert_int_equal(count_jobs(c, &all, 7), 30);
	assert_int_equal(count_jobs(c, &waiting, 3), 10);
	assert_int_equal(count_jobs(c, &last, 7), 3);
	assert_int_equal(count_jobs(c, &ticks, 7), 1);
	assert_int_equal(store_task_count(c->r, &all, &c->a, &counts, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(counts[0].n, 10);
	assert_int_equal(counts[1].n, 20);
	batch_delete(&c->b, &group_table, 100); /* its jobs stay, and are found by its id */
	commit(c);
	assert_int_equal(count_jobs(c, &all, 7), 30);
}

/* Of each group that has not ended, in whatever state it is; behind what schedules own. */
void test_live_jobs_at_start(void **state)
{
	struct ctx *c = *state;
	struct task_row *tick = task_new(c, 900, 5, TASK_QUEUED);
	struct start start;
	size_t n = 0;

	batch_put(&c->b, &queue_table, &(struct queue_row){.id = 5, .name = STR("q")});
	for (int i = 0; i < N_GROUP_STATES; i++)
		add_group(c, 100 + 10 * (rid)i, i, 9);
	tick->spec.owner = (struct owner){KIND_SCHEDULE, 7, 60};
	add_insert(c, tick);
	commit(c);
	start_read(c, &start);
	assert_int_equal(start.tasks[n].schedule, 7);
	assert_int_equal(start.tasks[n++].task, 900);
	for (int i = 0; i < N_GROUP_STATES; i++)
		for (rid job = 6; job < 9 && !group_is_ended(i); job++) {
			assert_int_equal(start.tasks[n].schedule, 100 + 10 * i);
			assert_int_equal(start.tasks[n++].task, 101 + 10 * (rid)i + job);
		}
	assert_int_equal(start.n_tasks, n);
}
