/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 (FIPS 180-4), where equal digests are to mean equal texts. For what is secret the server
 * has a library: this one is the same everywhere, and not made to hide how long it takes.
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define SHA256_BYTES 32

struct sha256 {
	uint32_t h[8];
	uint64_t n; /* bytes so far */
	uint8_t block[64];
};

void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t n);
/* A text and where it ends: two never run into each other. */
void sha256_add_str(struct sha256 *s, struct str text);
void sha256_end(struct sha256 *s, uint8_t ret_digest[SHA256_BYTES]);

#endif
