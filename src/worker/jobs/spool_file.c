/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kept file: a header, then bytes. The file's length is the truth about its end, since an append
 * can be cut short at any byte. What is not an append happens in an order that can be repeated:
 * `cut` is noted first and says where the file has to be cut if we are killed before it is taken
 * back. So a mark is never there twice, nor half.
 */
#include "worker/jobs/spool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define HEAD_BYTES 4096        /* a block of its own: bytes then lie at block borders */
#define PUNCH_ALIGN (64 << 10) /* at least the file system's block */
#define REUSE_BYTES (64 << 10) /* a small file is written over, not cut */
#define POSITION_MAX (INT64_MAX / 4)

struct head {
	char magic[8];
	int64_t base, start, gap;
	int64_t cut; /* -1: none */
};

static const char magic[8] = "RVSPOOL1";

off_t spool_file_at(const struct spool *s, int64_t position)
{
	return (off_t)(position - s->base + (s->keep ? HEAD_BYTES : 0));
}

static int write_head(struct spool *s, int64_t cut)
{
	struct head h = {.base = s->base, .start = s->start, .gap = s->gap, .cut = cut};

	if (!s->keep || s->fd < 0)
		return 0;
	memcpy(h.magic, magic, sizeof magic);
	return pwrite(s->fd, &h, sizeof h, 0) == (ssize_t)sizeof h ? 0 : -1;
}

void spool_note(struct spool *s)
{
	write_head(s, s->gap ? s->end : -1);
}

/* -- birth */

static int create_nameless(const char *path)
{
	AUTO(free_cstr) char *dir = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	AUTO(free_cstr) char *name = NULL;
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	name = xasprintf("%s/" SPOOL_PASSING_NAME "XXXXXX", dir);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}

int spool_create(struct spool *s)
{
	int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

	s->fd = s->keep ? open(s->path, flags, 0600) : create_nameless(s->path);
	if (s->fd < 0)
		return -1;
	if (write_head(s, -1) == 0)
		return 0;
	unlink(s->path);
	close(s->fd);
	s->fd = -1;
	return -1;
}

static int broken(struct spool *s, struct problem *p, const char *why)
{
	problem_set(p, ERR_IO, "%s is no spool that can be read: %s", s->path, why);
	return problem_hint(p, "What it held is lost; remove it.");
}

static const char *wrong_in(const struct head *h, int64_t length)
{
	int64_t bytes = length > HEAD_BYTES ? length - HEAD_BYTES : 0;

	if (memcmp(h->magic, magic, sizeof magic))
		return "it does not begin as one";
	if (h->base < 0 || h->base > POSITION_MAX || h->gap < 0 || h->gap > POSITION_MAX)
		return "its header cannot be";
	if (length > POSITION_MAX || h->start < h->base || h->start > h->base + bytes)
		return "it is shorter than its header says";
	if (h->cut != -1 && (h->cut < h->start || h->cut > h->base + bytes))
		return "it is shorter than its header says";
	return NULL;
}

static int take_over(struct spool *s, const struct head *h, int64_t length)
{
	s->base = h->base;
	s->start = s->read = h->start;
	s->gap = h->gap;
	s->end = h->base + (length > HEAD_BYTES ? length - HEAD_BYTES : 0);
	if (h->cut == -1)
		return 0;
	s->end = h->cut;
	if (ftruncate(s->fd, spool_file_at(s, s->end)) < 0)
		return -1;
	spool_note(s);
	return 0;
}

int spool_load(struct spool *s, struct problem *p)
{
	struct head h = {.base = -1};
	struct stat st;
	const char *wrong;

	/* non-blocking, because a FIFO of that name would wait for its other end */
	s->fd = open(s->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (s->fd < 0 && errno == ENOENT)
		return 0;
	if (s->fd < 0 || fstat(s->fd, &st) < 0)
		return broken(s, p, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return broken(s, p, "it is not a plain file of this user");
	if (st.st_size == 0) /* killed between the file's birth and its header: nothing was in it */
		return write_head(s, -1) < 0 ? broken(s, p, strerror(errno)) : 0;
	if (pread(s->fd, &h, sizeof h, 0) != (ssize_t)sizeof h)
		return broken(s, p, "it ends within its header");
	wrong = wrong_in(&h, st.st_size);
	if (wrong)
		return broken(s, p, wrong);
	return take_over(s, &h, st.st_size) < 0 ? broken(s, p, strerror(errno)) : 0;
}

/* -- space */

void spool_start_anew(struct spool *s, int64_t position)
{
	bool cut = s->keep || s->end - s->base > REUSE_BYTES;

	s->base = s->start = s->read = s->end = position;
	if (s->fd < 0 || !cut)
		return;
	write_head(s, position);
	if (ftruncate(s->fd, spool_file_at(s, position)) == 0)
		spool_note(s);
}

/* The header first: what it calls gone may still be there, but never the other way round. */
void spool_give_back(struct spool *s)
{
	int64_t before = s->start, until = s->keep ? s->safe : s->read;
	off_t from = spool_file_at(s, s->start), to = spool_file_at(s, until);
	off_t first = spool_file_at(s, s->base);

	if (s->fd < 0 || s->start >= until)
		return;
	from -= from % PUNCH_ALIGN; /* the block that the last hole ended in was not freed */
	from = from < first ? first : from;
	s->start = until;
	spool_note(s);
	if (fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, to - from) == 0)
		return;
	s->start = before;
	spool_note(s);
	if (until == s->end)
		spool_start_anew(s, s->end);
}

void spool_hollow(struct spool *s, int64_t from)
{
	off_t first = spool_file_at(s, from), last = spool_file_at(s, s->read);

	if (s->fd >= 0)
		fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, first, last - first);
	s->hollow = s->read;
}
