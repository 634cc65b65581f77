/* SPDX-License-Identifier: Apache-2.0 */
/* What a server says to its workers: it arrives whole, and nothing out of bounds gets through. */
#include "link_parts.h"

#include "model/queue.h"
#include "model/settings.h"

static struct link_run good_run(void)
{
	return (struct link_run){1, 2, 1, 3, STR("q"), STR("command"), STR("{}"),
	    STR("{\"A\":\"b\"}"), STR("{\"nice\":5}"), 1000, 4096, OUTPUT_MODE_CHUNKS, true, 65, 3,
	    {{1, [15] = 2}}};
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
	struct run_ref ea = {5, 6};
	struct link_output_ack oa = {7, 8, STDOUT, 65536, true};
	struct run_ref refs[] = {{1, 2}, {3, 4}};
	struct link_notify notify[] = {{22, refs, 2}, {23, refs, 1}};
	struct link_to_worker in = {{"clock", 5}, {challenge, sizeof challenge}, &w, &refused, true,
	                          true, true, {12, true, true},
	                          {44, {WORKER_HEALTHY, {9, 10, {1, 2, 3}}, 6}}, &ea, &oa, &run,
	                          &kill, notify, {31, 43}, 1, 1, 1, 1, 2},
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
	assert_int_equal(got.output_ack[0].end, 65536);
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
	    cmocka_unit_test_setup(test_bad_orders, setup),
	    cmocka_unit_test_setup(test_bad_welcomes, setup),
	    cmocka_unit_test_setup(test_bad_questions, setup),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
