/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random batches given to the memory backend and to the one under test alike must leave stores that
 * answer every question alike: `contract_random BACKEND [SEED]`. The memory backend is the naive
 * model: ordered trees, one pass, no batching tricks.
 */
#include "contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char *backend;
static uint64_t seed = 1;

#define ROUNDS 60
#define QUEUES 4
#define SCHEDULES 3

struct pair {
	struct ctx x, y; /* memory, and the backend under test */
	struct rng rng;
	rid next_id;
};

static int setup(void **state)
{
	struct pair *p = xcalloc(1, sizeof *p);

	ctx_open(&p->x, "memory");
	ctx_open(&p->y, backend);
	p->next_id = 1;
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct pair *p = *state;

	ctx_close(&p->x);
	ctx_close(&p->y);
	free(p);
	return 0;
}

static int64_t pick(struct pair *p, int64_t n)
{
	return (int64_t)rng_below(&p->rng, (uint64_t)n);
}

static int random_status(struct pair *p)
{
	static const int all[] = {
	    -1000, -7, -6, -5, -4, -3, -2, -2, -2, -2, -1, -1, 0, 0, 1, 1, 2, 9};

	return all[pick(p, sizeof all / sizeof all[0])];
}

static struct str random_labels(struct pair *p, struct arena *a)
{
	struct buf b = {0};
	struct str s;

	for (int i = 0; i < 4; i++)
		if (pick(p, 2))
			buf_printf(&b, "k%d=%d\n", i, (int)pick(p, 3));
	s = b.n ? arena_str(a, buf_str(&b)) : STR_NULL;
	buf_release(&b);
	return s;
}

static void random_state(struct pair *p, struct task_row *t)
{
	t->state.status = random_status(p);
	t->state.rank = pick(p, 3) - 1;
	t->state.due_ms = pick(p, 3) ? 0 : 1 + pick(p, 20);
	t->state.worker = (rid)pick(p, 3);
	t->state.ended_ms = pick(p, 50);
	t->state.mtime_ms = pick(p, 50);
	t->state.token = pick(p, 3);
	t->state.output_where = pick(p, 4) ? OUTPUT_NONE : OUTPUT_INLINE;
	t->spec.priority = (int32_t)pick(p, 5) - 2;
}

static struct task_row *random_task(struct pair *p, rid id)
{
	struct arena *a = &p->x.b.arena;
	struct task_row *t = arena_alloc(a, sizeof *t);

	row_random(&task_table, &p->rng, a, t);
	t->id = id;
	t->spec.queue = (rid)pick(p, QUEUES) + 1;
	t->spec.batch = pick(p, 2) ? 0 : 1 + (rid)pick(p, (int64_t)id);
	t->spec.key = pick(p, 3) ? STR_NULL : arena_strf(a, "key%d", (int)pick(p, 5));
	t->spec.labels = random_labels(p, a);
	t->spec.owner.id = pick(p, 2) ? 0 : (rid)pick(p, SCHEDULES) + 1;
	/* a job's id is behind its group's */
	t->spec.owner.kind = pick(p, 2) && t->spec.owner.id < id ? KIND_GROUP : KIND_SCHEDULE;
	random_state(p, t);
	return t;
}

static void random_output(struct pair *p, rid task)
{
	struct output_row *o = arena_zalloc(&p->x.b.arena, sizeof *o);

	o->task = task;
	o->token = pick(p, 3);
	o->stream = (int32_t)pick(p, 2);
	o->offset = 4 * pick(p, 4);
	o->raw_bytes = 4 + (int32_t)pick(p, 3);
	o->data = arena_strf(&p->x.b.arena, "%08lx", (long)pick(p, 1 << 30));
	o->data.n = (size_t)o->raw_bytes + (pick(p, 20) == 0); /* now and then it lies */
	batch_put(&p->x.b, &output_table, o);
}

