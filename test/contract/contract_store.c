/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract that every backend must pass: `contract_store BACKEND`. Round trips of every field,
 * orders, keys, output, paging, load. See contract_random.c for the comparison by chance.
 */
#include "contract.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/mem.h"
#include "model/limits.h"

static const char *backend;

static int setup(void **state)
{
	struct ctx *c = xcalloc(1, sizeof *c);

	ctx_open(c, backend);
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	ctx_close(*state);
	free(*state);
	return 0;
}

/* A field that is in a struct but in no column would be lost silently. */
static void test_every_field_has_a_column(void **state)
{
	static const struct {
		const struct row_table *t;
		size_t padding;
	} all[] = {{&task_table, 8}, {&queue_table, 16}, {&worker_table, 8}, {&event_table, 0},
	    {&idem_table, 0}, {&output_table, 4}, {&meta_table, 0}};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		size_t covered = 0;

		for (int k = 0; k < all[i].t->n; k++)
			covered += all[i].t->columns[k].type == COLUMN_I32 ? 4
			           : column_is_str(&all[i].t->columns[k])  ? sizeof(struct str)
			                                                   : 8;
		if (covered + all[i].padding != all[i].t->row_size)
			fail_msg("%s: %zu bytes in columns of %zu", all[i].t->name, covered,
			    all[i].t->row_size);
	}
}

static void test_task_round_trip(void **state)
{
	struct ctx *c = *state;
	struct rng rng = {1};
	struct task_row t[200], got;

	for (int i = 0; i < 200; i++) {
		row_random(&task_table, &rng, &c->a, &t[i]);
		t[i].id = (rid)i + 1;
		add_insert(c, &t[i]);
	}
	commit(c);
	for (int i = 0; i < 200; i++) {
		assert_int_equal(store_task_get(c->r, t[i].id, &c->a, &got), 0);
		assert_same_row(&task_table, &t[i], &got);
	}
	for (int i = 0; i < 200; i++) { /* an update writes state and priority, nothing else */
		struct task_row u;

		row_random(&task_table, &rng, &c->a, &u);
		u.id = t[i].id;
		add_update(c, &u);
		t[i].state = u.state;
		t[i].spec.priority = u.spec.priority;
	}
	commit(c);
	for (int i = 0; i < 200; i++) {
		assert_int_equal(store_task_get(c->r, t[i].id, &c->a, &got), 0);
		assert_same_row(&task_table, &t[i], &got);
	}
	assert_int_equal(store_task_get(c->r, 999, &c->a, &got), ERR_NOT_FOUND);
}

static void test_bodies_of_any_length(void **state)
{
	struct ctx *c = *state;
	static const size_t lengths[] = {0, 1, 2047, 2048, 2049, 5000, TASK_BODY_MAX};
	char *bytes = arena_alloc(&c->a, TASK_BODY_MAX);
	struct task_row *t, got;
	struct task_page page;

	memset(bytes, 'b', TASK_BODY_MAX);
	for (size_t i = 0; i < 7; i++) {
		t = task_new(c, i + 1, 5, TASK_QUEUED);
		t->spec.body = (struct str){bytes, lengths[i]};
		add_insert(c, t);
	}
	commit(c);
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(store_task_get(c->r, i + 1, &c->a, &got), 0);
		assert_int_equal(got.spec.body.n, lengths[i]);
		assert_memory_equal(got.spec.body.p, bytes, lengths[i]);
	}
	assert_int_equal(
	    store_task_list(c->r, &(struct task_filter){0}, true, true, 0, 10, &c->a, &page), 0);
	assert_int_equal(page.n, 7);
	assert_null(page.rows[3].spec.body.p); /* bare */
	assert_int_equal(
	    store_task_list(c->r, &(struct task_filter){0}, false, false, 0, 10, &c->a, &page), 0);
	assert_int_equal(page.rows[0].spec.body.n, TASK_BODY_MAX);
}

