/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of packages: what an upload changes, and which are refused and change nothing. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "graph/limits.h"

#define OK 0
#define LOOP ERR_CONFLICT

/* Uploads one after the other; the answer to the last, and what it says. */
static const struct {
	const char *name, *before, *last;
	int rc;
	enum upload_result result;
	const char *says;
} stories[] = {
    {"the first", "", "o/a/1/1 r:o/b", OK, UPLOAD_ADDED, NULL},
    {"a newer version", "o/a/9/1", "o/a/10/1", OK, UPLOAD_REPLACED, NULL},
    {"a newer release", "o/a/9/1", "o/a/9/2", OK, UPLOAD_REPLACED, NULL},
    {"the same again", "o/a/9/1", "o/a/9/1", OK, UPLOAD_REPLACED, NULL},
    {"an older version", "o/a/10/1", "o/a/9/2", OK, UPLOAD_OLDER, NULL},
    {"a loop of two", "o/a/1/1 r:o/b", "o/b/1/1 r:o/a", LOOP, 0, "o/b -> o/a -> o/b"},
    {"itself", "", "o/a/1/1 r:o/a", LOOP, 0, "o/a -> o/a"},
    {"a loop of seven",
        "o/a/1/1 r:o/b\no/b/1/1 r:o/c\no/c/1/1 r:o/d\no/d/1/1 r:o/e\no/e/1/1 r:o/f\no/f/1/1 r:o/g",
        "o/g/1/1 r:o/a", LOOP, 0, "o/g -> o/a -> o/b -> o/c -> (2 more) -> o/f -> o/g"},
    {"a build loop", "o/a/1/1 b:o/b", "o/b/1/1 b:o/a", OK, UPLOAD_ADDED, NULL},
    {"builds with itself", "", "o/a/1/1 b:o/a", OK, UPLOAD_ADDED, NULL},
    {"half runtime, half build", "o/a/1/1 r:o/b", "o/b/1/1 b:o/a", OK, UPLOAD_ADDED, NULL},
    {"a strong loop", "o/a/1/1 s:o/b", "o/b/1/1 r:o/a", OK, UPLOAD_ADDED, NULL},
    {"a loop closed by the one that was missing", "o/a/1/1 r:o/b\no/c/1/1 r:o/a", "o/b/1/1 r:o/c",
        LOOP, 0, "o/b -> o/c -> o/a -> o/b"},
    {"fully pinned: no edge", "o/a/1/1 r:o/b/1/1", "o/b/1/1 r:o/a", OK, UPLOAD_ADDED, NULL},
    {"pinned to the newest version", "o/a/1/1 r:o/b/2", "o/b/2/1 r:o/a", LOOP, 0,
        "o/b -> o/a -> o/b"},
    {"pinned to another version", "o/a/1/1 r:o/b/2", "o/b/3/1 r:o/a", OK, UPLOAD_ADDED, NULL},
    {"pinned, and newer now", "o/b/2/1\no/a/1/1 r:o/b/2", "o/b/3/1 r:o/a", OK, UPLOAD_REPLACED,
        NULL},
    {"the newer one no longer needs it", "o/a/1/1 r:o/b\no/a/2/1", "o/b/1/1 r:o/a", OK,
        UPLOAD_ADDED, NULL},
    {"by name and by version at once", "o/a/1/1 r:o/b/7 r:o/b", "o/b/3/1 r:o/a", LOOP, 0,
        "o/b -> o/a -> o/b"},
};

static void test_stories(void **state)
{
	for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
		struct package_graph g = {0};
		enum upload_result result = 0;
		struct problem p = {0};
		int rc;

		load_lines(&g, stories[i].before);
		rc = add_line(&g, stories[i].last, true, &result, &p);
		if (rc != stories[i].rc || (rc == 0 && result != stories[i].result) ||
		    (stories[i].says && !strstr(p.what, stories[i].says)))
			fail_msg("%s: %d %d: %s", stories[i].name, rc, (int)result, p.what);
		package_graph_release(&g);
	}
}

/* All that a graph holds, by name. */
static char *words_of(const struct package_graph *g)
{
	struct buf b = {0};

	for (size_t i = 0; i < g->names.n; i++) {
		const struct package *k = &g->packages[i];

		if (!k->is_known)
			continue;
		buf_printf(&b, "%s:", k->ident);
		for (uint32_t d = 0; d < k->n_deps; d++)
			buf_printf(&b, " " STR_FMT "=%u/%d", STR_ARG(g->names.texts[k->deps[d].on]),
			    k->deps[d].kinds, (int)k->deps[d].version);
		buf_add_char(&b, '\n');
	}
	buf_printf(&b, "%zu %zu", g->n_known, g->n_deps);
	return buf_take(&b);
}

static void test_a_refused_upload_changes_nothing(void **state)
{
	struct package_graph g = {0};
	enum upload_result result;
	struct problem p = {0};
	char *before, *after;

	load_lines(&g, "o/a/1/1 r:o/b b:o/c\no/b/1/1 b:o/a");
	before = words_of(&g);
	assert_int_equal(add_line(&g, "o/b/2/1 r:o/a r:o/new", true, &result, &p), ERR_CONFLICT);
	after = words_of(&g);
	assert_string_equal(after, before);
	free(before);
	free(after);
	package_graph_release(&g);
}

static void test_duplicates_count_once(void **state)
{
	struct package_graph g = {0};

	load_lines(&g, "o/a/1/1 r:o/b b:o/b r:o/b s:o/b b:o/c");
	assert_int_equal(g.n_deps, 2);
	assert_int_equal(package_graph_find(&g, STR("o/a"))->deps[0].kinds,
	    DEP_RUNTIME | DEP_BUILD | DEP_STRONG);
	package_graph_release(&g);
}

