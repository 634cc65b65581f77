/* SPDX-License-Identifier: Apache-2.0 */
/* Output chunks as they come from a worker or a database: not trusted, so checked when read. */
#ifndef STORE_CHUNK_H
#define STORE_CHUNK_H

#include "model/rows/batch.h"

/*
 * Appends the raw bytes of `c` from *at on to `out` and moves *at behind them. Returns 1 when there
 * is a gap before the chunk (nothing appended), 0 when done, ERR_STORE when its lengths lie.
 */
int chunk_append(const struct output_row *c, struct buf *out, int64_t *at);
/* The same for output that is kept in the task's row. */
void inline_append(struct str kept, size_t max, struct buf *out, int64_t *at);

/*
 * In place of bytes that are damaged, up to offset `end`, at most `max`: a mark, and spaces behind
 * it, or question marks where it has no room; so everything else keeps its offset. Returns how
 * many.
 */
int64_t damaged_append(int64_t end, size_t max, struct buf *out, int64_t *at);
/* The same for a chunk that does not fit its checksum; its length may be wrong, too. */
int chunk_damaged(const struct output_row *c, struct buf *out, int64_t *at);

#endif
