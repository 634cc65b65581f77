/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas of other versions: refused, or brought up and down without a loss of what both can say.
 */
#include "contract_file.h"

#include <sqlite3.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define NEWEST TEXT(STORE_SCHEMA_VERSION)
/* A statement that fails unless the query gives true, in every row. */
#define SURE(query)                                                                \
	"CREATE TEMP TABLE sure (ok NOT NULL CHECK (ok)); INSERT INTO sure " query \
	"; DROP TABLE sure"

/* Any loss is allowed. */
static int migrate(const char *url, int version, struct problem *ret_problem)
{
	struct store_migration m = {.version = version, .lose = true};
	int rc = store_migrate(url, &m, ret_problem);

	buf_release(&m.set_aside);
	buf_release(&m.lost);
	return rc;
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
	assert_int_equal(migrate(c->url, 1, &p), ERR_SCHEMA);
	sql(c, "PRAGMA user_version = " NEWEST);
	assert_int_equal(try_open(c, &p), 0);
}

static void test_migrate_down_and_up(void **state)
{
	struct ctx *c = *state;
	struct store_options strict = {.create = true};
	struct problem p = {0};
	int version = -1;

	assert_int_equal(migrate(c->url, 0, &p), ERR_BUSY); /* it is open */
	shut(c);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(migrate(c->url, 0, &p), 0);
		assert_int_equal(store_schema_version(c->url, &version, &p), 0);
		assert_int_equal(version, 0);
		assert_int_equal(store_open(c->url, &strict, &c->s, &p), ERR_SCHEMA);
		assert_says(p.hint, "reeve store migrate --to " NEWEST);
		assert_int_equal(migrate(c->url, STORE_SCHEMA_VERSION, &p), 0);
	}
	assert_int_equal(migrate(c->url, 99, &p), ERR_INVALID);
	assert_int_equal(migrate(c->url, -1, &p), ERR_INVALID);
	assert_int_equal(migrate("sqlite:/nonexistent/x.db", 1, &p), ERR_NOT_FOUND);
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
		batch_put(&c->b, &worker_table, &rows[i]);
	}
	commit(c);
	shut(c);
	assert_int_equal(migrate(c->url, 1, &p), 0);
	assert_workers(c, "SELECT state FROM worker ORDER BY id", (int[]){1, 1, 1, 2});
	sql(c, "UPDATE worker SET state = 0 WHERE id = 1");
	assert_int_equal(try_open(c, &p), 0); /* upwards by itself, as a server does */
	shut(c);
	assert_workers(c, "SELECT state FROM worker ORDER BY id", (int[]){1, 1, 1, 3});
}

/* Version 3 added columns: down they are set aside, up they are back; not those of a task that has
 * run since, nor of one that is gone. */
static void test_migrate_results(void **state)
{
	struct ctx *c = *state;
	struct task_row *t[3], got;
	struct queue_row q = {.id = 5, .name = STR("q"), .plugin = STR("p"), .run = STR("{}")};
	struct problem p = {0};

	for (int i = 0; i < 3; i++) {
		t[i] = task_new(c, (rid)i + 1, 5, TASK_SUCCEEDED);
		t[i]->state.token = 7;
		t[i]->state.usage = (struct usage){1, 2, 3, 4, 1};
		t[i]->state.result = STR("r");
		t[i]->state.output[STDERR] = STR("e");
		add_insert(c, t[i]);
	}
	batch_put(&c->b, &queue_table, &q);
	commit(c);
	shut(c);
	assert_int_equal(migrate(c->url, 2, &p), 0);
	sql(c, "UPDATE task SET token = 8 WHERE id = 2; DELETE FROM task WHERE id = 3");
	assert_int_equal(try_open(c, &p), 0);
	c->r = store_reader_open(c->s, &p);
	assert_int_equal(store_task_get(c->r, 1, &c->a, &got), 0);
	assert_same_row(&task_table, t[0], &got);
	assert_int_equal(store_task_get(c->r, 2, &c->a, &got), 0);
	t[1]->state.usage = (struct usage){0};
	t[1]->state.result = STR_NULL;
	t[1]->state.token = 8;
	assert_same_row(&task_table, t[1], &got);
	assert_int_equal(store_task_get(c->r, 3, &c->a, &got), ERR_NOT_FOUND);
	shut(c);
	sql(c, SURE("SELECT run = '{}' FROM queue"));
}

