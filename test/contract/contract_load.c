/* SPDX-License-Identifier: Apache-2.0 */
/* What a store hands back at start: all of it, in the promised order, and no further when told. */
#include "contract.h"

struct loaded {
	struct ctx *c;
	int step, n_meta, n_queues, n_workers, n_schedules, n_schedule_tasks, n_tasks, n_counts;
	int stop_at;
	struct meta_row meta;
	struct queue_row queues[4];
	struct worker_row workers[4];
	struct schedule_row schedules[4];
	rid schedule_tasks[8][2];
	struct task_row tasks[8];
	struct {
		rid queue;
		int32_t status;
		int64_t n;
	} counts[16];
	rid last_id;
	uint64_t last_event;
};

static int enter(struct loaded *l, int step)
{
	assert_true(step >= l->step); /* called in the promised order */
	l->step = step;
	return step == l->stop_at ? 77 : 0;
}

static int on_row(void *arg, const struct row_table *t, const void *row)
{
	struct loaded *l = arg;
	struct arena *a = &l->c->a;

	switch (t->number) {
	case TABLE_META:
		row_copy(t, a, row, 0, &l->meta);
		l->n_meta++;
		return enter(l, 1);
	case TABLE_QUEUE: row_copy(t, a, row, 0, &l->queues[l->n_queues++]); return enter(l, 2);
	case TABLE_WORKER: row_copy(t, a, row, 0, &l->workers[l->n_workers++]); return enter(l, 4);
	case TABLE_SCHEDULE:
		row_copy(t, a, row, 0, &l->schedules[l->n_schedules++]);
		return enter(l, 5);
	case TABLE_TASK: row_copy(t, a, row, 0, &l->tasks[l->n_tasks++]); return enter(l, 7);
	default: fail_msg("a start is told of a %s", t->name); return 1;
	}
}

static int on_count(void *arg, rid queue, int32_t status, int64_t n)
{
	struct loaded *l = arg;

	l->counts[l->n_counts].queue = queue;
	l->counts[l->n_counts].status = status;
	l->counts[l->n_counts++].n = n;
	return enter(l, 3);
}

static int on_owned(void *arg, const struct owner *of, rid task, rid queue)
{
	struct loaded *l = arg;

	assert_true(queue > 0);
	l->schedule_tasks[l->n_schedule_tasks][0] = of->id;
	l->schedule_tasks[l->n_schedule_tasks++][1] = task;
	return enter(l, 6);
}

static int on_done(void *arg, rid last_id, uint64_t last_event)
{
	struct loaded *l = arg;

	l->last_id = last_id;
	l->last_event = last_event;
	return enter(l, 8);
}

static int load(struct ctx *c, struct loaded *l)
{
	struct row_loader loader = {l, on_row, on_count, on_owned, on_done};
	struct problem p = {0};

	l->c = c;
	return store_load(c->s, &loader, &p);
}

static void fill_for_load(
    struct ctx *c, struct meta_row *meta, struct queue_row *queues, struct worker_row *workers)
{
	static const int statuses[] = {-2, -2, -1, 0, -4, -9, -9, 1, 2, -5};
	struct rng rng = {5};

	row_random(&meta_table, &rng, &c->a, meta);
	batch_put(&c->b, &meta_table, &(struct meta_row){meta->name, STR("replaced at once")});
	batch_put(&c->b, &meta_table, meta);
	for (int i = 0; i < 3; i++) {
		row_random(&queue_table, &rng, &c->a, &queues[i]);
		queues[i].id = (rid)i + 5;
		batch_put(&c->b, &queue_table, &queues[i]);
		row_random(&worker_table, &rng, &c->a, &workers[i]);
		workers[i].id = (rid)i + 8;
		batch_put(&c->b, &worker_table, &workers[i]);
	}
	for (int i = 0; i < 10; i++) {
		struct task_row *t = task_new(c, (rid)(100 - i), 5, statuses[i]);

		t->state.due_ms = i == 1 ? 1000 : 0; /* queued is queued, due or not */
		t->spec.owner.id = (rid)(i % 3);
		add_insert(c, t);
	}
	add_insert(c, task_new(c, 50, 6, TASK_CLAIMED));
	batch_put(&c->b, &event_table, &(struct event_row){.seq = 41});
	commit(c);
}

static void fill_schedules(struct ctx *c, struct schedule_row schedules[2])
{
	struct rng rng = {6};

	for (int i = 1; i >= 0; i--) { /* they come back by id all the same */
		row_random(&schedule_table, &rng, &c->a, &schedules[i]);
		schedules[i].id = (rid)i + 20;
		batch_put(&c->b, &schedule_table, &schedules[i]);
	}
}

/* Live tasks only, by id, of schedules that are there or not. */
static void assert_schedules(const struct loaded *l, const struct schedule_row *schedules)
{
	static const rid tasks[][2] = {{2, 95}, {1, 96}, {2, 98}, {1, 99}};

	assert_int_equal(l->n_schedules, 2);
	for (int i = 0; i < 2; i++)
		assert_same_row(&schedule_table, &schedules[i], &l->schedules[i]);
	assert_int_equal(l->n_schedule_tasks, 4);
	assert_memory_equal(l->schedule_tasks, tasks, sizeof tasks);
}

