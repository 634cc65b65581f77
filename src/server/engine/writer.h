/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer: one thread that commits one batch at a time, so the loop never waits for a disk.
 * While a batch is being committed the next one gathers: that is all there is to group commit.
 */
#ifndef SERVER_WRITER_H
#define SERVER_WRITER_H

#include "net/loop/loop.h"
#include "store/store.h"

struct writer;

struct commit_result {
	int code; /* 0; ERR_BUSY: nothing was written, try again; else the outcome is unknown */
	struct problem problem;
	double seconds;
};

typedef void writer_done_fn(const struct commit_result *r, void *arg);

struct writer *writer_new(struct loop *l, struct store *s, writer_done_fn *fn, void *arg);
/* The batch stays the caller's and must not be touched until fn has been called for it. */
void writer_commit(struct writer *w, const struct batch *b);
/* Between two batches, when it is convenient: old idempotency records and events go. */
void writer_expire(struct writer *w, int64_t idem_before_ms, int64_t events_before_ms);
/* All of it is freed by the writer's thread; the arena is empty afterwards. */
void writer_discard(struct writer *w, struct arena *a);
void writer_free(struct writer *w); /* waits for the batch under way */

#endif
