/* SPDX-License-Identifier: Apache-2.0 */
/* What only a file can do: outlive its process, be someone else's, be damaged, be locked, be full.
 */
#include "contract.h"

#include <fcntl.h>
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

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define NEWEST TEXT(STORE_SCHEMA_VERSION)

static int setup(void **state)
{
	struct ctx *c = xcalloc(1, sizeof *c);

	ctx_open(c, "sqlite");
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	ctx_close(*state);
	free(*state);
	return 0;
}

static void shut(struct ctx *c)
{
	store_reader_close(c->r);
	store_close(c->s);
	c->r = NULL;
	c->s = NULL;
}

static int try_open(struct ctx *c, struct problem *ret_problem)
{
	struct store_options o = {.create = true, .migrate = true};

	return store_open(c->url, &o, &c->s, ret_problem);
}

static void assert_says(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" does not say \"%s\"", text, part);
}

static void sql(struct ctx *c, const char *text)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(ctx_path(c), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

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

static void test_newer_schema_is_refused(void **state)
{
	struct ctx *c = *state;
	struct problem p = {0};
	int version;

	shut(c);
	sql(c, "PRAGMA user_version = 999");
	assert_int_equal(try_open(c, &p), ERR_SCHEMA);
	assert_says(p.what, "the store's schema is version 999, this reeve knows up to " NEWEST);
	assert_says(p.hint, "reeve store migrate --to " NEWEST);
	assert_int_equal(store_schema_version(c->url, &version, &p), 0);
	assert_int_equal(version, 999);
	assert_int_equal(store_migrate(c->url, 1, &p), ERR_SCHEMA);
	sql(c, "PRAGMA user_version = " NEWEST);
	assert_int_equal(try_open(c, &p), 0);
}

static void test_migrate_down_and_up(void **state)
{
	struct ctx *c = *state;
	struct store_options strict = {.create = true};
	struct problem p = {0};
	int version = -1;

	assert_int_equal(store_migrate(c->url, 0, &p), ERR_BUSY); /* it is open */
	shut(c);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(store_migrate(c->url, 0, &p), 0);
		assert_int_equal(store_schema_version(c->url, &version, &p), 0);
		assert_int_equal(version, 0);
		assert_int_equal(store_open(c->url, &strict, &c->s, &p), ERR_SCHEMA);
		assert_says(p.hint, "reeve store migrate --to " NEWEST);
		assert_int_equal(store_migrate(c->url, STORE_SCHEMA_VERSION, &p), 0);
	}
	assert_int_equal(store_migrate(c->url, 99, &p), ERR_INVALID);
	assert_int_equal(store_migrate(c->url, -1, &p), ERR_INVALID);
	assert_int_equal(store_migrate("sqlite:/nonexistent/x.db", 1, &p), ERR_NOT_FOUND);
	assert_int_equal(store_open(c->url, &strict, &c->s, &p), 0);
	add_insert(c, task_new(c, 1, 5, TASK_QUEUED));
	commit(c);
}

static void assert_workers(struct ctx *c, const char *query_text, const int expected[4])
{
	sqlite3_stmt *query;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(ctx_path(c), &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, query_text, -1, &query, NULL), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(sqlite3_step(query), SQLITE_ROW);
		assert_int_equal(sqlite3_column_int(query, 0), expected[i]);
	}
	assert_int_equal(sqlite3_step(query), SQLITE_DONE);
	sqlite3_finalize(query);
	sqlite3_close(db);
}

/* Version 2 gave the workers' states other meanings; who was lost stays so, both ways. */
static void test_migrate_worker_states(void **state)
{
	struct ctx *c = *state;
	struct worker_row rows[4];
	struct rng rng = {4};
	struct problem p = {0};

	for (int i = 0; i < 4; i++) {
		row_random(&worker_table, &rng, &c->a, &rows[i]);
		rows[i].id = (rid)i + 1;
		rows[i].state = i;
		batch_add(&c->b, ROW_WORKER_PUT)->worker = &rows[i];
	}
	commit(c);
	shut(c);
	assert_int_equal(store_migrate(c->url, 1, &p), 0);
	assert_workers(c, "SELECT state FROM worker ORDER BY id", (int[]){1, 1, 1, 2});
	sql(c, "UPDATE worker SET state = 0 WHERE id = 1");
	assert_int_equal(try_open(c, &p), 0); /* upwards by itself, as a server does */
	shut(c);
	assert_workers(c, "SELECT state FROM worker ORDER BY id", (int[]){1, 1, 1, 3});
}

