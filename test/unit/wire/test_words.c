/* SPDX-License-Identifier: Apache-2.0 */
/* Frames in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/link/link_words.h"

#define TASK ((rid)0x6919c2a1000001)

static const struct id_space ids = {{1, 2, 3, 4, 5}};
static struct buf out;
static char task[ID_TEXT];

static int setup(void **state)
{
	buf_reset(&out);
	id_format(&ids, TASK, task);
	return 0;
}

static int teardown(void **state)
{
	buf_release(&out);
	return 0;
}

/* In what is wanted, TASK stands for the id. */
static void assert_words(const char *wanted)
{
	struct buf b = {0};
	const char *at;

	while ((at = strstr(wanted, "TASK"))) {
		buf_add(&b, wanted, (size_t)(at - wanted));
		buf_add_cstr(&b, task);
		wanted = at + 4;
	}
	buf_add_cstr(&b, wanted);
	assert_string_equal(out.p, b.p);
	buf_release(&b);
}

static void test_hello(void **state)
{
	struct link_held refs[] = {{TASK, 3, false, 9}, {TASK, 4, true, 9}};
	struct link_hello hello = {.tasks = refs};
	struct link_to_server m = {.hello = &hello};

	link_words_to_server(&m, &ids, &out);
	assert_words("hello, holds nothing");
	buf_reset(&out);
	hello.n_tasks = 2;
	link_words_to_server(&m, &ids, &out);
	assert_words("hello, holds TASK/3 TASK/4 (ended)");
}

static void test_reports(void **state)
{
	struct link_checked checked[] = {{7, true, STR_NULL}, {8, false, STR("no forks")}};
	struct link_held held = {TASK, 1, false, 9}, absent = {TASK, 2, false, 0};
	struct link_notified notified = {5, &held, &absent, 1, 1};
	struct link_started started = {.task = TASK, .token = 1};
	struct link_health health[] = {{TASK, 1, {.container = 2}}, {TASK, 2, {3, true, true}}};
	struct link_input_ack input_ack = {TASK, 1, 77};
	struct output_row output = {.task = TASK, .token = 1};
	struct link_ended ended[] = {
	    {.task = TASK, .token = 1, .status = TASK_SUCCEEDED, .started_ms = 5},
	    {.task = TASK, .token = 2, .status = TASK_FAILED}};
	struct link_to_server m = {
	    .checked = checked,
	    .n_checked = 2,
	    .has_beat = true,
	    .beat = {12, true, WORKER_HEALTHY, {0}},
	    .notified = &notified,
	    .n_notified = 1,
	    .started = &started,
	    .n_started = 1,
	    .health = health,
	    .n_health = 2,
	    .input_ack = &input_ack,
	    .n_input_ack = 1,
	    .output = &output,
	    .n_output = 1,
	    .ended = ended,
	    .n_ended = 2,
	};

	link_words_to_server(&m, &ids, &out);
	assert_words("checked 7 ok; checked 8 failed: no forks; beat 12 (healthy, leaving); "
	             "notified 5 held TASK/1 absent TASK/2; started TASK/1; health TASK/1 "
	             "CREATED; health TASK/2 RUNNING, ready; input-ack TASK/1; "
	             "output TASK/1; "
	             "ended TASK/1 succeeded TASK/2 never started");
}

static void test_orders(void **state)
{
	struct link_welcome welcome = {.ids = ids, .news = {WORKER_UNHEALTHY, {.version = 3}, 2}};
	struct run_ref ended_ack = {TASK, 1};
	struct link_output_ack output_ack = {.task = TASK, .token = 1};
	struct link_input input = {.task = TASK, .token = 1};
	struct link_run run = {.task = TASK, .token = 2};
	struct link_kill kill = {.task = TASK, .token = 2};
	struct run_ref ref = {TASK, 2};
	struct link_notify notify = {6, &ref, 1};
	struct link_to_worker m = {
	    .welcome = &welcome,
	    .has_settings = true,
	    .settings = {4, true, true},
	    .has_beat_ack = true,
	    .beat_ack = {12, {WORKER_HEALTHY, {.version = 4}, 2}},
	    .ended_ack = &ended_ack,
	    .n_ended_ack = 1,
	    .output_ack = &output_ack,
	    .n_output_ack = 1,
	    .input = &input,
	    .n_input = 1,
	    .run = &run,
	    .n_run = 1,
	    .kill = &kill,
	    .n_kill = 1,
	    .notify = &notify,
	    .n_notify = 1,
	    .has_check = true,
	    .check = {9, 12},
	};
	struct id_space unknown = {0};

	link_words_to_worker(&m, &unknown, &out); /* the welcome brings its own */
	assert_words("welcome (unhealthy, set 3, check 2); "
	             "settings: maxthreads 4, leave and come back; "
	             "beat-ack 12 (healthy, set 4, check 2); ended-ack TASK/1; output-ack TASK/1; "
	             "input TASK/1; run TASK/2; kill TASK/2; notify 6 TASK/2; check 9");
}

static void test_refused_and_news(void **state)
{
	struct link_refused refused = {STR("its name is taken"), true, true};
	struct link_to_worker m = {.refused = &refused};

	link_words_to_worker(&m, &ids, &out);
	assert_words("refused, must die, may come back: its name is taken");
	buf_reset(&out);
	m = (struct link_to_worker){.has_beat_ack = true};
	link_words_to_worker(&m, &ids, &out);
	assert_words("news (new, set 0, check 0)");
}

static void test_long_lists_are_cut(void **state)
{
	static struct link_run runs[1000];
	struct link_to_worker m = {.run = runs, .n_run = 1000};

	for (size_t i = 0; i < 1000; i++)
		runs[i] = (struct link_run){.task = TASK, .token = 1};
	link_words_to_worker(&m, &ids, &out);
	assert_true(out.n < 600);
	assert_non_null(strstr(out.p, "/1 and 984 more"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_hello, setup),
	    cmocka_unit_test_setup(test_reports, setup),
	    cmocka_unit_test_setup(test_orders, setup),
	    cmocka_unit_test_setup(test_refused_and_news, setup),
	    cmocka_unit_test_setup(test_long_lists_are_cut, setup),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
