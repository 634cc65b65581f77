/* SPDX-License-Identifier: Apache-2.0 */
#include "net/link/proof.h"

#include <openssl/err.h>
#include <openssl/evp.h>

#include "base/mem.h"

static EVP_PKEY *secret_key(const unsigned char secret[PROOF_KEY_BYTES])
{
	EVP_PKEY *k = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, PROOF_KEY_BYTES);

	MUST(k);
	return k;
}

void proof_public(const unsigned char secret[PROOF_KEY_BYTES], unsigned char ret[PROOF_KEY_BYTES])
{
	EVP_PKEY *k = secret_key(secret);
	size_t n = PROOF_KEY_BYTES;

	MUST(EVP_PKEY_get_raw_public_key(k, ret, &n) == 1 && n == PROOF_KEY_BYTES);
	EVP_PKEY_free(k);
}

void proof_sign(const unsigned char secret[PROOF_KEY_BYTES], struct str what,
    unsigned char ret_signature[PROOF_SIGNATURE_BYTES])
{
	EVP_PKEY *k = secret_key(secret);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	size_t n = PROOF_SIGNATURE_BYTES;

	MUST(ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, k) == 1);
	MUST(EVP_DigestSign(ctx, ret_signature, &n, (const unsigned char *)what.p, what.n) == 1);
	MUST(n == PROOF_SIGNATURE_BYTES);
	EVP_MD_CTX_free(ctx);
	EVP_PKEY_free(k);
}

bool proof_holds(struct str key, struct str what, struct str signature)
{
	EVP_PKEY *k = NULL;
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool holds = false;

	MUST(ctx);
	if (key.n == PROOF_KEY_BYTES && signature.n == PROOF_SIGNATURE_BYTES)
		k = EVP_PKEY_new_raw_public_key(
		    EVP_PKEY_ED25519, NULL, (const unsigned char *)key.p, key.n);
	if (k && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, k) == 1)
		holds = EVP_DigestVerify(ctx, (const unsigned char *)signature.p, signature.n,
		            (const unsigned char *)what.p, what.n) == 1;
	EVP_MD_CTX_free(ctx);
	EVP_PKEY_free(k);
	ERR_clear_error();
	return holds;
}
