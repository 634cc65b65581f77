/* SPDX-License-Identifier: Apache-2.0 */
/* Changes that are kept or undone as a whole, and what a check of a graph finds. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "graph/package/change.h"
#include "graph/write/findings.h"

#define WORDS 8

/* "o/a/1/1 r:o/b" as an upload whose texts lie in the line. */
static void upload(struct package_change *x, const char *line)
{
	struct upload_dep deps[WORDS];
	struct upload u = {.deps = deps};
	struct str rest = str_of(line), word;

	assert_true(str_next(&rest, ' ', &word));
	assert_int_equal(ident_parse_full(word, &u.ident, NULL), 0);
	while (rest.n && str_next(&rest, ' ', &word)) {
		deps[u.n_deps].kind = word.p[0] == 'r'   ? DEP_RUNTIME
		                      : word.p[0] == 'b' ? DEP_BUILD
		                                         : DEP_STRONG;
		word = (struct str){word.p + 2, word.n - 2};
		assert_int_equal(ident_parse(word, &deps[u.n_deps++].on, NULL), 0);
	}
	assert_int_equal(change_upload(x, &u, NULL), 0);
}

static struct ident ident_of(const char *text)
{
	struct ident id;

	assert_int_equal(ident_parse(str_of(text), &id, NULL), 0);
	return id;
}

/* Everything that a graph says, as text; the caller frees it. */
static char *words_of(const struct package_graph *g)
{
	struct buf b = {0};

	for (size_t i = 0; i < g->names.n; i++) {
		const struct package *k = &g->packages[i];

		if (!k->is_known)
			continue;
		buf_printf(&b, "%s%s%s", k->ident, k->unbuildable ? " !" : "",
		    k->unbuildable ? k->unbuildable : "");
		for (uint32_t d = 0; d < k->n_deps; d++)
			buf_printf(&b, " %d:" STR_FMT, k->deps[d].kinds,
			    STR_ARG(g->names.texts[k->deps[d].on]));
		buf_add_char(&b, '\n');
	}
	buf_printf(&b, "%zu packages, %zu dependencies", g->n_known, g->n_deps);
	return buf_take(&b);
}

static void test_counts(void **state)
{
	struct package_graph g = {0};
	struct package_change x = {.g = &g};
	AUTO(free_cstr) char *words = NULL;
	struct ident a = ident_of("o/a"), b = ident_of("o/b/2/1");
	struct problem p = {0};

	load_lines(&g, "o/a/1/1 r:o/c\no/b/2/1\no/d/5/1 b:o/a");
	upload(&x, "o/a/2/1 r:o/b"); /* replaces what the older one needed */
	upload(&x, "o/b/1/1");       /* older */
	upload(&x, "o/d/5/1 b:o/a"); /* the same */
	upload(&x, "o/e/1/1");
	assert_int_equal(change_mark(&x, &a, STR("plan disconnected"), &p), 0);
	assert_int_equal(change_mark(&x, &a, STR("plan disconnected"), &p), 0);
	assert_int_equal(change_remove(&x, &b, &p), 0);
	assert_int_equal(x.added, 1);
	assert_int_equal(x.replaced, 1);
	assert_int_equal(x.older, 1);
	assert_int_equal(x.same, 2);
	assert_int_equal(x.marked, 1);
	assert_int_equal(x.removed, 1);
	assert_int_equal(change_check(&x, &p), 0);
	change_keep(&x);
	words = words_of(&g);
	assert_string_equal(words, "o/a/2/1 !plan disconnected 1:o/b\no/d/5/1 2:o/a\no/e/1/1\n"
	                           "3 packages, 2 dependencies");
	package_graph_release(&g);
}

static void test_not_there(void **state)
{
	static const char *const names[] = {"o/x", "o/a/2", "o/a/1/2", "o/c"};
	struct package_graph g = {0};
	struct package_change x = {.g = &g};

	load_lines(&g, "o/a/1/1 r:o/c");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct ident id = ident_of(names[i]);
		struct problem p = {0};

		assert_int_equal(change_remove(&x, &id, &p), ERR_NOT_FOUND);
		assert_int_equal(change_mark(&x, &id, STR("why"), &p), ERR_NOT_FOUND);
		assert_true(p.what[0]);
	}
	assert_int_equal(x.n, 0);
	change_undo(&x);
	package_graph_release(&g);
}

/* Two uploads that only together close a loop: the loop is named, nothing is left of either. */
static void test_loop_of_two_uploads(void **state)
{
	struct package_graph g = {0};
	struct package_change x = {.g = &g};
	AUTO(free_cstr) char *before = NULL;
	AUTO(free_cstr) char *after = NULL;
	struct problem p = {0};

	load_lines(&g, "o/a/1/1 r:o/b\no/b/1/1");
	before = words_of(&g);
	upload(&x, "o/b/2/1 r:o/c");
	upload(&x, "o/c/1/1 r:o/a b:o/c");
	assert_int_equal(change_check(&x, &p), ERR_CONFLICT);
	assert_non_null(strstr(p.what, "o/b -> o/c -> o/a -> o/b"));
	change_undo(&x);
	after = words_of(&g);
	assert_string_equal(before, after);
	assert_int_equal(package_graph_check(&g, &p), 0);
	package_graph_release(&g);
}

