/* SPDX-License-Identifier: Apache-2.0 */
/* A key that is proven by what it signs: Ed25519. The secret half is 32 random bytes. */
#ifndef NET_PROOF_H
#define NET_PROOF_H

#include <stdbool.h>

#include "base/str.h"

#define PROOF_KEY_BYTES 32
#define PROOF_SIGNATURE_BYTES 64

void proof_public(const unsigned char secret[PROOF_KEY_BYTES], unsigned char ret[PROOF_KEY_BYTES]);
void proof_sign(const unsigned char secret[PROOF_KEY_BYTES], struct str what,
    unsigned char ret_signature[PROOF_SIGNATURE_BYTES]);
/* A point of small order: for such a key anybody makes signatures that hold, without any secret. */
bool proof_key_is_weak(struct str key);
/* `key` and `signature` may be any bytes of any length: what does not fit is not proven.
 * A weak key proves nothing. */
bool proof_holds(struct str key, struct str what, struct str signature);

#endif
