/* SPDX-License-Identifier: Apache-2.0 */
/* What a server says to its workers: it arrives whole, and nothing out of bounds gets through. */
#include "link_parts.h"

#include <string.h>

#include "model/limits.h"
#include "model/objects/group.h"
#include "model/objects/queue.h"
#include "model/run/settings.h"

static struct link_run good_run(void)
{
	return (struct link_run){1, 2, 1, 3, STR("q"), STR("command"), STR("{}"),
	    STR("{\"A\":\"b\"}"), STR("{\"nice\":5}"), 1000, 4096, OUTPUT_MODE_CHUNKS, true, 65, 3,
	    {{1, [15] = 2}}, true};
}

static void test_needs(void **state)
{
	static struct link_need many[NEEDS_SHOWN_MAX + 1];
	static char long_text[RESULT_FILE_MAX + 2];
	struct link_need needs[] = {{.task = 5,
	                                .job = STR("fetch[os=linux]"),
	                                .state = STR("built"),
	                                .worker = STR("w1"),
	                                .host = STR("vm.example"),
	                                .target = STR("x86_64-linux"),
	                                .attempt = 2,
	                                .exit_code = 0,
	                                .started_ms = 10,
	                                .ended_ms = 11,
	                                .result = {"a\0b", 3}},
	    {.task = 6, .state = STR("job-failed"), .exit_code = -1, .signal = 9, .is_cut = true}};
	struct link_run run = good_run();
	struct link_to_worker in = {.run = &run, .n_run = 1}, got;

	run.needs = needs;
	run.n_needs = 2;
	run.needs_left_out = 7;
	assert_int_equal(to_worker(&in, &got), 0);
	assert_true(got.run[0].n_needs == 2 && got.run[0].needs_left_out == 7);
	assert_str(got.run[0].needs[0].job, "fetch[os=linux]");
	assert_true(str_eq(got.run[0].needs[0].result, needs[0].result));
	assert_str(got.run[0].needs[0].host, "vm.example");
	assert_str(got.run[0].needs[0].target, "x86_64-linux");
	assert_true(got.run[0].needs[1].host.p == NULL && got.run[0].needs[1].target.p == NULL);
	assert_true(got.run[0].needs[0].started_ms == 10 && got.run[0].needs[0].exit_code == 0);
	assert_true(got.run[0].needs[1].is_cut && got.run[0].needs[1].exit_code == -1);
	assert_true(got.run[0].needs[1].job.p == NULL && got.run[0].needs[1].signal == 9);

	needs[0].task = 0;
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
	needs[0].task = 5;
	needs[0].state = STR("");
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
	needs[0].state = STR("built");
	memset(long_text, 'x', sizeof long_text - 1);
	needs[0].result = (struct str){long_text, RESULT_FILE_MAX + 1};
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
	needs[0].result.n--;
	assert_int_equal(to_worker(&in, &got), 0);
	needs[0].host = (struct str){long_text, HOST_MAX_BYTES + 1};
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
	needs[0].host = STR_NULL;
	needs[0].target = (struct str){long_text, NAME_MAX_BYTES + 1};
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
	needs[0].target = STR_NULL;
	needs[0].job = (struct str){long_text, JOB_NAME_MAX_BYTES + 1};
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
	for (size_t i = 0; i < NEEDS_SHOWN_MAX + 1; i++)
		many[i] = needs[1];
	run.needs = many;
	run.n_needs = NEEDS_SHOWN_MAX + 1;
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
}

static struct link_welcome good_welcome(void)
{
	return (struct link_welcome){.worker = 7,
	    .ids = {{1, 2, 3, 4, 5}},
	    .server = 0xabcull << 50,
	    .timeouts = {15000, 60000, 60001, 60002, 500000, 5000, 5001},
	    .news = {WORKER_UNHEALTHY, {9, 8, {7, 6, 5}}, 0},
	    .notify_seq = 21,
	    .maxthreads = -1};
}

