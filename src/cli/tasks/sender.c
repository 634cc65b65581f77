/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tasks/sender.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/output/output.h"
#include "model/limits.h"

#define AHEAD_BYTES (8 << 20) /* of what the process has read */
#define PATIENCE_MS 60000
#define SILENCE_PARTS 5 /* so often we are heard of before the server would give us up */
#define PAUSE_FIRST_MS 20
#define PAUSE_MOST_MS 1000

void sender_release(struct sender *s)
{
	call_abort(s->call);
	s->call = NULL;
	buf_release(&s->bytes);
	if (s->owns_fd && s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static void finish(struct sender *s, int result)
{
	s->done = true;
	s->result = result;
}

static bool is_ahead(const struct sender *s)
{
	return s->waits && s->acked - s->taken >= AHEAD_BYTES;
}

static bool wants_more(const struct sender *s)
{
	return !s->done && !s->call && !s->at_end && s->is_sure && !is_ahead(s) &&
	       s->bytes.n < INPUT_APPEND_MAX;
}

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

static void read_some(struct sender *s)
{
	char chunk[65536];

	while (wants_more(s) && is_readable(s->fd)) {
		size_t room = INPUT_APPEND_MAX - s->bytes.n;
		ssize_t n = read(s->fd, chunk, room < sizeof chunk ? room : sizeof chunk);

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			return;
		if (n < 0) {
			finish(s, problem_set(&s->c->problem, ERR_IO, "%.200s cannot be read: %s",
			              s->name, strerror(errno)));
			return;
		}
		s->at_end = n == 0;
		buf_add(&s->bytes, chunk, (size_t)n);
	}
}

static void begin(struct sender *s, bool only_asks)
{
	AUTO(free_cstr) char *path = NULL;
	struct request q = {.method = "POST", .content_type = "application/octet-stream"};

	s->n_sent = only_asks ? 0 : s->bytes.n;
	if (only_asks) {
		path = xasprintf("/v1/tasks/%s/input", s->id);
	} else {
		path = xasprintf("/v1/tasks/%s/input?offset=%lld%s", s->id, (long long)s->acked,
		    s->at_end ? "&end=true" : "");
		q.body = s->bytes.n ? buf_str(&s->bytes) : STR("");
	}
	q.path = path;
	s->call = client_start(s->c->client, &q);
}

/* What of it was sent before a connection broke may have come, all or nothing. */
static void take_standing(struct sender *s, const json_t *reply)
{
	int64_t new = ji(reply, "size", 0) - s->acked;

	if (new < 0 || new > (int64_t)s->bytes.n) {
		finish(s, problem_set(&s->c->problem, ERR_CONFLICT,
		              "somebody else has appended to the task's input"));
		return;
	}
	if (new > 0)
		memmove(s->bytes.p, s->bytes.p + new, s->bytes.n - (size_t) new);
	s->bytes.n -= (size_t) new;
	s->acked += new;
	s->is_sure = true;
	if (ji(reply, "taken", 0) > s->taken || new > 0)
		s->pause_ms = PAUSE_FIRST_MS;
	s->taken = ji(reply, "taken", 0);
	if (jb(reply, "ended"))
		finish(s, 0);
}

static void failed(struct sender *s, int r, const struct reply *reply, int64_t now_ms)
{
	if (s->failing_since_ms == 0)
		s->failing_since_ms = now_ms;
	if (!client_may_retry(r, reply) || now_ms - s->failing_since_ms >= PATIENCE_MS) {
		finish(s, r);
		return;
	}
	s->is_sure = false;
	s->ask_at_ms = now_ms + 200;
}

static void called(struct sender *s)
{
	AUTO(reply_release) struct reply reply = {0};
	AUTO(json_drop) json_t *standing = NULL;
	int64_t now_ms = clock_mono_ms();
	int r = call_finish(TAKE(s->call), &reply, &s->c->problem);

	if (r < 0) {
		failed(s, r, &reply, now_ms);
		return;
	}
	s->failing_since_ms = 0;
	standing = json_loadb(reply.body.p, reply.body.n, 0, NULL);
	take_standing(s, standing);
	s->ask_at_ms = now_ms + ji(standing, "silence_ms", 0) / SILENCE_PARTS;
	if (!s->done && is_ahead(s)) {
		s->ask_at_ms = now_ms + s->pause_ms;
		s->pause_ms = s->pause_ms * 2 > PAUSE_MOST_MS ? PAUSE_MOST_MS : s->pause_ms * 2;
	}
}

void sender_step(struct sender *s)
{
	if (s->fd < 0 || s->done)
		return;
	if (s->call && !call_is_done(s->call))
		return;
	if (s->call)
		called(s);
	read_some(s);
	if (s->done)
		return;
	if (s->is_sure && (s->bytes.n > 0 || s->at_end))
		begin(s, false);
	else if (clock_mono_ms() >= s->ask_at_ms)
		begin(s, true);
}

int64_t sender_wait_ms(struct sender *s, int64_t most_ms)
{
	bool is_on = s->fd >= 0 && !s->done;
	int64_t in_ms = is_on && !s->call ? s->ask_at_ms - clock_mono_ms() : most_ms;

	client_watch(s->c->client, is_on && wants_more(s) ? s->fd : -1);
	if (in_ms < 1)
		in_ms = 1;
	return in_ms < most_ms ? in_ms : most_ms;
}

int sender_finish(struct sender *s)
{
	for (sender_step(s); s->fd >= 0 && !s->done; sender_step(s))
		client_pump(s->c->client, sender_wait_ms(s, 1000));
	client_watch(s->c->client, -1);
	return s->result;
}

void sender_cancel(struct sender *s)
{
	struct problem why = s->c->problem;
	AUTO(free_cstr) char *path = xasprintf("/v1/tasks/%s/cancel", s->id);
	AUTO(free_cstr) char *reason = xasprintf("its input: %.200s", why.what);
	AUTO(json_drop) json_t *body = json_pack("{s:s}", "reason", reason), *reply = NULL;

	cli_call(s->c, "POST", path, body, &reply);
	s->c->problem = why;
}
