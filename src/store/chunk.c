/* SPDX-License-Identifier: Apache-2.0 */
#include "store/chunk.h"

#include <zstd.h>

#include "base/err.h"
#include "model/limits.h"

enum { CODEC_RAW, CODEC_ZSTD };

static bool lengths_hold(const struct output_row *c)
{
	if (c->raw_bytes < 0 || c->raw_bytes > OUTPUT_CHUNK_BYTES || c->offset < 0)
		return false;
	if (c->offset > INT64_MAX - c->raw_bytes)
		return false;
	if (c->codec == CODEC_RAW)
		return c->data.n == (size_t)c->raw_bytes;
	return c->codec == CODEC_ZSTD && c->data.n <= ZSTD_compressBound(OUTPUT_CHUNK_BYTES);
}

int chunk_append(const struct output_row *c, struct buf *out, int64_t *at)
{
	char raw[OUTPUT_CHUNK_BYTES];
	const char *bytes = c->data.p;
	int64_t skip = *at - c->offset;

	if (!lengths_hold(c))
		return ERR_STORE;
	if (skip < 0)
		return 1;
	if (c->codec == CODEC_ZSTD) {
		size_t n = ZSTD_decompress(raw, (size_t)c->raw_bytes, c->data.p, c->data.n);

		if (ZSTD_isError(n) || n != (size_t)c->raw_bytes)
			return ERR_STORE;
		bytes = raw;
	}
	if (skip >= c->raw_bytes)
		return 0;
	buf_add(out, bytes + skip, (size_t)(c->raw_bytes - skip));
	*at = c->offset + c->raw_bytes;
	return 0;
}

void inline_append(struct str kept, size_t max, struct buf *out, int64_t *at)
{
	size_t n;

	if (!kept.p || *at >= (int64_t)kept.n)
		return;
	n = kept.n - (size_t)*at;
	if (n > max)
		n = max;
	buf_add(out, kept.p + *at, n);
	*at += (int64_t)n;
}

int64_t damaged_append(int64_t end, size_t max, struct buf *out, int64_t *at)
{
	static const char mark[] = "[reeve: output is damaged in the store here]\n";
	size_t n, words = sizeof mark - 1;
	char filler = ' ';

	if (end <= *at)
		return 0;
	n = (uint64_t)(end - *at) < max ? (size_t)(end - *at) : max;
	if (words > n) { /* a part of the mark would say nothing */
		words = 0;
		filler = '?';
	}
	buf_add(out, mark, words);
	for (size_t i = words; i < n; i++)
		buf_add_char(out, filler);
	*at += (int64_t)n;
	return (int64_t)n;
}

int chunk_damaged(const struct output_row *c, struct buf *out, int64_t *at)
{
	int64_t bytes = c->raw_bytes;

	if (bytes <= 0 || bytes > OUTPUT_CHUNK_BYTES)
		bytes = 1; /* at least one: the next chunk tells how long it was */
	if (c->offset < 0 || c->offset > INT64_MAX - bytes || c->offset > *at)
		return 1;
	damaged_append(c->offset + bytes, OUTPUT_CHUNK_BYTES, out, at);
	return 0;
}