static void test_many_operations_on_one_row(void **state)
{
	struct ctx *c = *state;
	struct task_row *t = task_new(c, 7, 5, TASK_QUEUED), got;

	add_insert(c, t);
	t->state.status = TASK_CLAIMED;
	t->state.token = 1;
	add_update(c, t);
	add_insert(c, task_new(c, 3, 5, TASK_QUEUED)); /* ids need not come in order */
	t->state.status = TASK_SUCCEEDED;
	t->spec.priority = 9;
	t->state.reason = STR("well done");
	add_update(c, t);
	commit(c);
	assert_int_equal(store_task_get(c->r, 7, &c->a, &got), 0);
	assert_same_row(&task_table, t, &got);

	t->state.status = TASK_QUEUED;
	t->state.reason = STR_NULL;
	add_update(c, t);
	add_id(c, ROW_TASK_PRUNE, 7); /* not ended at this point of the batch: stays */
	t->state.status = TASK_FAILED;
	add_update(c, t);
	commit(c);
	assert_int_equal(store_task_get(c->r, 7, &c->a, &got), 0);
	assert_int_equal(got.state.status, TASK_FAILED);

	add_id(c, ROW_TASK_PRUNE, 7);
	add_update(c, t); /* no longer there: no harm, and it does not come back */
	add_id(c, ROW_TASK_PRUNE, 3);
	commit(c);
	assert_int_equal(store_task_get(c->r, 7, &c->a, &got), ERR_NOT_FOUND);
	assert_int_equal(store_task_get(c->r, 3, &c->a, &got), 0);
}

static void test_failed_batch_leaves_nothing(void **state)
{
	struct ctx *c = *state;
	struct problem p = {0};
	struct task_row got;

	add_insert(c, task_new(c, 1, 5, TASK_QUEUED));
	commit(c);
	add_insert(c, task_new(c, 2, 5, TASK_QUEUED));
	add_insert(c, task_new(c, 1, 5, TASK_QUEUED));
	assert_int_equal(try_commit(c, &p), ERR_STORE);
	assert_true(p.what[0]);
	assert_int_equal(store_task_get(c->r, 2, &c->a, &got), ERR_NOT_FOUND);
	add_insert(c, task_new(c, 2, 5, TASK_QUEUED)); /* and the store goes on */
	commit(c);
	assert_int_equal(store_task_get(c->r, 2, &c->a, &got), 0);
	commit(c); /* an empty batch is fine */
}

static void assert_head(struct ctx *c, int order, uint32_t page, const rid *want, size_t n)
{
	struct head_query q = {.queue = 5, .order = order, .limit = page};
	struct task_row *rows;
	size_t got, at = 0;

	do {
		assert_int_equal(store_queue_head(c->r, &q, &c->a, &rows, &got), 0);
		for (size_t i = 0; i < got; i++) {
			assert_true(at < n);
			assert_int_equal(rows[i].id, want[at++]);
			q.rank = rows[i].state.rank;
			q.id = rows[i].id;
			q.after = true;
		}
	} while (got == page);
	assert_int_equal(at, n);
}

