/* SPDX-License-Identifier: Apache-2.0 */
/* Whose database it is, which version its schema has, and the steps up and down. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/sql/migrate.h"
#include "store/sqlite/sqlite.h"

_Static_assert(STORE_SCHEMA_VERSION >= 1, "version 0 is the empty database");

int sqlite_not_ours(const char *path, struct problem *ret_problem)
{
	problem_set(ret_problem, ERR_STORE, "%s is not a Reeve database", path);
	problem_hint(ret_problem, "name another file, or move this one away");
	return ERR_STORE;
}

/* *ret_version: -1 for a database without any table that nobody has marked yet. */
static int identify(sqlite3 *db, const char *path, int *ret_version, struct problem *ret_problem)
{
	int64_t app = 0, version = 0, tables = 0;
	int rc = sqlite_exec_i64(db, "PRAGMA application_id", &app, ret_problem);

	if (rc && (sqlite3_errcode(db) & 0xff) == SQLITE_NOTADB)
		return sqlite_not_ours(path, ret_problem);
	if (rc == 0)
		rc = sqlite_exec_i64(db, "PRAGMA user_version", &version, ret_problem);
	if (rc == 0)
		rc =
		    sqlite_exec_i64(db, "SELECT count(*) FROM sqlite_schema", &tables, ret_problem);
	if (rc)
		return rc;
	if (app == SQLITE_APPLICATION_ID) {
		*ret_version = (int)version;
		return 0;
	}
	if (app || version || tables)
		return sqlite_not_ours(path, ret_problem);
	*ret_version = -1;
	return 0;
}

/* Page size and journal mode are of the file; both must be set outside a transaction. */
static int mark_as_ours(sqlite3 *db, struct problem *ret_problem)
{
	AUTO(free_cstr)
	char *sql = xasprintf(
	    "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA application_id = %d;",
	    SQLITE_APPLICATION_ID);

	return sqlite_exec(db, sql, ret_problem);
}

static int run_step(void *arg, const char *sql, int version, struct problem *ret_problem)
{
	sqlite3 *db = arg;
	AUTO(free_cstr)
	char *all =
	    xasprintf("BEGIN IMMEDIATE;\n%s\nPRAGMA user_version = %d;\nCOMMIT;", sql, version);

	if (sqlite3_exec(db, all, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	sqlite_problem(
	    db, "the store's schema cannot be changed, is the file damaged?", ret_problem);
	sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return ERR_STORE;
}

static int count(void *arg, const char *sql, int64_t *ret_n, struct problem *ret_problem)
{
	return sqlite_exec_i64(arg, sql, ret_n, ret_problem);
}

static int migrate_opened(
    sqlite3 *db, int from, struct store_migration *m, struct problem *ret_problem)
{
	struct migrate_door door = {db, run_step, count};

	return sql_migrate(&door, from, m, ret_problem);
}

int sqlite_prepare_schema(
    sqlite3 *db, const char *path, const struct store_options *o, struct problem *ret_problem)
{
	struct store_migration up = {.version = STORE_SCHEMA_VERSION};
	int version = -1, rc = identify(db, path, &version, ret_problem);

	if (rc)
		return rc;
	if (version == -1 && !o->create)
		return sqlite_not_ours(path, ret_problem);
	if (version >= 0)
		rc = sql_check_version(version, o->migrate, ret_problem);
	if (rc == 0)
		rc = mark_as_ours(db, ret_problem);
	if (rc)
		return rc;
	return migrate_opened(db, version < 0 ? 0 : version, &up, ret_problem);
}

static int migrate_locked(const char *path, struct store_migration *m, struct problem *ret_problem)
{
	sqlite3 *db = NULL;
	int from, rc = sqlite_connect(path, false, false, ROLE_MIGRATION, &db, ret_problem);

	if (rc == 0)
		rc = identify(db, path, &from, ret_problem);
	if (rc == 0 && from == -1)
		rc = sqlite_not_ours(path, ret_problem);
	if (rc == 0)
		rc = sql_check_version(from, true, ret_problem);
	if (rc == 0)
		rc = migrate_opened(db, from, m, ret_problem);
	sqlite3_close(db);
	return rc;
}

static int must_exist(const char *path, struct problem *ret_problem)
{
	struct stat st;

	if (stat(path, &st) == 0)
		return 0;
	problem_set(
	    ret_problem, ERR_NOT_FOUND, "there is no store at %s: %s", path, strerror(errno));
	return ERR_NOT_FOUND;
}

int sqlite_migrate(const char *path, struct store_migration *m, struct problem *ret_problem)
{
	int fd, rc = must_exist(path, ret_problem);

	if (rc == 0)
		rc = sqlite_lock(path, &fd, ret_problem);
	if (rc)
		return rc;
	rc = migrate_locked(path, m, ret_problem);
	close(fd);
	return rc;
}

int sqlite_schema_version(const char *path, int *ret_version, struct problem *ret_problem)
{
	sqlite3 *db = NULL;
	int rc = must_exist(path, ret_problem);

	if (rc == 0)
		rc = sqlite_connect(path, false, false, ROLE_MIGRATION, &db, ret_problem);
	if (rc == 0)
		rc = identify(db, path, ret_version, ret_problem);
	if (rc == 0 && *ret_version == -1)
		rc = sqlite_not_ours(path, ret_problem);
	sqlite3_close(db);
	return rc;
}
