/* SPDX-License-Identifier: Apache-2.0 */
/* Running groups for people: read, moved, forecast, and drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/frame/cli.h"
#include "cli/group/group.h"
#include "cli/group/live.h"

#define NOW 1800000100000 /* 2027-01-15T08:01:40Z */

static struct term plain;

static int setup(void **state)
{
	term_init(&plain, false);
	plain.utf8 = true;
	plain.out_colour = false;
	return 0;
}

#define GROUP(state)                                                                         \
	"{\"id\":\"0123456789abcdef01234567\",\"name\":\"nightly\",\"state\":\"" state "\"," \
	"\"policy\":\"best-effort\",\"dispatched\":\"2027-01-15T08:00:00Z\"}"

/*
 * fetch (built, 10 s) <- build[os=a] (built, 20 s), build[os=b] (runs for 5 s), lint (failed, 1 s)
 * test <- both builds; report after the end of test; clean after a failure of fetch
 */
static const char story[] = "{\"group\":" GROUP(
    "dispatching") ",\"names\":[\"fetch\",\"build[os=a]\",\"build[os=b]\","
                   "\"lint\",\"test\",\"report\",\"clean\"],\"states\":\"bbdfsss\","
                   "\"started\":[1800000000000,1800000010000,1800000095000,1800000020000,0,0,0],"
                   "\"ended\":[1800000010000,1800000030000,0,1800000021000,0,0,0],"
                   "\"needs\":[[1,0,0,0],[2,0,0,0],[3,0,0,0],[4,1,0,0],[4,2,0,0],[4,0,0,0],[5,4,1,"
                   "0],[6,0,2,0]]}";

static int load_text(const char *text, struct live *ret, struct problem *p)
{
	AUTO(json_drop) json_t *reply = json_loads(text, 0, NULL);

	assert_non_null(reply);
	return live_load(reply, ret, p);
}

static void load(const char *text, struct live *ret)
{
	struct problem p = {0};

	assert_int_equal(load_text(text, ret, &p), 0);
}

static void test_load(void **state)
{
	struct live l;

	load(story, &l);
	assert_int_equal(l.n, 7);
	assert_int_equal(l.counts[JOB_BUILT], 2);
	assert_int_equal(live_ended(&l), 3);
	assert_int_equal(live_waiting(&l), 3);
	assert_int_equal(l.parent[0], NO_JOB);
	assert_int_equal(l.parent[4], 1); /* the longest chain, not the first need */
	assert_string_equal(live_name(&l, 5), "report");
	live_release(&l);
}

static void test_load_bad(void **state)
{
#define HEAD "{\"group\":" GROUP("queued") ","
	static const char *const bad[] = {
	    "{}",
	    "{\"names\":[],\"states\":\"\"}",
	    HEAD "\"names\":[\"a\"],\"states\":\"\"}",
	    HEAD "\"names\":[\"a\"],\"states\":\"ss\"}",
	    HEAD "\"names\":[\"a\"],\"states\":\"!\"}",
	    HEAD "\"names\":[\"a\",\"b\"],\"states\":\"ss\",\"needs\":[[0,1,0,0]]}",
	    HEAD "\"names\":[\"a\",\"b\"],\"states\":\"ss\",\"needs\":[[1,1,0,0]]}",
	    HEAD "\"names\":[\"a\",\"b\"],\"states\":\"ss\",\"needs\":[[2,1,0,0]]}",
	    HEAD "\"names\":[\"a\",\"b\"],\"states\":\"ss\",\"needs\":[[1,-1,0,0]]}",
	    HEAD "\"names\":[\"a\",\"b\"],\"states\":\"ss\",\"needs\":[[1,0,3,0]]}",
	    HEAD "\"names\":[\"a\",\"b\"],\"states\":\"ss\",\"needs\":[[1]]}",
	    HEAD "\"names\":[\"a\",\"b\"],\"states\":\"ss\",\"needs\":[1]}",
	};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct live l = {0};
		struct problem p = {0};

		assert_int_equal(load_text(bad[i], &l, &p), ERR_PROTOCOL);
	}
}

static void count(struct live *l, uint32_t job, void *arg)
{
	(*(int *)arg)++;
}