void test_load(void **state)
{
	struct ctx *c = *state;
	struct loaded l = {0};
	struct meta_row meta;
	struct queue_row queues[3],
	    counts = {.id = 6, .n_succeeded = 1, .n_failed = 2, .n_other = 3};
	struct worker_row workers[3];
	struct schedule_row schedules[2];
	static const int32_t want[][3] = {
	    {5, -9, 2}, {5, -4, 1}, {5, -2, 2}, {5, -1, 1}, {5, 0, 1}, {6, -1, 1}};

	assert_int_equal(load(c, &l), 0); /* of an empty store */
	assert_int_equal(l.step, 8);
	assert_int_equal(l.last_id + l.last_event, 0);
	fill_for_load(c, &meta, queues, workers);
	fill_schedules(c, schedules);
	batch_state(&c->b, &queue_table, &counts);
	queues[1].n_succeeded = 1;
	queues[1].n_failed = 2;
	queues[1].n_other = 3;
	batch_prune(&c->b, 93);
	batch_delete(&c->b, &worker_table, 10);
	add_insert(c, task_new(c, 200, 7, TASK_FAILED));
	commit(c);
	batch_prune(&c->b, 200);
	commit(c);

	l = (struct loaded){0};
	assert_int_equal(load(c, &l), 0);
	assert_int_equal(l.n_meta, 1);
	assert_same_row(&meta_table, &meta, &l.meta);
	assert_int_equal(l.n_queues, 3);
	for (int i = 0; i < 3; i++)
		assert_same_row(&queue_table, &queues[i], &l.queues[i]);
	assert_int_equal(l.n_workers, 2);
	for (int i = 0; i < 2; i++)
		assert_same_row(&worker_table, &workers[i], &l.workers[i]);
	assert_int_equal(l.n_counts, 6);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(l.counts[i].queue, want[i][0]);
		assert_int_equal(l.counts[i].status, want[i][1]);
		assert_int_equal(l.counts[i].n, want[i][2]);
	}
	assert_schedules(&l, schedules);
	assert_int_equal(l.n_tasks, 3);
	assert_int_equal(l.tasks[0].id, 50);
	assert_int_equal(l.tasks[1].id, 97);
	assert_int_equal(l.tasks[2].id, 98);
	assert_int_equal(l.last_id, 200); /* ever written, though pruned since */
	assert_int_equal(l.last_event, 41);
	for (int step = 1; step <= 8; step++) {
		l = (struct loaded){.stop_at = step};
		assert_int_equal(load(c, &l), 77);
		assert_int_equal(l.step, step);
	}
}

/* However many come in one commit, each as it was given; also with a state that comes behind some
 * of them, and one that goes at once. */
void test_new_tasks_of_one_commit(void **state)
{
	struct ctx *c = *state;
	struct task_row rows[40], got;
	struct rng rng = {7};
	rid next = 2;

	for (int n = 1; n <= 40; n++) {
		rid first = next;

		for (int i = 0; i < n; i++) {
			row_random(&task_table, &rng, &c->a, &rows[i]);
			rows[i].id = next++;
			rows[i].spec.key = STR_NULL;
			add_insert(c, &rows[i]);
		}
		rows[n / 2].state.status = TASK_CLAIMED;
		batch_state(&c->b, &task_table, row_new(&c->b.arena, &task_table, &rows[n / 2]));
		batch_prune(&c->b, first - 1);
		commit(c);
		for (int i = 0; i < n; i++) {
			assert_int_equal(store_task_get(c->r, first + (rid)i, &c->a, &got), 0);
			assert_same_row(&task_table, &rows[i], &got);
		}
	}
}

/* In any order, one after the other or not, twice, and some that are not there. */
void test_tasks_by_their_ids(void **state)
{
	struct ctx *c = *state;
	struct task_row *rows[64], got[40];
	struct rng rng = {8};
	rid ids[40];

	for (rid id = 1; id < 64; id++) {
		rows[id] = task_new(c, id, 5, TASK_BLOCKED);
		rows[id]->spec.owner.part = (int64_t)id;
		if (id % 7)
			add_insert(c, rows[id]);
	}
	commit(c);
	for (int round = 0; round < 200; round++) {
		size_t n = rng_below(&rng, 40);

		for (size_t i = 0; i < n; i++)
			ids[i] = i && rng_below(&rng, 3) ? ids[i - 1] % 70 + 1
			                                 : 1 + (rid)rng_below(&rng, 70);
		assert_int_equal(store_tasks_get(c->r, ids, n, &c->a, got), 0);
		for (size_t i = 0; i < n; i++)
			if (ids[i] < 64 && ids[i] % 7)
				assert_same_row(&task_table, rows[ids[i]], &got[i]);
			else
				assert_int_equal(got[i].id, 0);
	}
}
