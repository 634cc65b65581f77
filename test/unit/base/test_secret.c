/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/secret.h"

static void test_only_the_same_fits(void **state)
{
	assert_true(secret_equal(STR("sesame"), STR("sesame")));
	assert_false(secret_equal(STR("sesam"), STR("sesame")));
	assert_false(secret_equal(STR("sesamee"), STR("sesame")));
	assert_false(secret_equal(STR("sesamesesame"), STR("sesame")));
	assert_false(secret_equal(STR("Sesame"), STR("sesame")));
	assert_false(secret_equal(STR("sesame\0zz"), STR("sesame")));
}

static void test_nothing_fits_an_empty_one(void **state)
{
	assert_false(secret_equal(STR(""), STR("")));
	assert_false(secret_equal(STR_NULL, STR_NULL));
	assert_false(secret_equal(STR("x"), STR_NULL));
	assert_false(secret_equal(STR_NULL, STR("x")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_only_the_same_fits),
	    cmocka_unit_test(test_nothing_fits_an_empty_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