static void test_changes(void **state)
{
	struct live l;
	struct problem p = {0};
	int n = 0;
	AUTO(json_drop)
	json_t *changes = json_loads("[[2,\"b\",1800000099000],[2,\"d\",1800000098000],"
	                             "[4,\"e\",1800000099000],[4,\"d\",1800000099500],"
	                             "[4,\"e\",1800000099600]]",
	    0, NULL);
	AUTO(json_drop) json_t *wrong = json_loads("[[7,\"b\",1]]", 0, NULL);

	load(story, &l);
	assert_int_equal(live_apply(&l, changes, count, &n, &p), 0);
	assert_int_equal(n, 4); /* what has ended does not begin again */
	assert_int_equal(l.states[2], JOB_BUILT);
	assert_int_equal(l.ended[2], 1800000099000);
	assert_int_equal(l.states[4], JOB_ELIGIBLE);
	assert_int_equal(l.started[4], 0); /* another attempt comes */
	assert_int_equal(live_apply(&l, wrong, NULL, NULL, &p), ERR_PROTOCOL);
	live_release(&l);
}

/* The stream says only of the group that it dispatches now. */
static void test_dispatching(void **state)
{
	struct live l;
	AUTO(json_drop) json_t *group = json_loads(GROUP("dispatching"), 0, NULL);

	load("{\"group\":" GROUP(
	         "queued") ",\"names\":[\"a\",\"b\"],\"states\":\"pe\",\"needs\":[]}",
	    &l);
	live_set_group(&l, group);
	assert_int_equal(l.states[0], JOB_SCHEDULABLE);
	assert_int_equal(l.states[1], JOB_ELIGIBLE);
	assert_int_equal(l.counts[JOB_PENDING], 0);
	live_release(&l);
}

static void test_forecast(void **state)
{
	struct live l;
	struct forecast f;
	struct buf words = {0};

	load(story, &l);
	forecast_make(&l, NOW, &f);
	/* build[os=b] takes 20 s as its sibling did, of which 5 have gone; test and report take the
	 * mean of all, 15 s; nothing has to be cleaned up */
	assert_int_equal(f.left_ms, 45001);
	assert_int_equal(f.workers, 1);
	assert_int_equal(f.confidence, CONFIDENCE_LOW);
	assert_int_equal(f.n_path, 3);
	assert_memory_equal(f.critical, ((uint8_t[]){0, 0, 1, 0, 1, 1, 0}), 7);
	forecast_words(&f, &words);
	assert_string_equal(words.p, "45s, low confidence");
	buf_release(&words);
	forecast_release(&f);
	live_release(&l);
}

static void test_forecast_of_nothing(void **state)
{
	struct live l;
	struct forecast f;
	struct buf words = {0};

	load("{\"group\":" GROUP("complete") ",\"names\":[],\"states\":\"\",\"needs\":[]}", &l);
	forecast_make(&l, NOW, &f);
	assert_int_equal(f.confidence, CONFIDENCE_NONE);
	assert_int_equal(f.n_path, 0);
	forecast_words(&f, &words);
	assert_string_equal(words.p, "not known yet");
	buf_release(&words);
	forecast_release(&f);
	live_release(&l);
}

/* Before the first job has ended only the series can say something. */
static void test_forecast_by_the_series(void **state)
{
#define QUEUED \
	"{\"group\":" GROUP("dispatching") ",\"names\":[\"a\",\"b\",\"c\"],\"states\":\"dss\","
#define CHAIN "\"needs\":[[1,0,0,0],[2,1,0,0]]}"
	static const struct {
		const char *took;
		int confidence;
		int64_t left_ms;
	} cases[] = {{"", CONFIDENCE_NONE, 0}, {"\"took\":[0,0,0],", CONFIDENCE_NONE, 0},
	    {"\"took\":[1000,2000,6000],", CONFIDENCE_LOW, 9000},
	    {"\"took\":[1000,0,6000],", CONFIDENCE_LOW, 10500}, /* who is not known: the average */
	    {"\"took\":[-1,\"x\",4000],", CONFIDENCE_LOW, 12000}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		AUTO(buf_release) struct buf text = {0};
		struct live l;
		struct forecast f;

		buf_printf(&text, "%s%s%s", QUEUED, cases[i].took, CHAIN);
		load(text.p, &l);
		forecast_make(&l, NOW, &f);
		assert_int_equal(f.confidence, cases[i].confidence);
		assert_int_equal(f.left_ms, cases[i].left_ms);
		assert_int_equal(f.n_path, 3);
		forecast_release(&f);
		live_release(&l);
	}
}

/* What is built this time takes ten times as long as the series says: that is not to be relied on.
 */