/* Version 5 added a mark: down it is set aside, all else stays. */
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
	assert_int_equal(migrate(c->url, 4, &p), 0);
	assert_int_equal(try_open(c, &p), 0);
	c->r = store_reader_open(c->s, &p);
	assert_int_equal(store_task_get(c->r, 1, &c->a, &got), 0);
	assert_same_row(&task_table, t, &got);
}

/* Version 6 gave workers keys and counted starts: down their order is their time again. Who has
 * come since goes on in that order, and has no key yet. */
static void test_migrate_worker_keys(void **state)
{
	struct ctx *c = *state;
	struct worker_row w[2];
	struct problem p = {0};

	for (int i = 0; i < 2; i++) {
		w[i] = (struct worker_row){.id = (rid)i + 1,
		    .facts = {.shard = i ? STR("w2") : STR("w1"),
		        .instance = 5,
		        .started_ms = 1000,
		        .start = 77,
		        .lock = STR("m:/d"),
		        .key = STR("k")}};
		batch_put(&c->b, &worker_table, &w[i]);
	}
	commit(c);
	shut(c);
	assert_int_equal(migrate(c->url, 5, &p), 0);
	sql(c, SURE("SELECT started_ms = 77 FROM worker"));
	sql(c, "UPDATE worker SET started_ms = started_ms + 1, instance = 6 WHERE id = 2");
	assert_int_equal(try_open(c, &p), 0);
	shut(c);
	sql(c, SURE("SELECT start = 77 AND started_ms = 1000 AND link_key = 'k' FROM worker "
	            "WHERE id = 1"));
	sql(c, SURE("SELECT start = 78 AND link_key IS NULL FROM worker WHERE id = 2"));
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

	batch_put(&c->b, &meta_table, &meta);
	for (int i = 0; i < 4; i++) {
		rows[i] = (struct worker_row){.id = (rid)i + 1, .state = i, .unwritten = i & 1};
		batch_put(&c->b, &worker_table, &rows[i]);
	}
	commit(c);
	shut(c);
	for (int open = 1; open >= 0; open--) {
		assert_int_equal(migrate(c->url, 9, &p), 0);
		sql(c, "DROP TABLE aside_10_worker"); /* it never was newer */
		assert_int_equal(try_open(c, &p), 0);
		start_read(c, &start);
		shut(c);
		assert_workers(c, marks, open ? (int[]){1, 1, 1, 0} : (int[]){0, 0, 0, 0});
		sql(c, "UPDATE meta SET value = '3 settled 00000000000000aa', sum = NULL "
		       "WHERE name = 'volatile'");
	}
}

/* Version 13 knows who has left and who is drained; on the way down a drain is maxthreads 0. */
static void test_migrate_departed(void **state)
{
	struct ctx *c = *state;
	struct worker_row rows[4];
	struct start start;
	struct problem p = {0};

	for (int i = 0; i < 4; i++) {
		rows[i] = (struct worker_row){.id = (rid)i + 1,
		    .departed = i & 1,
		    .drained = i & 1,
		    .drain_reason = i & 1 ? STR("new disk") : STR_NULL};
		batch_put(&c->b, &worker_table, &rows[i]);
	}
	commit(c);
	shut(c);
	assert_workers(c, "SELECT departed FROM worker ORDER BY id", (int[]){0, 1, 0, 1});
	assert_int_equal(migrate(c->url, 12, &p), 0);
	assert_workers(c, "SELECT maxthreads_is_set FROM worker ORDER BY id", (int[]){0, 1, 0, 1});
	sql(c, "UPDATE worker SET instance = 7 WHERE id = 2;" /* it came back */
	       "UPDATE worker SET maxthreads_set = 3 WHERE id = 4");
	assert_int_equal(try_open(c, &p), 0);
	start_read(c, &start);
	shut(c);
	assert_workers(c, "SELECT departed FROM worker ORDER BY id", (int[]){0, 0, 0, 1});
	assert_workers(c, "SELECT drained FROM worker ORDER BY id", (int[]){0, 1, 0, 0});
	assert_workers(c, "SELECT maxthreads_is_set FROM worker ORDER BY id", (int[]){0, 0, 0, 1});
	assert_workers(c, "SELECT sum IS NULL FROM worker ORDER BY id", (int[]){0, 1, 0, 1});
}

