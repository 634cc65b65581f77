/* SPDX-License-Identifier: Apache-2.0 */
/* Following one stream of a task's output; a broken connection goes on where it stopped. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/tasks/work.h"

#define PATIENCE_MS 60000

static void write_all(int fd, struct str s)
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
			return; /* nobody reads; the task goes on all the same */
		s.p += n;
		s.n -= (size_t)n;
	}
}

static void on_bytes(struct str bytes, void *arg)
{
	struct follower *f = arg;

	f->offset += (int64_t)bytes.n;
	f->failing_since_ms = 0;
	f->tries = 0;
	write_all(f->fd, bytes);
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
}

void follower_step(struct follower *f)
{
	if (f->done)
		return;
	if (f->call && call_is_done(f->call))
		ended(f);
	if (!f->done && !f->call && clock_mono_ms() >= f->retry_at_ms)
		begin(f);
}