static void random_tick(struct pair *p)
{
	struct tick_row *t = arena_alloc(&p->x.b.arena, sizeof *t);

	row_random(&tick_table, &p->rng, &p->x.b.arena, t);
	t->schedule = (rid)pick(p, SCHEDULES) + 1;
	t->tick_s = pick(p, 200) - 20;
	t->offset_s = 3600 * (pick(p, 3) - 1);
	t->time_ms = 1 + pick(p, 20); /* many of one moment */
	t->task = (rid)pick(p, 2);
	batch_put(&p->x.b, &tick_table, t);
}

static void random_schedule_op(struct pair *p)
{
	static const enum row_verb verbs[] = {ROW_PUT, ROW_STATE, ROW_STATE, ROW_DELETE};
	enum row_verb verb = verbs[pick(p, 4)];
	struct schedule_row *s;

	if (pick(p, 8)) {
		random_tick(p);
		return;
	}
	if (verb == ROW_DELETE) {
		batch_delete(&p->x.b, &schedule_table, (rid)pick(p, SCHEDULES) + 1);
		return;
	}
	s = arena_alloc(&p->x.b.arena, sizeof *s);
	row_random(&schedule_table, &p->rng, &p->x.b.arena, s);
	s->id = (rid)pick(p, SCHEDULES) + 1;
	if (verb == ROW_PUT)
		batch_put(&p->x.b, &schedule_table, s);
	else
		batch_state(&p->x.b, &schedule_table, s);
}

static void random_task_batch(struct pair *p)
{
	struct task_batch_row *t = arena_zalloc(&p->x.b.arena, sizeof *t);

	row_random(&task_batch_table, &p->rng, &p->x.b.arena, t);
	t->id = 1 + (rid)pick(p, (int64_t)p->next_id);
	t->n_tasks = 1 + pick(p, 4);
	t->n_gone = 0;
	t->last_task = 1 << 20; /* whoever has its id is below */
	t->name = pick(p, 3) ? arena_strf(&p->x.b.arena, "b%d", (int)pick(p, 30)) : STR_NULL;
	if (pick(p, 2))
		batch_put(&p->x.b, &task_batch_table, t);
	else
		batch_state(&p->x.b, &task_batch_table, t);
}

/* Whole, or in two parts. */
static void insert(struct pair *p, struct task_row *t)
{
	if (pick(p, 2))
		batch_insert(&p->x.b, &task_table, t);
	else
		batch_first(&p->x.b, t, &t->spec);
}

static void random_op(struct pair *p)
{
	struct batch *b = &p->x.b;
	rid known = 1 + (rid)pick(p, (int64_t)p->next_id);
	int64_t dice = pick(p, 100);

	if (pick(p, 10) == 0)
		random_schedule_op(p);
	if (pick(p, 10) == 0)
		random_task_batch(p);
	if (dice < 35) {
		insert(p, random_task(p, p->next_id));
		p->next_id += 1 + (rid)pick(p, 2);
	} else if (dice < 75) {
		batch_state(b, &task_table, random_task(p, known));
	} else if (dice < 86) {
		batch_prune(b, known);
	} else if (dice < 97) {
		random_output(p, known);
	} else if (dice < 99) {
		rid queue = (rid)pick(p, QUEUES) + 1;

		batch_rerank(b, queue, (int32_t)pick(p, N_ORDERS));
	} else if (pick(p, 6) == 0) {
		batch_delete(b, &queue_table, (rid)pick(p, QUEUES) + 1);
	}
}

static void random_batch(struct pair *p)
{
	struct problem why = {0};
	int64_t n = pick(p, 200);

	for (int64_t i = 0; i < n; i++)
		random_op(p);
	if (store_commit(p->y.s, &p->x.b, &why))
		fail_msg("%s: %s", backend, why.what);
	commit(&p->x);
}

