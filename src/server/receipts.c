/* SPDX-License-Identifier: Apache-2.0 */
#include "server/receipts.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#include "base/hex.h"
#include "base/mem.h"
#include "base/secret.h"
#include "model/limits.h"
#include "server/token_crypto.h"

#define HASH_BYTES 32

static const char purpose[] = "reeve run\n"; /* the key is good for nothing else */

void receipt_key_draw(struct receipt_key *ret_key)
{
	token_random(ret_key->bytes, sizeof ret_key->bytes);
}

bool receipt_key_parse(struct str text, struct receipt_key *ret_key)
{
	return hex_take(text, ret_key->bytes, sizeof ret_key->bytes);
}

struct str receipt_key_text(const struct receipt_key *k, struct arena *a)
{
	char *text = arena_alloc(a, 2 * sizeof k->bytes + 1);

	hex_put(text, k->bytes, sizeof k->bytes);
	return (struct str){text, 2 * sizeof k->bytes};
}

static unsigned char *put_number(unsigned char *at, uint64_t n)
{
	for (int shift = 56; shift >= 0; shift -= 8)
		*at++ = (unsigned char)(n >> shift);
	return at;
}

struct receipt receipt_make(const struct receipt_key *k, rid task, int64_t token, struct str shard)
{
	unsigned char what[sizeof purpose + 16 + NAME_MAX_BYTES], hash[HASH_BYTES], *at = what;
	struct receipt r;
	unsigned n = sizeof hash;

	MUST(shard.n <= NAME_MAX_BYTES);
	memcpy(at, purpose, sizeof purpose - 1);
	at = put_number(at + sizeof purpose - 1, task);
	at = put_number(at, (uint64_t)token);
	memcpy(at, shard.p, shard.n);
	at += shard.n;
	MUST(HMAC(EVP_sha256(), k->bytes, sizeof k->bytes, what, (size_t)(at - what), hash, &n));
	memcpy(r.bytes, hash, sizeof r.bytes);
	return r;
}

bool receipt_holds(const struct receipt_key *k, rid task, int64_t token, struct str shard,
    const struct receipt *shown)
{
	struct receipt own;

	if (!receipt_is_given(shown))
		return false;
	own = receipt_make(k, task, token, shard);
	return secret_equal((struct str){(const char *)own.bytes, sizeof own.bytes},
	    (struct str){(const char *)shown->bytes, sizeof shown->bytes});
}
