/* SPDX-License-Identifier: Apache-2.0 */
/* JSON from strangers: how much of it there may be, and arrays that are taken apart as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/limits.h"
#include "wire/json/json_array.h"
#include "wire/json/json_in.h"

static int parse(const struct buf *b, struct problem *p)
{
	json_t *v = NULL;
	int rc = json_in_parse(buf_str(b), &v, p);

	json_decref(rc ? NULL : v);
	return rc;
}

/* n members, whose names and values hold what outside of strings would count. */
static struct buf members(size_t n)
{
	struct buf b = {0};

	buf_add_char(&b, '{');
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%s\"k%zu:{[\\\"\":\"[[{{::\\\\\"", i ? "," : "", i);
	buf_add_char(&b, '}');
	return b;
}

static void test_members_are_bounded(void **state)
{
	struct buf most = members(JSON_NODES_MAX - 1), more = members(JSON_NODES_MAX);
	struct problem p = {0};

	assert_int_equal(parse(&most, &p), 0);
	assert_int_equal(parse(&more, &p), ERR_TOO_LARGE);
	assert_non_null(strstr(p.what, "20000"));
	buf_release(&most);
	buf_release(&more);
}

static void test_containers_are_bounded(void **state)
{
	static const char *const kinds[] = {"[],", "{},"};

	for (int k = 0; k < 2; k++) {
		struct buf b = {0};
		struct problem p = {0};

		buf_add_char(&b, '[');
		for (int i = 0; i < JSON_NODES_MAX; i++)
			buf_add_cstr(&b, kinds[k]);
		buf_add_cstr(&b, "1]");
		assert_int_equal(parse(&b, &p), ERR_TOO_LARGE);
		buf_release(&b);
	}
}

/* The array's elements, each in brackets, or what is wrong. */
static char *taken_apart(const char *text)
{
	struct str rest = str_of(text), one;
	struct problem p = {0};
	struct buf b = {0};
	int rc;

	for (bool first = true; (rc = json_array_next(&rest, first, &one, &p)) > 0; first = false)
		buf_printf(&b, "<" STR_FMT ">", STR_ARG(one));
	if (rc)
		buf_printf(&b, "!%s", p.what);
	return buf_take(&b);
}

static void test_arrays_taken_apart(void **state)
{
	static const char *const cases[][2] = {
	    {"[]", ""},
	    {" [ ] \r\n", ""},
	    {"[1]", "<1>"},
	    {" [ {\"a\":[1,2]} , \"x,]\\\"\" ,3 ]\n", "<{\"a\":[1,2]}><\"x,]\\\"\"><3>"},
	    {"[[],{},[[]]]", "<[]><{}><[[]]>"},
	    {"[1,]", "<1>!this is not JSON: a value is missing"},
	    {"[,1]", "!this is not JSON: a value is missing"},
	    {"[1", "<1>!this is not JSON: the array is not closed"},
	    {"[1,", "<1>!this is not JSON: the array is not closed"},
	    {"[", "!this is not JSON: the array is not closed"},
	    {"[\"a]", "<\"a]>!this is not JSON: the array is not closed"},
	    {"[1] 2", "<1>!this is not JSON: something follows the array"},
	    {"[] ]", "!this is not JSON: something follows the array"},
	    {"[1}", "<1>!this is not JSON: a comma is missing"},
	    {"{}", "!this is not JSON: a comma is missing"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *got = taken_apart(cases[i][0]);

		assert_string_equal(got, cases[i][1]);
		free(got);
	}
}

/* What jansson takes for an array is taken apart into the same values. */
static void test_as_the_parser_sees_them(void **state)
{
	static const char alphabet[] = "[]{},,:\"\"\\ 1a\n";
	struct rng r = {7};
	int arrays = 0;

	for (int i = 0; i < 200000; i++) {
		char text[16] = "[";
		size_t n = 1 + rng_below(&r, 12), k = 0;
		struct str rest, one;
		struct problem p;
		json_t *v;
		int rc;

		for (size_t j = 1; j <= n; j++)
			text[j] = alphabet[rng_below(&r, sizeof alphabet - 1)];
		v = json_loads(text, 0, NULL);
		rest = str_of(text);
		while ((rc = json_array_next(&rest, k == 0, &one, &p)) > 0) {
			json_t *e = json_loadb(one.p, one.n, JSON_DECODE_ANY, NULL);

			if (v && !json_equal(e, json_array_get(v, k)))
				fail_msg("%s: element %zu", text, k);
			k++;
			json_decref(e);
		}
		if (v) {
			assert_int_equal(rc, 0);
			assert_int_equal(k, json_array_size(v));
			arrays++;
		}
		json_decref(v);
	}
	assert_true(arrays > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_members_are_bounded),
	    cmocka_unit_test(test_containers_are_bounded),
	    cmocka_unit_test(test_arrays_taken_apart),
	    cmocka_unit_test(test_as_the_parser_sees_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