/* Version 3 added columns: down they are forgotten, up they are empty, all else stays. */
static void test_migrate_results(void **state)
{
	struct ctx *c = *state;
	struct task_row *t = task_new(c, 1, 5, TASK_SUCCEEDED), got;
	struct queue_row q = {.id = 5, .name = STR("q"), .plugin = STR("p"), .run = STR("{}")};
	struct problem p = {0};

	t->state.usage = (struct usage){1, 2, 3, 4, 1};
	t->state.result = STR("r");
	t->state.output[STDERR] = STR("e");
	add_insert(c, t);
	batch_add(&c->b, ROW_QUEUE_PUT)->queue = &q;
	commit(c);
	assert_int_equal(store_task_get(c->r, 1, &c->a, &got), 0);
	assert_same_row(&task_table, t, &got);
	shut(c);
	assert_int_equal(store_migrate(c->url, 2, &p), 0);
	assert_int_equal(try_open(c, &p), 0);
	c->r = store_reader_open(c->s, &p);
	assert_int_equal(store_task_get(c->r, 1, &c->a, &got), 0);
	t->state.usage = (struct usage){0};
	t->state.result = STR_NULL;
	assert_same_row(&task_table, t, &got);
}

/* Version 5 added a mark: down it is forgotten, all else stays. */
static void test_migrate_doubts(void **state)
{
	struct ctx *c = *state;
	struct task_row *t = task_new(c, 1, 5, TASK_SUCCEEDED), got;
	struct problem p = {0};

	t->state.times_doubtful = 1;
	t->state.result = STR("r");
	add_insert(c, t);
	commit(c);
	shut(c);
	assert_int_equal(store_migrate(c->url, 4, &p), 0);
	assert_int_equal(try_open(c, &p), 0);
	c->r = store_reader_open(c->s, &p);
	assert_int_equal(store_task_get(c->r, 1, &c->a, &got), 0);
	t->state.times_doubtful = 0;
	assert_same_row(&task_table, t, &got);
}

/* Version 6 gave workers keys and counted starts: down their order is their time again. */
static void test_migrate_worker_keys(void **state)
{
	struct ctx *c = *state;
	struct worker_row w = {.id = 1,
	    .facts = {.shard = STR("w1"),
	        .instance = 5,
	        .started_ms = 1000,
	        .start = 77,
	        .lock = STR("m:/d"),
	        .key = STR("k")}};
	struct problem p = {0};

	batch_add(&c->b, ROW_WORKER_PUT)->worker = &w;
	commit(c);
	shut(c);
	assert_int_equal(store_migrate(c->url, 5, &p), 0);
	sql(c, "UPDATE worker SET started_ms = started_ms + 1 WHERE started_ms = 77");
	assert_int_equal(try_open(c, &p), 0);
	shut(c);
	/* the old order goes on, and no key is known */
	sql(c,
	    "CREATE TABLE found AS SELECT 1 / (start = 78 AND link_key IS NULL) AS ok FROM worker");
	sql(c, "CREATE TABLE sure (ok NOT NULL); INSERT INTO sure SELECT ok FROM found; DROP TABLE "
	       "found; DROP TABLE sure");
}

/*
 * Version 10 says who may hold unwritten starts. Of those before nobody knows, if the server was
 * volatile; and no checksum is broken, up or down.
 */
static void test_migrate_unwritten(void **state)
{
	static const char marks[] = "SELECT unwritten FROM worker ORDER BY id";
	struct ctx *c = *state;
	struct worker_row rows[4];
	struct meta_row meta = {STR("volatile"), STR("3 open 00000000000000aa")};
	struct start start;
	struct problem p = {0};

	batch_add(&c->b, ROW_META)->meta = &meta;
	for (int i = 0; i < 4; i++) {
		rows[i] = (struct worker_row){.id = (rid)i + 1, .state = i, .unwritten = i & 1};
		batch_add(&c->b, ROW_WORKER_PUT)->worker = &rows[i];
	}
	commit(c);
	shut(c);
	for (int open = 1; open >= 0; open--) {
		assert_int_equal(store_migrate(c->url, 9, &p), 0);
		assert_int_equal(try_open(c, &p), 0);
		start_read(c, &start);
		shut(c);
		assert_workers(c, marks, open ? (int[]){1, 1, 1, 0} : (int[]){0, 0, 0, 0});
		sql(c, "UPDATE meta SET value = '3 settled 00000000000000aa', sum = NULL "
		       "WHERE name = 'volatile'");
	}
}

