/* SPDX-License-Identifier: Apache-2.0 */
/* Files to plan: what is read of them, and what is said of those that are wrong or hostile. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "graph/file/file.h"
#include "graph/file/json_events.h"
#include "graph/file/reader.h"
#include "graph/limits.h"

static int read_text(const char *text, struct plan_file *f, struct problem *p)
{
	return plan_file_read(str_of(text), f, p);
}

#define PACKAGE(rest) "{\"packages\":[{\"ident\":\"o/a/1/1\"" rest "}]}"
#define JOB(rest) "{\"jobs\":[{\"name\":\"a\"" rest "}]}"

static const struct {
	const char *name, *text, *says;
} refused[] = {
    {"nothing", "", "no map of packages or jobs"},
    {"a list", "[]", "no map of packages or jobs"},
    {"neither", "{}", "neither packages nor jobs"},
    {"both", "{\"packages\":[],\"jobs\":[]}", "not both"},
    {"twice", "{\"jobs\":[],\n\"jobs\":[]}", "line 2: jobs is there twice"},
    {"of the other form", "{\"jobs\":[],\"rounds\":2}", "rounds goes with packages"},
    {"plan", "{\"form\":\"jobs\",\"jobs\":[]}", "line 1: this is a plan"},
    {"shown", "{\"id\":\"0\",\"name\":\"x\"}", "line 1: this is a group as the server shows it"},
    {"picture", "{\"group\":{}}", "line 1: this is the picture of a group"},
    {"unknown", "{\"package\":[]}", "line 1: there is no member of this name"},
    {"no list", "{\"jobs\":3}", "line 1: a list is wanted"},
    {"cut off", "{\"jobs\":[{\"name\":\"a\"}", "neither JSON nor YAML"},
    {"two documents", "---\njobs: []\n---\njobs: []\n", "line 3: a second document"},
    {"an anchor", "jobs:\n- &x {name: a}\n", "line 2: anchors"},
    {"an alias", "jobs:\n- *x\n", "line 2: anchors"},
    {"a tag", "jobs:\n- !x {name: a}\n", "line 2: tags"},
    {"a map as a name", "? {a: b}\n: []\n", "line 1: a member's name"},
    {"not UTF-8", "{\"jobs\":[{\"name\":\"\xff\"}]}", "byte 18 of the text"},
    {"half a character in escapes", "{\"jobs\":[{\"name\":\"\\ud83d\\ude00\"}]}", "line 1: "},
    {"rounds as text", "{\"packages\":[],\"rounds\":\"3\"}", "line 1: rounds must be a whole"},
    {"no rounds", "{\"packages\":[],\"rounds\":0}", "from 1 to 100"},
    {"touched by no name", "{\"packages\":[],\n\"touched\":[\"gcc\"]}", "line 2: touched: "},
    {"unbuildable by no name", "{\"packages\":[],\n\"unbuildable\":[{\"reason\":\"x\"}]}",
        "line 2: unbuildable: a package is named"},
    {"a package that is a text", "{\"packages\":[\"o/a\"]}", "a package is a text"},
    {"a package without ident", "{\"packages\":[\n{\"build\":[]}]}",
        "line 2: this package has no ident"},
    {"a package without release", "{\"packages\":[\n{\"ident\":\"o/a/1\"}]}",
        "line 2: o/a has no release"},
    {"an ident that is a number", "packages:\n- ident: 12\n", "line 2: ident is a number"},
    {"an unknown member", PACKAGE(",\n\"runtimes\":[]"), "line 2: o/a/1/1: there is no member"},
    {"a bad dependency", PACKAGE(",\n\"build\":[\"o/b\",\n\"b\"]"),
        "line 3: o/a/1/1: a package is named"},
    {"dependencies as text", PACKAGE(",\"build\":\"o/b\""), "build is a text; a list is wanted"},
    {"a dependency that is nothing", PACKAGE(",\"build\":[null]"), "build is nothing; a text"},
    {"buildable as text", PACKAGE(",\"buildable\":\"no\""), "true or false is wanted"},
    {"no duration", PACKAGE(",\"duration\":0"), "must be a time above 0"},
    {"eleven years", PACKAGE(",\"duration\":\"4015d\""), "ten years"},
    {"the same upload twice",
        "{\"packages\":[{\"ident\":\"o/a/1/1\"},\n{\"ident\":\"o/b/1/1\"},\n{\"ident\":\"o/a/1/"
        "1\"}]}",
        "line 3: o/a/1/1: it is here twice; the first is in line 1"},
    {"a runtime loop",
        "{\"packages\":[\n{\"ident\":\"o/a/1/1\",\"runtime\":[\"o/b\"]},\n"
        "{\"ident\":\"o/b/1/1\",\"runtime\":[\"o/a\"]}]}",
        "line 2: runtime dependencies close a loop: o/a -> o/b -> o/a"},
    {"a job without a name", "{\"jobs\":[\n{}]}", "line 2: this job has no name"},
    {"a job with an empty name", "{\"jobs\":[\n{\"name\":\"\"}]}",
        "line 2: the name of a job is empty"},
    {"a bracket in a name", "{\"jobs\":[{\"name\":\"a[1]\"}]}", "at its byte 2"},
    {"a control character in a name", "{\"jobs\":[{\"name\":\"a\\u001b\"}]}", "at its byte 2"},
    {"one above ASCII", "{\"jobs\":[{\"name\":\"a\\u009b\"}]}", "at its byte 2"},
    {"an unknown member of a job", JOB(",\n\"neeeds\":[]"), "line 2: a: there is no member"},
    {"a need that is a number", JOB(",\"needs\":[3]"), "line 1: a: a need is a number"},
    {"a need without job", JOB(",\"needs\":[{\"after\":\"end\"}]"), "a need has no job"},
    {"an unknown condition", JOB(",\"needs\":[{\"job\":\"b\",\"after\":\"lunch\"}]"),
        "after is success, end or failure"},
    {"an empty command", JOB(",\"command\":[]"), "a: command is empty"},
    {"a number in a command", JOB(",\"command\":[\"sleep\",5]"), "a word of command is a number"},
    {"an empty matrix", JOB(",\"matrix\":{}"), "a map of 1 to 8 names"},
    {"a matrix without values", JOB(",\"matrix\":{\"os\":[]}"), "values in matrix is empty"},
    {"a value twice", JOB(",\"matrix\":{\"os\":[\"x\",\"x\"]}"), "there twice"},
    {"an axis twice", JOB(",\"matrix\":{\"os\":[\"x\"],\"os\":[\"y\"]}"), "os is in matrix twice"},
    {"an axis with a bad name", JOB(",\"matrix\":{\"1st\":[\"x\"]}"), "beginning with no digit"},
    {"a list as a value", JOB(",\"matrix\":{\"os\":[[]]}"), "a value in matrix is a list"},
    {"no throttle", JOB(",\"throttle\":0"), "throttle must be a whole number from 1"},
};

static void test_refused(void **state)
{
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct plan_file f = {0};
		struct problem p = {0};
		int rc = read_text(refused[i].text, &f, &p);

		if (rc >= 0 || rc != p.code || !strstr(p.what, refused[i].says))
			fail_msg("%s: %d: %s", refused[i].name, rc, p.what);
	}
}

static void test_a_misspelt_member_is_hinted_at(void **state)
{
	struct plan_file f = {0};
	struct problem p = {0};

	assert_true(read_text(JOB(",\"neeeds\":[]"), &f, &p) < 0);
	assert_string_equal(p.hint, "did you mean needs?");
}

static const char json_text_form[] =
    "{\"packages\":[{\"ident\":\"o/a/2/1\",\"build\":[\"o/b\",\"o/c/3\"],\"strong\":[\"o/d\"],"
    "\"duration\":\"1m\",\"targets\":[\"linux\",\"bsd\"]},{\"ident\":\"o/a/1/1\",\"build\":[\"o/"
    "z\"]},"
    "{\"ident\":\"o/b/1/1\",\"buildable\":false,\"reason\":\"plan disconnected\"}],"
    "\"touched\":[\"o/a\",\"o/b/1/1\"],\"unbuildable\":[\"o/q\",{\"package\":\"o/"
    "r\",\"reason\":\"gone\"}],"
    "\"rounds\":5}";

static const char yaml_text_form[] = "# the same as YAML\n"
                                     "packages:\n"
                                     "  - ident: o/a/2/1\n"
                                     "    build: [o/b, o/c/3]\n"
                                     "    strong:\n"
                                     "      - o/d\n"
                                     "    duration: 60\n"
                                     "    targets: [linux, bsd]\n"
                                     "  - {ident: o/a/1/1, build: [o/z]}\n"
                                     "  - ident: 'o/b/1/1'\n"
                                     "    buildable: false\n"
                                     "    reason: plan disconnected\n"
                                     "touched: [o/a, o/b/1/1]\n"
                                     "unbuildable:\n"
                                     "  - o/q\n"
                                     "  - package: o/r\n"
                                     "    reason: gone\n"
                                     "rounds: 5\n";

static void check_packages(const char *text)
{
	struct plan_file f = {0};
	struct problem p = {0};
	const struct package *a, *b;

	if (read_text(text, &f, &p) < 0)
		fail_msg("%s", p.what);
	assert_int_equal(f.graph.n_known, 2);
	a = package_graph_find(&f.graph, STR("o/a"));
	b = package_graph_find(&f.graph, STR("o/b"));
	assert_string_equal(a->ident, "o/a/2/1");
	assert_int_equal(a->n_deps, 3);
	assert_int_equal(a->duration_ms, 60000);
	assert_string_equal(a->targets, "linux,bsd");
	assert_string_equal(b->unbuildable, "plan disconnected");
	assert_int_equal(f.n_touched, 2);
	assert_true(str_is(f.touched[1], "o/b"));
	assert_int_equal(f.n_blocked, 2);
	assert_true(str_is(f.blocked[0].reason, "listed as unbuildable"));
	assert_true(str_is(f.blocked[1].reason, "gone"));
	assert_int_equal(f.rounds, 5);
	plan_file_release(&f);
}

static void test_packages_in_both_spellings(void **state)
{
	check_packages(json_text_form);
	check_packages(yaml_text_form);
}

/* With nothing said, everything is touched; with an empty list, nothing. */
static void test_what_is_touched(void **state)
{
	static const struct {
		const char *text;
		uint32_t jobs;
	} rows[] = {
	    {"packages: [{ident: o/a/1/1}, {ident: o/b/1/1}]", 2},
	    {"packages: [{ident: o/a/1/1}, {ident: o/b/1/1}]\ntouched: []", 0},
	    {"packages: [{ident: o/a/1/1}, {ident: o/b/1/1}]\ntouched: [o/b]", 1},
	    {"packages: []\n", 0},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct plan_file f = {0};
		struct manifest m = {0};
		struct problem p = {0};

		assert_int_equal(read_text(rows[i].text, &f, &p), 0);
		assert_int_equal(plan_file_manifest(&f, 0, &m, &p), 0);
		assert_int_equal(m.dag.n, rows[i].jobs);
		manifest_release(&m);
		plan_file_release(&f);
	}
}