static int remove_ident(struct package_graph *g, const char *text, struct problem *p)
{
	struct ident id;

	assert_int_equal(ident_parse(str_of(text), &id, p), 0);
	return package_graph_remove(g, &id, p);
}

static void test_remove(void **state)
{
	struct package_graph g = {0};
	enum upload_result result;
	struct problem p = {0};

	load_lines(&g, "o/a/1/1 r:o/b\no/b/2/1");
	assert_int_equal(remove_ident(&g, "o/b/1/1", &p), ERR_NOT_FOUND);
	assert_non_null(strstr(p.what, "o/b/2/1"));
	assert_int_equal(remove_ident(&g, "o/none", &p), ERR_NOT_FOUND);
	assert_int_equal(remove_ident(&g, "o/b/2/1", &p), 0);
	assert_int_equal(remove_ident(&g, "o/b", &p), ERR_NOT_FOUND);
	assert_null(package_graph_find(&g, STR("o/b")));
	assert_int_equal(g.n_known, 1);
	/* A version that was older than what was there may come now. */
	assert_int_equal(add_line(&g, "o/b/1/1", true, &result, &p), 0);
	assert_int_equal(result, UPLOAD_ADDED);
	assert_int_equal(remove_ident(&g, "o/a", &p), 0);
	assert_int_equal(g.n_deps, 0);
	package_graph_release(&g);
}

static void remove_some(struct package_graph *g, int number)
{
	char name[16];
	struct problem p;

	snprintf(name, sizeof name, "o/p%d", number);
	remove_ident(g, name, &p);
}

/* No runtime loop is ever in the graph, whatever is uploaded and removed. */
static void test_no_loop_ever(void **state)
{
	struct rng r = {11};

	for (int world = 0; world < 50; world++) {
		struct package_graph g = {0};
		int refused = 0;

		for (int i = 0; i < 200; i++) {
			struct buf b = {0};
			struct problem p = {0};
			enum upload_result result;

			buf_printf(&b, "o/p%d/%d/1", (int)rng_below(&r, 12), (int)rng_below(&r, 4));
			for (uint64_t n = rng_below(&r, 3); n; n--)
				buf_printf(&b, " %c:o/p%d%s", "rrb"[rng_below(&r, 3)],
				    (int)rng_below(&r, 12), rng_below(&r, 3) ? "" : "/2");
			if (rng_below(&r, 8) == 0)
				remove_some(&g, (int)rng_below(&r, 12));
			refused += add_line(&g, b.p, true, &result, &p) < 0;
			assert_int_equal(package_graph_check(&g, &p), 0);
			buf_release(&b);
		}
		assert_true(refused > 0);
		package_graph_release(&g);
	}
}

static void test_a_chain_of_a_hundred_thousand(void **state)
{
	struct package_graph g = {0};
	enum upload_result result;
	struct problem p = {0};
	char line[64];

	for (int i = 0; i < 100000; i++) {
		snprintf(line, sizeof line, "o/p%06d/1/1 r:o/p%06d", i, i + 1);
		assert_int_equal(add_line(&g, line, false, &result, &p), 0);
	}
	assert_int_equal(package_graph_check(&g, &p), 0);
	assert_int_equal(add_line(&g, "o/p100000/1/1 r:o/p000000", true, &result, &p), LOOP);
	assert_non_null(strstr(p.what, "(99996 more) -> o/p099999 -> o/p100000"));
	package_graph_release(&g);
}

static void test_too_many_dependencies(void **state)
{
	static struct upload_dep deps[PACKAGE_DEPS_MAX + 1];
	struct upload u = {.deps = deps, .n_deps = PACKAGE_DEPS_MAX + 1};
	struct package_graph g = {0};
	enum upload_result result;
	struct problem p = {0};
	char name[32];

	assert_int_equal(ident_parse(STR("o/a/1/1"), &u.ident, &p), 0);
	assert_int_equal(ident_parse(STR("o/b"), &deps[0].on, &p), 0);
	for (size_t i = 0; i < u.n_deps; i++)
		deps[i] = (struct upload_dep){deps[0].on, DEP_BUILD};
	assert_int_equal(package_graph_add(&g, &u, &result, &p), ERR_TOO_LARGE);
	assert_string_equal(p.what, "o/a has 100001 dependencies; a package may have 100000");
	/* The same one a hundred thousand times is one: only what counts is counted. */
	u.n_deps = PACKAGE_DEPS_MAX;
	assert_int_equal(package_graph_add(&g, &u, &result, &p), 0);
	assert_int_equal(g.n_deps, 1);
	g.n_deps = GRAPH_DEPS_MAX - 5;
	snprintf(name, sizeof name, "o/z/1/1");
	assert_int_equal(ident_parse(str_of(name), &u.ident, &p), 0);
	u.n_deps = 6;
	assert_int_equal(package_graph_add(&g, &u, &result, &p), ERR_TOO_LARGE);
	assert_non_null(strstr(p.what, "5000000 dependencies"));
	package_graph_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_stories),
	    cmocka_unit_test(test_a_refused_upload_changes_nothing),
	    cmocka_unit_test(test_duplicates_count_once),
	    cmocka_unit_test(test_remove),
	    cmocka_unit_test(test_no_loop_ever),
	    cmocka_unit_test(test_a_chain_of_a_hundred_thousand),
	    cmocka_unit_test(test_too_many_dependencies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
