/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a task wrote, from the store, a piece at a time: the next piece is read only when the
 * client has taken the last ones. With `follow` it goes on until the task has ended.
 *
 *   read -> write -> (more there? drained? -> read) -> (followed: wait for news -> read) -> marks,
 * end
 */
#include <stdio.h>
#include <string.h>

#include "api/frame/call.h"
#include "api/tasks/log_tail.h"
#include "model/limits.h"
#include "model/task/history.h"

#define PIECE_BYTES (64u << 10)

struct logs {
	struct buf text[N_STREAMS]; /* the piece just read */
	int64_t offset[N_STREAMS];
	int64_t damaged; /* so many bytes until now */
	char last;       /* byte sent, if any was */
	bool wanted[N_STREAMS];
	int64_t attempt; /* asked for; 0: the present one, and those after it; -1: the one before */
	int64_t token;   /* of the attempt being read; 0: not begun */
	int64_t tail;    /* the last lines only; -1: all of them, or that is done */
	int64_t from;    /* the first byte's offset, where lines were counted */
	bool follow, started, reading, news, draining, more;
	void *watch;
};

static call_fn logs_read;

static void logs_over(struct call *c)
{
	struct logs *l = c->state;

	if (l->watch)
		c->host->unwatch_output(c->host->arg, l->watch);
	l->watch = NULL;
}

static void logs_free(struct call *c)
{
	struct logs *l = c->state;

	for (int i = 0; i < N_STREAMS; i++)
		buf_release(&l->text[i]);
}

/* Counted back from the present attempt; 0: there are not so many. */
static int64_t earlier_token(const struct task_state *s, int64_t back)
{
	struct str rest = s->history;
	struct attempt one;
	int64_t n = 0, token = 0;

	while (history_next(&rest, &one))
		n += one.token != s->token;
	rest = s->history;
	for (n -= back; n >= 0 && history_next(&rest, &one); n--)
		token = one.token;
	return n < 0 ? token : 0;
}

/* The token of the attempt that was asked for; 0: there is none (yet). */
static int64_t wanted_token(const struct logs *l, const struct task_state *s)
{
	struct str rest = s->history;
	struct attempt one;

	/* the one before, whatever its number is */
	if (l->attempt < 0)
		return earlier_token(s, -l->attempt);
	if (!l->attempt || l->attempt == s->attempt)
		return s->token;
	while (history_next(&rest, &one))
		if (one.number == l->attempt)
			return one.token;
	return 0;
}

/* On the reader thread. More is set when a piece came back full. */
static int read_streams(struct store_reader *r, struct call *c)
{
	struct logs *l = c->state;
	struct output_end end;
	int rc;

	l->more = false;
	for (int i = 0; i < N_STREAMS; i++) {
		buf_reset(&l->text[i]);
		if (!l->wanted[i] || !l->token || (l->more && !l->follow))
			continue;
		rc = store_output(
		    r, c->about, l->token, i, l->offset[i], PIECE_BYTES, &l->text[i], &end);
		if (rc && rc != ERR_NOT_FOUND)
			return rc;
		l->offset[i] = end.at;
		l->damaged += end.damaged;
		l->more |= l->text[i].n >= PIECE_BYTES;
	}
	return 0;
}

/* What was there when it was asked for begins with its last lines. */
static int skip_to_tail(struct store_reader *r, struct call *c)
{
	struct logs *l = c->state;
	int rc = 0;

	for (int i = 0; i < N_STREAMS && rc == 0 && l->tail >= 0 && l->token; i++) {
		if (l->wanted[i])
			rc = log_tail(r, c->about, l->token, i, l->tail, &l->offset[i]);
		if (l->wanted[i])
			l->from = l->offset[i];
	}
	l->tail = -1;
	return rc;
}

