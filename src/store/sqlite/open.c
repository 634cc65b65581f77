/* SPDX-License-Identifier: Apache-2.0 */
/* Opening: the lock that keeps a second server away, connections and their settings. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/private.h"
#include "store/sqlite/sqlite.h"

/* Our statements are right: where SQLite finds an error in one, the schema is not what it was. */
static bool is_damage(int code)
{
	static const int codes[] = {SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_FORMAT,
	    SQLITE_SCHEMA, SQLITE_MISMATCH, SQLITE_TOOBIG, SQLITE_RANGE};

	for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
		if ((code & 0xff) == codes[i])
			return true;
	return code == SQLITE_IOERR_SHORT_READ || code == SQLITE_IOERR_CORRUPTFS;
}

int sqlite_problem(sqlite3 *db, const char *doing, struct problem *ret_problem)
{
	int rc = sqlite3_extended_errcode(db);
	AUTO(buf_release) struct buf words = {0};

	sqlite_escape(&words, sqlite3_errmsg(db));
	problem_set(
	    ret_problem, ERR_STORE, "%s: %s (SQLite code %d)", doing, words.p ? words.p : "", rc);
	if ((rc & 0xff) == SQLITE_FULL)
		problem_hint(ret_problem, "make room on the disk that holds the store");
	else if (is_damage(rc))
		problem_hint(ret_problem, "the file is damaged: restore it from a backup");
	else if ((rc & 0xff) == SQLITE_READONLY)
		problem_hint(
		    ret_problem, "the file must be writable; if it is, its header is damaged");
	return ERR_STORE;
}

int sqlite_exec(sqlite3 *db, const char *sql, struct problem *ret_problem)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	return sqlite_problem(db, "the store does not answer", ret_problem);
}

int sqlite_exec_i64(sqlite3 *db, const char *sql, int64_t *ret_value, struct problem *ret_problem)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &st, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*ret_value = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	if (rc == SQLITE_ROW)
		return 0;
	return sqlite_problem(db, "the store does not answer", ret_problem);
}

/*
 * flock is released by the kernel when the holder dies, however it dies, so a lock file that is
 * left behind means nothing by itself.
 */
int sqlite_lock(const char *path, int *ret_fd, struct problem *ret_problem)
{
	AUTO(free_cstr) char *name = xasprintf("%s.lock", path);
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0) {
		problem_set(
		    ret_problem, ERR_STORE, "%s cannot be opened: %s", name, strerror(errno));
		problem_hint(ret_problem, "the store's directory must exist and be writable");
		return ERR_STORE;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		problem_set(ret_problem, ERR_BUSY, "%s is in use by another process", path);
		problem_hint(ret_problem,
		    "one server at a time: stop the other (fuser %s names it), or use another file",
		    name);
		return ERR_BUSY;
	}
	*ret_fd = fd;
	return 0;
}

/* SQLite's global lock around every allocation would be fought over by readers and writer. */
static void configure_once(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

static const char *pragmas_of(enum sqlite_role role)
{
	switch (role) {
	case ROLE_WRITER:
		return "PRAGMA cache_size = -" SQLITE_WRITER_CACHE
		       "; PRAGMA wal_autocheckpoint = 0;"
		       "PRAGMA journal_size_limit = 67108864; PRAGMA temp_store = MEMORY;";
	case ROLE_CHECKPOINTER: return "PRAGMA cache_size = -256; PRAGMA wal_autocheckpoint = 0;";
	case ROLE_READER:
		return "PRAGMA cache_size = -8000; PRAGMA query_only = 1; PRAGMA temp_store = "
		       "MEMORY;"
		       "PRAGMA wal_autocheckpoint = 0;";
	default: return "";
	}
}

int sqlite_connect(const char *path, bool create, bool nosync, enum sqlite_role role,
    sqlite3 **ret_db, struct problem *ret_problem)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	int rc;

	pthread_once(&once, configure_once);
	if (sqlite3_open_v2(path, ret_db, flags | (create ? SQLITE_OPEN_CREATE : 0), NULL)) {
		problem_set(ret_problem, ERR_STORE, "%s cannot be opened: %s", path,
		    *ret_db ? sqlite3_errmsg(*ret_db) : "out of memory");
		goto failed;
	}
	sqlite3_busy_timeout(*ret_db, 5000);
	rc = sqlite_exec(*ret_db, pragmas_of(role), ret_problem);
	if (rc == 0)
		rc = sqlite_exec(*ret_db,
		    nosync ? "PRAGMA synchronous = OFF" : "PRAGMA synchronous = FULL", ret_problem);
	if (rc == 0)
		return 0;
	if ((sqlite3_errcode(*ret_db) & 0xff) == SQLITE_NOTADB)
		sqlite_not_ours(path, ret_problem);
failed:
	sqlite3_close(*ret_db);
	*ret_db = NULL;
	return ERR_STORE;
}