/* Version 11 numbers on after a retry: down, what is left of the attempts stays. */
static void test_migrate_attempts(void **state)
{
	struct ctx *c = *state;
	struct task_row *t, got;
	struct problem p = {0};

	for (rid id = 1; id <= 2; id++) {
		t = task_new(c, id, 5, TASK_QUEUED);
		t->state.attempt = id == 1 ? 2 : 4;
		t->state.attempts_before = id == 1 ? 0 : 3;
		add_insert(c, t);
	}
	commit(c);
	shut(c);
	assert_int_equal(store_migrate(c->url, 10, &p), 0);
	assert_int_equal(try_open(c, &p), 0);
	c->r = store_reader_open(c->s, &p);
	for (rid id = 1; id <= 2; id++) {
		assert_int_equal(store_task_get(c->r, id, &c->a, &got), 0);
		assert_int_equal(got.state.attempt, id == 1 ? 2 : 1);
		assert_int_equal(got.state.attempts_before, 0);
		assert_int_equal(got.damage, 0);
	}
}

/* A value changed behind our back: the row says so, and what it said is not repeated. */
static void test_damage_is_noticed(void **state)
{
	static const struct {
		const char *sql;
		unsigned damage;
	} all[] = {
	    {"UPDATE task SET priority = priority + 1", DAMAGED_STATE},
	    {"UPDATE task SET reason = 'fine'", DAMAGED_STATE},
	    {"UPDATE task SET reason = NULL", DAMAGED_STATE},
	    {"UPDATE task SET labels = 'a=b'", DAMAGED_SPEC},
	    {"UPDATE task SET ctime_ms = 5", DAMAGED_SPEC},
	    {"UPDATE task SET body = '{\"command\":[\"rm\"]}'", DAMAGED_BODY},
	    {"UPDATE task SET result = 'other'", DAMAGED_OUTPUT},
	    {"UPDATE task SET stdout = NULL", DAMAGED_OUTPUT},
	    {"UPDATE task SET usage = '1 2 3 4'", DAMAGED_STATE},
	    {"UPDATE task SET rank = 77", 0},                    /* as a change of order does */
	    {"UPDATE task SET body = '{}', body_sum = NULL", 0}, /* from before */
	};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		struct ctx *c = *state;
		struct problem p = {0};
		struct task_row *t = task_new(c, i + 1, 5, TASK_SUCCEEDED), got;

		t->spec.body = STR("{\"command\":[\"true\"]}");
		t->state.reason = STR("why");
		t->state.result = STR("r");
		t->state.output[STDOUT] = STR("o");
		add_insert(c, t);
		commit(c);
		shut(c);
		sql(c, all[i].sql);
		assert_int_equal(try_open(c, &p), 0);
		c->r = store_reader_open(c->s, &p);
		assert_int_equal(store_task_get(c->r, i + 1, &c->a, &got), 0);
		if (got.damage != all[i].damage)
			fail_msg("%s: damage %u", all[i].sql, got.damage);
		if (got.damage & DAMAGED_BODY)
			assert_null(got.spec.body.p);
		if (got.damage & DAMAGED_STATE)
			assert_null(got.state.reason.p);
		sql(c, "DELETE FROM task");
	}
}

/* What an earlier version wrote must still fit: these were made by the first that had sums. */
static void test_sums_stay_the_same(void **state)
{
	struct ctx *c = *state;
	struct task_row *t = task_new(c, 1, 5, TASK_SUCCEEDED);

	t->spec.labels = STR("a=b\n");
	t->state.reason = STR("why");
	t->state.result = STR("r");
	t->state.usage = (struct usage){1, 2, 3, 4, true};
	add_insert(c, t);
	commit(c);
	shut(c);
	sql(c, "CREATE TABLE sure (ok NOT NULL CHECK (ok)); INSERT INTO sure SELECT (spec_sum, "
	       "state_sum, body_sum, output_sum) = (1333202527, -1439563192, -1650223910, "
	       "-1595531074) FROM task; DROP TABLE sure");
}

