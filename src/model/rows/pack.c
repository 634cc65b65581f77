/* SPDX-License-Identifier: Apache-2.0 */
#include "model/rows/pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NUMBER_BYTES_MAX 10

static uint8_t *put_number(uint8_t *at, int64_t n)
{
	uint64_t z = ((uint64_t)n << 1) ^ (uint64_t)(n >> 63);

	for (; z >= 0x80; z >>= 7)
		*at++ = (uint8_t)(z | 0x80);
	*at++ = (uint8_t)z;
	return at;
}

static int64_t take_number(const uint8_t **from)
{
	uint64_t z = 0;

	for (int shift = 0;; shift += 7) {
		uint8_t b = *(*from)++;

		z |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80)
			return (int64_t)(z >> 1) ^ -(int64_t)(z & 1);
	}
}

static uint8_t *put_str(uint8_t *at, struct str s)
{
	at = put_number(at, s.p ? (int64_t)s.n + 1 : 0);
	if (s.n)
		memcpy(at, s.p, s.n);
	return at + s.n;
}

static struct str take_str(const uint8_t **from, struct arena *a)
{
	int64_t n = take_number(from);
	struct str s = {(const char *)*from, (size_t)n - 1};

	if (!n)
		return STR_NULL;
	*from += s.n;
	return a ? arena_str(a, s) : s;
}

static bool is_in(const struct row_table *t, int i, uint64_t without)
{
	return t->columns[i].type != COLUMN_SUM && !(without >> i & 1);
}

static size_t room_for(const struct row_table *t, uint64_t without, const void *row)
{
	size_t n = 0;

	for (int i = 0; i < t->n; i++) {
		if (!is_in(t, i, without))
			continue;
		n += NUMBER_BYTES_MAX;
		if (column_is_str(&t->columns[i]))
			n += column_str(&t->columns[i], row).n;
	}
	return n;
}

static uint8_t *put_column(uint8_t *at, const struct column *c, const void *row)
{
	switch (c->type) {
	case COLUMN_I32: return put_number(at, column_i32(c, row));
	case COLUMN_I64: return put_number(at, column_i64(c, row));
	default: MUST(column_is_str(c)); return put_str(at, column_str(c, row));
	}
}

void row_pack(
    const struct row_table *t, uint64_t without, const void *row, void **packed, uint32_t *n)
{
	AUTO(free_cstr)
	char *room = xmalloc(room_for(t, without, row) + 1);
	uint8_t *at = (uint8_t *)room;
	size_t size;

	for (int i = 0; i < t->n; i++)
		if (is_in(t, i, without))
			at = put_column(at, &t->columns[i], row);
	size = (size_t)(at - (uint8_t *)room);
	MUST(size <= UINT32_MAX);
	if (size != *n || !*packed)
		*packed = xrealloc(*packed, size + 1);
	memcpy(*packed, room, size);
	*n = (uint32_t)size;
}

static void take_column(const uint8_t **from, const struct column *c, struct arena *a, void *row)
{
	void *to = column_at(c, row);

	switch (c->type) {
	case COLUMN_I32: *(int32_t *)to = (int32_t)take_number(from); break;
	case COLUMN_I64: *(int64_t *)to = take_number(from); break;
	default: *(struct str *)to = take_str(from, a); break;
	}
}

void row_unpack(
    const struct row_table *t, uint64_t without, const void *packed, struct arena *a, void *row)
{
	const uint8_t *from = packed;

	for (int i = 0; i < t->n; i++)
		if (is_in(t, i, without))
			take_column(&from, &t->columns[i], a, row);
}
