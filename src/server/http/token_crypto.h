/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets of tokens: drawn, hashed (argon2id) and known again by a keyed hash (HMAC-SHA256). */
#ifndef SERVER_TOKEN_CRYPTO_H
#define SERVER_TOKEN_CRYPTO_H

#include "base/str.h"

#define TOKEN_MAC_BYTES 32

void token_random(void *ret_bytes, size_t n);
/* Both take tens of milliseconds and 19 MiB: never on the loop. False: no memory, or it does not
 * fit. */
bool token_hash(struct str secret, char *ret_text, size_t size);
bool token_fits(struct str hash, struct str secret);
/* Of this process only: the key is drawn at its start. */
struct token_key {
	unsigned char bytes[32];
};
void token_mac(const struct token_key *k, struct str text, unsigned char *ret_mac);

#endif
