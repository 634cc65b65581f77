/* SPDX-License-Identifier: Apache-2.0 */
/* From the newest schema down to each and up again, with rows in every table: what comes back. */
#include "contract_file.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define ROWS 5

/* Values that no program writes are not among what must come back. */
static void make_plausible(const struct row_table *t, void *row, int i)
{
	static const struct str names[ROWS] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}};

	if (t == &task_table)
		((struct task_row *)row)->spec.owner.id = (rid)i + 1;
	if (t == &task_table) { /* a batch without tasks does not come back */
		((struct task_row *)row)->id = (rid)i + 100;
		((struct task_row *)row)->spec.batch = (rid)i + 50;
	}
	if (t == &task_batch_table) {
		((struct task_batch_row *)row)->id = (rid)i + 50;
		((struct task_batch_row *)row)->n_tasks = 1;
		((struct task_batch_row *)row)->last_task = (rid)i + 100;
		((struct task_batch_row *)row)->n_gone = 0;
	}
	if (t == &task_table && i % 2)
		((struct task_row *)row)->spec.owner.kind = i % 4 == 1 ? KIND_GROUP : KIND_SERVICE;
	if (t == &schedule_table) /* there is none without a name */
		((struct schedule_row *)row)->name = names[i];
	if (t == &worker_table) /* who was healthy must speak again */
		((struct worker_row *)row)->state = i % 2 ? 1 : 3;
	if (t == &worker_table && !((struct worker_row *)row)->drained)
		((struct worker_row *)row)->drain_reason = STR_NULL;
	if (t == &event_table)
		((struct event_row *)row)->seq = (uint64_t)i + 1;
}

static void fill_every_table(struct ctx *c)
{
	struct rng rng = {12};

	for (int number = 0; number < N_TABLES; number++)
		for (int i = 0; i < ROWS; i++) {
			const struct row_table *t = row_tables[number];
			void *row = arena_zalloc(&c->a, t->row_size);

			row_random(t, &rng, &c->a, row);
			make_plausible(t, row, i);
			if (t == &task_table)
				batch_insert(&c->b, t, row);
			else
				batch_put(&c->b, t, row);
		}
	commit(c);
}

/* A column's kind and bytes, with those of the chain as if it had not been. */
static void add_column(struct buf *query, const struct row_table *t, const struct column *col)
{
	if (t == &event_table && (!strcmp(col->name, "prev") || !strcmp(col->name, "hash")))
		buf_printf(query, "CASE WHEN ?1 THEN hex(%s) ELSE '' END || ' ' || ", col->name);
	else
		buf_printf(query, "typeof(%s) || hex(%s) || ' ' || ", col->name, col->name);
}