static void assert_start(struct ctx *c, size_t schedules, size_t tasks, rid last_id)
{
	struct start seen;

	start_read(c, &seen);
	assert_int_equal(seen.n_schedules, schedules);
	assert_int_equal(seen.n_tasks, tasks);
	assert_int_equal(seen.last_id, last_id);
}

/* Version 4 added schedules: down they and their ticks are set aside, their tasks stay. Up they are
 * back, and what is gone since is not. */
static void test_migrate_schedules(void **state)
{
	struct ctx *c = *state;
	struct schedule_row s = {.id = 9, .name = STR("s"), .queue = 5, .items = STR("[]")};
	struct queue_row q = {.id = 5, .name = STR("q"), .plugin = STR("p")};
	struct tick_row tick = {.schedule = 9, .tick_s = 60, .time_ms = 60000, .task = 2};
	struct part_query query = {.table = &tick_table, .object = 9, .limit = 10};
	struct part_page page;
	struct problem p = {0};
	struct task_row *t[3], got;

	for (int i = 0; i < 3; i++) {
		t[i] = task_new(c, (rid)i + 1, 5, i ? TASK_QUEUED : TASK_SUCCEEDED);
		t[i]->spec.owner = (struct owner){KIND_SCHEDULE, 9, 60 * i};
		t[i]->state.result = STR("r");
		add_insert(c, t[i]);
	}
	batch_put(&c->b, &queue_table, &q);
	batch_put(&c->b, &schedule_table, &s);
	batch_put(&c->b, &tick_table, &tick);
	commit(c);
	ctx_reopen(c);
	assert_start(c, 1, 2, 9);
	shut(c);
	assert_int_equal(migrate(c->url, 3, &p), 0);
	sql(c, SURE("SELECT last_id = 9 FROM stat")); /* no id is given twice */
	sql(c, "DELETE FROM task WHERE id = 2; DELETE FROM queue;"
	       "UPDATE stat SET n_tasks = n_tasks - 1");
	assert_int_equal(try_open(c, &p), 0);
	c->r = store_reader_open(c->s, &p);
	assert_start(c, 1, 1, 9);
	assert_int_equal(store_parts(c->r, &query, &c->a, &page), 0);
	assert_int_equal(page.n, 1);
	assert_same_row(&tick_table, &tick, page.rows);
	for (int i = 0; i < 3; i += 2) {
		assert_int_equal(store_task_get(c->r, t[i]->id, &c->a, &got), 0);
		assert_same_row(&task_table, t[i], &got);
	}
	assert_int_equal(store_task_get(c->r, 2, &c->a, &got), ERR_NOT_FOUND);
}

/* Version 18 added groups, 20 what they are left of, 21 series: down they and their graphs are set
 * aside, and their jobs are tasks like any others. Up they are back, in the state in which they
 * were. */
