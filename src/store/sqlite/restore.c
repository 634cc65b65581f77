/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backup takes the place of the store. It is copied beside it, checked there, and given the
 * store's name in one step; before that step the old store is as it was, after it the new one is
 * whole. An old log must not be left beside the new file: it would be taken for its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/private.h"
#include "store/sqlite/sqlite.h"

#define COPY_BYTES 65536
#define ASK_MS 200 /* whether to stop */

static int io_problem(const char *doing, const char *path, struct problem *ret_problem)
{
	int why = errno;

	problem_set(ret_problem, ERR_IO, "%s cannot be %s: %s", path, doing, strerror(why));
	if (why == ENOSPC || why == EDQUOT)
		problem_hint(ret_problem, "make room on the disk that holds the store: until the "
		                          "backup is whole, there are both");
	return ERR_IO;
}

/* root would have to work in a folder where somebody else can turn every name to another file. */
static int refuse_other_user(const char *path, struct problem *ret_problem)
{
	AUTO(free_cstr) char *dir = xstrdup(path);
	char *slash = strrchr(dir, '/');
	struct stat st;

	if (slash)
		slash[slash == dir] = 0;
	if (geteuid() != 0 || stat(slash ? dir : ".", &st) < 0 || st.st_uid == 0)
		return 0;
	problem_set(ret_problem, ERR_DENIED,
	    "the folder of %s belongs to the user with the number %u", path, (unsigned)st.st_uid);
	return problem_hint(ret_problem,
	    "restore as that user: sudo -u '#%u' reeve restore - <FILE", (unsigned)st.st_uid);
}

static int refuse_present(const char *path, bool replace, struct problem *ret_problem)
{
	if (replace || (sqlite_size_of(path, "") <= 0 && sqlite_size_of(path, "-wal") <= 0))
		return 0;
	problem_set(ret_problem, ERR_CONFLICT, "there is a store at %s", path);
	return problem_hint(ret_problem, "to put the backup in its place say --force");
}

/* -- the copy beside it */

static int write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t w = write(fd, p, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return -1;
		p += w;
		n -= (size_t)w;
	}
	return 0;
}

/* As read(), but no wait is long: a signal that came just before it is heard soon, too. */
static ssize_t read_soon(int fd, char *bytes, size_t n)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int ready = poll(&p, 1, ASK_MS);

	if (ready == 0)
		errno = EINTR;
	return ready > 0 ? read(fd, bytes, n) : -1;
}

static int copy_bytes(const struct store_source *source, int to, const char *fresh,
    const struct store_copying *how, int64_t *ret_bytes, struct problem *ret_problem)
{
	char bytes[COPY_BYTES];
	ssize_t n;

	*ret_bytes = 0;
	while ((n = read_soon(source->from, bytes, sizeof bytes)) != 0) {
		if (n < 0 && errno != EINTR)
			return io_problem("read", "the backup", ret_problem);
		if (n > 0 && write_all(to, bytes, (size_t)n) < 0)
			return io_problem("written", fresh, ret_problem);
		*ret_bytes += n > 0 ? n : 0;
		if (!how->copied(how->arg, *ret_bytes, source->bytes))
			return problem_set(ret_problem, ERR_TIMEOUT,
			    "stopped before the copy was whole: the store is as it was");
	}
	return fsync(to) < 0 ? io_problem("written", fresh, ret_problem) : 0;
}