static void test_damaged_output_keeps_its_length(void **state)
{
	struct ctx *c = *state;
	struct buf out = {0};
	struct problem p = {0};
	char chunk[100];
	struct output_end end;

	memset(chunk, 'x', sizeof chunk);
	add_insert(c, task_new(c, 1, 5, TASK_RUNNING));
	for (int i = 0; i < 3; i++)
		add_output(c, 1, 1, i * 100, 100, 0, (struct str){chunk, sizeof chunk});
	commit(c);
	shut(c);
	sql(c, "UPDATE output SET data = replace(data, 'xx', 'xy') WHERE at = 100");
	assert_int_equal(try_open(c, &p), 0);
	c->r = store_reader_open(c->s, &p);
	assert_int_equal(store_output(c->r, 1, 1, STDOUT, 0, 1000, &out, &end), 0);
	assert_int_equal(end.at, 300);
	assert_int_equal(end.damaged, 100);
	assert_int_equal(out.n, 300);
	assert_memory_equal(out.p, chunk, 100);
	assert_memory_equal(out.p + 100, "[reeve: output is damaged", 25);
	assert_memory_equal(out.p + 200, chunk, 100);
	buf_release(&out);
}

/* A part of a mark would say nothing: it is counted, whatever its length. */
static void test_damaged_short_output_is_counted(void **state)
{
	struct ctx *c = *state;
	struct task_row *t = task_new(c, 1, 5, TASK_SUCCEEDED);
	struct buf out = {0};
	struct problem p = {0};
	struct output_end end;

	t->state.token = 1;
	t->state.output_where = OUTPUT_INLINE;
	t->state.output[STDOUT] = STR("out 22\n");
	t->state.output_bytes[STDOUT] = 7;
	add_insert(c, t);
	commit(c);
	shut(c);
	sql(c, "UPDATE task SET stdout = CAST('out 23' || char(10) AS BLOB)");
	assert_int_equal(try_open(c, &p), 0);
	c->r = store_reader_open(c->s, &p);
	assert_int_equal(store_output(c->r, 1, 1, STDOUT, 0, 1000, &out, &end), 0);
	assert_string_equal(out.p, "???????");
	assert_int_equal(end.at, 7);
	assert_int_equal(end.damaged, 7);
	buf_release(&out);
}

static void assert_start(struct ctx *c, size_t schedules, size_t tasks, rid last_id)
{
	struct start seen;

	start_read(c, &seen);
	assert_int_equal(seen.n_schedules, schedules);
	assert_int_equal(seen.n_tasks, tasks);
	assert_int_equal(seen.last_id, last_id);
}

/* Version 4 added schedules: down they and their ticks are forgotten, their tasks stay. */
static void test_migrate_schedules(void **state)
{
	struct ctx *c = *state;
	struct task_row *t[2] = {task_new(c, 1, 5, TASK_SUCCEEDED), task_new(c, 2, 5, TASK_QUEUED)};
	struct schedule_row s = {.id = 9, .name = STR("s"), .items = STR("[]")};
	struct tick_row tick = {.schedule = 9, .tick_s = 60, .time_ms = 60000, .task = 2}, *rows;
	struct tick_query q = {.schedule = 9, .limit = 10};
	struct problem p = {0};
	struct task_row got;
	int64_t ended;
	size_t n;

	for (int i = 0; i < 2; i++) {
		t[i]->spec.schedule = 9;
		t[i]->spec.tick_s = 60 * i;
		t[i]->state.result = STR("r");
		add_insert(c, t[i]);
	}
	batch_add(&c->b, ROW_SCHEDULE_PUT)->schedule = &s;
	batch_add(&c->b, ROW_TICK)->tick = &tick;
	commit(c);
	ctx_reopen(c);
	assert_start(c, 1, 1, 9);
	shut(c);
	assert_int_equal(store_migrate(c->url, 3, &p), 0);
	assert_int_equal(try_open(c, &p), 0);
	c->r = store_reader_open(c->s, &p);
	assert_start(c, 0, 0, 9); /* no id is given twice */
	assert_int_equal(store_ticks(c->r, &q, &c->a, &rows, &n), 0);
	assert_int_equal(n, 0);
	for (int i = 0; i < 2; i++) {
		t[i]->spec.schedule = 0;
		t[i]->spec.tick_s = 0;
		assert_int_equal(store_task_get(c->r, t[i]->id, &c->a, &got), 0);
		assert_same_row(&task_table, t[i], &got);
	}
	assert_int_equal(store_count_ended(c->r, &ended), 0);
	assert_int_equal(ended, 1);
}

