/* SPDX-License-Identifier: Apache-2.0 */
/* The error table: names are stable and distinct, statuses and exit codes make sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

static const int codes[] = {
#define X(code, n, name, http, exit, title) code,
    ERR_TABLE(X)
#undef X
};

#define N_CODES (sizeof codes / sizeof codes[0])

static void test_names_round_trip(void **state)
{
	for (size_t i = 0; i < N_CODES; i++) {
		assert_true(codes[i] < 0);
		assert_int_equal(err_from_name(err_name(codes[i])), codes[i]);
		for (size_t j = 0; j < i; j++) {
			assert_int_not_equal(codes[i], codes[j]);
			assert_string_not_equal(err_name(codes[i]), err_name(codes[j]));
		}
	}
}

static void test_names_are_url_safe(void **state)
{
	for (size_t i = 0; i < N_CODES; i++) {
		const char *name = err_name(codes[i]);

		assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz-"), strlen(name));
	}
}

static void test_statuses(void **state)
{
	for (size_t i = 0; i < N_CODES; i++) {
		assert_in_range(err_http_status(codes[i]), 400, 599);
		assert_in_range(err_exit_code(codes[i]), 1, 2);
		assert_true(strlen(err_title(codes[i])) > 0);
	}
	assert_int_equal(err_http_status(ERR_NOT_FOUND), 404);
	assert_int_equal(err_http_status(ERR_TOO_LARGE), 413);
	assert_int_equal(err_exit_code(ERR_INVALID), 2);
}

static void test_ok_and_unknown(void **state)
{
	assert_string_equal(err_name(ERR_OK), "ok");
	assert_int_equal(err_http_status(ERR_OK), 200);
	assert_int_equal(err_exit_code(ERR_OK), 0);
	assert_string_equal(err_name(-9999), "internal");
	assert_int_equal(err_from_name("no-such-name"), ERR_INTERNAL);
	assert_int_equal(err_from_name(""), ERR_INTERNAL);
}

static void test_problem(void **state)
{
	struct problem p = {0};

	assert_int_equal(problem_set(&p, ERR_INVALID, "%d is too many", 7), ERR_INVALID);
	assert_int_equal(problem_hint(&p, "use at most %d", 5), ERR_INVALID);
	assert_int_equal(problem_field(&p, "threads"), ERR_INVALID);
	assert_string_equal(p.what, "7 is too many");
	assert_string_equal(p.hint, "use at most 5");
	assert_string_equal(p.field, "threads");
	problem_set(&p, ERR_BUSY, "later");
	assert_string_equal(p.hint, "");
	assert_string_equal(p.field, "");
}

static void test_problem_without_a_reader(void **state)
{
	assert_int_equal(problem_set(NULL, ERR_STORE, "gone"), ERR_STORE);
	assert_true(problem_hint(NULL, "x") < 0);
	assert_true(problem_field(NULL, "x") < 0);
}

static void test_problem_is_cut_not_overrun(void **state)
{
	struct problem p = {0};
	char longer[2000];

	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = 0;
	problem_set(&p, ERR_INVALID, "%s", longer);
	problem_hint(&p, "%s", longer);
	problem_field(&p, longer);
	assert_int_equal(strlen(p.what), sizeof p.what - 1);
	assert_int_equal(strlen(p.hint), sizeof p.hint - 1);
	assert_int_equal(strlen(p.field), sizeof p.field - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_names_round_trip),
	    cmocka_unit_test(test_names_are_url_safe),
	    cmocka_unit_test(test_statuses),
	    cmocka_unit_test(test_ok_and_unknown),
	    cmocka_unit_test(test_problem),
	    cmocka_unit_test(test_problem_without_a_reader),
	    cmocka_unit_test(test_problem_is_cut_not_overrun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