static void random_filter(struct pair *p, struct task_filter *f)
{
	static const struct {
		int min, max;
	} ranges[] = {{-2, -2}, {-1, 0}, {-1, -1}, {1, 1}, {2, 1000000}, {-1000000, -7}, {-4, -4},
	    {-6, -5}, {0, 0}};

	*f = (struct task_filter){0};
	f->queue = pick(p, 2) ? 0 : (rid)pick(p, QUEUES) + 1;
	f->batch = pick(p, 4) ? 0 : 1 + (rid)pick(p, (int64_t)p->next_id);
	f->worker = pick(p, 4) ? 0 : 1 + (rid)pick(p, 2);
	f->owner = pick(p, 3) ? 0 : 1 + (rid)pick(p, SCHEDULES);
	f->owner_kind = pick(p, 2) ? KIND_SCHEDULE : KIND_GROUP;
	f->since = pick(p, 3) ? 0 : (rid)pick(p, (int64_t)p->next_id);
	f->until = pick(p, 3) ? 0 : (rid)pick(p, (int64_t)p->next_id + 2);
	f->ended_before_ms = pick(p, 4) ? 0 : pick(p, 50);
	f->now_ms = pick(p, 50);
	for (int64_t i = pick(p, 4); i > 0; i--) {
		int64_t k = pick(p, sizeof ranges / sizeof ranges[0]);

		f->states[f->n_states].delayed = ranges[k].max == -2 && pick(p, 2);
		f->states[f->n_states].min = ranges[k].min;
		f->states[f->n_states++].max = ranges[k].max;
	}
	for (int64_t i = pick(p, 3) == 0 ? 1 + pick(p, 2) : 0; i > 0; i--)
		f->labels[f->n_labels++] =
		    arena_strf(&p->x.a, "k%d=%d", (int)pick(p, 4), (int)pick(p, 3));
}

/* Every page one after another; the ends of pages are the backend's own business. */
static size_t list_all(struct ctx *c, const struct task_filter *f, bool oldest_first, bool bare,
    uint32_t limit, struct task_row **ret_rows)
{
	struct task_row *all = NULL;
	size_t n = 0, cap = 0;
	struct task_page page;
	rid cursor = 0;

	do {
		assert_int_equal(
		    store_task_list(c->r, f, oldest_first, bare, cursor, limit, &c->a, &page), 0);
		assert_true(page.n <= limit);
		GROW(all, cap, n + page.n + 1);
		if (page.n)
			memcpy(all + n, page.rows, page.n * sizeof *all);
		n += page.n;
		cursor = page.next;
	} while (cursor);
	*ret_rows = all;
	return n;
}

static void assert_same_rows(
    const struct task_row *x, size_t nx, const struct task_row *y, size_t ny)
{
	assert_int_equal(nx, ny);
	for (size_t i = 0; i < nx; i++)
		assert_same_row(&task_table, &x[i], &y[i]);
}

static void compare_lists(struct pair *p)
{
	bool oldest_first = pick(p, 2), bare = pick(p, 2);
	uint32_t limit = 1 + (uint32_t)pick(p, 40);
	struct task_row *x, *y;
	struct task_filter f;
	size_t nx, ny;

	random_filter(p, &f);
	nx = list_all(&p->x, &f, oldest_first, bare, limit, &x);
	ny = list_all(&p->y, &f, oldest_first, bare, limit, &y);
	assert_same_rows(x, nx, y, ny);
	free(x);
	free(y);
}

static void compare_counts(struct pair *p)
{
	struct status_count *x, *y;
	struct task_filter f;
	size_t nx, ny;
	int64_t ex = -1, ey = -2;

	random_filter(p, &f);
	assert_int_equal(store_task_count(p->x.r, &f, &p->x.a, &x, &nx), 0);
	assert_int_equal(store_task_count(p->y.r, &f, &p->y.a, &y, &ny), 0);
	assert_int_equal(nx, ny);
	for (size_t i = 0; i < nx; i++) {
		assert_int_equal(x[i].status, y[i].status);
		assert_int_equal(x[i].n, y[i].n);
	}
	assert_int_equal(store_count_ended(p->x.r, &ex), 0);
	assert_int_equal(store_count_ended(p->y.r, &ey), 0);
	assert_int_equal(ex, ey);
}

