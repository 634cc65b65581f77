/* SPDX-License-Identifier: Apache-2.0 */
/* Ready-made DAGs: names, conditions, arrays, and what is refused. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/dag/measure.h"
#include "graph/file/file.h"

static char *plan_words(const struct job_plan *j)
{
	struct buf b = {0};

	for (uint32_t i = 0; i < j->dag.n; i++) {
		job_element_name(j, i, &b);
		for (uint32_t e = j->dag.first[i]; e < j->dag.first[i + 1]; e++) {
			buf_add_cstr(&b, e == j->dag.first[i] ? " < " : " ");
			job_element_name(j, j->dag.needs[e], &b);
			if (j->dag.why[e] != AFTER_SUCCESS)
				buf_printf(&b, "(%s)", after_name(j->dag.why[e]));
		}
		buf_add_char(&b, '\n');
	}
	return buf_take(&b);
}

static const struct {
	const char *name, *text, *plan;
} stories[] = {
    {"none", "jobs: []", ""},
    {"in the order of the file", "jobs: [{name: b, needs: [a]}, {name: a}]", "b < a\na\n"},
    {"a need twice counts once",
        "jobs: [{name: a}, {name: b, needs: [a, a, {job: a, after: success}]}]", "a\nb < a\n"},
    {"conditions",
        "jobs: [{name: a}, {name: c}, {name: b, needs: [{job: c, after: failure}, {job: a, after: "
        "end}]}]",
        "a\nc\nb < a(end) c(failure)\n"},
    {"a matrix", "jobs: [{name: m, matrix: {x: [1, 2], y: [a, b]}}]",
        "m[x=1,y=a]\nm[x=1,y=b]\nm[x=2,y=a]\nm[x=2,y=b]\n"},
    {"needs of and on a matrix",
        "jobs: [{name: a}, {name: m, matrix: {x: [1, 2]}, needs: [a]}, {name: z, needs: [{job: m, "
        "after: end}]}]",
        "a\nm[x=1] < a\nm[x=2] < a\nz < m[x=1](end) m[x=2](end)\n"},
    {"a name with blanks and letters of all kinds", "jobs: [{name: 'Bücher binden 2'}]",
        "Bücher binden 2\n"},
};

static void test_stories(void **state)
{
	for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
		struct plan_file f = {0};
		struct job_plan j = {0};
		struct problem p = {0};
		AUTO(free_cstr) char *words = NULL;

		if (plan_file_read(str_of(stories[i].text), &f, &p) < 0 ||
		    job_plan_make(&f.jobs, &j, &p) < 0)
			fail_msg("%s: %s", stories[i].name, p.what);
		words = plan_words(&j);
		if (strcmp(words, stories[i].plan) != 0)
			fail_msg("%s:\n%s", stories[i].name, words);
		job_plan_release(&j);
		plan_file_release(&f);
	}
}

static const struct {
	const char *name, *text, *says;
} refused[] = {
    {"two of one name", "jobs:\n- name: a\n- name: b\n- name: a\n",
        "line 4: a: there are two jobs of this name; the first is in line 2"},
    {"a need that is not there", "jobs:\n- name: a\n  needs: [b]\n",
        "line 3: a: it needs b, and there is no job of that name"},
    {"itself", "jobs:\n- name: a\n  needs: [a]\n", "line 2: a: its needs close a loop: a -> a"},
    {"a loop",
        "jobs:\n- {name: x, needs: [a]}\n- {name: a, needs: [b]}\n- {name: b, needs: [c]}\n- "
        "{name: c, needs: [a]}\n",
        "line 3: a: its needs close a loop: a -> b -> c -> a"},
    {"a loop through a clean-up",
        "jobs:\n- {name: a, needs: [{job: b, after: failure}]}\n- {name: b, needs: [a]}\n",
        "line 2: a: its needs close a loop: a -> b -> a"},
    {"two conditions",
        "jobs:\n- name: a\n- name: b\n  needs:\n  - a\n  - {job: a, after: failure}\n",
        "line 6: b: it needs a on two conditions"},
    {"too many combinations",
        "jobs:\n- name: a\n  matrix: {a: [1,2,3,4,5,6,7,8], b: [1,2,3,4,5,6,7,8], c: "
        "[1,2,3,4,5,6,7,8], "
        "d: [1,2,3,4,5,6,7,8], e: [1,2,3,4,5,6,7,8]}\n",
        "line 2: a: its matrix has more than 10000 combinations"},
};

/* A name of 255 bytes is cut, and never within a character: here each has two bytes. */
static void test_a_long_name_is_cut_between_characters(void **state)
{
	struct buf b = {0};
	struct plan_file f = {0};
	struct job_plan j = {0};
	struct problem p = {0};

	buf_add_cstr(&b, "jobs: [{name: x");
	for (int i = 0; i < 127; i++)
		buf_add_cstr(&b, "ü");
	buf_add_cstr(&b, ", needs: [y]}]");
	assert_int_equal(plan_file_read(buf_str(&b), &f, &p), 0);
	assert_int_equal(job_plan_make(&f.jobs, &j, &p), ERR_INVALID);
	assert_non_null(strstr(p.what, "ü: it needs y, and there is no job of that name"));
	buf_release(&b);
	plan_file_release(&f);
}

