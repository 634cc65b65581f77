/* SPDX-License-Identifier: Apache-2.0 */
/* Reading small files that somebody else may replace at any time. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "zones/internal.h"

static void close_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static int failed(struct problem *p, const char *path, int error)
{
	if (error == ENOENT || error == ENOTDIR)
		return problem_set(p, ERR_NOT_FOUND, "there is no file %s", path);
	return problem_set(p, ERR_IO, "%s cannot be read: %s", path, strerror(error));
}

static int64_t nanoseconds(const struct timespec *t)
{
	int64_t ns;

	if (__builtin_mul_overflow((int64_t)t->tv_sec, 1000000000, &ns))
		return 0;
	return ns + t->tv_nsec;
}

static struct file_mark mark_of(const struct stat *st)
{
	return (struct file_mark){
	    .device = st->st_dev,
	    .inode = st->st_ino,
	    .size = st->st_size,
	    .changed_ns = nanoseconds(&st->st_ctim),
	    .modified_ns = nanoseconds(&st->st_mtim),
	};
}

bool file_mark_eq(const struct file_mark *a, const struct file_mark *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->changed_ns == b->changed_ns && a->modified_ns == b->modified_ns;
}

int file_mark_read(const char *path, struct file_mark *ret_mark, struct problem *p)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return failed(p, path, errno);
	*ret_mark = mark_of(&st);
	return 0;
}

/* Until its end, however long it was said to be: it may grow meanwhile. */
static int read_all(int fd, const char *path, struct buf *out, struct problem *p)
{
	char chunk[16384];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof chunk)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return failed(p, path, errno);
		if (out->n + (size_t)n > CRON_TZIF_MAX)
			return problem_set(
			    p, ERR_INVALID, "%s has more than %d bytes", path, CRON_TZIF_MAX);
		buf_add(out, chunk, (size_t)n);
	}
	return 0;
}

int file_read(const char *path, struct buf *out, struct file_mark *ret_mark, struct problem *p)
{
	/* A pipe or a device must not hold us up before we have seen what it is. */
	AUTO(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int rc;

	if (fd < 0 || fstat(fd, &st) < 0)
		return failed(p, path, errno);
	if (!S_ISREG(st.st_mode))
		return problem_set(p, ERR_INVALID, "%s is not a regular file", path);
	if (st.st_size > CRON_TZIF_MAX)
		return problem_set(
		    p, ERR_INVALID, "%s has more than %d bytes", path, CRON_TZIF_MAX);
	rc = read_all(fd, path, out, p);
	if (rc == 0)
		*ret_mark = mark_of(&st);
	return rc;
}