static void compare_pace(struct pair *p)
{
	struct pace_count *x, *y;
	struct task_filter f;
	int64_t since = pick(p, 100);
	size_t nx, ny;

	random_filter(p, &f);
	assert_int_equal(store_task_pace(p->x.r, &f, since, &p->x.a, &x, &nx), 0);
	assert_int_equal(store_task_pace(p->y.r, &f, since, &p->y.a, &y, &ny), 0);
	assert_int_equal(nx, ny);
	for (size_t i = 0; i < nx; i++) {
		assert_int_equal(x[i].status, y[i].status);
		assert_int_equal(x[i].n, y[i].n);
		assert_int_equal(x[i].last_ms, y[i].last_ms);
		assert_int_equal(x[i].n_since, y[i].n_since);
	}
}

static void compare_batches(struct pair *p)
{
	struct batch_query q = {.whole = pick(p, 2),
	    .before = pick(p, 2) ? 0 : (rid)pick(p, (int64_t)p->next_id),
	    .limit = 1 + (uint32_t)pick(p, 20)};
	rid id = 1 + (rid)pick(p, (int64_t)p->next_id);
	struct task_batch_row x = {0}, y = {0};
	struct batch_page some, same;
	int rc;

	q.name = pick(p, 2) ? arena_strf(&p->x.a, "b%d", (int)pick(p, 30)) : STR_NULL;
	assert_int_equal(store_batch_list(p->x.r, &q, &p->x.a, &some), 0);
	assert_int_equal(store_batch_list(p->y.r, &q, &p->y.a, &same), 0);
	assert_int_equal(some.n, same.n);
	for (size_t i = 0; i < some.n; i++)
		assert_same_row(&task_batch_table, &some.rows[i], &same.rows[i]);
	rc = store_batch_get(p->x.r, id, &p->x.a, &x);
	assert_int_equal(store_batch_get(p->y.r, id, &p->y.a, &y), rc);
	assert_same_row(&task_batch_table, &x, &y);
	assert_int_equal(x.is_old, y.is_old);
}

static void compare_queues(struct pair *p)
{
	struct head_query h = {.queue = (rid)pick(p, QUEUES) + 1,
	    .order = (int32_t)pick(p, N_ORDERS),
	    .after = pick(p, 2),
	    .rank = pick(p, 4) - 2,
	    .id = (rid)pick(p, (int64_t)p->next_id),
	    .limit = 1 + (uint32_t)pick(p, 60)};
	struct due_query d = {h.queue, h.after, pick(p, 20), h.id, h.limit};
	struct task_row *x, *y;
	size_t nx, ny;

	assert_int_equal(store_queue_head(p->x.r, &h, &p->x.a, &x, &nx), 0);
	assert_int_equal(store_queue_head(p->y.r, &h, &p->y.a, &y, &ny), 0);
	assert_same_rows(x, nx, y, ny);
	assert_int_equal(store_queue_due(p->x.r, &d, &p->x.a, &x, &nx), 0);
	assert_int_equal(store_queue_due(p->y.r, &d, &p->y.a, &y, &ny), 0);
	assert_same_rows(x, nx, y, ny);
}