static void add_rows(sqlite3 *db, const struct row_table *t, bool chained, struct buf *out)
{
	AUTO(buf_release) struct buf query = {0};
	sqlite3_stmt *st;

	buf_add_cstr(&query, "SELECT ");
	for (int i = 0; i < t->n; i++)
		if (t->columns[i].type != COLUMN_SUM)
			add_column(&query, t, &t->columns[i]);
	buf_printf(&query, "'' FROM %s %s ORDER BY 1", t->name,
	    t == &meta_table ? "WHERE ?1 OR name NOT LIKE 'audit.%'" : "");
	assert_int_equal(sqlite3_prepare_v2(db, query.p, -1, &st, NULL), SQLITE_OK);
	sqlite3_bind_int(st, 1, chained);
	while (sqlite3_step(st) == SQLITE_ROW)
		buf_printf(out, "%s: %s\n", t->name, (const char *)sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
}

static char *everything(struct ctx *c, bool chained)
{
	struct buf out = {0};
	sqlite3 *db;

	assert_int_equal(sqlite3_open(ctx_path(c), &db), SQLITE_OK);
	for (int number = 0; number < N_TABLES; number++)
		add_rows(db, row_tables[number], chained, &out);
	sqlite3_close(db);
	return buf_take(&out);
}

static void assert_same(const char *before, const char *after, int version)
{
	size_t at = 0;

	while (before[at] && before[at] == after[at])
		at++;
	if (before[at] || after[at])
		fail_msg("version %d, at %zu: %.60s … %.60s", version, at, before + at, after + at);
}

static int migrate(struct ctx *c, int version, bool lose, char **ret_aside, char **ret_lost)
{
	struct store_migration m = {.version = version, .lose = lose};
	struct problem p = {0};
	int rc = store_migrate(c->url, &m, &p);

	*ret_aside = buf_take(&m.set_aside);
	*ret_lost = buf_take(&m.lost);
	if (rc && rc != ERR_CONFLICT)
		fail_msg("version %d: %s", version, p.what);
	return rc;
}

static void go(struct ctx *c, int version)
{
	AUTO(free_cstr) char *aside = NULL;
	AUTO(free_cstr) char *lost = NULL;

	assert_int_equal(migrate(c, version, true, &aside, &lost), 0);
}

static void assert_no_aside(struct ctx *c)
{
	sql(c, "CREATE TEMP TABLE sure (ok NOT NULL CHECK (ok)); INSERT INTO sure"
	       " SELECT count(*) = 0 FROM sqlite_schema WHERE name LIKE 'aside%'");
}

static void assert_sums_fit(struct ctx *c)
{
	struct start start;
	struct task_page page;
	struct task_filter all = {0};

	ctx_reopen(c);
	start_read(c, &start);
	assert_int_equal(store_task_list(c->r, &all, false, false, 0, 100, &c->a, &page), 0);
	for (size_t i = 0; i < page.n; i++)
		assert_int_equal(page.rows[i].damage, 0);
	shut(c);
}

static void test_every_version_and_back(void **state)
{
	struct ctx *c = *state;

	fill_every_table(c);
	shut(c);
	for (int version = STORE_SCHEMA_VERSION - 1; version >= 1; version--) {
		AUTO(free_cstr) char *before = everything(c, version >= 9);
		AUTO(free_cstr) char *after = NULL;

		go(c, version);
		go(c, STORE_SCHEMA_VERSION);
		after = everything(c, version >= 9);
		assert_same(before, after, version);
		assert_no_aside(c);
		assert_sums_fit(c);
	}
}

/* A store of these tests has no installation, which is damage of another kind. */
static void assert_numbers_fit(void *arg, const char *table, const char *name, const char *what)
{
	if (!strcmp(table, "stat"))
		fail_msg("version %d: %s %s: %s", *(const int *)arg, table, name, what);
}

/* A program that was killed wrote down its numbers a while ago: what was inserted since is known
 * by its rows. */
static void make_numbers_lag(struct ctx *c, rid from)
{
	shut(c);
	sql(c, "CREATE TABLE older AS SELECT * FROM stat");
	ctx_reopen(c);
	fill(c, from, 5);
	commit(c);
	shut(c);
	sql(c, "DELETE FROM stat; INSERT INTO stat SELECT * FROM older; DROP TABLE older");
}

static void test_numbers_that_lag_fit_after_every_version(void **state)
{
	struct ctx *c = *state;
	int version;
	const struct store_checker checker = {&version, assert_numbers_fit, NULL};
	struct problem p = {0};
	int64_t rows;

	fill(c, 1, 3);
	commit(c);
	for (version = STORE_SCHEMA_VERSION - 1; version >= 8; version--) {
		make_numbers_lag(c, (rid)(STORE_SCHEMA_VERSION - version) * 100);
		go(c, version);
		go(c, STORE_SCHEMA_VERSION);
		store_check(c->url, &checker, &rows, &p);
		assert_int_equal(p.code, 0);
		assert_true(rows > 0);
		ctx_reopen(c);
	}
}

/* In several steps, each by a program that goes no further. */
static void test_step_by_step(void **state)
{
	struct ctx *c = *state;
	AUTO(free_cstr) char *before = NULL;
	AUTO(free_cstr) char *after = NULL;

	fill_every_table(c);
	shut(c);
	before = everything(c, false);
	for (int version = STORE_SCHEMA_VERSION - 1; version >= 1; version--)
		go(c, version);
	for (int version = 2; version <= STORE_SCHEMA_VERSION; version++)
		go(c, version);
	after = everything(c, false);
	assert_same(before, after, 1);
}

static void test_loss_is_refused(void **state)
{
	struct ctx *c = *state;
	struct store_migration m = {.version = 3};
	struct problem p = {0};
	int version = 0;

	fill_every_table(c);
	shut(c);
	assert_int_equal(store_migrate(c->url, &m, &p), ERR_CONFLICT);
	assert_says(m.set_aside.p, ", 5 tokens, ");
	assert_says(m.set_aside.p, ", 5 schedules and 5 ticks");
	assert_says(m.lost.p, "5 links of the audit trail's chain and ");
	assert_says(m.lost.p, " rows' checksums");
	assert_says(p.what, m.lost.p);
	assert_says(p.hint, "--lose");
	assert_int_equal(store_schema_version(c->url, &version, &p), 0);
	assert_int_equal(version, STORE_SCHEMA_VERSION);
	buf_release(&m.set_aside);
	buf_release(&m.lost);
}

/* What can be set aside needs no leave. */
static void test_set_aside_is_no_loss(void **state)
{
	struct ctx *c = *state;
	AUTO(free_cstr) char *aside = NULL;
	AUTO(free_cstr) char *lost = NULL;

	fill_every_table(c);
	shut(c);
	assert_int_equal(migrate(c, 9, false, &aside, &lost), 0);
	assert_string_equal(lost, "");
	assert_says(aside, "owners of tasks");
}

/* Below the first schema nothing is left, and nothing of it comes back. */
static void test_nothing_comes_back_from_nothing(void **state)
{
	struct ctx *c = *state;
	AUTO(free_cstr) char *after = NULL;

	fill_every_table(c);
	shut(c);
	go(c, 0);
	assert_no_aside(c);
	go(c, STORE_SCHEMA_VERSION);
	after = everything(c, false);
	assert_string_equal(after, "");
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(test_every_version_and_back),
	    T(test_numbers_that_lag_fit_after_every_version),
	    T(test_step_by_step),
	    T(test_loss_is_refused),
	    T(test_set_aside_is_no_loss),
	    T(test_nothing_comes_back_from_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
