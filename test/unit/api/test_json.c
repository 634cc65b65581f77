/* SPDX-License-Identifier: Apache-2.0 */
/* The writer of JSON: commas, escapes, bytes that are no text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/frame/json_out.h"

static void test_commas(void **state)
{
	struct buf b = {0};

	jw_open(&b, '{');
	jw_mi64(&b, "a", -1);
	jw_key(&b, "b");
	jw_open(&b, '[');
	jw_str(&b, STR("["));
	jw_str(&b, STR("{"));
	jw_open(&b, '{');
	jw_close(&b, '}');
	jw_null(&b);
	jw_close(&b, ']');
	jw_mbool(&b, "c", true);
	jw_mstr_null(&b, "d", STR_NULL);
	jw_mlines(&b, "e", STR("x\ny\n"));
	jw_mlabels(&b, "f", STR("k=v=w\nl=\n"));
	jw_mtime_null(&b, "g", 1700000000123);
	jw_mtime_null(&b, "h", 0);
	jw_close(&b, '}');
	assert_string_equal(b.p,
	    "{\"a\":-1,\"b\":[\"[\",\"{\",{},null],\"c\":true,\"d\":null,\"e\":[\"x\",\"y\"],"
	    "\"f\":{\"k\":\"v=w\",\"l\":\"\"},\"g\":\"2023-11-14T22:13:20.123Z\",\"h\":null}");
	buf_release(&b);
}

static void test_strings(void **state)
{
	static const struct {
		const char *in;
		size_t n;
		const char *out;
	} cases[] = {
	    {"plain", 5, "\"plain\""},
	    {"\"\\\n\t\r\x01\x7f", 7, "\"\\\"\\\\\\n\\t\\r\\u0001\\u007f\""},
	    {"a\0b", 3, "\"a\\u0000b\""},
	    {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
	    {"\xff x \xc3", 5, "\"\xef\xbf\xbd x \xef\xbf\xbd\""},
	    {"\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* a surrogate */
	    {"\xc0\xaf", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\""},                 /* overlong */
	    {"\xf4\x90\x80\x80", 4,
	        "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* past the last one */
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct buf b = {0};

		jw_str(&b, (struct str){cases[i].in, cases[i].n});
		assert_string_equal(b.p, cases[i].out);
		buf_release(&b);
	}
}

/* Every byte pair as text gives JSON that a parser takes. */
static void test_every_pair(void **state)
{
	for (int i = 0; i < 65536; i++) {
		char text[2] = {(char)(i >> 8), (char)i};
		struct buf b = {0};
		json_t *v;

		jw_str(&b, (struct str){text, 2});
		v = json_loadb(b.p, b.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		assert_non_null(v);
		json_decref(v);
		buf_release(&b);
	}
}

static void test_values(void **state)
{
	const char *text =
	    "{\"a\":[1,-2.5,true,false,null,\"x\\\"y\"],\"b\":{\"c\":{}},\"d\":1e-7}";
	json_t *v = json_loads(text, 0, NULL), *again;
	struct buf b = {0};

	jw_value(&b, v);
	again = json_loadb(b.p, b.n, 0, NULL);
	assert_true(json_equal(v, again));
	json_decref(v);
	json_decref(again);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_commas),
	    cmocka_unit_test(test_strings),
	    cmocka_unit_test(test_every_pair),
	    cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
