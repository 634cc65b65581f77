/* SPDX-License-Identifier: Apache-2.0 */
/* What is built when something has changed: a story a rule. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/limits.h"

#define GCC                                                   \
	"core/gcc/9/1 b:core/gcc b:core/make r:core/glibc\n"  \
	"core/make/4/1 b:core/gcc b:core/make r:core/glibc\n" \
	"core/glibc/2/1 b:core/gcc b:core/make\n"

static const struct {
	const char *name, *graph, *touched, *blocked;
	uint32_t rounds;
	const char *plan;
} stories[] = {
    {"nothing touched", "o/a/1/1", "", "", 0, ""},
    {"one alone", "o/a/1/1", "o/a", "", 0, "o/a#1\n"},
    {"what depends on it, by any kind",
        "o/a/1/1\no/r/1/1 r:o/a\no/b/1/1 b:o/a\no/s/1/1 s:o/a\no/x/1/1", "o/a", "", 0,
        "o/a#1\no/b#1 < o/a#1(b)\no/r#1 < o/a#1(r)\no/s#1 < o/a#1(s)\n"},
    {"across origins", "core/a/1/1\nmine/b/1/1 b:core/a\nyours/c/1/1 r:mine/b", "core/a", "", 0,
        "core/a#1\nmine/b#1 < core/a#1(b)\nyours/c#1 < mine/b#1(r)\n"},
    {"a diamond, each once", "o/a/1/1\no/b/1/1 b:o/a\no/c/1/1 b:o/a\no/d/1/1 b:o/b b:o/c", "o/a",
        "", 0, "o/a#1\no/b#1 < o/a#1(b)\no/c#1 < o/a#1(b)\no/d#1 < o/b#1(b) o/c#1(b)\n"},
    {"what is not rebuilt is an external", "o/a/1/1\no/b/1/1 b:o/a r:o/c r:o/never\no/c/1/1", "o/b",
        "", 0, "o/b#1 | o/a(b) o/c(r) o/never(r)\n"},
    {"all kinds of one edge", "o/a/1/1\no/b/1/1 b:o/a r:o/a s:o/a b:o/a", "o/a", "", 0,
        "o/a#1\no/b#1 < o/a#1(rbs)\n"},
    {"fully pinned: built apart", "o/a/1/1\no/b/1/1 b:o/a/1/1", "*", "", 0, "o/a#1\no/b#1\n"},
    {"pinned to the newest version", "o/a/10/1\no/b/1/1 b:o/a/10", "o/a", "", 0,
        "o/a#1\no/b#1 < o/a#1(b)\n"},
    {"pinned to an older version", "o/a/9/1\no/b/1/1 b:o/a/9\no/a/10/1", "o/a", "", 0, "o/a#1\n"},
    {"touched but unknown", "o/a/1/1", "o/new,o/a", "", 0, "o/a#1\no/new#1\n"},
    {"unknown, and needed by others", "o/a/1/1 b:o/new", "o/new", "", 0,
        "o/new#1\no/a#1 < o/new#1(b)\n"},
    {"touched twice", "o/a/1/1", "o/a,o/a", "", 0, "o/a#1\n"},
    {"unbuildable, with its dependents",
        "o/a/1/1\no/b/1/1 b:o/a !plan disconnected\no/c/1/1 r:o/b\no/d/1/1 b:o/c\no/e/1/1 b:o/a",
        "o/a", "", 0,
        "o/a#1\no/e#1 < o/a#1(b)\n-o/b: plan disconnected\n-o/c through o/b of o/b\n"
        "-o/d through o/c of o/b\n"},
    {"the request says so too", "o/a/1/1\no/b/1/1 b:o/a", "o/a", "o/b=access denied", 0,
        "o/a#1\n-o/b: access denied\n"},
    {"without a reason", "o/a/1/1", "o/a", "o/a", 0, "-o/a: listed as unbuildable\n"},
    {"unbuildable, but not concerned", "o/a/1/1\no/b/1/1 !gone\no/c/1/1 b:o/b b:o/a", "o/a", "", 0,
        "o/a#1\no/c#1 < o/a#1(b) | o/b(b)\n"},
    {"unbuildable and unknown", "o/c/1/1 b:o/new", "o/new", "o/new=access denied", 0,
        "-o/c through o/new of o/new\n-o/new: access denied\n"},
    {"builds with itself: once, with the present one", "o/a/1/1 b:o/a", "o/a", "", 0,
        "o/a#1 | o/a(b)\n"},
    {"a cycle of two", "o/a/1/1 b:o/b\no/b/1/1 b:o/a", "o/a", "", 2,
        "o/a#1 | o/b(b)\no/b#1 < o/a#1(b)\no/a#2 < o/b#1(bo)\no/b#2 < o/a#2(bo)\n"},
    {"three rounds unless said", "o/a/1/1 b:o/b\no/b/1/1 b:o/a", "o/b", "", 0,
        "o/a#1 | o/b(b)\no/b#1 < o/a#1(b)\no/a#2 < o/b#1(bo)\no/b#2 < o/a#2(bo)\n"
        "o/a#3 < o/b#2(bo)\no/b#3 < o/a#3(bo)\n"},
    {"one round", "o/a/1/1 b:o/b\no/b/1/1 b:o/a", "o/b", "", 1,
        "o/a#1 | o/b(b)\no/b#1 < o/a#1(b)\n"},
    {"runtime orders a round, not the name", "o/a/1/1 r:o/b\no/b/1/1 b:o/a", "o/a", "", 1,
        "o/b#1 | o/a(b)\no/a#1 < o/b#1(r)\n"},
    {"strong orders too", "o/a/1/1 s:o/b\no/b/1/1 b:o/a", "o/a", "", 1,
        "o/b#1 | o/a(b)\no/a#1 < o/b#1(s)\n"},
    {"who uses a cycle uses its last round", "o/a/1/1 b:o/b\no/b/1/1 b:o/a\no/z/1/1 b:o/a r:o/b",
        "o/a", "", 2,
        "o/a#1 | o/b(b)\no/b#1 < o/a#1(b)\no/a#2 < o/b#1(bo)\no/b#2 < o/a#2(bo)\n"
        "o/z#1 < o/a#2(b) o/b#2(r)\n"},
    {"the next round waits for all users of the one before, except itself",
        "o/a/1/1 b:o/a b:o/c\no/b/1/1 b:o/a\no/c/1/1 b:o/b b:o/a", "o/a", "", 2,
        "o/a#1 | o/a(b) o/c(b)\n"
        "o/b#1 < o/a#1(b)\n"
        "o/c#1 < o/a#1(b) o/b#1(b)\n"
        "o/a#2 < o/a#1(b) o/b#1(o) o/c#1(bo)\n"
        "o/b#2 < o/c#1(o) o/a#2(b)\n"
        "o/c#2 < o/a#2(bo) o/b#2(b)\n"},
    {"components after what they need, then by name",
        "o/z/1/1\no/a/1/1 b:o/z\no/m/1/1 b:o/n\no/n/1/1 b:o/m b:o/z\no/b/1/1", "*", "", 1,
        "o/b#1\no/z#1\no/a#1 < o/z#1(b)\no/m#1 | o/n(b)\no/n#1 < o/z#1(b) o/m#1(b)\n"},
};

static void check_story(size_t i, const char *graph)
{
	struct package_graph g = {0};
	struct manifest m = {0};
	struct problem p = {0};
	AUTO(free_cstr) char *words = NULL;

	load_lines(&g, graph);
	assert_int_equal(
	    plan_of(&g, stories[i].touched, stories[i].blocked, stories[i].rounds, &m, &p), 0);
	words = manifest_words(&m);
	if (strcmp(words, stories[i].plan) != 0)
		fail_msg("%s:\n%swanted:\n%s", stories[i].name, words, stories[i].plan);
	manifest_release(&m);
	package_graph_release(&g);
}

static void test_stories(void **state)
{
	for (size_t i = 0; i < sizeof stories / sizeof *stories; i++)
		check_story(i, stories[i].graph);
}

/* Lines in the other order, but for those of one package. */
static char *backwards(const char *lines)
{
	struct buf b = {0};
	size_t end = strlen(lines);

	for (size_t at = end; at-- > 0;)
		if (at == 0 || lines[at - 1] == '\n') {
			buf_add(&b, lines + at, end - at);
			buf_add_char(&b, '\n');
			end = at ? at - 1 : 0;
		}
	return buf_take(&b);
}