static void test_migrate_groups(void **state)
{
	struct ctx *c = *state;
	struct queue_row q = {.id = 5, .name = STR("q"), .plugin = STR("p")};
	struct group_graph_row chunk = {.data = STR("graph")};
	struct problem p = {0};
	struct group_row g[N_GROUP_STATES];
	struct part_query query = {.table = &group_graph_table, .oldest_first = true, .limit = 10};
	struct part_page page;
	struct start start;
	struct task_row *t[N_GROUP_STATES], got;

	batch_put(&c->b, &queue_table, &q);
	for (int i = 0; i < N_GROUP_STATES; i++) {
		struct group_graph_row *row = arena_memdup(&c->b.arena, &chunk, sizeof chunk);

		g[i] = (struct group_row){.id = 100 + 10 * (rid)i,
		    .name = arena_strf(&c->a, "g%d", i),
		    .state = i,
		    .n_jobs = 1,
		    .n_chunks = 1,
		    .retried_of = i % 2 ? 100 : 0,
		    .series = i % 3 ? STR("night") : STR_NULL};
		row->group = g[i].id;
		t[i] =
		    task_new(c, g[i].id + 1, 5, i > GROUP_QUEUED ? TASK_SUCCEEDED : TASK_BLOCKED);
		t[i]->spec.owner = (struct owner){KIND_GROUP, g[i].id, 0};
		batch_put(&c->b, &group_table, &g[i]);
		batch_put(&c->b, &group_graph_table, row);
		add_insert(c, t[i]);
	}
	commit(c);
	shut(c);
	assert_int_equal(migrate(c->url, 17, &p), 0);
	sql(c, SURE("SELECT count(*) = 0 FROM task WHERE owner <> 0"));
	assert_int_equal(try_open(c, &p), 0);
	c->r = store_reader_open(c->s, &p);
	start_read(c, &start);
	assert_int_equal(start.n_groups, N_GROUP_STATES);
	for (int i = 0; i < N_GROUP_STATES; i++) {
		assert_same_row(&group_table, &g[i], &start.groups[i]);
		query.object = g[i].id;
		assert_int_equal(store_parts(c->r, &query, &c->a, &page), 0);
		assert_int_equal(page.n, 1);
		assert_true(str_is(((struct group_graph_row *)page.rows)->data, "graph"));
		assert_int_equal(store_task_get(c->r, t[i]->id, &c->a, &got), 0);
		assert_same_row(&task_table, t[i], &got);
	}
}

/* Version 23 added schedules of groups: down they are set aside with their ticks, and so are groups
 * that are still to be drafted, with the ids of their jobs. Up they are back. */
static void test_migrate_schedules_of_groups(void **state)
{
	struct ctx *c = *state;
	struct schedule_row s[2] = {{.id = 9, .name = STR("night"), .group = STR("{}")},
	    {.id = 10, .name = STR("s"), .body = STR("{}")}};
	struct tick_row tick = {.schedule = 9, .tick_s = 60, .time_ms = 60000, .task = 20};
	struct group_row g[3] = {
	    {.id = 20, .name = STR("owed"), .owner = 9, .owner_part = 60},
	    {.id = 30, .name = STR("made"), .state = GROUP_QUEUED, .owner = 9, .owner_part = 120},
	    {.id = 40, .name = STR("mine"), .state = GROUP_QUEUED},
	};
	struct part_query query = {.table = &tick_table, .object = 9, .limit = 10};
	struct part_page page;
	struct start start;
	struct problem p = {0};

	for (int i = 0; i < 2; i++)
		batch_put(&c->b, &schedule_table, &s[i]);
	for (int i = 0; i < 3; i++)
		batch_put(&c->b, &group_table, &g[i]);
	batch_put(&c->b, &tick_table, &tick);
	commit(c);
	shut(c);
	assert_int_equal(migrate(c->url, 22, &p), 0);
	sql(c, SURE("SELECT group_concat(id) = '10' FROM schedule"));
	sql(c, SURE("SELECT group_concat(id) = '30,40' FROM groups"));
	sql(c, SURE("SELECT count(*) = 0 FROM tick"));
	sql(c, SURE("SELECT last_id >= 100020 FROM stat"));
	assert_int_equal(try_open(c, &p), 0);
	c->r = store_reader_open(c->s, &p);
	start_read(c, &start);
	assert_int_equal(start.n_schedules, 2);
	assert_int_equal(start.n_groups, 3);
	for (int i = 0; i < 2; i++)
		assert_same_row(&schedule_table, &s[i], &start.schedules[i]);
	for (int i = 0; i < 3; i++)
		assert_same_row(&group_table, &g[i], &start.groups[i]);
	assert_int_equal(store_parts(c->r, &query, &c->a, &page), 0);
	assert_int_equal(page.n, 1);
	assert_same_row(&tick_table, &tick, page.rows);
}

