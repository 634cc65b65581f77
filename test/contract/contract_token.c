/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens come back as they were written, go when they should; and a filter for several queues. */
#include "contract.h"

static void put_tokens(struct ctx *c, struct token_row *rows, int n, uint64_t seed)
{
	struct rng rng = {seed};

	for (int i = 0; i < n; i++) {
		row_random(&token_table, &rng, &c->a, &rows[i]);
		rows[i].id = (rid)i + 1;
		batch_put(&c->b, &token_table, &rows[i]);
	}
}

static void assert_tokens(struct ctx *c, const struct token_row *rows, size_t n)
{
	struct start seen;

	start_read(c, &seen);
	assert_int_equal(seen.n_tokens, n);
	for (size_t i = 0; i < n; i++)
		assert_same_row(&token_table, &rows[i], &seen.tokens[i]);
}

void test_token_round_trip(void **state)
{
	struct ctx *c = *state;
	struct token_row rows[10];

	put_tokens(c, rows, 10, 31);
	commit(c);
	assert_tokens(c, rows, 10);
	put_tokens(c, rows, 10, 32); /* replaced by id */
	commit(c);
	assert_tokens(c, rows, 10);
}

/* The token's id is not given again, though it was the highest. */
void test_token_delete(void **state)
{
	struct ctx *c = *state;
	struct token_row rows[10];
	struct start seen;

	put_tokens(c, rows, 10, 33);
	commit(c);
	batch_delete(&c->b, &token_table, 10);
	batch_delete(&c->b, &token_table, 77); /* not there: no harm */
	commit(c);
	assert_tokens(c, rows, 9);
	start_read(c, &seen);
	assert_true(seen.last_id >= 10);
}

static size_t found(struct ctx *c, const struct task_filter *f)
{
	struct task_page page = {0};
	struct status_count *counts;
	size_t n = 0;
	int64_t total = 0;

	assert_int_equal(store_task_list(c->r, f, true, true, 0, 100, &c->a, &page), 0);
	assert_int_equal(store_task_count(c->r, f, &c->a, &counts, &n), 0);
	for (size_t i = 0; i < n; i++)
		total += counts[i].n;
	assert_int_equal(total, page.n);
	return page.n;
}

void test_filter_among_queues(void **state)
{
	struct ctx *c = *state;
	struct task_filter f = {0};

	for (rid id = 100; id < 130; id++)
		add_insert(c, task_new(c, id, 1 + id % 3, id % 2 ? TASK_QUEUED : TASK_SUCCEEDED));
	commit(c);
	assert_int_equal(found(c, &f), 30);
	f.among[f.n_among++] = 0; /* of none */
	assert_int_equal(found(c, &f), 0);
	f.among[f.n_among++] = 2;
	assert_int_equal(found(c, &f), 10);
	f.among[f.n_among++] = 3;
	assert_int_equal(found(c, &f), 20);
	f.queue = 3;
	assert_int_equal(found(c, &f), 10);
	f.queue = 1;
	assert_int_equal(found(c, &f), 0);
	f.queue = 0;
	for (rid q = 10; f.n_among < TOKEN_QUEUES_MAX; q++)
		f.among[f.n_among++] = q;
	assert_int_equal(found(c, &f), 20);
	f.states[f.n_states].min = f.states[f.n_states].max = TASK_QUEUED;
	f.n_states++;
	assert_int_equal(found(c, &f), 10);
}
