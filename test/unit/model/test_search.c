/* SPDX-License-Identifier: Apache-2.0 */
/* Words: what is one, what is looked for, and what a task has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/task/search.h"
#include "model/task/task.h"

static const struct task_spec report = {.name = {"Weekly Report", 13},
    .labels = {"team=Ops\nzone=eu-west\n", 22},
    .body = {"{\"command\":[\"/usr/bin/make\",\"a\\u00e4b\\nnext\"],\"env\":{\"SECRET\":\"hush\"},"
             "\"params\":{\"Count\":42,\"to\":[\"ann@example.org\"]}}",
        118}};

static bool finds(const char *query)
{
	AUTO(arena_release) struct arena a = {0};
	AUTO(buf_release) struct buf text = {0};
	struct search_words s;
	struct problem p;

	assert_int_equal(search_parse(&a, str_of(query), &s, &p), 0);
	search_text(&report, &text);
	return search_matches(&s, buf_str(&text));
}

static void test_what_is_found(void **state)
{
	static const char *const found[] = {"weekly", "REPORT weekly", "make", "/usr/bin/make",
	    "ann@example.org", "42", "count", "team=ops", "eu-west", "next",
	    "a\xc3\xa4"
	    "b",
	    "repo*", "usr make zone", "make)*("};
	static const char *const missing[] = {"week", "secret", "hush", "reports", "make nosuch",
	    "report42", "tea", "usrbin", "repor", "xyz*"};

	for (size_t i = 0; i < sizeof found / sizeof found[0]; i++)
		if (!finds(found[i]))
			fail_msg("%s is not found", found[i]);
	for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++)
		if (finds(missing[i]))
			fail_msg("%s is found", missing[i]);
}

static bool is_one_word(const char *one, const char *other)
{
	AUTO(arena_release) struct arena a = {0};
	AUTO(buf_release) struct buf text = {0};
	struct task_spec named = {.name = str_of(one)};
	struct search_words s;
	struct problem p;

	assert_int_equal(search_parse(&a, str_of(other), &s, &p), 0);
	search_text(&named, &text);
	return search_matches(&s, buf_str(&text));
}

static void test_capitals_are_letters(void **state)
{
	static const char *const same[][2] = {{"Ärger", "ärger"}, {"ÀÉÎÕÜÞ", "àéîõüþ"}, {"Ÿ", "ÿ"},
	    {"ŁÓDŹ", "łódź"}, {"Žluťoučký", "žLUŤOUČKÝ"}, {"ΑΘΉΝΑΣ", "αθήνας"}, {"Ωμέγα", "ΩΜΈΓΑ"},
	    {"МОСКВА", "москва"}, {"Ёлка", "ёЛКА"}, {"Ґанок", "ґанок"}, {"ՀԱՅ", "հայ"},
	    {"Größe", "GRÖßE"}};
	static const char *const other[][2] = {{"Ärger", "arger"}, {"×", "÷"}, {"Größe", "grösse"},
	    {"ı", "i"}, {"ÿ", "ß"}, {"日本", "日木"}};

	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
		if (!is_one_word(same[i][0], same[i][1]) || !is_one_word(same[i][1], same[i][0]))
			fail_msg("%s is not %s", same[i][0], same[i][1]);
	for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
		if (is_one_word(other[i][0], other[i][1]))
			fail_msg("%s is %s", other[i][0], other[i][1]);
}

/* A word is cut at 64 bytes, perhaps through a letter whose first byte depends on its case. */
static void test_a_cut_through_a_letter(void **state)
{
	AUTO(buf_release) struct buf big = {0}, small = {0};

	buf_add_char(&big, 'x');
	buf_add_char(&small, 'X');
	for (int i = 0; i < 40; i++) {
		buf_add_cstr(&big, "Р");
		buf_add_cstr(&small, "р");
	}
	assert_true(is_one_word(big.p, small.p));
	assert_true(is_one_word(small.p, big.p));
}

