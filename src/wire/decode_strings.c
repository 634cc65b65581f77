/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf-c hands out strings as C strings: what lies behind a NUL byte would silently be gone,
 * and "right\0wrong" would pass for "right". So the frame is walked once more, by the schema, and
 * one with a NUL in any of its strings is no frame. The same walk counts its fields, before it is
 * unpacked: eight megabytes hold so many of the smallest that this would keep everybody waiting.
 */
#include <string.h>

#include "wire/decode.h"

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

#define VARINT_MAX 10 /* bytes of 64 bits, seven in each */

bool decode_varint(struct str *s, uint64_t *ret_n)
{
	size_t max = s->n < VARINT_MAX ? s->n : VARINT_MAX;
	uint64_t n = 0;

	for (size_t i = 0; i < max; i++) {
		unsigned char c = (unsigned char)s->p[i];

		n |= (uint64_t)(c & 0x7f) << (7 * i);
		if (c & 0x80)
			continue;
		*s = (struct str){s->p + i + 1, s->n - i - 1};
		*ret_n = n;
		return true;
	}
	return false;
}

/* Tags and most lengths are one byte. */
static inline bool varint(struct str *s, uint64_t *ret_n)
{
	if (!s->n || *s->p & 0x80)
		return decode_varint(s, ret_n);
	*ret_n = (uint64_t)*s->p;
	*s = (struct str){s->p + 1, s->n - 1};
	return true;
}

static bool skip(struct str *s, uint64_t n)
{
	if (n > s->n)
		return false;
	*s = (struct str){s->p + n, s->n - (size_t)n};
	return true;
}

/* Takes the next field off; *ret_part is what a length stands before, else NULL. */
static bool next_field(struct str *bytes, uint64_t *ret_tag, struct str *ret_part)
{
	uint64_t n;

	*ret_part = STR_NULL;
	if (!varint(bytes, ret_tag))
		return false;
	switch (*ret_tag & 7) {
	case WIRE_VARINT: return varint(bytes, &n);
	case WIRE_FIXED64: return skip(bytes, 8);
	case WIRE_FIXED32: return skip(bytes, 4);
	case WIRE_BYTES:
		if (!varint(bytes, &n))
			return false;
		*ret_part = (struct str){bytes->p, (size_t)n};
		return skip(bytes, n);
	default: return false;
	}
}

static const ProtobufCFieldDescriptor *field_of(const ProtobufCMessageDescriptor *d, uint64_t tag)
{
	return protobuf_c_message_descriptor_get_field(d, (unsigned)(tag >> 3));
}

static bool is_message(const ProtobufCFieldDescriptor *f)
{
	return f && f->type == PROTOBUF_C_TYPE_MESSAGE;
}

/* How much may still come, and whether all that was seen can be believed. */
struct walk {
	size_t left;
	bool clean;
};

/*
 * Returns false as soon as there is too much. What is no message at all is only noted: whoever
 * unpacks it finds out. The schemas do not nest in themselves: their depth bounds the recursion.
 */
static bool walk(
    const ProtobufCMessageDescriptor *d, struct str bytes, size_t own_max, struct walk *w)
{
	const ProtobufCFieldDescriptor *f;
	struct str part;
	uint64_t tag;

	for (size_t own = 0; bytes.n; own++) {
		if (!next_field(&bytes, &tag, &part)) {
			w->clean = false;
			return true;
		}
		if (own >= own_max || w->left == 0)
			return false;
		w->left--;
		f = part.n ? field_of(d, tag) : NULL;
		if (f && f->type == PROTOBUF_C_TYPE_STRING && memchr(part.p, 0, part.n))
			w->clean = false;
		if (is_message(f) && !walk(f->descriptor, part, SIZE_MAX, w))
			return false;
	}
	return true;
}

enum decode_walked decode_walk(
    const ProtobufCMessageDescriptor *d, struct str bytes, size_t own_max, size_t all_max)
{
	struct walk w = {all_max, true};

	if (!walk(d, bytes, own_max, &w))
		return DECODE_TOO_MUCH;
	return w.clean ? DECODE_CLEAN : DECODE_UNCLEAN;
}

bool decode_strings_ok(const ProtobufCMessageDescriptor *d, struct str bytes)
{
	return decode_walk(d, bytes, SIZE_MAX, SIZE_MAX) == DECODE_CLEAN;
}
