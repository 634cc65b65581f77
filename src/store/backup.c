/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backups of every store. The copy grows under another name, FILE.part, and gets its own only when
 * it is whole, checked and durable: whoever finds FILE finds a backup, whenever it was interrupted.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/backend.h"

static int nothing_kept(const char *verb, struct problem *ret_problem)
{
	problem_set(ret_problem, ERR_INVALID,
	    "a store in memory is not kept: there is nothing to %s", verb);
	return problem_hint(ret_problem, "name one that is, such as --store sqlite:PATH");
}

static bool is_there(const char *file, const char *suffix, bool *ret_is_empty)
{
	AUTO(free_cstr) char *name = xasprintf("%s%s", file, suffix);
	struct stat st;

	if (lstat(name, &st) < 0)
		return false;
	*ret_is_empty = st.st_size == 0;
	return true;
}

/* A store has a log while it is open, and a lock that remembers it afterwards. */
static bool is_store(const char *file)
{
	bool empty = false;

	return is_there(file, "-wal", &empty) || (is_there(file, ".lock", &empty) && !empty);
}

static int refuse_present(const char *file, bool replace, struct problem *p)
{
	size_t n = strlen(file);
	struct stat st;

	if (n && file[n - 1] == '/') {
		problem_set(p, ERR_INVALID,
		    "%s ends as the name of a folder, and a backup is a file", file);
		return problem_hint(p, "name a file, or - for standard output");
	}
	if (lstat(file, &st) < 0)
		return 0;
	if (is_store(file)) {
		problem_set(p, ERR_CONFLICT, "%s is a store, and not the file of a backup", file);
		return problem_hint(p, "name another file");
	}
	if (!S_ISREG(st.st_mode)) {
		problem_set(p, ERR_INVALID, "%s is there already, and is no file", file);
		return problem_hint(p, "name a file, or - for standard output");
	}
	if (replace)
		return 0;
	problem_set(p, ERR_CONFLICT, "%s is there already", file);
	return problem_hint(p, "name another file, or replace this one with --force");
}

static int cannot(const char *doing, const char *file, struct problem *p)
{
	int why = errno;

	problem_set(p, ERR_IO, "%s cannot be %s: %s", file, doing, strerror(why));
	if (why == ENOSPC || why == EDQUOT)
		problem_hint(p, "make room on its disk, or choose another");
	return ERR_IO;
}

static bool is_ours(int fd, const char *part)
{
	struct stat st, named;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       stat(part, &named) == 0 && named.st_ino == st.st_ino && named.st_dev == st.st_dev;
}

/* What an interrupted backup has left is written over; what another is just writing is not. */
static int open_part(const char *part, int *ret_fd, struct problem *p)
{
	int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC, fd;
	bool is_new;

	fd = open(part, flags | O_CREAT | O_EXCL, 0600);
	is_new = fd >= 0; /* then it is ours, whoever a network's disk makes of us */
	if (fd < 0 && errno == EEXIST)
		fd = open(part, flags);
	if (fd < 0)
		return cannot("written", part, p);
	if ((flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) ||
	    (!is_new && !is_ours(fd, part))) {
		close(fd);
		problem_set(p, ERR_BUSY, "%s is being written by somebody else", part);
		return problem_hint(p, "wait for it, or remove it if it is nobody's");
	}
	if (ftruncate(fd, 0) < 0 || fchmod(fd, 0600) < 0) {
		cannot("written", part, p);
		close(fd);
		return ERR_IO;
	}
	*ret_fd = fd;
	return 0;
}

int store_sync_entry(const char *file)
{
	AUTO(free_cstr) char *dir = xstrdup(file);
	char *slash = strrchr(dir, '/');
	int fd, rc;

	if (slash)
		slash[slash == dir] = 0;
	fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = fd < 0 ? -1 : fsync(fd);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int finish(int fd, const char *part, const char *file, int64_t *ret_bytes, struct problem *p)
{
	struct stat st;

	if (fsync(fd) < 0 || fstat(fd, &st) < 0)
		return cannot("written", part, p);
	if (rename(part, file) < 0 || store_sync_entry(file) < 0)
		return cannot("written", file, p);
	*ret_bytes = st.st_size;
	return 0;
}

int store_backup(const char *url, const char *file, const struct store_copying *how,
    struct store_copy *ret_copy, struct problem *ret_problem)
{
	AUTO(free_cstr) char *part = xasprintf("%s.part", file);
	const char *place;
	const struct store_ops *ops = store_backend_of(url, &place, ret_problem);
	int fd = -1, rc;

	*ret_copy = (struct store_copy){0};
	if (!ops)
		return ERR_INVALID;
	if (!ops->backup)
		return nothing_kept("back up", ret_problem);
	rc = refuse_present(file, how->replace, ret_problem);
	if (rc == 0)
		rc = open_part(part, &fd, ret_problem);
	if (rc)
		return rc;
	rc = ops->backup(place, part, how, ret_copy, ret_problem);
	if (rc == ERR_STORE && ret_problem->code == 0 && how->damaged)
		rc = 0;
	if (rc == 0)
		rc = finish(fd, part, file, &ret_copy->bytes, ret_problem);
	if (rc)
		unlink(part);
	close(fd);
	return rc;
}

int store_restore(const char *url, const struct store_source *source,
    const struct store_copying *how, struct store_copy *ret_copy, struct problem *ret_problem)
{
	const char *place;
	const struct store_ops *ops = store_backend_of(url, &place, ret_problem);

	*ret_copy = (struct store_copy){0};
	if (!ops)
		return ERR_INVALID;
	if (!ops->restore)
		return nothing_kept("restore into", ret_problem);
	return ops->restore(place, source, how, ret_copy, ret_problem);
}
