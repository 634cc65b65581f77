/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Up to 16 MiB of each stream lie in chunks, like all large output: a row of that size would be
 * read and written whole by everything that touches the task. They are put into the answer's JSON
 * as it is sent, a piece at a time, so that no answer is ever held whole.
 */
#include "api/tasks/whole_task.h"

#include "api/objects/show.h"

#define PIECE_BYTES (64u << 10)

struct whole {
	struct buf json; /* the task around its output */
	size_t at[N_STREAMS];
	size_t sent; /* of that */
	int stream;
	int64_t token, offset;
	struct buf piece;
	bool draining;
};

static call_fn piece_read;

bool whole_task_is_large(const struct call *c)
{
	const struct task_state *s = &c->row.state;
	const struct queue_row *q = core_queue(c->host->core, c->row.spec.queue);

	return q && q->output_mode == OUTPUT_MODE_INLINE && s->output_where == OUTPUT_CHUNKS &&
	       task_is_ended(s->status) && s->output_bytes[STDOUT] <= OUTPUT_INLINE_MAX &&
	       s->output_bytes[STDERR] <= OUTPUT_INLINE_MAX;
}

static void whole_free(struct call *c)
{
	struct whole *w = c->state;

	buf_release(&w->json);
	buf_release(&w->piece);
}

static void read_piece(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct whole *w = c->state;
	struct output_end end;

	buf_reset(&w->piece);
	c->code =
	    store_output(r, c->about, w->token, w->stream, w->offset, PIECE_BYTES, &w->piece, &end);
}

static void look(struct call *c)
{
	call_read_long(c, read_piece, piece_read);
}

static void drained(void *arg)
{
	struct call *c = arg;
	struct whole *w = c->state;

	if (!w->draining)
		return;
	w->draining = false;
	look(c);
}

/* Without the first bytes of a character whose others are in the next piece. */
static size_t whole_characters(struct str s)
{
	for (size_t back = 1; back <= 3 && back < s.n; back++) {
		unsigned char byte = (unsigned char)s.p[s.n - back];

		if ((byte & 0xc0) == 0x80)
			continue;
		return byte >= 0xc0 ? s.n - back : s.n;
	}
	return s.n;
}

static void add_json_up_to(struct call *c, size_t end)
{
	struct whole *w = c->state;

	buf_add(&c->out, w->json.p + w->sent, end - w->sent);
	w->sent = end;
}

/* The stream is over: on to the next, if there is one. */
static void next_stream(struct call *c)
{
	struct whole *w = c->state;

	w->offset = 0;
	add_json_up_to(c, ++w->stream < N_STREAMS ? w->at[w->stream] : w->json.n);
}

static void send(struct call *c)
{
	const struct api_io *io = c->host->io;
	struct whole *w = c->state;

	io->stream_write(c->req.io, buf_str(&c->out));
	buf_reset(&c->out);
	if (w->stream == N_STREAMS) {
		call_stream_end(c);
	} else if (io->stream_pending(c->req.io) > 0) {
		w->draining = true;
		io->stream_on_drain(c->req.io, drained, c);
	} else {
		look(c);
	}
}

static void piece_read(struct call *c)
{
	struct whole *w = c->state;
	struct str text = buf_str(&w->piece);

	if (c->code) { /* too late to say so in another way: what was sent is no JSON */
		call_stream_end(c);
		return;
	}
	if (text.n > PIECE_BYTES)
		text.n = PIECE_BYTES;
	if (text.n == PIECE_BYTES)
		text.n = whole_characters(text);
	jw_text(&c->out, text);
	w->offset += (int64_t)text.n;
	if (text.n == 0)
		next_stream(c);
	send(c);
}

void whole_task_show(struct call *c)
{
	struct whole *w = call_state(c, sizeof *w);

	c->on_over = NULL;
	c->on_free = whole_free;
	w->token = c->row.state.token;
	show_task_around(&w->json, c->api, &c->row, w->at);
	call_stream_start(c, "application/json");
	add_json_up_to(c, w->at[STDOUT]);
	send(c);
}
