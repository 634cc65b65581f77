/* SPDX-License-Identifier: Apache-2.0 */
/* The full check of a file: rows that are gone, and what no checksum covers. */
#include "contract_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

static char said[4096];

static void keep(void *arg, const char *table, const char *name, const char *what)
{
	size_t n = strlen(said);

	snprintf(said + n, sizeof said - n, "%s %s: %s\n", table, name ? name : "-", what);
}

/* Of a store that is shut: what the check says, a line each. */
static const char *check(struct ctx *c)
{
	struct store_checker to = {.damaged = keep};
	struct problem p = {0};
	int64_t rows = 0;
	int rc;

	said[0] = 0;
	rc = store_check(c->url, &to, &rows, &p);
	if (rc != (said[0] ? ERR_STORE : 0))
		fail_msg("%d: %s", rc, p.what);
	return said;
}

static void assert_finds(struct ctx *c, const char *change, const char *words)
{
	sql(c, change);
	if (strcmp(check(c), words) != 0)
		fail_msg("%s: \"%s\" instead of \"%s\"", change, said, words);
}

#define ID_OF(last) "00000000000000000000000" last /* of a store without an installation */

static void add_task(struct ctx *c, rid id, rid queue, int status, int priority, int64_t rank)
{
	struct task_row *t = task_new(c, id, queue, status);

	t->spec.priority = priority;
	t->state.rank = rank;
	add_insert(c, t);
}

static void add_queue(struct ctx *c, rid id, int order)
{
	struct queue_row q = {.id = id, .name = STR("q"), .plugin = STR("command"), .order = order};

	batch_put(&c->b, &queue_table, arena_memdup(&c->b.arena, &q, sizeof q));
}

/* Three that wait (one until it is due) by priority, one in their order, one that has ended. */
static void add_some(struct ctx *c)
{
	struct meta_row meta = {STR("installation"), STR("0000000000")};
	struct task_row *due = task_new(c, 3, 8, TASK_QUEUED);

	batch_put(&c->b, &meta_table, arena_memdup(&c->b.arena, &meta, sizeof meta));
	add_queue(c, 8, ORDER_PRIORITY);
	add_queue(c, 9, ORDER_FIFO);
	add_task(c, 1, 8, TASK_QUEUED, 7, -7);
	add_task(c, 2, 8, TASK_QUEUED, -2, 2);
	due->state.due_ms = 1;
	due->spec.priority = 4;
	due->state.rank = -4;
	add_insert(c, due);
	add_task(c, 4, 9, TASK_QUEUED, 5, 0);
	add_task(c, 5, 9, TASK_SUCCEEDED, 5, -5);
	commit(c);
}

static void test_a_changed_rank_is_found(void **state)
{
	static const char words[] = ": its place in the queue is not that of its priority\n";
	struct ctx *c = *state;
	AUTO(free_cstr) char *first = xasprintf("task " ID_OF("1") "%s", words);
	AUTO(free_cstr) char *due = xasprintf("task " ID_OF("3") "%s", words);
	AUTO(free_cstr) char *fifo = xasprintf("task " ID_OF("4") "%s", words);

	add_some(c);
	shut(c);
	assert_string_equal(check(c), "");
	assert_finds(c, "UPDATE task SET rank = 7 WHERE id = 1", first);
	assert_finds(c,
	    "UPDATE task SET rank = CASE id WHEN 3 THEN 0 ELSE -priority END"
	    " WHERE id IN (1, 3)",
	    due);
	assert_finds(c,
	    "UPDATE task SET rank = -1000 * (id = 4) - priority * (id = 3)"
	    " WHERE id IN (3, 4)",
	    fifo);
	/* as a change of order mends it */
	assert_int_equal(try_open(c, NULL), 0);
	batch_rerank(&c->b, 9, ORDER_FIFO);
	commit(c);
	shut(c);
	assert_string_equal(check(c), "");
}

/* Of a queue whose own row is damaged nobody knows the order: that one row is named, no task. */
static void test_ranks_of_a_damaged_queue(void **state)
{
	struct ctx *c = *state;

	add_some(c);
	shut(c);
	assert_finds(c, "UPDATE queue SET run_order = 0 WHERE id = 8",
	    "queue q: does not fit its checksum\n");
}

static void test_deleted_tasks_are_found(void **state)
{
	struct ctx *c = *state;

	add_some(c);
	shut(c);
	assert_finds(c, "DELETE FROM task WHERE id = 4",
	    "task rows: 1 of those that were written are gone\n");
	assert_finds(c, "DELETE FROM task WHERE id = 5",
	    "task rows: 2 of those that were written are gone\n");
}

/* What the store removes itself is no damage, nor is what it had no time to count. */
static void test_what_the_store_removes(void **state)
{
	struct ctx *c = *state;
	int status;
	pid_t pid;

	add_some(c);
	batch_prune(&c->b, 5);
	commit(c);
	batch_delete(&c->b, &queue_table, 8);
	commit(c);
	shut(c);
	assert_string_equal(check(c), "");
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		if (try_open(c, NULL))
			_exit(1);
		add_task(c, 10, 9, TASK_QUEUED, 0, 0);
		_exit(try_commit(c, NULL) ? 2 : 0); /* without a close */
	}
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_string_equal(check(c), "");
	assert_int_equal(try_open(c, NULL), 0);
	shut(c);
	assert_finds(c, "DELETE FROM task WHERE id = 10",
	    "task rows: 1 of those that were written are gone\n");
}

/* A person who took a row and mended the numbers has left what belongs to it. */
static void test_what_belongs_to_nobody(void **state)
{
	struct ctx *c = *state;
	struct task_row *t = task_new(c, 6, 9, TASK_SUCCEEDED);
	struct schedule_row s = {.id = 7, .name = STR("s"), .items = STR("[]"), .queue = 9};
	struct tick_row tick = {.schedule = 7, .tick_s = 60, .time_ms = 60000, .task = 99};
	char body[5000];

	add_some(c);
	memset(body, 'x', sizeof body);
	t->spec.body = (struct str){body, sizeof body};
	add_insert(c, t);
	add_output(c, 5, 1, 0, 1, 0, STR("x"));
	add_output(c, 5, 1, 1, 1, 0, STR("y"));
	batch_put(&c->b, &schedule_table, &s);
	batch_put(&c->b, &tick_table, &tick);
	commit(c);
	shut(c);
	assert_string_equal(check(c), ""); /* a tick's task may be gone: it outlives it */
	assert_finds(c, "DELETE FROM task WHERE id = 5; UPDATE stat SET n_tasks = 5, sum = NULL",
	    "task " ID_OF("5") ": it is gone, and what it wrote is there\n");
	assert_finds(c,
	    "DELETE FROM output; DELETE FROM task WHERE id = 6;"
	    " UPDATE stat SET n_tasks = 4, sum = NULL",
	    "task " ID_OF("6") ": it is gone, and what it runs is there\n");
	assert_finds(c, "DELETE FROM task_body; DELETE FROM schedule",
	    "schedule " ID_OF("7") ": it is gone, and its ticks are there\n");
	assert_finds(c, "DELETE FROM tick; DELETE FROM queue WHERE id = 8",
	    "queue " ID_OF("8") ": it is gone, and tasks of it are there\n");
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(test_a_changed_rank_is_found),
	    T(test_ranks_of_a_damaged_queue),
	    T(test_deleted_tasks_are_found),
	    T(test_what_the_store_removes),
	    T(test_what_belongs_to_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
