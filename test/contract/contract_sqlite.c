/* SPDX-License-Identifier: Apache-2.0 */
/* What only a file can do: outlive its process, be someone else's, be locked, be full. */
#include "contract_file.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/sql/text.h"

static void test_reopen_keeps_all(void **state)
{
	struct ctx *c = *state;
	struct rng rng = {9};
	struct task_row t[50], got;
	int64_t ended, before;

	for (int i = 0; i < 50; i++) {
		row_random(&task_table, &rng, &c->a, &t[i]);
		t[i].id = (rid)i + 1;
		t[i].state.status = (int32_t)rng_below(&rng, 5) - 2;
		add_insert(c, &t[i]);
	}
	commit(c);
	assert_int_equal(store_count_ended(c->r, &before), 0);
	ctx_reopen(c);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(store_task_get(c->r, t[i].id, &c->a, &got), 0);
		assert_same_row(&task_table, &t[i], &got);
	}
	assert_int_equal(store_count_ended(c->r, &ended), 0);
	assert_int_equal(ended, before);
}

#define KILL_BATCH 20

/* Batch n holds tasks n*KILL_BATCH+1 …, and says n to the pipe once it is acknowledged. */
static void write_until_killed(struct ctx *c, int fd)
{
	for (uint64_t n = 0;; n++) {
		for (rid i = 1; i <= KILL_BATCH; i++)
			add_insert(c, task_new(c, n * KILL_BATCH + i, 5, TASK_QUEUED));
		for (rid i = 1; n && i <= KILL_BATCH; i++)
			add_update(c, task_new(c, (n - 1) * KILL_BATCH + i, 5, TASK_SUCCEEDED));
		if (try_commit(c, NULL) || write(fd, &n, sizeof n) != sizeof n)
			_exit(1);
		arena_reset(&c->a);
	}
}

/* Returns the last batch that was acknowledged before the kill. */
static uint64_t run_and_kill(struct ctx *c, uint64_t at_least)
{
	uint64_t n = 0, last = 0;
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		if (try_open(c, NULL))
			_exit(2);
		write_until_killed(c, fds[1]);
	}
	close(fds[1]);
	while (last < at_least && read(fds[0], &n, sizeof n) == sizeof n)
		last = n;
	assert_int_equal(last, at_least);
	kill(pid, SIGKILL);
	while (read(fds[0], &n, sizeof n) == sizeof n)
		last = n;
	close(fds[0]);
	waitpid(pid, NULL, 0);
	return last;
}

/* On purpose: the lock remembers that there was a store. */
static void begin_anew(struct ctx *c)
{
	AUTO(free_cstr) char *lock = xasprintf("%s.lock", ctx_path(c));

	unlink(ctx_path(c));
	unlink(lock);
}

static void test_killed_while_committing(void **state)
{
	struct ctx *c = *state;

	for (uint64_t round = 0; round < 8; round++) {
		struct status_count *counts;
		struct task_row got;
		uint64_t acked;
		size_t n;
		int64_t total = 0;

		shut(c);
		begin_anew(c);
		acked = run_and_kill(c, 5 + round * 7);
		assert_int_equal(try_open(c, NULL), 0);
		c->r = store_reader_open(c->s, NULL);
		assert_int_equal(
		    store_task_count(c->r, &(struct task_filter){0}, &c->a, &counts, &n), 0);
		for (size_t i = 0; i < n; i++)
			total += counts[i].n;
		assert_int_equal(total % KILL_BATCH, 0); /* no part of a batch */
		assert_true(total >= (int64_t)(acked + 1) * KILL_BATCH);
		for (rid id = 1; id <= (rid)total; id++) {
			assert_int_equal(store_task_get(c->r, id, &c->a, &got), 0);
			assert_int_equal(got.state.status,
			    id <= (rid)total - KILL_BATCH ? TASK_SUCCEEDED : TASK_QUEUED);
		}
	}
}

static void test_not_ours_is_refused(void **state)
{
	struct ctx *c = *state;
	struct problem p = {0};
	FILE *f;

	shut(c);
	f = fopen(ctx_path(c), "w");
	for (int i = 0; i < 1000; i++)
		fputs("these are not the bytes of a database\n", f);
	fclose(f);
	assert_int_equal(try_open(c, &p), ERR_STORE);
	assert_says(p.what, "is not a Reeve database");
	unlink(ctx_path(c));
	sql(c, "CREATE TABLE someone_elses (x)");
	assert_int_equal(try_open(c, &p), ERR_STORE);
	assert_says(p.what, "is not a Reeve database");
	assert_int_equal(store_schema_version(c->url, &(int){0}, &p), ERR_STORE);
	assert_int_equal(
	    store_migrate(c->url, &(struct store_migration){.version = 1}, &p), ERR_STORE);
}