static void test_refused(void **state)
{
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct plan_file f = {0};
		struct job_plan j = {0};
		struct problem p = {0};

		if (plan_file_read(str_of(refused[i].text), &f, &p) < 0)
			fail_msg("%s: %s", refused[i].name, p.what);
		if (job_plan_make(&f.jobs, &j, &p) >= 0 || !strstr(p.what, refused[i].says))
			fail_msg("%s: %s", refused[i].name, p.what);
		plan_file_release(&f);
	}
}

/* Six of five seconds, two at a time, after one of ten; then one that takes the average. */
static void test_throttle_and_durations(void **state)
{
	static const char text[] =
	    "jobs:\n"
	    "- {name: a, duration: 10s}\n"
	    "- {name: m, duration: 5s, throttle: 2, matrix: {x: [1,2,3,4,5,6]}, needs: [a]}\n"
	    "- {name: z, needs: [m]}\n";
	struct plan_file f = {0};
	struct job_plan j = {0};
	struct measures m;
	struct problem p = {0};

	assert_int_equal(plan_file_read(STR(text), &f, &p), 0);
	assert_int_equal(job_plan_make(&f.jobs, &j, &p), 0);
	assert_true(j.has_durations);
	dag_measure(&j.dag, &m);
	assert_int_equal(m.critical, 10000 + 5000 + 7500);
	assert_int_equal(dag_makespan(&j.dag, &m, 64, PICK_OLDEST), 10000 + 3 * 5000 + 7500);
	assert_int_equal(dag_makespan(&j.dag, &m, 1, PICK_OLDEST), 10000 + 6 * 5000 + 7500);
	measures_release(&m);
	job_plan_release(&j);
	plan_file_release(&f);
}

/* Between two matrices of five thousand lie 25 million needs. */
static void test_too_many_needs_between_matrices(void **state)
{
	struct buf b = {0};
	struct plan_file f = {0};
	struct job_plan j = {0};
	struct problem p = {0};

	buf_add_cstr(&b, "jobs:\n");
	for (int job = 0; job < 2; job++) {
		buf_printf(&b, "- name: m%d\n  needs: [%s]\n  matrix: {x: [", job, job ? "m0" : "");
		for (int i = 0; i < 5000; i++)
			buf_printf(&b, "%d,", i);
		buf_add_cstr(&b, "]}\n");
	}
	assert_int_equal(plan_file_read(buf_str(&b), &f, &p), 0);
	assert_int_equal(job_plan_make(&f.jobs, &j, &p), ERR_TOO_LARGE);
	assert_non_null(strstr(p.what, "more than 20000000 needs"));
	buf_release(&b);
	plan_file_release(&f);
}

static void test_a_chain_of_a_hundred_thousand(void **state)
{
	struct buf b = {0};
	struct plan_file f = {0};
	struct job_plan j = {0};
	struct measures m;
	struct problem p = {0};

	buf_add_cstr(&b, "{\"jobs\":[{\"name\":\"j0\"}");
	for (int i = 1; i < 100000; i++)
		buf_printf(&b, ",{\"name\":\"j%d\",\"needs\":[\"j%d\"]}", i, i - 1);
	buf_add_cstr(&b, "]}");
	assert_int_equal(plan_file_read(buf_str(&b), &f, &p), 0);
	assert_int_equal(job_plan_make(&f.jobs, &j, &p), 0);
	dag_measure(&j.dag, &m);
	assert_int_equal(m.longest_chain, 100000);
	measures_release(&m);
	job_plan_release(&j);
	plan_file_release(&f);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_stories),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_a_long_name_is_cut_between_characters),
	    cmocka_unit_test(test_throttle_and_durations),
	    cmocka_unit_test(test_too_many_needs_between_matrices),
	    cmocka_unit_test(test_a_chain_of_a_hundred_thousand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