static void test_a_series_that_is_wrong(void **state)
{
	static const struct {
		int took, confidence;
	} cases[] = {{10000, CONFIDENCE_HIGH}, {6000, CONFIDENCE_HIGH}, {1000, CONFIDENCE_LOW},
	    {30000, CONFIDENCE_LOW}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		AUTO(buf_release) struct buf text = {0};
		struct live l;
		struct forecast f;

		buf_printf(&text,
		    "{\"group\":%s,\"names\":[\"a\",\"b\"],\"states\":\"bs\",\"started\":"
		    "[1800000000000,0],\"ended\":[1800000010000,0],\"took\":[1,%d],\"needs\":[]}",
		    GROUP("dispatching"), cases[i].took);
		load(text.p, &l);
		forecast_make(&l, NOW, &f);
		assert_int_equal(f.confidence, cases[i].confidence);
		forecast_release(&f);
		live_release(&l);
	}
}

/* A job's own time goes before what others of its name took now. */
static void test_forecast_goes_by_its_own(void **state)
{
	struct live l;
	struct forecast f;

	load("{\"group\":" GROUP(
	         "dispatching") ",\"names\":[\"x[n=1]\",\"x[n=2]\",\"x[n=3]\"],"
	                        "\"states\":\"bss\",\"started\":[1800000000000,0,0],\"ended\":["
	                        "1800000010000,0,0],"
	                        "\"took\":[0,2000,0],\"needs\":[[1,0,0,0],[2,1,0,0]]}",
	    &l);
	forecast_make(&l, NOW, &f);
	assert_int_equal(f.left_ms, 12000);
	forecast_release(&f);
	live_release(&l);
}

static void assert_looked_at(struct live_look look, int width, size_t height, const char *want)
{
	struct live l;
	struct forecast f;
	struct buf out = {0};

	load(story, &l);
	forecast_make(&l, NOW, &f);
	live_render(&l, &f, &plain, NOW, width, height, &look, &out);
	assert_string_equal(out.p, want);
	buf_release(&out);
	forecast_release(&f);
	live_release(&l);
}

static void assert_drawn(int width, size_t height, const char *want)
{
	assert_looked_at((struct live_look){0}, width, height, want);
}

static void test_tree(void **state)
{
	assert_drawn(120, 30,
	    "▶ group nightly dispatching  1m40s  best-effort  0123456789abcdef01234567\n"
	    "|██████████░░░░░░░░░░░░░░| 3/7 42%  ✗ 1 failed  1 running  3 waiting\n"
	    "ETA 45s, low confidence  ◆ critical path: 3 jobs\n"
	    "\n"
	    "✓ fetch  built  10.0s\n"
	    "├─ ✓ build[os=a]  built  20.0s\n"
	    "│  └─ ◌ test  schedulable  ◆ critical\n"
	    "│     └─ ◌ report  schedulable  ◆ critical\n"
	    "├─ ▶ build[os=b]  dispatched  5.0s  ◆ critical\n"
	    "├─ ✗ lint  job-failed  1.0s\n"
	    "└─ ◌ clean  schedulable\n");
}

/* What is left out first is what nothing has to be done about. */
static void test_tree_in_little_room(void **state)
{
	assert_drawn(40, 8,
	    "▶ group nightly dispatching  1m40s  bes…\n"
	    "3/7 42%  ✗ 1 failed  1 running  3 waiti…\n"
	    "ETA 45s, low confidence  ◆ critical pat…\n"
	    "\n"
	    "▶ build[os=b]  dispatched  5.0s  ◆ crit…\n"
	    "✗ lint  job-failed  1.0s\n"
	    "◌ test  schedulable  ◆ critical\n"
	    "… 4 more: 2 schedulable, 2 built\n");
}

/* Part of the whole tree; too far is the last page. */
static void test_scrolled(void **state)
{
	static const size_t first[] = {3, 4, 100};

	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		assert_looked_at((struct live_look){true, first[i], 0}, 80, 8 + (i == 0),
		    i == 0
		        ? "▶ group nightly dispatching  1m40s  best-effort  "
		          "0123456789abcdef01234567\n"
		          "|██████████░░░░░░░░░░░░░░| 3/7 42%  ✗ 1 failed  1 running  3 waiting\n"
		          "ETA 45s, low confidence  ◆ critical path: 3 jobs\n"
		          "\n"
		          "│     └─ ◌ report  schedulable  ◆ critical\n"
		          "├─ ▶ build[os=b]  dispatched  5.0s  ◆ critical\n"
		          "├─ ✗ lint  job-failed  1.0s\n"
		          "└─ ◌ clean  schedulable\n"
		          "… 4-7 of 7\n"
		        : "▶ group nightly dispatching  1m40s  best-effort  "
		          "0123456789abcdef01234567\n"
		          "|██████████░░░░░░░░░░░░░░| 3/7 42%  ✗ 1 failed  1 running  3 waiting\n"
		          "ETA 45s, low confidence  ◆ critical path: 3 jobs\n"
		          "\n"
		          "├─ ▶ build[os=b]  dispatched  5.0s  ◆ critical\n"
		          "├─ ✗ lint  job-failed  1.0s\n"
		          "└─ ◌ clean  schedulable\n"
		          "… 5-7 of 7\n");
}