/* Version 24 added what jobs of a series were built from: down it is set aside, up it is back with
 * the row that it was of; not with one that was written meanwhile. */
static void test_migrate_digests(void **state)
{
	struct ctx *c = *state;
	struct built_row b[2] = {{.series = 7,
	                             .job = 1,
	                             .series_name = STR("night"),
	                             .job_name = STR("a"),
	                             .duration_ms = 5,
	                             .group = 100,
	                             .task = 101,
	                             .time_ms = 9,
	                             .digest = STR("0a0b")},
	    {.series = 7, .job = 2, .task = 102, .digest = STR("0c")}};
	struct part_query query = {
	    .table = &built_table, .object = 7, .oldest_first = true, .limit = 10};
	struct part_page page;
	struct problem p = {0};

	for (int i = 0; i < 2; i++)
		batch_put(&c->b, &built_table, &b[i]);
	commit(c);
	shut(c);
	assert_int_equal(migrate(c->url, 23, &p), 0);
	sql(c, "UPDATE built SET task = 202, sum = NULL WHERE job = 2");
	assert_int_equal(try_open(c, &p), 0);
	c->r = store_reader_open(c->s, &p);
	assert_int_equal(store_parts(c->r, &query, &c->a, &page), 0);
	assert_int_equal(page.n, 2);
	assert_same_row(&built_table, &b[0], &((struct built_row *)page.rows)[0]);
	b[1].task = 202;
	b[1].digest = STR_NULL;
	assert_same_row(&built_table, &b[1], &((struct built_row *)page.rows)[1]);
}

/* Version 19 added graphs of packages: down they are set aside, up they are back as they were. */
static void test_migrate_graphs(void **state)
{
	struct ctx *c = *state;
	struct graph_row g = {.id = 7, .name = STR("core"), .n_packages = 2, .version = 3};
	struct graph_package_row k[2] = {{7, 0, STR("o/a/1/1"), STR("r o/b\n")},
	    {7, 1, STR("o/b/1/1"), .reason = STR("plan disconnected")}};
	struct part_query query = {
	    .table = &graph_package_table, .object = 7, .oldest_first = true, .limit = 10};
	struct part_page page;
	struct start start;
	struct problem p = {0};

	batch_put(&c->b, &graph_table, &g);
	for (int i = 0; i < 2; i++)
		batch_put(&c->b, &graph_package_table, &k[i]);
	commit(c);
	shut(c);
	assert_int_equal(migrate(c->url, 18, &p), 0);
	sql(c, SURE("SELECT last_id >= 7 FROM stat"));
	assert_int_equal(try_open(c, &p), 0);
	c->r = store_reader_open(c->s, &p);
	start_read(c, &start);
	assert_int_equal(start.n_graphs, 1);
	assert_same_row(&graph_table, &g, &start.graphs[0]);
	assert_int_equal(store_parts(c->r, &query, &c->a, &page), 0);
	assert_int_equal(page.n, 2);
	for (int i = 0; i < 2; i++)
		assert_same_row(
		    &graph_package_table, &k[i], &((struct graph_package_row *)page.rows)[i]);
}

/* Version 26 added services: down they are set aside with all that is theirs, and their starts are
 * tasks like any others. Up they are back, and a drain's end is. */
