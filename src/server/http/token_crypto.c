/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/token_crypto.h"

#include <argon2.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"

/* What OWASP asks of passwords; a secret of 256 random bits would do with less. */
#define PASSES 2
#define MEMORY_KIB 19456
#define LANES 1
#define SALT_BYTES 16
#define HASH_BYTES 32

void token_random(void *ret_bytes, size_t n)
{
	MUST(n <= 256 && getrandom(ret_bytes, n, 0) == (ssize_t)n);
}

bool token_hash(struct str secret, char *ret_text, size_t size)
{
	unsigned char salt[SALT_BYTES];

	token_random(salt, sizeof salt);
	return argon2id_hash_encoded(PASSES, MEMORY_KIB, LANES, secret.p, secret.n, salt,
	           sizeof salt, HASH_BYTES, ret_text, size) == ARGON2_OK;
}

/* A row of a database is not trusted: a hash that would take gigabytes is not a good one. */
static bool is_ours(struct str hash)
{
	char ours[64];
	int n = snprintf(
	    ours, sizeof ours, "$argon2id$v=19$m=%d,t=%d,p=%d$", MEMORY_KIB, PASSES, LANES);

	return hash.n > (size_t)n && memcmp(hash.p, ours, (size_t)n) == 0 &&
	       !memchr(hash.p, 0, hash.n);
}

bool token_fits(struct str hash, struct str secret)
{
	char text[256];

	if (!is_ours(hash) || hash.n >= sizeof text)
		return false;
	memcpy(text, hash.p, hash.n);
	text[hash.n] = 0;
	return argon2id_verify(text, secret.p, secret.n) == ARGON2_OK;
}

void token_mac(const struct token_key *k, struct str text, unsigned char *ret_mac)
{
	unsigned n = TOKEN_MAC_BYTES;

	MUST(HMAC(EVP_sha256(), k->bytes, sizeof k->bytes, (const unsigned char *)text.p, text.n,
	    ret_mac, &n));
	MUST(n == TOKEN_MAC_BYTES);
}
