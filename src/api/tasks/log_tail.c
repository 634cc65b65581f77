/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output is stored in chunks without a count of lines, and that of a running task without a length.
 * So its end is found by halving, and its lines by reading back from there.
 */
#include "api/tasks/log_tail.h"

#include "base/err.h"
#include "model/limits.h"

struct tail {
	struct store_reader *r;
	rid task;
	int64_t token;
	int stream;
	struct buf piece;
};

/* The bytes from `at` on, about a chunk of them. */
static int read_at(struct tail *t, int64_t at, size_t max)
{
	struct output_end end;
	int rc;

	buf_reset(&t->piece);
	rc = store_output(t->r, t->task, t->token, t->stream, at, max, &t->piece, &end);
	return rc == ERR_NOT_FOUND ? 0 : rc;
}

/* The last chunk that has a byte; -1: none has. */
static int last_chunk(struct tail *t, int64_t *ret_chunk)
{
	int64_t low = -1, high = 0, step = 1;
	int rc;

	for (;; high += step, step *= 2) {
		if ((rc = read_at(t, high * OUTPUT_CHUNK_BYTES, 1)) < 0)
			return rc;
		if (!t->piece.n)
			break;
		low = high;
	}
	while (high - low > 1) {
		int64_t mid = low + (high - low) / 2;

		if ((rc = read_at(t, mid * OUTPUT_CHUNK_BYTES, 1)) < 0)
			return rc;
		if (t->piece.n)
			low = mid;
		else
			high = mid;
	}
	*ret_chunk = low;
	return 0;
}

/* Goes back over newlines; true when the byte behind the wanted one is found. */
static bool step_back(struct str text, int64_t base, int64_t *lines, int64_t *ret_offset)
{
	for (size_t i = text.n; i > 0; i--)
		if (text.p[i - 1] == '\n' && (*lines)-- == 0) {
			*ret_offset = base + (int64_t)i;
			return true;
		}
	return false;
}

static int find(struct tail *t, int64_t lines, int64_t *ret_offset)
{
	int64_t chunk, last;
	int rc = last_chunk(t, &last);

	*ret_offset = 0;
	for (chunk = last; rc == 0 && chunk >= 0; chunk--) {
		int64_t base = chunk * OUTPUT_CHUNK_BYTES;
		struct str text;

		rc = read_at(t, base, OUTPUT_CHUNK_BYTES);
		text = buf_str(&t->piece);
		if (text.n > OUTPUT_CHUNK_BYTES && chunk < last)
			text.n = OUTPUT_CHUNK_BYTES;
		if (chunk == last && lines == 0)
			*ret_offset = base + (int64_t)text.n;
		if (chunk == last && text.n && text.p[text.n - 1] != '\n')
			lines--;
		if (rc || lines < 0 || step_back(text, base, &lines, ret_offset))
			break;
		if ((last - chunk) * OUTPUT_CHUNK_BYTES >= TAIL_BYTES_MAX) {
			*ret_offset = base;
			break;
		}
	}
	return rc;
}

int log_tail(
    struct store_reader *r, rid task, int64_t token, int stream, int64_t lines, int64_t *ret_offset)
{
	struct tail t = {r, task, token, stream, {0}};
	int rc = find(&t, lines, ret_offset);

	buf_release(&t.piece);
	return rc;
}
