/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one attempt has written and the server has not yet made durable: two streams, each a list
 * of chunks of OUTPUT_CHUNK_BYTES (the last one may be shorter and grow). Bytes beyond the cap
 * are counted and dropped.
 */
#ifndef AGENT_OUTPUT_H
#define AGENT_OUTPUT_H

#include <bsd/sys/queue.h>

#include "base/str.h"
#include "model/task/task.h"

struct chunk {
	STAILQ_ENTRY(chunk) next;
	int64_t offset;
	struct buf bytes;
	size_t sent; /* so much of it on the present link */
};

STAILQ_HEAD(chunk_list, chunk);

struct stream {
	struct chunk_list chunks;
	int64_t kept, dropped;
	int64_t acked;    /* everything before is durable */
	struct buf whole; /* once it is decided to send it inside the end */
};

struct output {
	struct stream streams[N_STREAMS];
	int64_t max;
	int32_t mode; /* enum output_mode */
	bool chunked; /* some of it was sent in chunks: so will be the rest */
	bool discard; /* nobody wants it any more */
	int64_t flush_every_ms;
};

void output_init(struct output *o, int32_t mode, int64_t max);
void output_release(struct output *o);
/* Returns how many bytes were kept. */
size_t output_add(struct output *o, int stream, struct str data);
int64_t output_kept(const struct output *o);
int64_t output_unacked(const struct output *o); /* 0 for what goes inline */
/* Frees what is durable now; returns how many bytes that was. */
int64_t output_ack(struct output *o, int stream, int64_t end);
/* All is in: may it go inside the end? Then `whole` has it. */
bool output_finish_inline(struct output *o);
/* Where an earlier process of ours can prove that it had been: from there on it comes again. */
void output_resume(struct output *o, int stream, int64_t from);
/* What a later process of ours would have to be given again, should we die now. */
struct output_need {
	int64_t from; /* what lies before is durable with the server */
	int64_t to;   /* what lies behind was dropped: only how much it was counts */
};
struct output_need output_need(const struct output *o, int stream);
void output_unsend(struct output *o); /* the link broke */
void output_drop(struct output *o);   /* frees the bytes, keeps the counts */
/* What nobody has acknowledged counts as dropped: it will not be sent any more. */
void output_cut(struct output *o);

#endif
