/* SPDX-License-Identifier: Apache-2.0 */
/* Kept output: inline, in chunks, with lengths that lie, and gone with its task. */
#include "contract.h"

#include <string.h>
#include <zstd.h>

#include "model/limits.h"

static struct buf read_output(struct ctx *c, rid task, int64_t token, int64_t from, size_t max,
    int want_rc, struct output_end *ret_end)
{
	struct buf out = {0};

	assert_int_equal(
	    store_output(c->r, task, token, STDOUT, from, max, &out, ret_end), want_rc);
	return out;
}

static void assert_output(
    struct ctx *c, rid task, int64_t token, int64_t from, size_t max, const char *want)
{
	struct output_end end;
	struct buf out = read_output(c, task, token, from, max, 0, &end);

	assert_string_equal(out.p ? out.p : "", want);
	assert_int_equal(end.at, from + (int64_t)strlen(want));
	buf_release(&out);
}

void test_output_inline(void **state)
{
	struct ctx *c = *state;
	struct task_row *t = task_new(c, 1, 5, TASK_SUCCEEDED);
	struct buf out = {0};
	struct output_end end;

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

void test_output_chunks(void **state)
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

void test_lying_chunks(void **state)
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
	struct output_end end;
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

void test_prune_and_queue_delete_take_output_along(void **state)
{
	struct ctx *c = *state;
	struct queue_row q = {.id = 5, .name = STR("q"), .plugin = STR("command")};
	struct task_row got;
	rid ids[10];
	size_t n;
	int64_t ended;

	batch_put(&c->b, &queue_table, &q);
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
	assert_int_equal(store_prunable(c->r, 1, 5, 10, ids, &n), 0); /* mtime_ms is the id here */
	assert_int_equal(n, 1);
	assert_int_equal(ids[0], 3);
	assert_int_equal(store_prunable(c->r, 0, 0, 2, ids, &n), 0);
	assert_int_equal(n, 2);
	batch_prune(&c->b, 1);
	batch_prune(&c->b, 2); /* runs: refused */
	commit(c);
	assert_int_equal(store_task_get(c->r, 1, &c->a, &got), ERR_NOT_FOUND);
	assert_output(c, 2, 1, 0, 9, "hi");
	assert_int_equal(store_count_ended(c->r, &ended), 0);
	assert_int_equal(ended, 2);
	batch_delete(&c->b, &queue_table, 5);
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
