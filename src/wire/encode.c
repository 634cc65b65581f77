/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/encode.h"

#include "model/limits.h"
#include "wire/text.h"

char *encode_cstr(struct arena *a, struct str s)
{
	return s.p ? (char *)arena_str(a, s).p : NULL;
}

char *encode_reason(struct arena *a, struct str s)
{
	return encode_cstr(a, text_head(s, REASON_MAX_BYTES));
}

ProtobufCBinaryData encode_bytes(struct str s)
{
	return (ProtobufCBinaryData){.len = s.n, .data = (uint8_t *)s.p};
}

ProtobufCBinaryData encode_receipt(const struct receipt *r)
{
	return (ProtobufCBinaryData){.len = sizeof r->bytes, .data = (uint8_t *)r->bytes};
}

void encode_pack(const ProtobufCMessage *m, struct buf *out)
{
	size_t n = protobuf_c_message_get_packed_size(m);

	buf_reserve(out, n);
	protobuf_c_message_pack(m, (uint8_t *)out->p + out->n);
	out->n += n;
	out->p[out->n] = 0;
}

Reeve__SetId *encode_set(const struct set_id *s, struct arena *a)
{
	Reeve__SetId *m;

	if (s->server == 0)
		return NULL;
	m = arena_alloc(a, sizeof *m);
	*m = (Reeve__SetId)REEVE__SET_ID__INIT;
	m->server = s->server;
	m->version = s->version;
	OPTIONAL(m, sum, s->hash.sum);
	OPTIONAL(m, xored, s->hash.xor);
	OPTIONAL(m, count, s->hash.count);
	return m;
}
