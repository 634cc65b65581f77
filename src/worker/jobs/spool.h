/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output on its way: a bounded file on the local disk for one stream of one attempt. Bytes go from
 * the pipe to the file inside the kernel (splice), so what has left the pipe is in the file even
 * if the worker is killed in the middle; they are taken out in order when there is room further on.
 *
 * Positions count the bytes of the stream from its beginning, marks included:
 *
 *     0 ....... base ....... start ======= read ======= end [held] [gap]
 *               first in     first still   next to be   in memory  thrown away, and
 *               the file     on disk       taken                   not yet marked
 *
 * With `keep` the file has a name and a header, what was taken stays until it is called safe, and
 * another process can go on with it; the bound is for what was not taken. Without, it has no name
 * and is gone with its descriptor.
 *
 * A disk that cannot take more (full, over a quota, gone) is like a full spool; when nothing else
 * is unread, a little goes through memory, so that a full disk slows a task but never stops it.
 * The process must ignore SIGXFSZ.
 */
#ifndef WORKER_SPOOL_H
#define WORKER_SPOOL_H

#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "model/run/settings.h"

#define SPOOL_LEAST 4096     /* a smaller bound is raised to this */
#define SPOOL_HELD_MAX 65536 /* bytes that may be in memory */
#define SPOOL_MARK_MAX 96    /* a mark; the file may be that much longer than its bound */

struct spool {
	char *path; /* NULL: not open */
	bool keep;
	bool no_splice; /* the file system, or the source, is not able to */
	bool ended;
	int32_t policy; /* enum output_policy */
	int fd;         /* -1 until something has to go to disk */
	int64_t max;
	int64_t base, start, read, end;
	int64_t safe;    /* kept: nobody will ask for what lies before that … */
	int64_t hollow;  /* … and up to there no content stands behind what is asked for */
	int64_t gap;     /* thrown away behind what is stored */
	int64_t dropped; /* in all */
	struct buf held; /* on its way to the disk, when that cannot take it; then a mark */
	size_t held_at;
};

/* Makes `dir` (0700) if need be. The policy is OUTPUT_SLOW; no file is made yet. */
int spool_open(struct spool *s, const char *dir, const char *name, bool keep, int64_t max,
    struct problem *ret_problem);
/* What another process has kept, from its first byte still there; no such file: an empty one. */
int spool_reopen(
    struct spool *s, const char *dir, const char *name, int64_t max, struct problem *ret_problem);
void spool_policy(struct spool *s, enum output_policy policy);

/*
 * Moves up to `most` bytes out of the pipe. 0 at the end of the stream; -1 with errno: EAGAIN when
 * there is nothing now, EFBIG when the spool is full and its policy is slow: do not ask again
 * before something was taken. With the policy drop, thrown away bytes count as moved; a mark stands
 * where they are missing, once per gap, with the count.
 */
ssize_t spool_fill(struct spool *s, int pipe_fd, size_t most);
/* Nothing more will come, whoever may still hold the pipe: what was dropped last gets its mark. */
void spool_end(struct spool *s);
size_t spool_take(struct spool *s, char *out, size_t size);
int64_t spool_unread(const struct spool *s);
/*
 * Kept: of what was taken, only these bytes matter to another process that goes on. What lies
 * before them is given back, what lies behind reads as NULs then.
 */
void spool_need(struct spool *s, int64_t from, int64_t to);

int64_t spool_position(const struct spool *s); /* of the next byte that is taken */
/* Goes on with that byte of the stream, or the nearest that is there; returns which. */
int64_t spool_seek(struct spool *s, int64_t position);

void spool_close(struct spool *s, bool remove); /* once more, or on a zeroed one: nothing */

/*
 * At the worker's start: removes the files for which `wanted` is false. Links are removed, not
 * followed; directories are left alone. Makes `dir` (0700) if need be. Returns how many went.
 */
int spool_sweep(const char *dir, bool (*wanted)(const char *name, void *arg), void *arg,
    struct problem *ret_problem);

#endif
