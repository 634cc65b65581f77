/* SPDX-License-Identifier: Apache-2.0 */
/* Batches as stories of a letter and a task each, and what a database is told to write then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "store/sql/fold.h"

struct told {
	struct buf words;
	int fails_at; /* the call that fails; 0: none */
};

static int say(struct told *t, const char *what, rid id)
{
	buf_printf(&t->words, "%s%s%llu", t->words.n ? " " : "", what, (unsigned long long)id);
	return t->fails_at && --t->fails_at == 0 ? 7 : 0;
}

static int insert(void *store, const struct task_row *row)
{
	return say(
	    store, row->state.status == TASK_RUNNING ? "insert-running-" : "insert-", row->id);
}

static int state(void *store, const struct task_row *row)
{
	return say(store, row->state.status == TASK_RUNNING ? "running-" : "state-", row->id);
}

static int prune(void *store, rid task)
{
	return say(store, "prune-", task);
}

static int other(void *store, const struct row_op *op)
{
	if (op->table == &output_table)
		return say(store, "output-", ((const struct output_row *)op->row)->task);
	return say(store, op->verb == ROW_DELETE ? "end-" : "queue-",
	    op->verb == ROW_DELETE ? op->id : ((const struct queue_row *)op->row)->id);
}

static const struct fold_ops ops = {insert, state, prune, other};

static struct task_row *task(struct batch *b, rid id, int32_t status)
{
	struct task_row *row = arena_zalloc(&b->arena, sizeof *row);

	row->id = id;
	row->state.status = status;
	return row;
}

static void add(struct batch *b, char what, rid id)
{
	struct output_row *o;
	struct queue_row *q;

	switch (what) {
	case 'i': batch_insert(b, &task_table, task(b, id, TASK_QUEUED)); break;
	case 's': batch_state(b, &task_table, task(b, id, TASK_CLAIMED)); break;
	case 'r': batch_state(b, &task_table, task(b, id, TASK_RUNNING)); break;
	case 'p': batch_prune(b, id); break;
	case 'o':
		o = arena_zalloc(&b->arena, sizeof *o);
		o->task = id;
		batch_put(b, &output_table, o);
		break;
	case 'q':
		q = arena_zalloc(&b->arena, sizeof *q);
		q->id = id;
		batch_put(b, &queue_table, q);
		break;
	default: batch_delete(b, &queue_table, id); break;
	}
}

static int write_story(const char *story, struct told *told)
{
	struct batch b = {0};
	struct fold f = {0};
	int rc;

	for (const char *at = story; *at; at += 2)
		add(&b, at[0], (rid)(at[1] - '0'));
	rc = fold_batch(&f, &b, &ops, told);
	fold_release(&f);
	batch_release(&b);
	return rc;
}

static void test_stories(void **unused)
{
	static const struct {
		const char *story, *written;
	} table[] = {
	    {"i1i2", "insert-1 insert-2"},
	    /* by id, whatever the order */
	    {"i3i1i2", "insert-1 insert-2 insert-3"},
	    /* one write for all that happened to a task */
	    {"i1s1r1", "insert-running-1"},
	    {"s1r1", "running-1"},
	    {"r1s1", "state-1"},
	    {"i1i2r1", "insert-running-1 insert-2"},
	    /* output is written in its place, the state behind it */
	    {"i1o1r1", "output-1 insert-running-1"},
	    {"o2o1", "output-1 output-2"},
	    /* nothing is folded across a prune */
	    {"s1p1", "state-1 prune-1"},
	    {"i1r1p1", "insert-running-1 prune-1"},
	    /* what is not about tasks comes before them … */
	    {"i1q9", "queue-9 insert-1"},
	    /* … but nothing crosses the end of a queue */
	    {"i2i1d9i4i3", "insert-1 insert-2 end-9 insert-3 insert-4"},
	    {"i1d9r1", "insert-1 end-9 running-1"},
	    {"", ""},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct told told = {0};

		assert_int_equal(write_story(table[i].story, &told), 0);
		assert_string_equal(told.words.p ? told.words.p : "", table[i].written);
		buf_release(&told.words);
	}
}

static void test_failure_stops_the_rest(void **unused)
{
	struct told told = {.fails_at = 2};

	assert_int_equal(write_story("i1i2i3d9", &told), 7);
	assert_string_equal(told.words.p, "insert-1 insert-2");
	buf_release(&told.words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_stories),
	    cmocka_unit_test(test_failure_stops_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
