/* SPDX-License-Identifier: Apache-2.0 */
/* Following one stream of a task's output; a broken connection goes on where it stopped. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/tasks/work.h"

#define PATIENCE_MS 60000

/* 0, or why it could not be written. Who has closed the descriptor himself wants to see nothing. */
static int write_all(int fd, struct str s)
{
	while (s.n > 0) {
		ssize_t n = write(fd, s.p, s.n);

		if (n < 0 && errno == EAGAIN) {
			struct pollfd p = {.fd = fd, .events = POLLOUT};

			poll(&p, 1, -1);
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EBADF ? 0 : errno;
		s.p += n;
		s.n -= (size_t)n;
	}
	return 0;
}

static void put(struct follower *f, struct str s)
{
	if (!f->write_error)
		f->write_error = write_all(f->fd, s);
}

/* what is left is a line, too */
static void log_lines_end(struct log_lines *l)
{
	if (l->part.n)
		buf_printf(&l->out, "%s" STR_FMT "\n", l->prefix, STR_ARG(buf_str(&l->part)));
	buf_reset(&l->part);
}

static void log_lines_add(struct log_lines *l, struct str bytes)
{
	while (bytes.n > 0) {
		const char *end = memchr(bytes.p, '\n', bytes.n);
		size_t n = end ? (size_t)(end - bytes.p) : bytes.n;
		size_t room = LOG_LINE_MAX - l->part.n, take = n < room ? n : room;

		buf_add(&l->part, bytes.p, take);
		if (end && take == n) {
			buf_add_cstr(&l->out, l->prefix);
			buf_add_str(&l->out, buf_str(&l->part));
			buf_add_char(&l->out, '\n');
			buf_reset(&l->part);
			take++;
		} else if (l->part.n == LOG_LINE_MAX) {
			log_lines_end(l);
		}
		bytes.p += take;
		bytes.n -= take;
	}
}

void log_lines_release(struct log_lines *l)
{
	buf_release(&l->part);
	buf_release(&l->out);
}

static void write_lines(struct follower *f)
{
	put(f, buf_str(&f->lines->out));
	buf_reset(&f->lines->out);
}

static void on_bytes(struct str bytes, void *arg)
{
	struct follower *f = arg;

	if (f->tail && f->offset == 0)
		f->offset = call_offset(f->call);
	f->offset += (int64_t)bytes.n;
	f->failing_since_ms = 0;
	f->tries = 0;
	if (!f->lines) {
		put(f, bytes);
		return;
	}
	log_lines_add(f->lines, bytes);
	write_lines(f);
}

static void begin(struct follower *f)
{
	AUTO(buf_release) struct buf path = {0};
	struct request q = {.method = "GET", .on_data = on_bytes, .arg = f};
	char offset[24];

	buf_add_cstr(&path, "/v1/tasks");
	url_add_path(&path, f->id);
	buf_add_cstr(&path, "/logs");
	url_add(&path, "stream", f->stream);
	if (f->follow)
		url_add(&path, "follow", "true");
	if (f->attempt)
		url_add(&path, "attempt", f->attempt);
	if (f->offset > 0) {
		snprintf(offset, sizeof offset, "%lld", (long long)f->offset);
		url_add(&path, "offset", offset);
	} else if (f->tail) {
		url_add(&path, "tail", f->tail);
	}
	q.path = path.p;
	f->call = client_start(f->c->client, &q);
}

static void ended(struct follower *f)
{
	AUTO(reply_release) struct reply reply = {0};
	int64_t now = clock_mono_ms();
	int r = call_finish(TAKE(f->call), &reply, &f->c->problem);

	if (r < 0 && f->failing_since_ms == 0)
		f->failing_since_ms = now;
	if (r < 0 && client_may_retry(r, &reply) && now - f->failing_since_ms < PATIENCE_MS) {
		f->retry_at_ms = now + (100ll << (f->tries < 4 ? f->tries : 4));
		f->tries++;
		return;
	}
	f->done = true;
	f->result = r;
	if (f->lines) {
		log_lines_end(f->lines);
		write_lines(f);
	}
}

/* Moves it on; never blocks. Call client_pump between. */
static void follower_step(struct follower *f)
{
	if (f->done)
		return;
	if (f->call && call_is_done(f->call))
		ended(f);
	if (!f->done && !f->call && clock_mono_ms() >= f->retry_at_ms)
		begin(f);
}

bool followers_step(struct follower streams[2], bool in_turn)
{
	follower_step(&streams[0]);
	if (!in_turn || streams[0].done)
		follower_step(&streams[1]);
	return !streams[0].done || !streams[1].done;
}
