/* SPDX-License-Identifier: Apache-2.0 */
/* Deep copies of the link's words: nothing of the source is left in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "model/link/link.h"

#define N 3

static char texts[N * 16][8];
static size_t n_texts;

/* Each member gets a text of its own. */
static void fill(void *row, const struct link_strings *strings)
{
	for (size_t i = 0; i < strings->n; i++) {
		char *text = texts[n_texts++];

		memcpy(text, "text ", 5);
		text[5] = (char)('a' + i);
		*link_string(row, strings, i) = (struct str){text, 6};
	}
}

static void check(const void *row, const struct link_strings *strings)
{
	char wanted[] = "text ?";

	for (size_t i = 0; i < strings->n; i++) {
		wanted[5] = (char)('a' + i);
		assert_true(str_is(*link_string((void *)row, strings, i), wanted));
	}
}

/* The sources' memory is used for something else, as an arena's is after its reset. */
static void scribble(void)
{
	memset(texts, '#', sizeof texts);
	n_texts = 0;
}

static void a_copied_attempt_has_its_own_texts(void **state)
{
	struct link_held from[N] = {{.task = 1, .token = 4}, {.task = 2}, {.task = 3}};
	const struct link_held *to;
	struct arena a = {0};

	for (size_t i = 0; i < N; i++)
		fill(&from[i], &link_held_strings);
	to = link_held_copy(&a, from, N);
	scribble();
	memset(from, '#', sizeof from);
	for (size_t i = 0; i < N; i++) {
		assert_int_equal(to[i].task, i + 1);
		check(&to[i], &link_held_strings);
	}
	assert_int_equal(to[0].token, 4);
	assert_true(str_is(to[0].instance.service, "text a"));
	assert_true(str_is(to[0].fares.ports, "text f"));
	arena_release(&a);
}

static void a_copied_run_has_its_own_texts_and_needs(void **state)
{
	struct link_need needs[N] = {{.task = 5}, {.task = 6}, {.task = 7}};
	struct link_run from = {.task = 1, .needs = needs, .n_needs = N};
	const struct link_run *to;
	struct arena a = {0};

	fill(&from, &link_run_strings);
	for (size_t i = 0; i < N; i++)
		fill(&needs[i], &link_need_strings);
	to = link_run_copy(&a, &from);
	scribble();
	memset(needs, '#', sizeof needs);
	check(to, &link_run_strings);
	assert_int_equal(to->n_needs, N);
	for (size_t i = 0; i < N; i++) {
		assert_int_equal(to->needs[i].task, i + 5);
		check(&to->needs[i], &link_need_strings);
	}
	arena_release(&a);
}

static void what_is_missing_stays_missing(void **state)
{
	struct link_run from = {.queue = STR("q")};
	struct arena a = {0};
	const struct link_run *to = link_run_copy(&a, &from);

	assert_null(to->env.p);
	assert_int_equal(to->n_needs, 0);
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_copied_attempt_has_its_own_texts),
	    cmocka_unit_test(a_copied_run_has_its_own_texts_and_needs),
	    cmocka_unit_test(what_is_missing_stays_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
