/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/jobs/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "worker/jobs/spool_file.h"

#define LAZY_BYTES (256 << 10) /* space is given back in pieces of about that */

static int begin(
    struct spool *s, const char *dir, const char *name, bool keep, int64_t max, struct problem *p)
{
	*s = (struct spool){.fd = -1, .keep = keep, .max = max < SPOOL_LEAST ? SPOOL_LEAST : max};
	if (!*name || name[0] == '.' || strchr(name, '/') || strlen(name) > NAME_MAX)
		return problem_set(p, ERR_INVALID, "\"%.100s\" is no name for a spool", name);
	if (spool_make_dir(dir, p) < 0)
		return ERR_IO;
	s->path = xasprintf("%s/%s", dir, name);
	return 0;
}

int spool_open(
    struct spool *s, const char *dir, const char *name, bool keep, int64_t max, struct problem *p)
{
	int r = begin(s, dir, name, keep, max, p);

	if (r == 0 && keep)
		unlink(s->path); /* or a reopen would find what was there before */
	return r;
}

int spool_reopen(struct spool *s, const char *dir, const char *name, int64_t max, struct problem *p)
{
	int r = begin(s, dir, name, true, max, p);

	if (r == 0)
		r = spool_load(s, p);
	if (r < 0)
		spool_close(s, false);
	return r;
}

void spool_policy(struct spool *s, enum output_policy policy)
{
	s->policy = policy;
}

void spool_close(struct spool *s, bool remove)
{
	if (!s->path)
		return;
	if (s->fd >= 0)
		close(s->fd);
	if (s->keep && remove)
		unlink(s->path);
	buf_release(&s->held);
	free(TAKE(s->path));
	s->fd = -1;
}

static int64_t in_memory(const struct spool *s)
{
	return (int64_t)(s->held.n - s->held_at);
}

int64_t spool_unread(const struct spool *s)
{
	return s->end - s->read + in_memory(s);
}

int64_t spool_position(const struct spool *s)
{
	return s->read;
}

int64_t spool_seek(struct spool *s, int64_t position)
{
	int64_t most = position > s->end ? s->end : position;

	return s->read = most < s->start ? s->start : most;
}

/* -- to the disk */

/* What was taken and has to stay is bounded by whoever took it. */
static int64_t room_for(struct spool *s, int64_t bytes)
{
	if (s->keep)
		return s->max - (s->end - s->read);
	if (s->max - (s->end - s->start) < bytes)
		spool_give_back(s);
	return s->max - (s->end - s->start);
}

/* Appends what it can; returns how much. */
static size_t append(struct spool *s, const char *p, size_t n)
{
	size_t done = 0;

	if (s->fd < 0 && spool_create(s) < 0)
		return 0;
	while (done < n) {
		ssize_t r = pwrite(s->fd, p + done, n - done, spool_file_at(s, s->end));

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			break;
		done += (size_t)r;
		s->end += r;
	}
	return done;
}

static void write_held(struct spool *s)
{
	int64_t n = in_memory(s);

	if (n == 0 || room_for(s, n) < n)
		return;
	s->held_at += append(s, s->held.p + s->held_at, (size_t)n);
	if (s->held_at == s->held.n) {
		buf_reset(&s->held);
		s->held_at = 0;
	}
	if (s->gap)
		spool_note(s); /* the gap lies further back now */
}

static int mark_text(int64_t gap, char text[static SPOOL_MARK_MAX])
{
	return snprintf(text, SPOOL_MARK_MAX,
	    gap == 1 ? "\n[reeve: %" PRId64 " byte of output was dropped here]\n"
	             : "\n[reeve: %" PRId64 " bytes of output were dropped here]\n",
	    gap);
}

/* The whole mark or none of it; what a full disk has taken of it is written over later. */
static bool write_mark(struct spool *s)
{
	char text[SPOOL_MARK_MAX];
	size_t n = (size_t)mark_text(s->gap, text);
	int64_t before = s->end;

	if (append(s, text, n) < n) {
		s->end = before;
		return false;
	}
	s->gap = 0;
	spool_note(s);
	return true;
}

/* A gap ends when a good part is free again: else a slow reader would mostly read marks. */
static void settle(struct spool *s)
{
	write_held(s);
	if (s->gap && in_memory(s) == 0 && room_for(s, s->max) >= s->max / 4)
		write_mark(s);
}

void spool_end(struct spool *s)
{
	char text[SPOOL_MARK_MAX];

	s->ended = true;
	write_held(s);
	if (s->gap == 0 || (in_memory(s) == 0 && write_mark(s)))
		return;
	buf_add(&s->held, text, (size_t)mark_text(s->gap, text));
	s->gap = 0;
}

/* -- out of the pipe */

/* Is there something in it? 1 yes, 0 its end, -1 with EAGAIN. */
static int peek(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (poll(&p, 1, 0) < 0)
		return -1;
	if (p.revents & POLLIN)
		return 1;
	if (p.revents & (POLLHUP | POLLERR))
		return 0;
	errno = p.revents & POLLNVAL ? EBADF : EAGAIN;
	return -1;
}

