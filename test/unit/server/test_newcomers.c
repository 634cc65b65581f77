/* SPDX-License-Identifier: Apache-2.0 */
/* New names per minute and join token. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/workers/newcomers.h"

static int taken(struct newcomers *n, rid token, int64_t mono_ms, int tries)
{
	int got = 0;

	for (int i = 0; i < tries; i++)
		got += newcomers_take(n, token, mono_ms);
	return got;
}

static void each_token_has_its_own_measure(void **state)
{
	struct newcomers *n = newcomers_new(600);

	assert_int_equal(taken(n, 7, 1000, 5000), 600);
	assert_int_equal(taken(n, 8, 1000, 5000), 600);
	assert_int_equal(taken(n, 0, 1000, 5000), 600);
	assert_int_equal(taken(n, 7, 1000, 10), 0);
	newcomers_free(n);
}

static void it_refills_evenly_and_never_beyond_a_minute(void **state)
{
	struct newcomers *n = newcomers_new(600);
	int got = taken(n, 7, 0, 5000);

	assert_int_equal(taken(n, 7, 99, 10), 0);
	assert_int_equal(taken(n, 7, 100, 10), 1);
	for (int64_t ms = 101; ms <= 60000; ms++)
		got += taken(n, 7, ms, 3);
	assert_int_equal(got, 600 + 599);
	assert_int_equal(taken(n, 7, INT64_MAX / 2, 5000), 600);
	newcomers_free(n);
}

static void many_tokens_gain_nothing_for_one(void **state)
{
	struct newcomers *n = newcomers_new(10);

	assert_int_equal(taken(n, 1, 0, 100), 10);
	for (rid token = 2; token < 500; token++)
		assert_true(taken(n, token, 0, 1) <= 1);
	assert_int_equal(taken(n, 1, 0, 100), 0);
	newcomers_free(n);
}

static void none_means_no_limit(void **state)
{
	struct newcomers *n = newcomers_new(0);

	assert_int_equal(taken(n, 1, 0, 100000), 100000);
	newcomers_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_token_has_its_own_measure),
	    cmocka_unit_test(it_refills_evenly_and_never_beyond_a_minute),
	    cmocka_unit_test(many_tokens_gain_nothing_for_one),
	    cmocka_unit_test(none_means_no_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
