/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the decoders: what both directions check, and how a bad value is told. */
#ifndef WIRE_DECODE_H
#define WIRE_DECODE_H

#include "link.pb-c.h"
#include "wire/link/link.h"

#define OFFSET_MAX (1LL << 50)
#define COUNT_MAX (1LL << 53) /* bytes, microseconds; JSON numbers are exact up to here */

#define CHECK(cond, part)                           \
	do {                                        \
		if (!(cond))                        \
			return decode_bad(p, part); \
	} while (0)

int decode_bad(struct problem *p, const char *part);
/* Everything that protobuf-c allocates for one frame comes from the arena. */
ProtobufCAllocator decode_allocator(struct arena *a);
struct str decode_bytes(ProtobufCBinaryData b); /* absent and empty are one */
struct str decode_text(char *s);                /* made fit to be shown */
enum decode_walked { DECODE_CLEAN, DECODE_UNCLEAN, DECODE_TOO_MUCH };
/*
 * One walk before a message is unpacked. Too much: more fields than so many in itself, or with
 * those of its parts. Unclean: a string holds a NUL byte, or this is no message.
 */
enum decode_walked decode_walk(
    const ProtobufCMessageDescriptor *d, struct str bytes, size_t own_max, size_t all_max);
bool decode_strings_ok(const ProtobufCMessageDescriptor *d, struct str bytes); /* is it clean? */
bool decode_varint(struct str *s, uint64_t *ret_n); /* takes it off; false: there is none */
bool decode_receipt(ProtobufCBinaryData b, struct receipt *ret_receipt);
bool decode_is_ref(uint64_t task, int64_t token);
int decode_state(int value, const char *part, enum worker_state *ret_state, struct problem *p);
int decode_set(const Reeve__SetId *m, const char *part, struct set_id *ret_set, struct problem *p);
/* instance.c; none where m is NULL */
int decode_instance(
    const Reeve__Instance *m, struct arena *a, struct link_instance *ret, struct problem *p);
int decode_fares(const Reeve__Fares *m, struct arena *a, struct link_fares *ret, struct problem *p);
int decode_clock(ProtobufCBinaryData b, struct str *ret_clock, struct problem *p);

#endif