static void test_the_order_of_uploads_changes_nothing(void **state)
{
	for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
		AUTO(free_cstr) char *other = backwards(stories[i].graph);

		check_story(i, other);
	}
}

static void test_the_compiler_and_its_friends(void **state)
{
	struct package_graph g = {0};
	struct manifest m = {0};
	struct problem p = {0};

	load_lines(&g, GCC "core/wordpress/5/1 b:core/gcc\n");
	assert_int_equal(plan_of(&g, "core/make", "", 0, &m, &p), 0);
	assert_int_equal(m.dag.n, 10);
	assert_int_equal(m.n_components, 1);
	assert_int_equal(m.components[0].n, 3);
	assert_true(str_is(m.texts[m.components[0].members[0]], "core/glibc"));
	assert_true(str_is(m.texts[m.jobs[9].node], "core/wordpress"));
	manifest_release(&m);
	package_graph_release(&g);
}

static const struct {
	const char *name, *graph, *says;
} contradictions[] = {
    {"strong against strong", "o/a/1/1 s:o/b\no/b/1/1 s:o/a", "o/a -> o/b -> o/a"},
    {"strong against runtime", "o/a/1/1 s:o/b\no/b/1/1 r:o/a", "o/a -> o/b -> o/a"},
    {"through a third, reached from outside the loop",
        "o/a/1/1 s:o/b b:o/d\no/b/1/1 r:o/c\no/c/1/1 s:o/b\no/d/1/1 b:o/a\no/c2/1/1 b:o/c",
        "o/b -> o/c -> o/b"},
    {"itself, strongly", "o/a/1/1 s:o/a", "o/a -> o/a"},
};

