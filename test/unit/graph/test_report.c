/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as text: letter by letter, for programs rely on it. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/file/file.h"
#include "graph/write/json_text.h"
#include "graph/write/report.h"

static const uint32_t workers[] = {2};

static char *text_of(const char *file, bool as_dot)
{
	struct plan_file f = {0};
	struct manifest m = {0};
	struct job_plan j = {0};
	struct report r;
	struct problem p = {0};
	struct buf b = {0};

	assert_int_equal(plan_file_read(str_of(file), &f, &p), 0);
	if (f.has_packages) {
		assert_int_equal(plan_file_manifest(&f, 0, &m, &p), 0);
		report_of_manifest(&m, f.rounds, workers, 1, &r);
	} else {
		assert_int_equal(job_plan_make(&f.jobs, &j, &p), 0);
		report_of_jobs(&j, workers, 1, &r);
	}
	if (as_dot)
		assert_int_equal(report_dot(&r, &b, &p), 0);
	else
		report_json(&r, &b);
	report_release(&r);
	manifest_release(&m);
	job_plan_release(&j);
	plan_file_release(&f);
	return buf_take(&b);
}

static const char packages[] =
    "packages:\n"
    "- {ident: o/a/1/1, build: [o/b, o/x], targets: [linux], duration: 1s}\n"
    "- {ident: o/b/1/1, build: [o/a], duration: 3s}\n"
    "- {ident: o/c/1/1, runtime: [o/a], build: [o/a, o/b], duration: 2s}\n"
    "- {ident: o/d/1/1, build: [o/a], buildable: false, reason: 'plan \"d\" gone'}\n"
    "- {ident: o/e/1/1, build: [o/d]}\n"
    "touched: [o/a, o/new]\n"
    "rounds: 2\n";

static void test_packages_as_json(void **state)
{
	AUTO(free_cstr) char *text = text_of(packages, false);

	assert_string_equal(text,
	    "{\n"
	    "  \"form\": \"packages\",\n"
	    "  \"rounds\": 2,\n"
	    "  \"n_jobs\": 6,\n"
	    "  \"edges\": {\"total\":5,\"runtime\":1,\"build\":5,\"strong\":0,\"order\":2},\n"
	    "  \"longest_chain\": 5,\n"
	    "  \"widest_level\": 2,\n"
	    "  \"ready_at_once\": 2,\n"
	    "  \"unit\": \"ms\",\n"
	    "  \"total\": 12000,\n"
	    "  \"critical_path\": "
	    "{\"length\":10000,\"jobs\":[\"o/a#1\",\"o/b#1\",\"o/a#2\",\"o/b#2\",\"o/c#1\"]},\n"
	    "  \"makespans\": [\n"
	    "    {\"workers\":2,\"oldest_first\":10000,\"longest_path_first\":10000}],\n"
	    "  \"externals\": [\"o/b\",\"o/x\"],\n"
	    "  \"unknown\": [\"o/new\"],\n"
	    "  \"left_out\": [\n"
	    "    {\"package\":\"o/d\",\"how\":\"direct\",\"reason\":\"plan \\\"d\\\" gone\"},\n"
	    "    {\"package\":\"o/e\",\"how\":\"indirect\",\"through\":\"o/d\",\"root\":\"o/d\","
	    "\"reason\":\"plan \\\"d\\\" gone\"}],\n"
	    "  \"components\": [\n"
	    "    {\"size\":2,\"rounds\":2,\"order\":[\"o/a\",\"o/b\"]}],\n"
	    "  \"jobs\": [\n"
	    "    "
	    "{\"name\":\"o/a#1\",\"package\":\"o/a\",\"ident\":\"o/a/1/"
	    "1\",\"targets\":[\"linux\"],\"round\":1,"
	    "\"level\":1,\"duration_ms\":1000,\"needs\":[],"
	    "\"externals\":[{\"package\":\"o/b\",\"why\":[\"build\"]},{\"package\":\"o/"
	    "x\",\"why\":[\"build\"]}]},\n"
	    "    "
	    "{\"name\":\"o/b#1\",\"package\":\"o/b\",\"ident\":\"o/b/1/1\",\"round\":1,\"level\":2,"
	    "\"duration_ms\":3000,\"needs\":[{\"job\":\"o/"
	    "a#1\",\"why\":[\"build\"]}],\"externals\":[]},\n"
	    "    "
	    "{\"name\":\"o/a#2\",\"package\":\"o/a\",\"ident\":\"o/a/1/"
	    "1\",\"targets\":[\"linux\"],\"round\":2,"
	    "\"level\":3,\"duration_ms\":1000,\"needs\":[{\"job\":\"o/"
	    "b#1\",\"why\":[\"build\",\"order\"]}],"
	    "\"externals\":[{\"package\":\"o/x\",\"why\":[\"build\"]}]},\n"
	    "    "
	    "{\"name\":\"o/b#2\",\"package\":\"o/b\",\"ident\":\"o/b/1/1\",\"round\":2,\"level\":4,"
	    "\"duration_ms\":3000,\"needs\":[{\"job\":\"o/"
	    "a#2\",\"why\":[\"build\",\"order\"]}],\"externals\":[]},\n"
	    "    "
	    "{\"name\":\"o/c#1\",\"package\":\"o/c\",\"ident\":\"o/c/1/1\",\"round\":1,\"level\":5,"
	    "\"duration_ms\":2000,\"needs\":[{\"job\":\"o/a#2\",\"why\":[\"runtime\",\"build\"]},"
	    "{\"job\":\"o/b#2\",\"why\":[\"build\"]}],\"externals\":[]},\n"
	    "    "
	    "{\"name\":\"o/new#1\",\"package\":\"o/"
	    "new\",\"round\":1,\"level\":1,\"duration_ms\":2000,"
	    "\"needs\":[],\"externals\":[]}]\n"
	    "}\n");
}

