/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file: tables of SQLite's FTS5 without contents and without positions, so that it is small.
 * Its writes are not synced: a killed process leaves it whole, for the kernel has it all; after a
 * crash of the machine (another boot, and nobody has closed it) it is not believed.
 */
#include "store/sqlite/words.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define WORDS_VERSION 3                 /* by which rules words are made, too */
#define WORDS_APPLICATION_ID 0x52656577 /* "Reew" */

#define SCHEMA                                                                              \
	"CREATE TABLE about (version INTEGER, installation TEXT, boot TEXT, clean INTEGER," \
	" done_to INTEGER);"                                                                \
	"CREATE TABLE shard (number INTEGER PRIMARY KEY, first INTEGER, last INTEGER,"      \
	" n_rows INTEGER)"

static int exec(sqlite3 *db, const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static int prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret_st)
{
	return sqlite3_prepare_v2(db, sql, -1, ret_st, NULL);
}

/* Steps a statement that gives no rows, and ends it. */
static int finish(sqlite3_stmt *st)
{
	int rc = sqlite3_step(st), end = sqlite3_finalize(st);

	return rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : end;
}

void words_remove(const char *path)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};

	for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
		AUTO(free_cstr) char *name = xasprintf("%s%s", path, suffixes[i]);

		unlink(name);
	}
}

int words_connect(const char *path, sqlite3 **ret_db)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	int rc = sqlite3_open_v2(path, ret_db, flags, NULL);

	if (rc == SQLITE_OK)
		rc = exec(*ret_db, "PRAGMA cache_size = -4000; PRAGMA synchronous = OFF;"
		                   "PRAGMA temp_store = MEMORY");
	if (rc == SQLITE_OK)
		sqlite3_busy_timeout(*ret_db, 1000);
	if (rc) {
		sqlite3_close(*ret_db);
		*ret_db = NULL;
	}
	return rc;
}

static void read_boot(char ret_boot[64])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, ret_boot, 63);

	ret_boot[n > 0 ? n : 0] = 0;
	ret_boot[strcspn(ret_boot, "\n")] = 0;
	if (fd >= 0)
		close(fd);
}

/* Of this database, and surely whole. */
static bool is_ours(sqlite3 *db, const struct words_of *of, const char *boot)
{
	sqlite3_stmt *st = NULL;
	bool ours = false;

	if (prepare(db,
	        "SELECT (SELECT application_id FROM pragma_application_id) = ?1 AND version = ?2"
	        " AND installation = ?3 AND (clean OR boot = ?4) AND done_to <= ?5 FROM about",
	        &st))
		return false;
	sqlite3_bind_int64(st, 1, WORDS_APPLICATION_ID);
	sqlite3_bind_int64(st, 2, WORDS_VERSION);
	sqlite3_bind_text(st, 3, of->installation.p, (int)of->installation.n, SQLITE_STATIC);
	sqlite3_bind_text(st, 4, boot, -1, SQLITE_STATIC);
	sqlite3_bind_int64(st, 5, (sqlite3_int64)of->last_id);
	ours = sqlite3_step(st) == SQLITE_ROW && sqlite3_column_int(st, 0) == 1;
	sqlite3_finalize(st);
	return ours;
}

static int make(sqlite3 *db, const struct words_of *of)
{
	AUTO(free_cstr)
	char *mark = xasprintf("PRAGMA application_id = %d", WORDS_APPLICATION_ID);
	sqlite3_stmt *st = NULL;
	int rc = exec(db, "PRAGMA journal_mode = WAL");

	if (rc == SQLITE_OK)
		rc = exec(db, mark);
	if (rc == SQLITE_OK)
		rc = exec(db, SCHEMA);
	if (rc == SQLITE_OK)
		rc = prepare(db, "INSERT INTO about VALUES (?1, ?2, '', 0, 0)", &st);
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, WORDS_VERSION);
	sqlite3_bind_text(st, 2, of->installation.p, (int)of->installation.n, SQLITE_STATIC);
	return finish(st);
}

/* Whose it is now, and that it is being written. */
static int mark_open(sqlite3 *db, const char *boot)
{
	sqlite3_stmt *st = NULL;
	int rc = prepare(db, "UPDATE about SET boot = ?1, clean = 0", &st);

	if (rc)
		return rc;
	sqlite3_bind_text(st, 1, boot, -1, SQLITE_STATIC);
	return finish(st);
}