/* What somebody wrote by hand and can not be read counts as not measured. */
static void test_bad_usage(void **state)
{
	static const char *const bad[] = {"'x'", "''", "'1 2 3'", "'1 2 3 4 5'", "'1 2 3 -4'",
	    "'1 2 3 4294967296'", "7", "x'00'"};
	struct ctx *c = *state;
	struct task_row *t = task_new(c, 1, 5, TASK_SUCCEEDED), got;

	t->state.usage = (struct usage){INT64_MAX, INT64_MAX, INT64_MAX, INT32_MAX, true};
	add_insert(c, t);
	commit(c);
	assert_int_equal(store_task_get(c->r, 1, &c->a, &got), 0);
	assert_true(usage_equal(&t->state.usage, &got.state.usage));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		AUTO(free_cstr) char *text = xasprintf("UPDATE task SET usage = %s", bad[i]);

		sql(c, text);
		assert_int_equal(store_task_get(c->r, 1, &c->a, &got), 0);
		assert_false(got.state.usage.known);
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
	assert_int_equal(store_migrate(c->url, 1, &p), ERR_STORE);
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

static void fill(struct ctx *c, rid from, int n)
{
	char *body = arena_alloc(&c->a, 1500);

	memset(body, 'z', 1500);
	for (int i = 0; i < n; i++) {
		struct task_row *t = task_new(c, from + (rid)i, 5, i % 3 ? TASK_QUEUED : 1);

		t->spec.body = (struct str){body, 1500};
		add_insert(c, t);
	}
}

/* Whatever a damaged file says, it is an answer or an error, never a crash. */
static void use_damaged(struct ctx *c)
{
	struct head_query q = {.queue = 5, .limit = 1000};
	struct status_count *counts;
	struct task_row *rows, got;
	size_t n;

	if (try_open(c, NULL))
		return;
	c->r = store_reader_open(c->s, NULL);
	if (c->r) {
		for (rid id = 1; id <= 500; id++)
			store_task_get(c->r, id, &c->a, &got);
		store_queue_head(c->r, &q, &c->a, &rows, &n);
		store_task_count(c->r, &(struct task_filter){0}, &c->a, &counts, &n);
	}
	fill(c, 1000, 50);
	try_commit(c, NULL);
}

static void test_damaged_files(void **state)
{
	struct ctx *c = *state;
	struct rng rng = {11};
	struct problem p = {0};
	struct stat st;
	int fd;

	fill(c, 1, 500);
	commit(c);
	shut(c);
	assert_int_equal(stat(ctx_path(c), &st), 0);
	for (int round = 0; round < 12; round++) {
		fd = open(ctx_path(c), O_RDWR);
		for (int i = 0; i < 40; i++) {
			uint64_t junk = rng_next(&rng);
			off_t at = 4096 + (off_t)rng_below(&rng, (uint64_t)st.st_size - 4104);

			assert_int_equal(pwrite(fd, &junk, sizeof junk, at), sizeof junk);
		}
		close(fd);
		use_damaged(c);
		shut(c);
	}
	assert_int_equal(truncate(ctx_path(c), 5000), 0);
	assert_int_not_equal(try_open(c, &p), 0);
	assert_true(p.what[0]);
	assert_int_equal(truncate(ctx_path(c), 60), 0);
	assert_int_not_equal(try_open(c, &p), 0);
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
		batch_add(&c->b, ROW_EVENT)->event = &e;
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
	batch_add(&c->b, ROW_EVENT)->event = &(struct event_row){.seq = 10000};
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

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(test_reopen_keeps_all),
	    T(test_killed_while_committing),
	    T(test_newer_schema_is_refused),
	    T(test_migrate_down_and_up),
	    T(test_migrate_worker_states),
	    T(test_migrate_worker_keys),
	    T(test_migrate_unwritten),
	    T(test_migrate_attempts),
	    T(test_migrate_results),
	    T(test_migrate_schedules),
	    T(test_damage_is_noticed),
	    T(test_sums_stay_the_same),
	    T(test_damaged_output_keeps_its_length),
	    T(test_damaged_short_output_is_counted),
	    T(test_migrate_doubts),
	    T(test_bad_usage),
	    T(test_not_ours_is_refused),
	    T(test_no_such_place),
	    T(test_second_open_is_refused),
	    T(test_damaged_files),
	    T(test_full_disk),
	    T(test_log_stays_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