static int check_place(const char *path, const struct store_options *o, struct problem *ret_problem)
{
	struct stat st;

	if (!*path) {
		problem_set(ret_problem, ERR_INVALID, "the store's url names no file");
		problem_hint(ret_problem, "write it as sqlite:PATH");
		return ERR_INVALID;
	}
	if (stat(path, &st) == 0 || o->create)
		return 0;
	problem_set(
	    ret_problem, ERR_NOT_FOUND, "there is no store at %s: %s", path, strerror(errno));
	problem_hint(ret_problem, "check the path; `reeve server` makes a new one where none is");
	return ERR_NOT_FOUND;
}

static const char lock_mark[] =
    "There is a store beside this file. It is locked while a server runs.\n";

int sqlite_mark_lock(int fd, struct problem *ret_problem)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && st.st_size > 0)
		return 0;
	if (write(fd, lock_mark, sizeof lock_mark - 1) == (ssize_t)sizeof lock_mark - 1)
		return 0;
	problem_set(
	    ret_problem, ERR_STORE, "the store's lock cannot be written: %s", strerror(errno));
	return problem_hint(ret_problem, "make room on the disk that holds the store");
}

int64_t sqlite_size_of(const char *path, const char *suffix)
{
	AUTO(free_cstr) char *name = xasprintf("%s%s", path, suffix);
	struct stat st;

	return stat(name, &st) == 0 ? (int64_t)st.st_size : -1;
}

/* An empty file, or none, is a new store, unless something says that there was more. */
static int refuse_emptied(const char *path, struct problem *ret_problem)
{
	int64_t size = sqlite_size_of(path, "");
	const char *trace = sqlite_size_of(path, "-wal") > 0    ? "-wal"
	                    : sqlite_size_of(path, ".lock") > 0 ? ".lock"
	                                                        : NULL;

	if (size > 0 || !trace)
		return 0;
	problem_set(ret_problem, ERR_STORE, "%s is %s, but %s%s says that there was a store", path,
	    size < 0 ? "gone" : "empty", path, trace);
	return problem_hint(ret_problem,
	    "restore a backup; to begin with nothing, remove %s, %s-wal and %s.lock", path, path,
	    path);
}

static int open_parts(
    struct sqlite_store *s, const struct store_options *o, struct problem *ret_problem)
{
	int rc = sqlite_lock(s->path, &s->lock_fd, ret_problem);

	if (rc == 0)
		rc = refuse_emptied(s->path, ret_problem);
	if (rc == 0)
		rc =
		    sqlite_connect(s->path, o->create, s->nosync, ROLE_WRITER, &s->db, ret_problem);
	if (rc == 0)
		rc = sqlite_prepare_schema(s->db, s->path, o, ret_problem);
	if (rc == 0 && o->check_ms)
		rc = sqlite_check_start(s->path, o->check_ms, ret_problem);
	if (rc == 0 && sqlite_prepare_all(s))
		rc = sqlite_problem(s->db, "the store's schema is damaged", ret_problem);
	if (rc == 0)
		rc = sqlite_mark_lock(s->lock_fd, ret_problem);
	if (rc == 0)
		rc = sqlite_load_stat(s, ret_problem);
	if (rc == 0)
		rc = sqlite_load_chain(s, ret_problem);
	if (rc == 0)
		rc = checkpointer_start(s, ret_problem);
	if (rc == 0 && !s->nosync)
		log_lengthen(s);
	if (rc == 0 && o->search)
		follower_start(s);
	return rc;
}