/* No screen is too small, no chain too long. */
static void test_sizes(void **state)
{
	struct buf text = {0}, out = {0};
	struct live_look look = {0};
	struct live l;
	struct forecast f;

	buf_add_cstr(&text, "{\"group\":" GROUP("dispatching") ",\"states\":\"");
	for (int i = 0; i < 3000; i++)
		buf_add_char(&text, 's');
	buf_add_cstr(&text, "\",\"names\":[\"j\"");
	for (int i = 1; i < 3000; i++)
		buf_add_cstr(&text, ",\"j\"");
	buf_add_cstr(&text, "],\"needs\":[[1,0,0,0]");
	for (int i = 2; i < 3000; i++)
		buf_printf(&text, ",[%d,%d,0,0]", i, i - 1);
	buf_add_cstr(&text, "]}");
	load(text.p, &l);
	forecast_make(&l, NOW, &f);
	for (int width = 0; width < 40; width += 3)
		for (size_t height = 0; height < 60; height++) {
			look = (struct live_look){height % 2, height, 0};
			buf_reset(&out);
			live_render(&l, &f, &plain, NOW, width, height, &look, &out);
		}
	buf_reset(&out);
	look = (struct live_look){0};
	live_render(&l, &f, &plain, NOW, 80, 4000, &look, &out);
	forecast_release(&f);
	live_release(&l);
	buf_release(&text);
	buf_release(&out);
}

static void test_dot(void **state)
{
	struct live l;
	struct forecast f;
	struct problem p = {0};
	struct buf out = {0};

	load(story, &l);
	json_array_set_new(l.names, 3, json_string("a\"b\\c\n"));
	forecast_make(&l, NOW, &f);
	assert_int_equal(live_dot(&l, &f, &out, &p), 0);
	assert_non_null(strstr(out.p, "j0 [label=\"fetch\\nbuilt 10.0s\",shape=ellipse"));
	assert_non_null(
	    strstr(out.p, "j3 [label=\"a\\\"b\\\\c?\\njob-failed 1.0s\",shape=octagon"));
	assert_non_null(
	    strstr(out.p, "\tj2 -> j4 [style=solid,penwidth=3,tooltip=\"after success\"]"));
	assert_non_null(
	    strstr(out.p, "\tj4 -> j5 [style=dashed,penwidth=3,tooltip=\"after end\"]"));
	assert_non_null(strstr(out.p, "\tj0 -> j6 [style=dashed,color=red"));
	assert_null(strstr(out.p, "j0 -> j4")); /* implied */
	buf_release(&out);
	forecast_release(&f);
	live_release(&l);
}

static void assert_body_in(const char *cwd, const char *text, const char *said, const char *want)
{
	AUTO(json_drop) json_t *over = json_loads(said, 0, NULL);
	struct problem p = {0};
	struct buf out = {0};

	assert_int_equal(group_body(str_of(text), over, cwd, &out, &p), 0);
	assert_string_equal(out.p, want);
	buf_release(&out);
}

static void assert_body(const char *text, const char *said, const char *want)
{
	assert_body_in(NULL, text, said, want);
}

/* What the line says goes before what the file says, and every job stays in its line. */
static void test_body(void **state)
{
	static const char yaml[] =
	    "# mine\nname: a\nqueue: q\njobs:\n  - name: x\n    command: [a]\n\n"
	    "  - {name: y, needs: [x], command: [\"1\", b]}\n";

	assert_body(yaml, "{}", yaml);
	assert_body(yaml, "{\"name\":\"b\"}",
	    "{\"name\":\"b\",\n\n\"queue\":\"q\",\n\"jobs\":[\n{\"name\":\"x\",\"command\":[\"a\"]}"
	    ","
	    "\n\n\n{\"name\":\"y\",\"needs\":[\"x\"],\"command\":[\"1\",\"b\"]}]}");
	assert_body("{\"jobs\":[],\"policy\":\"fail-now\"}",
	    "{\"policy\":\"fail-fast\",\"name\":\"n\"}",
	    "{\"policy\":\"fail-fast\",\"name\":\"n\",\"jobs\":[]}");
}

