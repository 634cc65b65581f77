/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf-c hands out strings as C strings: what lies behind a NUL byte would silently be gone,
 * and "right\0wrong" would pass for "right". So the frame is walked once more, by the schema, and
 * one with a NUL in any of its strings is no frame. Before all that its fields are counted: eight
 * megabytes hold so many of the smallest that unpacking them would keep everybody waiting.
 */
#include <string.h>

#include "wire/decode.h"

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

bool decode_varint(struct str *s, uint64_t *ret_n)
{
	*ret_n = 0;
	for (unsigned shift = 0; s->n && shift < 64; shift += 7) {
		unsigned char c = (unsigned char)*s->p;

		*s = (struct str){s->p + 1, s->n - 1};
		*ret_n |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return true;
	}
	return false;
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
	if (!decode_varint(bytes, ret_tag))
		return false;
	switch (*ret_tag & 7) {
	case WIRE_VARINT: return decode_varint(bytes, &n);
	case WIRE_FIXED64: return skip(bytes, 8);
	case WIRE_FIXED32: return skip(bytes, 4);
	case WIRE_BYTES:
		if (!decode_varint(bytes, &n))
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

static bool is_clean(const ProtobufCFieldDescriptor *f, struct str bytes)
{
	if (f && f->type == PROTOBUF_C_TYPE_STRING)
		return !bytes.n || !memchr(bytes.p, 0, bytes.n);
	return !is_message(f) || decode_strings_ok(f->descriptor, bytes);
}

/* The schemas do not nest in themselves: their depth bounds the recursion. */
bool decode_strings_ok(const ProtobufCMessageDescriptor *d, struct str bytes)
{
	struct str part;
	uint64_t tag;

	while (bytes.n) {
		if (!next_field(&bytes, &tag, &part))
			return false;
		if (part.p && !is_clean(field_of(d, tag), part))
			return false;
	}
	return true;
}

/* What is no message at all is not counted: whoever unpacks it finds out, and as soon. */
static bool count(
    const ProtobufCMessageDescriptor *d, struct str bytes, size_t own_max, size_t *left)
{
	const ProtobufCFieldDescriptor *f;
	struct str part;
	uint64_t tag;

	for (size_t own = 0; bytes.n && next_field(&bytes, &tag, &part); own++) {
		if (own >= own_max || *left == 0)
			return false;
		--*left;
		f = part.p ? field_of(d, tag) : NULL;
		if (is_message(f) && !count(f->descriptor, part, SIZE_MAX, left))
			return false;
	}
	return true;
}

bool decode_count_ok(
    const ProtobufCMessageDescriptor *d, struct str bytes, size_t own_max, size_t all_max)
{
	return count(d, bytes, own_max, &all_max);
}
