/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/output.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/mutant.h"
#include "model/limits.h"
#include "model/objects/queue.h"

#define INLINE_STREAM_MAX (1 << 20) /* of one that travels inside the end */
#define FLUSH_FIRST_MS 250

void output_init(struct output *o, int32_t mode, int64_t max)
{
	*o = (struct output){.mode = mode, .max = max > 0 ? max : OUTPUT_MAX_DEFAULT};
	if (mode == OUTPUT_MODE_INLINE && o->max > OUTPUT_INLINE_MAX)
		o->max = OUTPUT_INLINE_MAX;
	o->flush_every_ms = FLUSH_FIRST_MS;
	for (int i = 0; i < N_STREAMS; i++)
		STAILQ_INIT(&o->streams[i].chunks);
}

static void drop_first(struct stream *s)
{
	struct chunk *c = STAILQ_FIRST(&s->chunks);

	STAILQ_REMOVE_HEAD(&s->chunks, next);
	buf_release(&c->bytes);
	free(c);
}

void output_drop(struct output *o)
{
	for (int i = 0; i < N_STREAMS; i++) {
		while (!STAILQ_EMPTY(&o->streams[i].chunks))
			drop_first(&o->streams[i]);
		buf_release(&o->streams[i].whole);
	}
}

void output_release(struct output *o)
{
	output_drop(o);
}

static struct chunk *open_chunk(struct stream *s)
{
	struct chunk *c = STAILQ_LAST(&s->chunks, chunk, next);

	if (c && c->bytes.n < OUTPUT_CHUNK_BYTES)
		return c;
	c = xcalloc(1, sizeof *c);
	c->offset = s->kept;
	STAILQ_INSERT_TAIL(&s->chunks, c, next);
	return c;
}

size_t output_add(struct output *o, int stream, struct str data)
{
	struct stream *s = &o->streams[stream];
	int64_t room = o->discard ? 0 : o->max - s->kept;
	size_t keep = (int64_t)data.n < room ? data.n : (size_t)room;

	s->dropped += (int64_t)(data.n - keep);
	data.n = keep;
	/* too much for the end: on its way like all large output, and put together by the server */
	if (o->mode == OUTPUT_MODE_INLINE && s->kept + (int64_t)keep > INLINE_STREAM_MAX)
		o->mode = OUTPUT_MODE_CHUNKS;
	while (data.n > 0) {
		struct chunk *c = open_chunk(s);
		size_t fits = OUTPUT_CHUNK_BYTES - c->bytes.n;
		size_t n = data.n < fits ? data.n : fits;

		buf_add(&c->bytes, data.p, n);
		s->kept += (int64_t)n;
		data.p += n;
		data.n -= n;
	}
	return keep;
}

int64_t output_kept(const struct output *o)
{
	return o->streams[STDOUT].kept + o->streams[STDERR].kept;
}

int64_t output_unacked(const struct output *o)
{
	const struct stream *s = o->streams;

	if (o->discard || o->mode == OUTPUT_MODE_INLINE)
		return 0;
	return s[STDOUT].kept - s[STDOUT].acked + s[STDERR].kept - s[STDERR].acked;
}

void output_cut(struct output *o)
{
	for (int i = 0; i < N_STREAMS; i++) {
		struct stream *s = &o->streams[i];

		s->dropped += s->kept - s->acked;
		s->kept = s->acked;
	}
}

int64_t output_ack(struct output *o, int stream, int64_t end)
{
	struct stream *s = &o->streams[stream];
	struct chunk *c;
	int64_t before = s->acked;

	if (end > s->kept)
		end = s->kept; /* more than we have: not our worry */
	if (end <= s->acked)
		return 0;
	s->acked = end;
	/* an unsealed chunk stays: it will be sent again, whole, as it grows */
	while ((c = STAILQ_FIRST(&s->chunks)) && c->bytes.n == OUTPUT_CHUNK_BYTES &&
	       c->offset + OUTPUT_CHUNK_BYTES <= end)
		drop_first(s);
	return s->acked - before;
}

bool output_finish_inline(struct output *o)
{
	if (o->chunked || o->mode == OUTPUT_MODE_CHUNKS)
		return false;
	if (o->mode == OUTPUT_MODE_AUTO && output_kept(o) > OUTPUT_INLINE_BYTES)
		return false;
	for (int i = 0; i < N_STREAMS; i++) {
		struct stream *s = &o->streams[i];
		struct chunk *c = STAILQ_FIRST(&s->chunks);

		if (c && !STAILQ_NEXT(c, next)) { /* the usual case: take it as it is */
			s->whole = c->bytes;
			c->bytes = (struct buf){0};
		} else {
			STAILQ_FOREACH (c, &s->chunks, next)
				buf_add(&s->whole, c->bytes.p, c->bytes.n);
		}
		while (!STAILQ_EMPTY(&s->chunks))
			drop_first(s);
	}
	o->mode = OUTPUT_MODE_INLINE;
	return true;
}

void output_unsend(struct output *o)
{
	struct chunk *c;

	for (int i = 0; i < N_STREAMS; i++)
		STAILQ_FOREACH (c, &o->streams[i].chunks, next)
			c->sent = MUTANT(OUTPUT_NOT_SENT_AGAIN) ? c->sent : 0;
}

/* Chunks are sent whole, so a later process of ours has to go on at the border of one. */
struct output_need output_need(const struct output *o, int stream)
{
	const struct stream *s = &o->streams[stream];
	int64_t all = s->kept + s->dropped;

	if (o->discard || (s->acked == s->kept && s->kept == o->max))
		return (struct output_need){all, all};
	return (struct output_need){s->acked - s->acked % OUTPUT_CHUNK_BYTES, s->kept};
}

void output_resume(struct output *o, int stream, int64_t from)
{
	struct stream *s = &o->streams[stream];

	s->kept = s->acked = from < o->max ? from : o->max;
	s->dropped = from - s->kept;
	if (o->mode == OUTPUT_MODE_INLINE && from > 0)
		o->mode = OUTPUT_MODE_CHUNKS; /* the output was too much to go with the end */
	/* some of it may have been sent: what goes inside the end would be there twice */
	o->chunked |= o->mode != OUTPUT_MODE_INLINE;
}