static void test_body_in_a_directory(void **state)
{
	assert_body_in("/d", "{\"jobs\":[{\"name\":\"a\"},{\"cwd\":\"/e\"},{}]}", "{}",
	    "{\"jobs\":[{\"name\":\"a\",\"cwd\":\"/d\"},{\"cwd\":\"/e\"},{\"cwd\":\"/d\"}]}");
	assert_body_in("/d", "packages: []\njob: {command: [x]}\n", "{}",
	    "{\"packages\":[],\n\"job\":{\"command\":[\"x\"],\"cwd\":\"/d\"}}");
}

static void test_check(void **state)
{
	static const struct {
		const char *text, *want;
	} bad[] = {
	    {"jobs:\n- {name: a, needs: [b]}\n",
	        "line 2: a: it needs b, and there is no job of that name"},
	    {"{}", "there are neither packages nor jobs in it"},
	    {"jobs:\n- {name: a, matrix: {x: [1, 2]}, needs: [a]}\n", NULL},
	};
	struct problem p = {0};
	AUTO(group_said_release) struct group_said said = {0};

	assert_int_equal(group_file_check(STR("queue: q\njobs: []"), &said, &p), 0);
	assert_true(said.has_queue && !said.lost.n);
	assert_int_equal(group_file_check(STR("jobs: [{name: a}]"), &said, &p), 0);
	assert_false(said.has_queue);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_true(group_file_check(str_of(bad[i].text), &said, &p) < 0);
		if (bad[i].want)
			assert_string_equal(p.what, bad[i].want);
	}
}

static void test_relative_programs(void **state)
{
	static const struct {
		const char *text, *want;
	} files[] = {
	    {"jobs: [{name: a, command: [make]}, {name: b, command: [./x]}]", "./x of the job b"},
	    {"jobs: [{name: a, command: [./x], cwd: /d}, {name: b, command: [/x]}]", NULL},
	    {"{packages: [{ident: a/b/1/1}], job: {command: [bin/x]}}", "bin/x of the jobs"},
	};
	struct problem p = {0};

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		AUTO(group_said_release) struct group_said said = {0};

		assert_int_equal(group_file_check(str_of(files[i].text), &said, &p), 0);
		assert_int_equal(said.lost.n > 0, files[i].want != NULL);
		if (files[i].want)
			assert_string_equal(said.lost.p, files[i].want);
	}
}

static void test_tasks(void **state)
{
	struct live l;
	char id[ID_TEXT];
	AUTO(json_drop) json_t *reply = json_loads(story, 0, NULL);
	struct problem p = {0};

	load(story, &l);
	assert_false(live_task(&l, 0, id));
	live_release(&l);
	json_object_set_new(reply, "first_task", json_string("0000000590dadae326fffffe"));
	assert_int_equal(live_load(reply, &l, &p), 0);
	assert_true(live_task(&l, 1, id));
	assert_string_equal(id, "0000000590dadae326ffffff");
	assert_true(live_task(&l, 3, id)); /* the count goes on with the next second */
	assert_string_equal(id, "0000000690dadae326000001");
	live_release(&l);
}

static void test_gone(void **state)
{
	struct live l;

	load("{\"group\":" GROUP("complete") ",\"names\":[\"a\"],\"states\":\"?\",\"needs\":[]}",
	    &l);
	assert_int_equal(live_ended(&l), 1);
	assert_false(live_move(&l, 0, JOB_BUILT, 1));
	live_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_load),
	    cmocka_unit_test(test_load_bad),
	    cmocka_unit_test(test_changes),
	    cmocka_unit_test(test_dispatching),
	    cmocka_unit_test(test_forecast),
	    cmocka_unit_test(test_forecast_of_nothing),
	    cmocka_unit_test(test_forecast_by_the_series),
	    cmocka_unit_test(test_forecast_goes_by_its_own),
	    cmocka_unit_test(test_a_series_that_is_wrong),
	    cmocka_unit_test(test_tree),
	    cmocka_unit_test(test_tree_in_little_room),
	    cmocka_unit_test(test_scrolled),
	    cmocka_unit_test(test_sizes),
	    cmocka_unit_test(test_dot),
	    cmocka_unit_test(test_body),
	    cmocka_unit_test(test_body_in_a_directory),
	    cmocka_unit_test(test_check),
	    cmocka_unit_test(test_relative_programs),
	    cmocka_unit_test(test_tasks),
	    cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
