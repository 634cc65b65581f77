/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the database as we wrote it? Its structure (trees, indexes) by SQLite's own check, its rows by
 * their checksums and by what they say of each other. A start looks at the structure, for as long
 * as it may take; rows are checked whenever they are read. The full check looks at everything.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "base/world/log.h"
#include "store/sql/agree.h"
#include "store/sql/migrate.h"
#include "store/sqlite/sqlite.h"

/* All of row_tables, and one of our own before them. */
static const struct row_table *table_at(size_t i)
{
	return i ? row_tables[i - 1] : &stat_table;
}

struct check {
	sqlite3 *db;
	int64_t until_ms; /* monotonic; 0: as long as it takes */
	const struct store_checker *to;
	struct id_space ids;
	const struct row_table *table; /* whose rows are looked at */
	struct arena a;                /* of one row */
	struct agree agree;
	int64_t n_damaged, n_rows;
	bool cut; /* the time ran out */
};

static int out_of_time(void *arg)
{
	const struct check *k = arg;

	return clock_mono_ms() >= k->until_ms;
}

static void found(struct check *k, const char *table, const char *name, const char *what)
{
	AUTO(buf_release) struct buf words = {0};

	sqlite_escape(&words, what);
	k->n_damaged++;
	k->to->damaged(k->to->arg, table, name && *name ? name : NULL, words.p ? words.p : "");
}

static const struct row_table *table_named(const char *name)
{
	for (size_t i = 0; i <= N_TABLES; i++)
		if (strcmp(table_at(i)->name, name) == 0)
			return table_at(i);
	return NULL;
}

static void found_in_structure(struct check *k, const char *table, const char *words)
{
	/* a long body's row has its task's number */
	const char *about = table && strcmp(table, "task_body") == 0 ? "task" : table;
	AUTO(buf_release) struct buf clean = {0};

	sqlite_clean_words(about ? table_named(about) : NULL, &k->ids, words, &clean);
	found(k, table ? table : "file", NULL, clean.p ? clean.p : "");
}

/* SQLite's words, a row each; "ok" if there is nothing to say. `table` NULL: of all. */
static void check_structure(struct check *k, const char *table)
{
	AUTO(free_cstr)
	char *sql =
	    xasprintf(table ? "PRAGMA integrity_check('%s')" : "PRAGMA integrity_check", table);
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(k->db, sql, -1, &st, NULL);

	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		const char *words;

		rc = sqlite3_step(st);
		if (rc != SQLITE_ROW)
			break;
		words = (const char *)sqlite3_column_text(st, 0);
		if (words && strcmp(words, "ok") != 0)
			found_in_structure(k, table, words);
	}
	sqlite3_finalize(st);
	if (rc == SQLITE_INTERRUPT)
		k->cut = true;
	else if (rc != SQLITE_DONE)
		found(k, table ? table : "file", NULL, sqlite3_errmsg(k->db));
}

static void check_all_structure(struct check *k)
{
	AUTO(buf_release) struct buf what = {0};

	/* Small, and half a look says nothing: the limit begins behind it. */
	sqlite_check_shape(k->db, &what);
	if (what.n)
		found(k, "schema", NULL, what.p);
	if (k->until_ms)
		sqlite3_progress_handler(k->db, 1000, out_of_time, k);
	check_structure(k, "sqlite_schema");
	for (size_t i = 0; i <= N_TABLES && !k->cut; i++)
		check_structure(k, table_at(i)->name);
	if (!k->cut)
		check_structure(k, "task_body");
}

/* -- rows */

static const char *name_of_group(const struct row_table *t, unsigned damage)
{
	if (t != &task_table)
		return "does not fit its checksum";
	return damage & DAMAGED_BODY     ? "what it runs does not fit its checksum"
	       : damage & DAMAGED_SPEC   ? "what was asked for does not fit its checksum"
	       : damage & DAMAGED_STATE  ? "how it stands does not fit its checksum"
	       : damage & DAMAGED_OUTPUT ? "its history or output does not fit its checksum"
	                                 : "cannot be read";
}

static void heed_numbers(struct agree *g, const struct sqlite_stat *stat)
{
	g->last_id = stat->last_id;
	g->n_counted = stat->n_tasks;
}

static int check_row(void *arg, const struct sql_found *row)
{
	AUTO(buf_release) struct buf name = {0};
	struct check *k = arg;

	if (k->table != &stat_table)
		agree_row(&k->agree, k->table, row->damage, row->row);
	else if (!row->damage)
		heed_numbers(&k->agree, row->row);
	if (row->damage) {
		sqlite_row_name(k->table, &k->ids, row, &name);
		found(k, k->table->name, name.p, name_of_group(k->table, row->damage));
	}
	arena_reset(&k->a);
	if (++k->n_rows % 100000 == 0 && k->to->progress)
		k->to->progress(k->to->arg, k->n_rows);
	return 0;
}

static void check_rows(struct check *k, const struct row_table *t)
{
	AUTO(sql_query_release) struct sql_query q;
	struct sqlite_reader r;

	k->table = t;
	sqlite_reader_init(&r, k->db);
	r.goes_on = true;
	sql_select(&q, &r.sql, t, 0);
	sql_add(&q.text, "{}");
	if (r.sql.sql->rows(&r.sql, &q, t, 0, &k->a, check_row, k))
		found(k, t->name, NULL, sqlite3_errmsg(k->db));
	else if (t != &stat_table)
		agree_table_end(&k->agree, t);
	sqlite_reader_forget(&r);
}

static void disagrees(void *arg, const char *table, rid id, const char *what)
{
	struct check *k = arg;
	char text[ID_TEXT];

	found(k, table, id ? id_format(&k->ids, id, text) : "rows", what);
}

