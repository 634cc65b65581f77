/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract that every backend must pass: `contract_store BACKEND`. Round trips of every field,
 * orders, keys, output, paging, load. See contract_random.c for the comparison by chance.
 */
#include "contract.h"

#include <stdlib.h>
#include <string.h>

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

static size_t column_bytes(const struct column *c)
{
	switch (c->type) {
	case COLUMN_I32: return 4;
	case COLUMN_I64: return 8;
	case COLUMN_USAGE: return sizeof(struct usage);
	case COLUMN_SUM: return 0;
	default: return sizeof(struct str);
	}
}

/* A field that is in a struct but in no column would be lost silently. */
static void test_every_field_has_a_column(void **state)
{
	static const struct {
		const struct row_table *t;
		size_t padding;
	} all[] = {{&task_table, 16}, {&queue_table, 12}, {&worker_table, 4}, {&event_table, 0},
	    {&idem_table, 8}, {&output_table, 4}, {&meta_table, 0}, {&schedule_table, 8},
	    {&tick_table, 4}, {&token_table, 8}, {&input_table, 4}, {&input_part_table, 0},
	    {&group_table, 0}, {&group_graph_table, 0}, {&graph_table, 0},
	    {&graph_package_table, 0}, {&built_table, 0}, {&domain_table, 0}, {&service_table, 16},
	    {&revision_table, 8}, {&instance_table, 4}};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		size_t covered = 0;

		for (int k = 0; k < all[i].t->n; k++)
			covered += column_bytes(&all[i].t->columns[k]);
		if (covered + all[i].padding != all[i].t->row_size)
			fail_msg("%s: %zu bytes in columns of %zu", all[i].t->name, covered,
			    all[i].t->row_size);
	}
}