static int fetch(const struct store_source *source, const char *fresh,
    const struct store_copying *how, int64_t *ret_bytes, struct problem *ret_problem)
{
	int rc, fd = open(fresh, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return io_problem("written", fresh, ret_problem);
	rc = fchmod(fd, 0600) < 0 ? io_problem("written", fresh, ret_problem)
	                          : copy_bytes(source, fd, fresh, how, ret_bytes, ret_problem);
	close(fd);
	return rc;
}

static int look_at(const char *fresh, const struct store_copying *how, struct store_copy *ret_copy,
    struct problem *ret_problem)
{
	int version, rc = sqlite_schema_version(fresh, &version, ret_problem);

	if (rc) {
		problem_set(ret_problem, ERR_STORE, "this is not a backup, or only a part of one");
		return problem_hint(ret_problem,
		    "give the file as `reeve backup` made it; if it is packed, unpack it first");
	}
	rc = sqlite_check_copy(fresh, &how->check, ret_copy, ret_problem);
	return rc == ERR_STORE && ret_problem->code == 0 && how->damaged ? 0 : rc;
}

/* -- the old one */

static void remove_beside(const char *path, const char *suffix)
{
	AUTO(free_cstr) char *name = xasprintf("%s%s", path, suffix);

	unlink(name);
}

static int keep_damaged(const char *path, const char *suffix, struct problem *ret_problem)
{
	AUTO(free_cstr) char *from = xasprintf("%s%s", path, suffix);
	AUTO(free_cstr) char *to = xasprintf("%s.damaged%s", path, suffix);

	if (rename(from, to) == 0 || errno == ENOENT)
		return 0;
	return io_problem("renamed", from, ret_problem);
}

/* What SQLite cannot make one file of is moved away: first the database, since without its log it
 * would be taken for a whole store. */
static int move_damaged(const char *path, struct problem *ret_problem)
{
	int rc = keep_damaged(path, "", ret_problem);

	if (rc == 0)
		rc = keep_damaged(path, "-wal", ret_problem);
	return rc;
}

static int log_into_database(sqlite3 *db)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db, "PRAGMA journal_mode = DELETE", -1, &st, NULL);
	const char *mode;

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	mode = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(st, 0) : NULL;
	if (mode)
		rc = strcmp(mode, "wal") == 0 ? SQLITE_BUSY : SQLITE_OK;
	sqlite3_finalize(st);
	return rc;
}

/* As one file, so that one step can put another in its place. */
static int settle_old(const char *path, struct problem *ret_problem)
{
	struct problem unread = {0};
	sqlite3 *db = NULL;
	int rc = SQLITE_ERROR;

	if (sqlite_size_of(path, "") <= 0 && sqlite_size_of(path, "-wal") <= 0)
		return 0;
	if (sqlite_size_of(path, "") > 0 &&
	    sqlite_connect(path, false, false, ROLE_MIGRATION, &db, &unread) == 0)
		rc = log_into_database(db);
	sqlite3_close(db);
	if ((rc & 0xff) == SQLITE_BUSY) {
		problem_set(ret_problem, ERR_BUSY, "%s is being read by another process", path);
		return problem_hint(ret_problem, "wait for it (fuser %s names it)", path);
	}
	if ((rc & 0xff) == SQLITE_FULL)
		return problem_set(ret_problem, ERR_IO, "%s: its disk is full", path);
	return rc == SQLITE_OK ? 0 : move_damaged(path, ret_problem);
}

static int take_place(const char *path, const char *fresh, int lock, struct problem *ret_problem)
{
	int rc = settle_old(path, ret_problem);

	if (rc)
		return rc;
	remove_beside(path, "-wal"); /* by now these hold nothing */
	remove_beside(path, "-shm");
	remove_beside(path, WORDS_SUFFIX); /* of the tasks that were there */
	remove_beside(path, WORDS_SUFFIX "-wal");
	remove_beside(path, WORDS_SUFFIX "-shm");
	if (rename(fresh, path) < 0 || store_sync_entry(path) < 0)
		return io_problem("written", path, ret_problem);
	return sqlite_mark_lock(lock, ret_problem);
}

static int restore_locked(const char *path, int lock, const struct store_source *source,
    const struct store_copying *how, struct store_copy *ret_copy, struct problem *ret_problem)
{
	AUTO(free_cstr) char *fresh = xasprintf("%s.restoring", path);
	int rc = refuse_present(path, how->replace, ret_problem);

	if (rc)
		return rc;
	rc = fetch(source, fresh, how, &ret_copy->bytes, ret_problem);
	if (rc == 0)
		rc = look_at(fresh, how, ret_copy, ret_problem);
	if (rc == 0)
		rc = take_place(path, fresh, lock, ret_problem);
	if (rc)
		unlink(fresh);
	remove_beside(fresh, "-wal");
	remove_beside(fresh, "-shm");
	return rc;
}

int sqlite_restore(const char *path, const struct store_source *source,
    const struct store_copying *how, struct store_copy *ret_copy, struct problem *ret_problem)
{
	int version, lock, rc = refuse_other_user(path, ret_problem);

	if (rc == 0)
		rc = private_place(path, ret_problem);
	if (rc == 0)
		rc = sqlite_lock(path, &lock, ret_problem);
	if (rc)
		return rc;
	rc = restore_locked(path, lock, source, how, ret_copy, ret_problem);
	close(lock);
	if (rc == 0) /* the copy opens where it is now */
		rc = sqlite_schema_version(path, &version, ret_problem);
	return rc;
}
