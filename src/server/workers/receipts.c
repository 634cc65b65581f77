/* SPDX-License-Identifier: Apache-2.0 */
#include "server/workers/receipts.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/mem.h"
#include "base/secret.h"
#include "server/http/token_crypto.h"

#define HASH_BYTES 32

static const char purpose[] = "reeve run\n"; /* the key is good for nothing else */

struct receipts {
	EVP_MAC *mac;
	EVP_MAC_CTX *ctx;
};

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

struct receipts *receipts_new(const struct receipt_key *k)
{
	char digest[] = "SHA256";
	OSSL_PARAM how[] = {{"digest", OSSL_PARAM_UTF8_STRING, digest, sizeof digest - 1, 0}, {0}};
	struct receipts *r = xcalloc(1, sizeof *r);

	r->mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	MUST(r->mac);
	r->ctx = EVP_MAC_CTX_new(r->mac);
	MUST(r->ctx && EVP_MAC_init(r->ctx, k->bytes, sizeof k->bytes, how));
	return r;
}

void receipts_free(struct receipts *r)
{
	if (!r)
		return;
	EVP_MAC_CTX_free(r->ctx);
	EVP_MAC_free(r->mac);
	free(r);
}

struct receipt receipt_make(struct receipts *r, rid task, int64_t token, struct str shard)
{
	unsigned char what[sizeof purpose + 16], hash[HASH_BYTES], *at = what;
	struct receipt made;
	size_t n = 0;

	memcpy(at, purpose, sizeof purpose - 1);
	at = put_number(at + sizeof purpose - 1, task);
	at = put_number(at, (uint64_t)token);
	MUST(EVP_MAC_init(r->ctx, NULL, 0, NULL)); /* the same key again */
	MUST(EVP_MAC_update(r->ctx, what, (size_t)(at - what)));
	MUST(EVP_MAC_update(r->ctx, (const unsigned char *)shard.p, shard.n));
	MUST(EVP_MAC_final(r->ctx, hash, &n, sizeof hash) && n == sizeof hash);
	memcpy(made.bytes, hash, sizeof made.bytes);
	return made;
}

bool receipt_holds(
    struct receipts *r, rid task, int64_t token, struct str shard, const struct receipt *shown)
{
	struct receipt own;

	if (!receipt_is_given(shown))
		return false;
	own = receipt_make(r, task, token, shard);
	return secret_equal((struct str){(const char *)own.bytes, sizeof own.bytes},
	    (struct str){(const char *)shown->bytes, sizeof shown->bytes});
}