static void test_heads(void **state)
{
	struct ctx *c = *state;
	static const int priorities[] = {0, 5, -3, 5, 0, 7};
	struct row_op *op;

	for (int i = 0; i < 6; i++) {
		struct task_row *t = task_new(c, (rid)i + 1, 5, TASK_QUEUED);

		t->spec.priority = priorities[i];
		add_insert(c, t);
	}
	add_insert(c, task_new(c, 10, 6, TASK_QUEUED)); /* another queue */
	add_insert(c, task_new(c, 11, 4, TASK_QUEUED));
	add_insert(c, task_new(c, 12, 5, TASK_CLAIMED));
	add_insert(c, task_new(c, 13, 5, TASK_BLOCKED));
	struct task_row *later = task_new(c, 14, 5, TASK_QUEUED);
	later->state.due_ms = 5;
	later->spec.priority = 100;
	add_insert(c, later);
	commit(c);
	for (uint32_t page = 1; page < 8; page++) {
		assert_head(c, ORDER_FIFO, page, (rid[]){1, 2, 3, 4, 5, 6}, 6);
		assert_head(c, ORDER_LIFO, page, (rid[]){6, 5, 4, 3, 2, 1}, 6);
	}
	op = batch_add(&c->b, ROW_QUEUE_RERANK);
	op->id = 5;
	op->order = ORDER_PRIORITY;
	commit(c);
	for (uint32_t page = 1; page < 8; page++) {
		assert_head(c, ORDER_PRIORITY, page, (rid[]){6, 2, 4, 1, 5, 3}, 6);
		assert_head(c, ORDER_LIFO, page, (rid[]){6, 4, 2, 5, 1, 3}, 6);
	}
	struct task_row got;
	assert_int_equal(store_task_get(c->r, 14, &c->a, &got), 0);
	assert_int_equal(got.state.rank, -100); /* those not due yet are ranked as well */
	op = batch_add(&c->b, ROW_QUEUE_RERANK);
	op->id = 5;
	op->order = ORDER_FIFO;
	commit(c);
	assert_head(c, ORDER_FIFO, 4, (rid[]){1, 2, 3, 4, 5, 6}, 6);
}

static void test_due(void **state)
{
	struct ctx *c = *state;
	static const int64_t due[] = {50, 10, 0, 10, 30};
	struct due_query q = {.queue = 5, .limit = 2};
	static const rid want[] = {2, 4, 5, 1};
	struct task_row *rows;
	size_t n, at = 0;

	for (int i = 0; i < 5; i++) {
		struct task_row *t = task_new(c, (rid)i + 1, 5, TASK_QUEUED);

		t->state.due_ms = due[i];
		add_insert(c, t);
	}
	struct task_row *other = task_new(c, 9, 4, TASK_QUEUED);
	other->state.due_ms = 1;
	add_insert(c, other);
	commit(c);
	do {
		assert_int_equal(store_queue_due(c->r, &q, &c->a, &rows, &n), 0);
		for (size_t i = 0; i < n; i++) {
			assert_true(at < 4);
			assert_int_equal(rows[i].id, want[at++]);
			q.due_ms = rows[i].state.due_ms;
			q.id = rows[i].id;
			q.after = true;
		}
	} while (n == 2);
	assert_int_equal(at, 4);
}

static rid key_holder(struct ctx *c, rid queue, const char *key)
{
	rid id;

	assert_int_equal(store_find_key(c->r, queue, str_of(key), &id), 0);
	return id;
}

static void test_keys_are_free_once_ended(void **state)
{
	struct ctx *c = *state;
	struct task_row *t = task_new(c, 1, 5, TASK_QUEUED);
	static const int live[] = {
	    TASK_QUEUED, TASK_CLAIMED, TASK_RUNNING, TASK_BLOCKED, -7, -1000};
	static const int ended[] = {
	    TASK_SUCCEEDED, TASK_FAILED, 17, TASK_TERMINATED, TASK_CANCELLED, TASK_ORPHANED};

	t->spec.key = STR("nightly");
	add_insert(c, t);
	commit(c);
	assert_int_equal(key_holder(c, 6, "nightly"), 0);
	assert_int_equal(key_holder(c, 5, "nightl"), 0);
	for (int i = 0; i < 6; i++) {
		t->state.status = live[i];
		add_update(c, t);
		commit(c);
		assert_int_equal(key_holder(c, 5, "nightly"), 1);
		t->state.status = ended[i];
		add_update(c, t);
		commit(c);
		assert_int_equal(key_holder(c, 5, "nightly"), 0);
	}
	t = task_new(c, 2, 5, TASK_RUNNING);
	t->spec.key = STR("nightly");
	add_insert(c, t);
	commit(c);
	assert_int_equal(key_holder(c, 5, "nightly"), 2);
}