static void test_migrate_services(void **state)
{
	struct ctx *c = *state;
	struct service_row s = {.id = 30, .name = STR("web"), .instances = 1, .last_revision = 1};
	struct revision_row r = {30, 1, .spec = {.queue = 5, .body = STR("{}")}};
	struct instance_row i = {.service = 30, .state = 2, .task = 40, .worker = 7, .tag = 12};
	struct domain_row d = {.id = 31, .name = STR("apps"), .fresh_until_ms = 9};
	struct worker_row w = {.id = 7, .drained = 1, .drain_until_ms = 99};
	struct task_row *t = task_new(c, 40, 5, TASK_RUNNING), got;
	struct start start;
	struct problem p = {0};

	t->spec.owner = (struct owner){KIND_SERVICE, 30, 0};
	batch_put(&c->b, &service_table, &s);
	batch_put(&c->b, &revision_table, &r);
	batch_put(&c->b, &instance_table, &i);
	batch_put(&c->b, &domain_table, &d);
	batch_put(&c->b, &worker_table, &w);
	add_insert(c, t);
	commit(c);
	shut(c);
	assert_int_equal(migrate(c->url, 25, &p), 0);
	sql(c, SURE("SELECT count(*) = 0 FROM task WHERE owner <> 0"));
	sql(c, SURE("SELECT last_id >= 40 FROM stat"));
	assert_int_equal(try_open(c, &p), 0);
	c->r = store_reader_open(c->s, &p);
	start_read(c, &start);
	assert_int_equal(start.n_services, 1);
	assert_same_row(&service_table, &s, &start.services[0]);
	assert_same_row(&revision_table, &r, &start.revisions[0]);
	assert_same_row(&instance_table, &i, &start.instances[0]);
	assert_same_row(&domain_table, &d, &start.domains[0]);
	assert_same_row(&worker_table, &w, &start.workers[0]);
	assert_int_equal(store_task_get(c->r, 40, &c->a, &got), 0);
	assert_same_row(&task_table, t, &got);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

/* Version 11 numbers on after a retry: down, what is left of the attempts stays; up, the numbers go
 * on.
 */
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
	assert_int_equal(migrate(c->url, 10, &p), 0);
	sql(c, SURE("SELECT attempt = 3 - id FROM task"));
	sql(c, "UPDATE task SET attempt = attempt + 1, state_sum = NULL");
	assert_int_equal(try_open(c, &p), 0);
	c->r = store_reader_open(c->s, &p);
	for (rid id = 1; id <= 2; id++) {
		assert_int_equal(store_task_get(c->r, id, &c->a, &got), 0);
		assert_int_equal(got.state.attempt, id == 1 ? 3 : 5);
		assert_int_equal(got.state.attempts_before, id == 1 ? 0 : 3);
		assert_int_equal(got.damage, 0);
	}
}

/* Version 12 calls a task's schedule its owner: sums fit up and down, and other owners are set
 * aside. */
static void test_migrate_owners(void **state)
{
	struct ctx *c = *state;
	struct task_row *t[2] = {task_new(c, 1, 5, TASK_QUEUED), task_new(c, 2, 5, TASK_QUEUED)},
	                got;
	struct problem p = {0};

	t[0]->spec.owner = (struct owner){KIND_SCHEDULE, 9, 60};
	t[1]->spec.owner = (struct owner){KIND_QUEUE, 8, 7};
	for (int i = 0; i < 2; i++)
		add_insert(c, t[i]);
	commit(c);
	shut(c);
	assert_int_equal(migrate(c->url, 11, &p), 0);
	sql(c, SURE("SELECT (schedule, tick_s, id) IN ((9, 60, 1), (0, 0, 2)) FROM task"));
	assert_int_equal(try_open(c, &p), 0);
	c->r = store_reader_open(c->s, &p);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(store_task_get(c->r, t[i]->id, &c->a, &got), 0);
		assert_int_equal(got.damage, 0);
		assert_same_row(&task_table, t[i], &got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(test_newer_schema_is_refused),
	    T(test_migrate_down_and_up),
	    T(test_migrate_worker_states),
	    T(test_migrate_worker_keys),
	    T(test_migrate_unwritten),
	    T(test_migrate_departed),
	    T(test_migrate_attempts),
	    T(test_migrate_owners),
	    T(test_migrate_results),
	    T(test_migrate_groups),
	    T(test_migrate_digests),
	    T(test_migrate_graphs),
	    T(test_migrate_services),
	    T(test_migrate_schedules_of_groups),
	    T(test_migrate_schedules),
	    T(test_migrate_doubts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