static void read_piece(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct logs *l = c->state;
	int64_t token;

	c->code = store_task_get(r, c->about, &c->row_arena, &c->row);
	if (!c->code && c->row.damage & DAMAGED_STATE)
		c->code = ERR_STORE; /* nobody knows which attempt was the last */
	if (c->code)
		return;
	token = wanted_token(l, &c->row.state);
	if (!l->token)
		l->token = token;
	c->code = skip_to_tail(r, c);
	if (!c->code)
		c->code = read_streams(r, c);
	if (c->code || l->text[STDOUT].n || l->text[STDERR].n || token == l->token)
		return;
	/* the attempt before is read to its end: on to the one that followed it */
	l->token = token;
	memset(l->offset, 0, sizeof l->offset);
	c->code = read_streams(r, c);
}

static void logs_look(struct call *c)
{
	struct logs *l = c->state;

	l->reading = true;
	l->news = false;
	arena_reset(&c->row_arena);
	call_read_long(c, read_piece, logs_read);
}

static void drained(void *arg)
{
	struct call *c = arg;
	struct logs *l = c->state;

	if (!l->draining)
		return;
	l->draining = false;
	if (!l->reading)
		logs_look(c);
}

static void output_news(void *arg)
{
	struct call *c = arg;
	struct logs *l = c->state;

	l->news = true;
	if (!l->reading && !l->draining)
		logs_look(c);
}

static void mark_begin(const struct logs *l, struct buf *b)
{
	char last = b->n ? b->p[b->n - 1] : l->last;

	buf_add_cstr(b, last && last != '\n' ? "\n[reeve: " : "[reeve: ");
}

/* Of an ended task's chunks: so many bytes were kept, and are not there. */
static int64_t missing_bytes(const struct logs *l, const struct task_state *s, int stream)
{
	int64_t n = s->output_bytes[stream] - l->offset[stream];

	return s->output_where == OUTPUT_CHUNKS && task_is_ended(s->status) && n > 0 ? n : 0;
}

/* A worker of an earlier version keeps less of mode inline: then what it kept is the limit. */
static int64_t output_limit(const struct queue_row *q, const struct task_state *s, int stream)
{
	int64_t kept = s->output_bytes[stream];

	return !q || s->output_where == OUTPUT_INLINE ? kept : queue_output_max(q);
}

static void add_stream_marks(struct call *c, int stream, struct buf *b)
{
	const struct queue_row *q = core_queue(c->host->core, c->row.spec.queue);
	const struct task_state *s = &c->row.state;
	const struct logs *l = c->state;
	int64_t missing = missing_bytes(l, s, stream);

	if (missing) {
		mark_begin(l, b);
		buf_printf(b, "%lld bytes of output are missing: the store is damaged]\n",
		    (long long)missing);
	}
	if (s->output_dropped[stream] > 0) {
		mark_begin(l, b);
		buf_printf(b, "%lld bytes of output dropped: the limit is %lld]\n",
		    (long long)s->output_dropped[stream], (long long)output_limit(q, s, stream));
	}
}

/* What the bytes cannot say of themselves, behind all of them. */
static void add_marks(struct call *c, struct buf *b)
{
	struct logs *l = c->state;

	if (l->damaged) {
		mark_begin(l, b);
		buf_printf(
		    b, "%lld bytes of output are damaged in the store]\n", (long long)l->damaged);
	}
	for (int i = 0; i < N_STREAMS && l->token == c->row.state.token; i++)
		if (l->wanted[i])
			add_stream_marks(c, i, b);
}

#define LOG_TYPE "text/plain; charset=utf-8"

/* So that whoever loses the connection knows where to go on. */
static void say_from(struct call *c)
{
	const struct logs *l = c->state;
	char text[24];

	if (!c->query[Q_TAIL].p || (l->wanted[STDOUT] && l->wanted[STDERR]))
		return;
	snprintf(text, sizeof text, "%lld", (long long)l->from);
	call_header(c, "Reeve-Offset", text);
}