/* So that a stopped store's numbers count every task, and a check finds any that is gone. Should it
 * fail, the next start finds what came since by its higher ids, as after a crash. */
static void save_numbers(struct sqlite_store *s)
{
	if (s->db && !s->broken &&
	    (s->stat.last_id != s->stat_saved.last_id || s->stat.n_tasks != s->stat_saved.n_tasks))
		sqlite_save_stat(s);
}

static void sqlite_close(struct store *base)
{
	struct sqlite_store *s = (struct sqlite_store *)base;

	follower_stop(s);
	save_numbers(s);
	if (s->broken) { /* the log is the only truth: it must not be moved, and then removed */
		sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
		if (s->checkpointer.db)
			sqlite3_db_config(
			    s->checkpointer.db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	}
	checkpointer_stop(s);
	for (int i = 0; i < N_WRITE_STMTS; i++)
		sqlite3_finalize(s->stmts[i]);
	for (int i = 0; i < N_TABLES; i++)
		for (int verb = 0; verb < N_SQL_VERBS; verb++)
			sqlite3_finalize(s->row_stmts[i][verb]);
	sqlite3_finalize(s->fresh.stmt);
	sqlite3_close(s->db); /* the last one out moves the log into the database */
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	pthread_mutex_destroy(&s->mutex);
	fold_release(&s->fold);
	free(s->lossy);
	free(s->path);
	free(s);
}

static int sqlite_open(const char *path, const struct store_options *o, struct store **ret_store,
    struct problem *ret_problem)
{
	struct sqlite_store *s;
	int rc = check_place(path, o, ret_problem);

	if (rc == 0)
		rc = private_place(path, ret_problem);
	if (rc)
		return rc;
	s = xcalloc(1, sizeof *s);
	s->base.ops = &store_sqlite;
	s->path = xstrdup(path);
	s->lock_fd = -1;
	s->nosync = o->unsafe_nosync;
	pthread_mutex_init(&s->mutex, NULL);
	rc = open_parts(s, o, ret_problem);
	if (rc) {
		sqlite_close(&s->base);
		return rc;
	}
	*ret_store = &s->base;
	return 0;
}

const struct store_ops store_sqlite = {
    .name = "sqlite",
    .scheme = "sqlite:",
    .open = sqlite_open,
    .close = sqlite_close,
    .migrate = sqlite_migrate,
    .schema_version = sqlite_schema_version,
    .check = sqlite_check,
    .backup = sqlite_backup,
    .restore = sqlite_restore,
    .commit = sqlite_commit,
    .load = sqlite_load,
    .expire = sqlite_expire,
    .rest = sqlite_rest,
    .search_index = sqlite_search_index,
    .reader_open = sqlite_reader_open,
    .reader_close = sqlite_reader_close,
    .task_get = sql_task_get,
    .tasks_get = sql_tasks_get,
    .task_head = sqlite_task_head,
    .task_list = sqlite_task_list,
    .task_count = sql_task_count,
    .batch_get = sql_batch_get,
    .batch_list = sql_batch_list,
    .task_pace = sql_task_pace,
    .queue_head = sql_queue_head,
    .queue_due = sql_queue_due,
    .find_key = sql_find_key,
    .find_idem = sql_find_idem,
    .prunable = sqlite_prunable,
    .count_ended = sqlite_count_ended,
    .output = sqlite_output,
    .parts = sql_parts,
    .events = sql_events,
    .events_before = sql_events_before,
    .audit = sql_audit,
};