static int begin_file(struct words *w, const char *path, const struct words_of *of)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	int rc;

	if (fd < 0)
		return SQLITE_CANTOPEN;
	close(fd);
	rc = words_connect(path, &w->db);
	return rc ? rc : make(w->db, of);
}

static int load_shard(struct words *w)
{
	sqlite3_stmt *st = NULL;
	int rc =
	    prepare(w->db, "SELECT number, n_rows FROM shard ORDER BY number DESC LIMIT 1", &st);

	if (rc)
		return rc;
	if (sqlite3_step(st) == SQLITE_ROW) {
		w->shard = sqlite3_column_int64(st, 0);
		w->shard_rows = sqlite3_column_int64(st, 1);
	}
	return sqlite3_finalize(st);
}

int words_open(struct words *w, const char *path, const struct words_of *of)
{
	char boot[64];
	int rc;

	*w = (struct words){.shard_limit = of->shard_rows ? of->shard_rows : WORDS_SHARD_ROWS};
	read_boot(boot);
	rc = words_connect(path, &w->db);
	if (rc || !is_ours(w->db, of, boot)) {
		sqlite3_close(w->db);
		words_remove(path);
		w->db = NULL;
		rc = begin_file(w, path, of);
	}
	if (rc == SQLITE_OK)
		rc = mark_open(w->db, boot);
	if (rc == SQLITE_OK)
		rc = load_shard(w);
	return rc;
}

void words_close(struct words *w)
{
	sqlite3_finalize(w->add);
	if (w->db && exec(w->db, "PRAGMA synchronous = FULL") == SQLITE_OK)
		exec(w->db, "UPDATE about SET clean = 1");
	sqlite3_close(w->db);
	*w = (struct words){0};
}

int words_begin(struct words *w)
{
	return exec(w->db, "BEGIN");
}

/* The shard before it ends here, whatever the last commit said: readers pass over a shard by its
 * ends, and by them it is dropped. */
static int begin_shard(struct words *w, rid first)
{
	long long number = (long long)w->shard + 1;
	AUTO(free_cstr)
	char *sql = xasprintf("UPDATE shard SET last = %lld, n_rows = %lld WHERE number = %lld;"
	                      "CREATE VIRTUAL TABLE w%lld USING fts5(t, content='', columnsize=0,"
	                      " detail=none, tokenize='ascii');"
	                      "INSERT INTO shard VALUES (%lld, %lld, %lld, 0)",
	    (long long)first - 1, (long long)w->shard_rows, number - 1, number, number,
	    (long long)first, (long long)first);
	int rc = exec(w->db, sql);

	if (rc)
		return rc;
	sqlite3_finalize(w->add);
	w->add = NULL;
	w->shard++;
	w->shard_rows = 0;
	return SQLITE_OK;
}

static int prepare_add(struct words *w)
{
	AUTO(free_cstr)
	char *sql = xasprintf("INSERT INTO w%lld (rowid, t) VALUES (?1, ?2)", (long long)w->shard);

	return prepare(w->db, sql, &w->add);
}