static ssize_t read_into_memory(struct spool *s, int fd, size_t most)
{
	size_t n = most < SPOOL_HELD_MAX ? most : SPOOL_HELD_MAX;
	ssize_t r;

	buf_reserve(&s->held, n);
	r = read(fd, s->held.p + s->held.n, n);
	if (r > 0)
		s->held.n += (size_t)r;
	return r;
}

/* Where splice does not work; what the disk does not take stays in memory. */
static ssize_t copy(struct spool *s, int fd, size_t most)
{
	ssize_t n = read_into_memory(s, fd, most);

	if (n > 0)
		write_held(s);
	return n;
}

static ssize_t store(struct spool *s, int fd, size_t most)
{
	off_t at;
	ssize_t n;

	if (s->fd < 0) { /* no file for a stream without a byte */
		n = peek(fd);
		if (n <= 0)
			return n;
		if (spool_create(s) < 0)
			return -1;
	}
	if (s->no_splice)
		return copy(s, fd, most);
	at = spool_file_at(s, s->end);
	n = splice(fd, NULL, s->fd, &at, most, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
	if (n > 0)
		s->end += n;
	if (n >= 0 || (errno != EINVAL && errno != ENOSYS && errno != ESPIPE))
		return n;
	s->no_splice = true;
	return copy(s, fd, most);
}

static ssize_t throw_away(struct spool *s, int fd, size_t most)
{
	static char nowhere[SPOOL_HELD_MAX];
	ssize_t n = read(fd, nowhere, most < sizeof nowhere ? most : sizeof nowhere);

	if (n > 0) {
		s->gap += n;
		s->dropped += n;
		spool_note(s);
	}
	return n;
}

/* The file cannot take it. A task whose disk is full still goes on, a little at a time. */
static ssize_t overflow(struct spool *s, int fd, size_t most)
{
	if (spool_unread(s) == 0 && s->gap == 0)
		return read_into_memory(s, fd, most);
	if (s->policy == OUTPUT_DROP)
		return throw_away(s, fd, most);
	errno = EFBIG;
	return -1;
}

ssize_t spool_fill(struct spool *s, int fd, size_t most)
{
	int64_t room = 0;
	ssize_t n = -1;

	MUST(s->path && most > 0 && most <= SSIZE_MAX);
	settle(s);
	errno = EFBIG;
	if (s->gap == 0 && in_memory(s) == 0)
		room = room_for(s, (int64_t)most);
	if (room > 0)
		n = store(s, fd, room < (int64_t)most ? (size_t)room : most);
	if (n < 0 && errno != EAGAIN && errno != EINTR && errno != EBADF)
		n = overflow(s, fd, most);
	if (n == 0)
		spool_end(s);
	return n;
}

/* -- to the reader */

/* The disk does not give back what it took: as if it had been dropped. */
static void lose_stored(struct spool *s)
{
	int64_t lost = s->end - s->read;
	char text[SPOOL_MARK_MAX];
	struct buf held = {0};

	s->dropped += lost;
	buf_add(&held, text, (size_t)mark_text(lost, text));
	if (in_memory(s))
		buf_add(&held, s->held.p + s->held_at, (size_t)in_memory(s));
	buf_release(&s->held);
	s->held = held;
	s->held_at = 0;
	spool_start_anew(s, s->end);
}

static size_t take_stored(struct spool *s, char *out, size_t size)
{
	size_t wanted = (size_t)(s->end - s->read), done = 0;

	wanted = wanted < size ? wanted : size;
	while (done < wanted) {
		ssize_t n = pread(s->fd, out + done, wanted - done, spool_file_at(s, s->read));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			lose_stored(s);
			break;
		}
		done += (size_t)n;
		s->read += n;
	}
	return done;
}

static size_t take_held(struct spool *s, char *out, size_t size)
{
	size_t n = (size_t)in_memory(s);

	n = n < size ? n : size;
	memcpy(out, s->held.p + s->held_at, n);
	s->held_at += n;
	if (s->held_at == s->held.n) {
		buf_release(&s->held);
		s->held_at = 0;
	}
	spool_start_anew(s, s->end + (int64_t)n);
	return n;
}

static int64_t worth_it(const struct spool *s)
{
	return s->max / 4 < LAZY_BYTES ? s->max / 4 : LAZY_BYTES;
}

static void tidy(struct spool *s)
{
	if (s->keep)
		return; /* until it is safe */
	if (s->read == s->end)
		spool_start_anew(s, s->end);
	else if (s->read - s->start >= worth_it(s))
		spool_give_back(s);
}

size_t spool_take(struct spool *s, char *out, size_t size)
{
	size_t n = take_stored(s, out, size);

	if (s->read == s->end && in_memory(s) && n < size)
		n += take_held(s, out + n, size - n);
	tidy(s);
	return n;
}

void spool_need(struct spool *s, int64_t from, int64_t to)
{
	if (!s->keep)
		return;
	s->safe = from < s->read ? from : s->read;
	if (s->safe - s->start >= worth_it(s))
		spool_give_back(s);
	to = to > s->hollow ? to : s->hollow;
	if (s->read - to >= worth_it(s) && to > s->safe)
		spool_hollow(s, to);
}