static void compare_lookups(struct pair *p)
{
	struct str key = arena_strf(&p->x.a, "key%d", (int)pick(p, 5));
	rid queue = (rid)pick(p, QUEUES) + 1, x, y, ids_x[50], ids_y[50];
	rid after = (rid)pick(p, (int64_t)p->next_id);
	int64_t before = pick(p, 2) ? 0 : pick(p, 50);
	size_t nx, ny;

	assert_int_equal(store_find_key(p->x.r, queue, key, &x), 0);
	assert_int_equal(store_find_key(p->y.r, queue, key, &y), 0);
	assert_int_equal(x, y);
	assert_int_equal(store_prunable(p->x.r, after, before, 50, ids_x, &nx), 0);
	assert_int_equal(store_prunable(p->y.r, after, before, 50, ids_y, &ny), 0);
	assert_int_equal(nx, ny);
	assert_memory_equal(ids_x, ids_y, nx * sizeof *ids_x);
}

static void compare_output(struct pair *p)
{
	rid task = 1 + (rid)pick(p, (int64_t)p->next_id);
	int64_t token = pick(p, 3), offset = pick(p, 20);
	int stream = (int)pick(p, 2);
	size_t max = (size_t)pick(p, 20);
	struct buf x = {0}, y = {0};
	struct output_end ex, ey;

	assert_int_equal(store_output(p->x.r, task, token, stream, offset, max, &x, &ex),
	    store_output(p->y.r, task, token, stream, offset, max, &y, &ey));
	assert_int_equal(ex.at, ey.at);
	assert_true(str_eq(buf_str(&x), buf_str(&y)));
	buf_release(&x);
	buf_release(&y);
}

static void compare_ticks(struct pair *p)
{
	struct tick_row after = {.schedule = (rid)pick(p, SCHEDULES) + 1,
	    .time_ms = pick(p, 20),
	    .tick_s = pick(p, 200) - 20,
	    .offset_s = 3600 * (pick(p, 3) - 1)};
	struct part_query q = {.table = &tick_table,
	    .object = after.schedule,
	    .from = pick(p, 2) ? 0 : pick(p, 200) - 20,
	    .to = pick(p, 2) ? 0 : pick(p, 200) - 20,
	    .oldest_first = pick(p, 2),
	    .reaching = pick(p, 2),
	    .after = pick(p, 2) ? NULL : &after,
	    .limit = 1 + (uint32_t)pick(p, 60)};
	struct part_page x, y;

	assert_int_equal(store_parts(p->x.r, &q, &p->x.a, &x), 0);
	assert_int_equal(store_parts(p->y.r, &q, &p->y.a, &y), 0);
	assert_int_equal(x.n, y.n);
	for (size_t i = 0; i < x.n; i++)
		assert_same_row(
		    &tick_table, (struct tick_row *)x.rows + i, (struct tick_row *)y.rows + i);
}

static void compare_starts(struct pair *p)
{
	struct start x, y;

	start_read(&p->x, &x);
	start_read(&p->y, &y);
	assert_int_equal(x.last_id, y.last_id);
	assert_int_equal(x.n_schedules, y.n_schedules);
	for (size_t i = 0; i < x.n_schedules; i++)
		assert_same_row(&schedule_table, &x.schedules[i], &y.schedules[i]);
	assert_int_equal(x.n_tasks, y.n_tasks);
	for (size_t i = 0; i < x.n_tasks; i++)
		assert_memory_equal(&x.tasks[i], &y.tasks[i], sizeof x.tasks[i]);
}

static void test_same_answers(void **state)
{
	struct pair *p = *state;

	p->rng.state = seed;
	for (int round = 0; round < ROUNDS; round++) {
		random_batch(p);
		compare_starts(p);
		for (int i = 0; i < 12; i++) {
			compare_lists(p);
			compare_counts(p);
			compare_pace(p);
			compare_batches(p);
			compare_queues(p);
			compare_lookups(p);
			compare_ticks(p);
			for (int k = 0; k < 5; k++)
				compare_output(p);
		}
		arena_reset(&p->x.a);
		arena_reset(&p->y.a);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_same_answers, setup, teardown),
	};

	backend = argc > 1 ? argv[1] : "sqlite";
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	printf("seed %llu\n", (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
