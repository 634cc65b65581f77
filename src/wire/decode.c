/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/decode.h"

#include <string.h>

#include "wire/text.h"

static void *alloc_from(void *arena, size_t n)
{
	return arena_alloc(arena, n);
}

static void free_nothing(void *arena, void *p)
{
}

ProtobufCAllocator decode_allocator(struct arena *a)
{
	return (ProtobufCAllocator){alloc_from, free_nothing, a};
}

int decode_bad(struct problem *p, const char *part)
{
	problem_set(p, ERR_PROTOCOL, "a frame on the worker link has a bad value in %s", part);
	problem_hint(p, "both ends must be Reeve and speak protocol %d", LINK_PROTOCOL);
	return problem_field(p, part), ERR_PROTOCOL;
}

struct str decode_bytes(ProtobufCBinaryData b)
{
	return b.len ? (struct str){(const char *)b.data, b.len} : STR_NULL;
}

struct str decode_text(char *s)
{
	struct str text = s && *s ? str_of(s) : STR_NULL;

	if (text.p)
		text_clean(s, text.n);
	return text;
}

bool decode_is_ref(uint64_t task, int64_t token)
{
	return task != 0 && task < (1ull << 56) && token > 0;
}

int decode_state(int value, const char *part, enum worker_state *ret_state, struct problem *p)
{
	CHECK(value >= 0 && value < N_WORKER_STATES, part);
	*ret_state = (enum worker_state)value;
	return 0;
}

int decode_set(const Reeve__SetId *m, const char *part, struct set_id *ret_set, struct problem *p)
{
	*ret_set = (struct set_id){0};
	if (!m)
		return 0;
	CHECK(m->server != 0, part);
	*ret_set = (struct set_id){m->server, m->version, {m->sum, m->xored, m->count}};
	return 0;
}

bool decode_receipt(ProtobufCBinaryData b, struct receipt *ret_receipt)
{
	*ret_receipt = (struct receipt){0};
	if (b.len == sizeof ret_receipt->bytes)
		memcpy(ret_receipt->bytes, b.data, b.len);
	return b.len == 0 || b.len == sizeof ret_receipt->bytes;
}

int decode_clock(ProtobufCBinaryData b, struct str *ret_clock, struct problem *p)
{
	CHECK(b.len <= LINK_CLOCK_MAX, "clock");
	*ret_clock = decode_bytes(b);
	return 0;
}