static void test_idempotency(void **state)
{
	struct ctx *c = *state;
	struct rng rng = {3};
	struct idem_row rows[20], got;
	struct problem p = {0};

	for (int i = 0; i < 20; i++) {
		row_random(&idem_table, &rng, &c->a, &rows[i]);
		rows[i].key = arena_strf(&c->a, "key-%d", i / 2); /* the later replaces */
		rows[i].time_ms = 1000 + i;
		batch_add(&c->b, ROW_IDEMPOTENT)->idem = &rows[i];
	}
	commit(c);
	for (int i = 1; i < 20; i += 2) {
		assert_int_equal(store_find_idem(c->r, rows[i].key, &c->a, &got), 0);
		assert_same_row(&idem_table, &rows[i], &got);
	}
	assert_int_equal(store_find_idem(c->r, STR("key"), &c->a, &got), ERR_NOT_FOUND);
	assert_int_equal(store_expire(c->s, 1011, 0, &p), 0);
	assert_int_equal(store_find_idem(c->r, STR("key-4"), &c->a, &got), ERR_NOT_FOUND);
	assert_int_equal(store_find_idem(c->r, STR("key-5"), &c->a, &got), 0);
}

static void test_events(void **state)
{
	struct ctx *c = *state;
	struct rng rng = {4};
	struct event_row rows[2500];
	struct event_page page;
	struct problem p = {0};

	for (int i = 0; i < 2500; i++) {
		row_random(&event_table, &rng, &c->a, &rows[i]);
		rows[i].seq = (uint64_t)i * 2 + 1;
		rows[i].time_ms = i;
		batch_add(&c->b, ROW_EVENT)->event = &rows[i];
	}
	commit(c);
	uint64_t after = 0;
	int at = 0;
	do {
		assert_int_equal(store_events(c->r, after, 700, &c->a, &page), 0);
		for (size_t i = 0; i < page.n; i++)
			assert_same_row(&event_table, &rows[at++], &page.rows[i]);
		after = page.n ? page.rows[page.n - 1].seq : after;
	} while (page.n);
	assert_int_equal(at, 2500);
	assert_int_equal(store_events_last(c->r, 3, &c->a, &page), 0);
	assert_int_equal(page.n, 3);
	assert_same_row(&event_table, &rows[2497], &page.rows[0]);
	assert_same_row(&event_table, &rows[2499], &page.rows[2]);
	assert_int_equal(store_expire(c->s, 0, 2200, &p), 0);
	assert_int_equal(store_events(c->r, 0, 1000, &c->a, &page), 0);
	assert_int_equal(page.n, 300);
	assert_int_equal(page.rows[0].time_ms, 2200);
}

static struct buf read_output(
    struct ctx *c, rid task, int64_t token, int64_t from, size_t max, int want_rc, int64_t *ret_end)
{
	struct buf out = {0};

	assert_int_equal(
	    store_output(c->r, task, token, STDOUT, from, max, &out, ret_end), want_rc);
	return out;
}

static void assert_output(
    struct ctx *c, rid task, int64_t token, int64_t from, size_t max, const char *want)
{
	int64_t end;
	struct buf out = read_output(c, task, token, from, max, 0, &end);

	assert_string_equal(out.p ? out.p : "", want);
	assert_int_equal(end, from + (int64_t)strlen(want));
	buf_release(&out);
}

static void test_output_inline(void **state)
{
	struct ctx *c = *state;
	struct task_row *t = task_new(c, 1, 5, TASK_SUCCEEDED);
	struct buf out = {0};
	int64_t end;

	t->state.token = 4;
	t->state.output_where = OUTPUT_INLINE;
	t->state.output[STDOUT] = STR("hello world");
	t->state.output[STDERR] = STR("");
	add_insert(c, t);
	commit(c);
	assert_output(c, 1, 4, 0, 100, "hello world");
	assert_output(c, 1, 4, 6, 100, "world");
	assert_output(c, 1, 4, 6, 2, "wo");
	assert_output(c, 1, 4, 11, 100, "");
	assert_output(c, 1, 4, 99, 100, "");
	assert_output(c, 1, 3, 0, 100, ""); /* another attempt's */
	assert_int_equal(store_output(c->r, 1, 4, STDERR, 0, 9, &out, &end), 0);
	assert_int_equal(out.n, 0);
	assert_int_equal(store_output(c->r, 2, 4, STDOUT, 0, 9, &out, &end), ERR_NOT_FOUND);
	assert_int_equal(store_output(c->r, 1, 4, 2, 0, 9, &out, &end), ERR_INVALID);
	assert_int_equal(store_output(c->r, 1, 4, 0, -1, 9, &out, &end), ERR_INVALID);
	buf_release(&out);
}

