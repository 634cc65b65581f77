/* SPDX-License-Identifier: Apache-2.0 */
/* Vector clocks: counting, merging, and bytes of which none may be taken on trust. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/vclock.h"
#include "base/rng.h"

static void count(struct vclock *c, const char *name, int times)
{
	while (times-- > 0)
		assert_true(vclock_tick(c, str_of(name)));
}

static void assert_json(const struct vclock *c, const char *wanted)
{
	struct buf b = {0};

	vclock_json(c, &b);
	assert_string_equal(b.p, wanted);
	buf_release(&b);
}

static void test_tick_and_json(void **state)
{
	struct vclock c = {0};

	assert_json(&c, "{}");
	assert_int_equal(vclock_get(&c, STR("a")), 0);
	count(&c, "b", 2);
	count(&c, "a", 1);
	count(&c, "c", 3);
	assert_json(&c, "{\"a\":1,\"b\":2,\"c\":3}");
	assert_int_equal(vclock_get(&c, STR("c")), 3);
	vclock_release(&c);
}

static void test_merge(void **state)
{
	struct vclock a = {0}, b = {0};

	count(&a, "a", 5);
	count(&a, "x", 1);
	count(&b, "a", 9); /* nobody knows more about a than a */
	count(&b, "b", 2);
	count(&b, "x", 4);
	assert_true(vclock_merge(&a, &b, STR("a")));
	assert_json(&a, "{\"a\":5,\"b\":2,\"x\":4}");
	assert_true(vclock_merge(&b, &a, STR("b")));
	assert_json(&b, "{\"a\":9,\"b\":2,\"x\":4}");
	vclock_release(&a);
	vclock_release(&b);
}

static void test_names(void **state)
{
	char name[VCLOCK_NAME_MAX + 1];

	memset(name, 'n', sizeof name);
	assert_true(vclock_name_is_valid((struct str){name, VCLOCK_NAME_MAX}));
	assert_false(vclock_name_is_valid((struct str){name, VCLOCK_NAME_MAX + 1}));
	assert_false(vclock_name_is_valid(STR("")));
	assert_true(vclock_name_is_valid(STR("w1.3f2a91bc")));
	for (const char *bad = " \"\\{}\n\t\x7f\x80\xff"; *bad; bad++)
		assert_false(vclock_name_is_valid((struct str){bad, 1}));
	assert_false(vclock_name_is_valid((struct str){"\0", 1}));
}

static void test_no_more_names_than_the_bound(void **state)
{
	struct vclock c = {0}, more = {0}, back;
	struct buf b = {0};
	char name[32];

	for (int i = 0; i < VCLOCK_NAMES_MAX; i++) {
		snprintf(name, sizeof name, "n%d", i);
		count(&c, name, 1);
	}
	assert_false(vclock_tick(&c, STR("one-more")));
	count(&c, "n7", 1);
	count(&more, "one-more", 3);
	count(&more, "n8", 8);
	assert_false(vclock_merge(&c, &more, STR("n0")));
	assert_int_equal(vclock_get(&c, STR("n8")), 8); /* what has room is merged */
	assert_int_equal(vclock_get(&c, STR("one-more")), 0);
	vclock_encode(&c, &b);
	assert_true(b.n <= VCLOCK_BYTES_MAX);
	assert_true(vclock_decode(buf_str(&b), &back));
	assert_int_equal(back.n, VCLOCK_NAMES_MAX);
	vclock_release(&back);
	vclock_release(&c);
	vclock_release(&more);
	/* and one more than the bound is refused */
	buf_reset(&b);
	buf_add_char(&b, 1);
	for (int i = 0; i <= VCLOCK_NAMES_MAX; i++)
		buf_printf(&b, "%c%05d%c", 5, i, 1);
	assert_false(vclock_decode(buf_str(&b), &back));
	buf_release(&b);
}

static void test_random_clocks_survive_encoding(void **state)
{
	struct rng r = {.state = 7};

	for (int round = 0; round < 500; round++) {
		struct vclock c = {0}, back;
		struct buf b = {0}, again = {0};

		for (uint64_t n = rng_below(&r, 20); n > 0; n--) {
			char name[24];

			snprintf(name, sizeof name, "w%u", (unsigned)rng_below(&r, 1000));
			count(&c, name, 1);
		}
		for (size_t i = 0; i < c.n; i++)
			c.items[i].count = 1 + rng_below(&r, VCLOCK_COUNT_MAX >> rng_below(&r, 53));
		vclock_encode(&c, &b);
		assert_true(vclock_decode(buf_str(&b), &back));
		vclock_encode(&back, &again);
		assert_true(str_eq(buf_str(&b), buf_str(&again)));
		for (size_t n = 0; n < b.n; n++) { /* cut short: refused, unless between two */
			struct vclock cut;

			if (vclock_decode((struct str){b.p, n}, &cut))
				assert_true(cut.n < c.n);
			vclock_release(&cut);
		}
		vclock_release(&c);
		vclock_release(&back);
		buf_release(&b);
		buf_release(&again);
	}
}

static void test_bad_bytes(void **state)
{
	static const struct str bad[] = {
	    {"", 0}, {"\x02", 1}, /* another version */
	    {"\x01\x00\x01", 3},  /* no name */
	    {"\x01\x01", 2},      /* a name is missing */
	    {"\x01\x01"
	     "a",
	        3}, /* a count is missing */
	    {"\x01\x01"
	     "a\x00",
	        4}, /* a count of 0 */
	    {"\x01\x01"
	     "a\x81\x00",
	        5}, /* a count longer than it must be */
	    {"\x01\x01"
	     "a\x81",
	        4}, /* half a count */
	    {"\x01\x01"
	     "a\x80\x80\x80\x80\x80\x80\x80\x10",
	        11}, /* 2^53 */
	    {"\x01\x01"
	     "a\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	        12},
	    {"\x01\x01"
	     "b\x01\x01"
	     "a\x01",
	        7}, /* not in order */
	    {"\x01\x01"
	     "a\x01\x01"
	     "a\x01",
	        7},               /* twice */
	    {"\x01\x01 \x01", 4}, /* a name with a space */
	    {"\x01\xff"
	     "a\x01",
	        4}, /* longer than what is there */
	};
	struct vclock c;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_false(vclock_decode(bad[i], &c));
		assert_int_equal(c.n, 0);
		assert_null(c.items);
	}
	assert_true(vclock_decode((struct str){"\x01\x01"
	                                       "a\xff\xff\xff\xff\xff\xff\xff\x0f",
	                              11},
	    &c));
	assert_true(vclock_get(&c, STR("a")) == VCLOCK_COUNT_MAX);
	assert_false(vclock_tick(&c, STR("a"))); /* it never wraps */
	vclock_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_tick_and_json),
	    cmocka_unit_test(test_merge),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_no_more_names_than_the_bound),
	    cmocka_unit_test(test_random_clocks_survive_encoding),
	    cmocka_unit_test(test_bad_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