static void check_all_rows(struct check *k)
{
	struct sqlite_reader asks;

	sqlite_reader_init(&asks, k->db);
	k->agree = (struct agree){.reader = &asks.sql, .tell = disagrees, .arg = k};
	for (size_t i = 0; i <= N_TABLES; i++)
		check_rows(k, table_at(i));
	agree_release(&k->agree);
	sqlite_reader_forget(&asks);
}

static bool holds(struct check *k, const char *sql)
{
	struct problem p = {0};
	int64_t n = 0;

	return sqlite_exec_i64(k->db, sql, &n, &p) == 0 && n;
}

/* Rows without which a store that was ever used does not start, or is counted anew. */
static void check_there(struct check *k)
{
	if (!holds(k, "SELECT count(*) FROM stat"))
		found(k, "stat", "numbers", "they are gone");
	if (!holds(k, "SELECT count(*) FROM meta WHERE name = '" META_INSTALLATION "'") &&
	    holds(k, "SELECT EXISTS(SELECT 1 FROM event) OR EXISTS(SELECT 1 FROM task)"
	             " OR EXISTS(SELECT 1 FROM queue) OR EXISTS(SELECT 1 FROM worker)"
	             " OR EXISTS(SELECT 1 FROM stat WHERE last_id <> 0 OR last_event <> 0)"))
		found(
		    k, "meta", META_INSTALLATION, "it is gone, and with it the middle of every id");
}

static int check_locked(
    const char *path, const struct store_checker *to, int64_t *ret_rows, struct problem *p)
{
	struct check k = {.to = to};
	int64_t app = 0, version = 0;
	int rc = sqlite_connect(path, false, false, ROLE_MIGRATION, &k.db, p);

	if (rc)
		return rc;
	rc = sqlite_exec_i64(k.db, "PRAGMA application_id", &app, p);
	if (rc == 0)
		rc = sqlite_exec_i64(k.db, "PRAGMA user_version", &version, p);
	if (rc == 0 && app != SQLITE_APPLICATION_ID)
		rc = sqlite_not_ours(path, p);
	if (rc == 0 && version != STORE_SCHEMA_VERSION) {
		problem_set(p, ERR_SCHEMA, "the store's schema is version %d, this reeve checks %d",
		    (int)version, STORE_SCHEMA_VERSION);
		rc = problem_hint(p, "bring it up with: reeve store migrate");
	}
	sqlite_load_ids(k.db, &k.ids);
	if (rc == 0)
		check_all_structure(&k);
	if (rc == 0)
		check_there(&k);
	if (rc == 0)
		check_all_rows(&k);
	sqlite3_close(k.db);
	arena_release(&k.a);
	*ret_rows = k.n_rows;
	return rc ? rc : k.n_damaged ? ERR_STORE : 0;
}

int sqlite_check(const char *path, const struct store_checker *to, int64_t *ret_rows,
    struct problem *ret_problem)
{
	int fd, rc = sqlite_lock(path, &fd, ret_problem);

	if (rc)
		return rc;
	rc = check_locked(path, to, ret_rows, ret_problem);
	close(fd);
	return rc;
}

/* What an older schema's rows must be is not known any more. */
static int check_older(const char *path, const struct store_checker *to, struct problem *p)
{
	struct check k = {.to = to};
	int rc = sqlite_connect(path, false, false, ROLE_READER, &k.db, p);

	if (rc)
		return rc;
	check_structure(&k, NULL);
	sqlite3_close(k.db);
	return k.n_damaged ? ERR_STORE : 0;
}

int sqlite_check_copy(const char *path, const struct store_checker *to, struct store_copy *ret_copy,
    struct problem *ret_problem)
{
	int rc = sqlite_schema_version(path, &ret_copy->version, ret_problem);

	if (rc == 0)
		rc = sql_check_version(ret_copy->version, true, ret_problem);
	if (rc)
		return rc;
	if (to->progress) /* the structure comes first, and says nothing for long */
		to->progress(to->arg, 0);
	return ret_copy->version < STORE_SCHEMA_VERSION
	           ? check_older(path, to, ret_problem)
	           : check_locked(path, to, &ret_copy->rows, ret_problem);
}

/* -- at a start */

struct first {
	char what[200];
	int n;
};

static void keep_first(void *arg, const char *table, const char *name, const char *what)
{
	struct first *f = arg;

	if (f->n++ == 0)
		snprintf(f->what, sizeof f->what, "%s: %s", table, what);
}

static int refuse(const struct first *f, struct problem *ret_problem)
{
	problem_set(ret_problem, ERR_STORE, "the store is damaged (%s)", f->what);
	return problem_hint(ret_problem,
	    "`reeve store check` names everything that is; restore a backup, or save what can be "
	    "read with sqlite3's .recover");
}

int sqlite_check_start(const char *path, int64_t limit_ms, struct problem *ret_problem)
{
	struct first first = {.n = 0};
	struct store_checker to = {.arg = &first, .damaged = keep_first};
	int64_t begun = clock_mono_ms();
	struct check k = {.until_ms = begun + limit_ms, .to = &to};
	int rc = sqlite_connect(path, false, false, ROLE_READER, &k.db, ret_problem);

	if (rc)
		return rc;
	sqlite_load_ids(k.db, &k.ids);
	check_all_structure(&k);
	sqlite3_close(k.db);
	if (first.n)
		return refuse(&first, ret_problem);
	log_info("the store's structure was checked%s: nothing is damaged (%lld ms)",
	    k.cut ? " in part" : "", (long long)(clock_mono_ms() - begun));
	return 0;
}