static void test_a_contradiction_names_its_line(void **state)
{
	struct plan_file f = {0};
	struct manifest m = {0};
	struct problem p = {0};

	assert_int_equal(
	    read_text("packages:\n- {ident: o/x/1/1}\n- {ident: o/a/1/1, strong: [o/b]}\n"
	              "- {ident: o/b/1/1, strong: [o/a]}\n",
	        &f, &p),
	    0);
	assert_int_equal(plan_file_manifest(&f, 0, &m, &p), ERR_CONFLICT);
	assert_non_null(strstr(p.what, "line 3: runtime and strong dependencies contradict"));
	plan_file_release(&f);
}

/* What a task is given is kept as JSON, whatever the file was written in. */
static void test_the_task_of_a_job(void **state)
{
	static const char yaml[] =
	    "jobs:\n- name: a\n  command: [echo, \"a \\\"b\\\"\", '5']\n  env:\n"
	    "    A: '1'\n    B: true\n    C: null\n    D: 1e3\n    E: 007\n"
	    "  params: {x: [1, [2, {}], []], y: ~}\n  timeout: 5m\n";
	struct plan_file f = {0};
	struct problem p = {0};

	assert_int_equal(read_text(yaml, &f, &p), 0);
	assert_int_equal(f.jobs.n, 1);
	assert_string_equal(f.jobs.jobs[0].task.p,
	    "{\"command\":[\"echo\",\"a "
	    "\\\"b\\\"\",\"5\"],\"env\":{\"A\":\"1\",\"B\":true,\"C\":null,"
	    "\"D\":1e3,\"E\":\"007\"},\"params\":{\"x\":[1,[2,{}],[]],\"y\":null},\"timeout\":"
	    "\"5m\"}");
	plan_file_release(&f);
}