static void test_no_such_place(void **state)
{
	struct ctx *c = *state;
	struct store_options o = {0}, create = {.create = true};
	struct problem p = {0};
	struct store *s;

	assert_int_equal(store_open("sqlite:/nonexistent/x.db", &o, &s, &p), ERR_NOT_FOUND);
	assert_int_equal(store_open("sqlite:/nonexistent/x.db", &create, &s, &p), ERR_STORE);
	assert_true(p.hint[0]);
	assert_int_equal(store_open("sqlite:", &create, &s, &p), ERR_INVALID);
	assert_int_equal(store_open("carrier-pigeon:x", &create, &s, &p), ERR_INVALID);
	assert_says(p.hint, "sqlite:PATH");
	assert_string_equal(store_backend(c->s), "sqlite");
}

static void test_second_open_is_refused(void **state)
{
	struct ctx *c = *state;
	struct store_options o = {.create = true};
	struct problem p = {0};
	struct store *other;

	assert_int_equal(store_open(c->url, &o, &other, &p), ERR_BUSY);
	assert_says(p.what, "in use");
	assert_true(p.hint[0]);
	shut(c);
	assert_int_equal(try_open(c, &p), 0);
}

/* A limit on the size of files stands for the full disk; in a child, so that only it is bound. */
static void fill_the_disk(struct ctx *c)
{
	struct problem p = {0};
	struct task_row got;
	rid id = 1;
	int rc;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){1 << 20, 1 << 20});
	if (try_open(c, NULL) || !(c->r = store_reader_open(c->s, NULL)))
		_exit(10);
	do {
		struct event_row e = {.seq = id};

		fill(c, id, 50);
		batch_put(&c->b, &event_table, &e);
		rc = try_commit(c, &p);
		id += 50;
	} while (rc == 0 && id < 5000);
	if ((rc != ERR_STORE && rc != ERR_BUSY) || !p.what[0])
		_exit(11);
	if (store_task_get(c->r, 1, &c->a, &got)) /* what was acknowledged is still there */
		_exit(12);
	if (store_task_get(c->r, id - 1, &c->a, &got) != ERR_NOT_FOUND)
		_exit(13);
	_exit(0);
}

static void test_full_disk(void **state)
{
	struct ctx *c = *state;
	struct audit_check k = {0};
	int status;
	pid_t pid;

	shut(c);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		fill_the_disk(c);
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(try_open(c, NULL), 0); /* with room again, it goes on */
	fill(c, 10000, 50);
	batch_put(&c->b, &event_table, &(struct event_row){.seq = 10000});
	commit(c);
	c->r = store_reader_open(c->s, NULL);
	assert_non_null(c->r);
	while (!k.done) /* a refused commit has not moved the chain of events */
		assert_int_equal(store_audit_step(c->r, &k), 0);
	assert_int_equal(k.fault, AUDIT_FITS);
	assert_int_equal(k.head.seq, 10000);
	assert_true(k.n > 1);
}

/* The log is moved into the database beside the writing, and does not grow for ever. */
static void test_log_stays_bounded(void **state)
{
	struct ctx *c = *state;
	AUTO(free_cstr) char *wal = xasprintf("%s-wal", ctx_path(c));
	struct stat st;

	for (rid n = 0; n < 150; n++) {
		fill(c, 1 + n * 500, 500);
		commit(c);
		arena_reset(&c->a);
		assert_int_equal(stat(wal, &st), 0);
		assert_true(st.st_size < 80 << 20);
	}
	assert_int_equal(stat(ctx_path(c), &st), 0);
	assert_true(st.st_size > 50 << 20);
}

static void assert_no_table(sqlite3 *db, const char *text)
{
	AUTO(free_cstr) char *explain = xasprintf("EXPLAIN %s", text);
	sqlite3_stmt *st;

	assert_int_equal(sqlite3_prepare_v2(db, explain, -1, &st, NULL), SQLITE_OK);
	while (sqlite3_step(st) == SQLITE_ROW)
		if (strcmp((const char *)sqlite3_column_text(st, 1), "OpenEphemeral") == 0)
			fail_msg("makes a table of its own: %s", text);
	sqlite3_finalize(st);
}

/* Neither the statements nor the conditions of indexes have SQLite make a table for a list: that
 * costs more than to write the row. */
static void test_writes_of_tasks_make_no_tables(void **state)
{
	const struct sql_dialect d = {.replaces = true, .hints = true};
	AUTO(sql_text_release) struct sql_text insert = {&d}, update = {&d}, prune = {&d};
	struct ctx *c = *state;
	sqlite3 *db;

	sql_add_verb(&insert, &task_table, SQL_INSERT);
	sql_add_verb(&update, &task_table, SQL_STATE);
	sql_add(&prune, "DELETE FROM task WHERE id = ? AND " ENDED_SQL);
	assert_int_equal(sqlite3_open(ctx_path(c), &db), SQLITE_OK);
	assert_no_table(db, insert.out.p);
	assert_no_table(db, update.out.p);
	assert_no_table(db, prune.out.p);
	sqlite3_close(db);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(test_reopen_keeps_all),
	    T(test_killed_while_committing),
	    T(test_not_ours_is_refused),
	    T(test_no_such_place),
	    T(test_second_open_is_refused),
	    T(test_full_disk),
	    T(test_log_stays_bounded),
	    T(test_writes_of_tasks_make_no_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