static struct str packed(struct ctx *c, const char *text)
{
	size_t cap = ZSTD_compressBound(strlen(text));
	char *p = arena_alloc(&c->a, cap);

	return (struct str){p, ZSTD_compress(p, cap, text, strlen(text), 1)};
}

static void test_output_chunks(void **state)
{
	struct ctx *c = *state;

	add_insert(c, task_new(c, 1, 5, TASK_RUNNING));
	add_output(c, 1, 4, 0, 5, 0, STR("hello"));
	commit(c);
	assert_output(c, 1, 4, 0, 100, "hello");
	add_output(c, 1, 4, 0, 6, 1, packed(c, "hello ")); /* the open chunk has grown */
	add_output(c, 1, 4, 6, 5, 1, packed(c, "world"));
	add_output(c, 1, 4, 11, 0, 0, STR(""));
	add_output(c, 1, 5, 0, 3, 0, STR("two"));
	add_output(c, 1, 4, 20, 3, 0, STR("gap"));
	commit(c);
	assert_output(c, 1, 4, 0, 100, "hello world");
	assert_output(c, 1, 4, 3, 100, "lo world");
	assert_output(c, 1, 4, 0, 1, "hello "); /* whole chunks */
	assert_output(c, 1, 4, 6, 100, "world");
	assert_output(c, 1, 4, 8, 100, "rld");
	assert_output(c, 1, 4, 11, 100, "");
	assert_output(c, 1, 4, 15, 100, ""); /* nothing there yet */
	assert_output(c, 1, 4, 21, 100, "ap");
	assert_output(c, 1, 5, 1, 100, "wo");
}

static void test_lying_chunks(void **state)
{
	struct ctx *c = *state;
	struct str bomb = packed(c, "0123456789");
	static const struct {
		int64_t offset;
		int32_t raw;
		int codec;
		const char *data;
	} lies[] = {{0, 4, 0, "hello"}, {0, 6, 0, "hello"}, {0, -1, 0, ""}, {0, -1, 1, "x"},
	    {0, OUTPUT_CHUNK_BYTES + 1, 1, "x"}, {0, INT32_MAX, 0, "x"}, {0, 5, 1, "not zstd"},
	    {0, 5, 2, "hello"}, {0, 5, 1, ""}};
	int64_t end;
	struct buf out;

	for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
		add_insert(c, task_new(c, i + 1, 5, TASK_RUNNING));
		add_output(
		    c, i + 1, 1, lies[i].offset, lies[i].raw, lies[i].codec, str_of(lies[i].data));
		commit(c);
		out = read_output(c, i + 1, 1, 0, 100, ERR_STORE, &end);
		assert_int_equal(out.n, 0);
		buf_release(&out);
	}
	add_insert(
	    c, task_new(c, 100, 5, TASK_RUNNING)); /* unpacks to more, to less than it says */
	add_output(c, 100, 1, 0, 9, 1, bomb);
	add_output(c, 100, 2, 0, 11, 1, bomb);
	commit(c);
	out = read_output(c, 100, 1, 0, 100, ERR_STORE, &end);
	buf_release(&out);
	out = read_output(c, 100, 2, 0, 100, ERR_STORE, &end);
	buf_release(&out);
}