static void test_tasks_by_name(void **state)
{
	struct ctx *c = *state;
	struct task_filter f = {.name = STR("nightly")};
	struct status_count *counts;
	struct task_page page;
	size_t n;

	for (rid id = 1; id <= 60; id++) {
		struct task_row *t = task_new(c, id, 7, id % 2 ? TASK_QUEUED : TASK_SUCCEEDED);

		t->spec.name = id % 3 == 0   ? STR("nightly")
		               : id % 3 == 1 ? STR("nightly report")
		                             : STR_NULL;
		add_insert(c, t);
	}
	commit(c);
	assert_int_equal(store_task_list(c->r, &f, false, true, 0, 15, &c->a, &page), 0);
	assert_int_equal(page.n, 15);
	assert_int_equal(page.rows[0].id, 60);
	assert_true(str_is(page.rows[14].spec.name, "nightly"));
	assert_int_equal(store_task_list(c->r, &f, false, true, page.next, 15, &c->a, &page), 0);
	assert_int_equal(page.n, 5);
	assert_int_equal(page.next, 0);
	f.states[0].min = f.states[0].max = TASK_QUEUED;
	f.n_states = 1;
	assert_int_equal(store_task_count(c->r, &f, &c->a, &counts, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(counts[0].n, 10);
	f.name = STR("night");
	assert_int_equal(store_task_list(c->r, &f, true, true, 0, 15, &c->a, &page), 0);
	assert_int_equal(page.n, 0);
}

static void test_heads_of_bodies(void **state)
{
	static const size_t sizes[] = {1, 511, 512, 513, 2048, 2049, 100000};
	struct ctx *c = *state;
	struct str head;

	for (rid id = 1; id <= sizeof sizes / sizeof sizes[0]; id++) {
		struct task_row *t = task_new(c, id, 7, TASK_QUEUED);
		char *text = arena_alloc(&c->a, sizes[id - 1]);

		memset(text, 'x', sizes[id - 1]);
		text[0] = (char)('a' + id);
		t->spec.body = (struct str){text, sizes[id - 1]};
		add_insert(c, t);
	}
	commit(c);
	for (rid id = 1; id <= sizeof sizes / sizeof sizes[0]; id++) {
		assert_int_equal(store_task_head(c->r, id, 512, &c->a, &head), 0);
		assert_int_equal(head.n, sizes[id - 1] < 512 ? sizes[id - 1] : 512);
		assert_int_equal(head.p[0], 'a' + id);
	}
	assert_int_equal(store_task_head(c->r, 99, 512, &c->a, &head), 0);
	assert_null(head.p);
}

static size_t input_parts(struct ctx *c, rid task, int64_t from, struct input_part_row **ret_rows)
{
	struct part_query q = {.table = &input_part_table,
	    .object = task,
	    .from = from,
	    .oldest_first = true,
	    .limit = 10};
	struct part_page page;

	assert_int_equal(store_parts(c->r, &q, &c->a, &page), 0);
	*ret_rows = page.rows;
	return page.n;
}

/* Read from any part on, gone up to any, and all at once with what they belong to. */
static void test_parts_of_input(void **state)
{
	struct ctx *c = *state;
	struct input_row in[] = {{7, 1, 12, INPUT_OPEN}, {8, 1, 4, INPUT_ENDED}};
	struct input_part_row parts[] = {{7, 0, {"a\0b\xff", 4}}, {7, 4, STR("efgh")},
	    {7, 8, STR("ijkl")}, {8, 0, STR("else")}},
	                      *got;

	for (size_t i = 0; i < 4; i++)
		batch_put(&c->b, &input_part_table, &parts[i]);
	batch_put(&c->b, &input_table, &in[0]);
	batch_put(&c->b, &input_table, &in[1]);
	commit(c);
	assert_int_equal(input_parts(c, 7, 0, &got), 3);
	assert_true(str_eq(got[0].data, parts[0].data));
	assert_int_equal(input_parts(c, 7, 4, &got), 2);
	assert_true(got[0].offset == 4 && str_eq(got[1].data, STR("ijkl")));
	batch_trim(&c->b, &input_part_table, 7, 8);
	commit(c);
	assert_int_equal(input_parts(c, 7, 0, &got), 1);
	assert_int_equal(got[0].offset, 8);
	batch_delete(&c->b, &input_table, 7);
	commit(c);
	assert_int_equal(input_parts(c, 7, 0, &got), 0);
	assert_int_equal(input_parts(c, 8, 0, &got), 1);
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

static void test_several_tasks_at_once(void **state)
{
	static const rid ids[] = {3, 99, 1, 0, 3};
	struct ctx *c = *state;
	struct task_row rows[5];

	for (rid id = 1; id <= 3; id++)
		add_insert(c, task_new(c, id, 7, TASK_QUEUED));
	commit(c);
	assert_int_equal(store_tasks_get(c->r, ids, 5, &c->a, rows), 0);
	assert_int_equal(rows[0].id, 3);
	assert_int_equal(rows[1].id, 0);
	assert_int_equal(rows[2].id, 1);
	assert_int_equal(rows[3].id, 0);
	assert_same_row(&task_table, &rows[0], &rows[4]);
	assert_int_equal(store_tasks_get(c->r, ids, 0, &c->a, rows), 0);
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
	batch_prune(&c->b, 7); /* not ended at this point of the batch: stays */
	t->state.status = TASK_FAILED;
	add_update(c, t);
	commit(c);
	assert_int_equal(store_task_get(c->r, 7, &c->a, &got), 0);
	assert_int_equal(got.state.status, TASK_FAILED);

	batch_prune(&c->b, 7);
	add_update(c, t); /* no longer there: no harm, and it does not come back */
	batch_prune(&c->b, 3);
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
	batch_rerank(&c->b, 5, ORDER_PRIORITY);
	commit(c);
	for (uint32_t page = 1; page < 8; page++) {
		assert_head(c, ORDER_PRIORITY, page, (rid[]){6, 2, 4, 1, 5, 3}, 6);
		assert_head(c, ORDER_LIFO, page, (rid[]){6, 4, 2, 5, 1, 3}, 6);
	}
	struct task_row got;
	assert_int_equal(store_task_get(c->r, 14, &c->a, &got), 0);
	assert_int_equal(got.state.rank, -100); /* those not due yet are ranked as well */
	batch_rerank(&c->b, 5, ORDER_FIFO);
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
		batch_put(&c->b, &idem_table, &rows[i]);
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

/* The store has linked the event, whatever the caller said of the chain. */
static void assert_same_event(const struct event_row *given, const struct event_row *got)
{
	struct event_row want = *given;

	assert_int_equal(got->hash.n, CHAIN_HASH_BYTES);
	want.prev = got->prev;
	want.hash = got->hash;
	assert_same_row(&event_table, &want, got);
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
		batch_put(&c->b, &event_table, &rows[i]);
	}
	commit(c);
	uint64_t after = 0;
	int at = 0;
	do {
		assert_int_equal(store_events(c->r, after, 700, &c->a, &page), 0);
		for (size_t i = 0; i < page.n; i++)
			assert_same_event(&rows[at++], &page.rows[i]);
		after = page.n ? page.rows[page.n - 1].seq : after;
	} while (page.n);
	assert_int_equal(at, 2500);
	assert_int_equal(store_events_before(c->r, UINT64_MAX, 3, &c->a, &page), 0);
	assert_int_equal(page.n, 3);
	assert_same_event(&rows[2497], &page.rows[0]);
	assert_same_event(&rows[2499], &page.rows[2]);
	assert_int_equal(store_events_before(c->r, page.rows[0].seq, 2, &c->a, &page), 0);
	assert_int_equal(page.n, 2);
	assert_same_event(&rows[2495], &page.rows[0]);
	assert_same_event(&rows[2496], &page.rows[1]);
	assert_int_equal(store_events_before(c->r, rows[0].seq, 2, &c->a, &page), 0);
	assert_int_equal(page.n, 0);
	assert_int_equal(store_expire(c->s, 0, 2200, &p), 0);
	assert_int_equal(store_events(c->r, 0, 1000, &c->a, &page), 0);
	assert_int_equal(page.n, 300);
	assert_int_equal(page.rows[0].time_ms, 2200);
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
	    T(test_parts_of_input),
	    T(test_tasks_by_name),
	    T(test_heads_of_bodies),
	    T(test_task_round_trip),
	    T(test_several_tasks_at_once),
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
	    T(test_audit_chain),
	    T(test_audit_kept_head),
	    T(test_audit_refused_commit),
	    T(test_audit_expired),
	    T(test_audit_expired_in_order),
	    T(test_audit_expires_while_checked),
	    T(test_audit_is_part_of_the_start),
	    T(test_token_round_trip),
	    T(test_token_delete),
	    T(test_filter_among_queues),
	    T(test_group_round_trip),
	    T(test_new_tasks_of_one_commit),
	    T(test_tasks_by_their_ids),
	    T(test_group_graph),
	    T(test_jobs_of_a_group),
	    T(test_live_jobs_at_start),
	    T(test_built_jobs),
	    T(test_graph_round_trip),
	    T(test_service_round_trip),
	    T(test_domain_round_trip),
	    T(test_instances),
	    T(test_revisions),
	    T(test_graph_packages),
	    T(test_schedule_round_trip),
	    T(test_rest_changes_nothing),
	    T(test_schedule_progress),
	    T(test_schedule_delete),
	    T(test_ticks_newest_first),
	    T(test_ticks_oldest_first),
	    T(test_ticks_expire),
	    T(test_tasks_of_a_schedule),
	    T(test_batch_round_trip),
	    T(test_batch_goes_with_its_last_task),
	    T(test_batch_is_joined_as_it_goes),
	    T(test_batch_goes_with_its_queue),
	    T(test_batch_from_before_rows),
	    T(test_batches_by_name),
	    T(test_batch_pace),
	    T(test_load),
	    T(test_bounded_scan),
	};

	backend = argc > 1 ? argv[1] : "memory";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
