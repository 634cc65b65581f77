/* SPDX-License-Identifier: Apache-2.0 */
#include "net/link/proof.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <string.h>

#include "base/mem.h"

#define FF4 0xff, 0xff, 0xff, 0xff
#define FF28 FF4, FF4, FF4, FF4, FF4, FF4, FF4

/*
 * The heights (y, little endian, without the sign of x in the last bit) of all points whose order
 * divides 8, and of those the ways to write them that are not reduced modulo p = 2^255 - 19.
 */
static const unsigned char weak_heights[][PROOF_KEY_BYTES] = {
    {0},                            /* order 4 */
    {1},                            /* order 1 */
    {0xec, 0xff, 0xff, FF28, 0x7f}, /* p - 1: order 2 */
    {0xed, 0xff, 0xff, FF28, 0x7f}, /* p, which is 0 */
    {0xee, 0xff, 0xff, FF28, 0x7f}, /* p + 1, which is 1 */
    {0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
        0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03,
        0x7a}, /* order 8 */
    {0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
        0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc,
        0x05}, /* order 8 */
};

bool proof_key_is_weak(struct str key)
{
	unsigned char height[PROOF_KEY_BYTES];

	if (key.n != sizeof height)
		return false;
	memcpy(height, key.p, sizeof height);
	height[PROOF_KEY_BYTES - 1] &= 0x7f;
	for (size_t i = 0; i < sizeof weak_heights / sizeof weak_heights[0]; i++)
		if (memcmp(height, weak_heights[i], sizeof height) == 0)
			return true;
	return false;
}

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
	if (key.n == PROOF_KEY_BYTES && signature.n == PROOF_SIGNATURE_BYTES &&
	    !proof_key_is_weak(key))
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
