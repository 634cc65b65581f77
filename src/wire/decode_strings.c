/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf-c hands out strings as C strings: what lies behind a NUL byte would silently be gone,
 * and "right\0wrong" would pass for "right". So the frame is walked once more, by the schema, and
 * one with a NUL in any of its strings is no frame.
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

static bool is_clean(const ProtobufCFieldDescriptor *f, struct str bytes)
{
	if (f && f->type == PROTOBUF_C_TYPE_STRING)
		return !bytes.n || !memchr(bytes.p, 0, bytes.n);
	return !f || f->type != PROTOBUF_C_TYPE_MESSAGE || decode_strings_ok(f->descriptor, bytes);
}

/* The schemas do not nest in themselves: their depth bounds the recursion. */
bool decode_strings_ok(const ProtobufCMessageDescriptor *d, struct str bytes)
{
	uint64_t tag, n;
	struct str part;

	while (bytes.n) {
		if (!decode_varint(&bytes, &tag))
			return false;
		switch (tag & 7) {
		case WIRE_VARINT:
			if (!decode_varint(&bytes, &n))
				return false;
			break;
		case WIRE_FIXED64:
			if (!skip(&bytes, 8))
				return false;
			break;
		case WIRE_FIXED32:
			if (!skip(&bytes, 4))
				return false;
			break;
		case WIRE_BYTES:
			if (!decode_varint(&bytes, &n))
				return false;
			part = (struct str){bytes.p, (size_t)n};
			if (!skip(&bytes, n) || !is_clean(protobuf_c_message_descriptor_get_field(
			                                      d, (unsigned)(tag >> 3)),
			                            part))
				return false;
			break;
		default: return false;
		}
	}
	return true;
}