static void test_contradictions(void **state)
{
	for (size_t i = 0; i < sizeof contradictions / sizeof *contradictions; i++) {
		struct package_graph g = {0};
		struct manifest m = {0};
		struct problem p = {0};

		load_lines(&g, contradictions[i].graph);
		assert_int_equal(plan_of(&g, "*", "", 0, &m, &p), ERR_CONFLICT);
		if (!strstr(p.what, contradictions[i].says))
			fail_msg("%s: %s", contradictions[i].name, p.what);
		package_graph_release(&g);
	}
}

static void test_durations(void **state)
{
	struct package_graph g = {0};
	struct manifest m = {0};
	struct problem p = {0};

	load_lines(&g, "o/a/1/1 @10\no/b/1/1 @30\no/c/1/1");
	assert_int_equal(plan_of(&g, "*", "", 0, &m, &p), 0);
	assert_true(m.has_durations);
	assert_int_equal(m.dag.duration[0], 10);
	assert_int_equal(m.dag.duration[1], 30);
	assert_int_equal(m.dag.duration[2], 20);
	manifest_release(&m);
	package_graph_release(&g);
}

static void test_too_many_rounds(void **state)
{
	struct package_graph g = {0};
	struct manifest m = {0};
	struct problem p = {0};

	load_lines(&g, "o/a/1/1");
	assert_int_equal(plan_of(&g, "*", "", PLAN_ROUNDS_MAX + 1, &m, &p), ERR_INVALID);
	assert_string_equal(p.what, "101 rounds are too many; there may be 100");
	package_graph_release(&g);
}

/* A cycle of so many that a hundred rounds are more jobs than a plan may have. */
static void test_too_many_jobs(void **state)
{
	struct package_graph g = {0};
	struct manifest m = {0};
	enum upload_result result;
	struct problem p = {0};
	char line[64];

	for (int i = 0; i < 30000; i++) {
		snprintf(line, sizeof line, "o/p%06d/1/1 b:o/p%06d", i, (i + 1) % 30000);
		assert_int_equal(add_line(&g, line, false, &result, &p), 0);
	}
	assert_int_equal(plan_of(&g, "*", "", 100, &m, &p), ERR_TOO_LARGE);
	assert_string_equal(p.what, "this plan would have 3000000 jobs; it may have 2000000");
	assert_int_equal(plan_of(&g, "o/p000000", "", 3, &m, &p), 0);
	assert_int_equal(m.dag.n, 90000);
	manifest_release(&m);
	package_graph_release(&g);
}

static void test_a_chain_of_a_hundred_thousand(void **state)
{
	struct package_graph g = {0};
	struct manifest m = {0};
	enum upload_result result;
	struct problem p = {0};
	char line[64];

	for (int i = 0; i < 100000; i++) {
		snprintf(line, sizeof line, "o/p%06d/1/1 r:o/p%06d", i, i + 1);
		assert_int_equal(add_line(&g, line, false, &result, &p), 0);
	}
	assert_int_equal(plan_of(&g, "o/p100000", "", 0, &m, &p), 0);
	assert_int_equal(m.dag.n, 100001);
	assert_int_equal(m.n_unknown, 1);
	assert_true(str_is(m.texts[m.jobs[100000].node], "o/p000000"));
	manifest_release(&m);
	package_graph_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_stories),
	    cmocka_unit_test(test_the_order_of_uploads_changes_nothing),
	    cmocka_unit_test(test_the_compiler_and_its_friends),
	    cmocka_unit_test(test_contradictions),
	    cmocka_unit_test(test_durations),
	    cmocka_unit_test(test_too_many_rounds),
	    cmocka_unit_test(test_too_many_jobs),
	    cmocka_unit_test(test_a_chain_of_a_hundred_thousand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