int words_add(struct words *w, rid id, struct str text)
{
	int rc = SQLITE_OK;

	if (w->shard == 0 || w->shard_rows >= w->shard_limit)
		rc = begin_shard(w, id);
	if (rc == SQLITE_OK && !w->add)
		rc = prepare_add(w);
	if (rc)
		return rc;
	w->shard_rows++;
	sqlite3_bind_int64(w->add, 1, (sqlite3_int64)id);
	sqlite3_bind_text64(w->add, 2, text.p ? text.p : "", text.n, SQLITE_STATIC, SQLITE_UTF8);
	rc = sqlite3_step(w->add);
	sqlite3_reset(w->add);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int words_commit(struct words *w, rid done_to)
{
	AUTO(free_cstr)
	char *sql = xasprintf("UPDATE about SET done_to = %lld;"
	                      "UPDATE shard SET last = %lld, n_rows = %lld WHERE number = %lld;"
	                      "COMMIT",
	    (long long)done_to, (long long)done_to, (long long)w->shard_rows, (long long)w->shard);

	return exec(w->db, sql);
}

int words_done_to(sqlite3 *db, rid *ret_id)
{
	sqlite3_stmt *st = NULL;
	int rc = prepare(db, "SELECT done_to FROM about", &st);

	if (rc)
		return rc;
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*ret_id = (rid)sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return rc == SQLITE_ROW ? SQLITE_OK : rc == SQLITE_DONE ? SQLITE_CORRUPT : rc;
}

/* The oldest of those that are full, if it may go; *ret_number 0: none. */
static int find_gone(struct words *w, words_gone_fn *is_gone, void *arg, int64_t *ret_number)
{
	sqlite3_stmt *st = NULL;
	int rc = prepare(
	    w->db, "SELECT number, first, last FROM shard WHERE number < ?1 ORDER BY number", &st);

	*ret_number = 0;
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, w->shard);
	while (!*ret_number && sqlite3_step(st) == SQLITE_ROW)
		if (is_gone(
		        arg, (rid)sqlite3_column_int64(st, 1), (rid)sqlite3_column_int64(st, 2)))
			*ret_number = sqlite3_column_int64(st, 0);
	return sqlite3_finalize(st);
}

int words_drop_gone(struct words *w, words_gone_fn *is_gone, void *arg)
{
	int64_t number;
	int rc;

	while ((rc = find_gone(w, is_gone, arg, &number)) == SQLITE_OK && number) {
		AUTO(free_cstr)
		char *sql =
		    xasprintf("BEGIN; DROP TABLE w%lld; DELETE FROM shard WHERE number = %lld;"
		              "COMMIT",
		        (long long)number, (long long)number);

		rc = exec(w->db, sql);
		if (rc)
			return rc;
	}
	return rc;
}

/* Words have letters, digits and bytes above ASCII only: between quotes they mean themselves. */
static char *match_text(const struct search_words *s)
{
	struct buf b = {0};

	for (size_t i = 0; i < s->n; i++)
		buf_printf(&b, "%s\"" STR_FMT "\"%s", i ? " AND " : "", STR_ARG(s->words[i].text),
		    s->words[i].begins ? "*" : "");
	return buf_take(&b);
}

static int find_in(
    sqlite3 *db, int64_t shard, const char *match, const struct words_query *q, rid *ids, size_t *n)
{
	AUTO(free_cstr)
	char *sql = xasprintf("SELECT rowid FROM w%lld WHERE w%lld MATCH ?1 AND rowid >= ?2"
	                      " AND rowid <= ?3 ORDER BY rowid%s LIMIT ?4",
	    (long long)shard, (long long)shard, q->oldest_first ? "" : " DESC");
	sqlite3_stmt *st = NULL;
	int rc = prepare(db, sql, &st);

	if (rc)
		return rc;
	sqlite3_bind_text(st, 1, match, -1, SQLITE_STATIC);
	sqlite3_bind_int64(st, 2, (sqlite3_int64)q->low);
	sqlite3_bind_int64(st, 3, (sqlite3_int64)q->high);
	sqlite3_bind_int64(st, 4, (sqlite3_int64)(q->limit - *n));
	while (*n < q->limit && sqlite3_step(st) == SQLITE_ROW)
		ids[(*n)++] = (rid)sqlite3_column_int64(st, 0);
	return sqlite3_finalize(st);
}

int words_find(sqlite3 *db, const struct words_query *q, rid *ret_ids, size_t *ret_n)
{
	AUTO(free_cstr) char *match = match_text(q->search);
	sqlite3_stmt *st = NULL;
	int rc = prepare(db,
	    q->oldest_first
	        ? "SELECT number FROM shard WHERE last >= ?1 AND first <= ?2 ORDER BY number"
	        : "SELECT number FROM shard WHERE last >= ?1 AND first <= ?2 ORDER BY number DESC",
	    &st);
	int end;

	*ret_n = 0;
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, (sqlite3_int64)q->low);
	sqlite3_bind_int64(st, 2, (sqlite3_int64)q->high);
	while (rc == SQLITE_OK && *ret_n < q->limit && sqlite3_step(st) == SQLITE_ROW)
		rc = find_in(db, sqlite3_column_int64(st, 0), match, q, ret_ids, ret_n);
	end = sqlite3_finalize(st);
	return rc ? rc : end;
}
