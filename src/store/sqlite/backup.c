/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy beside those who write. The reader holds one snapshot from the first page to the last, so
 * no commit of others makes SQLite begin again; they go on meanwhile, and the log grows by what
 * they write, since it cannot begin anew under a reader.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "store/sql/migrate.h"
#include "store/sqlite/sqlite.h"

#define PAGES_A_STEP 256

static int refuse_foreign(const char *path, struct problem *ret_problem)
{
	if (access(path, R_OK | W_OK) == 0 || errno != EACCES)
		return 0;
	problem_set(ret_problem, ERR_DENIED, "%s may not be read by this user", path);
	return problem_hint(ret_problem, "run it as the server's own user, or as root");
}

/* A transaction's snapshot is that of its first read. */
static int hold_snapshot(sqlite3 *db, int64_t *ret_page_size, struct problem *ret_problem)
{
	int64_t n;
	int rc = sqlite_exec(db, "BEGIN", ret_problem);

	if (rc == 0)
		rc = sqlite_exec_i64(db, "SELECT count(*) FROM sqlite_schema", &n, ret_problem);
	if (rc == 0)
		rc = sqlite_exec_i64(db, "PRAGMA page_size", ret_page_size, ret_problem);
	return rc;
}

static int step_failed(int rc, struct problem *ret_problem)
{
	problem_set(ret_problem, ERR_STORE, "the copy cannot be made: %s (SQLite code %d)",
	    sqlite3_errstr(rc), rc);
	if ((rc & 0xff) == SQLITE_FULL)
		problem_hint(ret_problem, "make room on the disk that the backup goes to");
	else if ((rc & 0xff) == SQLITE_CORRUPT)
		problem_hint(ret_problem, "the store is damaged: stop the server, and let `reeve "
		                          "store check` look at it");
	return ERR_STORE;
}

static int stopped(struct problem *ret_problem)
{
	return problem_set(ret_problem, ERR_TIMEOUT, "stopped before the copy was whole");
}

static int copy_pages(sqlite3 *from, sqlite3 *to, int64_t page_size,
    const struct store_copying *how, struct problem *ret_problem)
{
	sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");
	bool go_on = true;
	int rc;

	if (!b)
		return step_failed(sqlite3_extended_errcode(to), ret_problem);
	do {
		int64_t all;

		rc = sqlite3_backup_step(b, PAGES_A_STEP);
		all = sqlite3_backup_pagecount(b);
		go_on = how->copied(
		    how->arg, (all - sqlite3_backup_remaining(b)) * page_size, all * page_size);
	} while (rc == SQLITE_OK && go_on);
	sqlite3_backup_finish(b);
	if (!go_on)
		return stopped(ret_problem);
	return rc == SQLITE_DONE ? 0 : step_failed(rc, ret_problem);
}

/* One that needs no log beside it: it can be moved, and read where nobody may write. */
static int make_single(sqlite3 *db, struct problem *ret_problem)
{
	if (sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE", NULL,
	        NULL, NULL) == SQLITE_OK)
		return 0;
	return step_failed(sqlite3_extended_errcode(db), ret_problem);
}

/* Nothing to go back to and nothing to sync in between: whoever calls syncs all of it. */
static int copy_into(
    sqlite3 *from, const char *file, const struct store_copying *how, struct problem *ret_problem)
{
	sqlite3 *to = NULL;
	int64_t page_size = 0;
	int rc = sqlite_connect(file, true, true, ROLE_MIGRATION, &to, ret_problem);

	if (rc == 0)
		rc = sqlite_exec(to, "PRAGMA journal_mode = OFF", ret_problem);
	if (rc == 0)
		rc = hold_snapshot(from, &page_size, ret_problem);
	if (rc == 0)
		rc = copy_pages(from, to, page_size, how, ret_problem);
	if (rc == 0)
		rc = make_single(to, ret_problem);
	sqlite3_close(to);
	return rc;
}

int sqlite_backup(const char *path, const char *file, const struct store_copying *how,
    struct store_copy *ret_copy, struct problem *ret_problem)
{
	sqlite3 *from = NULL;
	int rc = refuse_foreign(path, ret_problem);

	if (rc == 0)
		rc = sqlite_schema_version(path, &ret_copy->version, ret_problem);
	if (rc == 0)
		rc = sql_check_version(ret_copy->version, true, ret_problem);
	if (rc == 0)
		rc = sqlite_connect(path, false, false, ROLE_READER, &from, ret_problem);
	if (rc)
		return rc;
	rc = copy_into(from, file, how, ret_problem);
	sqlite3_close(from); /* writers need not wait for the check */
	if (rc == 0)
		rc = sqlite_check_copy(file, &how->check, ret_copy, ret_problem);
	return rc;
}
