/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/limit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"

static const char setup[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                            "CREATE TABLE t (id INTEGER PRIMARY KEY, queue INTEGER, status "
                            "INTEGER, ctime INTEGER, body TEXT)";

static int insert_rows(sqlite3 *db, int64_t rows, int64_t per_commit)
{
	sqlite3_stmt *insert = NULL;
	int rc = sqlite3_prepare_v2(
	    db, "INSERT INTO t VALUES (?1, 77, -2, 1700000000000, ?2)", -1, &insert, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(insert, 2, "{\"params\":{\"n\":1}}", -1, SQLITE_STATIC);
	for (int64_t i = 0; i < rows && rc == SQLITE_OK; i++) {
		if (i % per_commit == 0)
			rc = sqlite3_exec(db, i ? "COMMIT; BEGIN" : "BEGIN", NULL, NULL, NULL);
		sqlite3_bind_int64(insert, 1, ((int64_t)1 << 40) + i);
		if (rc == SQLITE_OK && sqlite3_step(insert) != SQLITE_DONE)
			rc = SQLITE_ERROR;
		sqlite3_reset(insert);
	}
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	sqlite3_finalize(insert);
	return rc;
}

static void remove_files(const char *path)
{
	static const char *const ends[] = {"", "-wal", "-shm"};

	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		AUTO(free_cstr) char *name = xasprintf("%s%s", path, ends[i]);

		unlink(name);
	}
}

int store_limit_insert(const char *dir, int64_t rows, int64_t per_commit, double *ret_seconds,
    struct problem *ret_problem)
{
	AUTO(free_cstr) char *path = xasprintf("%s/limit.db", dir);
	sqlite3 *db = NULL;
	int64_t start;
	int rc = sqlite3_open(path, &db);

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, setup, NULL, NULL, NULL);
	start = clock_mono_us();
	if (rc == SQLITE_OK)
		rc = insert_rows(db, rows, per_commit);
	*ret_seconds = (double)(clock_mono_us() - start) / 1e6;
	if (rc != SQLITE_OK)
		problem_set(ret_problem, ERR_STORE, "%s: %s", path, sqlite3_errmsg(db));
	sqlite3_close(db);
	remove_files(path);
	return rc == SQLITE_OK ? 0 : ERR_STORE;
}
