/* SPDX-License-Identifier: Apache-2.0 */
#include "api/insight/subscriber.h"

#define HEARTBEAT_MS 15000
#define LAG_BYTES (8u << 10)    /* unread, and it is told no more until it has read them */
#define PIECE_BYTES (16u << 10) /* written at a time */
#define SLICE_MS 4
#define SLICE_BYTES (512u << 10)
#define UNTOLD_MAX 4096 /* of one commit; far less than the ring holds */

static void catch_up(void *subscriber);

static void no_longer_behind(struct subscriber *s)
{
	struct api *a = s->c->api;

	TAILQ_REMOVE(&a->behind, s, link);
	s->behind = false;
	if (!TAILQ_EMPTY(&a->behind) || !a->behind_timer)
		return;
	a->host.cancel_timer(a->host.arg, a->behind_timer);
	a->behind_timer = NULL;
}

static void subscriber_over(struct call *c)
{
	struct subscriber *s = c->state;

	if (s->joined)
		TAILQ_REMOVE(&c->api->subscribers, s, link);
	if (s->behind)
		no_longer_behind(s);
	if (s->timer)
		c->host->cancel_timer(c->host->arg, s->timer);
	s->joined = false;
	s->timer = NULL;
	buf_release(&s->text);
}

static void join(struct subscriber *s)
{
	s->joined = true;
	TAILQ_INSERT_TAIL(&s->c->api->subscribers, s, link);
}

/*
 * The subscriber does not read as fast as things happen. What it was not told yet is in the ring,
 * from where it goes on once it has read the rest: until then it costs nothing.
 */
static void leave(struct subscriber *s)
{
	struct call *c = s->c;

	if (s->joined)
		TAILQ_REMOVE(&c->api->subscribers, s, link);
	s->joined = false;
	s->last_seq = s->sent_seq;
	buf_release(&s->text);
	c->host->io->stream_on_drain(c->req.io, catch_up, s);
}

static void flush(struct subscriber *s)
{
	const struct api_io *io = s->c->host->io;

	if (s->text.n == 0 && !s->is_over) {
		s->sent_seq = s->last_seq; /* nothing of it was for this one */
		return;
	}
	if (io->stream_pending(s->c->req.io) > LAG_BYTES) {
		leave(s);
		return;
	}
	io->stream_write(s->c->req.io, buf_str(&s->text));
	buf_release(&s->text); /* there may be many, and most are quiet */
	s->sent_seq = s->last_seq;
	if (s->is_over)
		call_stream_end(s->c);
}

static bool past_notice(const struct notice *n, void *arg)
{
	struct subscriber *s = arg;

	if (n->seq <= s->last_seq)
		return true;
	s->more = s->text.n > PIECE_BYTES;
	if (s->more)
		return false;
	s->last_seq = n->seq;
	s->kind->tell(s, n);
	return true;
}

static void heartbeat(void *arg)
{
	struct subscriber *s = arg;
	const struct api_host *h = s->c->host;

	s->timer = h->timer(h->arg, HEARTBEAT_MS, heartbeat, s);
	if (h->io->stream_pending(s->c->req.io) > 0)
		return; /* the client has something left to read */
	buf_add_cstr(&s->text, ": still here\n\n");
	flush(s);
}

/* From the place asked for on. */
static void replay(struct subscriber *s)
{
	const struct api_host *h = s->c->host;
	uint64_t last = h->last_seq(h->arg), after = s->last_seq;

	s->more = false;
	if (after <= last && h->replay(h->arg, after, past_notice, s))
		return;
	s->last_seq = last;
	s->kind->gap(s, after);
}

/* Returns how much it was told. */
static size_t tell_past(struct subscriber *s)
{
	const struct api_io *io = s->c->host->io;
	size_t n;

	if (io->stream_pending(s->c->req.io) > LAG_BYTES) {
		leave(s);
		return 0;
	}
	replay(s);
	if (s->kind->told)
		s->kind->told(s);
	if (s->more)
		io->stream_on_drain(s->c->req.io, catch_up, s);
	else
		join(s);
	n = s->text.n;
	flush(s);
	return n;
}

/* The subscribers in line, until it is the others' turn. What they are told is to be sent in the
 * next turn, which takes longer than the telling. */
static void tell_some(struct api *a)
{
	const struct api_host *h = &a->host;
	int64_t begun = h->mono_ms(h->arg);
	struct subscriber *s;
	size_t bytes = 0;

	while ((s = TAILQ_FIRST(&a->behind)) && bytes < SLICE_BYTES &&
	       h->mono_ms(h->arg) - begun < SLICE_MS) {
		no_longer_behind(s);
		bytes += tell_past(s);
	}
}

static void tell_all(struct api *a)
{
	struct subscriber *s;

	while ((s = TAILQ_FIRST(&a->behind))) {
		no_longer_behind(s);
		tell_past(s);
	}
}

static void tell_behind(void *arg)
{
	struct api *a = arg;

	a->behind_timer = NULL;
	tell_some(a);
	if (!TAILQ_EMPTY(&a->behind))
		a->behind_timer = a->host.timer(a->host.arg, 0, tell_behind, a);
}

static void stand_in_line(struct subscriber *s)
{
	struct api *a = s->c->api;

	s->behind = true;
	TAILQ_INSERT_TAIL(&a->behind, s, link);
	if (!a->behind_timer)
		a->behind_timer = a->host.timer(a->host.arg, 0, tell_behind, a);
}

/* The subscriber has read what it was told. */
static void catch_up(void *arg)
{
	struct subscriber *s = arg;

	if (!s->joined && !s->behind)
		stand_in_line(s);
}

static void all_stand_in_line(struct api *a)
{
	struct subscriber *s;

	a->untold = 0;
	while ((s = TAILQ_FIRST(&a->subscribers))) {
		TAILQ_REMOVE(&a->subscribers, s, link);
		s->joined = false;
		stand_in_line(s);
	}
}

/* NULL: the commit is complete. */
void subscribers_notice(struct api *a, const struct notice *n)
{
	if (TAILQ_EMPTY(&a->subscribers) || (!n && !a->untold))
		return;
	if (n && ++a->untold < UNTOLD_MAX)
		return;
	all_stand_in_line(a);
	if (n)
		tell_all(a); /* the ring must not overtake them */
	else
		tell_some(a);
}

void subscriber_begin(struct subscriber *s, struct call *c, const struct subscription *kind)
{
	struct str at = c->req.last_event_id.p ? c->req.last_event_id : c->query[Q_AFTER];
	int64_t after = 0;

	s->c = c;
	s->kind = kind;
	if (at.p && !str_to_i64(at, 0, INT64_MAX, &after)) {
		problem_set(&c->problem, ERR_INVALID, "the place to resume from is not a number");
		problem_hint(&c->problem, "give the id of the last event that was seen");
		problem_field(&c->problem, c->req.last_event_id.p ? "Last-Event-ID" : "after");
		call_problem(c);
		return;
	}
	c->on_over = subscriber_over;
	call_header(c, "Cache-Control", "no-store");
	call_header(c, "X-Accel-Buffering", "no");
	call_stream_start(c, "text/event-stream");
	buf_add_cstr(&s->text, ": reeve\nretry: 2000\n\n");
	s->timer = c->host->timer(c->host->arg, HEARTBEAT_MS, heartbeat, s);
	s->last_seq = at.p ? (uint64_t)after : c->host->last_seq(c->host->arg);
	s->sent_seq = s->last_seq;
	if (kind->begin)
		kind->begin(s);
	if (at.p && !s->is_over) {
		tell_past(s);
	} else {
		join(s);
		flush(s);
	}
}