static const char jobs[] = "jobs:\n"
                           "- {name: a}\n"
                           "- {name: m, matrix: {os: [x]}, throttle: 1, needs: [a]}\n"
                           "- {name: z, needs: [a, m, {job: m, after: success}]}\n"
                           "- {name: c, needs: [{job: a, after: failure}, {job: z, after: end}]}\n";

static void test_jobs_as_json(void **state)
{
	AUTO(free_cstr) char *text = text_of(jobs, false);

	assert_string_equal(text,
	    "{\n"
	    "  \"form\": \"jobs\",\n"
	    "  \"n_jobs\": 4,\n"
	    "  \"edges\": {\"total\":5,\"success\":3,\"end\":1,\"failure\":1},\n"
	    "  \"longest_chain\": 4,\n"
	    "  \"widest_level\": 1,\n"
	    "  \"ready_at_once\": 1,\n"
	    "  \"unit\": \"job\",\n"
	    "  \"total\": 4,\n"
	    "  \"critical_path\": {\"length\":4,\"jobs\":[\"a\",\"m[os=x]\",\"z\",\"c\"]},\n"
	    "  \"makespans\": [\n"
	    "    {\"workers\":2,\"oldest_first\":4,\"longest_path_first\":4}],\n"
	    "  \"jobs\": [\n"
	    "    {\"name\":\"a\",\"job\":\"a\",\"level\":1,\"needs\":[]},\n"
	    "    "
	    "{\"name\":\"m[os=x]\",\"job\":\"m\",\"values\":{\"os\":\"x\"},\"throttle\":1,"
	    "\"level\":2,"
	    "\"needs\":[{\"job\":\"a\",\"after\":\"success\"}]},\n"
	    "    "
	    "{\"name\":\"z\",\"job\":\"z\",\"level\":3,\"needs\":[{\"job\":\"a\",\"after\":"
	    "\"success\"},"
	    "{\"job\":\"m[os=x]\",\"after\":\"success\"}]},\n"
	    "    "
	    "{\"name\":\"c\",\"job\":\"c\",\"level\":4,\"needs\":[{\"job\":\"a\",\"after\":"
	    "\"failure\"},"
	    "{\"job\":\"z\",\"after\":\"end\"}]}]\n"
	    "}\n");
}

/* a -> z is implied by a -> m -> z; a -> c is not, for it is another condition. */
static void test_jobs_as_dot(void **state)
{
	AUTO(free_cstr) char *text = text_of(jobs, true);

	assert_string_equal(text,
	    "digraph plan {\n"
	    "\trankdir=LR;\n"
	    "\tnode [shape=box,fontname=\"sans-serif\"];\n"
	    "\t\"a\" [penwidth=3];\n"
	    "\t\"m[os=x]\" [penwidth=3];\n"
	    "\t\"z\" [penwidth=3];\n"
	    "\t\"c\" [penwidth=3];\n"
	    "\t\"a\" -> \"m[os=x]\" [style=solid,penwidth=3,tooltip=\"success\"];\n"
	    "\t\"m[os=x]\" -> \"z\" [style=solid,penwidth=3,tooltip=\"success\"];\n"
	    "\t\"a\" -> \"c\" [style=dashed,color=red,tooltip=\"failure\"];\n"
	    "\t\"z\" -> \"c\" [style=dashed,penwidth=3,tooltip=\"end\"];\n"
	    "}\n");
}

static void test_empty(void **state)
{
	AUTO(free_cstr) char *json = text_of("packages: []", false);
	AUTO(free_cstr) char *dot = text_of("jobs: []", true);

	assert_non_null(strstr(json, "\"n_jobs\": 0"));
	assert_non_null(strstr(json, "\"jobs\": []"));
	assert_non_null(strstr(dot, "digraph plan {"));
}

static void test_texts(void **state)
{
	struct buf b = {0};

	json_text(&b, (struct str){"a\"\\\n\t\x01\0\x7fü", 10});
	assert_string_equal(b.p, "\"a\\\"\\\\\\n\\t\\u0001\\u0000\\u007fü\"");
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_packages_as_json),
	    cmocka_unit_test(test_jobs_as_json),
	    cmocka_unit_test(test_jobs_as_dot),
	    cmocka_unit_test(test_empty),
	    cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