static void random_step(struct package_change *x, struct rng *rng)
{
	char line[64];
	struct problem p = {0};
	struct ident id;

	snprintf(line, sizeof line, "o/p%d", (int)rng_below(rng, 8));
	id = ident_of(line);
	switch (rng_below(rng, 5)) {
	case 0: change_remove(x, &id, &p); break;
	case 1: change_mark(x, &id, rng_below(rng, 2) ? STR("why") : STR_NULL, &p); break;
	default:
		snprintf(line, sizeof line, "o/p%d/%d/1 r:o/p%d b:o/p%d", (int)rng_below(rng, 8),
		    (int)rng_below(rng, 4), (int)rng_below(rng, 8), (int)rng_below(rng, 8));
		upload(x, line);
	}
}

/* What is done is undone; what is kept has no loop if and only if the check says so. */
static void test_random(void **state)
{
	struct package_graph g = {0};
	struct rng rng = {7};

	for (int round = 0; round < 3000; round++) {
		struct package_change x = {.g = &g};
		AUTO(free_cstr) char *before = words_of(&g);
		AUTO(free_cstr) char *after = NULL;
		struct problem p = {0};
		int rc;

		for (int i = (int)rng_below(&rng, 5); i >= 0; i--)
			random_step(&x, &rng);
		rc = change_check(&x, &p);
		assert_int_equal(rc < 0, package_graph_check(&g, NULL) < 0);
		if (rc == 0 && rng_below(&rng, 3)) {
			change_keep(&x);
			continue;
		}
		change_undo(&x);
		after = words_of(&g);
		assert_string_equal(before, after);
	}
	package_graph_release(&g);
}

static void test_findings(void **state)
{
	static const struct {
		const char *graph, *says;
	} rows[] = {
	    {"o/a/1/1", "{\"ok\":true,\"packages\":1,\"dependencies\":0,\"counts\":{\"loops\":0,"
	                "\"contradictions\":0,\"unknown\":0,\"unbuildable\":0},\"loops\":[],"
	                "\"contradictions\":[],\"unknown\":[],\"unbuildable\":[]}"},
	    {"o/a/1/1 r:o/x\no/b/1/1 b:o/x/7",
	        "\"unknown\":[{\"package\":\"o/x\",\"n_needed_by\":1,\"needed_by\":[\"o/a\"]}]"},
	    {"o/a/1/1 b:o/b\no/b/1/1 !access denied",
	        "{\"package\":\"o/a\",\"how\":\"indirect\",\"through\":\"o/b\",\"root\":\"o/b\","
	        "\"reason\":\"access denied\"},{\"package\":\"o/b\",\"how\":\"direct\",\"reason\":"
	        "\"access denied\"}"},
	    {"o/a/1/1 s:o/b\no/b/1/1 r:o/a\no/c/1/1 s:o/d\no/d/1/1 s:o/c",
	        "\"contradictions\":[\"runtime and strong dependencies contradict each other: o/a "
	        "-> "
	        "o/b -> o/a\",\"runtime and strong dependencies contradict each other: o/c -> o/d "
	        "-> "
	        "o/c\"]"},
	    {"o/a/1/1 b:o/b\no/b/1/1 b:o/a", "{\"ok\":true,"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct package_graph g = {0};
		struct findings f;
		AUTO(buf_release) struct buf b = {0};

		load_lines(&g, rows[i].graph);
		findings_make(&g, NULL, 0, &f);
		findings_json(&f, &b);
		if (!strstr(b.p, rows[i].says))
			fail_msg("%s\n%s", rows[i].graph, b.p);
		findings_release(&f);
		package_graph_release(&g);
	}
}

/* A file that is only looked at may have a loop, which is found. */
static void test_findings_loop(void **state)
{
	struct package_graph g = {0};
	enum upload_result result;
	struct findings f;

	assert_int_equal(add_line(&g, "o/a/1/1 r:o/b", false, &result, NULL), 0);
	assert_int_equal(add_line(&g, "o/b/1/1 r:o/a", false, &result, NULL), 0);
	findings_make(&g, NULL, 0, &f);
	assert_false(findings_ok(&f));
	assert_non_null(strstr(f.loop, "o/a -> o/b -> o/a"));
	findings_release(&f);
	package_graph_release(&g);
}

/* The same names under another seed are found as before: only their slots differ. */
static void test_seeded(void **state)
{
	struct package_graph g = {0};

	package_graph_seed(&g, 0x1234567890abcdef);
	load_lines(&g, "o/a/1/1 r:o/b\no/b/1/1 b:o/a\no/longer-name-than-eight/1/1 r:o/b");
	assert_int_equal(g.n_known, 3);
	assert_non_null(package_graph_find(&g, STR("o/longer-name-than-eight")));
	assert_null(package_graph_find(&g, STR("o/longer-name-than-eighu")));
	assert_true(package_graph_bytes(&g) > 0);
	package_graph_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_counts),
	    cmocka_unit_test(test_not_there),
	    cmocka_unit_test(test_loop_of_two_uploads),
	    cmocka_unit_test(test_random),
	    cmocka_unit_test(test_findings),
	    cmocka_unit_test(test_findings_loop),
	    cmocka_unit_test(test_seeded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