static void test_prune_and_queue_delete_take_output_along(void **state)
{
	struct ctx *c = *state;
	struct queue_row q = {.id = 5, .name = STR("q"), .plugin = STR("command")};
	struct task_row got;
	rid ids[10];
	size_t n;
	int64_t ended;

	batch_add(&c->b, ROW_QUEUE_PUT)->queue = &q;
	for (rid id = 1; id <= 6; id++) {
		add_insert(
		    c, task_new(c, id, id <= 4 ? 5 : 6, id % 2 ? TASK_FAILED : TASK_RUNNING));
		add_output(c, id, 1, 0, 2, 0, STR("hi"));
	}
	commit(c);
	assert_int_equal(store_prunable(c->r, 0, 0, 10, ids, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(ids[0], 1);
	assert_int_equal(ids[2], 5);
	assert_int_equal(store_prunable(c->r, 1, 5, 10, ids, &n), 0); /* ended_ms is the id here */
	assert_int_equal(n, 1);
	assert_int_equal(ids[0], 3);
	assert_int_equal(store_prunable(c->r, 0, 0, 2, ids, &n), 0);
	assert_int_equal(n, 2);
	add_id(c, ROW_TASK_PRUNE, 1);
	add_id(c, ROW_TASK_PRUNE, 2); /* runs: refused */
	commit(c);
	assert_int_equal(store_task_get(c->r, 1, &c->a, &got), ERR_NOT_FOUND);
	assert_output(c, 2, 1, 0, 9, "hi");
	assert_int_equal(store_count_ended(c->r, &ended), 0);
	assert_int_equal(ended, 2);
	add_id(c, ROW_QUEUE_DELETE, 5);
	add_insert(c, task_new(c, 7, 5, TASK_QUEUED)); /* after the delete: stays */
	commit(c);
	for (rid id = 2; id <= 4; id++)
		assert_int_equal(store_task_get(c->r, id, &c->a, &got), ERR_NOT_FOUND);
	assert_int_equal(store_task_get(c->r, 7, &c->a, &got), 0);
	assert_output(c, 5, 1, 0, 9, "hi");
	assert_int_equal(store_count_ended(c->r, &ended), 0);
	assert_int_equal(ended, 1);
	add_insert(c, task_new(c, 8, 5, TASK_RUNNING)); /* what was pruned left no output behind */
	commit(c);
	assert_output(c, 8, 1, 0, 9, "");
}

struct loaded {
	struct ctx *c;
	int step, n_meta, n_queues, n_workers, n_tasks, n_counts, stop_at;
	struct meta_row meta;
	struct queue_row queues[4];
	struct worker_row workers[4];
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

static int on_meta(void *arg, const struct meta_row *m)
{
	struct loaded *l = arg;

	row_copy(&meta_table, &l->c->a, m, 0, &l->meta);
	l->n_meta++;
	return enter(l, 1);
}

static int on_queue(void *arg, const struct queue_row *q)
{
	struct loaded *l = arg;

	row_copy(&queue_table, &l->c->a, q, 0, &l->queues[l->n_queues++]);
	return enter(l, 2);
}

static int on_count(void *arg, rid queue, int32_t status, int64_t n)
{
	struct loaded *l = arg;

	l->counts[l->n_counts].queue = queue;
	l->counts[l->n_counts].status = status;
	l->counts[l->n_counts++].n = n;
	return enter(l, 3);
}

static int on_worker(void *arg, const struct worker_row *w)
{
	struct loaded *l = arg;

	row_copy(&worker_table, &l->c->a, w, 0, &l->workers[l->n_workers++]);
	return enter(l, 4);
}

static int on_task(void *arg, const struct task_row *t)
{
	struct loaded *l = arg;

	row_copy(&task_table, &l->c->a, t, 0, &l->tasks[l->n_tasks++]);
	return enter(l, 5);
}

static int on_done(void *arg, rid last_id, uint64_t last_event)
{
	struct loaded *l = arg;

	l->last_id = last_id;
	l->last_event = last_event;
	return enter(l, 6);
}

static int load(struct ctx *c, struct loaded *l)
{
	struct store_loader loader = {l, on_meta, on_queue, on_count, on_worker, on_task, on_done};
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
	batch_add(&c->b, ROW_META)->meta = &(struct meta_row){meta->name, STR("replaced at once")};
	batch_add(&c->b, ROW_META)->meta = meta;
	for (int i = 0; i < 3; i++) {
		row_random(&queue_table, &rng, &c->a, &queues[i]);
		queues[i].id = (rid)i + 5;
		batch_add(&c->b, ROW_QUEUE_PUT)->queue = &queues[i];
		row_random(&worker_table, &rng, &c->a, &workers[i]);
		workers[i].id = (rid)i + 8;
		batch_add(&c->b, ROW_WORKER_PUT)->worker = &workers[i];
	}
	for (int i = 0; i < 10; i++) {
		struct task_row *t = task_new(c, (rid)(100 - i), 5, statuses[i]);

		t->state.due_ms = i == 1 ? 1000 : 0; /* queued is queued, due or not */
		add_insert(c, t);
	}
	add_insert(c, task_new(c, 50, 6, TASK_CLAIMED));
	batch_add(&c->b, ROW_EVENT)->event = &(struct event_row){.seq = 41};
	commit(c);
}

static void test_load(void **state)
{
	struct ctx *c = *state;
	struct loaded l = {0};
	struct meta_row meta;
	struct queue_row queues[3],
	    counts = {.id = 6, .n_succeeded = 1, .n_failed = 2, .n_other = 3};
	struct worker_row workers[3];
	static const int32_t want[][3] = {
	    {5, -9, 2}, {5, -4, 1}, {5, -2, 2}, {5, -1, 1}, {5, 0, 1}, {6, -1, 1}};

	assert_int_equal(load(c, &l), 0); /* of an empty store */
	assert_int_equal(l.step, 6);
	assert_int_equal(l.last_id + l.last_event, 0);
	fill_for_load(c, &meta, queues, workers);
	batch_add(&c->b, ROW_QUEUE_COUNTS)->queue = &counts;
	queues[1].n_succeeded = 1;
	queues[1].n_failed = 2;
	queues[1].n_other = 3;
	add_id(c, ROW_TASK_PRUNE, 93);
	add_id(c, ROW_WORKER_DELETE, 10);
	add_insert(c, task_new(c, 200, 7, TASK_FAILED));
	commit(c);
	add_id(c, ROW_TASK_PRUNE, 200);
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
	assert_int_equal(l.n_tasks, 3);
	assert_int_equal(l.tasks[0].id, 50);
	assert_int_equal(l.tasks[1].id, 97);
	assert_int_equal(l.tasks[2].id, 98);
	assert_int_equal(l.last_id, 200); /* ever written, though pruned since */
	assert_int_equal(l.last_event, 41);
	for (int step = 1; step <= 6; step++) {
		l = (struct loaded){.stop_at = step};
		assert_int_equal(load(c, &l), 77);
		assert_int_equal(l.step, step);
	}
}

static void test_bounded_scan(void **state)
{
	struct ctx *c = *state;
	struct task_filter f = {.queue = 6};
	struct task_page page;
	rid cursor = 0;
	int found = 0, pages = 0;

	for (rid id = 1; id <= 45000; id++)
		add_insert(c, task_new(c, id, id % 15000 == 1 ? 6 : 5, TASK_SUCCEEDED));
	commit(c);
	do {
		assert_int_equal(
		    store_task_list(c->r, &f, false, true, cursor, 100, &c->a, &page), 0);
		found += (int)page.n;
		cursor = page.next;
		pages++;
	} while (cursor && pages < 100);
	assert_int_equal(found, 3);
	assert_true(pages >= 3); /* it was not all looked at in one go */
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    T(test_every_field_has_a_column),
	    T(test_task_round_trip),
	    T(test_bodies_of_any_length),
	    T(test_many_operations_on_one_row),
	    T(test_failed_batch_leaves_nothing),
	    T(test_heads),
	    T(test_due),
	    T(test_keys_are_free_once_ended),
	    T(test_idempotency),
	    T(test_events),
	    T(test_output_inline),
	    T(test_output_chunks),
	    T(test_lying_chunks),
	    T(test_prune_and_queue_delete_take_output_along),
	    T(test_load),
	    T(test_bounded_scan),
	};

	backend = argc > 1 ? argv[1] : "memory";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