static void test_bytes_that_are_no_text(void **state)
{
	struct rng r = {7};

	for (int i = 0; i < 20000; i++) {
		char bytes[9] = {0};

		for (int k = 0; k < 8; k++)
			bytes[k] = (char)(rng_below(&r, 128) + 128);
		assert_true(is_one_word(bytes, bytes));
	}
}

static void test_what_is_refused(void **state)
{
	AUTO(arena_release) struct arena a = {0};
	AUTO(buf_release) struct buf many = {0}, longest = {0};
	struct search_words s;
	struct problem p;

	assert_int_equal(search_parse(&a, STR(""), &s, &p), ERR_INVALID);
	assert_int_equal(search_parse(&a, STR("\"* ()--"), &s, &p), ERR_INVALID);
	assert_int_equal(search_parse(&a, STR("ab*"), &s, &p), ERR_INVALID);
	for (int i = 0; i <= SEARCH_WORDS_MAX; i++)
		buf_printf(&many, "w%d ", i);
	assert_int_equal(search_parse(&a, buf_str(&many), &s, &p), ERR_INVALID);
	for (int i = 0; i <= SEARCH_QUERY_MAX; i++)
		buf_add_char(&longest, 'x');
	assert_int_equal(search_parse(&a, buf_str(&longest), &s, &p), ERR_INVALID);
	longest.n--;
	assert_int_equal(search_parse(&a, buf_str(&longest), &s, &p), 0);
	assert_int_equal(s.words[0].text.n, SEARCH_WORD_BYTES);
}

static void test_the_same_word_counts_once(void **state)
{
	AUTO(arena_release) struct arena a = {0};
	AUTO(buf_release) struct buf same = {0};
	struct search_words s;
	struct problem p;

	for (int i = 0; i < 100; i++)
		buf_add_cstr(&same, "Make make ");
	assert_int_equal(search_parse(&a, buf_str(&same), &s, &p), 0);
	assert_int_equal(s.n, 1);
}

/* Only letters, digits and bytes above ASCII are left of what is asked for. */
static void test_nothing_but_words_is_left(void **state)
{
	struct rng r = {7};

	for (int i = 0; i < 20000; i++) {
		AUTO(arena_release) struct arena a = {0};
		struct search_words s = {0};
		size_t n = rng_below(&r, 40);
		struct problem p;
		char text[40];

		for (size_t k = 0; k < n; k++)
			text[k] = (char)rng_below(&r, 256);
		if (search_parse(&a, (struct str){text, n}, &s, &p))
			continue;
		for (size_t w = 0; w < s.n; w++)
			for (size_t k = 0; k < s.words[w].text.n; k++) {
				unsigned char c = (unsigned char)s.words[w].text.p[k];

				assert_true(
				    (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c >= 0x80);
			}
	}
}

static void test_a_tasks_words_are_bounded(void **state)
{
	AUTO(buf_release) struct buf body = {0}, text = {0};
	struct task_spec t = {0};

	buf_add_cstr(&body, "{\"command\":[\"first\"");
	for (int i = 0; i < 100000; i++)
		buf_printf(&body, ",\"word%d\"", i);
	buf_add_cstr(&body, "]}");
	t.body = buf_str(&body);
	search_text(&t, &text);
	assert_in_range(text.n, SEARCH_TEXT_BYTES - 20, SEARCH_TEXT_BYTES);
	assert_memory_equal(text.p, "first word0 ", 12);
	assert_int_equal(text.p[text.n - 1], ' ');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_what_is_found),
	    cmocka_unit_test(test_capitals_are_letters),
	    cmocka_unit_test(test_a_cut_through_a_letter),
	    cmocka_unit_test(test_bytes_that_are_no_text),
	    cmocka_unit_test(test_what_is_refused),
	    cmocka_unit_test(test_the_same_word_counts_once),
	    cmocka_unit_test(test_nothing_but_words_is_left),
	    cmocka_unit_test(test_a_tasks_words_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
