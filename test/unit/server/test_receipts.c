/* SPDX-License-Identifier: Apache-2.0 */
/* Receipts: the same for every server that has the key, and good for one attempt of one worker. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/hex.h"
#include "server/workers/receipts.h"

#define TASK 0x0102030405060708
#define TOKEN ((INT64_C(3) << 32) + 1)

static struct receipts *counting(unsigned char last)
{
	struct receipt_key k;

	for (size_t i = 0; i < sizeof k.bytes; i++)
		k.bytes[i] = (unsigned char)i;
	k.bytes[31] = last;
	return receipts_new(&k);
}

/* Worked out by another program: a later version must know them again. */
static void test_known(void **state)
{
	struct receipts *k = counting(31);
	struct receipt r = receipt_make(k, TASK, TOKEN, STR("w1"));
	char text[2 * RECEIPT_BYTES + 1];

	hex_put(text, r.bytes, sizeof r.bytes);
	assert_string_equal(text, "f294f2039d84df6f41730cd5d578a4a8");
	assert_true(receipt_holds(k, TASK, TOKEN, STR("w1"), &r));
	receipts_free(k);
}

static void test_good_for_nothing_else(void **state)
{
	struct receipts *k = counting(31), *other = counting(30);
	struct receipt r = receipt_make(k, TASK, TOKEN, STR("w1")), none = {0};

	assert_false(receipt_holds(k, TASK + 1, TOKEN, STR("w1"), &r));
	assert_false(receipt_holds(k, TASK, TOKEN + 1, STR("w1"), &r));
	assert_false(receipt_holds(k, TASK, TOKEN, STR("w2"), &r));
	assert_false(receipt_holds(k, TASK, TOKEN, STR("w"), &r));
	assert_false(receipt_holds(k, TASK, TOKEN, STR("w11"), &r));
	assert_false(receipt_holds(other, TASK, TOKEN, STR("w1"), &r));
	assert_false(receipt_holds(k, TASK, TOKEN, STR("w1"), &none));
	for (size_t i = 0; i < 8 * RECEIPT_BYTES; i++) {
		struct receipt near = r;

		near.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
		assert_false(receipt_holds(k, TASK, TOKEN, STR("w1"), &near));
	}
	receipts_free(k);
	receipts_free(other);
}

static void test_key_as_text(void **state)
{
	struct receipt_key k, again, next;
	struct arena a = {0};
	struct str text;

	receipt_key_draw(&k);
	receipt_key_draw(&next);
	assert_memory_not_equal(&k, &next, sizeof k);
	text = receipt_key_text(&k, &a);
	assert_true(receipt_key_parse(text, &again));
	assert_memory_equal(&k, &again, sizeof k);
	assert_false(receipt_key_parse(STR(""), &again));
	assert_false(receipt_key_parse((struct str){text.p, text.n - 2}, &again));
	((char *)text.p)[5] = 'x';
	assert_false(receipt_key_parse(text, &again));
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_known),
	    cmocka_unit_test(test_good_for_nothing_else),
	    cmocka_unit_test(test_key_as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
