/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the encoders. The generated structs are built in the arena and packed straight into the
 * buffer. What we send is our own, so a bad value here is a bug, not an error.
 */
#ifndef WIRE_ENCODE_H
#define WIRE_ENCODE_H

#include "link.pb-c.h"
#include "wire/link/link.h"

/* One array of n structs and one of pointers to them: what protobuf-c wants of repeated fields. */
#define PARTS(a, n, type, init, ret_ptrs)                                \
	({                                                               \
		type *items_ = arena_alloc((a), (n) * sizeof *items_);   \
		(ret_ptrs) = arena_alloc((a), (n) * sizeof *(ret_ptrs)); \
		for (size_t i_ = 0; i_ < (n); i_++) {                    \
			items_[i_] = (type)init;                         \
			(ret_ptrs)[i_] = &items_[i_];                    \
		}                                                        \
		items_;                                                  \
	})

#define OPTIONAL(to, name, value) ((to)->has_##name = ((to)->name = (value)) != 0)

char *encode_cstr(struct arena *a, struct str s); /* NULL for NULL */
char *encode_reason(struct arena *a, struct str s);
ProtobufCBinaryData encode_bytes(struct str s);
ProtobufCBinaryData encode_receipt(const struct receipt *r);       /* only where it is given */
Reeve__SetId *encode_set(const struct set_id *s, struct arena *a); /* NULL: none, left out */
char **encode_lines(struct arena *a, struct str lines, size_t *ret_n);
/* instance.c; NULL: it is none */
Reeve__Instance *encode_instance(const struct link_instance *from, struct arena *a);
Reeve__Fares *encode_fares(const struct link_fares *from, struct arena *a);
void encode_pack(const ProtobufCMessage *m, struct buf *out);

#endif