static void stream_piece(struct call *c, bool at_end)
{
	const struct api_io *io = c->host->io;
	struct logs *l = c->state;

	if (!l->started)
		say_from(c);
	if (at_end && !l->started) { /* all of it in one piece: a plain answer with a length */
		call_text(c, 200, LOG_TYPE, buf_str(&c->out));
		return;
	}
	if (!l->started) {
		l->started = true;
		call_stream_start(c, LOG_TYPE);
	}
	if (c->out.n) {
		l->last = c->out.p[c->out.n - 1];
		io->stream_write(c->req.io, buf_str(&c->out));
	}
	if (at_end) {
		call_stream_end(c);
		return;
	}
	buf_reset(&c->out);
	if (io->stream_pending(c->req.io) > 0) {
		l->draining = true;
		logs_free(c); /* draining may take long, and calls may be many */
		buf_release(&c->out);
		io->stream_on_drain(c->req.io, drained, c);
	} else if (l->more || l->news) {
		logs_look(c);
	}
}

static void logs_read(struct call *c)
{
	struct logs *l = c->state;
	bool ended, at_end;

	l->reading = false;
	if (c->code && l->started) { /* too late to say so in another way */
		c->host->io->stream_write(
		    c->req.io, STR("\n[reeve: the rest cannot be read: the store is damaged]\n"));
		call_stream_end(c);
		return;
	}
	if (call_read_failed(c))
		return;
	if (!l->token && l->attempt && !l->follow) {
		problem_set(&c->problem, ERR_NOT_FOUND, "the task has no attempt %lld",
		    (long long)l->attempt);
		problem_field(&c->problem, "attempt");
		call_problem(c);
		return;
	}
	for (int i = 0; i < N_STREAMS; i++)
		buf_add_str(&c->out, buf_str(&l->text[i]));
	ended = task_is_ended(c->row.state.status) ||
	        (l->attempt && l->token && l->token != c->row.state.token);
	at_end = !l->more && (!l->follow || (ended && !l->news));
	if (at_end)
		add_marks(c, &c->out);
	stream_piece(c, at_end);
}

static bool which_streams(struct call *c, struct logs *l)
{
	struct str s = c->query[Q_STREAM];

	l->wanted[STDOUT] = !s.p || str_is(s, "both") || str_is(s, "stdout");
	l->wanted[STDERR] = !s.p || str_is(s, "both") || str_is(s, "stderr");
	if (!l->wanted[STDOUT] && !l->wanted[STDERR]) {
		problem_set(&c->problem, ERR_INVALID, "\"stream\" is stdout, stderr or both");
		problem_field(&c->problem, "stream");
	} else if (c->query[Q_OFFSET].p && l->wanted[STDOUT] && l->wanted[STDERR]) {
		problem_set(&c->problem, ERR_INVALID, "an offset needs one stream");
		problem_hint(&c->problem, "add stream=stdout or stream=stderr");
		problem_field(&c->problem, "offset");
	} else if (c->query[Q_OFFSET].p && c->query[Q_TAIL].p) {
		problem_set(&c->problem, ERR_INVALID, "\"offset\" and \"tail\" exclude each other");
		problem_field(&c->problem, "tail");
	} else {
		return true;
	}
	call_problem(c);
	return false;
}

static bool which_attempt(struct call *c, struct logs *l)
{
	if (!call_int(c, Q_ATTEMPT, -INT32_MAX, INT32_MAX, &l->attempt))
		return false;
	if (l->attempt || !c->query[Q_ATTEMPT].p)
		return true;
	problem_set(&c->problem, ERR_INVALID, "\"attempt\" counts from 1, or back from -1");
	problem_field(&c->problem, "attempt");
	call_problem(c);
	return false;
}

void task_logs(struct call *c)
{
	struct logs *l = call_state(c, sizeof *l);
	int64_t offset = 0;

	l->tail = -1;
	if (!call_path_id(c, &c->about) || !call_bool(c, Q_FOLLOW, &l->follow) ||
	    !call_int(c, Q_OFFSET, 0, INT64_MAX, &offset) ||
	    !call_int(c, Q_TAIL, 0, TAIL_LINES_MAX, &l->tail) || !which_attempt(c, l) ||
	    !which_streams(c, l))
		return;
	l->offset[STDOUT] = l->offset[STDERR] = offset;
	c->on_over = logs_over;
	c->on_free = logs_free;
	if (l->follow)
		l->watch = c->host->watch_output(c->host->arg, c->about, output_news, c);
	logs_look(c);
}