static struct buf repeat(const char *before, const char *what, size_t times, const char *after)
{
	struct buf b = {0};

	buf_add_cstr(&b, before);
	for (size_t i = 0; i < times; i++)
		buf_add_cstr(&b, what);
	buf_add_cstr(&b, after);
	return b;
}

static void test_hostile(void **state)
{
	static const struct {
		const char *name, *before, *what;
		size_t times;
		const char *after, *says;
	} rows[] = {
	    {"a package's name of a megabyte", "{\"packages\":[{\"ident\":\"o/", "x", 1 << 20,
	        "/1/1\"}]}", "line 1: the name of a package has 1048576 bytes"},
	    {"a dependency's", "{\"packages\":[{\"ident\":\"o/a/1/1\",\"build\":[\"o/", "x",
	        1 << 20, "\"]}]}", "line 1: o/a/1/1: the name of a package has 1048576 bytes"},
	    {"a job's", "{\"jobs\":[{\"name\":\"", "x", 1 << 20, "\"}]}",
	        "line 1: the name of a job has 1048576 bytes; it may have 255"},
	    {"a member's", "{\"", "x", 1 << 20, "\":1}", "line 1: "},
	    {"a reason", "{\"packages\":[{\"ident\":\"o/a/1/1\",\"reason\":\"", "x", 1 << 20,
	        "\"}]}", "reason has 1048576 bytes; it may have 1024"},
	    {"brackets", "{\"jobs\":", "[", 1 << 20, "", "line 1: "},
	    {"brackets inside", "{\"jobs\":[{\"name\":\"a\",\"params\":", "[", 100000, "",
	        "nested deeper than 32"},
	    {"braces", "", "{\"a\":", 100000, "", "line 1: "},
	    {"dashes", "jobs: ", "\n- - - -", 1000, "", "line 2: a job is a list"},
	    {"too many dependencies of one",
	        "{\"packages\":[{\"ident\":\"o/a/1/1\",\"build\":[\"o/b\"", ",\"o/b\"", 200000,
	        "]}]}", "o/a/1/1: build has 200001 values; it may have 100000"},
	    {"too many values of one", "{\"packages\":[{\"ident\":\"o/a/1/1\",\"build\":[\"o/b\"",
	        ",\"o/b\"", 500000, "]}]}", "line 1: this entry has more than 400000 values"},
	    {"too many values in a matrix", "{\"jobs\":[{\"name\":\"a\",\"matrix\":{\"x\":[1", ",1",
	        10000, "]}}]}", "a list of values has 10001 values"},
	    {"NULs", "{\"jobs\":[{\"name\":\"a", "\\u0000", 3, "\"}]}", "at its byte 2"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct buf b = repeat(rows[i].before, rows[i].what, rows[i].times, rows[i].after);
		struct plan_file f = {0};
		struct problem p = {0};

		assert_true(plan_file_read(buf_str(&b), &f, &p) < 0);
		if (!strstr(p.what, rows[i].says))
			fail_msg("%s: %s", rows[i].name, p.what);
		buf_release(&b);
	}
}

/* Ten million edges, a hundred to a package. */
static void test_too_many_edges(void **state)
{
	struct buf b = {0};
	struct plan_file f = {0};
	struct problem p = {0};

	buf_add_cstr(&b, "{\"packages\":[");
	for (int i = 0; i < 100000; i++) {
		buf_printf(&b, "%s{\"ident\":\"o/p%d/1/1\",\"build\":[", i ? ",\n" : "", i);
		for (int k = 0; k < 100; k++)
			buf_printf(&b, "%s\"o/p%d\"", k ? "," : "", (i + k) % 100000);
		buf_add_cstr(&b, "]}");
	}
	buf_add_cstr(&b, "]}");
	assert_int_equal(plan_file_read(buf_str(&b), &f, &p), ERR_TOO_LARGE);
	assert_string_equal(p.what, "line 50001: with o/p50000 the graph has more than 5000000 "
	                            "dependencies, the most that it may");
	buf_release(&b);
}

/* -- JSON is read by two readers, which must not differ */

static void dump(const struct node *v, struct buf *out)
{
	buf_printf(out, "%d%d@%u " STR_FMT "=" STR_FMT "(", v->kind, v->is_plain, v->line,
	    STR_ARG(v->key), STR_ARG(v->text));
	for (const struct node *m = v->first; m; m = m->next)
		dump(m, out);
	buf_add_char(out, ')');
}

static int dump_all(struct str text, struct buf *out, struct problem *p)
{
	struct reader *r;
	struct node *v;
	struct str name;
	uint32_t line;
	int rc = reader_open(text, &r, p);

	if (rc < 0)
		return rc;
	while ((rc = reader_member(r, &name, &line, p)) > 0) {
		buf_printf(out, STR_FMT "@%u:", STR_ARG(name), line);
		if ((rc = reader_value(r, &v, p)) < 0)
			break;
		dump(v, out);
	}
	reader_free(r);
	return rc;
}

/* A comment behind it has libyaml read it. */
static void assert_same_by_libyaml(struct buf *text)
{
	AUTO(buf_release) struct buf one = {0}, other = {0};
	struct problem p = {0}, q = {0};
	int rc = dump_all(buf_str(text), &one, &p), rc_other;

	buf_add_cstr(text, "\n#");
	assert_false(json_is_plain(buf_str(text)));
	rc_other = dump_all(buf_str(text), &other, &q);
	if (rc != rc_other || strcmp(p.what, q.what) != 0)
		fail_msg("%d %s, %d %s: %s", rc, p.what, rc_other, q.what, text->p);
	buf_add_char(&one, 0);
	buf_add_char(&other, 0);
	assert_string_equal(one.p, other.p);
}

static void random_value(struct rng *r, int depth, struct buf *out)
{
	static const char *const scalars[] = {"1", "-2.5e+3", "true", "false", "null", "\"\"",
	    "\"a b\"", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"#: {}[],-&*!|>'%@`\"", "0", "\" a\"",
	    "\"~\"", "\"x \"", "[]", "{}", "\"0123456789\""};
	static const char *const blanks[] = {"", "", " ", "\n", "\t", " \n\n  "};
	size_t n = rng_below(r, 4);
	bool map = rng_below(r, 2);

	if (depth > 1 && rng_below(r, 3) == 0) {
		buf_add_cstr(out, scalars[rng_below(r, sizeof scalars / sizeof *scalars)]);
		return;
	}
	map = map || !depth;
	buf_add_char(out, map ? '{' : '[');
	for (size_t i = 0; i < n; i++) {
		buf_add_cstr(out, blanks[rng_below(r, 6)]);
		if (map)
			buf_printf(out, "\"k%zu\\\"\":%s", i, blanks[rng_below(r, 3)]);
		if (depth < 5)
			random_value(r, depth + 1, out);
		else
			buf_add_cstr(out, scalars[rng_below(r, 10)]);
		buf_add_cstr(out, blanks[rng_below(r, 6)]);
		if (i + 1 < n)
			buf_add_char(out, ',');
	}
	buf_add_char(out, map ? '}' : ']');
}

static void test_json_is_read_as_libyaml_reads_it(void **state)
{
	struct rng r = {7};

	for (int i = 0; i < 2000; i++) {
		AUTO(buf_release) struct buf text = {0};

		random_value(&r, 0, &text);
		if (!json_is_plain(buf_str(&text)))
			fail_msg("not plain: %s", text.p);
		assert_same_by_libyaml(&text);
	}
}

/* What is broken, or means something to libyaml alone, is left to it. */
static void test_what_may_not_be_json_is_left_to_libyaml(void **state)
{
	static const char letters[] = "{}[],:\"\\ \nabu019.-+eE#&'";
	struct rng r = {11};
	int plain = 0;

	for (int i = 0; i < 100000; i++) {
		AUTO(buf_release) struct buf text = {0};
		size_t changes = 1 + rng_below(&r, 3);

		buf_add_cstr(&text, "{\"a\":[1,{\"b\":\"c\"},true,-2.5],\n\"d\":null,\"e\":{}}");
		for (size_t k = 0; k < changes; k++)
			text.p[rng_below(&r, text.n)] = letters[rng_below(&r, sizeof letters - 1)];
		if (!json_is_plain(buf_str(&text)))
			continue;
		plain++;
		assert_same_by_libyaml(&text);
	}
	assert_true(plain > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_a_misspelt_member_is_hinted_at),
	    cmocka_unit_test(test_packages_in_both_spellings),
	    cmocka_unit_test(test_what_is_touched),
	    cmocka_unit_test(test_a_contradiction_names_its_line),
	    cmocka_unit_test(test_the_task_of_a_job),
	    cmocka_unit_test(test_hostile),
	    cmocka_unit_test(test_too_many_edges),
	    cmocka_unit_test(test_json_is_read_as_libyaml_reads_it),
	    cmocka_unit_test(test_what_may_not_be_json_is_left_to_libyaml),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