static void test_orders(void **state)
{
	static const char challenge[LINK_NONCE_BYTES] = "n";
	struct link_welcome w = good_welcome();
	struct link_refused refused = {STR("no"), true, true};
	struct link_run run = good_run();
	struct link_kill kill = {3, 4, STR("cancelled"), true};
	struct link_follow follow = {9, 10, 11};
	struct run_ref ea = {5, 6};
	struct link_output_ack oa = {7, 8, STDOUT, 65536, true};
	struct link_input inputs[] = {
	    {9, 10, 4096, {"a\0b", 3}, true}, {9, 10, 4099, STR_NULL, true}};
	struct run_ref refs[] = {{1, 2}, {3, 4}};
	struct link_notify notify[] = {{22, refs, 2}, {23, refs, 1}};
	struct link_to_worker in = {{"clock", 5}, {challenge, sizeof challenge}, &w, &refused, true,
	                          true, true, {12, true, true},
	                          {44, {WORKER_HEALTHY, {9, 10, {1, 2, 3}}, 6}}, &ea, &oa, inputs,
	                          &run, &kill, &follow, notify, {31, 43}, 1, 1, 2, 1, 1, 1, 2},
	                      got;

	assert_int_equal(to_worker(&in, &got), 0);
	assert_true(str_eq(got.challenge, in.challenge));
	assert_memory_equal(got.welcome->ids.installation, w.ids.installation, 5);
	assert_memory_equal(&got.welcome->timeouts, &w.timeouts, sizeof w.timeouts);
	assert_true(got.welcome->server == w.server && got.welcome->notify_seq == 21);
	assert_int_equal(got.welcome->news.state, WORKER_UNHEALTHY);
	assert_set(&got.welcome->news.set, &w.news.set);
	assert_true(got.refused->die && got.refused->restart && got.has_settings);
	assert_true(got.has_beat_ack && got.has_check);
	assert_int_equal(got.settings.maxthreads, 12);
	assert_true(got.settings.leave && got.settings.restart);
	assert_int_equal(got.beat_ack.number, 44);
	assert_int_equal(got.beat_ack.news.state, WORKER_HEALTHY);
	assert_int_equal(got.beat_ack.news.check, 6);
	assert_set(&got.beat_ack.news.set, &in.beat_ack.news.set);
	assert_true(got.check.number == 31 && got.check.beat == 43);
	assert_int_equal(got.n_notify, 2);
	assert_true(got.notify[0].seq == 22 && got.notify[0].n_refs == 2);
	assert_int_equal(got.notify[0].refs[1].token, 4);
	assert_true(got.run[0].number == 65 && got.run[0].notify_seq == 3);
	assert_str(got.clock, "clock");
	assert_str(got.run[0].env, "{\"A\":\"b\"}");
	assert_str(got.run[0].run_settings, "{\"nice\":5}");
	assert_int_equal(got.run[0].output_mode, OUTPUT_MODE_CHUNKS);
	assert_true(got.run[0].exit_codes);
	assert_memory_equal(&got.run[0].receipt, &run.receipt, RECEIPT_BYTES);
	assert_str(got.kill[0].reason, "cancelled");
	assert_true(got.kill[0].forget && got.output_ack[0].refused);
	assert_int_equal(got.ended_ack[0].token, 6);
	assert_true(got.follow[0].task == 9 && got.follow[0].token == 10);
	assert_int_equal(got.follow[0].for_ms, 11);
	assert_int_equal(got.output_ack[0].end, 65536);
	assert_true(got.run[0].is_streamed && got.n_input == 2);
	assert_true(str_eq(got.input[0].data, inputs[0].data) && got.input[0].offset == 4096);
	assert_true(got.input[0].end && got.input[1].data.n == 0 && got.input[1].end);
}

static void test_bad_orders(void **state)
{
	struct link_run run;
	struct link_to_worker in = {.run = &run, .n_run = 1}, got;

#define BAD(member, value)    \
	run = good_run();     \
	run.member = (value); \
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL)
	BAD(attempt, 0);
	BAD(queue, STR("a\tb"));
	BAD(plugin, STR(""));
	BAD(timeout_ms, -1);
	BAD(output_mode, N_OUTPUT_MODES);
	BAD(output_max, -1);
	BAD(number, 0);
#undef BAD
}

static void test_bad_follows(void **state)
{
	struct link_follow f = {1, 2, FOLLOW_MAX_MS};
	struct link_to_worker in = {.follow = &f, .n_follow = 1}, got;

	assert_int_equal(to_worker(&in, &got), 0);
	f.for_ms++;
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
	f.for_ms = -1;
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
	f = (struct link_follow){0, 2, 1};
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
}

static void test_bad_welcomes(void **state)
{
	struct link_welcome w;
	struct link_to_worker in = {.welcome = &w}, got;

#define BAD(member, value)  \
	w = good_welcome(); \
	w.member = (value); \
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL)
	BAD(worker, 0);
	BAD(server, 0);
	BAD(maxthreads, -2);
	BAD(timeouts.heartbeat_ms, 0);
	BAD(timeouts.heartbeat_grace_ms, -1);
	BAD(timeouts.check_period_ms, 0);
	BAD(timeouts.check_grace_ms, INT64_MIN);
	BAD(timeouts.lose_after_ms, 0);
	BAD(timeouts.lose_after_ms, INT64_MAX);
	BAD(timeouts.margin_ms, 400LL * 86400 * 1000);
	BAD(timeouts.kill_wait_ms, -5);
	BAD(news.state, N_WORKER_STATES);
#undef BAD
}

static void test_bad_questions(void **state)
{
	static struct run_ref many[LINK_NOTIFY_MAX + 1];
	struct link_notify n = {1, many, LINK_NOTIFY_MAX};
	struct link_to_worker in = {.notify = &n, .n_notify = 1}, got;

	for (size_t i = 0; i <= LINK_NOTIFY_MAX; i++)
		many[i] = (struct run_ref){i + 1, 1};
	assert_int_equal(to_worker(&in, &got), 0);
	n.n_refs++;
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
	n = (struct link_notify){0, many, 1};
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
	n.seq = 1;
	many[0].task = 0;
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
	in = (struct link_to_worker){.has_check = true};
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
	in = (struct link_to_worker){.has_beat_ack = true};
	in.beat_ack.news.state = N_WORKER_STATES;
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
	in.beat_ack.news.state = WORKER_NEW;
	assert_int_equal(to_worker(&in, &got), 0);
	assert_int_equal(got.beat_ack.number, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_orders, setup),
	    cmocka_unit_test_setup(test_needs, setup),
	    cmocka_unit_test_setup(test_bad_orders, setup),
	    cmocka_unit_test_setup(test_bad_follows, setup),
	    cmocka_unit_test_setup(test_bad_welcomes, setup),
	    cmocka_unit_test_setup(test_bad_questions, setup),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
