/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/data/sha256.h"
#include "base/hex.h"

static void assert_digest(struct sha256 *s, const char *hex)
{
	uint8_t digest[SHA256_BYTES];
	char text[2 * SHA256_BYTES + 1];

	sha256_end(s, digest);
	hex_put(text, digest, SHA256_BYTES);
	assert_string_equal(text, hex);
}

/* The standard's own examples. */
static void test_known_digests(void **state)
{
	static const char *const of[][2] = {
	    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
	    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
	};
	struct sha256 s;

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct str text = str_of((char *)of[i][0]);

		sha256_begin(&s);
		sha256_add(&s, text.p, text.n);
		assert_digest(&s, of[i][1]);
	}
	sha256_begin(&s);
	for (int i = 0; i < 1000000; i++) /* piece by piece */
		sha256_add(&s, "a", 1);
	assert_digest(&s, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_texts_do_not_run_into_each_other(void **state)
{
	struct sha256 a, b;
	uint8_t x[SHA256_BYTES], y[SHA256_BYTES];

	sha256_begin(&a);
	sha256_add_str(&a, STR("ab"));
	sha256_add_str(&a, STR("c"));
	sha256_end(&a, x);
	sha256_begin(&b);
	sha256_add_str(&b, STR("a"));
	sha256_add_str(&b, STR("bc"));
	sha256_end(&b, y);
	assert_memory_not_equal(x, y, sizeof x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_known_digests),
	    cmocka_unit_test(test_texts_do_not_run_into_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
