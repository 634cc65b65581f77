/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that workers prove: what holds, and keys for which everybody could sign. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/evp.h>

#include "base/hex.h"
#include "net/link/proof.h"

static void test_a_proof_holds_for_what_it_is_about(void **state)
{
	unsigned char secret[PROOF_KEY_BYTES] = "a secret of as many bytes as fit",
	              public[PROOF_KEY_BYTES], signature[PROOF_SIGNATURE_BYTES];
	struct str key = {(char *)public, sizeof public},
	           proof = {(char *)signature, sizeof signature};

	proof_public(secret, public);
	proof_sign(secret, STR("words"), signature);
	assert_true(proof_holds(key, STR("words"), proof));
	assert_false(proof_holds(key, STR("other words"), proof));
	assert_false(proof_key_is_weak(key));
	signature[0] ^= 1;
	assert_false(proof_holds(key, STR("words"), proof));
	assert_false(proof_holds((struct str){key.p, key.n - 1}, STR("words"), proof));
	assert_false(proof_holds(STR_NULL, STR("words"), proof));
}

/* Every way to write a point of small order. The first eight are the canonical ones. */
static const char *const weak[] = {
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
};
#define N_CANONICAL 8

static void take_point(size_t i, unsigned char ret[PROOF_KEY_BYTES])
{
	assert_true(hex_take(str_of(weak[i]), ret, PROOF_KEY_BYTES));
}

/* What the library alone says. */
static bool verifies(const unsigned char key[PROOF_KEY_BYTES], struct str what,
    const unsigned char signature[PROOF_SIGNATURE_BYTES])
{
	EVP_PKEY *k = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, PROOF_KEY_BYTES);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool good = k && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, k) == 1 &&
	            EVP_DigestVerify(ctx, signature, PROOF_SIGNATURE_BYTES,
	                (const unsigned char *)what.p, what.n) == 1;

	EVP_MD_CTX_free(ctx);
	EVP_PKEY_free(k);
	return good;
}

/* With s = 0 all that is left to guess is one of eight points: no secret is needed. */
static bool forge(const unsigned char key[PROOF_KEY_BYTES], struct str what,
    unsigned char ret[PROOF_SIGNATURE_BYTES])
{
	memset(ret, 0, PROOF_SIGNATURE_BYTES);
	for (size_t i = 0; i < N_CANONICAL; i++) {
		take_point(i, ret);
		if (verifies(key, what, ret))
			return true;
	}
	return false;
}

static void test_a_key_that_needs_no_secret_proves_nothing(void **state)
{
	unsigned char key[PROOF_KEY_BYTES], signature[PROOF_SIGNATURE_BYTES];
	struct str shown = {(char *)key, sizeof key}, proof = {(char *)signature, sizeof signature};

	for (size_t i = 0; i < sizeof weak / sizeof weak[0]; i++) {
		bool forged = false;

		take_point(i, key);
		for (char n = 0; n < 100 && !forged; n++) {
			char words[] = {'w', n};

			forged = forge(key, (struct str){words, sizeof words}, signature);
			assert_false(proof_holds(shown, (struct str){words, sizeof words}, proof));
		}
		if (i < N_CANONICAL) /* or this test would prove nothing */
			assert_true(forged);
		assert_true(proof_key_is_weak(shown));
	}
}

/* What differs from one of them in a single bit, but the sign, is another key. */
static void test_neighbours_are_not_weak(void **state)
{
	unsigned char key[PROOF_KEY_BYTES];
	size_t n_weak = 0;

	for (size_t i = 0; i < N_CANONICAL; i++)
		for (size_t bit = 0; bit < 255; bit++) {
			take_point(i, key);
			key[bit / 8] ^= (unsigned char)(1u << bit % 8);
			n_weak += proof_key_is_weak((struct str){(char *)key, sizeof key});
		}
	/* 0 (of either sign) becomes 1, 1 becomes 0, p - 1 becomes p and p + 1 */
	assert_int_equal(n_weak, 5);
	assert_false(proof_key_is_weak(STR("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_proof_holds_for_what_it_is_about),
	    cmocka_unit_test(test_a_key_that_needs_no_secret_proves_nothing),
	    cmocka_unit_test(test_neighbours_are_not_weak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
