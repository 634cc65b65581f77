/* SPDX-License-Identifier: Apache-2.0 */
/* Stripping comments and trailing commas, byte for byte, and the lines of keys. */
#include "config_test.h"

#include "base/mem.h"
#include "config/text.h"

static const struct {
	const char *in, *out;
} stripped[] = {
    {"", ""},
    {"{}", "{}"},
    {"{// c\n}", "{    \n}"},
    {"{} // no newline", "{}              "},
    {"[1,/* a\nb */2]", "[1,    \n    2]"},
    {"[1,]", "[1 ]"},
    {"[1, /* x */ ]", "[1          ]"},
    {"{\"a\":{},}", "{\"a\":{} }"},
    {"{\"a\":\"x\",\n}", "{\"a\":\"x\" \n}"},
    {"[,]", "[,]"},
    {"[1,,]", "[1,,]"},
    {"{\"a\":,}", "{\"a\":,}"},
    {"[\"// no\", \"/* no */\", \",]\"]", "[\"// no\", \"/* no */\", \",]\"]"},
    {"[\"a\\\" // b\",]", "[\"a\\\" // b\" ]"},
    {"[\"a\\\\\" // b\n]", "[\"a\\\\\"     \n]"},
    {"/**/1", "    1"},
    {"/***/1", "     1"},
    {"1 / 2", "1 / 2"},
    {"\xef\xbb\xbf{}", "   {}"},
};

static void test_strip(void **state)
{
	struct problem p = {0};
	int line = 0;

	for (size_t i = 0; i < COUNT(stripped); i++) {
		char *copy = xstrdup(stripped[i].in);

		assert_int_equal(text_strip(copy, strlen(copy), &line, &p), 0);
		assert_string_equal(copy, stripped[i].out);
		free(copy);
	}
}

static void test_strip_refuses(void **state)
{
	struct problem p = {0};
	char nul[] = "{\n\n\0}", open[] = "{\n/* never\nends", slash[] = "[/*/]";
	char deep[CONFIG_DEPTH_MAX + 2];
	int line = 0;

	assert_int_equal(text_strip(nul, sizeof nul - 1, &line, &p), ERR_INVALID);
	assert_int_equal(line, 3);
	assert_non_null(strstr(p.what, "NUL"));
	assert_int_equal(text_strip(open, sizeof open - 1, &line, &p), ERR_INVALID);
	assert_int_equal(line, 2);
	assert_string_equal(p.hint, "close it with */");
	assert_int_equal(text_strip(slash, sizeof slash - 1, &line, &p), ERR_INVALID);
	memset(deep, '[', sizeof deep);
	assert_int_equal(text_strip(deep, CONFIG_DEPTH_MAX, &line, &p), 0);
	assert_int_equal(text_strip(deep, CONFIG_DEPTH_MAX + 1, &line, &p), ERR_INVALID);
}

static uint64_t path(const char *keys)
{
	struct str rest = str_of(keys), part;
	uint64_t at = PATH_ROOT;
	int64_t n;

	while (str_next(&rest, '/', &part))
		at = str_to_i64(part, 0, 99, &n) ? path_index(at, (size_t)n) : path_key(at, part);
	return at;
}

static void test_paths(void **state)
{
	static const char text[] = "{\n"                           /* 1 */
	                           " \"a\": [1,\n"                 /* 2 */
	                           "  {\"b\":\n"                   /* 3 */
	                           "   \"c\"}, [],\n"              /* 4 */
	                           "  [\n"                         /* 5 */
	                           "   true]],\n"                  /* 6 */
	                           " \"d\": {}, \"e\": {\n"        /* 7 */
	                           "  \"a\": \"{\\\"x\\\":1}\",\n" /* 8 */
	                           "  \"\\u0066\": null}\n"        /* 9 */
	                           "}\n";
	static const struct {
		const char *path;
		int line;
	} expected[] = {{"a", 2}, {"a/0", 2}, {"a/1", 3}, {"a/1/b", 3}, {"a/2", 4}, {"a/3", 5},
	    {"a/3/0", 6}, {"d", 7}, {"e", 7}, {"e/a", 8}, {"e/f", 9}, {"b", 0}, {"x", 0},
	    {"a/4", 0}, {"a/2/0", 0}, {"e/x", 0}};
	struct paths p = {0};

	paths_scan(&p, str_of(text));
	for (size_t i = 0; i < COUNT(expected); i++)
		assert_int_equal(paths_line(&p, path(expected[i].path)), expected[i].line);
	assert_int_equal(p.n, 12); /* and the root */
	paths_release(&p);
	assert_int_equal(paths_line(&p, PATH_ROOT), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_strip),
	    cmocka_unit_test(test_strip_refuses),
	    cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
